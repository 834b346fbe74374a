"""Put the steps of a case side by side: expected, baseline, candidate.

In: expected actions and the trajectories of both arms. Out: aligned rows of short plain text; text from outside is not escaped yet.
Pure. It shows, it doesn't judge: what a step is worth is the evaluator's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ci_eval.domain.canonical import compact, json_equal
from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.message import ToolCall
from ci_eval.report.escape import one_line
from ci_eval.report.step_alignment import Step, StepGroup, align, same_value, satisfies

Mark: TypeAlias = Literal[" ", "-", "+", "!"]
"""About the candidate's step: as it should be, lacking, additional, with other arguments."""

MAX_STEPS: Final = 40
MAX_ARGUMENTS: Final = 4
NO_CALLS: Final = "(no calls)"
DIFF_WIDTH: Final = 86  # characters of a code block in a comment before it scrolls
_CALL_LIMIT: Final = 100
_NARROWEST: Final = 12
_ORIENTATION: Final = 6  # characters
_GAP: Final = "   "


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One line: a step in each column, "" where there is none."""

    mark: Mark
    cells: tuple[str, ...]
    differing: tuple[tuple[str, ...], ...] = ()
    """For a step with other arguments: one line for each argument that differs, again a cell a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTable:
    """The trajectories of one case."""

    columns: tuple[str, ...]
    rows: tuple[StepRow, ...]
    left_out: int = 0
    """Steps beyond the first 40 of the longest column."""


def align_steps(
    expected: Sequence[ExpectedAction] | None, baseline: Sequence[ToolCall] | None, candidate: Sequence[ToolCall] | None
) -> StepTable | None:
    """Align what is known; None when the candidate's steps are unknown, or when there is nothing to hold against them."""
    if candidate is None or (expected is None and baseline is None):
        return None
    if not (expected or baseline or candidate):
        return None
    wanted = None if expected is None else [Step(name=one.name, arguments=one.arguments, wanted=one) for one in expected]
    before = None if baseline is None else [Step(name=call.name, arguments=call.arguments) for call in baseline]
    after = [Step(name=call.name, arguments=call.arguments) for call in candidate]
    longest = max(len(steps) for steps in (wanted, before, after) if steps is not None)
    columns = [title for title, steps in (("expected", wanted), ("baseline", before)) if steps is not None] + ["candidate"]
    reference = wanted if wanted is not None else before or []
    rows = [
        _written(row, has_expected=wanted is not None, has_baseline=before is not None)
        for row in align(reference[:MAX_STEPS], (before or [])[:MAX_STEPS], after[:MAX_STEPS])
    ]
    return StepTable(columns=tuple(columns), rows=_with_empty_columns_named(rows), left_out=max(0, longest - MAX_STEPS))


def draw(table: StepTable, width: int = DIFF_WIDTH) -> str:
    """Draw the rows as lines of a `diff` block of about `width` characters; the first column is ours."""
    rows = [StepRow(mark=" ", cells=table.columns), *table.rows]
    widths = _widths(rows, width - 2 - len(_GAP) * (len(table.columns) - 1))
    lines = [
        f"{mark} " + _GAP.join(_fitted(cell, width).ljust(width) for cell, width in zip(cells, widths, strict=True))
        for row in rows
        for mark, cells in _drawn(row)
    ]
    if table.left_out:
        lines.append(f"  … {table.left_out:,} more")
    return "\n".join(line.rstrip() for line in lines)


def _widths(rows: Sequence[StepRow], available: int) -> list[int]:
    """As wide as its content, but the widest columns give way until all fit."""
    lines = [cells for row in rows for _, cells in _drawn(row)]
    widths = [max(len(cells[column]) for cells in lines) for column in range(len(rows[0].cells))]
    while sum(widths) > available and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _drawn(row: StepRow) -> list[tuple[str, tuple[str, ...]]]:
    """A step with other arguments is drawn twice: as it should be, and as it is."""
    if row.mark != "!":
        return [(row.mark, row.cells)]
    lines = [row.cells, *row.differing]
    wanted = [("-", (*cells[:-1], "")) for cells in lines]
    actual = [("+", (*("",) * (len(cells) - 1), cells[-1])) for cells in lines]
    return [*wanted, *actual]


def _fitted(cell: str, width: int) -> str:
    return cell if len(cell) <= width else cell[: width - 1] + "…"


def _written(row: StepGroup, *, has_expected: bool, has_baseline: bool) -> StepRow:
    mark = _mark(row)
    steps = [row.reference] if has_expected else []
    if has_baseline:
        steps.append(row.baseline)
    steps.append(row.candidate)
    if mark == "!":
        names = tuple(one_line(step.name, _CALL_LIMIT) if step else "" for step in steps)
        return StepRow(mark=mark, cells=names, differing=_differing(row, steps))
    return StepRow(mark=mark, cells=tuple(_call(step, with_arguments=_tells(row, mark)) if step else "" for step in steps))


def _tells(row: StepGroup, mark: Mark) -> bool:
    """Whether the arguments say more than the name: for a step of one arm, and where the arms differ in an expected one."""
    if row.baseline is None or row.candidate is None:
        return mark != " "
    return row.reference is not None and not json_equal(row.baseline.arguments, row.candidate.arguments)


def _differing(row: StepGroup, steps: Sequence[Step | None]) -> tuple[tuple[str, ...], ...]:
    """The arguments in which the candidate's step is not as it should be, the first few."""
    wanted = row.reference.arguments if row.reference else None
    got = row.candidate.arguments if row.candidate else None
    if not isinstance(wanted, Mapping) or not isinstance(got, Mapping):
        return (tuple(f"  {one_line(compact(step.arguments), _CALL_LIMIT)}" if step else "" for step in steps),)
    as_text = bool(row.reference and row.reference.wanted and row.reference.wanted.text_values)
    keys = [
        key
        for key in dict.fromkeys((*wanted, *got))
        if key not in wanted or key not in got or not same_value(wanted[key], got[key], as_text=as_text)
    ]
    if row.reference and row.reference.wanted and row.reference.wanted.match == "subset":
        keys = [key for key in keys if key in wanted]
    lines = [_argument_line(steps, key) for key in keys[:MAX_ARGUMENTS]]
    if len(keys) > MAX_ARGUMENTS:
        lines.append(tuple("  …" if step else "" for step in steps))
    return tuple(lines)


def _argument_line(steps: Sequence[Step | None], key: str) -> tuple[str, ...]:
    """The argument in every column, from a little before the place where long values begin to differ."""
    values = [_value(step, key) for step in steps]
    texts = [value for value in values if value is not None]
    start = max(0, _first_difference(texts) - _ORIENTATION)
    start = start if start > _ORIENTATION else 0
    dots = "…" if start else ""
    return tuple(
        "" if value is None else "  " + one_line(f"{key}: {dots}{value[start : start + _CALL_LIMIT]}", _CALL_LIMIT)
        for value in values
    )  # fmt: skip


def _value(step: Step | None, key: str) -> str | None:
    if step is None or not isinstance(step.arguments, Mapping) or key not in step.arguments:
        return None
    return compact(step.arguments[key])


def _first_difference(texts: Sequence[str]) -> int:
    """Length of the start that all texts share; 0 for one text alone."""
    if len(set(texts)) < 2:
        return 0
    return next((place for place, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1), min(map(len, texts)))


def _mark(row: StepGroup) -> Mark:
    if row.reference is None:
        return "+" if row.candidate else " "
    if row.candidate is None:
        return "-"
    return " " if satisfies(row.reference, row.candidate) else "!"


def _call(step: Step, *, with_arguments: bool) -> str:
    name = one_line(step.name, _CALL_LIMIT)
    if not with_arguments or not step.arguments:
        return name
    if isinstance(step.arguments, Mapping):
        inner = ", ".join(f"{key}: {compact(value)}" for key, value in list(step.arguments.items())[:10])
    else:
        inner = compact(step.arguments)
    return one_line(f"{name}({inner[:_CALL_LIMIT]})", _CALL_LIMIT)


def _with_empty_columns_named(rows: list[StepRow]) -> tuple[StepRow, ...]:
    """A column without a single step says so in its first row."""
    empty = {column for column in range(len(rows[0].cells)) if not any(row.cells[column] for row in rows)}
    first = tuple(NO_CALLS if column in empty else cell for column, cell in enumerate(rows[0].cells))
    return (replace(rows[0], cells=first), *rows[1:])

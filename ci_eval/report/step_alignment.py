"""Which steps of several trajectories belong together.

In: steps that were expected (or, where nothing is, the baseline's) and the steps of both arms. Out: groups, in order.
Pure. It finds partners; it doesn't judge the order or the number of steps, which is the evaluator's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ci_eval.domain.canonical import compact, json_equal
from ci_eval.domain.case import ExpectedAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of any column."""

    name: str
    arguments: object | None
    wanted: ExpectedAction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGroup:
    """Steps that belong together; `reference` is the expected one, or the baseline's where nothing is expected."""

    reference: Step | None
    baseline: Step | None
    candidate: Step | None


def align(reference: list[Step], baseline: list[Step], candidate: list[Step]) -> list[StepGroup]:
    """Walk along the reference; what has no partner stands before the next step that has one."""
    of_baseline = _partners(reference, baseline)
    of_candidate = _partners(reference, candidate)
    rows: list[StepGroup] = []
    next_baseline = next_candidate = 0
    for position in range(len(reference) + 1):
        own = reference[position] if position < len(reference) else None
        in_baseline = of_baseline.get(position) if own else len(baseline)
        in_candidate = of_candidate.get(position) if own else len(candidate)
        if in_baseline is not None or in_candidate is not None:
            extra_baseline = baseline[next_baseline : next_baseline if in_baseline is None else in_baseline]
            extra_candidate = candidate[next_candidate : next_candidate if in_candidate is None else in_candidate]
            rows += _unexpected(extra_baseline, extra_candidate)
        if own:
            rows.append(
                StepGroup(
                    reference=own,
                    baseline=None if in_baseline is None else baseline[in_baseline],
                    candidate=None if in_candidate is None else candidate[in_candidate],
                )
            )
        next_baseline = next_baseline if in_baseline is None else in_baseline + 1
        next_candidate = next_candidate if in_candidate is None else in_candidate + 1
    return rows


def _unexpected(baseline: list[Step], candidate: list[Step]) -> list[StepGroup]:
    """Rows of steps that the reference does not have; the same step of both arms shares a row."""
    partners = _partners(baseline, candidate)
    rows: list[StepGroup] = []
    done = 0
    for position, step in enumerate(baseline):
        partner = partners.get(position)
        if partner is not None:
            rows += [StepGroup(reference=None, baseline=None, candidate=extra) for extra in candidate[done:partner]]
            done = partner + 1
        rows.append(StepGroup(reference=None, baseline=step, candidate=None if partner is None else candidate[partner]))
    return rows + [StepGroup(reference=None, baseline=None, candidate=extra) for extra in candidate[done:]]


def satisfies(reference: Step, step: Step) -> bool:
    """Whether the arguments are as the reference wants them; the names are taken to be equal."""
    if reference.wanted is None:
        return json_equal(reference.arguments, step.arguments)
    wanted = reference.wanted
    if wanted.arguments is None or wanted.match == "name":
        return True
    if not isinstance(step.arguments, Mapping):
        return False
    if wanted.match == "exact" and wanted.arguments.keys() != step.arguments.keys():
        return False
    return all(
        key in step.arguments and same_value(value, step.arguments[key], as_text=wanted.text_values)
        for key, value in wanted.arguments.items()
    )


def same_value(left: object, right: object, *, as_text: bool) -> bool:
    """Compare two arguments as JSON, or also by their text where the expectation gives its values as text."""
    if json_equal(left, right):
        return True
    one_is_text = isinstance(left, str) != isinstance(right, str)
    return as_text and one_is_text and (compact(left) == compact(right) or str(left) == str(right))


def _partners(left: list[Step], right: list[Step]) -> dict[int, int]:
    """Position in `left` to position in `right`, in order: as many equal names as possible, then as many right arguments."""
    fits = [[_likeness(one, other) for other in right] for one in left]
    best = [[(0, 0)] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            names, arguments = best[i + 1][j + 1]
            taken = (names + fits[i][j][0], arguments + fits[i][j][1])
            best[i][j] = max(taken, best[i + 1][j], best[i][j + 1])
    partners: dict[int, int] = {}
    i = j = 0
    while i < len(left) and j < len(right):
        names, arguments = best[i + 1][j + 1]
        if fits[i][j][0] and best[i][j] == (names + fits[i][j][0], arguments + fits[i][j][1]):
            partners[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return partners


def _likeness(one: Step, other: Step) -> tuple[int, int]:
    """Whether the names are equal, and whether the arguments are right too."""
    if one.name.strip() != other.name.strip():
        return 0, 0
    return 1, int(satisfies(one, other))

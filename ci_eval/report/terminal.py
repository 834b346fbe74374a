"""The report for a terminal: verdict, numbers, and the cases to look at.

In: comparison, verdict, settings, and how wide and colourful it may be. Out: text. The only module of the report that imports rich.
Text from outside is cleaned, never read as markup, and no line can speak to a workflow log.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ci_eval.domain.comparison import Comparison, Outcome, Verdict
from ci_eval.log import neutral
from ci_eval.report import numbers
from ci_eval.report.cases import CaseStory
from ci_eval.report.escape import both_ends, one_line
from ci_eval.report.outline import MetricRow, Outline, outline
from ci_eval.report.sentences import NAME_LENGTH, NAMED_CASES, Quote, Sentence
from ci_eval.report.settings import ReportSettings
from ci_eval.report.steps import draw

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

SHOWN_CASES: Final = 10
NARROWEST: Final = 60
WIDEST: Final = 120
REASON_LIMIT: Final = 300

_COLOURS: Final = {Outcome.PASS: "green", Outcome.WARN: "yellow", Outcome.BLOCK: "red", Outcome.INCOMPLETE: "magenta"}
_SIGNS: Final = {Outcome.PASS: "✓", Outcome.WARN: "!", Outcome.BLOCK: "✗", Outcome.INCOMPLETE: "?"}
_VERDICT_COLOURS: Final = {"regressed": "red", "possible regression": "yellow", "improved": "green", "incomplete": "magenta"}
_STEP_COLOURS: Final = {"-": "red", "+": "green"}
_COLOUR_CODE: Final = re.compile("\x1b\\[[0-9;]*m")


def render_terminal(
    comparison: Comparison, verdict: Verdict, settings: ReportSettings, *, width: int = 80, colour: bool = False
) -> str:
    """Render the report for a screen of so many columns; without colour it is plain text."""
    from rich.console import Console

    columns = max(NARROWEST, min(width, WIDEST))
    stream = io.StringIO()
    console = Console(
        file=stream, width=columns, force_terminal=colour, color_system="standard" if colour else None, no_color=not colour,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    told = outline(comparison, verdict, settings)
    for part in _parts(told, columns):
        console.print(part)
    lines = [_harmless(line) for line in stream.getvalue().split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def _parts(told: Outline, columns: int) -> Iterator[RenderableType]:
    yield _verdict(told)
    if told.metrics:
        yield _metrics(told.metrics, "metric", told)
    if told.trajectory:
        yield _metrics(told.trajectory, "steps", told)
    yield from _stories(told.cases.broken, told.broken_heading, "red", columns)
    yield from _stories(told.cases.fixed, told.fixed_heading, "green", columns)
    yield from _rest(told)


def _verdict(told: Outline) -> RenderableType:
    from rich.box import ROUNDED
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    colour = _COLOURS[told.outcome]
    lines = [Text(f"{_SIGNS[told.outcome]} {one_line(told.headline)}", style=f"bold {colour}")]
    lines += [_text(sentence) for sentence in told.reasons]
    lines += [_text(sentence, style="dim") for sentence in told.troubles]
    return Panel(Group(*lines), title=Text(one_line(told.title, 60)), title_align="left", border_style=colour, box=ROUNDED)


def _metrics(rows: Sequence[MetricRow], title: str, told: Outline) -> RenderableType:
    """Two lines a metric, so that it fits into 80 columns: the numbers, and below them how sure they are."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, expand=False)
    table.add_column(title, overflow="fold")
    for column in ("baseline", "candidate", "difference"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("verdict")
    for row in rows:
        name = row.short_name if title == "steps" and told.trajectory_of and row.short_name else one_line(row.name, 60)
        colour = _VERDICT_COLOURS.get(row.verdict, "")
        table.add_row(
            _over(name, ", ".join(row.notes), style="bold" if "gated" in row.notes else ""),
            _over(*_number_and_count(row.baseline)),
            _over(*_number_and_count(row.candidate)),
            _over(row.difference, row.interval, style=f"bold {colour}" if row.stands_out else ""),
            Text(row.verdict, style=colour),
        )
    return table


def _number_and_count(written: str) -> tuple[str, str]:
    number, bracket, count = written.partition(" (")
    return number, bracket.strip() + count


def _over(first: str, second: str, style: str = "") -> Text:
    """One line, and a dim one below it if there is something to say."""
    from rich.text import Text

    text = Text(first, style=style)
    if second:
        text.append(f"\n{second}", style="not bold dim")
    return text


def _stories(stories: Sequence[CaseStory], heading: str, colour: str, columns: int) -> Iterator[RenderableType]:
    from rich.text import Text

    if not stories:
        return
    yield Text(heading, style=f"bold {colour}")
    for story in stories[:SHOWN_CASES]:
        yield from _story(story, colour, columns)
    if len(stories) > SHOWN_CASES:
        named = [one_line(story.case_id, NAME_LENGTH) for story in stories[SHOWN_CASES:][:NAMED_CASES]]
        unnamed = len(stories) - SHOWN_CASES - len(named)
        rest = f" and {unnamed:,} more" if unnamed else ""
        yield Text(f"  … {len(stories) - SHOWN_CASES:,} more in summary.md: {', '.join(named)}{rest}\n", style="dim")
    else:
        yield Text("")


def _story(story: CaseStory, colour: str, columns: int) -> Iterator[RenderableType]:
    """Id and query, then per metric what happened and why, then the steps."""
    from rich.padding import Padding
    from rich.text import Text

    head = Text("▌ ", style=colour)
    head.append(one_line(story.case_id, 60), style="bold")
    label = story.title or story.query
    if label:
        head.append(f"  {one_line(label, columns)}", style="dim")
    head.truncate(columns, overflow="ellipsis")
    yield head
    for score in story.scores:
        if score.is_lead:
            reason = f"  {one_line(score.candidate_reason, REASON_LIMIT)}" if score.candidate_reason else ""
            yield Padding(Text(f"{one_line(score.metric, 60)}: {score.baseline} → {score.candidate}{reason}"), (0, 0, 0, 2))
    for failure in story.failures:
        yield Padding(_text(failure), (0, 0, 0, 2))
    if story.steps is not None:
        for line in draw(story.steps, columns - 2).split("\n"):
            yield Padding(Text(line, style=_STEP_COLOURS.get(line[:1], "dim"), no_wrap=True, overflow="ellipsis"), (0, 0, 0, 2))


def _rest(told: Outline) -> Iterator[RenderableType]:
    from rich.text import Text

    for one in told.cases.others:
        yield _text((f"{numbers.plural(len(one.case_ids), 'case')}: ", *one.words), style="dim")
    for moved in told.cases.moves:
        worse = numbers.plural(len(moved.worse), "case") if moved.worse else "no case"
        better = f"{len(moved.better):,}" if moved.better else "none"
        yield _text((Quote(moved.metric), f": {worse} got worse, {better} better"), style="dim")
    if told.usage:
        spent = [f"{row.what} {row.baseline} → {row.candidate}" for row in told.usage]
        yield Text(" · ".join(spent), style="dim")
    for sentence in told.sensitivity:
        yield _text(sentence, style="dim")
    made = told.provenance
    yield Text(" · ".join(f"{arm} {one_line(description, 60)}" for arm, description in made.arms), style="dim")


def _text(sentence: Sentence, style: str = "") -> Text:
    """Words as they are, quotes cleaned and bold."""
    from rich.text import Text

    text = Text(style=style)
    for part in sentence:
        if isinstance(part, Quote):
            shorten = both_ends if part.ends_matter else one_line
            text.append(shorten(part.text, REASON_LIMIT), style="bold")
        else:
            text.append(re.sub(r"\s+", " ", part))
    return text


def _harmless(line: str) -> str:
    """Take its voice from a line that a workflow log would obey, also behind colour codes."""
    plain = _COLOUR_CODE.sub("", line)
    return line.rstrip() if neutral(plain) == plain else neutral(plain).rstrip()

"""What the markdown templates print: ready strings, rows and booleans.

In: an outline, and how much of it is shown. Out: `ReportView`. Everything from outside has passed `escape.py`.
Pure. It decides nothing about the evaluation; it only writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ci_eval.domain.comparison import Outcome
from ci_eval.report import numbers
from ci_eval.report.cases import ChangeList
from ci_eval.report.escape import Ready, code_block, code_cell, code_span, link, prose
from ci_eval.report.fit import Shown
from ci_eval.report.outline import ErrorRow, MetricRow, Outline, UsageRow
from ci_eval.report.sentences import Quote, Sentence, ids
from ci_eval.report.view_cases import CaseView, case_view
from ci_eval.report.view_words import ListView, Place, cell, listed, naming, words

SHOWN_IDS: Final = 20
VISIBLE_CERTAINTIES: Final = 3
REPEAT_LIMIT: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricView:
    """Cells of one metric."""

    mark: Ready
    name: Ready
    baseline: Ready
    candidate: Ready
    difference: Ready
    verdict: Ready


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherView:
    """Cells of one list of changed cases."""

    count: Ready
    words: Ready
    cases: Ready


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageView:
    """Cells of one row of what the arms took."""

    what: Ready
    baseline: Ready
    candidate: Ready
    ratio: Ready


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorView:
    """Cells of one metric on one arm."""

    metric: Ready
    arm: Ready
    counts: tuple[Ready, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutView:
    """How sure, how made, how to repeat."""

    certainty: tuple[Ready, ...]
    facts: tuple[Ready, ...]
    notices: tuple[Ready, ...]
    repeat: Ready
    """The command in a fence; "" when there is none."""
    line: Ready
    """The two arms and the link, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """The whole report."""

    heading: Ready
    reasons: ListView[Ready]
    troubles: Ready
    shortened: Ready
    """Names the parts that were left out for length; "" when nothing was."""
    metrics: ListView[MetricView]
    trajectory: ListView[MetricView]
    """Its heading stands in the table's own head."""
    legend: Ready
    broken: ListView[CaseView]
    fixed: ListView[CaseView]
    others: ListView[OtherView]
    usage: tuple[UsageView, ...]
    errors: tuple[ErrorView, ...]
    about: AboutView


def everything(outline: Outline, place: Place) -> Shown:
    """Count all that this place would show if it had room."""
    return Shown(
        reasons=len(outline.reasons),
        metrics=len(outline.metrics),
        trajectory=len(outline.trajectory),
        broken=min(len(outline.cases.broken), place.most_cases),
        fixed=min(len(outline.cases.fixed), place.most_cases),
        others=len(_other_lists(outline)),
        notices=len(outline.notices),
        usage=int(bool(outline.usage)),
        errors=int(bool(outline.errors)),
        facts=1,
    )


def report_view(outline: Outline, shown: Shown, place: Place) -> ReportView:
    """Write the outline for markdown, as far as it is shown."""
    where = place.elsewhere
    broken, fixed, others = outline.cases.broken, outline.cases.fixed, _other_lists(outline)
    return ReportView(
        heading=Ready(f"{outline.emoji} {prose(outline.title)}: {prose(outline.headline_in_title)}"),
        reasons=listed(
            _reasons(outline, shown.reasons), len(outline.reasons),
            heading="", one_more=("more reason", "more reasons"), elsewhere=where,
        ),
        troubles=Ready(" ".join(words(sentence) for sentence in outline.troubles)),
        shortened=_shortened(outline, shown, place),
        metrics=listed(
            [_metric(row, code_cell(row.name)) for row in outline.metrics[: shown.metrics]], len(outline.metrics),
            heading="", one_more=("more metric", "more metrics"), elsewhere=where,
        ),
        trajectory=listed(
            [_metric(row, _step_name(row, outline)) for row in outline.trajectory[: shown.trajectory]], len(outline.trajectory),
            heading=f"steps · {code_cell(outline.trajectory_of)}" if outline.trajectory_of else "steps",
            one_more=("more trajectory metric", "more trajectory metrics"), elsewhere=where,
        ),
        legend=_legend(outline),
        broken=naming(
            listed(
                [case_view(one, place.broken, is_open=_is_open(at, outline)) for at, one in enumerate(broken[: shown.broken])],
                len(broken),
                heading=outline.broken_heading, one_more=("more broken case", "more broken cases"), elsewhere=where,
            ),
            [story.case_id for story in broken],
        ),
        fixed=naming(
            listed(
                [case_view(one, place.fixed, is_open=False) for one in fixed[: shown.fixed]], len(fixed),
                heading=outline.fixed_heading, one_more=("more fixed case", "more fixed cases"), elsewhere=where,
            ),
            [story.case_id for story in fixed],
        ),
        others=listed(
            [_other(one) for one in others[: shown.others]], len(others),
            heading=_others_heading(outline), one_more=("more kind of change", "more kinds of change"), elsewhere=where,
        ),
        usage=tuple(_usage(row) for row in outline.usage) if shown.usage else (),
        errors=tuple(_errors(row) for row in outline.errors) if shown.errors else (),
        about=_about(outline, shown),
    )  # fmt: skip


def _reasons(outline: Outline, count: int) -> list[Ready]:
    """One paragraph each; the deciding one of a blocked merge is bold."""
    said = [words(sentence) for sentence in outline.reasons[:count]]
    if said and outline.outcome is Outcome.BLOCK:
        said[0] = _with_bold_start(outline.reasons[0])
    return said


def _with_bold_start(sentence: Sentence) -> Ready:
    """Make the first of the sentences bold: it has the numbers."""
    for position, part in enumerate(sentence):
        start, stop, rest = f"{part} ".partition(". ") if isinstance(part, str) else ("", "", "")
        if stop:
            first, others = (*sentence[:position], f"{start}."), (rest, *sentence[position + 1 :])
            return Ready(f"**{words(first)}** {words(others).strip()}".rstrip())
    return Ready(f"**{words(sentence)}**")


def _shortened(outline: Outline, shown: Shown, place: Place) -> Ready:
    parts = [
        ("notes", shown.notices < len(outline.notices)),
        ("errors by metric", bool(outline.errors) and not shown.errors),
        ("cost and latency", bool(outline.usage) and not shown.usage),
        ("how to repeat it", not shown.facts),
    ]
    missing = [part for part, is_missing in parts if is_missing]
    return Ready(f"Left out here for length: {', '.join(missing)}. It is {place.elsewhere}." if missing else "")


def _metric(row: MetricRow, name: Ready) -> MetricView:
    if "gated" in row.notes:
        name = Ready(f"**{name}**")
    difference = f"**{_unbroken(row.difference)}**" if row.stands_out else _unbroken(row.difference)
    return MetricView(
        mark=Ready(row.mark),
        name=Ready(f"{name} ({_unbroken(', '.join(row.notes))})" if row.notes else name),
        baseline=_unbroken(row.baseline),
        candidate=_unbroken(row.candidate),
        difference=Ready(f"{difference} {_unbroken(row.interval)}".strip()),
        verdict=Ready(row.verdict),
    )


def _step_name(row: MetricRow, outline: Outline) -> Ready:
    return Ready(row.short_name) if outline.trajectory_of and row.short_name else code_cell(row.name)


def _unbroken(text: str) -> Ready:
    """Keep a number and its unit together in a narrow cell; a bracket may go to the next line."""
    return Ready(text.replace(" ", "\u00a0").replace("\u00a0(", " ("))


def _legend(outline: Outline) -> Ready:
    if not (outline.metrics or outline.trajectory):
        return Ready("")
    return Ready(f"<sub>{outline.legend}</sub>")


def _is_open(index: int, outline: Outline) -> bool:
    """The first broken case shows what to expect of the others, unless there is nothing to worry about."""
    return index == 0 and outline.outcome is not Outcome.PASS


def _other_lists(outline: Outline) -> list[ChangeList]:
    """One list a line: fates first, then the metrics without stories, losses before gains."""
    moves = outline.cases.moves
    worse = [ChangeList(words=(Quote(one.metric), " got worse"), case_ids=one.worse) for one in moves if one.worse]
    better = [ChangeList(words=(Quote(one.metric), " got better"), case_ids=one.better) for one in moves if one.better]
    return [*outline.cases.others, *worse, *better]


def _others_heading(outline: Outline) -> str:
    changed = {case_id for one in _other_lists(outline) for case_id in one.case_ids}
    return f"Other changes in {numbers.plural(len(changed), 'case')}"


def _other(one: ChangeList) -> OtherView:
    return OtherView(
        count=Ready(f"{len(one.case_ids):,}"),
        words=cell(words(one.words)),
        cases=cell(words(ids(one.case_ids, SHOWN_IDS), 80)),
    )


def _usage(row: UsageRow) -> UsageView:
    return UsageView(what=Ready(row.what), baseline=Ready(row.baseline), candidate=Ready(row.candidate), ratio=Ready(row.ratio))


def _errors(row: ErrorRow) -> ErrorView:
    return ErrorView(metric=code_cell(row.metric), arm=Ready(row.arm), counts=tuple(Ready(count) for count in row.counts))


def _about(outline: Outline, shown: Shown) -> AboutView:
    made = outline.provenance
    parts = [f"{arm} {code_span(description, 80)}" for arm, description in made.arms]
    if made.report_url:
        parts.append(link("full report", made.report_url))
    certainty = [words(sentence) for sentence in outline.sensitivity]
    repeat = f"Repeat it with\n\n{code_block(made.repeat_command, 'sh', REPEAT_LIMIT)}" if made.repeat_command else ""
    return AboutView(
        certainty=tuple(certainty[:VISIBLE_CERTAINTIES]),
        facts=tuple(words(fact) for fact in made.facts) if shown.facts else (),
        notices=tuple(words(notice) for notice in outline.notices[: shown.notices]),
        repeat=Ready(repeat),
        line=Ready(" · ".join(parts)),
    )

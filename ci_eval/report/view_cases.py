"""One broken or fixed case as a block of markdown.

In: a story. Out: `CaseView` of ready strings. Everything from outside stands in code. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ci_eval.domain.comparison import Change
from ci_eval.report import numbers
from ci_eval.report.cases import LOSSES, CaseStory, ScoreLine
from ci_eval.report.escape import Ready, code_block, code_cell, code_span, html_code
from ci_eval.report.steps import draw
from ci_eval.report.view_words import TextLengths, words

MOST_ROWS: Final = 12
MOST_LEADS: Final = 5
STEPS_LIMIT: Final = 20_000  # never reached by 40 rows of three columns

_MARKS: Final = {Change.BROKEN: "❌", Change.DEGRADED: "🔻", Change.FIXED: "✅", Change.IMPROVED: "🔺"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmsRow:
    """Cells of one thing on both arms."""

    name: Ready
    baseline: Ready
    candidate: Ready


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """One folded block."""

    is_open: bool
    summary: Ready
    """HTML: the line one sees when it is folded."""
    sentences: tuple[Ready, ...]
    steps: Ready
    rows: tuple[ArmsRow, ...]


def case_view(story: CaseStory, lengths: TextLengths, *, is_open: bool) -> CaseView:
    """Write a story."""
    leads = [score for score in story.scores if score.is_lead]
    others = [score for score in story.scores if not score.is_lead]
    said = [_lead_sentence(score, story, lengths) for score in leads[:MOST_LEADS]]
    if len(leads) > MOST_LEADS:
        said.append(Ready(f"… and {numbers.plural(len(leads) - MOST_LEADS, 'more metric')}."))
    said += [words(failure, lengths.reason) for failure in story.failures]
    if story.trial:
        said.append(words(story.trial))
    return CaseView(
        is_open=is_open,
        summary=_summary(story, lengths),
        sentences=tuple(said),
        steps=Ready("") if story.steps is None else code_block(draw(story.steps), "diff", STEPS_LIMIT),
        rows=_rows(story, others, lengths),
    )


def _summary(story: CaseStory, lengths: TextLengths) -> Ready:
    label = story.title or story.query
    name = f"{_MARKS[story.change]} {html_code(story.case_id, 80)}"
    return Ready(f"{name} · {html_code(label, lengths.query)}" if label else name)


def _lead_sentence(score: ScoreLine, story: CaseStory, lengths: TextLengths) -> Ready:
    """`task_success`: pass → **fail**, with the reason, and for a gain the reason it failed before."""
    change = f"{code_span(score.metric)}: {score.baseline} → **{score.candidate}**"
    if score.candidate_reason:
        change += f" · {code_span(score.candidate_reason, lengths.reason)}"
    if story.change not in LOSSES and score.baseline_reason and score.baseline_reason != score.candidate_reason:
        change += f" · before: {code_span(score.baseline_reason, lengths.reason)}"
    return Ready(change)


def _rows(story: CaseStory, others: list[ScoreLine], lengths: TextLengths) -> tuple[ArmsRow, ...]:
    rows = []
    before, after = story.baseline_answer, story.candidate_answer
    if before is not None or after is not None:
        same = before == after
        rows.append(
            ArmsRow(
                name=Ready("answer"),
                baseline=_answer(before, lengths),
                candidate=Ready("the same") if same else _answer(after, lengths),
            )
        )
    rows += [
        ArmsRow(
            name=code_cell(score.metric),
            baseline=_score(score.baseline, score.baseline_reason, lengths),
            candidate=_score(score.candidate, score.candidate_reason, lengths),
        )
        for score in others[:MOST_ROWS]
    ]
    if len(others) > MOST_ROWS:
        left_out = Ready(f"… {numbers.plural(len(others) - MOST_ROWS, 'more metric')}")
        rows.append(ArmsRow(name=left_out, baseline=Ready(""), candidate=Ready("")))
    return tuple(rows)


def _answer(text: str | None, lengths: TextLengths) -> Ready:
    return Ready("–") if text is None else code_cell(text, lengths.answer)


def _score(shown: str, reason: str, lengths: TextLengths) -> Ready:
    return Ready(f"{shown} · {code_cell(reason, lengths.reason)}" if reason else shown)

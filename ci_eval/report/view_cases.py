"""One broken or fixed case as a block of markdown.

In: a story. Out: `CaseView` of ready strings. Everything from outside stands in code. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ci_eval.domain.comparison import Change
from ci_eval.report import numbers
from ci_eval.report.cases import SHARES, CaseStory, ScoreLine
from ci_eval.report.escape import Ready, code_block, code_span, html_code, shortened
from ci_eval.report.steps import draw
from ci_eval.report.view_words import TextLengths, words

MOST_ROWS: Final = 12
MOST_LEADS: Final = 5
STEPS_LIMIT: Final = 20_000  # never reached by 40 rows of three columns

_MARKS: Final = {Change.BROKEN: "❌", Change.DEGRADED: "🔻", Change.FIXED: "✅", Change.IMPROVED: "🔺"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """One folded block."""

    is_open: bool
    summary: Ready
    """HTML: the line one sees when it is folded."""
    sentences: tuple[Ready, ...]
    """What happened, a paragraph each."""
    steps: Ready
    """A `diff` block; "" when the steps are unknown."""
    remarks: tuple[Ready, ...]
    """The other metrics and the answers, an item each."""


def case_view(story: CaseStory, lengths: TextLengths, *, is_open: bool) -> CaseView:
    """Write a story."""
    leads = [score for score in story.scores if score.is_lead]
    is_cut = story.query and (story.title or len(story.query) > lengths.label)
    said = [Ready(f"asked: {code_span(story.query, lengths.answer)}")] if is_cut else []
    said += [_score_change(score, lengths, is_lead=True) for score in leads[:MOST_LEADS]]
    if len(leads) > MOST_LEADS:
        said.append(_more_metrics(len(leads) - MOST_LEADS))
    said += [words(failure, lengths.reason) for failure in story.failures]
    if story.trial:
        said.append(words(story.trial))
    return CaseView(
        is_open=is_open,
        summary=_summary(story, lengths),
        sentences=tuple(said),
        steps=Ready("") if story.steps is None else code_block(draw(story.steps), "diff", STEPS_LIMIT),
        remarks=(*_other_scores(story, lengths), *_answers(story, lengths)),
    )


def _summary(story: CaseStory, lengths: TextLengths) -> Ready:
    label = story.title or story.query
    name = f"{_MARKS[story.change]} {html_code(story.case_id, 80)}"
    return Ready(f"{name} · {html_code(shortened(label, lengths.label))}" if label else name)


def _score_change(score: ScoreLine, lengths: TextLengths, *, is_lead: bool) -> Ready:
    """`task_success`: pass → **fail**, with the reason, and for a gain the reason it failed before."""
    after = f"**{score.candidate}**" if is_lead else score.candidate
    change = f"{code_span(score.metric)}: {score.baseline} → {after}"
    if score.candidate_reason:
        change += f" · {code_span(score.candidate_reason, lengths.reason)}"
    if score.is_gain and score.baseline_reason and score.baseline_reason != score.candidate_reason:
        change += f" · before: {code_span(score.baseline_reason, lengths.reason)}"
    return Ready(change)


def _other_scores(story: CaseStory, lengths: TextLengths) -> list[Ready]:
    """Metrics that changed beside the leads; the shares of a trajectory in one line, as their steps are drawn above."""
    others = [score for score in story.scores if not score.is_lead]
    changed = [_score_change(score, lengths, is_lead=False) for score in others if not score.is_share]
    told = changed[:MOST_ROWS]
    if len(changed) > MOST_ROWS:
        told.append(_more_metrics(len(changed) - MOST_ROWS))
    return told + _shares([score for score in others if score.is_share])


def _shares(scores: list[ScoreLine]) -> list[Ready]:
    """`steps`: precision 1.00 → 0.50, recall 1.00 → 0.67: a line for each evaluator."""
    by_owner: dict[str, list[str]] = {}
    for score in scores:
        owner, _, part = score.metric.rpartition(".")
        if part in SHARES:
            by_owner.setdefault(owner, []).append(f"{SHARES[part]} {score.baseline} → {score.candidate}")
        else:
            by_owner.setdefault(score.metric, []).append(f"{score.baseline} → {score.candidate}")
    return [Ready(f"{code_span(owner)}: {', '.join(shares)}") for owner, shares in list(by_owner.items())[:MOST_ROWS]]


def _answers(story: CaseStory, lengths: TextLengths) -> list[Ready]:
    before, after = story.baseline_answer, story.candidate_answer
    if before is not None and before == after:
        return [Ready(f"both arms answered: {code_span(before, lengths.answer)}")]
    arms = (("baseline", before), ("candidate", after))
    return [Ready(f"{arm} answered: {code_span(text, lengths.answer)}") for arm, text in arms if text is not None]


def _more_metrics(count: int) -> Ready:
    return Ready(f"… and {numbers.plural(count, 'more metric')}")

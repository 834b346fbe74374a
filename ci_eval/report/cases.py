"""What happened case by case: the broken, the fixed, and all other changes.

In: a comparison. Out: one `CaseStory` for every case that changed where it matters, and lists of ids for the rest.
Texts from outside are kept as they are; whoever prints a story escapes them. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ci_eval.domain.comparison import CaseChange, CasePair, Change, Comparison, MetricComparison
from ci_eval.domain.results import CaseResult
from ci_eval.domain.score import Metric
from ci_eval.report import numbers
from ci_eval.report.sentences import Quote, Sentence
from ci_eval.report.steps import StepTable, align_steps

LOSSES: Final = (Change.BROKEN, Change.DEGRADED)
GAINS: Final = (Change.FIXED, Change.IMPROVED)
SHARES: Final = {"precision": "precision", "recall": "recall", "f1": "F1"}
"""Last parts of the names of trajectory metrics, as they are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreLine:
    """One metric of one case, before and after."""

    metric: str
    baseline: str
    """`pass`, `fail`, `2 of 3 passed` or a number; our own words."""
    candidate: str
    baseline_reason: str
    """From outside; "" when none was given."""
    candidate_reason: str
    is_lead: bool
    """The case is listed because of this metric."""
    is_gain: bool
    is_share: bool
    """Precision, recall or F1 of the steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStory:
    """One case, told with all that a reviewer needs to understand it."""

    case_id: str
    query: str
    title: str
    change: Change
    """The gravest change among the lead metrics."""
    scores: tuple[ScoreLine, ...]
    """Lead metrics first."""
    failures: tuple[Sentence, ...]
    """Why an arm has no answer, in words."""
    steps: StepTable | None
    baseline_answer: str | None
    candidate_answer: str | None
    trial: Sentence
    """Which repeat is shown; empty with a single one."""
    file: str
    line: int | None
    gated: bool
    """A lead metric of this case can block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeList:
    """Cases that share a fate that is worth a line."""

    words: Sentence
    case_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMoves:
    """Losses and gains of a metric whose cases have no stories; ids sorted."""

    metric: str
    worse: tuple[str, ...]
    better: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChanges:
    """All cases that changed."""

    broken: tuple[CaseStory, ...]
    fixed: tuple[CaseStory, ...]
    moves: tuple[MetricMoves, ...]
    others: tuple[ChangeList, ...]


def tell_cases(comparison: Comparison) -> CaseChanges:
    """Sort every change: losses and gains of the lead metrics as stories, all others as lists."""
    leads = lead_metrics(comparison)
    lost = _story_ids(comparison, leads, LOSSES)
    gained = [case_id for case_id in _story_ids(comparison, leads, GAINS) if case_id not in set(lost)]
    by_case: dict[str, list[CaseChange]] = {}
    for change in comparison.changes:
        by_case.setdefault(change.case_id, []).append(change)
    names = {compared.metric.name for compared in leads}
    gated = {compared.metric.name for compared in leads if compared.gated}

    def tell(case_id: str) -> CaseStory:
        return _tell(comparison, comparison.pairs[case_id], by_case[case_id], leads=names, gated=gated)

    return CaseChanges(
        broken=tuple(tell(case_id) for case_id in lost),
        fixed=tuple(tell(case_id) for case_id in gained),
        moves=_moves(comparison, names),
        others=_other_changes(comparison),
    )


def lead_metrics(comparison: Comparison) -> tuple[MetricComparison, ...]:
    """The metrics whose losses are told at length: the gated ones; without any, those that pass or fail; else all."""
    gated = tuple(compared for compared in comparison.metrics if compared.gated)
    deciding = tuple(c for c in comparison.metrics if c.metric.kind == "binary" or c.metric.threshold is not None)
    return gated or deciding or comparison.metrics


def _story_ids(comparison: Comparison, leads: Sequence[MetricComparison], kinds: Sequence[Change]) -> list[str]:
    """Cases with such a change on a lead metric: the gravest kind first, then by id."""
    names = {compared.metric.name for compared in leads}
    rank: dict[str, int] = {}
    for change in comparison.changes:
        if change.metric in names and change.change in kinds and change.case_id in comparison.pairs:
            position = kinds.index(change.change)
            rank[change.case_id] = min(position, rank.get(change.case_id, position))
    return sorted(rank, key=lambda case_id: (rank[case_id], case_id))


def _tell(
    comparison: Comparison, pair: CasePair, changes: Sequence[CaseChange], *, leads: set[str], gated: set[str]
) -> CaseStory:
    own = [change for change in changes if change.metric in leads and change.change in (*LOSSES, *GAINS)]
    gravest = min(own, key=lambda change: (*LOSSES, *GAINS).index(change.change))
    baseline = _telling_trial(pair.baseline, gravest.metric, passed=gravest.change in LOSSES)
    candidate = _telling_trial(pair.candidate, gravest.metric, passed=gravest.change not in LOSSES)
    shown = pair.shown
    moved = [change for change in changes if change.baseline != change.candidate]
    return CaseStory(
        case_id=pair.case_id,
        query=shown.query or "",
        title=shown.title or "",
        change=gravest.change,
        scores=tuple(
            _score_line(comparison, change, baseline, candidate, is_lead=change in own)
            for change in sorted(moved, key=lambda change: (change not in own, change != gravest))
        ),
        failures=tuple(
            _failure(arm, record) for arm, record in (("baseline", baseline), ("candidate", candidate)) if record and record.failure
        ),
        steps=align_steps(
            shown.expected_actions, None if baseline is None else baseline.tool_calls, None if candidate is None else candidate.tool_calls
        ),
        baseline_answer=_answer(baseline),
        candidate_answer=_answer(candidate),
        trial=_shown_trials(pair, baseline, candidate),
        file=shown.source.file,
        line=shown.source.line,
        gated=any(change.metric in gated for change in own),
    )  # fmt: skip


def _telling_trial(records: Sequence[CaseResult], metric: str, *, passed: bool) -> CaseResult | None:
    """The first trial that shows the change: one that passed before, one that failed after."""
    fitting = (r for r in records if metric in r.scores and r.scores[metric].passed is passed)
    failed = (r for r in records if not passed and r.failure)
    return next(fitting, None) or next(failed, None) or next(iter(records), None)


def _shown_trials(pair: CasePair, baseline: CaseResult | None, candidate: CaseResult | None) -> Sentence:
    if max(len(pair.baseline), len(pair.candidate)) <= 1 or baseline is None or candidate is None:
        return ()
    before = f"trial {baseline.trial + 1} of {len(pair.baseline)} on the baseline"
    after = f"trial {candidate.trial + 1} of {len(pair.candidate)} on the candidate"
    return (f"Shown: {before}, {after}.",)


def _failure(arm: str, record: CaseResult) -> Sentence:
    if record.failure is None:
        return ()
    return (f"The {arm} gave no answer (", Quote(record.failure.code), "): ", Quote(record.failure.message, ends_matter=True))


def _answer(record: CaseResult | None) -> str | None:
    return None if record is None or record.failure else record.output_text


def _score_line(
    comparison: Comparison, change: CaseChange, baseline: CaseResult | None, candidate: CaseResult | None, *, is_lead: bool
) -> ScoreLine:
    compared = comparison.metric(change.metric)
    after = _reason(candidate, change.metric)
    return ScoreLine(
        metric=change.metric,
        baseline=_case_score(compared.metric, change.baseline, baseline, comparison.baseline.trials),
        candidate=_case_score(compared.metric, change.candidate, candidate, comparison.candidate.trials),
        baseline_reason=_reason(baseline, change.metric),
        candidate_reason=after or ("" if candidate and candidate.failure else change.reason),  # told as the failure itself
        is_lead=is_lead,
        is_gain=change.change in GAINS,
        is_share=compared.metric.group == "trajectory",
    )


def _case_score(metric: Metric, value: float | None, record: CaseResult | None, trials: int) -> str:
    """Words for a case's score, which is the mean of its trials."""
    if value is None:
        score = None if record is None else record.scores.get(metric.name)
        return "no score" if score is None else {"error": "error", "skipped": "skipped"}.get(score.status, "no score")
    if metric.kind == "binary" and metric.direction != "none":
        passing = 1.0 - value if metric.direction == "lower" else value
        return {0.0: "fail", 1.0: "pass"}.get(passing) or _passing_share(passing, trials)
    passed = metric.passes(value)
    verdict = "" if passed is None else " pass" if passed else " fail"
    return numbers.number(value) + verdict


def _passing_share(value: float, trials: int) -> str:
    """Count passing trials where the mean is over all of them; some may have had no score."""
    passing = value * trials
    is_whole = abs(passing - round(passing)) < 1e-6
    return f"{round(passing)} of {trials} trials pass" if is_whole else f"{numbers.percent(value)} of trials pass"


def _reason(record: CaseResult | None, metric: str) -> str:
    score = None if record is None else record.scores.get(metric)
    return "" if score is None else score.reason


def _other_changes(comparison: Comparison) -> tuple[ChangeList, ...]:
    """Everything that is neither a loss nor a gain, the worrying first."""
    sets = comparison.cases
    return tuple(
        one
        for one in (
            ChangeList(words=("no usable result on at least one arm",), case_ids=sets.missing),
            *_scoreless(comparison),
            ChangeList(words=("flaky to the same degree on both arms",), case_ids=_ids_of(comparison, (Change.FLAKY_SAME,))),
            ChangeList(words=("added: only the candidate has them, not compared",), case_ids=sets.added),
            ChangeList(words=("removed: only the baseline has them, not compared",), case_ids=sets.removed),
            ChangeList(words=("modified: same id, other content, not compared",), case_ids=sets.modified),
        )
        if one.case_ids
    )


def _scoreless(comparison: Comparison) -> Iterator[ChangeList]:
    """Cases that ran on both arms and still lack a score of a metric on one of them."""
    for compared in comparison.metrics:
        name = compared.metric.name
        without = set(_ids_of(comparison, (Change.MISSING,), name)) - set(comparison.cases.missing)
        yield ChangeList(words=("no usable score of ", Quote(name), " on one arm"), case_ids=tuple(sorted(without)))


def _moves(comparison: Comparison, leads: set[str]) -> tuple[MetricMoves, ...]:
    names = [compared.metric.name for compared in comparison.metrics if compared.metric.name not in leads]
    moves = [
        MetricMoves(metric=name, worse=_ids_of(comparison, LOSSES, name), better=_ids_of(comparison, GAINS, name))
        for name in names
    ]
    return tuple(one for one in moves if one.worse or one.better)


def _ids_of(comparison: Comparison, kinds: Sequence[Change], metric: str | None = None) -> tuple[str, ...]:
    """Ids of the cases with such a change, sorted; of any metric, or of one."""
    return tuple(sorted({c.case_id for c in comparison.changes if c.change in kinds and metric in (None, c.metric)}))

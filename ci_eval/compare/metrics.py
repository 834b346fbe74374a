"""One metric on both arms: measured first, judged when its whole family is known.

In: a Pairing, the rules of a metric. Out: Measured, then MetricComparison. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ci_eval.compare import stats
from ci_eval.compare.changes import is_newly_failing
from ci_eval.compare.classify import Evidence, classify
from ci_eval.compare.estimates import Contrast, PairedScore, arm_interval, contrast, minimum_detectable, no_difference
from ci_eval.compare.identical import same_outputs
from ci_eval.compare.observations import CaseScore, Observation, Standing, observe, worst_value
from ci_eval.compare.pairing import Pairing, needed_trials
from ci_eval.compare.spec import MetricRules
from ci_eval.domain.comparison import AdverseFill, CasePair, Difference, Estimate, MetricClass, MetricComparison

INFORMATIONAL_ALPHA = 0.05  # share of false discoveries among the metrics that only inform


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A metric before its family is known."""

    rules: MetricRules
    gated: bool
    incomparable: str | None
    """`evaluator_changed` or `no_pairs` when the numbers of the arms must not be held against each other."""
    scores: Mapping[str, tuple[CaseScore, CaseScore]]
    """Every case of the runs, by id: baseline, candidate."""
    compared: Mapping[str, PairedScore]
    missing_ids: tuple[str, ...]
    unrecorded: int
    absent: tuple[int, int]
    """Trials that left no record, by arm."""
    identical: bool
    noisy: int
    """Cases with equal outputs and other scores, where the metric says that this cannot be."""
    contrast: Contrast
    adverse: Contrast | None
    """Every missing pair filled in against the candidate; None when nothing is missing or it cannot be filled."""
    level: float

    @property
    def missing(self) -> int:
        """Expected pairs without a difference."""
        return len(self.missing_ids) + self.unrecorded


def measure(pairing: Pairing, rules: MetricRules, *, gated: bool, incomparable: str | None, level: float) -> Measured:
    """Read one metric from every case, and test what is paired."""
    needed = needed_trials(pairing.trials_baseline), needed_trials(pairing.trials_candidate)
    scores = {case_id: _observed(pairing, pair, rules, needed) for case_id, pair in pairing.pairs.items()}
    expected = () if incomparable else pairing.compared()
    compared = {pair.case_id: one for pair in expected if (one := _paired_score(*scores[pair.case_id])) is not None}
    missing = tuple(pair.case_id for pair in expected if pair.case_id not in compared and not _is_outside(scores[pair.case_id]))
    pairs, unrecorded = list(compared.values()), 0 if incomparable else pairing.unrecorded
    shared = bool(pairs) and all(same_outputs(pairing.pairs[case_id]) for case_id in compared)
    unequal = sum(abs(pair.candidate - pair.baseline) > stats.TIE for pair in pairs)
    identical = shared and (rules.metric.output_only or unequal == 0)
    absent = _absent_trials(pairing)
    return Measured(
        rules=rules,
        gated=gated,
        incomparable=incomparable,
        scores=scores,
        compared=compared,
        missing_ids=missing,
        unrecorded=unrecorded,
        absent=absent,
        identical=identical,
        noisy=unequal if identical else 0,
        contrast=no_difference(pairs) if identical else contrast(rules, pairs, level=level),
        adverse=_adverse(rules, pairs, len(missing) + unrecorded, level) if gated else None,
        level=level,
    )


def _observed(pairing: Pairing, pair: CasePair, rules: MetricRules, needed: tuple[int, int]) -> tuple[CaseScore, CaseScore]:
    # an added case has no baseline, whatever placeholder the recorded outputs left for it
    before = () if pair.case_id in pairing.sets.added else pair.baseline
    return (
        observe(before, rules, arm="baseline", needed=needed[0]),
        observe(pair.candidate, rules, arm="candidate", needed=needed[1]),
    )


def _paired_score(before: CaseScore, after: CaseScore) -> PairedScore | None:
    """Cut both arms to the same number of trials: with unequal numbers the test would not be exact."""
    trials = min(len(before.usable), len(after.usable))
    old, new = before.mean(trials), after.mean(trials)
    if not trials or old is None or new is None:
        return None
    return PairedScore(baseline=old, candidate=new, trials=trials)


def _is_outside(scores: tuple[CaseScore, CaseScore]) -> bool:
    return all(score.is_outside for score in scores)


def _absent_trials(pairing: Pairing) -> tuple[int, int]:
    missing = [pairing.pairs[case_id] for case_id in pairing.sets.missing]
    before = sum(not pair.baseline for pair in missing) + pairing.unrecorded
    after = sum(not pair.candidate for pair in missing) + pairing.unrecorded
    return before * pairing.trials_baseline, after * pairing.trials_candidate


def _adverse(rules: MetricRules, pairs: Sequence[PairedScore], missing: int, level: float) -> Contrast | None:
    """Let every missing pair go from best to worst; where the metric has no ends, from the best to the worst value seen."""
    ends = _ends(rules, pairs)
    if not missing or ends is None:
        return None
    best, worst = ends
    return contrast(rules, [*pairs, *[PairedScore(baseline=best, candidate=worst, trials=1)] * missing], level=level)


def _ends(rules: MetricRules, pairs: Sequence[PairedScore]) -> tuple[float, float] | None:
    low, high = rules.metric.minimum, rules.metric.maximum
    if rules.width is None or low is None or high is None:
        seen = [value for pair in pairs for value in (pair.baseline, pair.candidate)]
        if not seen:
            return None
        low, high = min(seen), max(seen)
    return (low, high) if rules.metric.direction == "lower" else (high, low)


# --- the family ---


def judge(measured: Sequence[Measured]) -> tuple[MetricComparison, ...]:
    """Correct for the families, gated and informational, and class every metric."""
    found: dict[str, MetricComparison] = {}
    for gated, adjust in ((True, stats.holm), (False, stats.benjamini_hochberg)):
        family = [one for one in measured if one.gated is gated]
        found |= {one.metric.name: one for one in _judge_family(family, adjust, gated=gated)}
    return tuple(found[one.rules.metric.name] for one in measured)


def _judge_family(
    family: Sequence[Measured], adjust: Callable[[Sequence[float]], list[float]], *, gated: bool
) -> list[MetricComparison]:
    counted = [one for one in family if one.compared]
    size = len(counted) if gated else 1
    p_values = _adjusted([one.contrast for one in counted], adjust)
    filled = _adjusted([one.adverse or one.contrast for one in counted], adjust)
    places = {one.rules.metric.name: place for place, one in enumerate(counted)}
    judged = []
    for one in family:
        place = places.get(one.rules.metric.name)
        mine, adverse = (_UNTESTED, _UNTESTED) if place is None else (p_values[place], filled[place])
        judged.append(_compared(one, mine, adverse, family=max(1, size)))
    return judged


@dataclass(frozen=True, slots=True, kw_only=True)
class _Adjusted:
    p_regress: float
    p_improve: float
    p_two_sided: float


_UNTESTED = _Adjusted(p_regress=1.0, p_improve=1.0, p_two_sided=1.0)


def _adjusted(contrasts: Sequence[Contrast], adjust: Callable[[Sequence[float]], list[float]]) -> list[_Adjusted]:
    regress = adjust([one.p_regress for one in contrasts])
    improve = adjust([one.p_improve for one in contrasts])
    either = adjust([one.p_two_sided for one in contrasts])
    return [
        _Adjusted(p_regress=down, p_improve=up, p_two_sided=both) for down, up, both in zip(regress, improve, either, strict=True)
    ]


def _compared(one: Measured, p_values: _Adjusted, filled: _Adjusted, *, family: int) -> MetricComparison:
    rules = one.rules if one.gated else replace(one.rules, alpha=INFORMATIONAL_ALPHA)
    evidence = _evidence(one, rules, p_values, family=family)
    result, reason = (MetricClass.TOO_FEW_CASES, one.incomparable) if one.incomparable else classify(evidence)
    moved = dict(zip(one.compared, one.contrast.gains, strict=True))
    return MetricComparison(
        metric=rules.metric,
        gated=one.gated,
        result=result,
        reason=reason,
        n=len(one.compared),
        missing=one.missing,
        baseline=_estimate(one, 0),
        candidate=_estimate(one, 1),
        difference=_difference(one, p_values),
        worse=tuple(case_id for case_id, gain in moved.items() if gain < 0),
        better=tuple(case_id for case_id, gain in moved.items() if gain > 0),
        missing_ids=one.missing_ids,
        newly_failing=()
        if one.identical
        else tuple(case_id for case_id in one.compared if is_newly_failing(*one.scores[case_id])),
        minimum_detectable=minimum_detectable(rules, one.contrast.gains, family=family),
        smallest_provable=stats.minimum_net_flips(rules.alpha / family),
        min_effect=rules.min_effect,
        equivalence=rules.equivalence,
        borderline=result is MetricClass.INCONCLUSIVE and one.contrast.high is not None and one.contrast.high < 0,
        adverse=_adverse_fill(one, evidence, filled),
        ratio_of_totals=one.contrast.ratio.ratio_of_totals if one.contrast.ratio else None,
        alpha=rules.alpha,
        family=family,
        min_cases=rules.min_cases,
        max_missing=rules.max_missing,
    )


def _evidence(one: Measured, rules: MetricRules, p_values: _Adjusted, *, family: int) -> Evidence:
    return Evidence(
        rules=rules,
        contrast=one.contrast,
        p_regress=p_values.p_regress,
        p_improve=p_values.p_improve,
        p_two_sided=p_values.p_two_sided,
        family=family,
        missing=one.missing,
        identical=one.identical,
        level=one.level,
    )


def _adverse_fill(one: Measured, evidence: Evidence, filled: _Adjusted) -> AdverseFill | None:
    if one.adverse is None or one.incomparable:
        return None
    result, _ = classify(
        replace(
            evidence,
            contrast=one.adverse,
            p_regress=filled.p_regress,
            p_improve=filled.p_improve,
            p_two_sided=filled.p_two_sided,
            missing=0,
            identical=False,
        )
    )
    overall, worst = _overall(one, 1), worst_value(one.rules.metric)
    failing = sum(is_newly_failing(*one.scores[case_id]) for case_id in one.compared) + one.missing
    return AdverseFill(
        result=result,
        estimate=one.adverse.gain if one.adverse.gain is not None and math.isfinite(one.adverse.gain) else None,
        low=one.adverse.low,
        candidate_overall=_filled(overall, worst, one.missing),
        newly_failing=failing,
    )


def _filled(values: Sequence[float], worst: float | None, missing: int) -> float | None:
    if worst is None:
        return None
    return stats.mean_over_cases([*values, *[worst] * missing])


def _difference(one: Measured, p_values: _Adjusted) -> Difference:
    if one.incomparable or not one.compared:
        return Difference(estimate=None, low=None, high=None, p_regress=None, p_improve=None)
    found, ratio = one.contrast, one.contrast.ratio
    is_ratio = one.rules.metric.kind == "ratio"
    return Difference(
        estimate=1.0 if is_ratio and one.identical else ratio.geo_mean_ratio if ratio else found.gain,
        low=ratio.geo_low if ratio else found.low,
        high=ratio.geo_high if ratio else found.high,
        p_regress=found.p_regress,
        p_improve=found.p_improve,
        p_regress_adjusted=p_values.p_regress,
        p_improve_adjusted=p_values.p_improve,
    )


def _estimate(one: Measured, arm: int) -> Estimate:
    values = [pair.candidate if arm else pair.baseline for pair in one.compared.values()]
    interval = arm_interval(one.rules, values, [pair.trials for pair in one.compared.values()], level=one.level)
    observations = [seen for scores in one.scores.values() for seen in scores[arm].observations]
    overall = _overall(one, arm)
    return Estimate(
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        n=len(values),
        passed=_count(observations, Standing.SCORED, passed=True),
        failed=_count(observations, Standing.SCORED, passed=False),
        agent_errors=_count(observations, Standing.AGENT_ERROR),
        infra_errors=_count(observations, Standing.INFRA_ERROR),
        evaluator_errors=_count(observations, Standing.EVALUATOR_ERROR),
        skipped=_count(observations, Standing.SKIPPED) + _count(observations, Standing.NOT_APPLICABLE),
        not_run=_count(observations, Standing.NOT_RUN) + one.absent[arm],
        overall=stats.mean_over_cases(overall),
        overall_n=len(overall),
    )


def _overall(one: Measured, arm: int) -> list[float]:
    means = [scores[arm].mean() for scores in one.scores.values()]
    return [mean for mean in means if mean is not None]


def _count(observations: Sequence[Observation], standing: Standing, *, passed: bool | None = None) -> int:
    return sum(seen.standing is standing and (passed is None or seen.passed is passed) for seen in observations)

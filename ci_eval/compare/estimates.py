"""Case scores of two arms -> estimates, the interval of the difference, and the test.

In: one number per case and arm, in the order of the ids. Out: Interval, Contrast. Which formula belongs to which kind of metric is
decided here; the formulas stand in `stats`. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.compare import stats
from ci_eval.compare.spec import MetricRules
from ci_eval.domain.score import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScore:
    """One case on both arms, over the same number of trials."""

    baseline: float
    candidate: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The candidate against the baseline. Gains: positive is better; for ratio metrics they are logarithms."""

    gains: tuple[float, ...]
    gain: float | None
    """The estimate that the practical threshold is held against."""
    low: float | None
    high: float | None
    p_regress: float
    p_improve: float
    ratio: stats.RatioSummary | None = None
    """Set for ratio metrics."""

    @property
    def p_two_sided(self) -> float:
        """For metrics without a good direction."""
        return min(1.0, 2 * min(self.p_regress, self.p_improve))


def arm_interval(rules: MetricRules, values: Sequence[float], trials: Sequence[int], *, level: float) -> stats.Interval:
    """Rate with Wilson limits for a binary metric, else the mean with t limits within the metric's range."""
    if rules.metric.kind == "binary":
        return stats.rate_interval([value * count for value, count in zip(values, trials, strict=True)], trials, level=level)
    mean = stats.mean_interval(values, level=level)
    if rules.width is None:
        return mean
    return stats.Interval(
        estimate=mean.estimate, low=_at_least(mean.low, rules.metric.minimum), high=_at_most(mean.high, rules.metric.maximum)
    )


def contrast(rules: MetricRules, pairs: Sequence[PairedScore], *, level: float) -> Contrast:
    """Estimate the difference and test it."""
    if rules.metric.kind == "ratio":
        return _ratio_contrast(rules.metric.direction, pairs, level)
    gains = tuple(_gain(pair, rules.metric.direction) for pair in pairs)
    test = stats.sign_flip(gains, lattice=_lattice(rules, pairs))
    interval = _difference_interval(rules, gains, level)
    return Contrast(
        gains=gains,
        gain=interval.estimate,
        low=interval.low,
        high=interval.high,
        p_regress=test.p_regress,
        p_improve=test.p_improve,
    )


def no_difference(pairs: Sequence[PairedScore]) -> Contrast:
    """What equal outputs prove: no gain, nothing to test, no interval."""
    return Contrast(gains=(0.0,) * len(pairs), gain=0.0, low=None, high=None, p_regress=1.0, p_improve=1.0)


def minimum_detectable(rules: MetricRules, gains: Sequence[float], *, family: int) -> float | None:
    """Smallest true loss found in 80 % of runs of this size; for ratios the smallest ratio; None when there is none."""
    alpha, n = rules.alpha / max(1, family), len(gains)
    if not n:
        return None
    if rules.metric.kind != "binary":
        found = stats.minimum_detectable_mean(gains, alpha=alpha)
        return math.exp(found) if found is not None and rules.metric.kind == "ratio" else found
    won = math.fsum(gain * gain for gain in gains if gain > 0)
    lost = math.fsum(gain * gain for gain in gains if gain < 0)
    return stats.minimum_detectable_binary(n, churn=2 * min(won, lost) / n, alpha=alpha)


def _gain(pair: PairedScore, direction: Direction) -> float:
    step = pair.candidate - pair.baseline
    if abs(step) <= stats.TIE:
        return 0.0
    return -step if direction == "lower" else step


def _lattice(rules: MetricRules, pairs: Sequence[PairedScore]) -> int | None:
    if rules.metric.kind not in {"binary", "likert", "count"}:
        return None
    return math.lcm(*(pair.trials for pair in pairs)) if pairs else 1


def _difference_interval(rules: MetricRules, gains: Sequence[float], level: float) -> stats.Interval:
    n = len(gains)
    if rules.metric.kind == "binary":
        won, lost = stats.matched_counts(gains)
        return stats.tango_interval(gains=won, losses=lost, n=n, level=level)
    mean, width = stats.mean_interval(gains, level=level), rules.width
    if mean.estimate is None or width is None or n < 2:
        return mean
    if mean.low is None or mean.high is None:
        z = stats.two_sided_z(level)
        half = width * z * z / (n + z * z)  # no spread is no proof: as wide as for a rate without any change
        return stats.Interval(
            estimate=mean.estimate, low=max(-width, mean.estimate - half), high=min(width, mean.estimate + half)
        )
    return stats.Interval(estimate=mean.estimate, low=max(-width, mean.low), high=min(width, mean.high))


def _ratio_contrast(direction: Direction, pairs: Sequence[PairedScore], level: float) -> Contrast:
    before, after = [pair.baseline for pair in pairs], [pair.candidate for pair in pairs]
    summary = stats.ratio_summary(before, after, level=level)
    falls_are_gains = direction == "lower"
    signs = -1.0 if falls_are_gains else 1.0
    if summary.mode == "log_ratio":
        gains = tuple(signs * math.log(new / old) for old, new in zip(before, after, strict=True))
    else:
        gains = tuple(signs * (new - old) for old, new in zip(before, after, strict=True))
    ends = [None if end is None else signs * math.log(end) for end in (summary.geo_low, summary.geo_high)]
    low, high = reversed(ends) if falls_are_gains else ends
    return Contrast(
        gains=gains,
        gain=_log_gain(summary, gains, signs),
        low=low,
        high=high,
        p_regress=summary.p_increase if falls_are_gains else summary.p_decrease,
        p_improve=summary.p_decrease if falls_are_gains else summary.p_increase,
        ratio=summary,
    )


def _log_gain(summary: stats.RatioSummary, gains: Sequence[float], signs: float) -> float | None:
    """The ratio by cases, else that of the totals; without either any difference is infinitely large."""
    ratio = summary.geo_mean_ratio if summary.geo_mean_ratio is not None else summary.ratio_of_totals
    if ratio is not None and ratio > 0:
        return signs * math.log(ratio)
    total = math.fsum(gains)
    return None if not gains else math.copysign(math.inf, total) if total else 0.0


def _at_least(value: float | None, floor: float | None) -> float | None:
    return value if value is None or floor is None else max(value, floor)


def _at_most(value: float | None, ceiling: float | None) -> float | None:
    return value if value is None or ceiling is None else min(value, ceiling)

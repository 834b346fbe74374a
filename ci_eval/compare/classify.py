"""Estimate, interval and adjusted p-values of one metric -> its class and why. The rules in their order; the first that applies.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ci_eval.compare.estimates import Contrast
from ci_eval.compare.spec import MetricRules
from ci_eval.compare.stats import TIE, minimum_net_flips, two_sided_z
from ci_eval.domain.comparison import MetricClass

FEWEST_RATIOS = 20  # cases, for "no difference" of a ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the class of a metric depends on."""

    rules: MetricRules
    contrast: Contrast
    p_regress: float
    """After the family correction, like the next two."""
    p_improve: float
    p_two_sided: float
    family: int
    """Number of gated metrics; at least 1."""
    missing: int
    identical: bool
    """All outputs are the same on both arms, and the metric depends on nothing else."""
    level: float

    @property
    def n(self) -> int:
        """Pairs compared."""
        return len(self.contrast.gains)


def classify(evidence: Evidence) -> tuple[MetricClass, str]:
    """Apply the rules in order."""
    n, rules = evidence.n, evidence.rules
    if n + evidence.missing == 0:
        return MetricClass.TOO_FEW_CASES, "no_pairs"
    if n == 0 or is_incomplete(n, evidence.missing, rules.max_missing):
        return MetricClass.INVALID, "incomplete"
    if evidence.identical:
        return MetricClass.NO_DIFFERENCE, "identical_outputs"
    return _by_test(evidence) or _by_size(evidence) or _by_interval(evidence)


def is_incomplete(n: int, missing: int, max_missing: float) -> bool:
    """True when more of the expected pairs are missing than may be; 1 of 20 is exactly 0.05 and no more."""
    return missing > max_missing * (n + missing) + TIE


def is_within_margin(evidence: Evidence) -> bool:
    """True when the whole interval lies inside the equivalence margin, and enough cases stand behind it."""
    low, high, rules = evidence.contrast.low, evidence.contrast.high, evidence.rules
    margin = math.log(rules.equivalence) if rules.metric.kind == "ratio" else rules.equivalence
    if low is None or high is None or margin <= 0 or not (low > -margin and high < margin):
        return False
    if rules.metric.kind == "ratio":
        return evidence.n >= FEWEST_RATIOS
    if rules.width is None:
        return True
    return evidence.n >= math.ceil(two_sided_z(evidence.level) ** 2 * (rules.width / rules.equivalence - 1) - TIE)


def _by_test(evidence: Evidence) -> tuple[MetricClass, str] | None:
    rules, gain = evidence.rules, evidence.contrast.gain or 0.0
    least = math.log(rules.min_effect) if rules.metric.kind == "ratio" else rules.min_effect
    if rules.metric.direction == "none":
        found, change = evidence.p_two_sided <= rules.alpha, MetricClass.CHANGED
        matters = abs(gain) >= least - TIE
    elif evidence.p_regress <= rules.alpha:
        found, change, matters = True, MetricClass.REGRESSED, gain <= -least + TIE
    else:
        found, change, matters = evidence.p_improve <= rules.alpha, MetricClass.IMPROVED, gain >= least - TIE
    if not found:
        return None
    return (change, "significant") if matters else (MetricClass.NO_DIFFERENCE, "below_min_effect")


def _by_size(evidence: Evidence) -> tuple[MetricClass, str] | None:
    if evidence.n < evidence.rules.min_cases:
        return MetricClass.TOO_FEW_CASES, "few_cases"
    if minimum_net_flips(evidence.rules.alpha / max(1, evidence.family)) > evidence.n:
        return MetricClass.TOO_FEW_CASES, "unattainable"
    return None


def _by_interval(evidence: Evidence) -> tuple[MetricClass, str]:
    if evidence.rules.metric.direction != "none" and is_within_margin(evidence):
        return MetricClass.NO_DIFFERENCE, "within_margin"
    return MetricClass.INCONCLUSIVE, "not_detected"

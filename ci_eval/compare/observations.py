"""What one record says about one metric: a number, or why there is none.

In: the records of a case, the rules of a metric. Out: Observations. This is where an agent's failure becomes the worst value and
everything else that went wrong becomes "missing"; the records themselves stay as they are. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ci_eval.compare.spec import MetricRules
from ci_eval.domain.results import Arm, CaseResult
from ci_eval.domain.score import Metric, Score


class Standing(StrEnum):
    """Where a trial stands on a metric."""

    SCORED = "scored"
    AGENT_ERROR = "agent_error"
    INFRA_ERROR = "infra_error"
    EVALUATOR_ERROR = "evaluator_error"
    NOT_APPLICABLE = "not_applicable"
    SKIPPED = "skipped"
    NOT_RUN = "not_run"


OUTSIDE = frozenset({Standing.NOT_APPLICABLE, Standing.SKIPPED})
"""On both arms: the case is none of the metric's business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One trial on one metric."""

    standing: Standing
    value: float | None
    """None: missing. Set when scored, and when a failed agent counts as the worst value."""
    passed: bool | None
    """None without a value, or when nothing passes or fails by the metric."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseScore:
    """One case of one arm on one metric."""

    observations: tuple[Observation, ...]
    needed: int
    """Usable trials that make the case usable."""

    @property
    def usable(self) -> tuple[Observation, ...]:
        """The trials with a value, in order of trial; empty when there are too few."""
        found = tuple(one for one in self.observations if one.value is not None)
        return found if len(found) >= self.needed else ()

    @property
    def is_outside(self) -> bool:
        """True when the metric has no meaning for the case, or the case was left out on purpose."""
        return bool(self.observations) and all(one.standing in OUTSIDE for one in self.observations)

    def mean(self, trials: int | None = None) -> float | None:
        """Return the mean of the first usable trials, or of all; None when the case is not usable."""
        values = [one.value for one in self.usable[:trials] if one.value is not None]
        return math.fsum(values) / len(values) if values else None

    def passes(self, trials: int | None = None) -> int | None:
        """Count the passes among the first usable trials, or all; None when nothing passes or fails by the metric."""
        used = self.usable[:trials]
        if not used or any(one.passed is None for one in used):
            return None
        return sum(one.passed is True for one in used)

    @property
    def reason(self) -> str:
        """The reason of the trial that tells most: one that did not pass before one that did."""
        told = sorted(self.observations, key=lambda one: (one.passed is True, not one.reason))
        return told[0].reason if told else ""


def observe(records: Sequence[CaseResult], rules: MetricRules, *, arm: Arm, needed: int) -> CaseScore:
    """Read one metric from the trials of a case."""
    return CaseScore(observations=tuple(_observation(record, rules, arm) for record in records), needed=needed)


def _observation(record: CaseResult, rules: MetricRules, arm: Arm) -> Observation:
    match record.status:
        case "ok":
            return _scored(record.scores.get(rules.metric.name), rules)
        case "error":
            return _failed(record, rules, arm)
        case "skipped":
            return _nothing(Standing.SKIPPED, "left out on purpose")
        case "not_run":
            return _nothing(Standing.NOT_RUN, record.failure.message if record.failure else "was not run")


def _scored(score: Score | None, rules: MetricRules) -> Observation:
    if score is None:
        return _nothing(Standing.EVALUATOR_ERROR, "the run holds no score of this metric")
    if score.status == "skipped":
        return _nothing(Standing.NOT_APPLICABLE, score.reason)
    if score.status == "error":
        return _nothing(Standing.EVALUATOR_ERROR, score.reason)
    value = _value(score, rules)
    if value is None:
        return _nothing(Standing.EVALUATOR_ERROR, "the score is no number within the metric's range")
    passed = score.passed if score.passed is not None else best_is_pass(rules.metric, value)
    return Observation(standing=Standing.SCORED, value=value, passed=passed, reason=score.reason)


def _value(score: Score, rules: MetricRules) -> float | None:
    if rules.by_passed:
        return None if score.passed is None else float(score.passed)
    value, metric = score.score, rules.metric
    if value is None or not math.isfinite(value):
        return None
    too_low = metric.minimum is not None and value < metric.minimum
    too_high = metric.maximum is not None and value > metric.maximum
    in_between = metric.kind == "binary" and value not in {metric.minimum, metric.maximum}
    return None if too_low or too_high or in_between else value


def best_is_pass(metric: Metric, value: float) -> bool | None:
    """Apply pass or fail to a binary metric that has no threshold; None for every other metric."""
    if metric.kind != "binary" or metric.direction == "none":
        return None
    return value == (metric.minimum if metric.direction == "lower" else metric.maximum)


def _failed(record: CaseResult, rules: MetricRules, arm: Arm) -> Observation:
    failure = record.failure
    reason = failure.message if failure else "failed without saying why"
    if failure is not None and failure.stage == "evaluator":
        return _nothing(Standing.EVALUATOR_ERROR, reason)
    # without a failure nobody knows whose fault it was: the answer must not help the candidate
    if failure.is_infrastructure if failure else arm == "baseline":
        return _nothing(Standing.INFRA_ERROR, reason)
    worst = worst_value(rules.metric) if rules.agent_error_is_worst else None
    passed = False if worst is not None and rules.tells_pass_from_fail else None
    return Observation(standing=Standing.AGENT_ERROR, value=worst, passed=passed, reason=reason)


def worst_value(metric: Metric) -> float | None:
    """Return the value that a failed agent gets; None when the metric has no worst."""
    return {"higher": metric.minimum, "lower": metric.maximum, "none": None}[metric.direction]


def _nothing(standing: Standing, reason: str) -> Observation:
    return Observation(standing=standing, value=None, passed=None, reason=reason)

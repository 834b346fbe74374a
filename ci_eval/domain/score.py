"""Scores and the metrics they belong to. Frozen, pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ScoreStatus: TypeAlias = Literal["ok", "error", "skipped"]
MetricKind: TypeAlias = Literal["binary", "score", "likert", "count", "ratio"]
Direction: TypeAlias = Literal["higher", "lower", "none"]

LARGEST = 1e15
"""No score, count, cost or time is larger: whole numbers are still exact, and sums cannot overflow."""
NARROWEST = 1e-6
"""Narrowest range of a metric; scores that differ by a billionth count as equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One named number that an evaluator yields for every case."""

    name: str
    evaluator: str
    kind: MetricKind
    """binary 0/1 · score within [minimum, maximum] · likert whole numbers within the range · count · ratio (latency, tokens, cost)."""
    direction: Direction = "higher"
    minimum: float | None = 0.0
    maximum: float | None = 1.0
    threshold: float | None = None
    """None: the metric is shown and compared, but nothing passes or fails by it."""
    output_only: bool = True
    """True when equal outputs must give equal scores, so that the two arms may share one."""
    fingerprint: str = ""
    """Digest of everything that changes its meaning (evaluator version, options, threshold)."""
    group: str | None = None
    """`trajectory` for precision, recall and F1 of steps: they get a table of their own."""

    def passes(self, score: float) -> bool | None:
        """Apply the pass rule: the boundary passes; None without a threshold."""
        if self.threshold is None:
            return None
        return score <= self.threshold if self.direction == "lower" else score >= self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one metric says about one sample."""

    metric: str
    status: ScoreStatus = "ok"
    score: float | None = None
    """A finite number exactly when status is ok."""
    passed: bool | None = None
    """None without a threshold, or unless ok."""
    label: str | None = None
    """`pass` or `fail`, or the evaluator's own label."""
    threshold: float | None = None
    reason: str = ""
    """One or two sentences, for deterministic evaluators too; required when skipped or error."""
    error_code: str | None = None
    """Set exactly when status is error."""
    details: Mapping[str, object] = field(default_factory=dict)


def scored(metric: Metric, score: float, reason: str, details: Mapping[str, object] | None = None) -> Score:
    """Make an ok score and decide `passed` by the metric's rule on the unrounded number."""
    passed = metric.passes(score)
    label = None if passed is None else "pass" if passed else "fail"
    return Score(
        metric=metric.name, score=float(score), passed=passed, label=label, threshold=metric.threshold,
        reason=reason, details=details or {},
    )  # fmt: skip


def skipped(metric: Metric, reason: str, details: Mapping[str, object] | None = None) -> Score:
    """Say that the metric does not apply to this case."""
    return Score(metric=metric.name, status="skipped", threshold=metric.threshold, reason=reason, details=details or {})


def errored(metric: Metric, code: str, reason: str, details: Mapping[str, object] | None = None) -> Score:
    """Say that the case should have been scored and was not."""
    return Score(
        metric=metric.name, status="error", threshold=metric.threshold, reason=reason, error_code=code, details=details or {}
    )

"""Short ways to compare two drawn runs and to ask the gate."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from ci_eval.compare.compare import CompareSettings, compare_runs
from ci_eval.compare.gate import apply_gate
from ci_eval.compare.spec import GateSpec, MetricSpec
from ci_eval.domain.comparison import Comparison, MetricComparison, Verdict
from ci_eval.domain.results import RunResult

TODAY = date(2026, 2, 1)


def settings(
    gate: Mapping[str, object] | None = None, metrics: Mapping[str, Mapping[str, object]] | None = None
) -> CompareSettings:
    """Read settings as the configuration would."""
    specs = {name: MetricSpec.model_validate(spec) for name, spec in (metrics or {}).items()}
    return CompareSettings(gate=GateSpec.model_validate(gate or {}), metrics=specs)


def compared(
    baseline: RunResult,
    candidate: RunResult,
    gate: Mapping[str, object] | None = None,
    metrics: Mapping[str, Mapping[str, object]] | None = None,
) -> Comparison:
    """Compare two runs."""
    return compare_runs(baseline, candidate, settings(gate, metrics))


def first(comparison: Comparison) -> MetricComparison:
    """Return the first metric, which is the gated one."""
    return comparison.metrics[0]


def gated(
    baseline: RunResult,
    candidate: RunResult,
    gate: Mapping[str, object] | None = None,
    metrics: Mapping[str, Mapping[str, object]] | None = None,
) -> Verdict:
    """Compare two runs and ask the gate."""
    chosen = settings(gate, metrics)
    return apply_gate(compare_runs(baseline, candidate, chosen), chosen.gate, chosen.metrics, TODAY)

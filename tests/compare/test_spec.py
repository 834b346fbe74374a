"""Settings of the gate and of metrics: what is refused, and what a metric's rules are by default."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from ci_eval.compare.spec import GateSpec, MetricSpec, rules_for
from ci_eval.domain.score import Metric
from tests.builders import binary, count, likert, score_metric

TODAY = date(2026, 2, 1)


def problems(gate: dict[str, object], metric: Metric, spec: dict[str, object] | None = None) -> list[tuple[str, str]]:
    specs = {metric.name: MetricSpec.model_validate(spec)} if spec is not None else {}
    found = GateSpec.model_validate(gate).problems(metrics={metric.name: metric}, specs=specs, today=TODAY)
    return [(".".join(map(str, path)), message) for path, message in found]


@pytest.mark.parametrize(
    "gate",
    [
        {"alpha": 0}, {"alpha": 1e-320}, {"alpha": 1}, {"max_missing": 1}, {"max_missing": -0.1}, {"min_cases": 0}, {"mode": "stats"},
        {"on_incomplete": "pass"}, {"on_inconclusive": "error"}, {"metrics": []}, {"confirm": {"enabled": True}},
        {"on_stale_baseline": "warn"}, {"margin": -1}, {"max_newly_failing": -1}, {"must_pass": {"tag": ["x"]}},
        {"quarantine": [{"case": "a", "reason": "no date"}]}, {"quarantine": [{"case": "a", "until": "2026-13-01", "reason": "x"}]},
    ],
)  # fmt: skip
def test_a_gate_refuses_what_it_does_not_know(gate: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GateSpec.model_validate(gate)


@pytest.mark.parametrize(
    "spec",
    [
        {"gate": True}, {"kind": "boolean"}, {"range": [5, 1]}, {"range": [1, 1]}, {"range": [1]}, {"direction": "up"},
        {"range": [0, 1e300]}, {"range": [0, 1e-9]},
        {"alpha": 1.5}, {"min_effect": 0.2, "equivalence": 0.1}, {"on_agent_error": "best"}, {"max_ratio": 0}, {"min": float("nan")},
    ],
)  # fmt: skip
def test_a_metric_refuses_what_it_does_not_know(spec: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        MetricSpec.model_validate(spec)


@pytest.mark.parametrize(
    ("metric", "spec", "min_effect", "equivalence"),
    [
        (binary(), {}, 0.02, 0.05),
        (score_metric(), {}, 0.02, 0.05),
        (likert(), {}, 0.1, 0.25),
        (likert(), {"range": [0, 10]}, 0.25, 0.625),
        (count(), {}, 0.0, 0.0),
        (score_metric(), {"kind": "ratio"}, 1.05, 1.10),
        (likert(), {"min_effect": 0.2}, 0.2, 0.25),
    ],
)
def test_what_matters_by_default(metric: Metric, spec: dict[str, object], min_effect: float, equivalence: float) -> None:
    rules = rules_for(metric, GateSpec(), MetricSpec.model_validate(spec))
    assert (rules.min_effect, rules.equivalence) == (pytest.approx(min_effect), pytest.approx(equivalence))


def test_a_metrics_own_settings_win_over_the_gates() -> None:
    gate = GateSpec(alpha=0.1, mode="strict", max_missing=0.2, margin=0.3)
    rules = rules_for(binary(), gate, MetricSpec(alpha=0.01, max_missing=0.0))
    assert (rules.alpha, rules.mode, rules.max_missing, rules.margin) == (0.01, "strict", 0.0, 0.3)


@pytest.mark.parametrize(
    ("gate", "metric", "spec", "place"),
    [
        ({}, score_metric(), {"kind": "binary"}, "metrics.quality.kind"),
        ({}, binary(), {"direction": "lower"}, "metrics.task_success.direction"),
        (
            {},
            score_metric(threshold=0.5, direction="lower"),
            {"kind": "binary", "direction": "higher"},
            "metrics.quality.direction",
        ),
        ({"metrics": ["policy_breaks"]}, count(direction="none"), None, "gate.metrics"),
        ({"mode": "strict"}, score_metric(), None, "metrics.quality.mode"),
        ({"metrics": ["latency_s"], "mode": "threshold"}, binary(), None, "metrics.latency_s.mode"),
        ({"metrics": ["latency_s"], "mode": "strict"}, binary(), None, "metrics.latency_s.mode"),
        ({}, binary(), {"min_effect": 0.06}, "metrics.task_success.min_effect"),
        ({}, binary(), {"equivalence": 0.01}, "metrics.task_success.min_effect"),
        ({}, count(), {"min": 3}, "metrics.policy_breaks.min"),
        ({}, count(), {"max_ratio": 1.5}, "metrics.policy_breaks.max_ratio"),
        ({}, count(), {"kind": "ratio", "min_effect": 0.05}, "metrics.policy_breaks.min_effect"),
        ({}, binary(), {"max_drop": 0.1}, "metrics.task_success.max_drop"),
        ({"mode": "threshold"}, binary(), None, "metrics.task_success.mode"),
        ({"margin": 0.1}, binary(), None, "gate.margin"),
        ({"max_newly_failing": 1}, binary(), None, "gate.max_newly_failing"),
        ({"quarantine": [{"case": "a", "until": "2026-01-31", "reason": "x"}]}, binary(), None, "gate.quarantine.0.until"),
    ],
)
def test_settings_that_contradict_or_do_nothing_are_problems(
    gate: dict[str, object], metric: Metric, spec: dict[str, object] | None, place: str
) -> None:
    assert [found for found, _ in problems(gate, metric, spec)] == [place]


@pytest.mark.parametrize(
    ("gate", "metric", "spec"),
    [
        ({}, binary(), None),
        ({"mode": "threshold"}, binary(), {"min": 0.7}),
        ({"mode": "threshold", "max_drop": 0.1}, binary(), None),
        ({"margin": 0.1}, binary(), {"mode": "non_inferiority"}),
        ({}, score_metric(threshold=0.5), {"kind": "binary"}),
        ({}, score_metric(threshold=0.5, direction="lower"), {"kind": "binary", "direction": "lower"}),
        ({}, score_metric(), {"direction": "lower"}),
        ({}, count(direction="none"), None),
        ({}, score_metric(maximum=None), {"kind": "ratio", "direction": "lower", "max_ratio": 1.5}),
        ({"quarantine": [{"case": "a", "until": "2026-02-01", "reason": "today is the last day"}]}, binary(), None),
    ],
)
def test_settings_that_fit_have_no_problems(gate: dict[str, object], metric: Metric, spec: dict[str, object] | None) -> None:
    assert problems(gate, metric, spec) == []

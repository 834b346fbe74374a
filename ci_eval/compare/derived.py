"""Metrics that no evaluator yields: all checks of a case together, and what the run itself measured.

In: a run, the wanted names. Out: the same run with these metrics and their scores. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from ci_eval.compare.observations import best_is_pass
from ci_eval.compare.spec import ALL_CHECKS, DERIVED_METRICS, MEASURES, GateSpec, MetricSpec, rules_for
from ci_eval.domain.canonical import digest
from ci_eval.domain.results import CaseResult, RunHeader, RunResult
from ci_eval.domain.sample import Usage
from ci_eval.domain.score import Metric, Score, errored, scored, skipped


def with_derived(run: RunResult, *, wanted: Collection[str], gate: GateSpec, specs: Mapping[str, MetricSpec]) -> RunResult:
    """Add the wanted derived metrics; an evaluator's own metric of that name wins."""
    taken = {metric.name for metric in run.header.metrics}
    if ALL_CHECKS in wanted and ALL_CHECKS not in taken:
        checks = binary_checks(run.header.metrics, gate, specs)
        if checks:
            run = _with(run, _all_checks_metric(checks), lambda metric, record: _all_checks(metric, checks, record))
    for name in MEASURES:
        if name in wanted and name not in taken:
            run = _with(run, _measure_metric(name, run.header), _measured)
    return run


def binary_checks(metrics: Collection[Metric], gate: GateSpec, specs: Mapping[str, MetricSpec]) -> tuple[Metric, ...]:
    """Return the metrics of pass or fail, as configured, by name."""
    configured = [rules_for(metric, gate, specs.get(metric.name, MetricSpec())).metric for metric in metrics]
    found = [metric for metric in configured if metric.kind == "binary" and metric.direction != "none"]
    return tuple(sorted(found, key=lambda metric: metric.name))


def _with(run: RunResult, metric: Metric, score: Callable[[Metric, CaseResult], Score]) -> RunResult:
    records = tuple(
        replace(record, scores={**record.scores, metric.name: score(metric, record)}) if record.status == "ok" else record
        for record in run.records
    )
    return replace(run, header=replace(run.header, metrics=(*run.header.metrics, metric)), records=records)


def _all_checks_metric(checks: Collection[Metric]) -> Metric:
    return replace(
        DERIVED_METRICS[ALL_CHECKS],
        output_only=all(metric.output_only for metric in checks),
        fingerprint=digest([[metric.name, metric.fingerprint, metric.threshold] for metric in checks]),
    )  # fmt: skip


def _all_checks(metric: Metric, checks: Collection[Metric], record: CaseResult) -> Score:
    scores = {check.name: record.scores.get(check.name) for check in checks}
    broken = [name for name, score in scores.items() if score is None or score.status == "error"]
    if broken:
        return errored(metric, "check_error", f"not all checks could be made: {', '.join(broken)}")
    results = {check.name: _passed(check, score) for check in checks if (score := scores[check.name]) and score.status == "ok"}
    if not results:
        return skipped(metric, "no check applies to this case")
    failed = [name for name, passed in results.items() if not passed]
    told = f"{len(results) - len(failed)} of {len(results)} checks passed"
    return scored(metric, float(not failed), f"{told}; failed: {', '.join(failed)}" if failed else told)


def _passed(check: Metric, score: Score) -> bool:
    if score.passed is not None:
        return score.passed
    return score.score is not None and best_is_pass(check, score.score) is True


def _measure_metric(name: str, header: RunHeader) -> Metric:
    # times of different machines mean different things; tokens and money do not
    machine = header.environment.get("platform", "") if name == "latency_s" else ""
    return replace(DERIVED_METRICS[name], fingerprint=machine)


def _measured(metric: Metric, record: CaseResult) -> Score:
    found = {"latency_s": record.latency_s, "cost_usd": record.cost_usd, "total_tokens": total_tokens(record.usage)}[metric.name]
    return skipped(metric, "was not measured") if found is None else scored(metric, float(found), "measured")


def total_tokens(usage: Usage | None) -> int | None:
    """Return the total, or input and output together; None when the source does not tell."""
    if usage is None or usage.total_tokens is not None:
        return None if usage is None else usage.total_tokens
    if usage.input_tokens is None and usage.output_tokens is None:
        return None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)

"""The comparison as JSON, for programs: `comparison.json`.

In: comparison, verdict, configuration. Out: JSON text with keys in a fixed order, numbers unrounded and finite, absence as null.
Text from outside stands in it unchanged, as JSON strings.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Final

from ci_eval.domain.comparison import (
    ArmUsage,
    CaseChange,
    CaseSets,
    Comparison,
    Difference,
    Estimate,
    MetricComparison,
    Rule,
    Verdict,
)
from ci_eval.domain.notice import Notice
from ci_eval.domain.results import RunHeader

SCHEMA_VERSION: Final = "ci-eval/comparison/v1"

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def render_json(comparison: Comparison, verdict: Verdict, configuration: Mapping[str, object] | None = None) -> str:
    """Write `comparison.json`; `configuration` holds JSON values and is printed as it is."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "verdict": {
            "outcome": verdict.outcome.value,
            "headline": verdict.headline,
            "reasons": [_rule(rule) for rule in verdict.rules],
        },
        "metrics": [_metric(compared) for compared in comparison.metrics],
        "changes": [_change(change) for change in comparison.changes],
        "cases": _cases(comparison.cases, comparison.identical_outputs),
        "usage": {"baseline": _usage(comparison.usage_baseline), "candidate": _usage(comparison.usage_candidate)},
        "provenance": {
            "baseline": _header(comparison.baseline),
            "candidate": _header(comparison.candidate),
            "configuration": dict(configuration or {}),
        },
        "notices": [_notice(notice) for notice in comparison.notices],
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    return _SURROGATES.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"  # UTF-8 has no lone surrogates; JSON has


def _rule(rule: Rule) -> dict[str, object]:
    return {
        "rule": rule.name,
        "outcome": rule.outcome.value,
        "sentence": rule.sentence,
        "metric": rule.metric,
        "case_ids": list(rule.case_ids),
    }


def _metric(compared: MetricComparison) -> dict[str, object]:
    metric = compared.metric
    return {
        "name": metric.name,
        "evaluator": metric.evaluator,
        "kind": metric.kind,
        "direction": metric.direction,
        "minimum": _finite(metric.minimum),
        "maximum": _finite(metric.maximum),
        "threshold": _finite(metric.threshold),
        "group": metric.group,
        "gated": compared.gated,
        "class": compared.result.value,
        "reason": compared.reason,
        "n": compared.n,
        "missing": compared.missing,
        "baseline": _estimate(compared.baseline),
        "candidate": _estimate(compared.candidate),
        "difference": _difference(compared.difference),
        "min_effect": _finite(compared.min_effect),
        "equivalence": _finite(compared.equivalence),
        "minimum_detectable": _finite(compared.minimum_detectable),
        "smallest_provable": compared.smallest_provable,
        "borderline": compared.borderline,
        "adverse_class": None if compared.adverse is None else compared.adverse.result.value,
        "worse": list(compared.worse),
        "better": list(compared.better),
        "missing_ids": list(compared.missing_ids),
        "newly_failing": list(compared.newly_failing),
    }


def _estimate(arm: Estimate) -> dict[str, object]:
    return {
        "estimate": _finite(arm.estimate),
        "low": _finite(arm.low),
        "high": _finite(arm.high),
        "n": arm.n,
        "passed": arm.passed,
        "failed": arm.failed,
        "errors": arm.errors,
        "agent_errors": arm.agent_errors,
        "infra_errors": arm.infra_errors,
        "evaluator_errors": arm.evaluator_errors,
        "skipped": arm.skipped,
        "not_run": arm.not_run,
    }


def _difference(difference: Difference) -> dict[str, object]:
    return {
        "estimate": _finite(difference.estimate),
        "low": _finite(difference.low),
        "high": _finite(difference.high),
        "p_regress": _finite(difference.p_regress),
        "p_improve": _finite(difference.p_improve),
        "p_regress_adjusted": _finite(difference.p_regress_adjusted),
        "p_improve_adjusted": _finite(difference.p_improve_adjusted),
    }


def _change(change: CaseChange) -> dict[str, object]:
    return {
        "case_id": change.case_id,
        "metric": change.metric,
        "change": change.change.value,
        "baseline": _finite(change.baseline),
        "candidate": _finite(change.candidate),
        "reason": change.reason,
    }


def _cases(sets: CaseSets, identical_outputs: int) -> dict[str, object]:
    return {
        "paired": list(sets.paired),
        "added": list(sets.added),
        "removed": list(sets.removed),
        "modified": list(sets.modified),
        "missing": list(sets.missing),
        "identical_outputs": identical_outputs,
    }


def _usage(usage: ArmUsage) -> dict[str, object]:
    return {
        "cost_usd": _finite(usage.cost_usd),
        "tokens": usage.tokens,
        "latency_median_s": _finite(usage.latency_median_s),
        "latency_p95_s": _finite(usage.latency_p95_s),
        "agent_errors": usage.agent_errors,
        "infra_errors": usage.infra_errors,
        "not_run": usage.not_run,
        "failures": _sorted(usage.failures),
    }


def _header(header: RunHeader) -> dict[str, object]:
    return {
        "source": {
            "kind": header.source.kind,
            "description": header.source.description,
            "commit": header.source.commit,
        },
        "dataset": header.dataset,
        "dataset_digest": header.dataset_digest,
        "cases": header.cases,
        "trials": header.trials,
        "started": header.started,
        "version": header.version,
        "config_digest": header.config_digest,
        "repeatable": header.repeatable,
        "judge": header.judge,
        "environment": _sorted(header.environment),
        "schema_version": header.schema_version,
    }


def _notice(notice: Notice) -> dict[str, object]:
    return {"code": notice.code, "message": notice.message, "count": notice.count, "location": notice.location}


def _sorted(mapping: Mapping[str, object]) -> dict[str, object]:
    return dict(sorted(mapping.items()))


def _finite(value: float | None) -> float | None:
    """An infinite end of an interval says that there is no bound: null, as JSON has no infinity."""
    return None if value is None or not math.isfinite(value) else value

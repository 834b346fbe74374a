"""What no single key can know: names that have to fit each other.

In: the raw file, and the configuration if it is valid so far. Out: Problems.
Works on the raw file where it can, so that one bad key never hides these. Pure: today's date is handed in.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping

from pydantic import TypeAdapter, ValidationError

from ci_eval.compare.spec import DERIVED_METRICS, NOTHING_TO_GATE, NOTHING_TO_GATE_HINT, MetricSpec, default_gated, rules_for
from ci_eval.config.problems import Pointer, nearest
from ci_eval.config.schema import EvalConfig, EvaluatorEntry
from ci_eval.config.yaml_source import KeyPath
from ci_eval.domain.results import ARMS
from ci_eval.domain.score import Metric
from ci_eval.errors import Problem
from ci_eval.evaluators.base import EvaluatorSpec
from ci_eval.evaluators.catalog import name_clash


def cross_problems(
    raw: Mapping[str, object], config: EvalConfig | None, pointer: Pointer, *, today: datetime.date
) -> Iterator[Problem]:
    """Find everything that does not fit together."""
    entries = raw.get("evaluators")
    metrics = list(_metrics_of(entries if isinstance(entries, list) else []))
    yield from _computed_twice(metrics, pointer)
    by_name = {metric.name: metric for _, metric in metrics}
    meant = _given_names(entries if isinstance(entries, list) else [])
    if by_name:
        yield from _unknown_metrics(raw, {*by_name, *meant, *DERIVED_METRICS}, pointer)
    if config is None:
        return
    for index, spec in enumerate(config.evaluators):
        clash = name_clash(spec)
        if clash is not None:
            yield pointer.problem(("evaluators", index), clash, code="name_clash")
    yield from _arms_without_target(config, pointer)
    yield from _nothing_to_gate(config, by_name, pointer)
    for path, message in config.gate.problems(metrics=by_name, specs=config.metrics, today=today):
        yield pointer.problem(path, message, code="gate")


def _metrics_of(entries: list[object]) -> Iterator[tuple[int, Metric]]:
    """Metrics by entry; a known evaluator with a bad option still lends the metrics it would have without options."""
    for index, entry in enumerate(entries):
        spec = _valid_entry(entry) or _bare_entry(entry)
        if spec is not None:
            yield from ((index, metric) for metric in spec.metrics())


def _valid_entry(entry: object) -> EvaluatorSpec | None:
    adapter: TypeAdapter[EvaluatorEntry] = TypeAdapter(EvaluatorEntry)
    try:
        return adapter.validate_python(entry)
    except ValidationError:
        return None


def _bare_entry(entry: object) -> EvaluatorSpec | None:
    if not isinstance(entry, dict) or len(entry) != 1:
        return None
    kind, options = next(iter(entry.items()))
    name = options.get("name") if isinstance(options, dict) else None
    return _valid_entry({kind: {"name": name} if isinstance(name, str) else {}})


def _given_names(entries: list[object]) -> Iterator[str]:
    """The `name:` of every entry: a metric that is only described wrongly is not unknown as well."""
    for entry in entries:
        for options in entry.values() if isinstance(entry, dict) else ():
            name = options.get("name") if isinstance(options, dict) else None
            if isinstance(name, str):
                yield name


def _computed_twice(metrics: list[tuple[int, Metric]], pointer: Pointer) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, metric in metrics:
        if metric.name in seen:
            message = f"the metric {metric.name!r} is computed twice; give one of the evaluators its own `name:`"
            yield pointer.problem(("evaluators", index), message, code="duplicate_metric")
        seen.add(metric.name)


def _unknown_metrics(raw: Mapping[str, object], known: set[str], pointer: Pointer) -> Iterator[Problem]:
    for path, name in _asked_metrics(raw):
        if name not in known:
            near = nearest(name, known)
            hint = (f"did you mean {near}? " if near else "") + f"known: {', '.join(sorted(known))}"
            yield pointer.problem(path, f"no evaluator computes the metric {name!r}", code="unknown_metric", hint=hint)


def _asked_metrics(raw: Mapping[str, object]) -> Iterator[tuple[KeyPath, str]]:
    gate, settings = raw.get("gate"), raw.get("metrics")
    gated = gate.get("metrics") if isinstance(gate, dict) else None
    if isinstance(gated, list):
        yield from ((("gate", "metrics", index), name) for index, name in enumerate(gated) if isinstance(name, str))
    if isinstance(settings, dict):
        yield from ((("metrics", name), name) for name in settings)


def _nothing_to_gate(config: EvalConfig, metrics: Mapping[str, Metric], pointer: Pointer) -> Iterator[Problem]:
    rules = [rules_for(metric, config.gate, config.metrics.get(name, MetricSpec())) for name, metric in metrics.items()]
    if config.gate.metrics is None and not default_gated([one.metric for one in rules]):
        yield pointer.problem(("evaluators",), NOTHING_TO_GATE, code="nothing_to_gate", hint=NOTHING_TO_GATE_HINT)


def _arms_without_target(config: EvalConfig, pointer: Pointer) -> Iterator[Problem]:
    if config.target is not None:
        return
    for arm in ARMS:
        if getattr(config, arm).needs_target:
            hint = f"add `target:` (how the agent is run), or give recorded outputs: `{arm}: {{outputs: file.jsonl}}`"
            yield pointer.problem((arm,), f"the {arm} has to be run, but there is no `target:`", code="no_target", hint=hint)

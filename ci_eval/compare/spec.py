"""What a configuration may say about the gate and about single metrics, and what that means for one metric.

In: values from `ci-eval.yaml`. Out: GateSpec, MetricSpec; MetricRules with every default filled in. Pure: today's date is handed in.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ci_eval.domain.score import LARGEST, NARROWEST, Direction, Metric, MetricKind
from ci_eval.errors import ConfigError, Problem

Mode: TypeAlias = Literal["statistical", "non_inferiority", "threshold", "strict", "report"]
Lenient: TypeAlias = Literal["pass", "warn", "block"]
KeyPath: TypeAlias = tuple[str | int, ...]
"""Place of a key in the configuration, from its root."""
Probability: TypeAlias = Annotated[float, Field(ge=1e-9, lt=1)]
Share: TypeAlias = Annotated[float, Field(ge=0, lt=1)]
NotNegative: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]

OUTCOME_NAMES = ("outcome", "task_success", "success", "pass")
"""A metric of such a name is gated when the configuration names none; the first that exists."""
ALL_CHECKS = "all_checks"
"""The derived metric: every binary metric of the case passed."""
MEASURES = ("latency_s", "cost_usd", "total_tokens")
"""Measurements of a run that `metrics:` may name; compared as ratios."""
DERIVED_METRICS: Mapping[str, Metric] = {
    ALL_CHECKS: Metric(name=ALL_CHECKS, evaluator=ALL_CHECKS, kind="binary", threshold=1.0),
    **{
        name: Metric(name=name, evaluator="usage", kind="ratio", direction="lower", maximum=None, output_only=False)
        for name in MEASURES
    },
}
"""Metrics that no evaluator yields and the comparison can work out."""
DEFAULT_MARGIN = 0.10
NOTHING_TO_GATE = "no evaluator yields a metric of quality that could be gated"
NOTHING_TO_GATE_HINT = "add an evaluator with pass or fail, or name a metric under gate.metrics"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MustPassSpec(_Section):
    """Cases that may not fail, whatever the baseline did."""

    tags: list[str] = Field(default_factory=list, description="Cases with one of these tags.")
    ids: list[str] = Field(default_factory=list, description="Cases with these ids.")


class QuarantineSpec(_Section):
    """A case that `strict` and `must_pass` overlook for a while; it stays in every rate."""

    case: str = Field(description="Id of the case.")
    until: date = Field(description="Last day; an entry that has run out is an error.")
    reason: str = Field(min_length=1, description="Why, for whoever reads it later.")


class MetricSpec(_Section):
    """Settings of one metric; what is not set comes from the evaluator or from the gate."""

    kind: MetricKind | None = Field(default=None, description="`binary` makes pass or fail of a metric with a threshold.")
    range: tuple[float, float] | None = Field(default=None, description="Smallest and largest possible value.")
    direction: Direction | None = Field(default=None, description="Which way is better.")
    mode: Mode | None = Field(default=None, description="How this gated metric blocks; default: the gate's mode.")
    alpha: Probability | None = Field(default=None, description="One-sided level of the test.")
    min: float | None = Field(default=None, allow_inf_nan=False, description="Floor for the candidate's rate or mean.")
    max_drop: NotNegative | None = Field(default=None, description="Largest loss that mode `threshold` accepts.")
    margin: NotNegative | None = Field(default=None, description="What mode `non_inferiority` must rule out.")
    min_effect: NotNegative | None = Field(
        default=None, description="Smallest loss or gain worth acting on; a ratio above 1 for ratios."
    )
    equivalence: NotNegative | None = Field(default=None, description="Differences below it do not matter; a ratio for ratios.")
    on_agent_error: Literal["worst", "missing"] | None = Field(
        default=None, description="What a failed agent counts as; default: `worst` for quality, `missing` for measurements."
    )
    max_missing: Share | None = Field(default=None, description="Share of pairs that may have no result.")
    max_newly_failing: int | None = Field(default=None, ge=0, description="Newly failing cases that mode `strict` accepts.")
    max_ratio: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Block when the ratio is surely above it."
    )
    max_ratio_total: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Block when the ratio of totals is above it."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range: the first value must be below the second, found {list(self.range)}")
        if self.range is not None and not (max(map(abs, self.range)) <= LARGEST and self.range[1] - self.range[0] >= NARROWEST):
            raise ValueError(
                f"range: values within -{LARGEST:g}..{LARGEST:g} and {NARROWEST:g} apart or more, found {list(self.range)}"
            )
        if self.min_effect is not None and self.equivalence is not None and self.min_effect > self.equivalence:
            raise ValueError(f"min_effect ({self.min_effect}) must not be above equivalence ({self.equivalence})")
        return self


class GateSpec(_Section):
    """What may block the merge."""

    metrics: list[str] | None = Field(
        default=None, min_length=1, description="Metrics that may block; default: the outcome of a case."
    )
    mode: Mode = Field(default="statistical", description="How a gated metric blocks.")
    alpha: Probability = Field(default=0.05, description="One-sided level of the test, for all gated metrics together.")
    min_cases: int = Field(default=10, ge=1, description="Fewer compared cases give no verdict unless the loss is clear.")
    max_missing: Share = Field(default=0.05, description="Share of pairs that may have no result.")
    margin: NotNegative | None = Field(default=None, description="What mode `non_inferiority` must rule out; default 0.10.")
    max_drop: NotNegative | None = Field(default=None, description="Largest loss that mode `threshold` accepts.")
    max_newly_failing: int | None = Field(
        default=None, ge=0, description="Newly failing cases that mode `strict` accepts; default 0."
    )
    on_inconclusive: Lenient = Field(default="pass", description="When no clear change was found.")
    on_too_few_cases: Lenient = Field(default="warn", description="When there are too few cases for a verdict.")
    on_no_baseline: Lenient = Field(default="warn", description="When nothing can be compared.")
    on_incomplete: Literal["error", "block"] = Field(default="error", description="When too many results are missing.")
    must_pass: MustPassSpec = Field(default=MustPassSpec(), description="Cases that may not fail.")
    quarantine: list[QuarantineSpec] = Field(default_factory=list, description="Cases that `strict` and `must_pass` overlook.")

    def problems(
        self, *, metrics: Mapping[str, Metric], specs: Mapping[str, MetricSpec], today: date
    ) -> Iterator[tuple[KeyPath, str]]:
        """Find what no single key can know: expired entries, settings without effect, metrics that cannot be gated."""
        yield from self.expired(today)
        modes = {self.mode, *(spec.mode for spec in specs.values() if spec.mode)}
        for key, mode in _MODE_OF_KEY.items():
            if getattr(self, key) is not None and mode not in modes:
                yield ("gate", key), f"has no effect: no metric uses mode {mode}"
        configured = [_configured_as(metric, specs.get(name, MetricSpec())) for name, metric in metrics.items()]
        gated = default_gated(configured) if self.metrics is None else tuple(self.metrics)
        derived = {name: metric for name, metric in DERIVED_METRICS.items() if name in {*gated, *specs}}
        for name, metric in {**derived, **metrics}.items():
            yield from self._metric_problems(metric, specs.get(name, MetricSpec()), gated=name in gated)

    def expired(self, today: date) -> Iterator[tuple[KeyPath, str]]:
        """Find quarantine entries that have run out."""
        for index, entry in enumerate(self.quarantine):
            if entry.until < today:
                message = f"the quarantine ran out on {entry.until.isoformat()}: repair the case, or move the date on purpose"
                yield ("gate", "quarantine", index, "until"), message

    def unfit(self, rules: MetricRules) -> Iterator[tuple[KeyPath, str]]:
        """Find why a gated metric could never block."""
        name, place = rules.metric.name, ("metrics", rules.metric.name)
        if rules.metric.direction == "none":
            key = ("gate", "metrics") if self.metrics else (*place, "direction")
            yield key, f"{name} has no better direction: it cannot be gated"
        if rules.mode == "threshold" and rules.minimum is None and rules.max_drop is None:
            yield (*place, "mode"), "threshold needs `min` or `max_drop`, else nothing could ever block"
        if rules.mode == "strict" and not rules.tells_pass_from_fail:
            yield (
                (*place, "mode"),
                f"strict counts newly failing cases, but nothing passes or fails by {name}: set `threshold` on the evaluator",
            )

    def _metric_problems(self, metric: Metric, spec: MetricSpec, *, gated: bool) -> Iterator[tuple[KeyPath, str]]:
        place = ("metrics", metric.name)
        wrong = contradiction(metric, spec)
        if wrong is not None:
            key_name, message = wrong
            yield (*place, key_name), message
            return
        rules = rules_for(metric, self, spec)
        if gated:
            yield from self.unfit(rules)
        for key_name, message in _misfits(rules, spec):
            yield (*place, key_name), message


def contradiction(metric: Metric, spec: MetricSpec) -> tuple[str, str] | None:
    """Find the setting that turns pass and fail into something the evaluator did not decide: its key, and what is wrong with it."""
    if spec.kind == "binary" and metric.kind != "binary" and metric.threshold is None:
        return "kind", "binary needs a threshold that says what passes: set `threshold` on the evaluator"
    if metric.threshold is not None and spec.direction not in (None, "none", metric.direction):
        message = f"{metric.name} was scored with {metric.direction} as better, and so passes and fails: set `direction` on the evaluator"
        return "direction", message
    return None


_MODE_OF_KEY: Mapping[str, Mode] = {"margin": "non_inferiority", "max_drop": "threshold", "max_newly_failing": "strict"}


def _misfits(rules: MetricRules, spec: MetricSpec) -> Iterator[tuple[str, str]]:
    """Find settings of a metric that contradict each other or do nothing."""
    if rules.min_effect > rules.equivalence:
        yield "min_effect", f"{rules.min_effect} is above equivalence ({rules.equivalence})"
    if rules.metric.kind == "ratio" and rules.min_effect < 1:
        yield "min_effect", "a ratio is compared by ratios: write 1.05 for 5 %"
    if spec.min is not None and rules.metric.direction == "lower":
        yield "min", "is a floor, but lower is better here: use mode `threshold` with `max_drop`"
    for key in ("max_ratio", "max_ratio_total"):
        if getattr(spec, key) is not None and rules.metric.kind != "ratio":
            yield key, f"only a metric of kind ratio has it, {rules.metric.name} is {rules.metric.kind}"
    for key, mode in _MODE_OF_KEY.items():
        if getattr(spec, key) is not None and rules.mode != mode:
            yield key, f"has no effect: the metric's mode is {rules.mode}, not {mode}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRules:
    """The rules of one metric, every default filled in."""

    metric: Metric
    """With kind, range and direction as configured."""
    by_passed: bool
    """The configuration makes pass or fail of it: the score's `passed` is the value."""
    mode: Mode
    alpha: float
    min_effect: float
    equivalence: float
    min_cases: int
    max_missing: float
    agent_error_is_worst: bool
    margin: float
    minimum: float | None
    max_drop: float | None
    max_newly_failing: int
    max_ratio: float | None
    max_ratio_total: float | None

    @property
    def tells_pass_from_fail(self) -> bool:
        """False for a number by which no case passes or fails."""
        return self.metric.kind == "binary" or self.metric.threshold is not None

    @property
    def width(self) -> float | None:
        """Width of the metric's range; None for counts and measurements."""
        if self.metric.kind in {"count", "ratio"} or self.metric.minimum is None or self.metric.maximum is None:
            return None
        return self.metric.maximum - self.metric.minimum


def rules_for(metric: Metric, gate: GateSpec, spec: MetricSpec) -> MetricRules:
    """Fill in every default for one metric."""
    by_passed = _is_by_passed(metric, spec)
    configured = _configured_as(metric, spec)
    min_effect, equivalence = _default_effects(configured)
    return MetricRules(
        metric=configured,
        by_passed=by_passed,
        mode=spec.mode or gate.mode,
        alpha=gate.alpha if spec.alpha is None else spec.alpha,
        min_effect=min_effect if spec.min_effect is None else spec.min_effect,
        equivalence=equivalence if spec.equivalence is None else spec.equivalence,
        min_cases=gate.min_cases,
        max_missing=gate.max_missing if spec.max_missing is None else spec.max_missing,
        agent_error_is_worst=spec.on_agent_error == "worst"
        or (spec.on_agent_error is None and configured.kind not in {"count", "ratio"}),
        margin=_first(spec.margin, gate.margin, DEFAULT_MARGIN),
        minimum=spec.min,
        max_drop=gate.max_drop if spec.max_drop is None else spec.max_drop,
        max_newly_failing=int(_first(spec.max_newly_failing, gate.max_newly_failing, 0)),
        max_ratio=spec.max_ratio,
        max_ratio_total=spec.max_ratio_total,
    )


def _is_by_passed(metric: Metric, spec: MetricSpec) -> bool:
    return spec.kind == "binary" and metric.kind != "binary"


def _configured_as(metric: Metric, spec: MetricSpec) -> Metric:
    if _is_by_passed(metric, spec):  # the value is now 1 for a pass, whichever way the number itself is better
        direction: Direction = "none" if spec.direction == "none" else "higher"
        return replace(metric, kind="binary", direction=direction, minimum=0.0, maximum=1.0)
    low, high = spec.range or (metric.minimum, metric.maximum)
    return replace(metric, kind=spec.kind or metric.kind, direction=spec.direction or metric.direction, minimum=low, maximum=high)


def _default_effects(metric: Metric) -> tuple[float, float]:
    """Return (min_effect, equivalence): 2 and 5 % of the range, 2.5 and 6.25 % for likert (0.1 and 0.25 on 1 to 5); a ratio's own."""
    if metric.kind == "ratio":
        return 1.05, 1.10
    if metric.kind == "count" or metric.minimum is None or metric.maximum is None:
        return 0.0, 0.0
    width = metric.maximum - metric.minimum
    return (0.025 * width, 0.0625 * width) if metric.kind == "likert" else (0.02 * width, 0.05 * width)


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def gated_names(gate: GateSpec, metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Return the metrics that may block, by the configured names or else by the default; ConfigError when nothing can be gated.

    `metrics`: kinds as configured.
    """
    if gate.metrics is not None:
        return _named(
            gate.metrics, {*(metric.name for metric in metrics), *MEASURES, *([ALL_CHECKS] if _binary(metrics) else [])}
        )
    names = default_gated(metrics)
    if not names:
        raise ConfigError(
            Problem(
                code="nothing_to_gate",
                field="gate.metrics",
                message=NOTHING_TO_GATE,
                hint=NOTHING_TO_GATE_HINT,
            )
        )
    return names


def default_gated(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Return the metric of an outcome's name; else the checks of a case together; else the first quality metric; or none."""
    known = {metric.name: metric for metric in metrics}
    for name in (*OUTCOME_NAMES, ALL_CHECKS):
        if name in known and known[name].direction != "none":
            return (name,)
    binary = _binary(metrics)
    if binary:
        return (binary[0],) if len(binary) == 1 else (ALL_CHECKS,)
    quality = [metric.name for metric in metrics if metric.kind in {"score", "likert"} and metric.direction != "none"]
    return tuple(quality[:1])


def _binary(metrics: Sequence[Metric]) -> list[str]:
    return [metric.name for metric in metrics if metric.kind == "binary" and metric.direction != "none"]


def _named(names: Sequence[str], known: set[str]) -> tuple[str, ...]:
    problems = []
    for index, name in enumerate(names):
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = (f"did you mean {near[0]}? " if near else "") + f"computed are: {', '.join(sorted(known)) or 'none'}"
            message = f"no evaluator computes the metric {name!r}"
            problems.append(Problem(code="unknown_metric", field=f"gate.metrics[{index}]", message=message, hint=hint))
    if problems:
        raise ConfigError(problems)
    return tuple(dict.fromkeys(names))

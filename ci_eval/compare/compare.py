"""Two runs -> Comparison.

In: the runs of both arms, the settings. Out: a Comparison with every number that a verdict or a report needs, unrounded. Raises
ConfigError for a gated metric that nobody computes, DataError for a case that stands twice. Pure: no clock, no files, no chance;
the order of the records does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ci_eval.compare.changes import MOVES, ORDER, STABLE, change_of
from ci_eval.compare.derived import with_derived
from ci_eval.compare.identical import count_same_outputs
from ci_eval.compare.metrics import Measured, judge, measure
from ci_eval.compare.pairing import Pairing, pair_runs
from ci_eval.compare.spec import MEASURES, GateSpec, MetricRules, MetricSpec, contradiction, gated_names, rules_for
from ci_eval.compare.usage import usage_of
from ci_eval.domain.comparison import CaseChange, Change, Comparison
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.results import RunHeader, RunResult
from ci_eval.domain.score import Metric
from ci_eval.errors import ConfigError, Problem

COPIED_SHARE = 0.9  # of the cases; with so many equal answers in all trials the trials are hardly real
MANY_GATED = 5  # from here on the correction costs more power than a second opinion is worth


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSettings:
    """All that a comparison depends on besides the two runs."""

    gate: GateSpec = field(default_factory=GateSpec)
    metrics: Mapping[str, MetricSpec] = field(default_factory=dict)
    """Settings of single metrics, by name."""
    interval_level: float = 0.90
    """Two-sided level of every interval; its ends are the one-sided limits that belong to the test."""


def compare_runs(baseline: RunResult, candidate: RunResult, settings: CompareSettings) -> Comparison:
    """Pair the runs and compare them metric by metric."""
    gated = _gated(candidate.header.metrics, settings)
    wanted = {*settings.metrics, *gated}
    baseline, candidate = (
        with_derived(run, wanted=wanted, gate=settings.gate, specs=settings.metrics) for run in (baseline, candidate)
    )
    all_rules = _all_rules(candidate.header.metrics, gated, settings)
    _refuse_unfit([rules for rules in all_rules if rules.metric.name in gated], settings.gate)
    pairing = pair_runs(baseline, candidate)
    measured = [
        measure(
            pairing,
            rules,
            gated=rules.metric.name in gated,
            incomparable=_incomparable(rules.metric.name, baseline.header, candidate.header),
            level=settings.interval_level,
        )
        for rules in all_rules
    ]
    absent, added = measured[0].absent, set(pairing.sets.added)
    expected = [record for record in baseline.records if record.case_id not in added]
    ours = [
        *_header_notices(baseline.header, candidate.header),
        *_trial_notices(pairing),
        *_metric_notices(measured, settings),
    ]
    return Comparison(
        baseline=baseline.header,
        candidate=candidate.header,
        metrics=judge(measured),
        changes=_changes(pairing, measured),
        cases=pairing.sets,
        pairs=pairing.pairs,
        usage_baseline=usage_of(expected, unrecorded=absent[0]),
        usage_candidate=usage_of(candidate.records, unrecorded=absent[1]),
        identical_outputs=count_same_outputs(pairing.pairs[case_id] for case_id in pairing.sets.paired),
        notices=merge_notices([*baseline.notices, *candidate.notices, *ours]),
        interval_level=settings.interval_level,
    )


def _gated(metrics: Sequence[Metric], settings: CompareSettings) -> tuple[str, ...]:
    return gated_names(settings.gate, [_rules(metric, settings).metric for metric in metrics])


def _rules(metric: Metric, settings: CompareSettings) -> MetricRules:
    spec = settings.metrics.get(metric.name, MetricSpec())
    wrong = contradiction(metric, spec)
    if wrong is not None:
        key, message = wrong
        raise ConfigError(Problem(code="gate", field=f"metrics.{metric.name}.{key}", message=message))
    return rules_for(metric, settings.gate, spec)


def _all_rules(metrics: Sequence[Metric], gated: Sequence[str], settings: CompareSettings) -> list[MetricRules]:
    """Gated metrics first, in their order, then the others in the order of the run."""
    places = {name: place for place, name in enumerate(gated)}
    ordered = sorted(metrics, key=lambda metric: places.get(metric.name, len(places)))
    return [_rules(metric, settings) for metric in ordered]


def _refuse_unfit(gated: Sequence[MetricRules], gate: GateSpec) -> None:
    """A run file may hold other metrics than the configuration was checked with."""
    problems = [
        Problem(code="gate", field=".".join(map(str, path)), message=message)
        for rules in gated
        for path, message in gate.unfit(rules)
    ]
    if problems:
        raise ConfigError(problems)


def _incomparable(name: str, baseline: RunHeader, candidate: RunHeader) -> str | None:
    """Say why the numbers of the arms must not be held against each other, None when they may."""
    before, after = (_named(name, header) for header in (baseline, candidate))
    if before is None or after is None:
        return "no_pairs"
    meaning = [
        (metric.fingerprint, metric.threshold, metric.kind, metric.direction, metric.minimum, metric.maximum)
        for metric in (before, after)
    ]
    if meaning[0] != meaning[1] or (name not in MEASURES and _other_judge(baseline, candidate)):
        return "evaluator_changed"
    return None


def _named(name: str, header: RunHeader) -> Metric | None:
    return next((metric for metric in header.metrics if metric.name == name), None)


def _other_judge(baseline: RunHeader, candidate: RunHeader) -> bool:
    # an arm without a judge has no judged metric, so nothing judged can be mixed up
    return baseline.judge is not None and candidate.judge is not None and baseline.judge != candidate.judge


def _changes(pairing: Pairing, measured: Sequence[Measured]) -> tuple[CaseChange, ...]:
    """List what is not simply stable, losses first, then by id; metrics that cannot be compared have no changes."""
    found = [change for one in measured if not one.incomparable for change in _changes_of(pairing, one)]
    places = {one.rules.metric.name: place for place, one in enumerate(measured)}
    return tuple(sorted(found, key=lambda change: (ORDER[change.change], change.case_id, places[change.metric])))


def _changes_of(pairing: Pairing, one: Measured) -> Iterator[CaseChange]:
    alone = {
        **dict.fromkeys(pairing.sets.added, Change.ADDED),
        **dict.fromkeys(pairing.sets.removed, Change.REMOVED),
        **dict.fromkeys(pairing.sets.modified, Change.MODIFIED),
    }
    for case_id, (before, after) in one.scores.items():
        change = alone.get(case_id) or change_of(before, after, one.rules.metric.direction)
        is_noise = one.identical and change in MOVES
        if change in STABLE or is_noise:
            continue
        pair = one.compared.get(case_id)
        yield CaseChange(
            case_id=case_id,
            metric=one.rules.metric.name,
            change=change,
            baseline=pair.baseline if pair else before.mean(),
            candidate=pair.candidate if pair else after.mean(),
            reason=before.reason if change is Change.REMOVED or (after.usable and not before.usable) else after.reason,
        )


# --- notices ---


def _header_notices(baseline: RunHeader, candidate: RunHeader) -> Iterator[Notice]:
    """List how the two runs differ in what they were made from."""
    if baseline.dataset_digest != candidate.dataset_digest:
        yield Notice(
            code="dataset_differs", message="the arms ran on different datasets; only cases with the same content are compared"
        )
    if baseline.trials != candidate.trials:
        message = f"the baseline has {baseline.trials} and the candidate {candidate.trials} trials per case; the extra ones are not compared"
        yield Notice(code="trials_differ", message=message)
    if _other_judge(baseline, candidate):
        yield Notice(code="judge_differs", message="the arms were scored by different judges: their scores are not comparable")
    after = {metric.name: metric for metric in candidate.metrics}
    for metric in baseline.metrics:
        now = after.get(metric.name)
        if now is None:
            yield Notice(code="metric_dropped", message=f"only the baseline has the metric {metric.name}")
        elif now.threshold != metric.threshold:
            yield Notice(
                code="threshold_differs",
                message=f"{metric.name}: the baseline's threshold is {metric.threshold}, the candidate's {now.threshold}",
            )
        elif now.fingerprint != metric.fingerprint:
            yield Notice(code="evaluator_differs", message=f"{metric.name}: the evaluator changed between the runs")
    for name in sorted(after.keys() - {metric.name for metric in baseline.metrics}):
        yield Notice(code="metric_new", message=f"only the candidate has the metric {name}")


def _trial_notices(pairing: Pairing) -> Iterator[Notice]:
    """Tell when trials look like copies of each other: then they say nothing about how much an agent wavers."""
    for arm, trials in (("baseline", pairing.trials_baseline), ("candidate", pairing.trials_candidate)):
        if trials < 2:
            continue
        answers = [
            [record.output_digest for record in getattr(pair, arm) if record.status == "ok"] for pair in pairing.pairs.values()
        ]
        repeated = [digests for digests in answers if len(digests) > 1]
        same = sum(len(set(digests)) == 1 for digests in repeated)
        if repeated and same >= COPIED_SHARE * len(repeated):
            message = (
                f"{arm}: in {same} of {len(repeated)} cases every trial gave the same answer. Is there a cache of answers between "
                "the trials? An agent that never wavers needs one trial only"
            )
            yield Notice(code="equal_trials", message=message)


def _metric_notices(measured: Sequence[Measured], settings: CompareSettings) -> Iterator[Notice]:
    gated = [one for one in measured if one.gated]
    if settings.gate.metrics is None and any(one.rules.metric.kind != "binary" for one in gated):
        message = (
            f"no metric tells pass from fail, so {gated[0].rules.metric.name} is gated; name what matters under gate.metrics"
        )
        yield Notice(code="gated_by_default", message=message)
    if len(gated) > MANY_GATED:
        yield Notice(
            code="many_gated", message=f"{len(gated)} metrics are gated: each one makes losses of the others harder to prove"
        )
    for one in measured:
        if one.noisy:
            message = (
                f"{one.rules.metric.name} scored equal outputs differently: the difference is its own noise and is not counted"
            )
            yield Notice(code="noisy_evaluator", message=message, count=one.noisy)

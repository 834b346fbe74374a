"""All that a report tells, in order, before any format: the one thing every renderer reads.

In: comparison, verdict, settings. Out: `Outline`, of numbers written out, sentences, and stories of cases.
Texts from outside stand in it unescaped, each as a `Quote` or under a name that says so. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ci_eval.domain.comparison import ArmUsage, Change, Comparison, MetricClass, MetricComparison, Outcome, Rule, Verdict
from ci_eval.domain.results import RunHeader
from ci_eval.report import numbers
from ci_eval.report.cases import SHARES, CaseChanges, CaseStory, tell_cases
from ci_eval.report.sentences import (
    EMOJI,
    Quote,
    Sentence,
    class_mark,
    gate_sentences,
    headline_in_title,
    ids,
    rule_sentence,
    sensitivity_sentence,
    trouble_sentences,
    verdict_word,
)  # fmt: skip
from ci_eval.report.settings import ReportSettings

LISTS_ITS_CASES: Final = frozenset({"must_pass", "missing", "removed"})
"""Rules whose cases are not the broken ones, which are listed anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric on both arms, written out."""

    mark: str
    name: str
    """From outside as far as escaping goes."""
    short_name: str | None
    """`precision`, `recall`, `F1` in a table that names their evaluator once; our own words."""
    notes: tuple[str, ...]
    """`gated`, `lower is better`, `48 cases`: our own words."""
    baseline: str
    candidate: str
    difference: str
    interval: str
    verdict: str
    stands_out: bool
    """The difference is one to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What the arms took."""

    what: str
    baseline: str
    candidate: str
    ratio: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """What became of a metric's scores on one arm, as counts."""

    metric: str
    arm: str
    counts: tuple[str, ...]
    """passed, failed, agent errors, infrastructure errors, evaluator errors, skipped, not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How the run was made, and how to make it again."""

    arms: tuple[tuple[str, str], ...]
    """`baseline`, `candidate`, each with its description (from outside)."""
    facts: tuple[Sentence, ...]
    repeat_command: str | None
    report_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """One evaluation, told in order."""

    outcome: Outcome
    emoji: str
    title: str
    """From outside."""
    headline: str
    """Our own words, as in the verdict."""
    headline_in_title: str
    reasons: tuple[Sentence, ...]
    """Why, the deciding rule first."""
    troubles: tuple[Sentence, ...]
    legend: str
    """What the numbers of the tables are; our own words."""
    metrics: tuple[MetricRow, ...]
    trajectory: tuple[MetricRow, ...]
    trajectory_of: str | None
    """The one evaluator of all trajectory metrics, so that it is named once; None when they have several."""
    cases: CaseChanges
    broken_heading: str
    """`8 cases broke`, or `got worse` where some only fell; "" without any."""
    fixed_heading: str
    usage: tuple[UsageRow, ...]
    sensitivity: tuple[Sentence, ...]
    errors: tuple[ErrorRow, ...]
    """Empty when every score was computed."""
    notices: tuple[Sentence, ...]
    provenance: Provenance


def outline(comparison: Comparison, verdict: Verdict, settings: ReportSettings) -> Outline:
    """Write everything out."""
    steps = [one for one in comparison.metrics if one.metric.group == "trajectory"]
    cases = tell_cases(comparison)
    return Outline(
        outcome=verdict.outcome,
        emoji=EMOJI[verdict.outcome],
        title=settings.title,
        headline=verdict.headline,
        headline_in_title=headline_in_title(verdict),
        reasons=_reasons(_distinct(verdict.rules)),
        troubles=trouble_sentences(comparison),
        legend=_legend(comparison),
        metrics=tuple(
            _metric_row(one, comparison) for one in comparison.metrics if one.gated or one.metric.group != "trajectory"
        ),
        trajectory=tuple(_metric_row(one, comparison) for one in steps),
        trajectory_of=_shared_owner(steps),
        cases=cases,
        broken_heading=_broken_heading(cases.broken),
        fixed_heading=_fixed_heading(cases.fixed),
        usage=_usage_rows(comparison.usage_baseline, comparison.usage_candidate),
        sensitivity=tuple(sensitivity_sentence(one) for one in comparison.metrics if _is_sensitivity_news(one, verdict)),
        errors=_error_rows(comparison.metrics),
        notices=_notices(comparison),
        provenance=_provenance(comparison, verdict, settings),
    )


def _reasons(rules: Sequence[Rule]) -> tuple[Sentence, ...]:
    """One sentence a rule; but several metrics that only inform share one, for the table below has their numbers."""
    asides = [rule for rule in rules if rule.name == "possible_regression"]
    told = []
    for rule in rules:
        if len(asides) < 2 or rule not in asides:
            told.append(rule_sentence(rule, list_cases=rule.name in LISTS_ITS_CASES))
        elif rule is asides[0]:
            names = ids([aside.metric or "" for aside in asides])
            told.append(("Possible regressions in metrics that are not gated: ", *names, "."))
    return tuple(told)


def _distinct(rules: Sequence[Rule]) -> list[Rule]:
    """Leave out a rule that says word for word what another one said."""
    said: dict[tuple[str, str | None], Rule] = {}
    for rule in rules:
        said.setdefault((rule.sentence, rule.metric), rule)
    return list(said.values())


def _legend(comparison: Comparison) -> str:
    unit = ", in points where a metric is a pass rate" if any(one.metric.kind == "binary" for one in comparison.metrics) else ""
    paired = numbers.plural(len(comparison.cases.paired), "case")
    level = numbers.level(comparison.interval_level)
    return f"{paired} on both arms · difference: candidate minus baseline{unit} [{level} interval]"


def _metric_row(compared: MetricComparison, comparison: Comparison) -> MetricRow:
    metric = compared.metric
    difference, interval = numbers.change(compared.difference, metric)
    notes = ["gated"] if compared.gated else []
    if metric.direction == "lower":
        notes.append("lower is better")
    if compared.n != len(comparison.cases.paired):
        notes.append(numbers.plural(compared.n, "case"))
    return MetricRow(
        mark=class_mark(compared),
        name=metric.name,
        short_name=SHARES.get(metric.name.rpartition(".")[2]),
        notes=tuple(notes),
        baseline=numbers.estimate(compared.baseline, metric, comparison.baseline.trials),
        candidate=numbers.estimate(compared.candidate, metric, comparison.candidate.trials),
        difference=difference,
        interval=interval,
        verdict=verdict_word(compared),
        stands_out=compared.result in (MetricClass.REGRESSED, MetricClass.IMPROVED),
    )


def _broken_heading(stories: Sequence[CaseStory]) -> str:
    broke = all(story.change is Change.BROKEN for story in stories)
    return f"{numbers.plural(len(stories), 'case')} {'broke' if broke else 'got worse'}" if stories else ""


def _fixed_heading(stories: Sequence[CaseStory]) -> str:
    if not all(story.change is Change.FIXED for story in stories):
        return f"{numbers.plural(len(stories), 'case')} got better"
    return f"{numbers.plural(len(stories), 'case')} {'was' if len(stories) == 1 else 'were'} fixed" if stories else ""


def _shared_owner(metrics: Sequence[MetricComparison]) -> str | None:
    """`steps.precision`, `steps.recall` -> `steps`; None unless all have one owner and a short name."""
    owners = {one.metric.name.rpartition(".")[0] for one in metrics}
    named = all(one.metric.name.rpartition(".")[2] in SHARES for one in metrics)
    return owners.pop() or None if named and len(owners) == 1 else None


def _usage_rows(baseline: ArmUsage, candidate: ArmUsage) -> tuple[UsageRow, ...]:
    rows = (
        UsageRow(
            what="cost", baseline=numbers.cost(baseline.cost_usd), candidate=numbers.cost(candidate.cost_usd),
            ratio=numbers.share(candidate.cost_usd, baseline.cost_usd),
        ),
        UsageRow(
            what="tokens", baseline=numbers.tokens(baseline.tokens), candidate=numbers.tokens(candidate.tokens),
            ratio=numbers.share(candidate.tokens, baseline.tokens),
        ),
        UsageRow(
            what="latency, median", baseline=numbers.duration(baseline.latency_median_s),
            candidate=numbers.duration(candidate.latency_median_s),
            ratio=numbers.share(candidate.latency_median_s, baseline.latency_median_s),
        ),
        UsageRow(
            what="latency, 95th percentile", baseline=numbers.duration(baseline.latency_p95_s),
            candidate=numbers.duration(candidate.latency_p95_s),
            ratio=numbers.share(candidate.latency_p95_s, baseline.latency_p95_s),
        ),
    )  # fmt: skip
    return tuple(row for row in rows if (row.baseline, row.candidate) != (numbers.UNKNOWN, numbers.UNKNOWN))


def _error_rows(metrics: Sequence[MetricComparison]) -> tuple[ErrorRow, ...]:
    rows = []
    for compared in metrics:
        arms = (("baseline", compared.baseline), ("candidate", compared.candidate))
        if not any(arm.errors or arm.skipped or arm.not_run for _, arm in arms):
            continue
        for name, arm in arms:
            counts = (
                arm.passed, arm.failed, arm.agent_errors, arm.infra_errors, arm.evaluator_errors, arm.skipped, arm.not_run,
            )  # fmt: skip
            rows.append(ErrorRow(metric=compared.metric.name, arm=name, counts=tuple(f"{count:,}" for count in counts)))
    return tuple(rows)


def _notices(comparison: Comparison) -> tuple[Sentence, ...]:
    told: list[Sentence] = []
    for notice in comparison.notices:
        sentence: Sentence = (Quote(notice.message),)
        if notice.count > 1:
            sentence = (*sentence, f" {notice.count:,}×")
        if notice.location:
            sentence = (*sentence, ", first at ", Quote(notice.location))
        told.append(sentence)
    return tuple(told)


def _is_sensitivity_news(compared: MetricComparison, verdict: Verdict) -> bool:
    """False without a result, and where the rule's own sentence says it: for an inconclusive metric that nothing blocked."""
    if not compared.gated or compared.result in (MetricClass.TOO_FEW_CASES, MetricClass.INVALID):
        return False
    blocked = any(rule.metric == compared.metric.name and rule.outcome is Outcome.BLOCK for rule in verdict.rules)
    return blocked or compared.result is not MetricClass.INCONCLUSIVE


def _provenance(comparison: Comparison, verdict: Verdict, settings: ReportSettings) -> Provenance:
    baseline, candidate = comparison.baseline, comparison.candidate
    return Provenance(
        arms=(("baseline", baseline.source.description), ("candidate", candidate.source.description)),
        facts=(*gate_sentences(comparison, verdict), *_facts(comparison, baseline, candidate)),
        repeat_command=settings.repeat_command,
        report_url=settings.report_url,
    )


def _facts(comparison: Comparison, baseline: RunHeader, candidate: RunHeader) -> list[Sentence]:
    """What the run was made from, one fact a line."""
    paired = len(comparison.cases.paired)
    facts: list[Sentence] = [
        ("dataset: ", Quote(candidate.dataset), f", {numbers.plural(candidate.cases, 'case')}, digest ", Quote(candidate.dataset_digest[:12])),
    ]  # fmt: skip
    if baseline.dataset_digest != candidate.dataset_digest:
        facts.append((
            "the baseline has another dataset: ", Quote(baseline.dataset), f", {numbers.plural(baseline.cases, 'case')}, digest ",
            Quote(baseline.dataset_digest[:12]),
        ))  # fmt: skip
    for arm, header in (("baseline", baseline), ("candidate", candidate)):
        if header.source.commit:
            facts.append((f"{arm} commit: ", Quote(header.source.commit)))
    if candidate.trials > 1 or baseline.trials > 1:
        facts.append((f"trials per case: {baseline.trials} on the baseline, {candidate.trials} on the candidate",))
    facts.append((f"{comparison.identical_outputs:,} of {numbers.plural(paired, 'output')} identical on both arms",))
    if not (baseline.repeatable and candidate.repeatable):
        facts.append(("recorded outputs: a loss can't be confirmed by running the agent again",))
    if candidate.judge or baseline.judge:
        facts.append(("judge: ", Quote(candidate.judge or baseline.judge or "")))
    facts.append(("ci-eval ", Quote(candidate.version)))
    if baseline.version != candidate.version:
        facts.append(("baseline made by ci-eval ", Quote(baseline.version)))
    for name, value in sorted(candidate.environment.items()):
        facts.append((Quote(name), ": ", Quote(value)))
    return facts

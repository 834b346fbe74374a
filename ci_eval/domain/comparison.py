"""Two runs paired, and the verdict. Frozen, pure. Rules: the statistics page; numbers stay unrounded here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ci_eval.domain.notice import Notice
from ci_eval.domain.results import CaseResult, RunHeader
from ci_eval.domain.score import Metric


class MetricClass(StrEnum):
    """What happened to one metric."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    NO_DIFFERENCE = "no_difference"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW_CASES = "too_few_cases"
    INVALID = "invalid"
    CHANGED = "changed"


class Change(StrEnum):
    """What happened to one case on one metric."""

    BROKEN = "broken"  # passed every trial before, passes none now
    DEGRADED = "degraded"  # lower than before
    FIXED = "fixed"  # passed no trial before, passes every one now
    IMPROVED = "improved"  # higher than before
    STABLE_PASS = "stable_pass"
    STABLE_FAIL = "stable_fail"
    UNCHANGED = "unchanged"  # equal scores of a metric without pass and fail
    FLAKY_SAME = "flaky_same"  # the same share of the trials passes on both arms, neither none nor all
    ADDED = "added"  # only the candidate has the case
    REMOVED = "removed"  # only the baseline has the case
    MODIFIED = "modified"  # same id, other content
    MISSING = "missing"  # an arm has no usable score
    CHANGED = "changed"  # another number of a metric without a good direction
    NOT_APPLICABLE = "not_applicable"  # the metric has no meaning for the case, on both arms


class Outcome(StrEnum):
    """The answer to "may this be merged?"."""

    PASS = "pass"
    WARN = "warn"
    BLOCK = "block"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One arm of one metric, over the compared pairs."""

    estimate: float | None
    """Pass rate of a binary metric, else the mean of the case scores; None when there is no pair."""
    low: float | None
    high: float | None
    n: int
    passed: int
    """Scores of this arm that passed, over all its records (also unpaired ones)."""
    failed: int
    agent_errors: int
    """Records whose agent failed: counted as the worst value unless the metric says `missing`."""
    infra_errors: int
    evaluator_errors: int
    skipped: int
    not_run: int
    overall: float | None = None
    """The estimate over every case of the arm with a usable score, also added and modified ones: what a floor is held against."""
    overall_n: int = 0

    @property
    def errors(self) -> int:
        """Everything that should have been scored and was not."""
        return self.agent_errors + self.infra_errors + self.evaluator_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Candidate against baseline; a negative gain is always a loss."""

    estimate: float | None
    """Mean gain: positive is better, also where lower numbers are better. For ratio metrics the geometric mean ratio candidate/baseline."""
    low: float | None
    high: float | None
    p_regress: float | None
    p_improve: float | None
    p_regress_adjusted: float | None = None
    """After Holm (gated) or Benjamini-Hochberg (informational)."""
    p_improve_adjusted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdverseFill:
    """What the metric would look like had every missing pair gone from the best value to the worst."""

    result: MetricClass
    estimate: float | None
    low: float | None
    candidate_overall: float | None
    newly_failing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric on both arms."""

    metric: Metric
    gated: bool
    result: MetricClass
    reason: str
    """Why, as a stable word: `significant`, `below_min_effect`, `within_margin`, `not_detected`, `identical_outputs`, `few_cases`,
    `unattainable`, `no_pairs`, `incomplete`, `evaluator_changed`."""
    n: int
    """Pairs compared."""
    missing: int
    """Pairs of the dataset that could not be compared."""
    baseline: Estimate
    candidate: Estimate
    difference: Difference
    worse: tuple[str, ...]
    """Ids of cases whose score fell, in id order."""
    better: tuple[str, ...]
    missing_ids: tuple[str, ...]
    newly_failing: tuple[str, ...]
    """Cases that passed every baseline trial and fewer than half of the candidate's."""
    minimum_detectable: float | None
    """Smallest true loss found in 80 % of runs of this size; None when no loss is reliably detectable."""
    smallest_provable: int
    """Net losses needed before a regression can be called, m*."""
    min_effect: float
    equivalence: float
    borderline: bool = False
    """Inconclusive by the test although the interval excludes zero: one more loss would have counted."""
    adverse: AdverseFill | None = None
    """With every missing pair filled in against the candidate; None when nothing is missing or the metric is not gated."""
    ratio_of_totals: float | None = None
    """Ratio metrics only: the candidate's sum over the baseline's, the bill."""
    alpha: float = 0.05
    """One-sided level of the test, before the family correction."""
    family: int = 1
    """Number of gated metrics that share the level; 1 for informational ones."""
    min_cases: int = 10
    max_missing: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """One case on one metric."""

    case_id: str
    metric: str
    change: Change
    baseline: float | None
    candidate: float | None
    reason: str
    """The candidate's reason, or why there is no number. Text from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePair:
    """All that both arms know about one case; trials in order, empty where the arm does not have it."""

    case_id: str
    baseline: tuple[CaseResult, ...]
    candidate: tuple[CaseResult, ...]

    @property
    def shown(self) -> CaseResult:
        """A record that describes the case itself (query, expectation, source): the candidate's where there is one."""
        return (self.candidate or self.baseline)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSets:
    """How the two datasets overlap; ids sorted."""

    paired: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    modified: tuple[str, ...]
    missing: tuple[str, ...]
    """Paired cases that did not run, or have no usable sample, on at least one arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmUsage:
    """What an arm took; None where no record tells."""

    cost_usd: float | None
    tokens: int | None
    latency_median_s: float | None
    latency_p95_s: float | None
    agent_errors: int
    infra_errors: int
    not_run: int
    failures: Mapping[str, int] = field(default_factory=dict)
    """Failure code to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs, case by case and metric by metric."""

    baseline: RunHeader
    candidate: RunHeader
    metrics: tuple[MetricComparison, ...]
    """Gated ones first, then in the order of the configuration."""
    changes: tuple[CaseChange, ...]
    """Every case and metric that is not simply stable, losses first, then by id."""
    cases: CaseSets
    pairs: Mapping[str, CasePair]
    usage_baseline: ArmUsage
    usage_candidate: ArmUsage
    identical_outputs: int
    """Number of paired cases whose outputs are the same on both arms."""
    notices: tuple[Notice, ...] = ()
    interval_level: float = 0.90
    """Two-sided level of every interval in it."""

    def metric(self, name: str) -> MetricComparison:
        """Return the metric of that name; KeyError when there is none."""
        for compared in self.metrics:
            if compared.metric.name == name:
                return compared
        raise KeyError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the gate and what it says."""

    name: str
    """`statistical`, `threshold`, `strict`, `must_pass`, `missing`, `no_pairs`, …"""
    outcome: Outcome
    sentence: str
    """Our own words with numbers; names from data are quoted by the report, not here."""
    metric: str | None = None
    case_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate decided. The outcome starts as incomplete and is replaced only at the end of a complete evaluation."""

    outcome: Outcome
    headline: str
    """`No regression found.`, `Regression: merging is blocked.`, …"""
    rules: tuple[Rule, ...]
    """The rules that decided, worst first."""

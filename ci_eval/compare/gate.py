"""Comparison -> Verdict: may this be merged?

In: a Comparison, the gate's settings, today's date. Out: a Verdict with the rules that decided, worst first. The outcome starts as
incomplete and is replaced only by rules that were really applied: nothing that went wrong ends in a pass. Raises ConfigError for
quarantines that ran out and must-pass cases that do not exist. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ci_eval.compare import wording
from ci_eval.compare.headline import headline_of
from ci_eval.compare.must_pass import must_pass_rules
from ci_eval.compare.spec import GateSpec, MetricRules, MetricSpec, rules_for
from ci_eval.domain.comparison import Comparison, MetricClass, MetricComparison, Outcome, Rule, Verdict
from ci_eval.errors import ConfigError, Problem

REMOVED_SHARE = 0.10  # of the baseline's cases; more than that is no longer housekeeping
SEVERITY = {outcome: rank for rank, outcome in enumerate((Outcome.PASS, Outcome.WARN, Outcome.INCOMPLETE, Outcome.BLOCK))}
"""Both a block and something incomplete is a block: the regression stands, whatever else failed."""


def apply_gate(comparison: Comparison, gate: GateSpec, specs: Mapping[str, MetricSpec], today: date) -> Verdict:
    """Apply every rule and take the worst."""
    _refuse_expired(gate, today)
    quarantined = frozenset(entry.case for entry in gate.quarantine)
    mine = {one.metric.name: _rules_of(one, comparison, gate, specs) for one in comparison.metrics}
    gated = [mine[one.metric.name] for one in comparison.metrics if one.gated]
    rules = [*_run_rules(comparison), *must_pass_rules(comparison, gate, gated)]
    for compared in comparison.metrics:
        judged = _Judged(
            compared=compared,
            rules=mine[compared.metric.name],
            gate=gate,
            quarantined=quarantined,
            level=comparison.interval_level,
        )
        if _has_run(comparison):  # where no answer is, there is nothing to compare
            rules += judged.gated_rules() if compared.gated else judged.informational_rules()
        rules += judged.absolute_rules()
    ordered = tuple(sorted(rules, key=lambda rule: -SEVERITY[rule.outcome]))
    decided = bool(gated) and bool(ordered)
    outcome = ordered[0].outcome if decided else Outcome.INCOMPLETE
    return Verdict(
        outcome=outcome,
        headline=headline_of(outcome, ordered, [one.result for one in comparison.metrics if one.gated]),
        rules=ordered,
    )


def _rules_of(compared: MetricComparison, comparison: Comparison, gate: GateSpec, specs: Mapping[str, MetricSpec]) -> MetricRules:
    name = compared.metric.name
    evaluated = next(metric for metric in comparison.candidate.metrics if metric.name == name)  # as yet unconfigured
    return rules_for(evaluated, gate, specs.get(name, MetricSpec()))


def _refuse_expired(gate: GateSpec, today: date) -> None:
    problems = [
        Problem(code="quarantine", field=".".join(map(str, path)), message=message) for path, message in gate.expired(today)
    ]
    if problems:
        raise ConfigError(problems)


# --- one metric ---


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """What a mode looks at; once as measured, once with the missing pairs filled in adversely."""

    result: MetricClass
    estimate: float | None
    low: float | None
    overall: float | None
    newly_failing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One metric before the gate."""

    compared: MetricComparison
    rules: MetricRules
    gate: GateSpec
    quarantined: frozenset[str]
    level: float

    def gated_rules(self) -> Iterator[Rule]:
        """Yield the rule of the metric's mode, or why it could not be applied."""
        one = self.compared
        if one.reason == "evaluator_changed":
            yield self._rule("not_comparable", Outcome(self.gate.on_no_baseline), self._told())
        elif one.reason == "no_pairs" and not one.candidate.overall_n:
            outcome = Outcome.BLOCK if self.gate.on_incomplete == "block" else Outcome.INCOMPLETE
            yield self._rule("no_score", outcome, "No case of the candidate has a score: nothing was measured.")
        elif one.reason == "no_pairs":
            yield self._rule("no_pairs", Outcome(self.gate.on_no_baseline), self._told())
        elif one.result is MetricClass.INVALID:
            outcome = Outcome.BLOCK if self.gate.on_incomplete == "block" else Outcome.INCOMPLETE
            yield self._rule("missing", outcome, wording.incomplete(one), one.missing_ids)
        else:
            yield from self._mode_rules()

    def _mode_rules(self) -> Iterator[Rule]:
        numbers = self._measured()
        if self._blocks(numbers):
            yield self._rule(self.rules.mode, Outcome.BLOCK, self._block_sentence(), self._blamed())
            return
        if self.rules.mode == "statistical":
            yield self._statistical_rule()
        elif self.compared.result is MetricClass.REGRESSED:
            yield self._rule(
                "not_blocking", Outcome.WARN, f"{self._told()} The gate's mode does not block it.", self.compared.worse
            )
        else:
            yield self._rule(self.rules.mode, Outcome.PASS, self._told())
        filled = self._filled()
        if filled is not None and (self._blocks(filled) or (self._floor_breached(filled) and not self._floor_breached(numbers))):
            yield self._rule("missing", Outcome.WARN, wording.adverse(self.compared), self.compared.missing_ids)

    def _statistical_rule(self) -> Rule:
        match self.compared.result:
            case MetricClass.INCONCLUSIVE:
                return self._rule("inconclusive", Outcome(self.gate.on_inconclusive), self._told(), self.compared.worse)
            case MetricClass.TOO_FEW_CASES:
                return self._rule(self.compared.reason, Outcome(self.gate.on_too_few_cases), self._told(), self.compared.worse)
            case _:
                return self._rule("statistical", Outcome.PASS, self._told(), self.compared.worse)

    def _blocks(self, numbers: _Numbers) -> bool:
        match self.rules.mode:
            case "statistical":
                return numbers.result is MetricClass.REGRESSED
            case "non_inferiority":
                return not self._is_shown_not_worse(numbers)
            case "threshold":
                return self._dropped(numbers) or self._floor_breached(numbers)
            case "strict":
                return numbers.newly_failing > self.rules.max_newly_failing
            case "report":
                return False

    def _is_shown_not_worse(self, numbers: _Numbers) -> bool:
        if numbers.result is MetricClass.NO_DIFFERENCE and self.compared.reason == "identical_outputs":
            return True
        return numbers.low is not None and numbers.low > -self._loss(self.rules.margin)

    def _dropped(self, numbers: _Numbers) -> bool:
        limit = self.rules.max_drop
        return limit is not None and numbers.estimate is not None and numbers.estimate < -self._loss(limit) - wording.TIE

    def _loss(self, limit: float) -> float:
        """A limit on the scale of the gains; for ratios 0.10 means ten percent more."""
        return math.log1p(limit) if self.compared.metric.kind == "ratio" else limit

    def _size(self, limit: float) -> str:
        return wording.size(self.compared, 1 + limit if self.compared.metric.kind == "ratio" else limit)

    def _floor_breached(self, numbers: _Numbers) -> bool:
        floor = self.rules.minimum
        return floor is not None and numbers.overall is not None and numbers.overall < floor - wording.TIE

    def _measured(self) -> _Numbers:
        one = self.compared
        difference = one.difference
        is_ratio, is_lower = one.metric.kind == "ratio", one.metric.direction == "lower"
        worst_end = difference.high if is_ratio and is_lower else difference.low
        return _Numbers(
            result=one.result,
            estimate=_log_gain(difference.estimate, lower=is_lower) if is_ratio else difference.estimate,
            low=_log_gain(worst_end, lower=is_lower) if is_ratio else difference.low,
            overall=one.candidate.overall,
            newly_failing=sum(case_id not in self.quarantined for case_id in one.newly_failing),
        )

    def _filled(self) -> _Numbers | None:
        filled = self.compared.adverse
        if filled is None:
            return None
        spared = sum(case_id in self.quarantined for case_id in (*self.compared.newly_failing, *self.compared.missing_ids))
        return _Numbers(
            result=filled.result, estimate=filled.estimate, low=filled.low, overall=filled.candidate_overall,
            newly_failing=filled.newly_failing - spared,
        )  # fmt: skip

    def _blamed(self) -> tuple[str, ...]:
        if self.rules.mode == "strict":
            return tuple(case_id for case_id in self.compared.newly_failing if case_id not in self.quarantined)
        return self.compared.worse

    def _block_sentence(self) -> str:
        one = self.compared
        match self.rules.mode:
            case "non_inferiority":
                margin = self._size(self.rules.margin)
                return f"The candidate could not be shown to be at most {margin} worse. {wording.moved(one, self.level)}"
            case "threshold" if self.rules.max_drop is not None and self._dropped(self._measured()):
                return f"The loss is larger than the {self._size(self.rules.max_drop)} allowed. {wording.moved(one, self.level)}"
            case "threshold":
                return wording.below_floor(one, self.rules.minimum)
            case "strict":
                failing, allowed = len(self._blamed()), self.rules.max_newly_failing
                return f"{wording.cases(failing)} newly failing; {allowed:,} allowed. Each passed every trial before and fewer than half now."
            case _:
                return self._told()

    def absolute_rules(self) -> Iterator[Rule]:
        """Yield breached floors and ceilings, which need no test; they hold for metrics that are not gated too."""
        one, rules = self.compared, self.rules
        if rules.minimum is not None and not (one.gated and rules.mode == "threshold" and self._was_decided()):
            if one.candidate.overall is None:
                yield self._rule(
                    "min", Outcome.INCOMPLETE, "There is a floor for the candidate, and no result to hold against it."
                )
            elif self._floor_breached(self._measured()):
                yield self._rule("min", Outcome.BLOCK, wording.below_floor(one, rules.minimum))
        yield from self._ratio_rules()

    def _ratio_rules(self) -> Iterator[Rule]:
        one, rules = self.compared, self.rules
        asked = rules.max_ratio is not None or rules.max_ratio_total is not None
        if asked and one.ratio_of_totals is None:
            yield self._rule(
                "no_measurement",
                Outcome.WARN,
                "There is a limit on the ratio, and no measurement on both arms to hold against it.",
            )
        if rules.max_ratio is not None and _exceeds(self._surest_ratio(), rules.max_ratio):
            sentence = f"The ratio is surely above the {rules.max_ratio:.3g} allowed. {wording.moved(one, self.level)}"
            yield self._rule("max_ratio", Outcome.BLOCK, sentence)
        if rules.max_ratio_total is not None and _exceeds(one.ratio_of_totals, rules.max_ratio_total):
            sentence = f"The candidate's total is {one.ratio_of_totals:.3g} times the baseline's; {rules.max_ratio_total:.3g} is allowed."
            yield self._rule("max_ratio_total", Outcome.BLOCK, sentence)

    def _surest_ratio(self) -> float | None:
        """The lower limit of the ratio; where all cases have one ratio there is no limit, and the test must speak for it."""
        found = self.compared.difference
        if found.low is not None or found.p_regress is None:
            return found.low
        return found.estimate if found.p_regress <= self.compared.alpha else None

    def _was_decided(self) -> bool:
        return self.compared.result is not MetricClass.INVALID and self.compared.reason not in {"no_pairs", "evaluator_changed"}

    def informational_rules(self) -> Iterator[Rule]:
        """Yield a possible regression, or an evaluator that broke down: each asks for a look and never blocks."""
        one = self.compared
        if one.result is MetricClass.INVALID and one.baseline.evaluator_errors + one.candidate.evaluator_errors:
            yield self._rule("evaluator_failed", Outcome.WARN, f"Not gated: {wording.incomplete(one)}", one.missing_ids)
        if self.compared.result is MetricClass.REGRESSED:
            found = wording.moved(self.compared, self.level)
            sentence = f"Possible regression, not gated: {found[:1].lower()}{found[1:]}"
            yield self._rule("possible_regression", Outcome.WARN, sentence, self.compared.worse)

    def _told(self) -> str:
        return wording.told(self.compared, self.level)

    def _rule(self, name: str, outcome: Outcome, sentence: str, case_ids: Sequence[str] = ()) -> Rule:
        return Rule(name=name, outcome=outcome, sentence=sentence, metric=self.compared.metric.name, case_ids=tuple(case_ids))


def _log_gain(ratio: float | None, *, lower: bool) -> float | None:
    if ratio is None or ratio <= 0:
        return None
    return -math.log(ratio) if lower else math.log(ratio)


def _exceeds(ratio: float | None, limit: float) -> bool:
    return ratio is not None and ratio > limit


# --- the run as a whole ---


def _has_run(comparison: Comparison) -> bool:
    """False when every case failed on both arms: a set-up that is wrong, and no two agents that are equal."""
    return any(record.status == "ok" for pair in comparison.pairs.values() for record in (*pair.baseline, *pair.candidate))


def _run_rules(comparison: Comparison) -> Iterator[Rule]:
    candidate = [record for pair in comparison.pairs.values() for record in pair.candidate]
    if not any(record.status == "ok" for record in candidate):
        yield Rule(name="no_ok_run", outcome=Outcome.INCOMPLETE, sentence="The candidate did not finish a single case.")
    sets = comparison.cases
    before = len(sets.paired) + len(sets.missing) + len(sets.modified) + len(sets.removed)
    if len(sets.removed) > REMOVED_SHARE * before:
        sentence = f"{len(sets.removed):,} of the baseline's {wording.cases(before)} were removed; they are not compared."
        yield Rule(name="removed", outcome=Outcome.WARN, sentence=sentence, case_ids=sets.removed)

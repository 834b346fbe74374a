"""Cases that may not fail, whatever the baseline did.

In: a Comparison, the gate's settings, the rules of the gated metrics. Out: Rules. ConfigError for an id that nobody has. Pure.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from ci_eval.compare import wording
from ci_eval.compare.observations import observe
from ci_eval.compare.pairing import needed_trials
from ci_eval.compare.spec import GateSpec, MetricRules
from ci_eval.domain.comparison import Comparison, Outcome, Rule
from ci_eval.errors import ConfigError, Problem


def must_pass_rules(comparison: Comparison, gate: GateSpec, gated: Sequence[MetricRules]) -> Iterator[Rule]:
    """Yield what the must-pass cases of the candidate say about each gated metric; quarantined cases say nothing."""
    wanted = gate.must_pass
    if not wanted.ids and not wanted.tags:
        return
    _refuse_unknown(wanted.ids, comparison)
    named = {
        case_id for case_id, pair in comparison.pairs.items() if case_id in wanted.ids or _has_tag(pair.shown.tags, wanted.tags)
    }
    if not named:
        yield Rule(name="must_pass", outcome=Outcome.WARN, sentence="No case carries a must-pass tag.")
    deciding = [rules for rules in gated if rules.tells_pass_from_fail]
    if not deciding:
        message = "no gated metric tells pass from fail, so no case can fail to pass"
        raise ConfigError(
            Problem(code="must_pass", field="gate.must_pass", message=message, hint="gate a metric with a threshold")
        )
    quarantined = {entry.case for entry in gate.quarantine}
    for rules in deciding:
        yield from _must_pass_of(comparison, rules, sorted(named - quarantined))


def _must_pass_of(comparison: Comparison, rules: MetricRules, case_ids: Sequence[str]) -> Iterator[Rule]:
    needed = needed_trials(comparison.candidate.trials)
    failed, unknown = [], []
    for case_id in case_ids:
        pair = comparison.pairs[case_id]
        score = observe(pair.candidate, rules, arm="candidate", needed=needed)
        passed = score.passes()
        if passed is not None and 2 * passed < len(score.usable):
            failed.append(case_id)
        if passed is None and not (score.is_outside and observe(pair.baseline, rules, arm="baseline", needed=1).is_outside):
            unknown.append(case_id)
    name = rules.metric.name
    if failed:
        sentence = f"{wording.cases(len(failed))} that must pass failed."
        yield Rule(name="must_pass", outcome=Outcome.BLOCK, sentence=sentence, metric=name, case_ids=tuple(failed))
    if unknown:
        sentence = f"{wording.cases(len(unknown))} that must pass could not be evaluated."
        yield Rule(name="must_pass", outcome=Outcome.INCOMPLETE, sentence=sentence, metric=name, case_ids=tuple(unknown))


def _refuse_unknown(ids: Sequence[str], comparison: Comparison) -> None:
    problems = []
    for case_id in ids:
        if case_id not in comparison.pairs:
            near = difflib.get_close_matches(case_id, list(comparison.pairs), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "use the id as the dataset spells it"
            message = f"no arm has a case with the id {case_id!r}"
            problems.append(Problem(code="unknown_case", field="gate.must_pass.ids", message=message, hint=hint))
    if problems:
        raise ConfigError(problems)


def _has_tag(tags: Sequence[str], wanted: Sequence[str]) -> bool:
    return not set(tags).isdisjoint(wanted)

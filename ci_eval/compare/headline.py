"""The first line of a report: our own words only.

In: an outcome and its rules. Out: a line. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.domain.comparison import MetricClass, Outcome, Rule

NO_REGRESSION = "No regression found."
NO_DIFFERENCE = "No relevant difference."
IMPROVED = "Improved."
REGRESSION = "Regression: merging is blocked."
INCOMPLETE = "Evaluation incomplete: no verdict."
UNDECIDED_REASONS = {
    "few_cases": "too few cases for a verdict.",
    "unattainable": "too many gated metrics for so few cases.",
    "no_pairs": "there is no comparable baseline.",
    "not_comparable": "the two runs were scored differently.",
    "inconclusive": "no clear change was found.",
    "missing": "a missing result could have turned it.",
    "must_pass": "a must-pass rule matches no case.",
    "removed": "many of the baseline's cases were removed.",
    "not_blocking": "a loss was found that the gate's mode lets pass.",
    "no_measurement": "a limit on a measurement could not be checked.",
    "evaluator_failed": "an evaluator that is not gated failed.",
    "possible_regression": "a metric that is not gated may have regressed.",
}
"""What a warning's headline says, by the name of its first rule."""
BLOCKED_FOR = {
    "missing": "Evaluation incomplete: merging is blocked.",
    "no_ok_run": "Evaluation incomplete: merging is blocked.",
    "no_score": "Evaluation incomplete: merging is blocked.",
}
"""A block without a regression; every other undecided rule that is set to block says `No decision: merging is blocked.`"""
UNDECIDED = frozenset({"few_cases", "unattainable", "no_pairs", "not_comparable", "inconclusive"})


def headline_of(outcome: Outcome, rules: Sequence[Rule], gated: Sequence[MetricClass]) -> str:
    """Say the verdict in one line; `rules` worst first, `gated`: the classes of the gated metrics."""
    match outcome:
        case Outcome.INCOMPLETE:
            return INCOMPLETE
        case Outcome.BLOCK:
            blocking = [rule.name for rule in rules if rule.outcome is Outcome.BLOCK]
            if all(name in UNDECIDED or name in BLOCKED_FOR for name in blocking):
                return BLOCKED_FOR.get(blocking[0], "No decision: merging is blocked.")
            return REGRESSION
        case Outcome.WARN:
            return f"No decision: {UNDECIDED_REASONS[rules[0].name]}"
        case Outcome.PASS:
            return _calm_headline(gated)


def _calm_headline(results: Sequence[MetricClass]) -> str:
    if MetricClass.IMPROVED in results:
        return IMPROVED
    return NO_DIFFERENCE if all(result is MetricClass.NO_DIFFERENCE for result in results) else NO_REGRESSION

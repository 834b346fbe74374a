"""Sentences of our own words, with names from outside marked as such.

In: a comparison, a verdict. Out: `Sentence`s, which every format prints in its own way: words as words, quotes as code.
Must not compute: numbers come ready from the comparison, and only `numbers.py` writes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ci_eval.domain.comparison import ArmUsage, Comparison, MetricClass, MetricComparison, Outcome, Rule, Verdict
from ci_eval.domain.results import CaseResult
from ci_eval.domain.sample import SampleStatus, is_infrastructure
from ci_eval.domain.score import ScoreStatus
from ci_eval.report import numbers

SHOWN_IDS: Final = 10
NAMED_CASES: Final = 50
"""Broken and fixed cases that are named although there was no room to tell them."""
NAME_LENGTH: Final = 60  # characters of a case id
SHOWN_CODES: Final = 5
SHOWN_METRICS: Final = 8

EMOJI: Final = {Outcome.PASS: "✅", Outcome.WARN: "⚠️", Outcome.BLOCK: "❌", Outcome.INCOMPLETE: "⛔"}


@dataclass(frozen=True, slots=True)
class Quote:
    """Text from outside within a sentence."""

    text: str
    ends_matter: bool = False
    """True for what a program said: if it is long, it is cut in the middle, because the last words tell why it stopped."""


Sentence: TypeAlias = tuple[str | Quote, ...]


def headline_in_title(verdict: Verdict) -> str:
    """`Regression: merging is blocked.` -> `regression, merging is blocked`, to stand behind the title's colon."""
    words = verdict.headline.strip().rstrip(".")
    return (words[:1].lower() + words[1:]).replace(": ", ", ", 1)


def rule_sentence(rule: Rule, *, list_cases: bool) -> Sentence:
    """The rule's own sentence, its metric quoted, and the cases it names."""
    sentence = rule.sentence.strip()
    said = _quoting(sentence, rule.metric)
    if rule.metric and Quote(rule.metric) not in said:
        said = (Quote(rule.metric), f" — {sentence[:1].lower()}{sentence[1:]}")
    if not (list_cases and rule.case_ids):
        return said
    return (*said, " Case: " if len(rule.case_ids) == 1 else " Cases: ", *ids(rule.case_ids), ".")


def ids(case_ids: Sequence[str], shown: int = SHOWN_IDS) -> Sentence:
    """List case ids, the first few by name and the rest as a number."""
    listed: list[str | Quote] = []
    for case_id in case_ids[:shown]:
        listed += [", ", Quote(case_id)] if listed else [Quote(case_id)]
    if len(case_ids) > shown:
        listed.append(f" and {len(case_ids) - shown:,} more")
    return tuple(listed)


def trouble_sentences(comparison: Comparison) -> tuple[Sentence, ...]:
    """Say in words what failed, was left out or was skipped, on both arms; nothing when all went well."""
    baseline, candidate = comparison.usage_baseline, comparison.usage_candidate
    agent = (candidate.agent_errors, baseline.agent_errors)
    infra = (candidate.infra_errors, baseline.infra_errors)
    told = (
        _with_cause(
            _arms(
                *agent,
                nouns=("agent error", "agent errors"),
                fate="counted as failures of the agent",
                codes=_agent_codes(candidate),
            ),
            _failures(comparison, "error", infrastructure=False),
        ),
        _with_cause(
            _arms(*infra, nouns=("infrastructure error", "infrastructure errors"), fate="left out, counted against nobody"),
            _failures(comparison, "error", infrastructure=True),
        ),
        _with_cause(
            _arms(candidate.not_run, baseline.not_run, nouns=("planned run", "planned runs"), fate="never started"),
            _failures(comparison, "not_run"),
        ),
        _with_cause(_evaluator_errors(comparison.metrics), _unscored(comparison, "error")),
        _with_cause(_skipped(comparison.metrics), _unscored(comparison, "skipped")),
        _overall(comparison),
    )
    return tuple(sentence for sentence in told if sentence)


def sensitivity_sentence(compared: MetricComparison) -> Sentence:
    """Say how large a loss could stay unseen: the minimum detectable effect."""
    cases = f"With {'this' if compared.n == 1 else 'these'} {numbers.plural(compared.n, 'case')}"
    if compared.minimum_detectable is None:
        return (f"{cases} no loss of ", Quote(compared.metric.name), " would reliably be noticed.")
    size = numbers.amount(compared.minimum_detectable, compared.metric)
    return (f"{cases} a true loss of less than about {size} in ", Quote(compared.metric.name), " would usually go unnoticed.")


def gate_sentences(comparison: Comparison, verdict: Verdict) -> tuple[Sentence, ...]:
    """Say in words what the gate asks of its metrics, and how many cases a proof takes."""
    names = {rule.name for rule in verdict.rules}
    said = [words for rules, words in _GATE_WORDS if names & rules]
    asked: list[Sentence] = [(f"gate: {'; '.join(said)}",)] if said else []
    for compared in comparison.metrics[:SHOWN_METRICS]:
        if compared.gated and compared.n:
            net = numbers.plural(compared.smallest_provable, "more case")
            verb = "gets" if compared.smallest_provable == 1 else "get"
            asked.append((Quote(compared.metric.name), f": a loss can be told from chance once {net} {verb} worse than better"))
    return tuple(asked)


def verdict_word(compared: MetricComparison) -> str:
    """Name the class of a metric as a reader says it."""
    if compared.result is MetricClass.REGRESSED and not compared.gated:
        return "possible regression"
    if compared.reason == "identical_outputs":
        return "identical outputs"
    return _CLASS_WORDS[compared.result]


def class_mark(compared: MetricComparison) -> str:
    """The sign in front of a metric; never the only carrier of its meaning."""
    if compared.result is MetricClass.REGRESSED and not compared.gated:
        return "⚠️"
    return _CLASS_MARKS[compared.result]


_GATE_WORDS: Final = (
    (
        frozenset({"statistical", "inconclusive", "few_cases", "unattainable"}),
        "a gated metric blocks when it fell by more than chance explains (exact sign-flip test on the pairs, Holm over the gated metrics)",
    ),
    (frozenset({"non_inferiority"}), "a metric blocks unless the candidate is shown to be at most its margin worse"),
    (frozenset({"threshold", "min"}), "a metric blocks below its floor or when it fell by more than allowed"),
    (frozenset({"strict"}), "a metric blocks when more cases newly fail than allowed"),
    (frozenset({"must_pass"}), "must-pass cases block when they fail, whatever the baseline did"),
    (frozenset({"max_ratio", "max_ratio_total"}), "a measurement blocks above the ratio allowed"),
    (frozenset({"missing", "no_ok_run", "no_score"}), "there is no verdict when more results are missing than allowed"),
    (frozenset({"report", "not_blocking"}), "losses are reported and don't block"),
)
"""What each rule asks, by the rules that spoke."""

_CLASS_WORDS: Final = {
    MetricClass.IMPROVED: "improved",
    MetricClass.REGRESSED: "regressed",
    MetricClass.NO_DIFFERENCE: "no difference",
    MetricClass.INCONCLUSIVE: "inconclusive",
    MetricClass.TOO_FEW_CASES: "too few cases",
    MetricClass.INVALID: "incomplete",
    MetricClass.CHANGED: "changed",
}
_CLASS_MARKS: Final = {
    MetricClass.IMPROVED: "✅",
    MetricClass.REGRESSED: "❌",
    MetricClass.NO_DIFFERENCE: "➖",
    MetricClass.INCONCLUSIVE: "🔍",
    MetricClass.TOO_FEW_CASES: "🔍",
    MetricClass.INVALID: "⛔",
    MetricClass.CHANGED: "🔀",
}


def _quoting(sentence: str, name: str | None) -> Sentence:
    """Split a sentence at a metric's name, so that each format can print the name as it prints names."""
    if not name:
        return (sentence,)
    parts = re.split(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", sentence)
    said: list[str | Quote] = [parts[0]]
    for part in parts[1:]:
        said += [Quote(name), part]
    return tuple(part for part in said if part != "")


def _arms(candidate: int, baseline: int, *, nouns: tuple[str, str], fate: str, codes: Sentence = ()) -> Sentence:
    """`2 agent errors on the candidate (`timeout` 2×) and 1 on the baseline, counted as failures of the agent.`."""
    where: list[str | Quote] = []
    if candidate:
        where += [f"{numbers.plural(candidate, *nouns)} on the candidate", *codes]
    if baseline:
        counted = f" and {baseline:,}" if candidate else numbers.plural(baseline, *nouns)
        where.append(f"{counted} on the baseline")
    return (*where, f", {fate}.") if where else ()


def _agent_codes(usage: ArmUsage) -> Sentence:
    """Which errors of the agent there were."""
    own = [(code, count) for code, count in sorted(usage.failures.items()) if not is_infrastructure(code)]
    listed: list[str | Quote] = []
    for code, count in own[:SHOWN_CODES]:
        listed += [", " if listed else " (", Quote(code), f" {count:,}×"]
    return (*listed, ")") if listed else ()


def _records(comparison: Comparison) -> Iterator[CaseResult]:
    """All records that were compared, the candidate's first: it is the one to repair."""
    for pair in comparison.pairs.values():
        yield from pair.candidate
    for pair in comparison.pairs.values():
        yield from pair.baseline


def _failures(comparison: Comparison, status: SampleStatus, *, infrastructure: bool | None = None) -> Iterator[str]:
    """What the records of this status say about it; None: whoever is to blame."""
    for record in _records(comparison):
        failure = record.failure if record.status == status else None
        if failure is not None and infrastructure in (None, failure.is_infrastructure):
            yield failure.message


def _unscored(comparison: Comparison, status: ScoreStatus) -> Iterator[str]:
    for record in _records(comparison):
        yield from (score.reason for score in record.scores.values() if score.status == status)


def _with_cause(sentence: Sentence, messages: Iterable[str]) -> Sentence:
    """Add the commonest cause in its own words, among equals the first; nothing to nothing."""
    found = Counter(messages).most_common(1)
    return (*sentence, " Most often: ", Quote(found[0][0], ends_matter=True), ".") if sentence and found else sentence


def _evaluator_errors(metrics: Sequence[MetricComparison]) -> Sentence:
    failed = [one for one in metrics if one.candidate.evaluator_errors or one.baseline.evaluator_errors]
    return _per_metric(
        "Evaluator errors, left out: ",
        [(one, one.candidate.evaluator_errors, one.baseline.evaluator_errors) for one in failed],
    )


def _skipped(metrics: Sequence[MetricComparison]) -> Sentence:
    skipped = [one for one in metrics if one.candidate.skipped or one.baseline.skipped]
    return _per_metric(
        "Skipped where a metric does not apply: ",
        [(one, one.candidate.skipped, one.baseline.skipped) for one in skipped],
    )


def _overall(comparison: Comparison) -> Sentence:
    """What each arm reaches over all that it scored, where the pairs are only a part of that; not for scores of another kind."""
    told: list[str | Quote] = []
    for compared in comparison.metrics[:SHOWN_METRICS]:
        is_wider = max(compared.baseline.overall_n, compared.candidate.overall_n) > compared.n
        if not compared.gated or not is_wider or compared.reason == "evaluator_changed":
            continue
        before = numbers.overall(compared.baseline, compared.metric, comparison.baseline.trials)
        after = numbers.overall(compared.candidate, compared.metric, comparison.candidate.trials)
        opening = "; " if told else "Over all cases with a score, compared or not: "
        told += [opening, Quote(compared.metric.name), f" {before} on the baseline, {after} on the candidate"]
    return (*told, ".") if told else ()


def _per_metric(opening: str, counts: Sequence[tuple[MetricComparison, int, int]]) -> Sentence:
    """`Skipped …: `a` 3, `b` 4 (baseline 2).`; one number where the arms agree."""
    if not counts:
        return ()
    told: list[str | Quote] = [opening]
    for position, (compared, candidate, baseline) in enumerate(counts[:SHOWN_METRICS]):
        words = f" {candidate:,}" if candidate == baseline else f" {candidate:,} (baseline {baseline:,})"
        told += [", "] if position else []
        told += [Quote(compared.metric.name), words]
    if len(counts) > SHOWN_METRICS:
        told.append(f" and {len(counts) - SHOWN_METRICS:,} more metrics")
    return (*told, ".")

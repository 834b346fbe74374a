"""The gate: every mode, every outcome, every first line; and no way from something broken to a pass."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ci_eval.compare.gate import apply_gate
from ci_eval.domain.comparison import Outcome, Rule, Verdict
from ci_eval.domain.results import RunResult
from ci_eval.errors import ConfigError
from tests.builders import binary, both, count, marks, run, score_metric, scores_run
from tests.compare.comparing import compared, gated, settings

PASS, WARN, BLOCK, INCOMPLETE = Outcome.PASS, Outcome.WARN, Outcome.BLOCK, Outcome.INCOMPLETE


def ask(before: str, after: str, gate: dict[str, object] | None = None, **metrics: dict[str, object]) -> Verdict:
    """Ask about two rows of marks; the candidate speaks with another voice."""
    return gated(run(marks(before)), run(marks(after), voice="x"), gate, metrics)


def rule(verdict: Verdict, name: str) -> Rule:
    return next(one for one in verdict.rules if one.name == name)


@pytest.mark.parametrize(
    ("before", "after", "gate", "outcome", "headline"),
    [
        ("✓" * 20, "✓" * 20, {}, PASS, "No regression found."),
        ("✓" * 60, "✓" * 60, {}, PASS, "No relevant difference."),
        ("✗" * 20, "✓" * 20, {}, PASS, "Improved."),
        ("✓" * 20, "✗" * 5 + "✓" * 15, {}, BLOCK, "Regression: merging is blocked."),
        ("✓" * 8, "✓" * 8, {}, WARN, "No decision: too few cases for a verdict."),
        ("✓" * 8, "✓" * 8, {"on_too_few_cases": "pass"}, PASS, "No regression found."),
        ("✓" * 8, "✓" * 8, {"on_too_few_cases": "block"}, BLOCK, "No decision: merging is blocked."),
        ("✓" * 20, "✓" * 20, {"on_inconclusive": "warn"}, WARN, "No decision: no clear change was found."),
        ("✓" * 20, "✓" * 20, {"on_inconclusive": "block"}, BLOCK, "No decision: merging is blocked."),
        ("✓" * 20, "✓" * 18 + "--", {}, INCOMPLETE, "Evaluation incomplete: no verdict."),
        ("✓" * 20, "✓" * 18 + "--", {"on_incomplete": "block"}, BLOCK, "Evaluation incomplete: merging is blocked."),
        ("✓" * 20, "✓" * 18 + "--", {"max_missing": 0.1}, PASS, "No regression found."),
        ("." * 20, "✓" * 20, {}, WARN, "No decision: there is no comparable baseline."),
        ("." * 20, "✓" * 20, {"on_no_baseline": "block"}, BLOCK, "No decision: merging is blocked."),
        ("." * 20, "✓" * 20, {"on_no_baseline": "pass"}, PASS, "No regression found."),
        ("✓" * 20, "?" * 20, {}, INCOMPLETE, "Evaluation incomplete: no verdict."),
        ("~" * 20, "~" * 20, {}, INCOMPLETE, "Evaluation incomplete: no verdict."),
        ("~" * 20, "~" * 20, {"on_incomplete": "block"}, BLOCK, "Evaluation incomplete: merging is blocked."),
        ("✓" * 20, "!" * 20, {}, BLOCK, "Regression: merging is blocked."),
        ("!" * 20, "!" * 20, {}, INCOMPLETE, "Evaluation incomplete: no verdict."),
    ],
)
def test_outcomes_and_first_lines(before: str, after: str, gate: dict[str, object], outcome: Outcome, headline: str) -> None:
    verdict = ask(before, after, gate)
    assert (verdict.outcome, verdict.headline) == (outcome, headline)


def test_equal_outputs_pass_and_say_so() -> None:
    same = run(marks("✓" * 45 + "✗" * 5))
    verdict = gated(same, same)
    assert (verdict.outcome, verdict.headline) == (PASS, "No relevant difference.")
    assert verdict.rules[0].sentence == "All 50 outputs are identical to the baseline's; nothing could change on these runs."


def test_a_regression_is_told_with_sizes_and_cases() -> None:
    verdict = ask("✓" * 42 + "✗" * 8, "✗" * 8 + "✓" * 35 + "✗" * 7)
    told = verdict.rules[0]
    assert told.sentence.startswith(
        "The rate fell from 84.0 % to 70.0 % (−14.0 points, 90 % interval −24.7 to −4.9) on the same 50 cases: "
    )
    assert "8 cases got worse, 1 got better." in told.sentence
    assert told.case_ids == tuple(f"c00{n}" for n in range(1, 9))
    assert (told.name, told.metric) == ("statistical", "task_success")


def test_no_regression_comes_with_the_size_that_could_be_hidden() -> None:
    sentence = ask("✓" * 20, "✗" * 3 + "✓" * 17).rules[0].sentence
    assert "less than about 27.8 points would usually go unnoticed" in sentence
    assert "A loss of up to 32.2 points is compatible" in sentence
    assert "Borderline: one more loss" in sentence


def test_missing_results_are_counted_by_cause() -> None:
    sentence = ask("✓" * 50, "✓" * 46 + "???#").rules[0].sentence
    assert sentence.startswith(
        "4 of 50 cases have no comparable result (candidate: 3 infrastructure errors, 1 evaluator error); at most 2 may be missing."
    )
    assert "This is not a pass" in sentence


def test_a_missing_case_that_could_have_turned_the_result_warns() -> None:
    verdict = ask("✓" * 40, "✗" * 3 + "✓" * 36 + "-")
    assert (verdict.outcome, verdict.headline) == (WARN, "No decision: a missing result could have turned it.")
    assert rule(verdict, "missing").sentence == "1 case could not be evaluated. If it had failed, the gate would have blocked."
    assert rule(verdict, "missing").case_ids == ("c040",)


def test_a_regression_beside_something_incomplete_blocks_and_lists_both() -> None:
    other = binary("other")
    before = both(run(marks("✓" * 20)), run(marks("✓" * 20), metric=other))
    after = both(run(marks("✗" * 9 + "✓" * 11)), run(marks("✓" * 10 + "#" * 10), metric=other))
    verdict = gated(before, after, {"metrics": ["task_success", "other"]})
    assert verdict.outcome is BLOCK
    assert [(one.outcome, one.metric) for one in verdict.rules] == [(BLOCK, "task_success"), (INCOMPLETE, "other")]


def test_the_family_pays_for_every_gated_metric() -> None:
    before = both(run(marks("✓" * 20)), run(marks("✓" * 20), metric=binary("other")))
    after = both(run(marks("✗" * 4 + "✓" * 16)), run(marks("✓" * 20), metric=binary("other")))
    assert gated(before, after, {"metrics": ["task_success"]}).outcome is BLOCK
    assert gated(before, after, {"metrics": ["task_success", "other"]}).outcome is PASS


def test_agents_that_fail_everywhere_are_not_told_to_be_equal() -> None:
    verdict = gated(run(marks("!" * 20)), run(marks("!" * 20)))
    assert (verdict.outcome, [one.name for one in verdict.rules]) == (INCOMPLETE, ["no_ok_run"])


def test_a_possible_regression_that_is_not_gated_only_warns() -> None:
    before = both(run(marks("✓" * 20)), run(marks("✓" * 20), metric=binary("other")))
    after = both(run(marks("✓" * 20), voice="x"), run(marks("✗" * 9 + "✓" * 11), metric=binary("other")))
    verdict = gated(before, after)
    assert (verdict.outcome, verdict.headline) == (WARN, "No decision: a metric that is not gated may have regressed.")
    assert rule(verdict, "possible_regression").metric == "other"
    assert rule(verdict, "possible_regression").sentence.startswith(
        "Possible regression, not gated: the rate fell from 100.0 % to 55.0 %"
    )


def test_an_evaluator_that_broke_down_is_no_silent_pass_although_nothing_is_gated_on_it() -> None:
    before = both(run(marks("✓" * 20)), run(marks("✓" * 20), metric=binary("other")))
    after = both(run(marks("✓" * 20), voice="x"), run(marks("#" * 20), metric=binary("other")))
    verdict = gated(before, after)
    assert (verdict.outcome, verdict.headline) == (WARN, "No decision: an evaluator that is not gated failed.")
    assert "20 evaluator errors" in rule(verdict, "evaluator_failed").sentence


def test_runs_scored_differently_are_not_compared() -> None:
    verdict = gated(run(marks("✓" * 20), metric=binary(fingerprint="1")), run(marks("✗" * 20), metric=binary(fingerprint="2")))
    assert (verdict.outcome, verdict.headline) == (WARN, "No decision: the two runs were scored differently.")


def test_many_removed_cases_warn() -> None:
    before = run(marks("✓" * 20), dataset="old")
    after = run(marks("✓" * 17), dataset="new", voice="x")
    verdict = gated(before, after)
    assert verdict.headline == "No decision: many of the baseline's cases were removed."
    assert rule(verdict, "removed").case_ids == ("c018", "c019", "c020")
    assert gated(before, run(marks("✓" * 18), dataset="new", voice="x")).outcome is PASS


# Modes


@pytest.mark.parametrize(
    ("mode", "settings", "after", "outcome"),
    [
        ("strict", {}, "✓" * 20, PASS),
        ("strict", {}, "✗" + "✓" * 19, BLOCK),
        ("strict", {"max_newly_failing": 1}, "✗" + "✓" * 19, PASS),
        ("strict", {}, "✓" * 19 + "-", WARN),
        ("threshold", {"min": 0.9}, "✗" + "✓" * 19, PASS),
        ("threshold", {"min": 0.95}, "✗" + "✓" * 19, PASS),
        ("threshold", {"min": 0.96}, "✗" + "✓" * 19, BLOCK),
        ("threshold", {"max_drop": 0.05}, "✗" + "✓" * 19, PASS),
        ("threshold", {"max_drop": 0.04}, "✗" + "✓" * 19, BLOCK),
        ("threshold", {"max_drop": 0.04}, "✓" * 19 + "-", WARN),
        ("non_inferiority", {}, "✓" * 20, BLOCK),
        ("non_inferiority", {"margin": 0.2}, "✓" * 20, PASS),
        ("report", {}, "✓" * 20, PASS),
        ("report", {}, "✗" * 20, WARN),
        ("report", {}, "✓" * 18 + "--", INCOMPLETE),
        ("threshold", {"max_drop": 0.9}, "✗" * 10 + "✓" * 10, WARN),
        ("statistical", {"min": 0.96}, "✗" + "✓" * 19, BLOCK),
        ("statistical", {"alpha": 0.1}, "✗" * 3 + "✓" * 17, BLOCK),
    ],
)
def test_modes(mode: str, settings: dict[str, object], after: str, outcome: Outcome) -> None:
    assert ask("✓" * 20, after, task_success={"mode": mode, **settings}).outcome is outcome


def test_non_inferiority_is_proved_by_enough_cases_and_by_equal_outputs() -> None:
    assert ask("✓" * 60, "✓" * 60, {"mode": "non_inferiority"}).outcome is PASS
    same = run(marks("✓" * 20))
    assert gated(same, same, {"mode": "non_inferiority"}).outcome is PASS


def test_a_case_newly_fails_when_it_passed_always_and_now_less_than_half_the_time() -> None:
    before = run("a✓✓✓ b✓✓✓ c✓✓✗ d✓✓✓")
    after = run("a✗✗✓ b✓✓✗ c✗✗✗ d✓✓✓")
    verdict = gated(before, after, {"mode": "strict"})
    assert verdict.rules[0].case_ids == ("a",)
    assert verdict.rules[0].sentence.startswith("1 case newly failing; 0 allowed.")


def test_a_floor_counts_added_cases_and_needs_no_baseline() -> None:
    verdict = ask("." * 10, "✓" * 6 + "✗" * 4, task_success={"min": 0.7})
    assert verdict.outcome is BLOCK
    assert rule(verdict, "min").sentence == "The candidate reaches 60.0 % over its 10 cases; at least 70.0 % is asked."


def test_a_floor_without_any_result_is_no_pass() -> None:
    assert rule(ask("✓" * 10, "?" * 10, task_success={"min": 0.7}), "min").outcome is INCOMPLETE


def priced(factor: float) -> RunResult:
    made = run(marks("✓" * 30), voice=str(factor))
    return replace(made, records=tuple(replace(one, cost_usd=factor * (1 + n % 5)) for n, one in enumerate(made.records)))


@pytest.mark.parametrize(
    ("spec", "name", "outcome"),
    [
        ({"max_ratio": 1.5}, "max_ratio", BLOCK),
        ({"max_ratio": 2.5}, "possible_regression", WARN),
        ({"max_ratio_total": 1.9}, "max_ratio_total", BLOCK),
    ],
)
def test_a_budget_blocks_without_being_gated(spec: dict[str, object], name: str, outcome: Outcome) -> None:
    verdict = gated(priced(1.0), priced(2.0), metrics={"cost_usd": spec})
    assert (verdict.outcome, verdict.rules[0].name) == (outcome, name)


def test_one_expensive_case_proves_no_ratio() -> None:
    before = priced(1.0)
    after = replace(before, records=(replace(before.records[0], cost_usd=100.0, output_digest="x"), *before.records[1:]))
    assert gated(before, after, metrics={"cost_usd": {"max_ratio": 1.01}}).outcome is PASS
    assert gated(before, after, metrics={"cost_usd": {"max_ratio_total": 2}}).outcome is BLOCK


def test_a_budget_that_cannot_be_checked_is_named() -> None:
    verdict = gated(run("a✓"), run("a✓"), metrics={"cost_usd": {"max_ratio_total": 1.5}})
    assert rule(verdict, "no_measurement").outcome is WARN


# Must pass, quarantine


def test_a_must_pass_case_blocks_whatever_the_baseline_did() -> None:
    tags = {"c001": ["critical"]}
    before, after = run(marks("✗" + "✓" * 19), tags=tags), run(marks("✗" + "✓" * 19), tags=tags, voice="x")
    verdict = gated(before, after, {"must_pass": {"tags": ["critical"]}})
    assert (verdict.outcome, rule(verdict, "must_pass").case_ids) == (BLOCK, ("c001",))
    assert gated(before, after, {"must_pass": {"ids": ["c002"]}}).outcome is PASS


def test_a_must_pass_case_without_a_result_is_no_pass() -> None:
    gate = {"must_pass": {"ids": ["c001"]}, "max_missing": 0.1}
    assert rule(ask("✓" * 20, "?" + "✓" * 19, gate), "must_pass").outcome is INCOMPLETE
    assert ask("~" + "✓" * 19, "~" + "✓" * 19, gate).outcome is PASS


def test_half_of_the_trials_are_enough_for_must_pass() -> None:
    before = run("a✓✓ b✓✓")
    assert [one.name for one in gated(before, run("a✓✗ b✓✓"), {"must_pass": {"ids": ["a"]}}).rules if one.outcome is BLOCK] == []


def test_must_pass_reads_pass_or_fail_as_configured() -> None:
    metric = score_metric("task_success", threshold=0.5)
    before, after = scores_run({"a": 0.9, "b": 0.9}, metric=metric), scores_run({"a": 0.4, "b": 0.9}, metric=metric)
    verdict = gated(before, after, {"must_pass": {"ids": ["a"]}}, {"task_success": {"kind": "binary"}})
    assert rule(verdict, "must_pass").case_ids == ("a",)


def test_a_must_pass_id_that_nobody_has_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="no arm has a case with the id 'c0001'"):
        ask("✓" * 10, "✓" * 10, {"must_pass": {"ids": ["c0001"]}})


def test_a_must_pass_tag_that_nobody_carries_warns() -> None:
    assert (
        ask("✓" * 20, "✓" * 20, {"must_pass": {"tags": ["critcal"]}}).headline == "No decision: a must-pass rule matches no case."
    )


def test_must_pass_needs_a_metric_that_can_fail() -> None:
    with pytest.raises(ConfigError, match="tells pass from fail"):
        gated(scores_run({"a": 0.5}), scores_run({"a": 0.5}), {"must_pass": {"ids": ["a"]}})


def quarantine(case_id: str, until: str) -> list[dict[str, str]]:
    return [{"case": case_id, "until": until, "reason": "flaky upstream"}]


def test_quarantine_spares_strict_and_must_pass_but_no_rate() -> None:
    gate = {"mode": "strict", "must_pass": {"ids": ["c001"]}, "quarantine": quarantine("c001", "2026-02-01")}
    before, after = run(marks("✓" * 20)), run(marks("✗" + "✓" * 19))
    assert gated(before, after, gate).outcome is PASS
    assert compared(before, after, gate).metrics[0].candidate.estimate == 0.95


def test_quarantine_that_ran_out_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="ran out on 2026-01-31"):
        ask("✓", "✓", {"quarantine": quarantine("c001", "2026-01-31")})


# Laws


def test_nothing_gated_is_no_verdict() -> None:
    comparison = compared(run("a✓"), run("a✓"))
    nothing = replace(comparison, metrics=())
    chosen = settings()
    assert apply_gate(nothing, chosen.gate, chosen.metrics, date(2026, 2, 1)).outcome is INCOMPLETE


picture = st.lists(st.tuples(st.sampled_from("✓✗!?#~s-."), st.sampled_from("✓✗!?#~s-.")), min_size=1, max_size=25)


@given(cases=picture, mode=st.sampled_from(["statistical", "strict", "report", "non_inferiority"]))
@hypothesis_settings(max_examples=80, deadline=None)
def test_a_pass_always_rests_on_results(cases: list[tuple[str, str]], mode: str) -> None:
    before, after = "".join(one[0] for one in cases), "".join(one[1] for one in cases)
    comparison = compared(run(marks(before)), run(marks(after), voice="x"), {"mode": mode})
    verdict = ask(before, after, {"mode": mode})
    one = comparison.metrics[0]
    if verdict.outcome is PASS:
        assert one.n > 0
        assert one.missing <= 0.05 * (one.n + one.missing)
        assert verdict.headline in {"No regression found.", "No relevant difference.", "Improved."}
    if not set(after) & set("✓✗#~"):
        assert verdict.outcome in {INCOMPLETE, BLOCK}
    assert all("c0" not in told.sentence for told in verdict.rules)
    assert all(re.search(r"\bNone\b|nan|\{|  ", told.sentence) is None for told in verdict.rules)
    assert ask(before, after, {"mode": mode}) == verdict


def test_counts_that_fall_are_told_as_they_are_printed() -> None:
    before = scores_run({f"c{n}": 3 for n in range(12)}, metric=count())
    after = scores_run({f"c{n}": 5 for n in range(12)}, metric=count())
    sentence = gated(before, after, {"metrics": ["policy_breaks"]}).rules[0].sentence
    assert sentence.startswith("The mean rose from 3 to 5 (+2) on the same 12 cases: 12 cases got worse, none got better.")


def test_where_no_case_changed_nothing_is_said_of_those_that_did() -> None:
    told = gated(run(marks("✓" * 20)), run(marks("✓" * 20), voice="x")).rules[0].sentence
    assert told.startswith("No clear change: no case changed. With these 20 cases")


@pytest.mark.parametrize(
    ("changes", "mode", "words"),
    [
        ({"direction": "none"}, "statistical", "cannot be gated"),
        ({}, "strict", "nothing passes or fails by quality"),
        ({}, "threshold", "nothing could ever block"),
    ],
)
def test_a_run_files_metric_that_could_never_block_is_refused(changes: dict[str, object], mode: str, words: str) -> None:
    metric = score_metric(**changes)
    before, after = scores_run({"a": 1.0}, metric=metric), scores_run({"a": 0.0}, metric=metric)
    with pytest.raises(ConfigError, match=words):
        compared(before, after, {"metrics": ["quality"], "mode": mode})

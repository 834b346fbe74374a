"""Classes of a metric: the reference verdicts, every class and reason, and what errors, skips and gaps become."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ci_eval.domain.comparison import Comparison, MetricClass
from ci_eval.domain.results import RunResult
from ci_eval.errors import ConfigError
from tests.builders import binary, both, count, likert, marks, run, score_metric, scores_run
from tests.compare.comparing import compared, first
from tests.shared import SHARED, needs_shared

ORACLE = SHARED / "data" / "oracle" / "statistics.jsonl"


def verdicts() -> list[dict[str, Any]]:
    if not ORACLE.is_file():
        return []
    rows = [json.loads(line) for line in ORACLE.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["fn"] == "verdict"]


def of_values(values: list[float], kind: str, *, voice: str, missing: int = 0) -> RunResult:
    metric = binary() if kind == "binary" else likert("task_success")
    made = scores_run({f"c{place:03}": value for place, value in enumerate(values)}, metric=metric, voice=voice)
    return replace(made, header=replace(made.header, cases=len(values) + missing))


@needs_shared
@pytest.mark.parametrize("row", verdicts(), ids=lambda row: f"{row['id']}-{row['note']}")
def test_the_oracle_agrees(row: dict[str, Any]) -> None:
    given, right = row["input"], row["expected"]
    assert (given["direction"], given.get("family", 1)) == ("higher", 1)  # what the runs below are
    missing, voice = given.get("missing", 0), "" if given.get("identical") else "other"
    before = of_values(given["baseline"], given["kind"], voice="", missing=missing)
    after = of_values(given["candidate"], given["kind"], voice=voice, missing=missing)
    one = first(compared(before, after, {"metrics": ["task_success"]}))
    assert (one.result.value, one.reason, one.n) == (right["verdict"], right["reason"], right["n"])
    for key in ("estimate", "low", "high", "p_regress", "p_improve"):
        found = getattr(one.difference, key)
        assert found == (None if right[key] is None else pytest.approx(right[key], abs=row["tol"])), key


def pictures(before: str, after: str, gate: dict[str, object] | None = None, **metrics: dict[str, object]) -> Comparison:
    """Compare two rows of marks; the candidate speaks with another voice, so that equal marks are not equal outputs."""
    return compared(run(marks(before)), run(marks(after), voice="x"), gate, metrics)


@pytest.mark.parametrize(
    ("before", "after", "result", "reason"),
    [
        ("✓" * 20, "✗" * 4 + "✓" * 16, MetricClass.REGRESSED, "significant"),
        ("✗" * 4 + "✓" * 16, "✓" * 20, MetricClass.IMPROVED, "significant"),
        ("✓" * 20, "✗" * 3 + "✓" * 17, MetricClass.INCONCLUSIVE, "not_detected"),
        ("✓" * 6, "✗" * 6, MetricClass.REGRESSED, "significant"),  # so few cases can still prove a wipe-out
        ("✓" * 8, "✓" * 8, MetricClass.TOO_FEW_CASES, "few_cases"),
        ("✓" * 51, "✓" * 51, MetricClass.INCONCLUSIVE, "not_detected"),
        ("✓" * 52, "✓" * 52, MetricClass.NO_DIFFERENCE, "within_margin"),
        ("✓" * 250, "✗" * 4 + "✓" * 246, MetricClass.NO_DIFFERENCE, "below_min_effect"),
        ("✓" * 20, "✓" * 18 + "--", MetricClass.INVALID, "incomplete"),
        ("✓" * 20, "✓" * 19 + "-", MetricClass.INCONCLUSIVE, "not_detected"),  # 1 of 20 is within the limit
        ("~" * 20, "~" * 20, MetricClass.TOO_FEW_CASES, "no_pairs"),
        ("?" * 20, "✓" * 20, MetricClass.INVALID, "incomplete"),
    ],
)
def test_the_first_rule_that_applies_names_the_class(before: str, after: str, result: MetricClass, reason: str) -> None:
    one = first(pictures(before, after))
    assert (one.result, one.reason) == (result, reason)


def test_too_many_gated_metrics_for_the_cases_are_unattainable() -> None:
    names = [f"m{number}" for number in range(40)]
    before = after = run(marks("✓" * 10), metric=binary(names[0]))
    for name in names[1:]:
        before = both(before, run(marks("✓" * 10), metric=binary(name)))
        after = both(after, run(marks("✓" * 10), metric=binary(name)))
    after = replace(after, records=tuple(replace(record, output_digest="other") for record in after.records))
    comparison = compared(before, after, {"metrics": names})
    assert {one.smallest_provable for one in comparison.metrics} == {9}
    assert {one.reason for one in compared(before, after, {"metrics": names, "alpha": 0.01}).metrics} == {"unattainable"}
    assert any(notice.code == "many_gated" for notice in comparison.notices)


def test_three_losses_of_twenty_are_borderline() -> None:
    one = first(pictures("✓" * 20, "✗" * 3 + "✓" * 17))
    assert one.borderline
    assert one.worse == ("c001", "c002", "c003")


def test_equal_outputs_leave_nothing_to_test() -> None:
    comparison = compared(run(marks("✓✗✓")), run(marks("✓✗✓")))
    one = first(comparison)
    assert (one.result, one.reason) == (MetricClass.NO_DIFFERENCE, "identical_outputs")
    assert (one.difference.estimate, one.difference.low, one.difference.high, one.difference.p_regress) == (0.0, None, None, 1.0)
    assert comparison.identical_outputs == 3
    assert comparison.changes == ()


def test_equal_outputs_and_equal_failures_are_equal() -> None:
    assert first(compared(run(marks("✓!")), run(marks("✓!")))).reason == "identical_outputs"


def test_equal_outputs_prove_nothing_for_a_metric_that_looks_elsewhere() -> None:
    metric = binary(output_only=False)
    before = scores_run({"a": 1, "b": 1}, metric=metric)
    after = scores_run({"a": 1, "b": 0}, metric=metric)
    same = replace(
        after,
        records=tuple(replace(a, output_digest=b.output_digest) for a, b in zip(after.records, before.records, strict=True)),
    )
    assert first(compared(before, same)).worse == ("b",)
    assert first(compared(before, before)).reason == "identical_outputs"


def test_a_noisy_judge_on_equal_outputs_changes_nothing_and_is_named() -> None:
    before, after = run(marks("✓✓✓")), run(marks("✓✓✗"))
    same = replace(
        after,
        records=tuple(replace(a, output_digest=b.output_digest) for a, b in zip(after.records, before.records, strict=True)),
    )
    comparison = compared(before, same)
    assert (first(comparison).reason, first(comparison).worse, comparison.changes) == ("identical_outputs", (), ())
    assert [(notice.code, notice.count) for notice in comparison.notices] == [("noisy_evaluator", 1)]


# What became of errors, skips and gaps


def test_an_agents_failure_is_a_failure_and_counted_apart() -> None:
    one = first(pictures("✓" * 20, "!" * 4 + "✓" * 16))
    assert one.result is MetricClass.REGRESSED
    assert (one.candidate.estimate, one.candidate.passed, one.candidate.agent_errors) == (0.8, 16, 4)


def test_an_agents_failure_may_be_left_out_and_then_counts_as_missing() -> None:
    one = first(pictures("✓" * 20, "!" * 4 + "✓" * 16, task_success={"on_agent_error": "missing"}))
    assert (one.result, one.missing, one.missing_ids) == (MetricClass.INVALID, 4, ("c001", "c002", "c003", "c004"))


def test_an_agents_failure_gets_the_lowest_of_likert_and_no_number_of_a_measurement() -> None:
    scores, crashed = scores_run({"a": 4, "b": 3}, metric=likert("task_success")), run("a! b✓")
    mixed = replace(scores, records=(crashed.records[0], scores.records[1]))
    one = first(compared(scores, mixed))
    assert [change.candidate for change in compared(scores, mixed).changes] == [1.0]
    assert one.candidate.estimate == 2.0
    counted = scores_run({"a": 4, "b": 3}, metric=count())
    mixed = replace(counted, records=(crashed.records[0], counted.records[1]))
    assert first(compared(counted, mixed, {"metrics": ["policy_breaks"]})).missing_ids == ("a",)


def test_judge_errors_do_not_raise_the_pass_rate() -> None:
    one = first(compared(run(marks("✓✓✓✓✓✓✓✓✗✗")), run(marks("✓✓✓✓✓#####"), voice="x")))
    assert (one.result, one.n, one.missing) == (MetricClass.INVALID, 5, 5)
    assert (one.baseline.passed, one.baseline.failed) == (8, 2)
    assert (one.candidate.passed, one.candidate.failed, one.candidate.evaluator_errors) == (5, 0, 5)
    assert one.difference.estimate == 0.0
    assert one.result is not MetricClass.IMPROVED


def test_a_candidate_cannot_leave_a_metric_by_making_it_inapplicable() -> None:
    one = first(pictures("✓" * 20, "✓" * 15 + "~" * 5))
    assert (one.result, one.missing) == (MetricClass.INVALID, 5)


def test_a_case_outside_the_metric_is_in_no_denominator() -> None:
    one = first(pictures("✓" * 20 + "~" * 5, "✓" * 20 + "~" * 5))
    assert (one.n, one.missing, one.baseline.skipped, one.candidate.skipped) == (20, 0, 5, 5)


def test_a_score_that_is_no_number_within_the_range_is_an_evaluators_error() -> None:
    before = scores_run({"a": 0.5, "b": 0.5, "c": 0.5})
    after = scores_run({"a": 1.5, "b": float("nan"), "c": 0.5})
    one = first(compared(before, after))
    assert (one.candidate.evaluator_errors, one.missing_ids) == (2, ("a", "b"))


def test_results_of_two_evaluators_meet_by_id() -> None:
    a = run("r1✓ r2✓ r3✓ r4✗ r5✓", metric=binary("a"))
    b = run("r5✗ r3✓ r1✓ r2✓", metric=binary("b"))
    one = compared(both(a, b), both(a, b), {"metrics": ["a", "b"]})
    assert one.metric("b").missing_ids == ("r4",)
    assert (one.metric("b").candidate.passed, one.metric("b").candidate.failed) == (3, 1)
    assert (one.metric("a").candidate.passed, one.metric("a").candidate.failed) == (4, 1)


def test_rows_of_one_arm_only_are_named_and_the_rates_use_the_common_ones() -> None:
    before = run(" ".join(f"r{n:02}{'✓' if n < 7 else '✗'}" for n in range(1, 11)) + " r11.")
    after = run(" ".join(f"r{n:02}✓" for n in (1, 2, 3, 4, 5, 6, 11)), cases=11, voice="x")
    comparison = compared(before, after)
    assert comparison.cases.missing == ("r07", "r08", "r09", "r10")
    assert comparison.cases.added == ("r11",)
    one = first(comparison)
    assert (one.n, one.baseline.estimate, one.candidate.estimate, one.result) == (6, 1.0, 1.0, MetricClass.INVALID)
    assert (one.baseline.passed, one.baseline.failed, one.candidate.passed) == (6, 4, 7)
    assert one.candidate.not_run == 4


# Directions


def test_fewer_defects_are_better() -> None:
    defects = binary("violence_defect", direction="lower", threshold=0.0)
    before = scores_run({f"r{n:02}": float(n <= 3) for n in range(1, 13)}, metric=defects)
    after = scores_run({f"r{n:02}": 0.0 for n in range(1, 13)}, metric=defects, voice="x")
    one = first(compared(before, after))
    assert (one.baseline.estimate, one.candidate.estimate) == (0.25, 0.0)
    assert (one.baseline.passed, one.candidate.passed) == (9, 12)
    assert one.difference.estimate == 0.25
    assert one.difference.p_improve == 0.0625
    assert one.result is not MetricClass.REGRESSED
    assert one.better == ("r01", "r02", "r03")


@pytest.mark.parametrize("direction", [None, "lower"])
def test_a_pass_stays_better_than_a_failure_where_small_numbers_pass(direction: str | None) -> None:
    steps = score_metric("steps", maximum=20.0, threshold=5.0, direction="lower")
    before = scores_run({f"c{n:02}": 9.0 if n <= 8 else 3.0 for n in range(1, 21)}, metric=steps)
    after = scores_run({f"c{n:02}": 3.0 for n in range(1, 21)}, metric=steps, voice="x")
    spec = {"kind": "binary", **({"direction": direction} if direction else {})}
    one = compared(before, after, {"metrics": ["steps"]}, {"steps": spec}).metric("steps")
    assert (one.baseline.estimate, one.candidate.estimate, one.result) == (0.6, 1.0, MetricClass.IMPROVED)
    assert (len(one.better), one.worse) == (8, ())


def test_a_direction_against_which_the_run_was_scored_is_refused() -> None:
    before = scores_run({"a": 1.0}, metric=binary())
    with pytest.raises(ConfigError, match=r"metrics\.task_success\.direction: .* set `direction` on the evaluator"):
        compared(before, before, None, {"task_success": {"direction": "lower"}})


@pytest.mark.parametrize(("after", "result"), [(20.0, MetricClass.CHANGED), (10.0, MetricClass.INCONCLUSIVE)])
def test_without_a_good_direction_a_metric_only_changes(after: float, result: MetricClass) -> None:
    length = count("answer_length", direction="none")
    ids = [f"c{n:03}" for n in range(1, 13)]
    before = both(run(marks("✓" * 12)), scores_run(dict.fromkeys(ids, 10.0), metric=length))
    now = both(run(marks("✓" * 12), voice="x"), scores_run(dict.fromkeys(ids, after), metric=length))
    one = compared(before, now).metric("answer_length")
    assert (one.result, one.gated) == (result, False)


# What is gated, and what is compared


def test_the_outcome_is_gated_when_nothing_is_named() -> None:
    before = both(run("a✓ b✓", metric=binary("polite")), run("a✓ b✓", metric=binary("success")))
    assert [(one.metric.name, one.gated) for one in compared(before, before).metrics] == [("success", True), ("polite", False)]


def test_without_an_outcome_all_checks_together_are_gated() -> None:
    before = both(run("a✓ b✓ c~ d✓", metric=binary("one")), run("a✓ b✗ c~ d#", metric=binary("two")))
    one = first(compared(before, before))
    assert (one.metric.name, one.gated) == ("all_checks", True)
    assert (one.candidate.passed, one.candidate.failed, one.candidate.skipped, one.candidate.evaluator_errors) == (1, 1, 1, 1)


def test_a_single_check_is_gated_itself() -> None:
    before = both(run("a✓ b✓", metric=binary("only")), scores_run({"a": 0.1, "b": 0.2}))
    assert first(compared(before, before)).metric.name == "only"


def test_without_any_check_the_first_metric_of_quality_is_gated_with_a_notice() -> None:
    comparison = compared(scores_run({"a": 0.5}), scores_run({"a": 0.5}))
    assert (first(comparison).metric.name, first(comparison).gated) == ("quality", True)
    assert [notice.code for notice in comparison.notices] == ["gated_by_default"]


def test_a_gated_metric_that_nobody_computes_is_a_config_error_with_the_near_name() -> None:
    with pytest.raises(ConfigError, match="did you mean task_success"):
        compared(run("a✓"), run("a✓"), {"metrics": ["task_succes"]})


def test_nothing_to_gate_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="no evaluator yields a metric of quality"):
        compared(scores_run({"a": 1}, metric=count()), scores_run({"a": 1}, metric=count()))


def test_a_score_becomes_pass_or_fail_by_its_threshold() -> None:
    metric = score_metric("task_success", threshold=0.5)
    before = scores_run({"a": 0.9, "b": 0.6}, metric=metric)
    after = scores_run({"a": 0.6, "b": 0.4}, metric=metric)
    one = first(compared(before, after, metrics={"task_success": {"kind": "binary"}}))
    assert (one.metric.kind, one.baseline.estimate, one.candidate.estimate, one.worse) == ("binary", 1.0, 0.5, ("b",))


def test_pass_or_fail_needs_a_threshold() -> None:
    with pytest.raises(ConfigError, match="needs a threshold"):
        compared(scores_run({"a": 0.5}), scores_run({"a": 0.5}), metrics={"quality": {"kind": "binary"}})


def test_other_thresholds_or_evaluators_are_not_compared() -> None:
    for changed in ({"threshold": 0.4}, {"fingerprint": "v2"}):
        metric = score_metric("task_success", threshold=0.5, fingerprint="v1")
        before = scores_run({"a": 0.9, "b": 0.6}, metric=metric)
        after = scores_run({"a": 0.1, "b": 0.1}, metric=replace(metric, **changed))  # type: ignore[arg-type] # right names
        comparison = compared(before, after)
        one = first(comparison)
        assert (one.result, one.reason, one.difference.estimate) == (MetricClass.TOO_FEW_CASES, "evaluator_changed", None)
        assert comparison.changes == ()
        assert len(comparison.notices) == 2 - ("gated_by_default" not in {notice.code for notice in comparison.notices})


def test_other_judges_are_not_compared() -> None:
    before, after = run("a✓"), run("a✗")
    before = replace(before, header=replace(before.header, judge="model-x-2025-04"))
    after = replace(after, header=replace(after.header, judge="model-x-2025-09"))
    comparison = compared(before, after)
    assert first(comparison).reason == "evaluator_changed"
    assert [notice.code for notice in comparison.notices] == ["judge_differs"]


def test_another_number_of_trials_is_compared_with_a_notice() -> None:
    comparison = compared(run("a✓✓✗"), run("a✗"))
    assert (first(comparison).n, first(comparison).baseline.estimate) == (1, 1.0)
    assert [notice.code for notice in comparison.notices] == ["trials_differ"]


@pytest.mark.parametrize(("wavering", "is_told"), [(0, True), (2, True), (3, False)])
def test_trials_that_look_like_copies_are_named(wavering: int, is_told: bool) -> None:
    picture = " ".join(f"c{n:02}{'✓✗✓' if n < wavering else '✓✓✓'}" for n in range(20))
    codes = {notice.code: notice.message for notice in compared(run("a✓"), run(picture)).notices}
    assert ("equal_trials" in codes) is is_told
    if is_told:
        assert codes["equal_trials"].startswith(f"candidate: in {20 - wavering} of 20 cases every trial gave the same answer.")


def test_one_trial_is_no_copy() -> None:
    assert compared(run("a✓ b✗"), run("a✓ b✗")).notices == ()


def test_another_dataset_is_named_and_only_equal_cases_are_compared() -> None:
    comparison = compared(run("a✓ b✓", dataset="aaaa"), run("a✓ b✓", dataset="bbbb", edited=["b"]))
    assert [notice.code for notice in comparison.notices] == ["dataset_differs"]
    assert comparison.cases.modified == ("b",)


def test_a_metric_that_only_the_candidate_has_cannot_be_compared() -> None:
    after = both(run("a✓"), run("a✓", metric=binary("extra")))
    assert compared(run("a✓"), after).metric("extra").reason == "no_pairs"


def test_the_runs_own_measurements_are_compared_as_ratios() -> None:
    def slowed(factor: float) -> RunResult:
        made = run(marks("✓" * 20), voice=str(factor))
        return replace(
            made, records=tuple(replace(record, latency_s=factor * (1 + n / 10)) for n, record in enumerate(made.records))
        )

    one = compared(slowed(1.0), slowed(1.5), metrics={"latency_s": {}}).metric("latency_s")
    assert one.difference.estimate == pytest.approx(1.5)
    assert one.ratio_of_totals == pytest.approx(1.5)
    assert (one.result, one.gated, len(one.worse)) == (MetricClass.REGRESSED, False, 20)
    assert "latency_s" not in {m.metric.name for m in compared(slowed(1.0), slowed(1.5)).metrics}


def test_what_an_arm_took_is_added_up_and_unknown_is_not_zero() -> None:
    made = run("a✓ b! c-")
    known = replace(made, records=(replace(made.records[0], cost_usd=0.25, latency_s=2.0), *made.records[1:]))
    usage = compared(run("a✓ b✓ c✓"), known).usage_candidate
    assert (usage.cost_usd, usage.tokens, usage.latency_median_s, usage.latency_p95_s) == (0.25, None, 2.0, None)
    assert (usage.agent_errors, usage.infra_errors, usage.not_run, dict(usage.failures)) == (1, 0, 1, {"exception": 1})


def test_a_floor_sees_added_cases_too() -> None:
    one = first(compared(run("a✓ b."), run("a✓ b✗")))
    assert (one.candidate.estimate, one.candidate.overall, one.candidate.overall_n) == (1.0, 0.5, 2)


def test_missing_pairs_are_filled_in_against_the_candidate() -> None:
    one = first(pictures("✓" * 40, "✗" * 3 + "✓" * 36 + "-"))
    assert one.adverse is not None
    assert (one.result, one.adverse.result) == (MetricClass.INCONCLUSIVE, MetricClass.REGRESSED)
    assert first(pictures("✓" * 40, "✓" * 40)).adverse is None


# Laws

picture = st.lists(st.tuples(st.sampled_from("✓✗!?~-"), st.sampled_from("✓✗!?~-")), min_size=1, max_size=30)
quick = hypothesis_settings(max_examples=40, deadline=None)
MIRROR = {MetricClass.REGRESSED: MetricClass.IMPROVED, MetricClass.IMPROVED: MetricClass.REGRESSED}


def drawn(cases: list[tuple[str, str]], *, metric: Any = None, swapped: bool = False) -> Comparison:
    before, after = ("".join(one[side] for one in cases) for side in ((1, 0) if swapped else (0, 1)))
    return compared(run(marks(before), metric=metric), run(marks(after), metric=metric, voice="x"), {"metrics": ["task_success"]})


@given(cases=picture)
@quick
def test_swapping_the_arms_mirrors_the_class(cases: list[tuple[str, str]]) -> None:
    here, there = first(drawn(cases)), first(drawn(cases, swapped=True))
    assert MIRROR.get(here.result, here.result) is there.result
    assert (here.worse, here.n, here.missing) == (there.better, there.n, there.missing)
    assert here.difference.p_regress == there.difference.p_improve


@given(cases=picture, data=st.data())
@quick
def test_the_order_of_records_changes_nothing(cases: list[tuple[str, str]], data: st.DataObject) -> None:
    before, after = run(marks("".join(one[0] for one in cases))), run(marks("".join(one[1] for one in cases)))
    shuffled = replace(after, records=tuple(data.draw(st.permutations(after.records))))
    assert repr(compared(before, after)) == repr(compared(before, shuffled))


@given(cases=picture)
@quick
def test_lower_is_better_mirrors_nothing_but_the_numbers(cases: list[tuple[str, str]]) -> None:
    up, down = first(drawn(cases)), first(drawn(cases, metric=binary(direction="lower", threshold=0.0)))
    assert (up.result, up.worse, up.better) == (down.result, down.worse, down.better)
    assert up.difference.p_regress == down.difference.p_regress


@given(cases=picture)
@quick
def test_an_estimate_lies_within_its_interval(cases: list[tuple[str, str]]) -> None:
    one = first(drawn(cases))
    for interval in (one.baseline, one.candidate, one.difference):
        if interval.low is not None and interval.high is not None and interval.estimate is not None:
            assert interval.low <= interval.estimate <= interval.high

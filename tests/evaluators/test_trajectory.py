from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.message import ToolCall
from ci_eval.domain.sample import Sample
from ci_eval.messages.readers import READERS
from tests.evaluators.builders import called, calls_expected, expect, oracle, row, said, score_of, scores_of, spec
from tests.shared import SHARED, needs_shared

NAVIGATION = "task_navigation_efficiency"


def navigation(**options):
    return spec(NAVIGATION, **options)


@pytest.mark.parametrize("handed", oracle(NAVIGATION))
def test_the_oracle_agrees(handed) -> None:
    right = handed.get("right", handed["expected"])
    inputs = {name: f"{{{{item.{name}}}}}" for name in handed["inputs"]}
    try:
        evaluator = navigation(inputs=inputs, **handed["parameters"])
    except ValidationError:
        assert right["status"] == "error"
        return
    expect(score_of(evaluator, row(**handed["inputs"]), said("x")), right)


@pytest.mark.parametrize(
    ("expected", "made", "precision", "recall", "f1"),
    [
        pytest.param(["search", "search"], ["search", "search"], 1, 1, 1, id="two of two"),
        pytest.param(["search", "search"], ["search"], 1, 1 / 2, 2 / 3, id="one of two"),
        pytest.param(["weather"], ["weather"] * 3, 1 / 3, 1, 1 / 2, id="three for one"),
        pytest.param(["search", "open", "search"], ["search", "search", "open", "search"], 3 / 4, 1, 6 / 7, id="mixed"),
    ],
)
def test_each_expected_call_uses_up_one_step(expected, made, precision, recall, f1) -> None:
    scores = scores_of(navigation(), calls_expected(*expected), called(*made))
    assert scores[f"{NAVIGATION}.precision"].score == pytest.approx(precision)
    assert scores[f"{NAVIGATION}.recall"].score == pytest.approx(recall)
    assert scores[f"{NAVIGATION}.f1"].score == pytest.approx(f1)


@pytest.mark.parametrize(
    ("expected", "made", "modes", "shares"),
    [
        pytest.param(["weather"], ["weather", "convert"], (0, 1, 1), (0.5, 1), id="extra"),
        pytest.param(["weather"], ["login", "weather"], (0, 1, 1), (0.5, 1), id="extra before"),
        pytest.param(["weather", "convert"], ["weather"], (0, 0, 0), (1, 0.5), id="missing"),
        pytest.param(["a", "b"], ["b", "a"], (0, 0, 1), (1, 1), id="other order"),
        pytest.param([], [], (1, 1, 1), (1, 1), id="call nothing, kept"),
        pytest.param([], ["a"], (0, 0, 0), (0, 0), id="call nothing, broken"),
        pytest.param(["a"], [], (0, 0, 0), (0, 0), id="nothing called"),
    ],
)
def test_what_each_mode_forgives(expected, made, modes, shares) -> None:
    for mode, right in zip(("exact_match", "in_order_match", "any_order_match"), modes, strict=True):
        scores = scores_of(navigation(matching_mode=mode), calls_expected(*expected), called(*made))
        assert scores[NAVIGATION].score == right, mode
        assert (scores[f"{NAVIGATION}.precision"].score, scores[f"{NAVIGATION}.recall"].score) == shares


def test_unknown_steps_are_skipped_and_never_scored_0() -> None:
    scores = scores_of(navigation(), calls_expected("a"), said("I called a."))
    assert {score.status for score in scores.values()} == {"skipped"}
    assert "only the text of the answer is known" in scores[NAVIGATION].reason


def test_a_row_without_expectation_is_skipped() -> None:
    assert score_of(navigation(), row(query="q"), called("a")).reason == "no expected_actions"


@pytest.mark.parametrize(
    ("expected", "made", "mode", "reason"),
    [
        pytest.param(
            ["find", "list", "send_reminder"], ["find", "list"], "any_order_match",
            "2 of 3 expected calls made; missing: send_reminder", id="missing",
        ),
        pytest.param(
            ["find"], ["find", "audit", "audit"], "in_order_match",
            "1 of 1 expected call made; not expected: audit ×2", id="extra",
        ),
        pytest.param(
            ["find", "list"], ["list", "find"], "exact_match",
            "2 of 2 expected calls made; differs at call 1: list where find was expected", id="swapped",
        ),
        pytest.param(
            ["a", "b"], ["b", "a"], "in_order_match",
            "2 of 2 expected calls made; the order breaks at expected call 2 (b), which does not follow the ones before it",
            id="order",
        ),
        pytest.param(
            [("pay", {"amount": 48})], [("pay", {"amount": 50})], "any_order_match",
            "0 of 1 expected call made; missing: pay (called with amount = 50 instead of 48); not expected: pay", id="argument",
        ),
        pytest.param([], ["ping"], "any_order_match", "no call was expected, 1 call made: ping", id="call nothing"),
        pytest.param([], [], "exact_match", "no call expected, none made", id="nothing at all"),
    ],
)  # fmt: skip
def test_reasons_explain_themselves(expected, made, mode, reason) -> None:
    assert score_of(navigation(matching_mode=mode), calls_expected(*expected), called(*made)).reason == reason


def test_a_missing_argument_and_a_surplus_one_are_named() -> None:
    expected = calls_expected(("pay", {"amount": 1, "currency": "EUR"}))
    assert "called with no currency" in score_of(navigation(), expected, called(("pay", {"amount": 1}))).reason
    surplus = called(("pay", {"amount": 1, "currency": "EUR", "note": "x"}))
    assert "called with arguments nobody expected: note" in score_of(navigation(), expected, surplus).reason


def test_details_hold_counts_names_and_places() -> None:
    score = score_of(navigation(), calls_expected("a", "b", "c"), called("a", "x", "b"))
    assert score.details == {
        "matching_mode": "exact_match", "steps": 3, "expected": 3, "matched": 2, "missing": ["c"], "extra": ["x"],
        "pairs": [[0, 0], [1, 2]], "first_break": 2,
        "precision_score": pytest.approx(2 / 3), "recall_score": pytest.approx(2 / 3), "f1_score": pytest.approx(2 / 3),
    }  # fmt: skip


def test_arguments_may_be_ignored_whatever_the_expectation_gives() -> None:
    expected, made = calls_expected(("pay", {"amount": 48})), called(("pay", {"amount": 50}))
    assert score_of(navigation(), expected, made).score == 0
    assert score_of(navigation(arguments="ignore"), expected, made).score == 1


def test_shares_pass_or_fail_only_by_a_threshold_of_their_own() -> None:
    scores = scores_of(navigation(recall_threshold=0), calls_expected("a"), called("b"))
    assert scores[f"{NAVIGATION}.recall"].passed is True  # a threshold of 0 is a threshold
    assert scores[f"{NAVIGATION}.precision"].passed is None


def test_a_name_of_its_own_carries_over_to_the_shares() -> None:
    names = [metric.name for metric in navigation(name="steps").metrics()]
    assert names == ["steps", "steps.precision", "steps.recall", "steps.f1"]
    assert [metric.group for metric in navigation().metrics()] == [None, "trajectory", "trajectory", "trajectory"]


def test_calls_of_unreadable_arguments_count_by_name_only() -> None:
    sample = Sample(tool_calls=(ToolCall(name="pay", arguments="{oops", arguments_error="invalid_json"),))
    assert score_of(navigation(), calls_expected("pay"), sample).score == 1
    assert score_of(navigation(), calls_expected(("pay", {})), sample).score == 0
    anything = ExpectedAction(name="pay", arguments={}, match="subset")
    assert score_of(navigation(), calls_expected(anything), sample).score == 0


def test_arguments_nested_without_end_are_an_error_of_that_case() -> None:
    def endless() -> dict[str, object]:
        value: dict[str, object] = {}
        for _ in range(5_000):
            value = {"x": value}
        return value

    assert score_of(navigation(), calls_expected(("a", endless())), called(("a", endless()))).error_code == "too_deep"


def test_hostile_names_stay_on_one_line_and_long_rows_end() -> None:
    names = [f"tool-{number}" for number in range(40)]
    reason = score_of(navigation(matching_mode="any_order_match"), calls_expected(*names, "a\n\nb" + "x" * 500), called()).reason
    assert "\n" not in reason
    assert "tool-7 and 33 more" in reason
    assert len(reason) < 400


def test_an_expectation_missing_everywhere_is_told_before_anything_runs() -> None:
    told = navigation().unusable([row(query="q"), row(query="r", ground_truth=["a", "b"])])
    assert told is not None
    assert told.startswith("no case of the dataset has expected_actions")
    assert "{{item.ground_truth}}" in told
    assert navigation().unusable([row(query="q"), row(query="r", expected_actions=[])]) is None


def test_a_template_that_leads_nowhere_names_near_columns() -> None:
    evaluator = navigation(inputs={"expected_actions": "{{item.expected_step}}"})
    told = evaluator.unusable([row(query="q", expected_steps=["a"])])
    assert told == "{{item.expected_step}} leads nowhere in every case; did you mean expected_steps?"


def test_two_names_of_one_input_are_refused() -> None:
    with pytest.raises(ValidationError, match="mean the same input"):
        navigation(inputs={"actions": "{{item.a}}", "response": "{{item.b}}"})


def test_broken_actions_are_an_error_with_their_place() -> None:
    evaluator = navigation(inputs={"actions": "{{item.steps}}"})
    score = score_of(evaluator, row(query="q", steps=[{"arguments": {}}], expected_actions=["a"]), said("x"))
    assert score.status == "error"
    assert "actions" in score.reason


@needs_shared
@pytest.mark.parametrize(
    ("arm", "arguments", "precision", "recall", "f1"),
    [
        pytest.param("baseline", "ignore", 0.4008, 0.6006, 0.4362, id="baseline names"),
        pytest.param("candidate", "ignore", 0.4104, 0.6236, 0.4380, id="candidate names"),
        pytest.param("baseline", "compare", 0.3500, 0.4636, 0.3722, id="baseline arguments"),
        pytest.param("candidate", "compare", 0.3543, 0.4569, 0.3634, id="candidate arguments"),
    ],
)
def test_the_means_of_the_real_runs_are_the_known_ones(arm, arguments, precision, recall, f1) -> None:
    scores = real_scores(arm, arguments, "exact_match")
    for share, right in (("precision", precision), ("recall", recall), ("f1", f1)):
        values = [score[f"{NAVIGATION}.{share}"].score for score in scores]
        assert len(values) == 50
        assert f"{sum(values) / 50:.4f}" == f"{right:.4f}"


@needs_shared
@pytest.mark.parametrize(
    ("arm", "arguments", "exact", "in_order", "any_order"),
    [
        pytest.param("baseline", "ignore", 4, 22, 22, id="baseline names"),
        pytest.param("candidate", "ignore", 3, 22, 23, id="candidate names"),
        pytest.param("baseline", "compare", 4, 15, 15, id="baseline arguments"),
        pytest.param("candidate", "compare", 3, 13, 13, id="candidate arguments"),
    ],
)
def test_the_matches_of_the_real_runs_are_the_known_ones(arm, arguments, exact, in_order, any_order) -> None:
    for mode, right in (("exact_match", exact), ("in_order_match", in_order), ("any_order_match", any_order)):
        assert sum(score[NAVIGATION].score for score in real_scores(arm, arguments, mode)) == right, mode


def real_scores(arm: str, arguments: str, mode: str):
    folder = SHARED / "data" / "taubench"
    rows = [json.loads(line) for line in (folder / "dataset.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = {
        answer["id"]: answer for answer in map(json.loads, (folder / f"{arm}.jsonl").read_text(encoding="utf-8").splitlines())
    }
    evaluator = navigation(arguments=arguments, matching_mode=mode)
    cases = [(row(**columns), answers[columns["id"]]) for columns in rows]
    return [scores_of(evaluator, case, READERS.reply(case, answer)) for case, answer in cases]

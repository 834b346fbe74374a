from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ci_eval.evaluators.text_overlap import WordRule
from ci_eval.messages.readers import READERS
from tests.evaluators.builders import expect, oracle, row, said, score_of, spec


@pytest.mark.parametrize("handed", [*oracle("f1_score"), *oracle("partial_match")])
def test_the_oracle_agrees(handed) -> None:
    expect(oracle_score(handed), handed.get("right", handed["expected"]))


@pytest.mark.parametrize("handed", [*oracle("f1_score"), *oracle("partial_match")])
def test_compat_azure_gives_the_numbers_of_the_peer(handed) -> None:
    expect(oracle_score(handed, compat="azure"), handed["expected"])


def oracle_score(handed, **options):
    inputs = handed["inputs"]
    truth = inputs["ground_truth"] if "ground_truth" in inputs else inputs["expected_response"]
    case = row(query="q", ground_truth=truth)
    sample = READERS.reply(case, {"response": inputs["response"]})
    return score_of(spec(handed["evaluator"], **handed["parameters"], **options), case, sample)


def test_the_best_of_several_references_counts() -> None:
    case = row(query="q", ground_truth=["Oslo", "the city of Paris", "Rome"])
    score = score_of(spec("f1_score"), case, said("Paris city"))
    assert score.score == pytest.approx(0.8)
    assert score.reason == "F1 0.8: 2 of 2 words of the answer in common with reference 2 of 3, which has 3"
    assert score.details["best_reference"] == 2


@pytest.mark.parametrize(
    ("response", "reference", "score"),
    [
        pytest.param("", "", 1, id="both empty"),
        pytest.param("  ", "", 1, id="blank and empty"),
        pytest.param("!!!", "!!!", 1, id="the same marks"),
        pytest.param("!!!", "???", 0, id="other marks"),
        pytest.param("The", "the", 1, id="the same article"),
        pytest.param("", "Paris", 0, id="an empty answer"),
        pytest.param("Paris", " ", 0, id="a blank reference"),
        pytest.param("cafe\u0301", "caf\u00e9", 1, id="two spellings of é"),
    ],
)
def test_texts_without_words_and_composed_characters(response, reference, score) -> None:
    assert score_of(spec("f1_score"), row(query="q", ground_truth=reference), said(response)).score == score


def test_the_peer_says_0_there() -> None:
    azure = spec("f1_score", compat="azure")
    for response, reference in (("", ""), ("The", "the"), ("cafe\u0301", "caf\u00e9")):
        assert score_of(azure, row(query="q", ground_truth=reference), said(response)).score == 0


def test_silence_is_an_answer_and_not_a_missing_one() -> None:
    silent = score_of(spec("f1_score"), row(query="q", ground_truth="Paris"), said(""))
    assert (silent.score, silent.reason) == (0, "the agent returned an empty answer")
    nothing = score_of(spec("f1_score"), row(query="q", ground_truth="Paris"), said(None))
    assert (nothing.status, nothing.reason) == ("skipped", "no response")


def test_a_row_without_reference_is_skipped() -> None:
    assert score_of(spec("f1_score"), row(query="q"), said("nan")).reason == "no ground_truth"


def test_a_reference_in_an_unspaced_script_is_pointed_out() -> None:
    score = score_of(spec("f1_score"), row(query="q", ground_truth="会议定在星期五"), said("会议"))
    assert "without spaces between words" in score.reason
    spaced = score_of(spec("f1_score"), row(query="q", ground_truth="a meeting on Friday, 会议"), said("会议"))
    assert "without spaces" not in spaced.reason


@pytest.mark.parametrize(
    ("threshold", "score", "passes"),
    [
        pytest.param(0.5, 0.5, True, id="on the boundary"),
        pytest.param(0.6666666666666666, 0.6666666666666666, True, id="on it, unrounded"),
        pytest.param(0.6666666666666667, 0.6666666666666666, False, id="above by the last digit"),
        pytest.param(0.0, 0.0, True, id="a threshold of 0 is a threshold"),
    ],
)
def test_the_boundary_passes(threshold, score, passes) -> None:
    (metric,) = spec("f1_score", threshold=threshold).metrics()
    assert metric.passes(score) is passes


@pytest.mark.parametrize("threshold", [1.4, -0.1, float("nan"), float("inf"), "high"])
def test_a_threshold_outside_the_scale_is_refused(threshold) -> None:
    with pytest.raises(ValidationError):
        spec("f1_score", threshold=threshold)


def test_only_the_last_assistant_text_counts() -> None:
    messages = [
        {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "c1", "name": "lookup", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "tool_result", "tool_result": "SECRET-RESULT"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "The capital is Quito."}]},
    ]
    case = row(query="q", ground_truth="The capital is Quito.", log=messages)
    assert score_of(spec("f1_score"), case, READERS.reply(case, messages)).score == 1
    mapped = spec("f1_score", inputs={"response": "{{item.log}}"})
    assert score_of(mapped, case, said("something else")).score == 1


def test_a_mapped_reference_that_is_no_text_is_an_error() -> None:
    mapped = spec("f1_score", inputs={"expected_response": "{{item.right}}"})
    score = score_of(mapped, row(query="q", right={"a": 1}), said("x"))
    assert (score.status, score.error_code) == ("error", "wrong_type")
    assert score_of(mapped, row(query="q", right=42), said("42")).score == 1
    assert score_of(mapped, row(query="q", right=None), said("x")).reason == "no item.right"


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_f1_lies_within_0_and_1_and_is_the_same_both_ways(one, other) -> None:
    rule = WordRule()
    score = rule.overlap(one, other).f1
    assert 0 <= score <= 1
    assert score == pytest.approx(rule.overlap(other, one).f1)
    assert rule.overlap(one, one).f1 == 1

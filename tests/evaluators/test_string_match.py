from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.messages.readers import READERS
from tests.evaluators.builders import expect, oracle, row, said, score_of, spec


@pytest.mark.parametrize("handed", oracle("exact_match"))
def test_the_oracle_agrees(handed) -> None:
    case = row(query="q", expected_response=handed["inputs"]["expected_response"])
    sample = READERS.reply(case, {"response": handed["inputs"]["response"]})
    score = score_of(spec("exact_match", **handed["parameters"]), case, sample)
    expect(score, handed.get("right", handed["expected"]))


@pytest.mark.parametrize(
    ("columns", "response", "status", "score"),
    [
        pytest.param({"ground_truth": "x", "context": None}, "x", "ok", 1, id="present"),
        pytest.param({"ground_truth": ""}, "None", "ok", 0, id="an empty reference is compared"),
        pytest.param({"ground_truth": ""}, "", "ok", 1, id="and can be met"),
        pytest.param({}, "null", "skipped", None, id="absent"),
        pytest.param({"ground_truth": None}, "None", "skipped", None, id="null"),
    ],
)
def test_missing_references_never_turn_into_words(columns, response, status, score) -> None:
    found = score_of(spec("exact_match"), row(query="q", **columns), said(response))
    assert (found.status, found.score) == (status, score)
    if status == "skipped":
        assert found.reason == "no ground_truth"


@pytest.mark.parametrize(
    ("case_sensitive", "response", "reason"),
    [
        pytest.param(
            True, "YES", "the answer differs from the reference in upper and lower case only; case_sensitive: false would pass it",
            id="strict",
        ),
        pytest.param(
            False, "YES", "the answer equals the reference but for upper and lower case, which case_sensitive: false ignores",
            id="lenient",
        ),
        pytest.param(True, "no", 'expected "yes", found "no"', id="different"),
        pytest.param(True, "yes", "the answer equals the reference", id="equal"),
        pytest.param(True, " ", 'the agent returned an empty answer; expected "yes"', id="silent"),
    ],
)  # fmt: skip
def test_reasons_tell_when_only_case_differs(case_sensitive, response, reason) -> None:
    evaluator = spec("exact_match", case_sensitive=case_sensitive)
    assert score_of(evaluator, row(query="q", ground_truth="yes"), said(response)).reason == reason


def test_any_of_several_references_is_right() -> None:
    case = row(query="q", ground_truth=["Oslo", "Paris"])
    assert score_of(spec("exact_match"), case, said("Paris")).reason == "the answer equals reference 2 of 2"
    none = score_of(spec("exact_match"), case, said("Rome"))
    assert (none.score, none.reason) == (0, '"Rome" equals none of the 2 references, the first of which is "Oslo"')


def test_long_and_hostile_answers_stay_short_in_the_reason() -> None:
    reason = score_of(spec("exact_match"), row(query="q", ground_truth="x"), said("a\n```\n" * 10_000)).reason
    assert len(reason) < 200
    assert "\n" not in reason


def test_check_advises_to_say_what_letter_case_means() -> None:
    assert spec("exact_match").advice()
    assert not spec("exact_match", case_sensitive=True).advice()


def test_a_peers_threshold_is_accepted_told_and_ignored() -> None:
    evaluator = spec("exact_match", threshold=3)
    assert evaluator.warnings() == ("threshold: 3 is ignored: exact_match scores 0 or 1 and passes at 1",)
    assert evaluator.metrics() == spec("exact_match").metrics()
    assert spec("exact_match", threshold=1).warnings() == ()


@given(st.text(st.characters(exclude_characters="\r"), max_size=20))
@settings(max_examples=100, deadline=None)
def test_a_text_equals_itself_whatever_its_line_ends_and_edges(text) -> None:
    answer = "\n " + text.replace("\n", "\r\n") + "\t"
    for case_sensitive in (True, False):
        evaluator = spec("exact_match", case_sensitive=case_sensitive)
        assert score_of(evaluator, row(query="q", ground_truth=text), said(answer)).score == 1

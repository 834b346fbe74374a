from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.evaluators.builders import expect, oracle, row, said, score_of, spec


def check(operation: str, reference: str = "{{item.ground_truth}}", **options: object):
    return spec("string_check", operation=operation, reference=reference, **options)


@pytest.mark.parametrize("handed", oracle("string_check"))
def test_the_oracle_agrees(handed) -> None:
    right = handed.get("right", handed["expected"])
    try:
        evaluator = check(input="{{sample.output_text}}", **handed["parameters"])
    except ValidationError:
        assert right["status"] == "error"
        return
    case = row(query="q", ground_truth=handed["inputs"]["reference"])
    expect(score_of(evaluator, case, said(handed["inputs"]["input"])), right)


@pytest.mark.parametrize("operation", ["neq", "EQ", "contains", ""])
def test_there_are_four_operations(operation) -> None:
    with pytest.raises(ValidationError, match="'eq', 'ne', 'like' or 'ilike'"):
        check(operation)


def test_an_empty_reference_is_contained_in_everything() -> None:
    assert score_of(check("like", ""), row(query="q"), said("x")).score == 1


def test_nothing_is_a_wildcard() -> None:
    assert score_of(check("like", "P%s"), row(query="q"), said("Paris")).score == 0


def test_any_of_a_list_of_references_will_do_and_ne_means_none_of_them() -> None:
    case = row(query="q", ground_truth=["Oslo", "Paris"])
    assert score_of(check("eq"), case, said("Paris")).score == 1
    assert score_of(check("ne"), case, said("Paris")).score == 0
    assert score_of(check("ne"), case, said("Rome")).score == 1
    assert score_of(check("ne"), case, said("Paris")).reason == '"Paris" equals "Paris"'


def test_values_in_a_text_are_compared_as_their_json() -> None:
    evaluator = check("eq", "{{item.answer.number}}", input="{{sample.output_json.n}}")
    assert score_of(evaluator, row(query="q", answer={"number": 4}), said('{"n": 4}')).score == 1


def test_a_path_to_nothing_is_skipped_with_the_path() -> None:
    assert score_of(check("eq", "{{item.city}}"), row(query="q", city=None), said("x")).reason == "no item.city"
    assert score_of(check("eq"), row(query="q", ground_truth="x"), said(None)).reason == "no sample.output_text"


def test_a_path_missing_everywhere_and_a_broken_one_are_told_early() -> None:
    told = check("eq", "{{item.citty}}").unusable([row(query="q", city="Rome"), row(query="r", city="Oslo")])
    assert told == "{{item.citty}} leads nowhere in every case; did you mean city?"
    with pytest.raises(ValidationError, match="never closed"):
        check("eq", "{{item.city")
    with pytest.raises(ValidationError, match="no root of a path"):
        check("eq", "{{environ.TOKEN}}")


def test_a_score_is_shared_between_arms_only_when_the_output_decides_it() -> None:
    assert check("eq").metrics()[0].output_only is True
    assert check("eq", input="{{sample.reward}}").metrics()[0].output_only is False

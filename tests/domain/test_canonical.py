from __future__ import annotations

import pytest

from ci_eval.domain.canonical import canonical_json, compact, digest, json_equal


def test_canonical_json_sorts_keys_and_writes_letters_out() -> None:
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'


def test_key_order_does_not_change_a_digest() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})


def test_a_lone_surrogate_has_a_digest() -> None:
    assert len(digest("\ud800")) == 64


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        pytest.param(48, 48.0, True, id="an integer and the same number with a point"),
        pytest.param(48, "48", False, id="a number and a text"),
        pytest.param(True, 1, False, id="true is no number"),
        pytest.param(41.8781, 41.878100000000003, True, id="two spellings of one double"),
        pytest.param({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, True, id="key order is free"),
        pytest.param([1, 2], [2, 1], False, id="list order counts"),
        pytest.param(9007199254740993, 9007199254740992, False, id="big integers are not merged"),
        pytest.param(9007199254740993, 9007199254740992.0, False, id="nor against a double"),
        pytest.param(None, False, False, id="null is not false"),
        pytest.param({}, [], False, id="an object is no array"),
    ],
)
def test_values_compare_as_json(left: object, right: object, equal: bool) -> None:
    assert json_equal(left, right) is equal
    assert json_equal(right, left) is equal


def test_compact_shows_text_as_it_is_and_the_rest_as_json() -> None:
    assert compact("a\nb") == "a\nb"
    assert compact({"b": 1, "a": [True, None]}) == '{"b": 1, "a": [true, null]}'

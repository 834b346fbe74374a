"""JSON from a program nobody vouches for."""

import pytest

from ci_eval.targets.json_text import BadJson, NotJson, read_json


def test_plain_json_is_read_as_it_is() -> None:
    assert read_json('{"a": [1, 1.5, null, true, "é"]}') == {"a": [1, 1.5, None, True, "é"]}


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[-Infinity]", "[" * 100_000, "[" * 300 + "]" * 300, "1" * 5_000])
def test_what_no_reader_could_carry_on_with_is_bad(text: str) -> None:
    with pytest.raises(BadJson):
        read_json(text)


@pytest.mark.parametrize("text", ["", "hello", "{'a': 1}", '{"a": 1} x', b"\xff\xfe\xff"])
def test_what_is_something_else_is_told_apart(text: str | bytes) -> None:
    with pytest.raises(NotJson):
        read_json(text)


def test_two_hundred_levels_are_enough() -> None:
    assert read_json("[" * 200 + "]" * 200) is not None

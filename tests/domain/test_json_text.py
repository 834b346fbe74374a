from __future__ import annotations

import pytest

from ci_eval.domain.json_text import MAX_NESTING, JsonError, parse_json, parse_json_or_literal, parse_literal, quoted


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "[1,]", "{'a': 1}", '{"a": 1} x', "// no", "", "[1e999]", '["a\nb"]'])
def test_what_is_no_strict_json_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        parse_json(text)


def test_the_place_of_a_bare_word_is_told_even_when_a_text_holds_it_too() -> None:
    with pytest.raises(JsonError) as caught:
        parse_json('{"a": "NaN",\n "b": NaN}')
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_integers_keep_their_digits() -> None:
    assert parse_json("12345678901234567890123456789") == 12345678901234567890123456789


def test_an_integer_too_long_for_the_interpreter_is_an_error_and_no_crash() -> None:
    with pytest.raises(JsonError, match="5000 digits"):
        parse_json("1" * 5000)


def test_a_repeated_key_keeps_its_last_value_and_is_told() -> None:
    repeated: list[str] = []
    assert parse_json('{"a": 1, "a": 2, "b": {"c": 1, "c": 1}}', repeated_keys=repeated) == {"a": 2, "b": {"c": 1}}
    assert sorted(repeated) == ["a", "c"]


@pytest.mark.parametrize("depth", [MAX_NESTING + 1, 5_000, 200_000])
def test_deep_nesting_is_an_error_and_no_crash(depth: int) -> None:
    with pytest.raises(JsonError, match="nested"):
        parse_json("[" * depth + "]" * depth)


def test_nesting_up_to_the_limit_is_read() -> None:
    assert parse_json("[" * MAX_NESTING + "]" * MAX_NESTING)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a', 'b']", ["a", "b"]),
        ("(['a'], {'a': {'k': 1}})", [["a"], {"a": {"k": 1}}]),
        ("{'x': True, 'y': None}", {"x": True, "y": None}),
    ],
)
def test_literals_are_read_with_tuples_as_lists(text: str, value: object) -> None:
    assert parse_literal(text) == value


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "{1, 2}", "b'x'", "1j", "...", "{1: 2}", "1e999", "(" * 300, "-" * 100_000 + "1", "[" * 150 + "]" * 150],
)
def test_no_other_literal_is_read_and_nothing_is_run(text: str) -> None:
    with pytest.raises(ValueError):
        parse_literal(text)


def test_an_odd_escape_in_a_literal_is_no_warning() -> None:
    assert parse_literal(r"['\d']") == [r"\d"]


def test_the_json_error_is_told_when_a_text_is_neither() -> None:
    with pytest.raises(JsonError, match="expecting"):
        parse_json_or_literal('[{"name": }]')


def test_values_in_messages_are_cut_and_hold_nothing_invisible() -> None:
    assert quoted("a\x1b[31m\u202e") == '"a\\u001b[31m\\u202e"'
    assert len(quoted("x" * 500)) == 80

from __future__ import annotations

import json

import pytest

from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.readers import Unreadable
from ci_eval.messages.actions import read_actions, read_expected_actions
from tests.shared import SHARED, needs_shared

A, B = ExpectedAction(name="a"), ExpectedAction(name="b")
A_WITH_K = ExpectedAction(name="a", arguments={"k": 1}, match="exact")


@pytest.mark.parametrize(
    "written",
    [["a", "b"], "a, b", "a -> b", "a\nb\n", '["a", "b"]', "['a', 'b']", [" a ", "b"], [{"name": "a"}, "b"]],
)
def test_names_alone_leave_the_arguments_open(written: object) -> None:
    assert read_expected_actions(written) == (A, B)


@pytest.mark.parametrize(
    "written",
    [
        [{"name": "a", "arguments": {"k": 1}}],
        [{"name": "a", "arguments": '{"k": 1}'}],
        [{"name": "a", "kwargs": {"k": 1}}],
        [{"name": "a", "inputParameters": {"k": 1}}],
        [{"tool_name": "a", "tool_input": {"k": 1}}],
        [{"a": {"k": 1}}],
        [{"type": "function", "id": "1", "function": {"name": "a", "arguments": '{"k": 1}'}}],
        [{"type": "tool_call", "tool_call_id": "1", "name": "a", "arguments": {"k": 1}}],
        [
            {"role": "assistant", "content": [{"type": "function_call", "name": "a", "arguments": '{"k": 1}'}]},
            {"role": "tool", "content": "r"},
        ],
        [{"type": "function_call", "name": "a", "arguments": '{"k": 1}'}, {"type": "function_call_output", "output": "r"}],
        '[{"name": "a", "arguments": {"k": 1}}]',
    ],
)
def test_arguments_that_are_given_must_be_the_same(written: object) -> None:
    assert read_expected_actions(written) == (A_WITH_K,)


def test_an_empty_list_expects_no_call() -> None:
    assert read_expected_actions([]) == ()


@pytest.mark.parametrize("written", [[["a", "b", "a"], {"a": {"k": "1"}}], "(['a', 'b', 'a'], {'a': {'k': '1'}})"])
def test_the_pair_of_names_and_arguments(written: object) -> None:
    first = ExpectedAction(name="a", arguments={"k": "1"}, match="exact", text_values=True)
    assert read_expected_actions(written) == (
        first,
        ExpectedAction(name="b", arguments={}, match="exact", text_values=True),
        first,
    )


def test_an_entry_may_say_how_it_matches() -> None:
    found = read_expected_actions(
        [{"name": "a", "arguments": {"k": 1}, "match": "subset"}, {"name": "a", "arguments": {"k": 1}, "match": "name"}, "b"]
    )
    assert [action.match for action in found] == ["subset", "name", "name"]


def test_null_arguments_leave_them_open_and_an_empty_object_does_not() -> None:
    found = read_expected_actions([{"name": "a", "arguments": None}, {"name": "a", "arguments": {}}])
    assert found == (A, ExpectedAction(name="a", arguments={}, match="exact"))


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (7, ""),
        ("", ""),
        ("[broken", ""),
        ("a, , b", "[1]"),
        ({"a": {}}, ""),
        ([{"arguments": {}}], "[0]"),
        ([""], "[0]"),
        (["a", 7], "[1]"),
        ([["x"], {"y": {}}], "[1].y"),
        ([["x"], {"x": 1}], "[1].x"),
        ([[1], {}], "[0][0]"),
        ([{"a": 1}], "[0].a"),
        ([{"name": "a", "arguments": "{broken"}], "[0].arguments"),
        ([{"name": "a", "arguments": {}, "match": "fuzzy"}], "[0].match"),
        ([{"name": "a", "match": "exact"}], "[0].match"),
    ],
)
def test_what_is_no_expectation_is_refused_with_its_place(written: object, path: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_expected_actions(written)
    assert (caught.value.code, caught.value.path) == ("bad_expected_actions", path)


@pytest.mark.parametrize(
    ("written", "calls"),
    [
        ([], []),
        (["a", {"name": "b", "args": {"k": 1}}], [("a", {}), ("b", {"k": 1})]),
        (
            [
                {"role": "user", "content": "x"},
                {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": ""}}]},
            ],
            [("a", {})],
        ),
        (
            [{"type": "reasoning"}, {"type": "web_search_call", "action": {"q": 1}}, {"type": "mcp_list_tools"}],
            [("web_search", {"q": 1})],
        ),
        ([{"type": "tool_call", "name": "a"}, {"type": "tool_result", "tool_result": 1}], [("a", {})]),
        ('[{"name": "a"}]', [("a", {})]),
    ],
)
def test_a_trajectory_given_outright(written: object, calls: list[tuple[str, object]]) -> None:
    assert [(call.name, call.arguments) for call in read_actions(written)] == calls


@pytest.mark.parametrize(
    ("written", "code"), [(7, "wrong_type"), ([7], "wrong_type"), ([{"arguments": {}}], "tool_call_no_name")]
)
def test_what_is_no_trajectory_is_refused(written: object, code: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_actions(written)
    assert caught.value.code == code


@needs_shared
def test_the_handed_notations_mean_what_they_should() -> None:
    for form in json.loads((SHARED / "data/formats/expected_actions/forms.expected.json").read_text("utf-8")):
        found = [
            {"name": action.name} if action.arguments is None else {"name": action.name, "arguments": action.arguments}
            for action in read_expected_actions(form["input"])
        ]
        assert found == form["actions"], form["input"]

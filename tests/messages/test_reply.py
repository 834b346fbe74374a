from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.domain.case import Case, Source
from ci_eval.domain.message import Message, Text, ToolCall
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.sample import Failure, Usage
from ci_eval.messages.conversation import read_conversation
from ci_eval.messages.readers import READERS


def case(query: str | None = "q", messages: list[object] | None = None) -> Case:
    return Case(
        id="a", query=query, source=Source(file="d"), fingerprint="",
        messages=read_conversation(messages).messages if messages else (),
    )  # fmt: skip


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


LOOK = {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "c1", "name": "lookup", "arguments": {"k": "v"}}]}
FOUND = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "tool_result", "tool_result": {"capital": "SECRET-RESULT"}}]}
QUITO = assistant("The capital is Quito.")
QUITO_STEPS = [LOOK, FOUND, QUITO]


@pytest.mark.parametrize("value", ["Paris.", {"response": "Paris."}, {"output_text": "Paris."}, {"answer": "Paris."}])
def test_a_text_is_the_answer_and_says_nothing_about_calls(value: object) -> None:
    sample = READERS.reply(case(), value)
    assert (sample.output_text, sample.tool_calls, sample.response_start) == ("Paris.", None, 1)
    assert sample.messages == (
        Message(role="user", parts=(Text(text="q"),)),
        Message(role="assistant", parts=(Text(text="Paris."),)),
    )


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(QUITO_STEPS, id="a list"),
        pytest.param({"response": QUITO_STEPS}, id="under response"),
        pytest.param({"response": json.dumps(QUITO_STEPS)}, id="as text"),
        pytest.param({"output_items": QUITO_STEPS}, id="under output_items"),
        pytest.param({"messages": [user("q"), *QUITO_STEPS]}, id="a whole conversation"),
        pytest.param({"response": [user("q"), *QUITO_STEPS]}, id="the agent repeats the query"),
        pytest.param({"sample": {"output_text": "The capital is Quito.", "output_items": QUITO_STEPS}}, id="text and items"),
    ],
)
def test_steps_and_answer_are_found_in_messages(value: object) -> None:
    sample = READERS.reply(case(), value)
    assert sample.output_text == "The capital is Quito."
    assert sample.tool_calls == (ToolCall(name="lookup", arguments={"k": "v"}, id="c1"),)
    assert [message.role for message in sample.response] == ["assistant", "tool", "assistant"]
    assert sample.response_start == 1


@pytest.mark.parametrize(
    "text", ["[see note] The capital is Quito.", "[1, 2]", '[{"role": "manager"}]', '{"role": "user"}', "[]"]
)
def test_a_text_that_merely_looks_like_data_stays_text(text: str) -> None:
    sample = READERS.reply(case(), {"response": text})
    assert (sample.output_text, sample.tool_calls) == (text, None)


def test_messages_without_a_call_have_the_empty_trajectory() -> None:
    assert READERS.reply(case(), [assistant("hi")]).tool_calls == ()


def test_the_answer_is_the_last_words_though_the_user_speaks_last() -> None:
    sample = READERS.reply(case(), {"messages": [user("q"), QUITO, user("###STOP###")]})
    assert sample.output_text == "The capital is Quito."


def test_an_agent_that_falls_silent_answered_without_a_word() -> None:
    for value in ({"messages": [user("q"), LOOK]}, {"response": []}, {"response": ""}, "", {"actions": []}, {"tool_calls": []}):
        assert READERS.reply(case(), value).output_text == "", value


def test_a_record_without_any_answer_has_none() -> None:
    sample = READERS.reply(case(), {"id": "a", "reward": 1.0})
    assert (sample.output_text, sample.tool_calls, sample.fields) == (None, None, {"reward": 1.0})


def test_numbers_become_their_json_text() -> None:
    assert READERS.reply(case(), {"response": 42}).output_text == "42"
    assert READERS.reply(case(), {"response": True}).output_text == "true"


def test_calls_beside_a_plain_answer_are_the_trajectory() -> None:
    sample = READERS.reply(case(), {"response": "done", "tool_calls": [{"name": "f"}, {"name": "f"}]})
    assert [call.name for call in sample.tool_calls or ()] == ["f", "f"]


def test_actions_given_outright_win() -> None:
    sample = READERS.reply(case(), {"response": QUITO_STEPS, "actions": ["x"]})
    assert [call.name for call in sample.tool_calls or ()] == ["x"]


def test_history_of_the_case_is_no_part_of_the_response() -> None:
    asked = case("and now?", [{"role": "system", "content": "s"}, user("a"), LOOK, FOUND, assistant("b"), user("and now?")])
    for value in (
        "c",
        [assistant("c")],
        {"messages": [user("a"), LOOK, FOUND, assistant("b"), user("and now?"), assistant("c")]},
    ):
        sample = READERS.reply(asked, value)
        assert [message.parts for message in sample.response] == [(Text(text="c"),)], value
        assert sample.tool_calls == (None if value == "c" else ()), value


def test_the_record_s_own_query_stands_before_its_response() -> None:
    sample = READERS.reply(
        case("other"), {"query": [{"role": "system", "content": "s"}, user("mine")], "response": [assistant("x")]}
    )
    assert [message.role for message in sample.messages] == ["system", "user", "assistant"]
    assert sample.response_start == 2


def test_a_whole_completion_is_its_first_choice() -> None:
    completion = {
        "choices": [{"message": {"role": "assistant", "content": "Let me look.", "tool_calls": [
            {"id": "bad", "function": {"name": "search", "arguments": '{"q": '}}, {"id": "c", "custom": {"name": "sql", "input": "select"}},
        ]}}],
        "usage": {"prompt_tokens": 31, "completion_tokens": 22, "total_tokens": 53},
    }  # fmt: skip
    sample = READERS.reply(case(None), completion)
    assert (sample.output_text, sample.response_start) == ("Let me look.", 0)
    assert [(call.name, call.arguments_error) for call in sample.tool_calls or ()] == [("search", "invalid_json"), ("sql", None)]
    assert sample.usage == Usage(input_tokens=31, output_tokens=22, total_tokens=53)


def test_a_waiting_agent_is_marked() -> None:
    assert READERS.reply(case(), [{"role": "assistant", "content": [{"type": "function_call", "name": "f"}]}]).awaits_caller


@pytest.mark.parametrize("word", ["ok", "completed", "complete", "success", "succeeded", "done", "OK "])
def test_words_for_ok(word: str) -> None:
    assert READERS.reply(case(), {"response": "x", "status": word}).status == "ok"


def test_incomplete_without_an_error_is_ok_with_a_notice() -> None:
    sample = READERS.reply(case(), {"response": "x", "status": "incomplete"})
    assert (sample.status, [notice.code for notice in sample.notices]) == ("ok", ["status_incomplete"])


@pytest.mark.parametrize(
    ("facts", "failure"),
    [
        ({"error": "it broke"}, ("agent_error", "it broke")),
        ({"error": {"code": "rate_limited", "message": "slow down"}}, ("rate_limited", "slow down")),
        ({"error": {"message": "m"}, "status": "ok"}, ("agent_error", "m")),
        ({"error": {"reason": "odd"}}, ("agent_error", '{"reason": "odd"}')),
        ({"error": True}, ("agent_error", "the record's error is true")),
        ({"status": "failed"}, ("agent_error", "the record has the status failed")),
        ({"status": "timeout"}, ("timeout", "the record has the status timeout")),
        ({"status": "incomplete", "error": "cut off"}, ("agent_error", "cut off")),
    ],
)
def test_a_failed_record_is_a_failure(facts: dict[str, object], failure: tuple[str, str]) -> None:
    sample = READERS.reply(case(), {"id": "a", **facts})
    assert sample.status == "error"
    assert sample.failure == Failure(stage="target", code=failure[0], message=failure[1])


@pytest.mark.parametrize("error", [None, "", " ", False, {}])
def test_no_error_is_no_failure(error: object) -> None:
    assert READERS.reply(case(), {"response": "x", "error": error}).failure is None


@pytest.mark.parametrize("status", ["skipped", "not_run"])
def test_a_case_may_not_have_run(status: str) -> None:
    assert READERS.reply(case(), {"id": "a", "status": status}).status == status


def test_facts_have_their_units() -> None:
    sample = READERS.reply(
        case(), {"response": "x", "latency_ms": 250, "cost": 0.01, "usage": {"input_tokens": 3, "output_tokens": 4}}
    )
    assert (sample.latency_s, sample.cost_usd, sample.usage) == (
        0.25,
        0.01,
        Usage(input_tokens=3, output_tokens=4, total_tokens=7),
    )
    assert READERS.reply(case(), {"response": "x", "latency_s": 2}).latency_s == 2
    assert READERS.reply(case(), {"response": "x", "duration_ms": "1500"}).latency_s == 1.5


def test_unknown_facts_are_none_and_never_zero() -> None:
    sample = READERS.reply(case(), {"response": "x", "usage": {"total_tokens": 9}})
    assert (sample.latency_s, sample.cost_usd, sample.usage) == (None, None, Usage(total_tokens=9))


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ({"response": "x", "latency_ms": -1}, "bad_number", "latency_ms"),
        ({"response": "x", "cost": float("nan")}, "bad_number", "cost"),
        ({"response": "x", "cost": 10**400}, "bad_number", "cost"),
        ({"response": "x", "cost": "cheap"}, "wrong_type", "cost"),
        ({"response": "x", "usage": {"total_tokens": -3}}, "bad_number", "usage.total_tokens"),
        ({"response": "x", "usage": {"total_tokens": 1.5}}, "bad_number", "usage.total_tokens"),
        ({"response": "x", "usage": 7}, "wrong_type", "usage"),
        ({"response": "x", "status": "perhaps"}, "bad_status", "status"),
        ({"response": "x", "status": 200}, "bad_status", "status"),
        ({"response": {"text": "x"}}, "wrong_type", "response"),
        ({"response": ["x"]}, "message_not_object", "response[0]"),
        ({"messages": [{"role": "x"}]}, "unknown_role", "messages[0].role"),
        ({"actual_trajectory": [{}]}, "tool_call_no_name", "actual_trajectory[0].name"),
        ({"foo": 1}, "wrong_type", ""),
        ({}, "wrong_type", ""),
        (None, "wrong_type", ""),
        (7, "wrong_type", ""),
    ],
)
def test_what_fits_no_rule_is_refused_with_its_place(value: object, code: str, path: str) -> None:
    with pytest.raises(Unreadable) as caught:
        READERS.reply(case(), value)
    assert (caught.value.code, caught.value.path) == (code, path)


def test_everything_else_stays_a_field() -> None:
    sample = READERS.reply(case(), {"id": "a", "response": "x", "reward": 0.5, "tools": [{"name": "f"}]})
    assert sample.fields == {"reward": 0.5, "tools": [{"name": "f"}], "tool_definitions": [{"name": "f"}]}


KEYS = st.sampled_from(
    ["response", "messages", "actions", "tool_calls", "error", "status", "usage", "cost", "latency", "role", "content", "name"]
)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=10,
))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_reply_is_a_sample_or_refused(value: object) -> None:
    with contextlib.suppress(Unreadable):
        READERS.reply(case(), value)

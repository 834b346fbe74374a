from __future__ import annotations

from ci_eval.domain.message import Conversation, Message, Reasoning, Refusal, Text, ToolCall, calls_in, final_text


def said(text: str) -> Message:
    return Message(role="assistant", parts=(Text(text=text),))


USER = Message(role="user", parts=(Text(text="hi"),))
CALL = Message(role="assistant", parts=(ToolCall(name="look", arguments={}),))


def test_the_final_text_is_the_last_assistant_text_whatever_follows() -> None:
    assert final_text((USER, said("a"), said("b"), CALL, USER)) == "b"


def test_text_parts_are_joined_without_a_separator() -> None:
    assert final_text((Message(role="assistant", parts=(Text(text="a "), Reasoning(text="hm"), Text(text="b"))),)) == "a b"


def test_a_refusal_stands_in_for_a_text() -> None:
    assert final_text((Message(role="assistant", parts=(Refusal(text="no"),)),)) == "no"


def test_there_may_be_no_final_text() -> None:
    assert final_text((USER, CALL)) is None


def test_calls_of_other_roles_do_not_count() -> None:
    assert calls_in((Message(role="user", parts=CALL.parts), CALL)) == CALL.parts


def test_the_response_starts_at_the_first_assistant_or_tool_message() -> None:
    assert Conversation(messages=(USER, CALL)).response_start() == 1
    assert Conversation(messages=(USER,)).response_start() == 1

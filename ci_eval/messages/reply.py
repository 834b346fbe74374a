"""What a target gave back, or somebody recorded -> Sample.

In: a case and a raw value: text, a list of messages, or an object with any of the known fields. Out: one Sample.
Raises Unreadable for anything that fits no rule; nothing is clamped or defaulted. Pure.
Source: the formats page, sections 1.3, 2.1 and 3.5; the evaluators page, "Common rules".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ci_eval.domain.case import Case
from ci_eval.domain.json_text import JsonError, json_type, parse_json, quoted
from ci_eval.domain.message import Conversation, Message, Text, ToolCall, calls_in, final_text
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.roles import Roles, read_roles
from ci_eval.domain.sample import Sample
from ci_eval.messages.actions import read_actions
from ci_eval.messages.conversation import looks_like_messages, read_conversation
from ci_eval.messages.drafts import wrong_type
from ci_eval.messages.facts import read_latency, read_number, read_status, read_usage

_T = TypeVar("_T")

ANSWER_ROLES: Final = ("output_items", "response", "messages", "actions", "tool_calls")
_TAKEN_ROLES: Final = frozenset({
    *ANSWER_ROLES, "id", "trial", "query", "usage", "cost_usd", "latency_ms", "latency_s", "error", "status",
})  # fmt: skip
"""Roles that become a field of the Sample; every other column stays in `Sample.fields`."""
_OBJECT_EXPECTED: Final = "expected text, an array of messages, or an object with response, messages, actions, error, …"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The answer proper, without the facts about it."""

    output_text: str | None = None
    messages: tuple[Message, ...] = ()
    response_start: int = 0
    tool_calls: tuple[ToolCall, ...] | None = None
    awaits_caller: bool = False
    notices: tuple[Notice, ...] = ()


def read_reply(case: Case, value: object) -> Sample:
    """Read one answer to a case, live or recorded."""
    if isinstance(value, (str, list)):
        return _sample_of(_read_response(_query_messages(case), value, path=""))
    if not isinstance(value, Mapping):
        raise Unreadable("wrong_type", f"the answer is {json_type(value)} {quoted(value)}; {_OBJECT_EXPECTED}")
    if isinstance(value.get("choices"), list):
        answer = _read_messages_answer(_query_messages(case), _conversation(value, ""))
        return replace(_sample_of(answer), usage=read_usage(value.get("usage"), "usage"))
    roles = read_roles(value, purpose="outputs")
    if not roles.values:
        raise Unreadable("wrong_type", f"the answer has the keys {quoted(list(value))} and no known one; {_OBJECT_EXPECTED}")
    return _read_record(case, roles)


def _read_record(case: Case, roles: Roles) -> Sample:
    values, columns = roles.values, roles.columns
    status, failure, notices = read_status(roles)
    answer = _read_answer(case, roles)
    return Sample(
        status=status, failure=failure,
        output_text=answer.output_text, messages=answer.messages, response_start=answer.response_start,
        tool_calls=answer.tool_calls, awaits_caller=answer.awaits_caller,
        fields=_other_fields(roles),
        usage=read_usage(values.get("usage"), columns.get("usage", "usage")),
        cost_usd=read_number(values.get("cost_usd"), columns.get("cost_usd", "cost_usd")),
        latency_s=read_latency(roles),
        notices=merge_notices((*roles.notices, *notices, *answer.notices)),
    )  # fmt: skip


def _sample_of(answer: _Answer) -> Sample:
    return Sample(
        output_text=answer.output_text, messages=answer.messages, response_start=answer.response_start,
        tool_calls=answer.tool_calls, awaits_caller=answer.awaits_caller, notices=answer.notices,
    )  # fmt: skip


def _other_fields(roles: Roles) -> Mapping[str, object]:
    """Keep every column that became no part of the sample, and its role's name beside it."""
    taken = {column for role, column in roles.columns.items() if role in _TAKEN_ROLES}
    fields = {column: value for column, value in roles.fields.items() if column not in taken}
    named = {role: value for role, value in roles.values.items() if role not in _TAKEN_ROLES}
    return {**named, **fields}


def _read_answer(case: Case, roles: Roles) -> _Answer:
    """Find messages, final text and trajectory in the fields that were given."""
    values, columns = roles.values, roles.columns
    query = _own_query(case, roles)
    answer = _Answer(messages=query, response_start=len(query))
    if "messages" in values:
        conversation = _conversation(values["messages"], columns["messages"])
        answer = _read_whole_conversation(case, conversation)
    given = "output_items" if "output_items" in values else "response"
    if given in values:
        history = answer.messages if "messages" in values else query
        answer = _with_response(answer, _read_response(history, values[given], path=columns[given]))
        spoken = values.get("response")
        if given == "output_items" and isinstance(spoken, str):
            answer = replace(answer, output_text=spoken)
    if "actions" in values:
        answer = replace(answer, tool_calls=_placed(read_actions, values["actions"], columns["actions"]))
    elif "tool_calls" in values and answer.tool_calls is None:
        answer = replace(answer, tool_calls=_placed(read_actions, values["tool_calls"], columns["tool_calls"]))
    if answer.output_text is None and any(role in values for role in ANSWER_ROLES):
        answer = replace(answer, output_text="")
    return answer


def _read_whole_conversation(case: Case, conversation: Conversation) -> _Answer:
    """Read a conversation that holds the query too."""
    start = _end_of_query(case, conversation)
    response = conversation.messages[start:]
    return _Answer(
        output_text=final_text(response), messages=conversation.messages, response_start=start,
        tool_calls=calls_in(response), awaits_caller=conversation.awaits_caller, notices=conversation.notices,
    )  # fmt: skip


def _end_of_query(case: Case, conversation: Conversation) -> int:
    """Return where the response starts: behind the case's own messages where the conversation opens with them."""
    asked = [message for message in case.messages if message.role != "system"]
    matched = 0
    for index, message in enumerate(conversation.messages):
        if message.role == "system":
            continue
        if matched == len(asked):
            return index if asked else conversation.response_start()
        if message != asked[matched]:
            return conversation.response_start()
        matched += 1
    return len(conversation.messages) if asked and matched == len(asked) else conversation.response_start()


def _with_response(answer: _Answer, response: _Answer) -> _Answer:
    """Let an explicit response decide, but keep the steps of a whole conversation beside a plain text."""
    has_steps = len(answer.messages) > answer.response_start
    said = response.messages[response.response_start :]
    if has_steps and response.tool_calls is None:
        return replace(answer, output_text=response.output_text)
    if has_steps and said and answer.messages[-len(said) :] == said:
        return answer
    return response


def _read_response(query: tuple[Message, ...], value: object, *, path: str) -> _Answer:
    """Read a response: text (maybe the text of a message list), messages, items or a whole completion."""
    if isinstance(value, str):
        encoded = _encoded_messages(value)
        return _read_text_answer(query, value) if encoded is None else _read_messages_answer(query, encoded)
    if isinstance(value, (bool, int, float)):
        return _read_text_answer(query, json.dumps(value))
    if isinstance(value, list) or (isinstance(value, Mapping) and isinstance(value.get("choices"), list)):
        return _read_messages_answer(query, _conversation(value, path))
    raise wrong_type(value, "text or an array of messages", path)


def _read_text_answer(query: tuple[Message, ...], text: str) -> _Answer:
    said = (Message(role="assistant", parts=(Text(text=text),)),) if text else ()
    return _Answer(output_text=text, messages=(*query, *said), response_start=len(query))


def _read_messages_answer(query: tuple[Message, ...], conversation: Conversation) -> _Answer:
    """Put the query in front, unless the agent gave its whole conversation back."""
    start = _repeated_query(query, conversation)
    messages = (*query, *conversation.messages) if start is None else conversation.messages
    start = len(query) if start is None else start
    response = messages[start:]
    return _Answer(
        output_text=final_text(response) or "", messages=messages, response_start=start, tool_calls=calls_in(response),
        awaits_caller=conversation.awaits_caller, notices=conversation.notices,
    )  # fmt: skip


def _repeated_query(query: tuple[Message, ...], conversation: Conversation) -> int | None:
    """Return where the response starts in messages that open with the user's words; None when they are response only."""
    asked = tuple(message for message in query if message.role != "system")
    opening = tuple(message for message in conversation.messages if message.role != "system")[: len(asked)]
    systems = len(conversation.messages) - len([m for m in conversation.messages if m.role != "system"])
    if asked and opening == asked:
        return len(asked) + systems
    starts = conversation.response_start()
    return starts if any(message.role == "user" for message in conversation.messages[:starts]) else None


def _encoded_messages(text: str) -> Conversation | None:
    """Read a text that is the JSON of a message list; every other text is just text."""
    if not text.lstrip().startswith("["):
        return None
    try:
        value = parse_json(text)
        return read_conversation(value) if looks_like_messages(value) else None
    except (JsonError, Unreadable):
        return None


def _own_query(case: Case, roles: Roles) -> tuple[Message, ...]:
    """Return the query as messages: the record's own where it has one, else the case's."""
    own = roles.values.get("query")
    if isinstance(own, list):
        return _conversation(own, roles.columns["query"]).messages
    if isinstance(own, str) and own != case.query:
        encoded = _encoded_messages(own)
        return encoded.messages if encoded else (Message(role="user", parts=(Text(text=own),)),) if own else ()
    return _query_messages(case)


def _query_messages(case: Case) -> tuple[Message, ...]:
    if case.messages or not case.query:
        return case.messages
    return (Message(role="user", parts=(Text(text=case.query),)),)


def _conversation(value: object, path: str) -> Conversation:
    return _placed(read_conversation, value, path)


def _placed(read: Callable[[object], _T], value: object, path: str) -> _T:
    """Call a reader and put the column in front of the path of what it finds wrong."""
    try:
        return read(value)
    except Unreadable as error:
        raise error.within(path) from None

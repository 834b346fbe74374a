"""A list of messages of any known dialect -> Conversation.

In: raw JSON (or its text, or an object around it). Out: messages in our one form, with notices for what was odd.
Raises Unreadable with the path within the value. Pure. Source: the formats page, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.domain.json_text import JsonError, json_type, parse_json, quoted, shown_name
from ci_eval.domain.message import Conversation, Message, Other, ToolCall
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.readers import Unreadable
from ci_eval.messages.chat import read_chat
from ci_eval.messages.dialects import dialect_of
from ci_eval.messages.drafts import APPROVAL_REQUEST, ROLES, Draft, RawMessage, wrong_type
from ci_eval.messages.pairing import pair_results

_EXPECTED = "an array of messages"


def read_conversation(value: object) -> Conversation:
    """Read a whole conversation, or one half of it."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except JsonError as error:
            raise Unreadable(
                "wrong_type", f"found text that is not the JSON of a message list ({error.message}); expected {_EXPECTED}"
            ) from None
    value, path = _unwrap(value)
    if not isinstance(value, list):
        raise wrong_type(value, _EXPECTED, path)
    members = _objects(value, path)
    dialect = dialect_of(members)
    drafts = dialect.read(members, path) if dialect else read_chat(members, path)
    messages, unasked = pair_results(drafts)
    return Conversation(messages=messages, notices=_notices(messages, unasked), awaits_caller=_awaits_caller(drafts, messages))


def looks_like_messages(value: object) -> bool:
    """True for a list of objects in which every member is a message or item of a known kind; for text that may be an answer too."""
    if not isinstance(value, list) or not value or not all(isinstance(member, Mapping) for member in value):
        return False
    return dialect_of(value) is not None and all(
        (isinstance(member.get("role"), str) and member["role"] in ROLES) or isinstance(member.get("type"), str)
        for member in value
    )


def _unwrap(value: object) -> tuple[object, str]:
    """Take the list out of `{messages: …}`, `{conversation: {messages: …}}`, `{values: …}` or a whole ChatCompletion."""
    path = ""
    for _ in range(3):
        if not isinstance(value, Mapping):
            break
        key = next((key for key in ("messages", "conversation", "values") if isinstance(value.get(key), (list, Mapping))), None)
        if key is not None:
            value, path = value[key], f"{path}.{key}" if path else key
        elif isinstance(value.get("choices"), list):
            return completion_messages(value)
        else:
            break
    return value, path


def completion_messages(completion: Mapping[str, object]) -> tuple[list[object], str]:
    """Return the first choice's message of a ChatCompletion as a list."""
    choices = completion.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        raise Unreadable(
            "wrong_type", "a completion without choices[0].message; expected the whole ChatCompletion", path="choices"
        )
    return [{"role": "assistant", **message}], "choices[0].message"


def _objects(members: list[object], path: str) -> Sequence[RawMessage]:
    for index, member in enumerate(members):
        if not isinstance(member, Mapping):
            raise Unreadable(
                "message_not_object",
                f"found {json_type(member)} {quoted(member)} among the messages; expected an object with a role",
                path=f"{path}[{index}]",
            )
    return [member for member in members if isinstance(member, Mapping)]


def _awaits_caller(drafts: Sequence[Draft], messages: tuple[Message, ...]) -> bool:
    """True when the last thing the assistant did was to ask its caller for a function's result or an approval."""
    if drafts and drafts[-1].role == "assistant" and drafts[-1].last_item == APPROVAL_REQUEST:
        return True
    last = messages[-1].parts[-1] if messages and messages[-1].role == "assistant" else None
    return isinstance(last, ToolCall) and last.source_type == "function_call"


def _notices(messages: tuple[Message, ...], unasked: int) -> tuple[Notice, ...]:
    notices = [
        Notice(code="broken_arguments", message="arguments of a call are not a JSON object; they equal nothing")
        for message in messages
        for part in message.parts
        if isinstance(part, ToolCall) and part.arguments_error
    ]
    notices += [
        Notice(code="unknown_item", message=f"content items of the kind {shown_name(part.source_type)} are kept unread")
        for message in messages
        for part in message.parts
        if isinstance(part, Other)
    ]
    if unasked:
        notices.append(Notice(code="result_without_call", message="a tool result belongs to no call", count=unasked))
    return merge_notices(notices)

"""Case -> what a program is told about it, as plain JSON.

Messages are written in the OpenAI chat form, which most agents take as it is. Pure.
"""

from __future__ import annotations

from ci_eval.domain.canonical import compact
from ci_eval.domain.case import Case
from ci_eval.domain.message import Media, Message, Other, Part, Reasoning, Refusal, Text, ToolCall, ToolResult


def function_arguments(case: Case, trial: int) -> dict[str, object]:
    """Everything a Python function may ask for by the name of its parameters."""
    return {
        "query": case.query,
        "messages": chat_messages(case),
        "case": {"id": case.id, "fields": case.fields, "tags": list(case.tags)},
        "item": case.fields,
        "trial": trial,
    }


def command_input(case: Case, trial: int) -> dict[str, object]:
    """The one JSON object that a command reads from stdin."""
    return {
        "id": case.id,
        "query": case.query,
        "messages": chat_messages(case),
        "item": case.fields,
        "tags": list(case.tags),
        "trial": trial,
    }


def chat_messages(case: Case) -> list[dict[str, object]]:
    """The conversation so far: the case's own messages, or its query as one user message."""
    if case.messages:
        return [_chat(message) for message in case.messages]
    return [] if case.query is None else [{"role": "user", "content": case.query}]


def _chat(message: Message) -> dict[str, object]:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if results:
        return {"role": "tool", "tool_call_id": results[0].id, "content": compact(results[0].output)}
    chat: dict[str, object] = {"role": message.role, "content": _content(message.parts)}
    if message.name is not None:
        chat["name"] = message.name
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if calls:
        chat["tool_calls"] = [_chat_call(call) for call in calls]
    return chat


def _content(parts: tuple[Part, ...]) -> object:
    """Text where there is only text, a list of items where there is more, null where there are only calls."""
    spoken = [part for part in parts if not isinstance(part, (ToolCall, Reasoning, Other))]
    if not spoken:
        return None
    if all(isinstance(part, (Text, Refusal)) for part in spoken):
        return "".join(part.text for part in spoken if isinstance(part, (Text, Refusal)))
    return [_item(part) for part in spoken]


def _item(part: Part) -> dict[str, object]:
    if isinstance(part, Media):
        if part.kind == "image":
            return {"type": "image_url", "image_url": {"url": part.ref}}
        return {"type": "file", "file": {"file_id": part.ref}}
    return {"type": "text", "text": part.text if isinstance(part, (Text, Refusal)) else ""}


def _chat_call(call: ToolCall) -> dict[str, object]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": compact(call.arguments)}}

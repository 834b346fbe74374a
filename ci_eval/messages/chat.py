"""The chat dialect: every member has a role. OpenAI Chat Completions and Foundry agent messages.

In: message objects. Out: drafts. Pure. Source: the formats page, section 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.domain.message import Part, Reasoning, Refusal, Text, ToolResult
from ci_eval.messages.calls import read_call, read_id
from ci_eval.messages.content import error_mark, output_value, read_content
from ci_eval.messages.drafts import Draft, RawMessage, cut_at_results, read_role, wrong_type

RESULT_ITEMS = frozenset({"tool_result", "function_call_output", "openapi_call_output"})


def is_chat(members: Sequence[RawMessage]) -> bool:
    """Every member has a role."""
    return all("role" in member for member in members)


def read_chat(members: Sequence[RawMessage], path: str) -> list[Draft]:
    """Read the messages one by one."""
    return [draft for index, member in enumerate(members) for draft in read_message(member, f"{path}[{index}]")]


def read_message(message: RawMessage, path: str) -> list[Draft]:
    """Read one message; a result inside it cuts it in two."""
    role = read_role(message, path)
    if role == "tool":
        return _read_results(message, path)
    parts, last_item = read_content(message.get("content"), f"{path}.content")
    if role == "assistant":
        more = _beside_content(message, path)
        parts, last_item = [*parts, *more], more[-1].type if more else last_item
    name = message.get("name")
    return cut_at_results(role, parts, name=name if isinstance(name, str) else None, last_item=last_item)


def _beside_content(message: RawMessage, path: str) -> list[Part]:
    """Read what OpenAI keeps beside `content`: refusal, spoken words, calls."""
    parts: list[Part] = []
    refusal, audio = message.get("refusal"), message.get("audio")
    if isinstance(refusal, str) and refusal:
        parts.append(Refusal(text=refusal))
    transcript = audio.get("transcript") if isinstance(audio, Mapping) else None
    if isinstance(transcript, str) and transcript:
        parts.append(Text(text=transcript))
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise wrong_type(calls, "an array of tool calls", f"{path}.tool_calls")
    for index, call in enumerate(calls or ()):
        where = f"{path}.tool_calls[{index}]"
        if not isinstance(call, Mapping):
            raise wrong_type(call, "a tool call (object)", where)
        parts.append(read_call(call, where, source_type="tool_call"))
    old = message.get("function_call")
    if isinstance(old, Mapping) and not calls:
        parts.append(read_call(old, f"{path}.function_call", source_type="tool_call"))
    return parts


def _read_results(message: RawMessage, path: str) -> list[Draft]:
    """Read a tool message: result items, or a content that is the result itself."""
    content = message.get("content") or message.get("error") or message.get("content")
    results = _result_items(content, path)
    if not results:
        results = [ToolResult(output=output_value(content))]
    name, status, is_error = message.get("name"), message.get("status"), error_mark(message)
    return [
        Draft(
            role="tool",
            parts=(
                ToolResult(
                    output=result.output,
                    id=result.id or read_id({key: value for key, value in message.items() if key != "id"}),
                    name=result.name or (name if isinstance(name, str) else None),
                    is_error=is_error if result.is_error is None else result.is_error,
                    status=result.status or (status if isinstance(status, str) else None),
                ),
            ),
        )
        for result in results
    ]


def _result_items(content: object, path: str) -> list[ToolResult]:
    if not isinstance(content, list):
        return []
    kinds = [item.get("type") for item in content if isinstance(item, Mapping)]
    if not any(isinstance(kind, str) and kind in RESULT_ITEMS for kind in kinds):
        return []
    parts, _ = read_content(content, f"{path}.content")
    results = [part for part in parts if isinstance(part, ToolResult)]
    if len(results) != len([part for part in parts if not isinstance(part, Reasoning)]):
        raise wrong_type(content, "nothing beside the tool results of a tool message", f"{path}.content")
    return results

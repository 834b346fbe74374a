"""The dialect of Responses items: messages, calls and results side by side in one list.

In: items, also mixed with chat messages as Foundry lists have them. Out: drafts. Pure.
Source: the formats page, sections 2.2 to 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ci_eval.domain.json_text import quoted
from ci_eval.domain.message import Other, Part, ToolCall, ToolResult
from ci_eval.domain.readers import Unreadable
from ci_eval.messages.calls import read_arguments, read_call, read_id, read_name
from ci_eval.messages.chat import read_message
from ci_eval.messages.content import ITEM_READERS, output_value
from ci_eval.messages.drafts import APPROVAL_REQUEST, Draft, RawMessage

SILENT_ITEMS: Final = frozenset({
    "mcp_list_tools", APPROVAL_REQUEST, "mcp_approval_response", "item_reference", "compaction",
})  # fmt: skip
"""Items that become nothing."""
NAMED_CALLS: Final = frozenset({"function_call", "tool_call", "openapi_call"})


def is_responses(members: Sequence[RawMessage]) -> bool:
    """Some member is a typed item."""
    return any(_is_item(member) for member in members)


def _is_item(member: RawMessage) -> bool:
    kind = member.get("type")
    if not isinstance(kind, str):
        return False
    return is_call_type(kind) or is_output_type(kind) or kind in SILENT_ITEMS or kind in ("reasoning", "message")


def is_call_type(kind: str) -> bool:
    """`function_call`, `web_search_call`, …"""
    return kind.endswith("_call")


def is_output_type(kind: str) -> bool:
    """`function_call_output`, `computer_call_output`, …, and Foundry's bare `tool_result`."""
    return kind.endswith("_output") or kind == "tool_result"


def read_responses(members: Sequence[RawMessage], path: str) -> list[Draft]:
    """Read the items; neighbouring ones of the assistant form one message, a result or a user item ends it."""
    drafts: list[Draft] = []
    for index, member in enumerate(members):
        for draft in _read_item(member, f"{path}[{index}]"):
            last = drafts[-1] if drafts else None
            if last is not None and last.role == draft.role == "assistant":
                drafts[-1] = Draft(
                    role="assistant", parts=last.parts + draft.parts, name=last.name or draft.name, last_item=draft.last_item
                )
            else:
                drafts.append(draft)
    return drafts


def _read_item(item: RawMessage, path: str) -> list[Draft]:
    kind = item.get("type")
    if "role" in item and (kind is None or kind == "message"):
        return read_message(item, path)
    if not isinstance(kind, str):
        raise Unreadable(
            "unknown_role", f"a message without role and type, with the keys {quoted(list(item))}; expected a role", path=f"{path}.role"
        )  # fmt: skip
    if is_output_type(kind):
        result = ITEM_READERS["tool_result"](item, path)
        return [Draft(role="tool", parts=(result,) if result else ())]
    if is_call_type(kind):
        return _drafts_of(call_with_result(item, path), kind)
    if kind in SILENT_ITEMS:
        return _drafts_of([], kind)
    reader = ITEM_READERS.get(kind)
    part = reader(item, path) if reader else Other(source_type=kind)
    return _drafts_of([] if part is None else [part], kind)


def _drafts_of(parts: Sequence[Part], kind: str) -> list[Draft]:
    said = tuple(part for part in parts if not isinstance(part, ToolResult))
    results = [Draft(role="tool", parts=(part,)) for part in parts if isinstance(part, ToolResult)]
    return [Draft(role="assistant", parts=said, last_item=kind), *results]


def call_with_result(item: RawMessage, path: str) -> list[ToolCall | ToolResult]:
    """Read one call item, with its result where the provider ran the tool itself."""
    kind = str(item["type"])
    if kind in NAMED_CALLS:
        return [read_call(item, path)]
    if kind == "custom_tool_call":
        return [_call(item, read_name(item, path), {"input": item.get("input")})]
    if kind == "mcp_call":
        return _mcp_call(item, path)
    if kind == "image_generation_call":
        call = _call(item, "image_generation", {"prompt": item.get("revised_prompt")})
        return [call, _built_in_result(call, "[image]")] if item.get("result") else [call]
    name = kind.removesuffix("_call")
    if kind in _BUILT_IN:
        argument, result = _BUILT_IN[kind]
        call = _call(item, name, {argument: item.get(argument)})
        return [call] if item.get(result) is None else [call, _built_in_result(call, item[result])]
    return [_call(item, name, _loose_arguments(item))]


_BUILT_IN: Final[Mapping[str, tuple[str, str]]] = {
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "outputs"),
}
"""Built-in tools that report a result: the key of the one argument, the key of the result."""


def _mcp_call(item: RawMessage, path: str) -> list[ToolCall | ToolResult]:
    arguments, wrong = read_arguments(item.get("arguments"))
    call = _call(item, read_name(item, path), arguments)
    if wrong is not None:
        call = ToolCall(
            name=call.name,
            arguments=arguments,
            arguments_error=wrong,
            id=call.id,
            status=call.status,
            source_type=call.source_type,
        )
    error, output = item.get("error"), item.get("output")
    if error is None and output is None:
        return [call]
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("content") or error
    return [
        call,
        ToolResult(
            output=output_value(output if error is None else error), id=call.id, name=call.name, is_error=error is not None,
            status=call.status,
        ),
    ]  # fmt: skip


def _call(item: RawMessage, name: str, arguments: object) -> ToolCall:
    status = item.get("status")
    return ToolCall(
        name=name, arguments=arguments, id=read_id(item), status=status if isinstance(status, str) else None,
        source_type=str(item["type"]),
    )  # fmt: skip


def _built_in_result(call: ToolCall, output: object) -> ToolResult:
    return ToolResult(
        output=output_value(output), id=call.id, name=call.name, is_error=call.status == "failed", status=call.status
    )


def _loose_arguments(item: RawMessage) -> object:
    """Return what a call of an unlisted kind was given: action, operation or arguments, else all its own members."""
    for key in ("action", "operation", "arguments"):
        if item.get(key) is not None:
            value, wrong = read_arguments(item[key])
            return value if wrong is None else {key: item[key]}
    return {key: value for key, value in item.items() if key not in ("id", "type", "status", "call_id")}

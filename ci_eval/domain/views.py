"""What templates may reach: `{{item.x}}` of a case and `{{sample.x}}` of what was answered.

In: a Case or a Sample. Out: plain JSON values, messages in the Foundry form. Pure.
Source: the formats page, section 3.2 and the end of 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ci_eval.domain.case import Case
from ci_eval.domain.json_text import JsonError, parse_json
from ci_eval.domain.message import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult
from ci_eval.domain.sample import Sample, Usage


def case_view(case: Case) -> Mapping[str, object]:
    """Return the row's own columns, and each role under its name where the row has no such column."""
    return {**case.roles, **case.fields}


def sample_view(sample: Sample, *, case: Case | None = None, trial: int | None = None) -> Mapping[str, object]:
    """Return everything a template can say about a sample; what is not known is not there."""
    known: dict[str, object] = {
        "output_text": sample.output_text,
        "output_items": foundry_messages(sample.response) if sample.messages else None,
        "messages": foundry_messages(sample.messages) if sample.messages else None,
        "output_json": _output_json(sample.output_text),
        "tool_definitions": sample.fields.get("tool_definitions") or (case.roles.get("tool_definitions") if case else None),
        "latency_ms": None if sample.latency_s is None else sample.latency_s * 1000,
        "usage": _usage(sample.usage),
        "cost_usd": sample.cost_usd,
        "error": {"code": sample.failure.code, "message": sample.failure.message} if sample.failure else None,
        "status": sample.status,
        "trial": trial,
    }
    if sample.tool_calls is not None:
        known["tool_calls"] = [_call_item(call) for call in sample.tool_calls]
        known["actions"] = [{"name": call.name, "arguments": call.arguments} for call in sample.tool_calls]
    return {**sample.fields, **{name: value for name, value in known.items() if value is not None}}


def foundry_messages(messages: Iterable[Message]) -> list[dict[str, object]]:
    """Write messages in the form that agent evaluators document; thinking is left out, it is never part of an answer."""
    written: list[dict[str, object]] = []
    for message in messages:
        content = [_item(part) for part in message.parts if not isinstance(part, Reasoning)]
        if not content:
            continue
        result = message.parts[0]
        if isinstance(result, ToolResult) and result.id is not None:
            written.append({"role": message.role, "tool_call_id": result.id, "content": content})
        else:
            written.append({"role": message.role, "content": content})
    return written


def _item(part: Part) -> dict[str, object]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Refusal():
            return {"type": "refusal", "refusal": part.text}
        case ToolCall():
            return _call_item(part)
        case ToolResult():
            item: dict[str, object] = {"type": "tool_result", "tool_result": part.output}
            if part.name is not None:
                item["name"] = part.name
            if part.is_error is not None:
                item["is_error"] = part.is_error
            return item
        case Media():
            return {"type": f"input_{part.kind}", "url": part.ref, **({"mime": part.mime} if part.mime else {})}
        case _:
            return {"type": part.source_type if not isinstance(part, Reasoning) else part.type}


def _call_item(call: ToolCall) -> dict[str, object]:
    item: dict[str, object] = {"type": "tool_call", "name": call.name, "arguments": call.arguments}
    return item if call.id is None else item | {"tool_call_id": call.id}


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens, "total_tokens": usage.total_tokens,
    }  # fmt: skip
    return {name: count for name, count in counts.items() if count is not None}


def _output_json(text: str | None) -> object:
    if text is None:
        return None
    try:
        return parse_json(text)
    except JsonError:
        return None

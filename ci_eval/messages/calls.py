"""One tool call, in any notation.

In: one JSON object. Out: a ToolCall; Unreadable `tool_call_no_name` when nobody knows what was called. Pure.
Source: the formats page, sections 2.1 (arguments), 2.4 and 3.5; the evaluators page, "Common rules".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ci_eval.domain.json_text import JsonError, parse_json, quoted
from ci_eval.domain.message import ArgumentsError, ToolCall
from ci_eval.domain.readers import Unreadable

ARGUMENT_KEYS: Final = (
    "arguments", "args", "input", "kwargs", "parameters", "input_parameters", "inputParameters", "tool_input",
)  # fmt: skip
NAME_KEYS: Final = ("name", "tool_name")
NESTED_KEYS: Final = ("function", "custom", "tool_call", "function_call")
"""Keys under which the call itself lies, in OpenAI's and Foundry's nested forms."""
ID_KEYS: Final = ("tool_call_id", "call_id", "id", "tool_use_id")


def read_call(entry: Mapping[str, object], path: str, *, source_type: str | None = None) -> ToolCall:
    """Read a call written flat, nested, in OpenAI's, Foundry's or a tracing tool's words."""
    body, body_path = call_body(entry, path)
    name = read_name(body, body_path)
    arguments, error = read_arguments(_first_given(body, ARGUMENT_KEYS))
    if isinstance(entry.get("custom"), Mapping):
        arguments, error = {"input": body.get("input")}, None
    written_type = entry.get("type")
    status = entry.get("status")
    return ToolCall(
        name=name, arguments=arguments, arguments_error=error,
        id=_id_along(entry),
        status=status if isinstance(status, str) else None,
        source_type=source_type or (written_type if isinstance(written_type, str) else "tool_call"),
    )  # fmt: skip


def call_body(entry: Mapping[str, object], path: str) -> tuple[Mapping[str, object], str]:
    """Return the innermost object that describes the call, and its path."""
    if any(isinstance(entry.get(key), str) for key in NAME_KEYS):
        return entry, path
    for key in NESTED_KEYS:
        inner = entry.get(key)
        if isinstance(inner, Mapping):
            return call_body(inner, f"{path}.{key}")
    return entry, path


def read_name(body: Mapping[str, object], path: str) -> str:
    """Return the trimmed name of the called tool."""
    name = next((body[key] for key in NAME_KEYS if body.get(key) is not None), None)
    if name is None and isinstance(body.get("function"), str):
        name = body["function"]
    if not isinstance(name, str) or not name.strip():
        found = "a tool call without a name" if name is None else f"a tool call with the name {quoted(name)}"
        raise Unreadable("tool_call_no_name", f"{found}; every call needs the name of its tool as text", path=f"{path}.name")
    return name.strip()


def read_id(entry: Mapping[str, object]) -> str | None:
    """Return the id that ties a call and its result together, as text."""
    for key in ID_KEYS:
        value = entry.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _id_along(entry: Mapping[str, object]) -> str | None:
    """Return the first id on the way from the entry to the call inside it."""
    found = read_id(entry)
    inner = next((entry[key] for key in NESTED_KEYS if isinstance(entry.get(key), Mapping)), None)
    return found if found is not None or not isinstance(inner, Mapping) else _id_along(inner)


def read_arguments(value: object) -> tuple[object, ArgumentsError | None]:
    """Return the object of arguments, or the value as it came with what is wrong about it."""
    for _ in range(2):  # some frameworks encode the arguments twice
        if not isinstance(value, str):
            break
        if not value.strip():
            return {}, None
        try:
            value = parse_json(value)
        except JsonError:
            return value, "invalid_json"
    if value is None:
        return {}, None
    return (value, None) if isinstance(value, Mapping) else (value, "not_an_object")


def has_arguments(body: Mapping[str, object]) -> bool:
    """True when the call says anything about its arguments; null says nothing."""
    return _first_given(body, ARGUMENT_KEYS) is not None


def _first_given(body: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((body[key] for key in keys if body.get(key) is not None), None)

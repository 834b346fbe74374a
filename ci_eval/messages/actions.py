"""Trajectories given outright, and expected ones, in every notation people use.

In: raw JSON or text. Out: ToolCalls or ExpectedActions in order; Unreadable with the path within the value. Pure.
Source: the formats page, section 3.5; the evaluators page, task_navigation_efficiency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, get_args

from ci_eval.domain.case import ArgumentMatch, ExpectedAction
from ci_eval.domain.json_text import JsonError, json_type, parse_json_or_literal, quoted, shown_name
from ci_eval.domain.message import ToolCall, calls_in
from ci_eval.domain.readers import Unreadable
from ci_eval.messages.calls import (
    ARGUMENT_KEYS,
    ID_KEYS,
    NAME_KEYS,
    NESTED_KEYS,
    call_body,
    has_arguments,
    read_call,
)
from ci_eval.messages.conversation import read_conversation
from ci_eval.messages.drafts import wrong_type
from ci_eval.messages.responses import NAMED_CALLS, SILENT_ITEMS, call_with_result, is_call_type, is_output_type

_EXPECTED_FORMS: Final = (
    'expected a list of names, of {"name": …, "arguments": {…}}, a pair [names, {name: arguments}] or messages'
)
_CALL_KEYS: Final = frozenset((*NAME_KEYS, *ARGUMENT_KEYS, *NESTED_KEYS, *ID_KEYS, "type", "role", "match", "content"))
_NO_CALL_TYPES: Final = SILENT_ITEMS | {"reasoning", "message", "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One entry of a list of steps."""

    name: str
    call: ToolCall | None
    """None for a plain name."""
    entry: Mapping[str, object] | None
    path: str


def read_actions(value: object) -> tuple[ToolCall, ...]:
    """Read what the agent did: messages, items, calls or names."""
    value = _decoded(value)
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        return calls_in(read_conversation(value).messages)
    if not isinstance(value, list):
        raise wrong_type(value, "an array of calls, names or messages", "")
    if _holds_messages(value):
        return calls_in(read_conversation(value).messages)
    return tuple(
        step.call or ToolCall(name=step.name, arguments={})
        for index, entry in enumerate(value)
        for step in _steps(entry, f"[{index}]")
    )


def read_expected_actions(value: object) -> tuple[ExpectedAction, ...]:
    """Read what the agent should do; every problem has the code `bad_expected_actions`."""
    try:
        return _read_expected(_decoded(value))
    except Unreadable as error:
        if error.code in ("tool_call_no_name", "wrong_type"):
            raise Unreadable("bad_expected_actions", error.message, path=error.path.removesuffix(".name")) from None
        raise


def _read_expected(value: object) -> tuple[ExpectedAction, ...]:
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if not isinstance(value, list):
        raise _bad(f"found {json_type(value)} {quoted(value)}; {_EXPECTED_FORMS}", "")
    if _is_pair(value):
        return _read_pair(value[0], value[1])
    if _holds_messages(value):
        return tuple(_exact(call) for call in calls_in(read_conversation(value).messages))
    return tuple(_read_expected_entry(entry, f"[{index}]") for index, entry in enumerate(value) if not _is_no_call(entry))


def _read_expected_entry(entry: object, path: str) -> ExpectedAction:
    lone = _lone_name(entry)
    if lone is not None and isinstance(entry, Mapping):
        arguments = entry[lone]
        if not isinstance(arguments, Mapping):
            raise _bad(f"found {json_type(arguments)} as the arguments of {quoted(lone)}; expected an object", f"{path}.{lone}")
        return ExpectedAction(name=_trimmed(lone, path), arguments=arguments, match="exact")
    step = next(iter(_steps(entry, path)))
    if step.call is None or step.entry is None:
        return ExpectedAction(name=step.name)
    if step.call.arguments_error is not None:
        raise _bad(f"the arguments are {quoted(step.call.arguments)}; expected an object", f"{path}.arguments")
    body, _ = call_body(step.entry, path)
    given = has_arguments(body) or _is_built_in(step.entry)
    arguments = step.call.arguments if given and isinstance(step.call.arguments, Mapping) else None
    return ExpectedAction(
        name=step.name, arguments=arguments, match=_read_match(step.entry, path, has_arguments=arguments is not None)
    )


def _read_match(entry: Mapping[str, object], path: str, *, has_arguments: bool) -> ArgumentMatch:
    written = entry.get("match")
    if written is None:
        return "exact" if has_arguments else "name"
    for known in get_args(ArgumentMatch):
        if written == known:
            if known != "name" and not has_arguments:
                raise _bad(f'match: {known} has no arguments to compare; add "arguments" or write match: name', f"{path}.match")
            found: ArgumentMatch = known
            return found
    raise _bad(f"unknown match {quoted(written)}; expected exact, subset or name", f"{path}.match")


def _read_pair(names: list[object], parameters: Mapping[str, object]) -> tuple[ExpectedAction, ...]:
    """Read Foundry's pair: the names in order, and one set of arguments for each name."""
    trimmed = [_trimmed(name, f"[0][{index}]") for index, name in enumerate(names)]
    by_name: dict[str, Mapping[str, object]] = {}
    for name, arguments in parameters.items():
        path = f"[1].{name}"
        if name.strip() not in trimmed:
            raise _bad(f"arguments for {quoted(name)}, which is not among the names {quoted(trimmed)}", path)
        if not isinstance(arguments, Mapping):
            raise _bad(f"found {json_type(arguments)} as the arguments of {quoted(name)}; expected an object", path)
        by_name[name.strip()] = arguments
    return tuple(ExpectedAction(name=name, arguments=by_name.get(name, {}), match="exact", text_values=True) for name in trimmed)


def _is_pair(value: list[object]) -> bool:
    return len(value) == 2 and isinstance(value[0], list) and isinstance(value[1], Mapping)


def _steps(entry: object, path: str) -> list[_Step]:
    """Read one entry of a list: a name, a call, or an item that is no call at all."""
    if isinstance(entry, str):
        return [_Step(name=_trimmed(entry, path), call=None, entry=None, path=path)]
    if not isinstance(entry, Mapping):
        raise wrong_type(entry, "the name of a tool or a call (object)", path)
    if _is_no_call(entry):
        return []
    found = call_with_result(entry, path)[0] if _is_built_in(entry) else read_call(entry, path)
    if not isinstance(found, ToolCall):
        return []
    return [_Step(name=found.name, call=found, entry=entry, path=path)]


def _is_built_in(entry: Mapping[str, object]) -> bool:
    """True for a Responses item whose kind says what was called and with what."""
    kind = entry.get("type")
    return isinstance(kind, str) and is_call_type(kind) and kind not in NAMED_CALLS


def _is_no_call(entry: object) -> bool:
    """Results, approvals, tool listings and thinking stand among calls without being one."""
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    return isinstance(kind, str) and (is_output_type(kind) or kind in _NO_CALL_TYPES)


def _holds_messages(value: list[object]) -> bool:
    return any(isinstance(entry, Mapping) and "role" in entry for entry in value)


def _lone_name(entry: object) -> str | None:
    """Return the name in `{name: {…}}`, an object with one key that has no other meaning."""
    if not isinstance(entry, Mapping) or len(entry) != 1:
        return None
    key = str(next(iter(entry)))
    return None if key in _CALL_KEYS else key


def _exact(call: ToolCall) -> ExpectedAction:
    if not isinstance(call.arguments, Mapping) or call.arguments_error is not None:
        raise _bad(f"the arguments of {quoted(call.name)} are {quoted(call.arguments)}; expected an object", "")
    return ExpectedAction(name=call.name, arguments=call.arguments, match="exact")


def _trimmed(name: object, path: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise Unreadable("tool_call_no_name", f"found {quoted(name)}; expected the name of a tool as text", path=path)
    return name.strip()


def _decoded(value: object) -> object:
    """Read a text: JSON, a Python literal, or plain names apart by line feed, arrow or comma."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        raise wrong_type(value, "names; write [] for no call at all", "")
    try:
        decoded = parse_json_or_literal(text)
    except JsonError as error:
        if text[0] in "[{(":
            raise wrong_type(value, f"JSON here ({shown_name(error.message)})", "") from None
    else:
        if not isinstance(decoded, str):
            return decoded
        text = decoded.strip() or text
    separator = next((sign for sign in ("\n", "->", ",") if sign in text), None)
    names = text.split(separator) if separator else [text]
    return [name for name in names if name.strip()] if separator == "\n" else list(names)


def _bad(message: str, path: str) -> Unreadable:
    return Unreadable("bad_expected_actions", message, path=path)

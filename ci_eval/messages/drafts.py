"""Messages as a dialect hands them over, before results are paired with calls.

A draft may be empty (a message of nothing but an approval request) and its calls may lack an id. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ci_eval.domain.json_text import json_type, quoted
from ci_eval.domain.message import Other, Part, Role, ToolCall, ToolResult
from ci_eval.domain.readers import Unreadable

RawMessage: TypeAlias = Mapping[str, object]

ROLES: Final[Mapping[str, Role]] = {
    "system": "system", "developer": "system",
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "agent": "assistant", "bot": "assistant",
    "tool": "tool", "function": "tool",
}  # fmt: skip
APPROVAL_REQUEST: Final = "mcp_approval_request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One message in the making."""

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    last_item: str | None = None
    """The source's kind of its last item, also of one that became nothing."""


def read_role(message: RawMessage, path: str) -> Role:
    """Return our role for the source's; Unreadable `unknown_role` when there is none."""
    written = message.get("role")
    if not isinstance(written, str) or written not in ROLES:
        found = "this message has no role" if written is None else f"unknown role {quoted(written)}"
        raise Unreadable("unknown_role", f"{found}; known roles: {', '.join(ROLES)}", path=f"{path}.role")
    return ROLES[written]


def cut_at_results(role: Role, parts: Iterable[Part], *, name: str | None, last_item: str | None) -> list[Draft]:
    """Make drafts of one source message: every result becomes a tool message of its own, calls count in assistant messages only."""
    drafts: list[Draft] = []
    run: list[Part] = []
    for part in parts:
        if isinstance(part, ToolResult):
            if run:
                drafts.append(Draft(role=role, parts=tuple(run), name=name))
                run = []
            drafts.append(Draft(role="tool", parts=(part,)))
        elif isinstance(part, ToolCall) and role != "assistant":
            run.append(Other(source_type=part.source_type))
        else:
            run.append(part)
    if run or not drafts:
        drafts.append(Draft(role=role, parts=tuple(run), name=name, last_item=last_item))
    return drafts


def wrong_type(value: object, expected: str, path: str) -> Unreadable:
    """Return the error for a value of the wrong JSON type."""
    return Unreadable("wrong_type", f"found {json_type(value)} {quoted(value)}; expected {expected}", path=path)

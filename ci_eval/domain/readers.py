"""The doors of `messages/` that other rooms are handed by the spine, since rooms do not import each other. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ci_eval.domain.case import Case, ExpectedAction
from ci_eval.domain.message import Conversation, ToolCall
from ci_eval.domain.sample import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Functions from raw JSON to our nouns; each raises `domain.readers.Unreadable` for input that fits no rule."""

    conversation: Callable[[object], Conversation]
    """A list of messages of any known dialect (or the JSON text of one, or an object with `messages`)."""
    actions: Callable[[object], tuple[ToolCall, ...]]
    """A trajectory given outright: messages, items, calls or names."""
    expected_actions: Callable[[object], tuple[ExpectedAction, ...]]
    """Every accepted notation of an expectation."""
    reply: Callable[[Case, object], Sample]
    """What a target answered for a case: text, messages, or an object with any of the known fields."""


class Unreadable(Exception):
    """A value that fits no rule; the caller adds file and line."""

    def __init__(self, code: str, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        """Place within the value, e.g. `messages[2].content[0]`."""

    def within(self, place: str) -> Unreadable:
        """Return the same error, told from further outside: `[2].name` within `tools` is `tools[2].name`."""
        joint = "." if place and self.path and not self.path.startswith("[") else ""
        return Unreadable(self.code, self.message, path=f"{place}{joint}{self.path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a target gave back before anybody looked into it."""

    value: object
    """Text, a list of messages, or a JSON object with `response`, `messages`, `actions`, `usage`, `error`, …"""
    latency_s: float | None = None
    """Measured by us around the call; None for recorded outputs."""

"""A conversation in one form, whatever vendor wrote it.

Out of `messages/`; read by evaluators and the report. Frozen, pure.
Source of the rules: the formats page, sections 2.1 and 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ci_eval.domain.notice import Notice

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ArgumentsError: TypeAlias = Literal["invalid_json", "not_an_object"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words for the reader."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The assistant declined, in these words."""

    text: str
    type: Literal["refusal"] = "refusal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """Thinking that is never part of the answer."""

    text: str
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call the agent made."""

    name: str
    arguments: object
    """The object of arguments; where `arguments_error` is set, the raw text or value instead."""
    id: str | None = None
    arguments_error: ArgumentsError | None = None
    status: str | None = None
    """`failed`, `completed`, … where the source says so."""
    source_type: str = "tool_call"
    """The source's own item kind: a last item `function_call` means the agent waits for its caller."""
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one call gave back."""

    output: object
    id: str | None = None
    name: str | None = None
    """Name of the call it belongs to; None when nobody asked for it."""
    is_error: bool | None = None
    """What the source says; None when it says nothing. A text that starts with "Error" decides nothing."""
    status: str | None = None
    type: Literal["tool_result"] = "tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, sound, film or file; embedded data is not kept."""

    kind: Literal["image", "audio", "video", "file"]
    mime: str | None
    ref: str
    type: Literal["media"] = "media"


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """An item of a kind nobody knows: kept and counted, never an error."""

    source_type: str
    type: Literal["other"] = "other"


Part: TypeAlias = Text | Refusal | Reasoning | ToolCall | ToolResult | Media | Other


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; a tool message holds exactly one result."""

    role: Role
    parts: tuple[Part, ...]
    """In source order, never empty."""
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages in order, as one agent run left them."""

    messages: tuple[Message, ...]
    notices: tuple[Notice, ...] = ()
    awaits_caller: bool = False
    """The last item is a `function_call` or an approval request: the response is not final."""

    def response_start(self) -> int:
        """Return the index of the first assistant or tool message; the length when there is none."""
        return next((i for i, m in enumerate(self.messages) if m.role in ("assistant", "tool")), len(self.messages))


def calls_in(messages: tuple[Message, ...]) -> tuple[ToolCall, ...]:
    """Return the tool calls of assistant messages in order."""
    return tuple(
        part for message in messages if message.role == "assistant" for part in message.parts if isinstance(part, ToolCall)
    )


def final_text(messages: tuple[Message, ...]) -> str | None:
    """Return the text of the last assistant message that has any, else of its refusal; None when there is none."""
    for message in reversed(messages):
        if message.role != "assistant":
            continue
        for kind in (Text, Refusal):
            texts = [part.text for part in message.parts if isinstance(part, kind)]
            if texts:
                return "".join(texts)
    return None

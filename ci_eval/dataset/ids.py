"""Stable names for cases: given, or made of what is asked.

Pure. Source: the formats page, section 1.4.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ci_eval.domain.canonical import digest
from ci_eval.domain.json_text import json_type, quoted
from ci_eval.domain.message import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult
from ci_eval.domain.readers import Unreadable


def read_id(value: object) -> str:
    """Return a given id as text; Unreadable `bad_id` for anything but text and whole numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise Unreadable("bad_id", f"found {json_type(value)} {quoted(value)}; expected text or a whole number")
    if not value.strip():
        raise Unreadable("bad_id", "the id is empty; expected text or a whole number")
    return value.strip()


def hash_id(asked: object) -> str:
    """Return the id of a case without one: `c-` and 12 hexadecimal digits of the content."""
    return f"c-{digest({'query': asked})[:12]}"


def asked_text(text: str) -> str:
    """Bring a query into the form that counts: NFC, LF, no blanks at the edges."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text).strip()


def asked_messages(messages: Sequence[Message]) -> object:
    """Return what counts of a query given as messages: its one text, else all but the system's words."""
    said = [message for message in messages if message.role != "system"]
    if len(said) == 1 and said[0].role == "user" and all(isinstance(part, Text) for part in said[0].parts):
        return asked_text("".join(part.text for part in said[0].parts if isinstance(part, Text)))
    return [{"role": message.role, "parts": [_counted(part) for part in message.parts]} for message in said]


def _counted(part: Part) -> Mapping[str, object]:
    match part:
        case Text() | Refusal() | Reasoning():
            return {"type": part.type, "text": part.text}
        case ToolCall():
            return {"type": part.type, "name": part.name, "arguments": part.arguments}
        case ToolResult():
            return {"type": part.type, "output": part.output}
        case Media():
            return {"type": part.type, "kind": part.kind, "ref": part.ref}
        case _:
            return {"type": part.type}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a row says it is."""

    id: str
    is_given: bool
    trial: int
    place: str
    """For people: `line 7`."""
    asked: object
    """What is asked; two trials of one case ask the same."""


class IdBook:
    """The ids of one file, as they come."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[int, Identity]] = {}
        self._last_suffix: dict[tuple[str, int], int] = {}
        self.renamed = 0
        """Rows whose content hash was taken, and got `~2`, `~3`, …"""

    def is_further_trial(self, row: Identity) -> bool:
        """True when an earlier row asks the same under the same id, in another trial."""
        taken = self._seen.get(row.id, {})
        return bool(taken) and row.trial not in taken and next(iter(taken.values())).asked == row.asked

    def enter(self, row: Identity, *, one_case_per_id: bool = False) -> Identity:
        """Return the row's identity, a hash made unique; Unreadable `duplicate_id` when a given id comes twice.

        Rows of one id may differ by their trial, unless the file is to have one case per id.
        """
        taken = self._seen.get(row.id, {})
        first = next(iter(taken.values()), None) if one_case_per_id else taken.get(row.trial)
        if first is not None:
            if row.is_given or first.is_given:
                raise Unreadable(
                    "duplicate_id", f"the id {quoted(row.id)} stands at {first.place} already, and again at {row.place}; "
                    "expected every id once, or trial numbers that tell repetitions of one case apart", path="id",
                )  # fmt: skip
            row = self._renamed(row)
        self._seen.setdefault(row.id, {})[row.trial] = row
        return row

    def _renamed(self, row: Identity) -> Identity:
        self.renamed += 1
        number = self._last_suffix.get((row.id, row.trial), 1) + 1
        while row.trial in self._seen.get(f"{row.id}~{number}", {}):
            number += 1
        self._last_suffix[row.id, row.trial] = number
        return replace(row, id=f"{row.id}~{number}")

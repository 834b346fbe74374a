"""The table of dialects. A new one is one file with two functions, and one row here.

Order matters: the first whose sign fits reads the list. Source: the formats page, section 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ci_eval.messages.chat import is_chat, read_chat
from ci_eval.messages.drafts import Draft, RawMessage
from ci_eval.messages.responses import is_responses, read_responses


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One vendor's way to write a list of messages."""

    name: str
    fits: Callable[[Sequence[RawMessage]], bool]
    """The sign that a list of objects is written so."""
    read: Callable[[Sequence[RawMessage], str], list[Draft]]
    """From the list and its path to drafts; raises Unreadable."""


DIALECTS: Final = (
    Dialect(name="responses", fits=is_responses, read=read_responses),
    Dialect(name="chat", fits=is_chat, read=read_chat),
)


def dialect_of(members: Sequence[RawMessage]) -> Dialect | None:
    """Return the dialect of a list of objects, or None."""
    return next((dialect for dialect in DIALECTS if dialect.fits(members)), None)

"""A case: one row of the dataset, with what is expected of the agent. Frozen, pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ci_eval.domain.message import Message

ArgumentMatch: TypeAlias = Literal["exact", "subset", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a row stands in the user's files."""

    file: str
    """As the user wrote it, with forward slashes."""
    line: int | None = None
    """Physical line on which the row starts, from 1; None in a JSON document."""
    path: str | None = None
    """Place within a JSON document, e.g. `data[3]`."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else f"{self.file}:{self.path}" if self.path else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAction:
    """One call that the agent should make."""

    name: str
    arguments: Mapping[str, object] | None = None
    """None: any arguments will do."""
    match: ArgumentMatch = "name"
    """`exact`: the same arguments; `subset`: at least these; `name`: the name decides."""
    text_values: bool = False
    """Only in the form `[names, {name: arguments}]`: a text and a number match by their text ("5" equals 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row: what is asked, and what would be right."""

    id: str
    """Given, or `c-` and 12 hexadecimal digits of the content."""
    query: str | None
    """What the agent is sent, as text: the query, or the last user message before its first answer; None if there is none."""
    source: Source
    fingerprint: str
    """SHA-256 over all that is asked, expected and read by evaluators; equal ids with other fingerprints are not compared."""
    messages: tuple[Message, ...] = ()
    """The query as messages where the row gives it so (history, system message), else empty."""
    fields: Mapping[str, object] = field(default_factory=dict)
    """The row's own columns, untouched JSON: what `{{item.x}}` reads."""
    roles: Mapping[str, object] = field(default_factory=dict)
    """Raw values by role name (`ground_truth`, `context`, `tool_definitions`, …), synonyms resolved."""
    ground_truths: tuple[str, ...] | None = None
    """Reference answers, any of which is right; None when the row has none. An empty text is a reference."""
    expected_actions: tuple[ExpectedAction, ...] | None = None
    """`()` means "call nothing"; None means unknown."""
    title: str | None = None
    """A label for people, never sent to the agent."""
    tags: tuple[str, ...] = ()
    id_is_given: bool = True
    """False when the id is a content hash."""

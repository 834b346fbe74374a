"""What a file holds before anybody asks what it means: values with their places. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ci_eval.domain.notice import Notice
from ci_eval.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One JSON value and where it stands."""

    value: object
    line: int | None = None
    """Physical line it starts on; None within a JSON document."""
    path: str = ""
    """Place within a JSON document, e.g. `data[3]`."""

    @property
    def place(self) -> str:
        """For people: `line 7`, `data[3]`."""
        return f"line {self.line}" if self.line else self.path or "the document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file, parsed."""

    rows: Sequence[Row] | None = None
    """Of JSONL and CSV; None when the file is one JSON value."""
    value: object = None
    """Of a JSON file."""
    columns: tuple[str, ...] | None = None
    """Header of a CSV file."""
    problems: tuple[Problem, ...] = ()
    """Broken rows; the rest of the file is sound."""
    notices: tuple[Notice, ...] = ()

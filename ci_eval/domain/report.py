"""The finished texts, ready to leave the house. Frozen, pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ci_eval.domain.comparison import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A remark on one line of a file of the commit."""

    path: str
    """As the run names the file; forward slashes, and relative to the repository, once it is published."""
    line: int
    level: Literal["failure", "warning", "notice"]
    title: str
    """Plain text, at most 255 characters."""
    message: str
    """Plain text (not markdown), at most 4,000 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One evaluation, told for every place it goes to. Everything from outside is escaped; sizes are within GitHub's."""

    outcome: Outcome
    headline: str
    """One plain line of at most 140 characters, our own words and numbers only: for the commit status and the log."""
    comment: str
    """Markdown of the pull-request comment, without the marker line; at most 60,000 bytes."""
    summary: str
    """Markdown of the job summary; at most 1,000,000 bytes."""
    check_title: str
    check_summary: str
    """Markdown, at most 60,000 bytes, without alerts, mermaid or formulas."""
    check_text: str
    """Markdown with the details, at most 60,000 bytes; may be empty."""
    annotations: tuple[Annotation, ...]
    comparison_json: str

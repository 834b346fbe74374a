"""What a report is told besides the comparison and the verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Where the report is from and where more can be found."""

    title: str
    """Heading; text from outside."""
    repeat_command: str | None = None
    """Command line that gives the same evaluation at home."""
    report_url: str | None = None
    """Address of the full report (the workflow run); from us or the runner, never from data."""

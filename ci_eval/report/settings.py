"""What a report is told besides the comparison and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Where the report is from and where more can be found."""

    title: str
    """Heading; text from outside."""
    repeat_command: str | None = None
    """Command line that gives the same evaluation at home."""
    report_url: str | None = None
    """Address of the full report (the workflow run); from us or the runner, never from data."""
    configuration: Mapping[str, object] = field(default_factory=dict)
    """All that was configured or is the default, as JSON values; `comparison.json` carries it."""

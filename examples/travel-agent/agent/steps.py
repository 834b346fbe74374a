"""What the planner can decide, and what it remembers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """Use a tool."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Say:
    """Answer the customer; the conversation ends."""

    text: str


Step = Call | Say


@dataclass
class Notes:
    """What the tools have said so far; a later result of the same tool replaces the earlier one."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, tool: str, result: dict[str, Any]) -> None:
        self.results[tool] = result

    def result(self, tool: str) -> dict[str, Any] | None:
        """The tool's last result; None when it was not used yet."""
        return self.results.get(tool)

    def used(self, tool: str) -> bool:
        return tool in self.results

    def failure(self, tool: str) -> str | None:
        """Why the tool refused; None when it did not."""
        return self.results.get(tool, {}).get("error")

"""Something odd that does not stop the run: printed once per kind with its count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One kind of oddity and how often it was seen."""

    code: str
    message: str
    count: int = 1
    location: str | None = None
    """Where it was seen first, e.g. `data.jsonl:12`."""


def merge_notices(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Add up the counts per code and message; first seen, first listed, with the first location."""
    merged: dict[tuple[str, str], Notice] = {}
    for notice in notices:
        key = (notice.code, notice.message)
        seen = merged.get(key)
        merged[key] = notice if seen is None else _added(seen, notice)
    return tuple(merged.values())


def _added(seen: Notice, again: Notice) -> Notice:
    return replace(seen, count=seen.count + again.count, location=seen.location or again.location)

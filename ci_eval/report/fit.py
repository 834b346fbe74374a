"""Keep a report within GitHub's size by leaving out whole blocks in a fixed order.

In: a way to render with so many blocks, and a budget in bytes. Out: the longest text that fits. Never cuts within a block; the view
says what is missing. Deterministic. Must not know what a block holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

COMMENT_BUDGET: Final = 60_000  # bytes; GitHub refuses from 65,536 characters or 262,145 bytes on, depending on the reading
CHECK_BUDGET: Final = 60_000  # bytes, each for summary and text; GitHub refuses more than 65,535
SUMMARY_BUDGET: Final = 1_000_000  # bytes; the runner refuses a step summary above 1 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How many blocks of each kind are shown; 1 or 0 for a part that is there or not."""

    reasons: int
    metrics: int
    trajectory: int
    broken: int
    fixed: int
    others: int
    notices: int
    usage: int
    errors: int
    facts: int


_ORDER: Final = (
    ("notices", 0),
    ("errors", 0),
    ("others", 0),
    ("fixed", 0),
    ("broken", 1),
    ("facts", 0),
    ("usage", 0),
    ("trajectory", 0),
    ("metrics", 1),
    ("reasons", 1),
    ("broken", 0),
    ("metrics", 0),
    ("reasons", 0),
)
"""What goes first, and how many of it stay at that point: a reviewer misses the notices least and the reasons most."""


def fit(render: Callable[[Shown], str], everything: Shown, budget: int) -> str:
    """Render as much as the budget allows."""
    choices = shrinking(everything)
    low, high = 0, len(choices) - 1
    while low < high:
        middle = (low + high) // 2
        if size(render(choices[middle])) <= budget:
            high = middle
        else:
            low = middle + 1
    return render(choices[low])


def size(text: str) -> int:
    """Bytes of a text, as GitHub counts them."""
    return len(text.encode("utf-8"))


def shrinking(everything: Shown) -> Sequence[Shown]:
    """Every choice from all to nothing but the title, one block less each time."""
    choices = [everything]
    for kind, least in _ORDER:
        for count in reversed(range(least, getattr(choices[-1], kind))):
            choices.append(replace(choices[-1], **{kind: count}))
    return choices

"""Sentences and lists in markdown, and how much of a long text each place gets. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from ci_eval.report import numbers
from ci_eval.report.escape import Ready, both_ends, code_span, prose
from ci_eval.report.sentences import NAME_LENGTH, NAMED_CASES, Quote, Sentence, ids

SENTENCE_LIMIT: Final = 1_200

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLengths:
    """How many characters of a text from outside are shown."""

    label: int
    """Of the title or query in the folded line, which has room for one line only."""
    reason: int
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One of the places a report goes to, and what is usual there."""

    broken: TextLengths
    fixed: TextLengths
    most_cases: int
    """Broken cases that are told at length, and as many fixed ones."""
    elsewhere: Ready
    """Where the reader finds what is left out here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListView(Generic[Item]):
    """Some items, and a line about those that are not among them."""

    heading: Ready
    items: tuple[Item, ...]
    left_out: Ready
    """"" when everything is there."""


def words(sentence: Sentence, limit: int = 200) -> Ready:
    """Print a sentence: words as words, quotes of at most `limit` characters as code."""
    parts = (_quote(part, limit) if isinstance(part, Quote) else prose(part, SENTENCE_LIMIT) for part in sentence if part != "")
    return Ready("".join(parts))


def _quote(quote: Quote, limit: int) -> Ready:
    return code_span(both_ends(quote.text, limit) if quote.ends_matter else quote.text, limit)


def cell(text: str) -> Ready:
    """Make any ready text right for a table cell: a bar stands in it only within code."""
    return Ready(text.replace("|", r"\|"))


def listed(items: Sequence[Item], total: int, *, heading: str, one_more: tuple[str, str], elsewhere: Ready) -> ListView[Item]:
    """Say how many of `total` are not among the items, and where they are; `one_more` is singular and plural."""
    missing = total - len(items)
    verb = "is" if missing == 1 else "are"
    line = f"… {numbers.plural(missing, *one_more)} {verb} {elsewhere}." if missing else ""
    return ListView(heading=Ready(heading if total else ""), items=tuple(items), left_out=Ready(line))


def naming(some: ListView[Item], case_ids: Sequence[str]) -> ListView[Item]:
    """Name the cases that are not among the items; `case_ids`: all of them, in order."""
    if not some.left_out:
        return some
    names = words((*ids(case_ids[len(some.items) :], NAMED_CASES), "."), NAME_LENGTH)
    return replace(some, left_out=Ready(f"{some.left_out.removesuffix('.')}: {names}"))

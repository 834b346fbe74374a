"""Small pieces of the reasons: numbers, quoted texts, names in a row.

In: values from anywhere, also hostile ones. Out: short texts on one line. Escaping is the report's business.
Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ci_eval.domain.canonical import compact

QUOTE_LIMIT = 80  # characters of one value; reasons are one or two sentences
NAMES_SHOWN = 8


def number(value: float) -> str:
    """Write up to four decimals; only for reading, a score itself is never rounded."""
    written = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def quoted(value: object, limit: int = QUOTE_LIMIT) -> str:
    """Show a value as JSON on one line, shortened."""
    written = compact([value])[1:-1] if isinstance(value, str) else compact(value)
    return written if len(written) <= limit else written[: limit - 1] + "…"


def counted(count: int, noun: str) -> str:
    """Write `1 call`, `2 calls`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def which_reference(index: int, *, of: int) -> str:
    """Write `the reference`, or `reference 2 of 3` where there are several; the index counts from 0."""
    return "the reference" if of == 1 else f"reference {index + 1} of {of}"


def listed(names: Iterable[str]) -> str:
    """Put names in a row, each once with its number, in order of appearance; long rows end with how many are left out."""
    shown = [
        shortened(name) if times == 1 else f"{shortened(name)} ×{times}" for name, times in Counter(names).items()
    ]  # fmt: skip
    rest = len(shown) - NAMES_SHOWN
    return ", ".join(shown[:NAMES_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def shortened(name: str, limit: int = QUOTE_LIMIT) -> str:
    """Show a name on one line, shortened, without quotes."""
    line = " ".join(name.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"

"""Make text from outside harmless in markdown and HTML.

In: any text (agent output, case ids, reasons, error messages, titles). Out: `Ready` text, which templates print as it is.
The only safe place in markdown is code, so everything from outside goes into code. Must not know where a text comes from.
Source of the rules: the GitHub page, section 8.2.
"""

from __future__ import annotations

import html as html_entities
import re
import unicodedata
from typing import Final, Literal, LiteralString, TypeAlias

BlockLanguage: TypeAlias = Literal["", "diff", "json", "sh", "text"]

SPAN_LIMIT: Final = 200
BLOCK_LIMIT: Final = 4_000
EMPTY: Final = "∅"
HIDDEN: Final = "\ufffd"
LONGEST_FENCE: Final = 32
"""Backticks. GitHub's parser takes a longer border than 80 of a span for text, and counts only to 255 for a block."""
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2028\u2029\u3164\uffa0")
"""Characters that show nothing although Unicode calls them letters, marks or separators."""

_PROSE = re.compile(r"[\w .,:;/()%=+…–—−×·→≥≤±'’!?\"<>&\[\]-]*")
_ALIVE = re.compile(r"://|www\.|\bgh-\d|\][(\[:]|^(?:[-+=>]|\d+[.)]) ?", re.IGNORECASE)
_NOT_A_LIST = re.compile(r"^\d+\.\d")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[A-Za-z0-9._~/%?=&#+-]*)?")


class Ready(str):
    """Text that is already right for where it goes. Made here, and from literals of our own."""

    __slots__ = ()


def clean(text: str, limit: int = BLOCK_LIMIT) -> str:
    """Return the text with plain line ends, every invisible character made visible, and at most `limit` characters of it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    kept, rest = _capped(text, limit)
    is_plain = kept.isascii() and kept.isprintable()  # most texts; the rest is looked at one by one
    shown = kept if is_plain else "".join(HIDDEN if _is_hidden(character) else character for character in kept)
    return f"{shown}… (+{rest:,} characters)" if rest else shown


def one_line(text: str, limit: int = SPAN_LIMIT) -> str:
    """Return the cleaned text with every run of white space as one blank; never empty."""
    line = re.sub(r"\s+", " ", clean(text, limit))
    return EMPTY if line in ("", " ") else line


def shortened(text: str, limit: int) -> str:
    """Return one cleaned line that ends in `…` where it was cut, for a label whose whole text stands elsewhere."""
    line = one_line(text[: 2 * limit], 2 * limit)
    return line if len(line) <= limit and len(text) <= 2 * limit else line[: limit - 1].rstrip() + "…"


def both_ends(text: str, limit: int) -> str:
    """Return one cleaned line with `…` in its middle where it was cut: what a program says last tells why it stopped."""
    line = one_line(text, max(len(text), 1))
    if len(line) <= limit:
        return line
    start = limit // 3
    return f"{line[:start].rstrip()} … {line[len(line) - (limit - start - 3) :].lstrip()}"


def code_span(text: str, limit: int = SPAN_LIMIT) -> Ready:
    """Put a text into running words."""
    line, fence = _fenced(one_line(text, limit))
    padding = " " if line[0] in "` " or line[-1] in "` " else ""
    return Ready(f"{fence}{padding}{line}{padding}{fence}")


def code_cell(text: str, limit: int = SPAN_LIMIT) -> Ready:
    """Put a text into a cell of a table, where a bar has to be escaped even within code."""
    return Ready(code_span(text, limit).replace("|", r"\|"))


def code_block(text: str, language: BlockLanguage = "", limit: int = BLOCK_LIMIT) -> Ready:
    """Put a text of many lines into a fence that it can't close."""
    body, fence = _fenced(clean(text, limit), at_least=3)
    return Ready(f"{fence}{language}\n{body}\n{fence}")


def html(text: str, limit: int = BLOCK_LIMIT) -> Ready:
    """Put a text into HTML, within an element or a quoted attribute."""
    return Ready(html_entities.escape(clean(text, limit), quote=True))


def html_code(text: str, limit: int = SPAN_LIMIT) -> Ready:
    """Put a text into a line of HTML, such as a `<summary>`, where markdown is not read."""
    return Ready(f"<code>{html_entities.escape(one_line(text, limit), quote=False)}</code>")


def prose(text: str, limit: int = SPAN_LIMIT) -> Ready:
    """Print plain words and numbers as words; anything that could come alive in markdown goes into code instead."""
    line = one_line(text, limit)
    comes_alive = _ALIVE.search(line) and not _NOT_A_LIST.match(line)
    if comes_alive or not _PROSE.fullmatch(line):
        return code_span(line, limit + 40)
    return Ready(html_entities.escape(line, quote=False).replace("_", r"\_"))


def link(words: LiteralString, address: str) -> Ready:
    """Link to an address that comes from us or the runner; an odd one is shown, not linked."""
    if _ADDRESS.fullmatch(address):
        return Ready(f"[{words}]({address})")
    return Ready(f"{words}: {code_span(address)}")


def _capped(text: str, limit: int) -> tuple[str, int]:
    if len(text) <= limit:
        return text, 0
    end = limit
    while end > 0 and unicodedata.combining(text[end]):
        end -= 1
    return text[:end], len(text) - end


def _is_hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    if "\U000e0000" <= character <= "\U000e0fff" or character in _INVISIBLE:
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs")


def _fenced(text: str, at_least: int = 1) -> tuple[str, str]:
    """Return the text and a border that it does not contain; a run of backticks too long for any border is cut, and ends in `…`."""
    text = re.sub(f"`{{{LONGEST_FENCE},}}", "`" * (LONGEST_FENCE - 2) + "…", text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return text, "`" * max(at_least, longest + 1)

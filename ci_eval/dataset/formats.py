"""The table of file formats: name -> reader of documents. A new format is one file and one row here.

Source: the formats page, section 1.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ci_eval.dataset.csv_file import read_csv
from ci_eval.dataset.document import Document
from ci_eval.dataset.json_document import read_json
from ci_eval.dataset.jsonl import read_jsonl
from ci_eval.dataset.source import SourceText
from ci_eval.domain.json_text import shown_name
from ci_eval.errors import DataError

READERS: Final[Mapping[str, Callable[[SourceText], Document]]] = {
    "json": read_json,
    "jsonl": read_jsonl,
    "csv": read_csv,
}
SUFFIXES: Final[Mapping[str, str]] = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
}  # fmt: skip
"""End of the file's name to the format."""


def read_document(source: SourceText, *, format: str | None = None) -> Document:  # noqa: A002 - the configuration's word
    """Parse a file as its name says, or as `format` says where that names a row of the table."""
    name = format if format in READERS else SUFFIXES.get(source.suffix) or _guess(source.text)
    if name is None:
        raise DataError(
            source.problem(
                "unknown_format",
                f"nobody knows what {source.suffix or 'a name without an ending'} holds, and it does not start with [ or {{; "
                f"expected a name that ends in {', '.join(SUFFIXES)}",
                hint=f"first characters: {shown_name(source.text.lstrip(), limit=40)}",
            )
        )
    return READERS[name](source)


def _guess(text: str) -> str | None:
    """JSON by its first character; JSONL when several lines start like a row."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    openings = sum(line.startswith("{") for line in text.split("\n"))
    return "jsonl" if openings > 1 else "json"

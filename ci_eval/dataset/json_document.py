"""JSON text -> one value. Strict; a file of one object per line is taken as JSONL. Source: the formats page, section 1.1."""

from __future__ import annotations

from ci_eval.dataset.document import Document
from ci_eval.dataset.jsonl import read_jsonl, repeated_key
from ci_eval.dataset.source import SourceText
from ci_eval.domain.json_text import JsonError, parse_json
from ci_eval.domain.notice import Notice
from ci_eval.errors import DataError


def read_json(source: SourceText) -> Document:
    """Read the whole text as one JSON value."""
    repeated: list[str] = []
    try:
        value = parse_json(source.text, repeated_keys=repeated)
    except JsonError as error:
        if _is_line_by_line(source.text):
            lines = read_jsonl(source)
            notice = Notice(code="json_is_jsonl", message="the file holds one object per line and is read as JSONL")
            return Document(rows=lines.rows, problems=lines.problems, notices=(notice, *lines.notices))
        raise DataError(
            source.problem("json_syntax", f"broken JSON: {error.message}", line=error.line, column=error.column)
        ) from None
    return Document(value=value, notices=tuple(repeated_key(key) for key in repeated))


def _is_line_by_line(text: str) -> bool:
    """True when every line that is not blank is a JSON object by itself."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines):
        return False
    try:
        return all(isinstance(parse_json(line), dict) for line in lines)
    except JsonError:
        return False

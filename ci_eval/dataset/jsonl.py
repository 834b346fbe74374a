"""JSONL text -> rows, one object a line. Blank lines are nothing; every broken line is reported. Source: the formats page, 1.1."""

from __future__ import annotations

from ci_eval.dataset.document import Document, Row
from ci_eval.dataset.source import SourceText
from ci_eval.domain.json_text import JsonError, json_type, parse_json, parse_json_prefix, quoted, shown_name
from ci_eval.domain.notice import Notice
from ci_eval.errors import DataError, Problem


def read_jsonl(source: SourceText) -> Document:
    """Read line by line; line numbers count every physical line."""
    rows: list[Row] = []
    problems: list[Problem] = []
    repeated: list[str] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        if not line or line.isspace():
            continue
        try:
            rows.append(Row(value=parse_json(line, repeated_keys=repeated), line=number))
        except JsonError as error:
            problems.append(source.problem("jsonl_syntax", f"broken JSON: {error.message}", line=number, column=error.column))
    if problems and _is_spread_out(source.text):
        first = source.text[: len(source.text) - len(source.text.lstrip())].count("\n") + 1
        raise DataError(
            source.problem(
                "jsonl_multiline", "an object is spread over several lines; expected one object per line", line=first,
                hint="write each case on a line of its own, or name the file .json and put the cases in an array",
            )
        )  # fmt: skip
    notices = tuple(repeated_key(key) for key in repeated)
    if len(rows) == 1 and not problems and isinstance(rows[0].value, list):
        lone = Notice(code="jsonl_is_json", message="the file's only line is an array and is read as JSON")
        return Document(value=rows[0].value, notices=(*notices, lone))
    return Document(rows=rows, problems=tuple(problems), notices=notices)


def not_an_object(source: SourceText, row: Row) -> Problem:
    """Return the problem of a row that is no object."""
    message = f"found {json_type(row.value)} {quoted(row.value)}; expected an object with the fields of one case"
    return source.problem("row_not_object", message, line=row.line, field=row.path or None)


def repeated_key(key: str) -> Notice:
    """Return the notice of a key that an object gives twice."""
    return Notice(code="repeated_key", message=f"the key {shown_name(key)} is given twice in an object; the last value counts")


def _is_spread_out(text: str) -> bool:
    """True when the file is a sequence of objects of which the first does not end on its line."""
    first_line = text.lstrip().split("\n", 1)[0]
    if not first_line.startswith("{"):
        return False
    try:
        parse_json_prefix(first_line)
    except JsonError:
        return _is_sequence_of_objects(text)
    return False


def _is_sequence_of_objects(text: str) -> bool:
    position = 0
    try:
        while position < len(text):
            value, position = parse_json_prefix(text, position)
            if not isinstance(value, dict):
                return False
    except JsonError:
        return False
    return True

"""CSV text -> rows. RFC 4180, with the physical line of every row.

In: text. Out: one object a row, empty cells as null, cells of structured columns decoded. Pure.
Source: the formats page, section 1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ci_eval.dataset.document import Document, Row
from ci_eval.dataset.source import SourceText
from ci_eval.domain.json_text import JsonError, parse_json_or_literal, quoted, shown_name
from ci_eval.domain.notice import Notice
from ci_eval.domain.roles import STRUCTURED_ROLES, role_of
from ci_eval.errors import DataError, Problem

_DELIMITERS = (",", ";", "\t")  # the comma first: it wins a tie


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """The cells of one row."""

    line: int
    cells: Sequence[str]


def read_csv(source: SourceText) -> Document:
    """Read the header and the rows below it."""
    delimiter = "\t" if source.suffix == ".tsv" else _delimiter_of(source.text)
    records = [record for record in _records(source, delimiter) if any(record.cells)]
    if not records:
        raise DataError(source.problem("no_cases", "every cell of the file is empty; expected a header row and rows below it"))
    header, body = records[0], records[1:]
    columns = _column_names(source, header, body)
    rows: list[Row] = []
    problems: list[Problem] = []
    short = 0
    for record in body:
        if len(record.cells) > len(columns):
            problems.append(_ragged(source, record, len(columns)))
            continue
        short += len(record.cells) < len(columns)
        value, broken = _row_of(source, columns, record)
        problems += broken
        if not broken:
            rows.append(Row(value=value, line=record.line))
    notices = (Notice(code="csv_short_row", message="a row has fewer cells than the header", count=short),) if short else ()
    return Document(
        rows=rows, columns=tuple(column for column in columns if column is not None), problems=tuple(problems), notices=notices
    )


def _row_of(source: SourceText, columns: Sequence[str | None], record: _Record) -> tuple[dict[str, object], list[Problem]]:
    value: dict[str, object] = {column: None for column in columns if column is not None}
    problems: list[Problem] = []
    for column, cell in zip(columns, record.cells, strict=False):  # the cells that a short row lacks stay null
        if column is None or cell == "":
            continue
        try:
            value[column] = _decoded(column, cell)
        except JsonError as error:
            place = f"line {error.line}, column {error.column}" if error.line > 1 else f"position {error.column}"
            problems.append(
                source.problem(
                    "cell_json", f"broken JSON at {place} of the cell {quoted(cell)}: {error.message}",
                    line=record.line, field=shown_name(column),
                )
            )  # fmt: skip
    return value, problems


def _decoded(column: str, cell: str) -> object:
    """Decode the cell of a structured column; JsonError when it starts like JSON and is none."""
    role = role_of(column)
    if role not in STRUCTURED_ROLES:
        return cell
    opens = cell.lstrip()[:1]
    try:
        value = parse_json_or_literal(cell)
    except JsonError:
        if role != "context" and opens in ("[", "{"):
            raise
        return cell
    if role == "context":
        return value if opens == "[" and isinstance(value, list) else cell
    return value


def _column_names(source: SourceText, header: _Record, body: Sequence[_Record]) -> list[str | None]:
    """Name the columns: trimmed, `column_N` for one without a name; None where there is neither name nor value."""
    names: list[str | None] = [cell.strip() or None for cell in header.cells]
    filled = {index for record in body for index, cell in enumerate(record.cells) if cell}
    names = [name or (f"column_{index + 1}" if index in filled else None) for index, name in enumerate(names)]
    given = [name for name in names if name is not None]
    twice = sorted({name for name in given if given.count(name) > 1}) if len(set(given)) < len(given) else []
    if twice:
        raise DataError([
            source.problem(
                "csv_duplicate_column", f"the header has the column {quoted(name)} twice; expected every name once",
                line=header.line, field=shown_name(name),
            )
            for name in twice
        ])  # fmt: skip
    return names


def _ragged(source: SourceText, record: _Record, width: int) -> Problem:
    return source.problem(
        "csv_ragged", f"the row has {len(record.cells)} cells; expected at most {width}, as the header has", line=record.line,
        hint="put a cell that holds the delimiter in quotes",
    )  # fmt: skip


def _delimiter_of(text: str) -> str:
    """Return the delimiter that occurs most often outside quotes in the header line."""
    header = re.match(r'(?:[^"\n]|"[^"]*(?:"|\Z))*', text.lstrip("\n"))
    bare = re.sub(r'"[^"]*"', "", header.group() if header else "")
    return max(_DELIMITERS, key=bare.count)


def _records(source: SourceText, delimiter: str) -> Iterator[_Record]:
    """Cut the text into rows of cells; DataError at a quote that opens and never closes, or closes within a cell."""
    text = source.text
    end_of_cell = re.compile(f"[{re.escape(delimiter)}\n]")
    position, line, start = 0, 1, 1
    cells: list[str] = []
    while position <= len(text):
        if text.startswith('"', position):
            cell, position = _quoted_cell(source, position, line)
            line += cell.count("\n")
            if position < len(text) and text[position] not in (delimiter, "\n"):
                found = quoted(text[position : position + 20].split("\n", 1)[0])
                raise DataError(
                    source.problem(
                        "csv_unclosed_quote", f"{found} stands behind a closing quote; expected the end of the cell", line=line,
                        hint='double a quote that belongs to the cell: ""',
                    )
                )  # fmt: skip
        else:
            end = end_of_cell.search(text, position)
            stop = end.start() if end else len(text)
            cell, position = text[position:stop], stop
        cells.append(cell)
        if not text.startswith(delimiter, position) or position >= len(text):
            yield _Record(line=start, cells=cells)
            cells, line = [], line + 1
            start = line
        position += 1


def _quoted_cell(source: SourceText, start: int, line: int) -> tuple[str, int]:
    """Return the cell whose quote opens at `start`, and the position behind its closing quote."""
    text = source.text
    position = start + 1
    while (closing := text.find('"', position)) >= 0:
        if not text.startswith('"', closing + 1):
            return text[start + 1 : closing].replace('""', '"'), closing + 1
        position = closing + 2
    raise DataError(source.problem("csv_unclosed_quote", "a quote opens here and is never closed", line=line))

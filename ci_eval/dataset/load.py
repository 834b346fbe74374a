"""A data file -> cases, or recorded outputs: the two doors of this room.

In: a path, and the doors of `messages/`. Out: frozen values with notices, or one DataError with every problem of the file.
Source: the formats page, sections 1 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Literal, TypeAlias, TypeVar

from ci_eval.dataset.cases import RowReading, identify, near_columns, read_asked, read_case
from ci_eval.dataset.document import Row
from ci_eval.dataset.formats import read_document
from ci_eval.dataset.ids import IdBook, Identity
from ci_eval.dataset.jsonl import not_an_object
from ci_eval.dataset.mapping import RoleMapping, missing_everywhere, parse_mapping
from ci_eval.dataset.shapes import rows_of
from ci_eval.dataset.source import SourceText, read_source
from ci_eval.domain.canonical import digest
from ci_eval.domain.case import Case, Source
from ci_eval.domain.json_text import quoted
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.readers import Readers, Unreadable
from ci_eval.domain.roles import Purpose, read_roles, role_of, unwrap
from ci_eval.errors import DataError, Problem

T = TypeVar("T")
OnBadRow: TypeAlias = Literal["error", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(Generic[T]):
    """What a file held."""

    items: tuple[T, ...]
    """In file order, at least one."""
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRow:
    """What one arm's agent answered to one case, as somebody recorded it."""

    id: str
    trial: int
    value: Mapping[str, object]
    """The row unwrapped, for `Readers.reply`; it was read once already, so it is readable."""
    source: Source


def load_cases(  # noqa: PLR0913 - what a configuration may say about a data file
    path: Path, *, shown: str, readers: Readers, mapping: Mapping[str, str] | None = None, on_bad_row: OnBadRow = "error",
    format: str | None = None,  # noqa: A002 - the configuration's word
) -> Loaded[Case]:  # fmt: skip
    """Read a dataset; DataError with all that is wrong with it. `mapping` turns columns into roles by `{{item.x}}` templates."""
    table = _read_table(path, shown=shown, mapping=mapping or {}, format=format, purpose="dataset")
    book = IdBook()

    def read(reading: RowReading, row: Row) -> Case | None:
        asked = read_asked(reading, readers)
        identity = identify(reading, asked, place=row.place, strict_trial=False)
        if identity is None:
            read_case(reading, asked, _NOBODY, _source_of(row, shown), readers)
            return None
        if book.is_further_trial(identity):
            reading.notices.append(_FURTHER_TRIAL)
            return None
        identity = _entered(book, identity, reading)
        return read_case(reading, asked, identity, _source_of(row, shown), readers)

    return _load(table, read, book, on_bad_row=on_bad_row)


def load_outputs(path: Path, *, shown: str, readers: Readers) -> Loaded[RecordedRow]:
    """Read the recorded outputs of one arm; every row is read through `readers.reply` once, so that problems show at once."""
    table = _read_table(path, shown=shown, mapping={}, format=None, purpose="outputs")
    book = IdBook()

    def read(reading: RowReading, row: Row) -> RecordedRow | None:
        asked = read_asked(reading, readers)
        identity = identify(reading, asked, place=row.place, strict_trial=True)
        value, source = reading.roles.fields, _source_of(row, shown)
        if identity is None or reading.problems:
            return None
        identity = book.enter(identity)
        readers.reply(Case(id=identity.id, query=asked.text, messages=asked.messages, source=source, fingerprint=""), value)
        return RecordedRow(id=identity.id, trial=identity.trial, value=value, source=source)

    return _load(table, read, book, on_bad_row="error")


def dataset_digest(cases: Iterable[Case]) -> str:
    """Digest the content of a dataset, whatever the order of its rows."""
    return digest(sorted([case.id, case.fingerprint] for case in cases))


_FURTHER_TRIAL = Notice(
    code="trial_of_case", message="a row is a further trial of a case that is there already; the first one counts"
)
_NOBODY = Identity(id="", is_given=True, trial=0, place="", asked=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A file's rows with what is needed to read them."""

    source: SourceText
    rows: Sequence[Row]
    purpose: Purpose
    mapping: RoleMapping
    columns: frozenset[str]
    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...]


def _read_table(path: Path, *, shown: str, mapping: Mapping[str, str], format: str | None, purpose: Purpose) -> _Table:  # noqa: A002 - the configuration's word
    source = read_source(path, shown=shown)
    document = read_document(source, format=format)
    rows, notices = rows_of(document, source, format=format)
    if document.columns is not None and not mapping and not any(role_of(column) for column in document.columns):
        raise DataError(_no_header(source, document.columns))
    columns = frozenset(column for row in rows if isinstance(row.value, Mapping) for column in unwrap(row.value))
    parsed = parse_mapping(mapping, columns, shown=shown)
    return _Table(
        source=source, rows=rows, purpose=purpose, mapping=parsed, columns=columns, problems=document.problems,
        notices=(*source.notices, *document.notices, *notices, *parsed.notices),
    )  # fmt: skip


def _load(table: _Table, read: Callable[[RowReading, Row], T | None], book: IdBook, *, on_bad_row: OnBadRow) -> Loaded[T]:
    """Read row by row, collect every problem, and decide at the end."""
    items: list[T] = []
    problems = list(table.problems)
    notices = list(table.notices)
    filled: set[str] = set()
    for row in table.rows:
        if not isinstance(row.value, Mapping):
            problems.append(not_an_object(table.source, row))
            continue
        given = table.mapping.values(row.value)
        filled |= {role for role, value in given.items() if value is not None}
        reading = RowReading(roles=read_roles(row.value, purpose=table.purpose, given=given))
        item: T | None = None
        try:
            item = read(reading, row)
        except Unreadable as error:
            reading.problems.append(error)
        problems += [_problem(error, row, table.source.shown) for error in reading.problems]
        if reading.problems:
            continue
        items += [] if item is None else [item]
        notices += [_placed(notice, row, table.source.shown) for notice in (*_role_notices(reading, table), *reading.notices)]
    problems.sort(key=lambda problem: problem.line or 0)
    lost = missing_everywhere(table.mapping, filled, table.columns, shown=table.source.shown) if table.rows else []
    if lost or (problems and on_bad_row == "error"):
        raise DataError([*lost, *problems])
    notices += [Notice(code=bad.code, message=f"a row is left out: {bad.message}", location=_location(bad)) for bad in problems]
    if book.renamed:
        notices.append(
            Notice(
                code="hash_id_repeated",
                message="rows ask the same as an earlier one and got an id with ~2, ~3, …",
                count=book.renamed,
            )
        )
    if not items:
        raise DataError(_no_cases(table))
    return Loaded(items=tuple(items), notices=merge_notices(notices))


def _role_notices(reading: RowReading, table: _Table) -> tuple[Notice, ...]:
    """A recorded row's choices are told by its sample."""
    return reading.roles.notices if table.purpose == "dataset" else ()


def _entered(book: IdBook, identity: Identity, reading: RowReading) -> Identity:
    """Enter a sound row; a duplicate is a problem of the row like any other."""
    if reading.problems:
        return identity
    try:
        return book.enter(identity, one_case_per_id=True)
    except Unreadable as error:
        reading.problems.append(error)
        return identity


def _source_of(row: Row, shown: str) -> Source:
    return Source(file=shown, line=row.line, path=row.path or None)


def _problem(error: Unreadable, row: Row, shown: str) -> Problem:
    field = f"{row.path}.{error.path}" if row.path and error.path else row.path or error.path
    return Problem(code=error.code, message=error.message, file=shown, line=row.line, field=field or None)


def _location(problem: Problem) -> str | None:
    place = problem.line or problem.field
    return f"{problem.file}:{place}" if place else problem.file


def _placed(notice: Notice, row: Row, shown: str) -> Notice:
    return notice if notice.location else replace(notice, location=str(_source_of(row, shown)))


def _no_cases(table: _Table) -> Problem:
    what = "every row is broken and left out" if table.problems or table.rows else "there is a header and no row below it"
    return table.source.problem("no_cases", f"the file holds no case: {what}; expected at least one")


def _no_header(source: SourceText, columns: Sequence[str]) -> Problem:
    near = near_columns(columns)
    hint = f"is {quoted(near)} meant as the query?" if near else "put a header row with the names of the columns on line 1"
    return source.problem(
        "missing_query", f"no column is known: found {quoted(list(columns), limit=200)}; expected a header row with query, id, …",
        line=1, field="query", hint=hint,
    )  # fmt: skip

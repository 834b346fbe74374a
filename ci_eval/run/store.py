"""RunResult <-> a run file: JSON Lines, the header first, one record a line, appended as results come.

In: records, or a path. Out: a file, or a RunResult; DataError for a file that is none of ours, NoVerdictError for a disk that refuses.
A file cut off in its last line (a killed run) is read up to there, with a notice; any other broken line is an error.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from ci_eval.domain.notice import Notice
from ci_eval.domain.results import SCHEMA_VERSION, CaseResult, RunHeader, RunResult
from ci_eval.errors import DataError, NoVerdictError, Problem
from ci_eval.run.redaction import redacted_header, redacted_record

Written = TypeVar("Written", RunHeader, CaseResult)


@cache
def _headers() -> TypeAdapter[RunHeader]:
    return TypeAdapter(RunHeader)


@cache
def _records() -> TypeAdapter[CaseResult]:
    return TypeAdapter(CaseResult)


class RunWriter:
    """Writes one run file; every record is on its way to the disk before the next case is asked."""

    def __init__(self, path: Path, header: RunHeader, *, redact: Callable[[str], str]) -> None:
        self.path = path
        self._redact = redact
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8", errors="replace", newline="\n")
        except OSError as error:
            raise NoVerdictError(_disk_message(path, error), hint="choose another folder with -o DIR") from error
        self._write(_dump(_headers(), redacted_header(header, redact)))

    def add(self, record: CaseResult) -> None:
        """Append one record."""
        self._write(_dump(_records(), redacted_record(record, self._redact)))

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise NoVerdictError(_disk_message(self.path, error), hint="what was written before is kept") from error

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()


def read_run(path: Path, *, shown: str) -> RunResult:
    """Read a run file; `shown` is the path as the user wrote it."""
    lines = _lines(path, shown)
    first = next(lines, None)
    if first is None:
        raise DataError(Problem(code="empty_file", file=shown, message="the run file is empty; a header line was expected"))
    header = _read_header(first[1], shown)
    records: list[CaseResult] = []
    notices: list[Notice] = [*header.notices]
    for number, line, is_last in _with_last(lines):
        try:
            records.append(_records().validate_json(line))
        except ValidationError as error:
            if is_last and not line.endswith("}"):
                message = "the last line of the run file is cut off; the run was stopped while writing it"
                notices.append(Notice(code="run_cut_off", message=message, location=f"{shown}:{number}"))
                continue
            raise DataError(_broken_line(shown, number, error)) from error
    return RunResult(header=header, records=tuple(records), notices=tuple(notices))


def _read_header(line: str, shown: str) -> RunHeader:
    try:
        version = json.loads(line).get("schema_version")
    except (ValueError, AttributeError, RecursionError):
        version = None
    if version is None:
        message = f"not a run file: its first line should be a header with schema_version {SCHEMA_VERSION!r}"
        hint = "give a file that `ci-eval score` or `ci-eval run` wrote; recorded outputs go under `outputs:` of an arm"
        raise DataError(Problem(code="not_a_run_file", file=shown, line=1, message=message, hint=hint))
    if version != SCHEMA_VERSION:
        message = f"schema_version {str(version)[:40]!r} is not known; this version reads {SCHEMA_VERSION!r}"
        raise DataError(Problem(code="schema_version", file=shown, line=1, message=message))
    try:
        return _headers().validate_json(line)
    except ValidationError as error:
        raise DataError(_broken_line(shown, 1, error)) from error


def _broken_line(shown: str, number: int, error: ValidationError) -> Problem:
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return Problem(code="broken_record", file=shown, line=number, field=field or None, message=first["msg"])


def _lines(path: Path, shown: str) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FileNotFoundError as error:
        raise DataError(Problem(code="file_not_found", file=shown, message="no such run file")) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(Problem(code="unreadable", file=shown, message=f"cannot be read as UTF-8 text: {error}")) from error


def _with_last(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, bool]]:
    """Mark the last line, for it alone may be cut off."""
    held = next(lines, None)
    while held is not None:
        following = next(lines, None)
        yield held[0], held[1], following is None
        held = following


def _dump(adapter: TypeAdapter[Written], value: Written) -> str:
    try:
        return adapter.dump_json(value).decode()
    except PydanticSerializationError:  # lone surrogates: JSON may hold them, UTF-8 may not
        plain = json.dumps(dataclasses.asdict(value), ensure_ascii=False)
        return plain.encode("utf-8", "replace").decode()


def _disk_message(path: Path, error: OSError) -> str:
    return f"{path} cannot be written: {error.strerror or error}"

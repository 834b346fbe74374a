"""RunResult <-> a run file: JSON Lines, the header first, one record a line, appended as results come.

In: records, or a path. Out: a file, or a RunResult; DataError for a file that is none of ours, NoVerdictError for a disk that refuses.
A file cut off in its last line (a killed run) is read up to there, with a notice; any other broken line is an error.
A run file may come from anywhere: what it holds is checked as strictly as if it were written by somebody else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from ci_eval.domain.json_text import quoted
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.results import SCHEMA_VERSION, CaseResult, RunHeader, RunResult
from ci_eval.domain.score import LARGEST, Metric
from ci_eval.errors import DataError, NoVerdictError, Problem
from ci_eval.run.redaction import redacted_header, redacted_record

Written = TypeVar("Written", RunHeader, CaseResult)

MOST_CASES = 10_000_000
MOST_TRIALS = 1_000


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
        try:
            self._write(_dump(_headers(), redacted_header(header, redact)))
        except NoVerdictError:
            with contextlib.suppress(OSError):
                self._file.close()
            raise

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
        try:
            self._file.close()  # what a full disk did not take is tried once more here
        except OSError as failed:
            if error is None:
                raise NoVerdictError(_disk_message(self.path, failed), hint="what was written before is kept") from failed


def read_run(path: Path, *, shown: str) -> RunResult:
    """Read a run file; `shown` is the path as the user wrote it."""
    lines = _lines(path, shown)
    first = next(lines, None)
    if first is None:
        raise DataError(Problem(code="empty_file", file=shown, message="the run file is empty; a header line was expected"))
    header = _read_header(first.text, shown)
    records: list[CaseResult] = []
    notices: list[Notice] = [*header.notices]
    for line in lines:
        try:
            records.append(_read(_records(), line.text, _numbers_of_record))
        except ValueError as error:  # also what pydantic raises
            if not line.is_whole:
                message = "the last line of the run file is cut off; the run was stopped while writing it"
                notices.append(Notice(code="run_cut_off", message=message, location=f"{shown}:{line.number}"))
                continue
            raise DataError(_broken_line(shown, line.number, error)) from error
    notices += (notice for record in records for notice in record.notices)
    return RunResult(header=header, records=tuple(records), notices=merge_notices(notices))


def _read_header(line: bytes, shown: str) -> RunHeader:
    try:
        version = json.loads(line).get("schema_version")
    except (ValueError, AttributeError, RecursionError):
        version = None
    if version is None:
        message = f"not a run file: its first line should be a header with schema_version {SCHEMA_VERSION!r}"
        hint = "give a file that `ci-eval score` or `ci-eval run` wrote; recorded outputs go under `outputs:` of an arm"
        raise DataError(Problem(code="not_a_run_file", file=shown, line=1, message=message, hint=hint))
    if version != SCHEMA_VERSION:
        message = f"schema_version {quoted(version, limit=40)} is not known; this version reads {SCHEMA_VERSION!r}"
        raise DataError(Problem(code="schema_version", file=shown, line=1, message=message))
    try:
        header = _read(_headers(), line, _numbers_of_header)
        if not (0 <= header.cases <= MOST_CASES and 1 <= header.trials <= MOST_TRIALS):
            raise ValueError(f"{header.cases} cases in {header.trials} trials cannot be")
    except ValueError as error:
        raise DataError(_broken_line(shown, 1, error)) from error
    return header


def _read(adapter: TypeAdapter[Written], line: bytes, numbers_of: Callable[[Written], Mapping[str, float | None]]) -> Written:
    """Read one line; ValueError for what we would not have written: other types, NaN, numbers that cannot be added up."""
    try:
        json.loads(line, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("lists and objects are nested too deep") from error
    value = adapter.validate_json(line, strict=True)
    for name, number in numbers_of(value).items():
        if number is not None and abs(number) > LARGEST:
            raise ValueError(f"{name}: a number of at most {LARGEST:g} was expected")
    return value


def _numbers_of_header(header: RunHeader) -> Mapping[str, float | None]:
    bounds = ("minimum", "maximum", "threshold")
    return {f"metrics.{metric.name}.{name}": _bound(metric, name) for metric in header.metrics for name in bounds}


def _bound(metric: Metric, name: str) -> float | None:
    return {"minimum": metric.minimum, "maximum": metric.maximum, "threshold": metric.threshold}[name]


def _numbers_of_record(record: CaseResult) -> Mapping[str, float | None]:
    usage = record.usage
    tokens = [] if usage is None else [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.total_tokens]
    return {
        "trial": record.trial,
        "latency_s": record.latency_s,
        "cost_usd": record.cost_usd,
        "usage": max((abs(count) for count in tokens if count is not None), default=None),
        **{f"scores.{name}": score.score for name, score in record.scores.items()},
    }


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {quoted(text, limit=40)} is too large")
    return number


def _broken_line(shown: str, number: int, error: ValueError) -> Problem:
    if not isinstance(error, ValidationError):
        return Problem(code="broken_record", file=shown, line=number, message=str(error))
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return Problem(code="broken_record", file=shown, line=number, field=field or None, message=first["msg"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    number: int
    text: bytes
    is_whole: bool
    """False for a last line without its end: only there may a run have been stopped."""


def _lines(path: Path, shown: str) -> Iterator[_Line]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _Line(number=number, text=line.rstrip(b"\r\n"), is_whole=line.endswith(b"\n"))
    except FileNotFoundError as error:
        raise DataError(Problem(code="file_not_found", file=shown, message="no such run file")) from error
    except OSError as error:
        raise DataError(Problem(code="unreadable", file=shown, message=f"cannot be read: {error.strerror or error}")) from error


def _dump(adapter: TypeAdapter[Written], value: Written) -> str:
    try:
        return adapter.dump_json(value).decode()
    except PydanticSerializationError:  # lone surrogates: JSON may hold them, UTF-8 may not
        plain = json.dumps(dataclasses.asdict(value), ensure_ascii=False)
        return plain.encode("utf-8", "replace").decode()


def _disk_message(path: Path, error: OSError) -> str:
    return f"{path} cannot be written: {error.strerror or error}"

"""Data files for the tests of this room, written where pytest says."""

from __future__ import annotations

from pathlib import Path

from ci_eval.dataset.load import Loaded, RecordedRow, load_cases, load_outputs
from ci_eval.domain.case import Case
from ci_eval.errors import DataError, Problem
from ci_eval.messages.readers import READERS


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def cases(folder: Path, name: str, content: str | bytes, **options: object) -> Loaded[Case]:
    return load_cases(written(folder, name, content), shown=name, readers=READERS, **options)  # type: ignore[arg-type]


def outputs(folder: Path, name: str, content: str | bytes) -> Loaded[RecordedRow]:
    return load_outputs(written(folder, name, content), shown=name, readers=READERS)


def problems(folder: Path, name: str, content: str | bytes, **options: object) -> tuple[Problem, ...]:
    try:
        cases(folder, name, content, **options)
    except DataError as error:
        return error.problems
    raise AssertionError(f"{name} was read although it is broken")

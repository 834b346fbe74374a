"""Rows of data as the JSON Lines that a dataset or a file of recorded outputs holds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path


def json_lines(rows: Iterable[object]) -> str:
    """One row a line."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_rows(path: Path, rows: Iterable[object]) -> None:
    """Write a file of rows."""
    path.write_text(json_lines(rows), encoding="utf-8")

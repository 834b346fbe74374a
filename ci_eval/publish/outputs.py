"""Values for later steps of the job.

In: a fixed set of names with short values. Out: lines appended to the file behind GITHUB_OUTPUT.
Must not write names or long texts from outside, nor anything to GITHUB_ENV or GITHUB_PATH.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, get_args

OutputName: TypeAlias = Literal[
    "outcome", "headline", "exit-code", "regressed", "improved", "comment-url", "check-url", "report-dir", "comparison-json"
]
OUTPUT_NAMES: tuple[OutputName, ...] = get_args(OutputName)
MAX_VALUE = 2_000  # characters; all values together stay far below the 1 MB of a job


def append_outputs(
    path: Path, values: Mapping[OutputName, str | int], *, new_mark: Callable[[], str] = lambda: secrets.token_hex(16)
) -> None:
    """Append the values; a fresh random mark closes each, so that no value can end early and name another output."""
    blocks = [_block(name, str(values[name]), f"ci_eval_{new_mark()}") for name in OUTPUT_NAMES if name in values]
    with path.open("ab") as file:
        file.write("".join(blocks).encode("utf-8", errors="replace"))


def _block(name: str, value: str, mark: str) -> str:
    if mark in value:
        raise ValueError(f"output {name}: the value holds the random mark that closes it")
    if len(value) > MAX_VALUE:
        raise ValueError(f"output {name}: {len(value):,} characters, at most {MAX_VALUE:,} are expected")
    return f"{name}<<{mark}\n{value}\n{mark}\n"

"""Where the words go decides nothing: a pipe that is closed, a full disk or a narrow encoding leaves the exit code as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rows import write_rows

CONFIG = "dataset: data.jsonl\nbaseline: {outputs: before.jsonl}\ncandidate: {outputs: after.jsonl}\nevaluators: [exact_match]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ci-eval.yaml").write_text(CONFIG, encoding="utf-8")
    for name, field in (("data", "ground_truth"), ("before", "response"), ("after", "response")):
        rows = [{"id": f"q{n}", "query": f"Größe {n}?", field: f"{n} ✓"} for n in range(12)]
        write_rows(tmp_path / f"{name}.jsonl", rows)
    return tmp_path


def shell(folder: Path, redirection: str, *, arguments: str = "run", encoding: str = "utf-8") -> int:
    """Run ci-eval with a redirection of the shell; the exit code of ci-eval itself."""
    line = f'"{sys.executable}" -m ci_eval {arguments} {redirection}'
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, check=False, stderr=subprocess.DEVNULL).returncode


@pytest.mark.parametrize(
    "redirection", ["| true; exit ${PIPESTATUS[0]}", ">/dev/full", ">&-", ">&- 2>&-", ">/dev/null 2>/dev/full"]
)
def test_a_pass_stays_a_pass(folder: Path, redirection: str) -> None:
    assert shell(folder, redirection) == 0


@pytest.mark.parametrize("redirection", ["| true; exit ${PIPESTATUS[0]}", ">/dev/full", ">&- 2>&-"])
def test_wrong_input_stays_wrong_input(folder: Path, redirection: str) -> None:
    (folder / "ci-eval.yaml").write_text("trials: many\n", encoding="utf-8")
    assert shell(folder, redirection) == 2


def test_a_narrow_encoding_is_no_bug(folder: Path) -> None:
    assert shell(folder, ">/dev/null", encoding="ascii") == 0


def test_a_help_text_that_nobody_reads_is_no_regression(folder: Path) -> None:
    assert shell(folder, "| true; exit ${PIPESTATUS[0]}", arguments="--help") in (0, 3)

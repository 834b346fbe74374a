"""SIGTERM, as a cancelled job sends it: exit code 130, no trace on the screen, nothing left running or lying about."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CONFIG = """\
dataset: data.jsonl
target: {kind: command, command: [sh, -c, "echo $$ >> started; sleep 60"]}
baseline: {ref: main}
candidate: {ref: head}
evaluators: [exact_match]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "ci-eval.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "data.jsonl").write_text('{"id": "a", "query": "x", "ground_truth": "y"}\n', encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    git(folder, "checkout", "-q", "-b", "feature")
    (folder / "note.slow").write_text("changed", encoding="utf-8")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "state")


def start(folder: Path, scratch: Path) -> subprocess.Popen[str]:
    scratch.mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "ci_eval", "run", "-o", str(folder.parent / "out")],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.02)


def stopped(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in (130, -signal.SIGINT)  # a shell shows both as 130
    assert "Traceback" not in errors
    return errors


def test_in_the_middle_of_a_case(repository: Path, tmp_path: Path) -> None:
    process = start(repository, tmp_path / "scratch")
    wait_for(repository / "started")
    assert "the results so far are in the run files" in stopped(process)
    for pid in (repository / "started").read_text(encoding="utf-8").split():
        assert not Path(f"/proc/{pid}").exists()
    assert (tmp_path / "out" / "candidate.jsonl").read_text(encoding="utf-8").count("\n") == 1
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert list((tmp_path / "scratch").iterdir()) == []


def test_in_the_middle_of_a_checkout(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "smudging"
    git(repository, "config", "filter.slow.smudge", f"touch {mark}; sleep 60")
    (repository / ".git" / "info" / "attributes").write_text("*.jsonl filter=slow\n", encoding="utf-8")
    process = start(repository, tmp_path / "scratch")
    wait_for(mark)
    stopped(process)
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert list((tmp_path / "scratch").iterdir()) == []

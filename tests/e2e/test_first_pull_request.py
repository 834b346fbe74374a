"""The pull request that brings the agent: there is nothing to compare with, and that is neither an error nor a pass."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from ci_eval.cli.main import main

CONFIG = """\
dataset: cases.jsonl
target: {kind: python_function, function: "agent:answer"}
evaluators: [exact_match]
"""


def git(folder: Path, *arguments: str) -> None:
    identity = {
        "GIT_AUTHOR_NAME": "dev",
        "GIT_AUTHOR_EMAIL": "d@example.com",
        "GIT_COMMITTER_NAME": "dev",
        "GIT_COMMITTER_EMAIL": "d@example.com",
    }
    environ = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, check=True, env=environ, capture_output=True)


@pytest.fixture
def agent_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "nothing yet")
    git(tmp_path, "switch", "-q", "-c", "feature")
    folder = tmp_path / "bots" / "echo"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text("def answer(query):\n    return query\n")
    (folder / "cases.jsonl").write_text(
        "".join(json.dumps({"id": f"q{n}", "query": str(n), "ground_truth": str(n)}) + "\n" for n in range(12))
    )
    (folder / "ci-eval.yaml").write_text(CONFIG)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "the agent")
    monkeypatch.chdir(folder)
    return folder


def test_an_agent_that_did_not_exist_yet_has_no_baseline_and_the_gate_says_so(agent_folder: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(agent_folder)}
    assert main(["run", "-q"], environ) == 0
    found = json.loads((agent_folder / "ci-eval-out" / "comparison.json").read_text(encoding="utf-8"))
    assert found["verdict"]["outcome"] == "warn"
    assert found["verdict"]["headline"] == "No decision: there is no comparable baseline."
    assert len(found["cases"]["added"]) == 12
    assert "has no folder bots/echo" in (agent_folder / "ci-eval-out" / "comment.md").read_text(encoding="utf-8")


def test_a_gate_may_insist_on_a_baseline(agent_folder: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(agent_folder)}
    assert main(["run", "-q", "--set", "gate.on_no_baseline=block"], environ) == 1

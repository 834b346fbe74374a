"""`make demo` without make: the first thing a user sees."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "travel-agent"
pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="the demo makes a repository, and git is not installed"),
    pytest.mark.skipif(shutil.which("sh") is None, reason="the demo is a shell script, and there is no sh"),
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("demo") / "out"
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    # as if it ran inside somebody's job: nothing of that may reach the demo
    environ |= {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GIT_DIR": "/nowhere"}
    done = subprocess.run(["sh", EXAMPLE / "demo.sh", folder], env=environ, capture_output=True, text=True, check=False)
    return done, folder


def test_the_demo_ends_well_because_the_change_is_blocked(demo):
    done, folder = demo
    assert done.returncode == 0, done.stderr
    verdict = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))["verdict"]
    assert (verdict["outcome"], verdict["headline"]) == ("block", "Regression: merging is blocked.")


def test_eight_cases_broke_and_two_were_fixed(demo):
    changes = json.loads((demo[1] / "comparison.json").read_text(encoding="utf-8"))["changes"]
    gated = [change for change in changes if change["metric"] == "task_navigation_efficiency"]
    kinds = [change["change"] for change in gated]
    assert (kinds.count("broken"), kinds.count("fixed")) == (8, 2)


def test_the_terminal_names_the_broken_cases_and_the_files(demo):
    done, folder = demo
    for words in ("cancel-asks-before-total-loss", "refund-two-passengers", "merging is blocked", "comment.md"):
        assert words in done.stdout
    assert {path.name for path in folder.iterdir()} >= {
        "baseline.jsonl", "candidate.jsonl", "comment.md", "comparison.json", "summary.md",
    }  # fmt: skip

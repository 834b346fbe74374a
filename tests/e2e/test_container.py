"""The image, run the way GitHub's runner runs it: mounts, variables, a root process in somebody else's checkout.

Needs the tool that builds and runs it without a Docker engine, and root; the first build takes minutes. `CI_EVAL_CONTAINER=1` asks for it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fake_github import FakeGitHub
from tests.rows import write_rows
from tests.shared import SHARED

ROOT = Path(__file__).parents[2]
TOOL = SHARED / "tools" / "run-action-container"
EXAMPLE = ROOT / "examples" / "travel-agent"
RUNNER_UID = 1001

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("container"),  # one image store, one lock
    pytest.mark.skipif(
        os.environ.get("CI_EVAL_CONTAINER") != "1" and os.environ.get("CI") != "true",
        reason="building the image takes minutes; set CI_EVAL_CONTAINER=1 to do it",
    ),
    pytest.mark.skipif(not TOOL.is_file(), reason=f"the tool that runs the image is not here: {TOOL}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="running the image needs root"),
]


@pytest.fixture(scope="session")
def image() -> None:
    done = subprocess.run([TOOL, "--no-run"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example agent without what a demo left in its folder."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("ci-eval-out", "__pycache__")))


def act(folder: Path, workspace: Path, *options: str) -> dict[str, Any]:
    result = folder / "result.json"
    command = [str(TOOL), "--no-build", "--workspace", str(workspace), "--result", str(result), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.is_file(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found


def test_a_pull_request_gets_comment_check_summary_and_outputs(image: None, example: Path, tmp_path: Path) -> None:
    found = act(tmp_path, example, "--fetch-depth", "2")

    assert found["exit_code"] == 0, found["log"]
    assert found["outputs"]["outcome"] == "pass"
    assert found["outputs"]["exit-code"] == "0"
    assert found["outputs"]["report-dir"] == "ci-eval-out"
    (comment,) = found["github"]["comments"].values()
    assert comment["body"].startswith("<!-- ci-eval:report:v1 key= run=4242.1 head=" + found["shas"]["head"])
    (check,) = found["github"]["check_runs"].values()
    assert (check["head_sha"], check["conclusion"]) == (found["shas"]["head"], "success")
    assert found["summary"]
    assert found["github"]["violations"] == []
    assert len(found["github"]["log"]) <= 15


def test_a_second_run_edits_the_same_comment(image: None, example: Path, tmp_path: Path) -> None:
    with FakeGitHub(repo="octo/agent") as gh:
        gh.add_pull(7, head_sha="a" * 40, base_sha="b" * 40)
        for _ in range(2):
            assert act(tmp_path, example, "--network", "host", "--api-url", gh.url)["exit_code"] == 0

        assert len(gh.comments) == 1
        assert [entry["method"] for entry in gh.log if "/issues/comments/" in entry["path"]] == ["PATCH"]
        assert len(gh.check_runs) == 2  # one for each head commit: every run of the tool makes commits of its own
        assert not gh.violations


def test_what_we_leave_in_the_workspace_belongs_to_the_runner(image: None, example: Path, tmp_path: Path) -> None:
    found = act(tmp_path, example)

    left = {entry["path"]: entry["uid"] for entry in found["files"]}
    assert "ci-eval-out/comparison.json" in left
    assert set(left.values()) == {RUNNER_UID}


def test_a_fork_s_token_still_gives_summary_and_exit_code(image: None, example: Path, tmp_path: Path) -> None:
    found = act(tmp_path, example, "--fork", "--fetch-depth", "2")

    assert found["exit_code"] == 0, found["log"]
    assert found["outputs"]["outcome"] == "pass"
    assert "comes from a fork" in found["summary"]
    assert "pull-requests: write" in found["summary"]
    assert found["github"]["comments"] == {}
    assert [command["command"] for command in found["commands"] if command["command"] == "error"] == []


def test_a_wrong_input_is_one_clear_error(image: None, example: Path, tmp_path: Path) -> None:
    found = act(tmp_path, example, "--input", "comment=yes", "--input", "config=none.yaml")

    assert found["exit_code"] == 2
    errors = [command["data"] for command in found["commands"] if command["command"] == "error"]
    assert len(errors) == 1
    assert "true or false is expected, found 'yes'" in errors[0]
    assert "Traceback" not in found["log"]


def test_files_of_the_pull_request_replace_no_module_of_ours(image: None, example: Path, tmp_path: Path) -> None:
    (example / "yaml.py").write_text("raise SystemExit('hijacked')")
    (example / "ci_eval").mkdir()
    (example / "ci_eval" / "__init__.py").write_text("raise SystemExit('hijacked')")

    found = act(tmp_path, example, "--env", "PYTHONPATH=/github/workspace")

    assert found["exit_code"] == 0, found["log"]
    assert "hijacked" not in found["log"]


def test_the_token_appears_nowhere(image: None, example: Path, tmp_path: Path) -> None:
    found = act(tmp_path, example, "--env", "SERVICE_API_KEY=sk-very-secret-value")

    masks = [command["data"] for command in found["commands"] if command["command"] == "add-mask"]
    assert set(masks) >= {"ghs_fake", "sk-very-secret-value"}
    unmasked = [line for line in found["log"].splitlines() if not line.startswith("::add-mask::")]
    told = "\n".join(unmasked) + found["summary"] + json.dumps(found["github"]["comments"]) + json.dumps(found["outputs"])
    assert "ghs_fake" not in told
    assert "sk-very-secret-value" not in told


def test_an_agent_s_words_command_nothing(image: None, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    words = [
        "::error file=app.py,line=1::Injected",
        "text\n::add-mask::the\n::set-output name=verdict::pass",
        "##[error]Process completed with exit code 1",
        "::stop-commands::token\n%0A::warning::x",
        "line\r::notice::y",
    ]
    rows = [{"id": f"r{n}", "query": text, "ground_truth": "fine"} for n, text in enumerate(words)]
    write_rows(workspace / "data.jsonl", rows)
    write_rows(workspace / "before.jsonl", [{"id": row["id"], "response": "fine"} for row in rows])
    write_rows(workspace / "after.jsonl", [{"id": row["id"], "response": row["query"]} for row in rows])
    (workspace / "ci-eval.yaml").write_text(
        "dataset: data.jsonl\nbaseline: {outputs: before.jsonl}\ncandidate: {outputs: after.jsonl}\n"
        "evaluators: [exact_match]\ngate: {metrics: [exact_match], mode: strict}\n",
        encoding="utf-8",
    )

    found = act(tmp_path, workspace)

    assert found["exit_code"] == 1, found["log"]
    assert found["outputs"]["outcome"] == "block"
    assert "verdict" not in found["outputs"]
    assert not [command for command in found["commands"] if command["command"] != "add-mask"]
    assert [command["data"] for command in found["commands"]] == ["ghs_fake"]
    assert found["env"] == {}
    (check,) = found["github"]["check_runs"].values()
    assert check["conclusion"] == "failure"
    assert found["github"]["violations"] == []


def test_the_agent_cannot_read_our_token(image: None, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(
        "import os\n"
        "from pathlib import Path\n\n"
        "def answer(query):\n"
        "    if any('ghs_' in value for value in os.environ.values()):\n"
        "        return 'in my environment'\n"
        "    try:\n"
        "        return 'in /proc' if b'ghs_' in Path('/proc/1/environ').read_bytes() else 'not there'\n"
        "    except PermissionError:\n"
        "        return 'denied'\n",
        encoding="utf-8",
    )
    write_rows(workspace / "data.jsonl", [{"id": "a", "query": "where is it?", "ground_truth": "denied"}])
    (workspace / "ci-eval.yaml").write_text(
        "dataset: data.jsonl\ntarget: {kind: python_function, function: 'agent:answer'}\nevaluators: [exact_match]\n"
        "gate: {metrics: [exact_match], mode: threshold}\nmetrics: {exact_match: {min: 1}}\n",
        encoding="utf-8",
    )

    found = act(tmp_path, workspace)

    assert found["exit_code"] == 0, found["log"]
    assert found["outputs"]["outcome"] == "pass"


def test_a_regression_is_annotated_on_the_lines_of_the_dataset_and_fails_the_step(image: None, tmp_path: Path) -> None:
    workspace = tmp_path / "regressed"
    (workspace / "evals").mkdir(parents=True)
    rows = [{"id": f"q{n}", "query": f"Say {n}", "ground_truth": str(n)} for n in range(1, 15)]
    write_rows(workspace / "evals" / "cases.jsonl", rows)
    write_rows(workspace / "evals" / "before.jsonl", [{"id": row["id"], "response": row["ground_truth"]} for row in rows])
    write_rows(workspace / "evals" / "after.jsonl", [{"id": row["id"], "response": "no"} for row in rows[:6]] + [
        {"id": row["id"], "response": row["ground_truth"]} for row in rows[6:]
    ])  # fmt: skip
    (workspace / "evals" / "ci-eval.yaml").write_text(
        "dataset: cases.jsonl\nbaseline: {outputs: before.jsonl}\ncandidate: {outputs: after.jsonl}\nevaluators: [exact_match]\n"
    )
    found = act(tmp_path, workspace, "--fetch-depth", "2", "--input", "config=evals/ci-eval.yaml")

    assert found["exit_code"] == 1, found["log"]
    (check,) = found["github"]["check_runs"].values()
    assert check["conclusion"] == "failure"
    (notes,) = found["github"]["annotations"].values()
    annotated = [(note["path"], note["start_line"], note["annotation_level"]) for note in notes]
    assert annotated == [("evals/cases.jsonl", line, "failure") for line in range(1, 7)]
    (comment,) = found["github"]["comments"].values()
    assert all(f"q{n}" in comment["body"] for n in range(1, 7))
    assert found["outputs"]["outcome"] == "block"
    assert found["github"]["violations"] == []
    assert len(found["github"]["log"]) <= 15

"""The commands as a person types them: exit codes, one clear message for every mistake, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval import __version__
from ci_eval.cli.main import main
from tests.fakes.fake_github import FakeGitHub
from tests.rows import json_lines, write_rows

ROWS = [{"id": f"q{n}", "query": f"Say {n}", "ground_truth": str(n)} for n in range(12)]
CONFIG = "name: numbers\ndataset: data.jsonl\nbaseline: {outputs: before.jsonl}\ncandidate: {outputs: after.jsonl}\nevaluators: [exact_match]\n"


def answers(*, wrong: int = 0) -> list[dict[str, object]]:
    return [{"id": row["id"], "response": "no" if n < wrong else row["ground_truth"]} for n, row in enumerate(ROWS)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_rows(tmp_path / "data.jsonl", ROWS)
    write_rows(tmp_path / "before.jsonl", answers())
    write_rows(tmp_path / "after.jsonl", answers())
    (tmp_path / "ci-eval.yaml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main(list(arguments), {})


def test_equal_answers_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("run") == 0
    assert sorted(path.name for path in (folder / "ci-eval-out").iterdir()) == [
        "baseline.jsonl", "candidate.jsonl", "comment.md", "comparison.json", "summary.md",
    ]  # fmt: skip
    assert "identical" in capsys.readouterr().out


def test_a_regression_ends_with_1(folder: Path) -> None:
    write_rows(folder / "after.jsonl", answers(wrong=6))
    assert run("run", "-q") == 1


def test_an_improvement_ends_with_0(folder: Path) -> None:
    write_rows(folder / "before.jsonl", answers(wrong=6))
    assert run("run", "-q") == 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.jsonl", "", "data.jsonl"),
        ("data.jsonl", None, "data.jsonl"),
        ("data.jsonl", '{"id": "a", "query": "x", "ground_truth": "y"}\n{"id": "a", "query": "z"}\n', "data.jsonl:2"),
        ("data.jsonl", '{"id": "a", "query": "x", "ground_truth": "y"}\n{"id": "b", "query": \n', "data.jsonl:2"),
        ("data.jsonl", '{"id": "q0", "query": "x"}\n{"id": "q1", "query": "y"}\n', "ground_truth"),
        ("after.jsonl", "", "after.jsonl"),
        ("after.jsonl", None, "after.jsonl"),
        ("after.jsonl", '{"id": "stranger", "response": "y"}\n', "no recorded output belongs to a case"),
        ("after.jsonl", '{"id": "q0", "response": "y", "messages": [{"role": "robot", "content": "x"}]}\n', "after.jsonl:1"),
        ("after.jsonl", '{"id": "q0", "response": "y"}\n{"id": "q0", "response": "z"}\n', "after.jsonl:2"),
        ("ci-eval.yaml", CONFIG + "gate: {metrics: [exact_mach]}\n", "did you mean exact_match"),
        ("ci-eval.yaml", CONFIG + "metricks: {}\n", "did you mean metrics"),
        ("ci-eval.yaml", "dataset: [\n", "ci-eval.yaml:2"),
        ("ci-eval.yaml", None, "no such configuration file"),
    ],
    ids=[
        "empty dataset", "no dataset", "duplicate id", "broken row", "no reference anywhere", "empty outputs", "no outputs",
        "foreign outputs", "unknown role", "duplicate output", "unknown gated metric", "unknown key", "broken yaml", "no config",
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_error_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | None, words: str
) -> None:
    path = folder / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content, encoding="utf-8")
    assert run("run") == 2
    err = capsys.readouterr().err
    assert words in err
    assert "Traceback" not in err
    assert not (folder / "ci-eval-out" / "comparison.json").exists()
    assert run("check") == 2


def test_check_reads_everything_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check") == 0
    out = capsys.readouterr().out
    assert "12 cases" in out
    assert "recorded outputs in after.jsonl" in out
    assert not (folder / "ci-eval-out").exists()


def test_check_says_which_state_of_the_agent_an_arm_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "ci-eval.yaml").write_text(
        "dataset: data.jsonl\ntarget: {kind: command, command: cat}\nevaluators: [exact_match]\n"
    )
    write_rows(folder / "data.jsonl", ROWS[:1])
    assert run("check") == 0
    out = capsys.readouterr().out
    assert "data.jsonl: 1 case\n" in out
    assert "merge-base: the commit that the change starts from" in out
    assert "head: the change itself; at home the working tree, uncommitted changes included" in out


def test_without_a_command_there_is_help_and_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    out, err = capsys.readouterr()
    assert out.startswith("Usage: ci-eval")
    assert "..." not in out.partition("Commands:")[2], "a description is cut off"
    assert err == ""


def test_the_arms_take_turns_in_setting_up_as_package_managers_want_it(folder: Path) -> None:
    (folder / "old").mkdir()
    (folder / "new").mkdir()
    (folder / "ci-eval.yaml").write_text(
        "dataset: data.jsonl\nbaseline: {directory: old}\ncandidate: {directory: new}\nevaluators: [exact_match]\n"
        "target: {kind: command, command: cat answer, setup: 'mkdir ../lock; sleep 0.3; echo 1 > answer; rmdir ../lock'}\n"
    )
    assert run("run", "-q") == 0


def test_an_output_folder_that_is_a_file_is_refused_before_anything_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ci-eval-out").write_text("in the way")
    code = run("run")
    err = capsys.readouterr().err
    assert code == 2
    assert "ci-eval-out: a folder for the report was expected, found a file" in err
    assert (folder / "ci-eval-out").read_text() == "in the way"
    assert "Traceback" not in err


def test_the_boundary_passes_in_the_rows_the_totals_and_the_report_alike(folder: Path) -> None:
    scores = {"q0": 0.3, "q1": 0.30000000000000004, "q2": 0.29999999999999993, "q3": 0, "q4": 1}
    recorded = json_lines([{"id": case_id, "response": case_id, "mark": mark} for case_id, mark in scores.items()])
    write_rows(folder / "data.jsonl", ROWS[:5])
    for name in ("before.jsonl", "after.jsonl"):
        (folder / name).write_text(recorded, encoding="utf-8")
    fields = [
        {"field": {"name": name, "path": "sample.mark", "kind": "score", "threshold": threshold}}
        for name, threshold in (("strict", 0.3), ("any", 0))
    ]
    (folder / "ci-eval.yaml").write_text(
        CONFIG.replace("[exact_match]", json.dumps(fields)) + "metrics: {strict: {kind: binary}, any: {kind: binary}}\n",
        encoding="utf-8",
    )
    assert run("run", "-q") == 0
    rows = [json.loads(line)["scores"] for line in (folder / "ci-eval-out/candidate.jsonl").read_text().splitlines()[1:]]
    assert [row["strict"]["passed"] for row in rows] == [True, True, False, False, True]
    assert [row["any"]["passed"] for row in rows] == [True] * 5
    metrics = {one["name"]: one for one in json.loads((folder / "ci-eval-out/comparison.json").read_text())["metrics"]}
    assert [metrics[name]["candidate"]["passed"] for name in ("strict", "any")] == [3, 5]
    comment = (folder / "ci-eval-out/comment.md").read_text(encoding="utf-8")
    assert "% (3/5) |" in comment
    assert "% (5/5) |" in comment


def test_rows_that_did_not_run_leave_no_verdict(folder: Path) -> None:
    write_rows(folder / "after.jsonl", answers()[:9])
    assert run("run", "-q") == 3


def test_cases_that_only_the_candidate_answered_are_new_and_no_trouble(folder: Path) -> None:
    write_rows(folder / "before.jsonl", answers()[:11])
    assert run("run", "-q") == 0
    cases = json.loads((folder / "ci-eval-out" / "comparison.json").read_text(encoding="utf-8"))["cases"]
    assert cases["added"] == ["q11"]
    assert cases["missing"] == []


def test_score_and_compare_give_what_run_gives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(folder / "after.jsonl", answers(wrong=6))
    assert run("score", "--arm", "baseline", "-o", "parts") == 0
    assert run("score", "-o", "parts") == 0
    assert "6/12" in capsys.readouterr().out
    assert run("compare", "parts/baseline.jsonl", "parts/candidate.jsonl", "-o", "parts", "-q") == 1


def test_score_takes_outputs_by_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(folder / "other.jsonl", answers(wrong=3))
    assert run("score", "--source", "outputs:other.jsonl") == 0
    assert "9/12" in capsys.readouterr().out


def test_compare_works_without_a_configuration(folder: Path) -> None:
    assert run("score", "--arm", "baseline", "-q") == 0
    (folder / "ci-eval.yaml").unlink()
    assert run("compare", "ci-eval-out/baseline.jsonl", "ci-eval-out/baseline.jsonl", "-q") == 0


def test_a_stored_run_can_be_an_arm(folder: Path) -> None:
    assert run("score", "--arm", "baseline", "-o", "stored", "-q") == 0
    write_rows(folder / "after.jsonl", answers(wrong=6))
    assert run("run", "--baseline", "run:stored/baseline.jsonl", "-q") == 1


def test_compare_refuses_files_that_are_no_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "data.jsonl", "after.jsonl") == 2
    assert "not a run file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("fly",),
        ("run", "--wings"),
        ("run", "--set"),
        ("compare", "one.jsonl"),
        ("score", "--arm", "third"),
        ("run", "--publish"),
        ("run", "--baseline", "ourputs:x"),
    ],
)
def test_wrong_arguments_end_with_2(folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert run(*arguments) == 2
    assert capsys.readouterr().err.strip()


def test_schema_accepts_the_configurations_of_the_examples(capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from ci_eval.config.yaml_source import read_yaml

    assert run("schema") == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    examples = list((Path(__file__).parents[2] / "examples").rglob("ci-eval.yaml"))
    assert examples
    for path in examples:
        validator.validate(read_yaml(path.read_text(encoding="utf-8"), shown=path.name).value)
    assert not validator.is_valid({"dataset": "d", "evaluators": ["exact_mach"]})
    assert not validator.is_valid({"dataset": "d", "evaluators": ["exact_match"], "fail_on_regresion": True})


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"ci-eval {__version__}\n"


def test_secrets_never_reach_a_file_or_the_screen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "sk-very-secret-0123456789"
    rows = answers()
    rows[0]["response"] = f"my key is {secret}"
    write_rows(folder / "after.jsonl", rows)
    assert main(["run", "--set", f"name=agent {secret}"], {"OPENAI_API_KEY": secret}) == 0
    out = folder / "ci-eval-out"
    compared = ["compare", str(out / "baseline.jsonl"), str(out / "candidate.jsonl"), "-o", str(folder / "again")]
    assert main([*compared, "--set", f"name=agent {secret}"], {"OPENAI_API_KEY": secret}) == 0
    for path in (*out.iterdir(), *(folder / "again").iterdir()):
        assert secret not in path.read_text(encoding="utf-8"), path.name
    assert "my key is ***" in (out / "candidate.jsonl").read_text(encoding="utf-8")
    shown = capsys.readouterr()
    assert secret not in shown.out + shown.err


def test_what_failed_is_published_without_secrets(folder: Path) -> None:
    secret = "sk-very-secret-0123456789"
    environ = {
        "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_REPOSITORY": "acme/agent", "GITHUB_SHA": "a" * 40,
        "GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_OUTPUT": str(folder / "outputs"), "OPENAI_API_KEY": secret,
    }  # fmt: skip
    assert main(["run", "--publish", "--set", f"trials={secret}"], environ) == 2
    summary = (folder / "summary").read_text(encoding="utf-8")
    assert "trials" in summary
    assert "***" in summary
    assert secret not in summary


@pytest.mark.parametrize(
    ("conclusion", "dataset", "shown", "code"),
    [
        ("neutral", "data.jsonl", "neutral", 0),
        ("failure", "data.jsonl", "failure", 3),
        ("action_required", "data.jsonl", "action_required", 3),
        ("neutral", "none.jsonl", "failure", 2),
    ],
    ids=["tolerated", "by default", "to be looked at", "wrong input is never tolerated"],
)
def test_check_and_step_agree_when_an_error_prevents_the_verdict(
    folder: Path, conclusion: str, dataset: str, shown: str, code: int
) -> None:
    (folder / "ci-eval.yaml").write_text(
        f"dataset: {dataset}\ntarget: {{kind: command, command: [cat]}}\nevaluators: [exact_match]\n"
        "baseline: {ref: merge-base}\ncandidate: {ref: head}\n",
        encoding="utf-8",
    )
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    event = {"merge_group": {"head_sha": head, "base_sha": "b" * 40}}  # a base that this clone does not have, nor can fetch
    (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
    with FakeGitHub(repo="acme/agent") as gh:
        environ = os.environ | {
            "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "merge_group", "GITHUB_REPOSITORY": "acme/agent", "GITHUB_SHA": head,
            "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_API_URL": gh.url, "GITHUB_TOKEN": gh.token,
        }  # fmt: skip
        assert main(["run", "--publish", "--incomplete-conclusion", conclusion], environ) == code
        (check,) = gh.check_runs.values()
    assert check["conclusion"] == shown
    assert f"\n{code}\n" in (folder / "outputs").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("workspace", "work", "dataset", "noted"),
    [
        (".", ".", "data.jsonl", "data.jsonl"),
        (".", "cfg", "../data.jsonl", "data.jsonl"),
        (".", "cfg", "{folder}/data.jsonl", "data.jsonl"),
        ("cfg", "cfg", "../data.jsonl", None),
        ("cfg", "cfg", "{folder}/data.jsonl", None),
    ],
    ids=["beside", "in a sibling folder", "absolute", "outside of the checkout", "absolute and outside"],
)
def test_annotations_name_the_dataset_as_the_repository_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch, workspace: str, work: str, dataset: str, noted: str | None
) -> None:
    write_rows(folder / "after.jsonl", answers(wrong=6))
    (folder / "cfg").mkdir()
    config = CONFIG.replace("data.jsonl", dataset.format(folder=folder))
    (folder / work / "ci-eval.yaml").write_text(config.replace("outputs: ", f"outputs: {folder}/"), encoding="utf-8")
    monkeypatch.chdir(folder / work)
    with FakeGitHub(repo="acme/agent") as gh:
        environ = {
            "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "schedule", "GITHUB_REPOSITORY": "acme/agent", "GITHUB_SHA": "a" * 40,
            "GITHUB_WORKSPACE": str(folder / workspace), "GITHUB_API_URL": gh.url, "GITHUB_TOKEN": gh.token,
        }  # fmt: skip
        assert main(["run", "--publish"], environ) == 1
        found = [(note["path"], note["start_line"]) for notes in gh.annotations.values() for note in notes]
    assert sorted(found) == ([] if noted is None else [(noted, line) for line in range(1, 7)])


def test_an_innocent_variable_with_a_secret_looking_name_breaks_nothing(folder: Path) -> None:
    assert main(["run", "-q"], {"SORT_KEY": "case_id", "CACHE_KEY": "true", "PRIMARY_KEY": "exact_match"}) == 0


def test_hostile_answers_do_not_speak_to_the_workflow_log(folder: Path) -> None:
    rows = answers()
    rows[0]["response"] = "::error file=app.py,line=1::Injected"
    rows[1]["response"] = "text\n::add-mask::the\n::set-output name=verdict::pass"
    rows[2]["response"] = "##[error]Process completed with exit code 1"
    rows[3]["response"] = "line\r::notice::y"
    write_rows(folder / "after.jsonl", rows)
    done = subprocess.run(
        [sys.executable, "-m", "ci_eval", "run", "-v"], cwd=folder, env={"GITHUB_ACTIONS": "true", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = (done.stdout + done.stderr).replace("\r", "\n").splitlines()
    assert [line for line in lines if line.lstrip().startswith("::") or "##[" in line] == []
    assert any("Injected" in line for line in lines)
    assert done.returncode == 1  # four of twelve broke


def test_an_evaluation_that_fails_leaves_no_earlier_report_behind(folder: Path) -> None:
    assert run("run", "-q") == 0
    (folder / "after.jsonl").write_text("", encoding="utf-8")
    assert run("run", "-q") == 2
    assert not (folder / "ci-eval-out" / "comparison.json").exists()
    assert not (folder / "ci-eval-out" / "comment.md").exists()

"""The main job on fifty real agent runs, recorded twice: the known answers, and every way in which a run must not end green."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.cli.main import main
from tests.rows import write_rows
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared

DATA = SHARED / "data" / "taubench"
CONFIG = """\
name: airline
dataset: dataset.jsonl
baseline: {{outputs: baseline.jsonl}}
candidate: {{outputs: candidate.jsonl}}
evaluators:
  - task_navigation_efficiency: {{arguments: {arguments}, matching_mode: {mode}}}
  - field: {{name: reward, path: sample.reward, threshold: 1}}
gate:
  metrics: [reward]
"""
BROKEN = [f"airline-{n:02d}" for n in (6, 11, 26, 29, 31, 39, 43, 44, 45)]
FIXED = [f"airline-{n:02d}" for n in (1, 5, 13, 21, 27, 30, 37, 41, 46, 47)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("dataset.jsonl", "baseline.jsonl", "candidate.jsonl"):
        shutil.copyfile(DATA / name, tmp_path / name)
    configure(tmp_path)
    return tmp_path


def configure(folder: Path, *, arguments: str = "ignore", mode: str = "exact_match") -> None:
    (folder / "ci-eval.yaml").write_text(CONFIG.format(arguments=arguments, mode=mode), encoding="utf-8")


def run(folder: Path) -> tuple[int, dict[str, object]]:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    code = main(["run", "-c", str(folder / "ci-eval.yaml"), "-o", str(out)], {})
    comparison = out / "comparison.json"
    return code, json.loads(comparison.read_text(encoding="utf-8")) if comparison.exists() else {}


def rows(folder: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def metric(comparison: dict[str, object], name: str) -> dict[str, object]:
    return next(m for m in comparison["metrics"] if m["name"] == name)  # type: ignore[attr-defined]


def estimates(comparison: dict[str, object], arm: str) -> list[float]:
    names = [f"task_navigation_efficiency.{part}" for part in ("precision", "recall", "f1")]
    return [round(metric(comparison, name)[arm]["estimate"], 4) for name in names]  # type: ignore[index]


def changed(comparison: dict[str, object], change: str) -> list[str]:
    return [c["case_id"] for c in comparison["changes"] if c["metric"] == "reward" and c["change"] == change]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "baseline", "candidate"),
    [
        ("ignore", [0.4008, 0.6006, 0.4362], [0.4104, 0.6236, 0.4380]),
        ("compare", [0.3500, 0.4636, 0.3722], [0.3543, 0.4569, 0.3634]),
    ],
)
def test_the_known_answers_over_all_fifty_cases(
    folder: Path, arguments: str, baseline: list[float], candidate: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    configure(folder, arguments=arguments)
    code, comparison = run(folder)
    assert code == 0
    assert estimates(comparison, "baseline") == baseline
    assert estimates(comparison, "candidate") == candidate
    reward = metric(comparison, "reward")
    assert (reward["baseline"]["passed"], reward["candidate"]["passed"], reward["n"]) == (21, 22, 50)  # type: ignore[index]
    assert changed(comparison, "broken") == BROKEN
    assert changed(comparison, "fixed") == FIXED
    assert comparison["verdict"]["headline"] == "No regression found."  # type: ignore[index]
    assert "No regression found" in capsys.readouterr().out
    comment = (folder / "out" / "comment.md").read_text(encoding="utf-8")
    assert "no regression found" in comment.splitlines()[0]
    assert all(case in comment for case in [*BROKEN, *FIXED])


@pytest.mark.parametrize(
    ("mode", "arguments", "passed"),
    [
        ("exact_match", "ignore", (4, 3)),
        ("exact_match", "compare", (4, 3)),
        ("in_order_match", "ignore", (22, 22)),
        ("in_order_match", "compare", (15, 13)),
        ("any_order_match", "ignore", (22, 23)),
        ("any_order_match", "compare", (15, 13)),
    ],
)
def test_the_known_matches_in_every_mode(folder: Path, mode: str, arguments: str, passed: tuple[int, int]) -> None:
    configure(folder, arguments=arguments, mode=mode)
    _, comparison = run(folder)
    navigation = metric(comparison, "task_navigation_efficiency")
    assert (navigation["baseline"]["passed"], navigation["candidate"]["passed"]) == passed  # type: ignore[index]


def test_twelve_passes_turned_into_failures_block_the_merge(folder: Path) -> None:
    candidate = rows(folder, "candidate.jsonl")
    turned = [row for row in candidate if row["reward"] == 1.0][:12]
    for row in turned:
        row["reward"] = 0.0
    write_rows(folder / "candidate.jsonl", candidate)
    code, comparison = run(folder)
    assert code == 1
    assert comparison["verdict"]["outcome"] == "block"  # type: ignore[index]
    comment = (folder / "out" / "comment.md").read_text(encoding="utf-8")
    passing_before = {row["id"] for row in rows(folder, "baseline.jsonl") if row["reward"] == 1.0}
    for row in turned:
        if row["id"] in passing_before:
            assert row["id"] in changed(comparison, "broken")
            assert str(row["id"]) in comment
        else:  # failed before as well: no longer among the fixed ones
            assert row["id"] not in changed(comparison, "fixed")


def test_every_broken_case_is_named_also_beyond_those_that_are_told_at_length(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passed_before = {row["id"] for row in rows(folder, "baseline.jsonl") if row["reward"] == 1.0}
    candidate = rows(folder, "candidate.jsonl")
    turned = [row for row in candidate if row["reward"] == 1.0 and row["id"] in passed_before]
    assert len(turned) == 12
    for row in turned:
        row["reward"] = 0.0
    write_rows(folder / "candidate.jsonl", candidate)
    code, comparison = run(folder)
    assert code == 1
    assert changed(comparison, "broken") == sorted([*BROKEN, *(str(row["id"]) for row in turned)])
    told = [(folder / "out" / "comment.md").read_text(encoding="utf-8"), capsys.readouterr().out]
    assert all(str(row["id"]) in text for row in turned for text in told)


def test_the_same_outputs_twice_are_called_identical(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copyfile(folder / "baseline.jsonl", folder / "candidate.jsonl")
    code, comparison = run(folder)
    assert code == 0
    assert metric(comparison, "reward")["class"] == "no_difference"
    text = capsys.readouterr().out + (folder / "out" / "comment.md").read_text(encoding="utf-8")
    assert "identical" in text


def test_six_missing_candidate_rows_leave_no_verdict(folder: Path) -> None:
    write_rows(folder / "candidate.jsonl", rows(folder, "candidate.jsonl")[:44])
    code, comparison = run(folder)
    assert code == 3
    assert comparison["verdict"]["outcome"] == "incomplete"  # type: ignore[index]
    assert comparison["cases"]["missing"] == [f"airline-{n}" for n in range(44, 50)]  # type: ignore[index]


def test_an_empty_dataset_is_wrong_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "dataset.jsonl").write_text("", encoding="utf-8")
    code, comparison = run(folder)
    assert code == 2
    assert comparison == {}
    assert "dataset.jsonl" in capsys.readouterr().err


def test_the_order_of_the_rows_changes_nothing(folder: Path) -> None:
    _, before = run(folder)
    for name in ("dataset.jsonl", "candidate.jsonl"):
        write_rows(folder / name, list(reversed(rows(folder, name))))
    _, after = run(folder)
    for part in ("verdict", "metrics", "changes", "cases"):
        assert before[part] == after[part]


def test_the_run_files_can_be_compared_again(folder: Path) -> None:
    _, before = run(folder)
    out = folder / "out"
    again = folder / "again"
    code = main(
        [
            "compare",
            str(out / "baseline.jsonl"),
            str(out / "candidate.jsonl"),
            "-c",
            str(folder / "ci-eval.yaml"),
            "-o",
            str(again),
        ],
        {},
    )
    assert code == 0
    after = json.loads((again / "comparison.json").read_text(encoding="utf-8"))
    for part in ("verdict", "metrics", "changes", "cases"):
        assert before[part] == after[part]


def test_two_runs_write_the_same_bytes_save_the_provenance(folder: Path) -> None:
    def without_provenance(comparison: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in comparison.items() if key != "provenance"}

    first, second = run(folder)[1], run(folder)[1]
    assert without_provenance(first) == without_provenance(second)


def test_the_whole_run_takes_less_than_three_seconds_of_the_processor(folder: Path) -> None:
    def processor_time_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = processor_time_s()  # not the clock on the wall: other tests run beside this one
    subprocess.run(
        [sys.executable, "-m", "ci_eval", "run", "-c", str(folder / "ci-eval.yaml"), "-o", str(folder / "out"), "-q"],
        check=True, capture_output=True,
    )  # fmt: skip
    assert processor_time_s() - before < 3.0

"""`ci-eval compare` on two run files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.cli.main import main
from tests.rows import write_rows

CONFIG = "dataset: data.jsonl\nbaseline: {outputs: before.jsonl}\ncandidate: {outputs: after.jsonl}\nevaluators: [exact_match]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ci-eval.yaml").write_text(CONFIG, encoding="utf-8")
    for name, field in (("data", "ground_truth"), ("before", "response"), ("after", "response")):
        rows = [{"id": f"q{n}", "query": f"Say {n}", field: "wrong" if name == "after" else str(n)} for n in range(12)]
        write_rows(tmp_path / f"{name}.jsonl", rows)
    assert main(["run", "-q", "-o", "out"], {}) == 1
    return tmp_path


def test_the_files_of_a_run_give_its_verdict_again(folder: Path) -> None:
    assert main(["compare", "-q", str(folder / "out/baseline.jsonl"), str(folder / "out/candidate.jsonl")], {}) == 1


def test_files_in_the_wrong_order_are_no_improvement(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "-q", str(folder / "out/candidate.jsonl"), str(folder / "out/baseline.jsonl")], {}) == 2
    assert "wrong order" in capsys.readouterr().err


def test_two_runs_of_one_arm_are_compared_as_given(folder: Path) -> None:
    same = str(folder / "out/candidate.jsonl")
    assert main(["compare", "-q", same, same], {}) == 0

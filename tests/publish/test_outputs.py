"""Outputs cannot be forged by what they carry."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.publish.job_summary import SUMMARY_LIMIT, SummaryTooLong, append_summary
from ci_eval.publish.outputs import append_outputs
from tests.publish.test_publish import read_outputs


def test_a_value_of_several_lines_comes_back_as_it_was(tmp_path: Path) -> None:
    append_outputs(tmp_path / "output", {"headline": "a\nexit-code<<X\n0\nX", "exit-code": 1})

    assert read_outputs(tmp_path / "output") == {"headline": "a\nexit-code<<X\n0\nX", "exit-code": "1"}


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="ab<=\n_ :%", max_size=60))
def test_no_text_ends_early(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    path = tmp_path_factory.mktemp("outputs") / "output"
    append_outputs(path, {"headline": value, "outcome": "block"})

    assert read_outputs(path) == {"outcome": "block", "headline": value}


def test_a_value_that_knows_the_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="random mark"):
        append_outputs(tmp_path / "output", {"headline": "x\nci_eval_1\n"}, new_mark=lambda: "1")


def test_a_report_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at most 2,000"):
        append_outputs(tmp_path / "output", {"headline": "x" * 2_001})


def test_the_summary_is_appended_up_to_github_s_limit(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    append_summary(path, "one")
    append_summary(path, "x" * (SUMMARY_LIMIT - path.stat().st_size - 2))
    assert path.stat().st_size == SUMMARY_LIMIT

    with pytest.raises(SummaryTooLong):
        append_summary(path, "")

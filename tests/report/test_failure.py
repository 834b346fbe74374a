"""An evaluation that ended in an error: no verdict, said in words that people know."""

from __future__ import annotations

from ci_eval.domain.comparison import Outcome
from ci_eval.errors import ConfigError, NoVerdictError, Problem
from ci_eval.report.failure import render_failure
from tests.report.markdown_reader import assert_is_harmless


def test_wrong_input_is_shown_on_its_line_and_no_internal_name_is() -> None:
    problem = Problem(
        code="union_tag_invalid", file="ci-eval.yaml", line=8, field="evaluators[1]",
        message="there is no evaluator 'f1score'", hint="did you mean f1_score?",
    )  # fmt: skip
    report = render_failure(ConfigError(problem), title="ci-eval")
    (annotation,) = report.annotations
    assert (annotation.path, annotation.line, annotation.title) == ("ci-eval.yaml", 8, "ci-eval: the input is wrong")
    assert annotation.message == "evaluators[1]: there is no evaluator 'f1score' (did you mean f1_score?)"
    assert report.outcome is Outcome.INCOMPLETE
    assert "The configuration or the data is wrong, not the agent." in report.comment
    assert "union_tag_invalid" not in report.comment


def test_a_service_out_of_reach_blames_nobody() -> None:
    report = render_failure(NoVerdictError("the baseline's commit could not be fetched"), title="ci-eval")
    assert report.annotations == ()
    assert "wrong, not the agent" not in report.comment
    assert "the baseline's commit could not be fetched" in report.comment


def test_neither_title_nor_error_comes_alive() -> None:
    hostile = "@octo/team fixes #1 <b> ![x](https://evil.example/x.png) </details> `a` | b\n```\n<!-- "
    report = render_failure(NoVerdictError(hostile), title=hostile)
    for text in (report.comment, report.summary, report.check_summary):
        assert_is_harmless(text)

"""One arm's run: what has no result is told with its cause."""

from __future__ import annotations

from ci_eval.domain.results import RunResult
from ci_eval.domain.sample import Failure
from ci_eval.domain.score import errored, skipped
from ci_eval.report.terminal_run import render_run
from tests.report.fixtures import SUCCESS, header, record, score


def test_what_has_no_result_is_told_with_its_commonest_cause() -> None:
    lost = Failure(stage="target", code="not_found", message="agent has no traige;\nnear names: triage")
    records = (
        record("a", scores={"task_success": score(SUCCESS, 1.0)}),
        record("b", scores={"task_success": errored(SUCCESS, "exception", "checks:polite: KeyError: 'x'")}),
        *(record(case_id, failure=lost) for case_id in "cdefgh"),
        record("i", scores={"task_success": skipped(SUCCESS, "no ground truth")}),
    )
    told = render_run(RunResult(header=header("candidate", "9b01e7d", metrics=(SUCCESS,)), records=records))
    assert told.endswith(
        "task_success: exception: 1 of 9 (b)\n"
        "    checks:polite: KeyError: 'x'\n"
        "error: not_found: 6 of 9 (c, d, e, f, g, …)\n"
        "    agent has no traige; near names: triage\n"
        "task_success: skipped: 1 of 9 (i)\n"
        "    no ground truth\n"
    )

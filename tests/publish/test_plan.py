"""The plan is a pure table."""

from __future__ import annotations

import pytest

from ci_eval.domain.comparison import Outcome
from ci_eval.publish.plan import (
    CheckRun,
    CommitStatus,
    JobSummary,
    Outputs,
    StickyComment,
    exit_code,
    plan_publication,
    status_state,
)
from ci_eval.publish.settings import PublishSettings
from tests.publish.publishing import HEAD, context_of


def kinds(*, outcome: Outcome = Outcome.PASS, event: str = "pull_request", **given: object) -> list[str]:
    payload = {"after": HEAD} if event == "push" else None
    context = context_of(event=payload, GITHUB_EVENT_NAME=event)
    return [type(step).__name__ for step in plan_publication(context, PublishSettings(**given), outcome)]


def test_a_pull_request_gets_summary_comment_check_and_outputs() -> None:
    assert plan_publication(context_of(), PublishSettings(), Outcome.BLOCK) == (
        JobSummary(),
        StickyComment(number=7, key=""),
        CheckRun(
            head_sha=HEAD,
            name="ci-eval",
            conclusion="failure",
            fallback=CommitStatus(head_sha=HEAD, context="ci-eval", state="failure"),
        ),
        Outputs(exit_code=1),
    )


def test_a_push_has_nobody_to_comment_to() -> None:
    assert kinds(event="push") == ["JobSummary", "CheckRun", "Outputs"]


def test_what_is_switched_off_is_not_planned() -> None:
    assert kinds(comment=False) == ["JobSummary", "CheckRun", "Outputs"]
    assert kinds(check=False) == ["JobSummary", "StickyComment", "Outputs"]
    assert kinds(check=False, status="always") == ["JobSummary", "StickyComment", "CommitStatus", "Outputs"]
    assert kinds(status="always") == ["JobSummary", "StickyComment", "CheckRun", "CommitStatus", "Outputs"]


@pytest.mark.parametrize(
    ("outcome", "incomplete", "state", "code"),
    [
        (Outcome.PASS, "failure", "success", 0),
        (Outcome.WARN, "failure", "success", 0),
        (Outcome.BLOCK, "neutral", "failure", 1),
        (Outcome.INCOMPLETE, "failure", "error", 3),
        (Outcome.INCOMPLETE, "action_required", "error", 3),
        (Outcome.INCOMPLETE, "neutral", "success", 0),
    ],
)
def test_status_and_exit_code_say_the_same(outcome: Outcome, incomplete: str, state: str, code: int) -> None:
    settings = PublishSettings.model_validate({"incomplete": incomplete})

    assert status_state(outcome, settings) == state
    assert exit_code(outcome, settings) == code

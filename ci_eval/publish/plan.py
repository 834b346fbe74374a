"""Which places the report is tried at, in which order.

In: who asked, what was set, the outcome. Out: steps as values; `publish.py` applies them. Pure: no clock, no files, no network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ci_eval.clients.base import CheckConclusion, StatusState
from ci_eval.domain.comparison import Outcome
from ci_eval.errors import ExitCode
from ci_eval.publish.context import PullContext
from ci_eval.publish.settings import PublishSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSummary:
    """The report on the page of the workflow run; needs no permission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Values for later steps; need no permission."""

    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStatus:
    """A line beside the commit."""

    head_sha: str
    context: str
    state: StatusState


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyComment:
    """One comment of ours on the pull request, created once and edited afterwards."""

    number: int
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """A completed check run on the head commit."""

    head_sha: str
    name: str
    conclusion: CheckConclusion
    fallback: CommitStatus | None
    """Tried when the check run is refused."""


Step: TypeAlias = JobSummary | StickyComment | CheckRun | CommitStatus | Outputs


def plan_publication(context: PullContext, settings: PublishSettings, outcome: Outcome) -> tuple[Step, ...]:
    """Return the steps to try. A refusal of one never stops the next.

    A fork's token is tried as well: whether it may write is a setting of the repository that no payload tells.
    """
    steps: list[Step] = [JobSummary()]
    if settings.comment and context.pull_number is not None:
        steps.append(StickyComment(number=context.pull_number, key=settings.key))
    if context.head_sha is not None:
        status = CommitStatus(
            head_sha=context.head_sha,
            context=settings.full_check_name,
            state=status_state(outcome, settings),
        )
        if settings.check:
            steps.append(
                CheckRun(
                    head_sha=context.head_sha,
                    name=settings.full_check_name,
                    conclusion=check_conclusion(outcome, settings),
                    fallback=status if settings.status == "fallback" else None,
                )
            )
        if settings.status == "always":
            steps.append(status)
    steps.append(Outputs(exit_code=exit_code(outcome, settings)))
    return tuple(steps)


def check_conclusion(outcome: Outcome, settings: PublishSettings) -> CheckConclusion:
    """Return the check's conclusion; `success` and `neutral` let a required check pass."""
    match outcome:
        case Outcome.PASS:
            return "success"
        case Outcome.WARN:
            return "neutral"
        case Outcome.BLOCK:
            return "failure"
        case Outcome.INCOMPLETE:
            return settings.incomplete
        case _:
            assert_never(outcome)


def status_state(outcome: Outcome, settings: PublishSettings) -> StatusState:
    """Return the state of a commit status: the check's conclusion in the four words that a status knows."""
    match check_conclusion(outcome, settings):
        case "success" | "neutral":
            return "success"
        case "failure":
            return "error" if outcome is Outcome.INCOMPLETE else "failure"
        case "action_required":
            return "error"


def exit_code(outcome: Outcome, settings: PublishSettings) -> ExitCode:
    """Return how the process ends for this outcome; follows the check, so that the two never disagree."""
    if outcome is Outcome.BLOCK:
        return ExitCode.BLOCK
    if outcome is Outcome.INCOMPLETE and settings.incomplete in ("failure", "action_required"):
        return ExitCode.NO_VERDICT
    return ExitCode.PASS

"""The grid of case x trial x arm, asked and scored; the one `asyncio.run` of the program.

In: cases, one ArmRun per arm (how to ask it, where its records go), evaluators. Out: records, handed to each arm's writer as they come.
Arms alternate per case, so that a service that slows down or breaks hits both. A cell that goes wrong becomes a record, never an exception.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.results import Arm, CaseResult
from ci_eval.domain.sample import NOT_RECORDED, Failure, Sample
from ci_eval.domain.score import Score
from ci_eval.errors import CiEvalError, InterruptedRun
from ci_eval.evaluators.base import Evaluator
from ci_eval.run.scoring import score_sample
from ci_eval.targets.base import TargetFailure

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRun:
    """One arm, ready to be asked."""

    arm: Arm
    ask: Callable[[Case, int], Awaitable[Sample]]
    """Raises TargetFailure when there is no answer, Unreadable when the answer fits no rule."""
    add: Callable[[CaseResult], None]
    close: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One question to one arm."""

    case: Case
    trial: int
    arm: ArmRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """All that has to be asked."""

    cases: Sequence[Case]
    arms: Sequence[ArmRun]
    evaluators: Sequence[Evaluator]
    trials: int
    concurrency: int
    """Questions in flight at a time, over both arms."""


OnDone: TypeAlias = Callable[[Arm, CaseResult], None]


def evaluate(work: Work, on_done: OnDone) -> None:
    """Ask and score everything; InterruptedRun on SIGINT (the command line makes one of SIGTERM)."""
    try:
        asyncio.run(_evaluate(work, on_done))
    except ExceptionGroup as group:
        raise _first_of(group) from group
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        raise InterruptedRun("interrupted; the results so far are in the run files") from error


def grid(cases: Sequence[Case], arms: Sequence[ArmRun], *, trials: int) -> Iterator[Cell]:
    """Lay out the cells: B C, C B, B C, … so that both arms meet the same weather."""
    turn = 0
    for case in cases:
        for trial in range(trials):
            order = arms if turn % 2 == 0 else tuple(reversed(arms))
            turn += 1
            for arm in order:
                yield Cell(case=case, trial=trial, arm=arm)


async def _evaluate(work: Work, on_done: OnDone) -> None:
    cells = grid(work.cases, work.arms, trials=work.trials)

    async def take_cells() -> None:
        for cell in cells:  # one shared iterator: every worker takes the next free cell
            record = await run_cell(cell, work.evaluators)
            cell.arm.add(record)
            on_done(cell.arm.arm, record)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(work.concurrency):
                group.create_task(take_cells())
    finally:
        for arm in work.arms:
            await arm.close()
        for evaluator in work.evaluators:
            close = getattr(evaluator, "close", None)
            if close is not None:
                await close()


async def run_cell(cell: Cell, evaluators: Sequence[Evaluator]) -> CaseResult:
    """Ask, score and record one cell; every failure of the target or of ours becomes part of the record."""
    try:
        sample = await cell.arm.ask(cell.case, cell.trial)
    except TargetFailure as failure:
        sample = failed_sample(failure.code, failure.message)
    except Unreadable as error:
        place = f"{error.path}: " if error.path else ""
        sample = failed_sample("bad_reply", f"{place}{error.message}")
    except CiEvalError:
        raise
    except Exception as error:
        log.debug("asking case %s failed", cell.case.id, exc_info=True)
        sample = failed_sample("sandbox", f"ci-eval could not ask the agent: {type(error).__name__}: {error}")
    return record_of(cell, sample, await score_sample(evaluators, cell.case, sample))


def failed_sample(code: str, message: str) -> Sample:
    """Make the sample of a target that gave no answer; one that was never recorded did not run."""
    return Sample(
        status="not_run" if code == NOT_RECORDED else "error", failure=Failure(stage="target", code=code, message=message)
    )


def record_of(cell: Cell, sample: Sample, scores: Mapping[str, Score]) -> CaseResult:
    """Put together what the run file keeps of a cell."""
    case = cell.case
    return CaseResult(
        case_id=case.id,
        trial=cell.trial,
        fingerprint=case.fingerprint,
        source=case.source,
        status=sample.status,
        query=case.query,
        title=case.title,
        tags=case.tags,
        ground_truths=case.ground_truths,
        expected_actions=case.expected_actions,
        failure=sample.failure,
        output_text=sample.output_text,
        output_digest=sample.output_digest(),
        tool_calls=sample.tool_calls,
        usage=sample.usage,
        cost_usd=sample.cost_usd,
        latency_s=sample.latency_s,
        scores=scores,
        notices=sample.notices,
    )


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in it, for one is enough to stop."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

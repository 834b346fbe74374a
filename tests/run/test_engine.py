"""The engine asks everything once, alternates the arms, and turns whatever goes wrong into a record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ci_eval.domain.case import Case, Source
from ci_eval.domain.notice import Notice
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.results import Arm, CaseResult
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score, scored
from ci_eval.errors import NoVerdictError
from ci_eval.run.engine import ArmRun, Work, evaluate, grid
from ci_eval.targets.base import TargetFailure

LENGTH = Metric(name="length", evaluator="length", kind="count")


class Length:
    metrics = (LENGTH,)

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        return (scored(LENGTH, len(sample.output_text or ""), "counted"),)


class Broken:
    metrics = (LENGTH,)

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        raise ZeroDivisionError("nothing to divide")


class Asynchronous:
    metrics = (LENGTH,)

    async def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        await asyncio.sleep(0)
        return (scored(LENGTH, 7, "waited"),)


class NotANumber:
    metrics = (LENGTH,)

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        return (Score(metric="length", score=float("nan")),)


class Forgetful:
    metrics = (LENGTH,)

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        return ()


def case(name: str) -> Case:
    return Case(id=name, query=f"query of {name}", source=Source(file="d.jsonl", line=1), fingerprint="f")


class Recorder:
    """An arm that answers by a function and remembers what it was asked and what was recorded."""

    def __init__(self, arm: Arm, answer: Callable[[Case, int], Sample]) -> None:
        self.asked: list[tuple[str, int]] = []
        self.records: list[CaseResult] = []
        self.closed = False
        self._answer = answer
        self.run = ArmRun(arm=arm, ask=self._ask, add=self.records.append, close=self._close)

    async def _ask(self, case: Case, trial: int) -> Sample:
        self.asked.append((case.id, trial))
        await asyncio.sleep(0)
        return self._answer(case, trial)

    async def _close(self) -> None:
        self.closed = True


def hello(case: Case, trial: int) -> Sample:
    return Sample(output_text="hello")


def run(*arms: Recorder, cases: str = "a b", trials: int = 1, evaluators: tuple[object, ...] = (Length(),)) -> None:
    work = Work(
        cases=[case(name) for name in cases.split()],
        arms=[arm.run for arm in arms],
        evaluators=evaluators,  # type: ignore[arg-type]
        trials=trials,
        concurrency=4,
    )
    evaluate(work, lambda arm, record: None)


def test_every_case_and_trial_is_asked_once_on_each_arm() -> None:
    baseline, candidate = Recorder("baseline", hello), Recorder("candidate", hello)
    run(baseline, candidate, cases="a b c", trials=2)
    expected = [(name, trial) for name in "abc" for trial in (0, 1)]
    assert sorted(baseline.asked) == expected
    assert sorted(candidate.asked) == expected
    assert [(r.case_id, r.trial) for r in sorted(candidate.records, key=lambda r: (r.case_id, r.trial))] == expected
    assert baseline.closed
    assert candidate.closed


def test_the_arms_alternate_per_case() -> None:
    arms = [Recorder("baseline", hello).run, Recorder("candidate", hello).run]
    order = [(cell.case.id, cell.arm.arm[0]) for cell in grid([case("1"), case("2"), case("3")], arms, trials=1)]
    assert order == [("1", "b"), ("1", "c"), ("2", "c"), ("2", "b"), ("3", "b"), ("3", "c")]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (TargetFailure("timeout", "took more than 5 s"), "error", "timeout"),
        (TargetFailure("not_recorded", "no recorded output"), "not_run", "not_recorded"),
        (Unreadable("unknown_role", "role 'robot' is not known", path="messages[1]"), "error", "bad_reply"),
        (RuntimeError("no more processes"), "error", "sandbox"),
    ],
    ids=lambda value: getattr(value, "code", None) or str(value),
)
def test_a_cell_that_goes_wrong_becomes_a_record_without_scores(error: Exception, status: str, code: str) -> None:
    def fail_on_b(case: Case, trial: int) -> Sample:
        if case.id == "b":
            raise error
        return hello(case, trial)

    arm = Recorder("candidate", fail_on_b)
    run(arm, cases="a b c")
    records = {record.case_id: record for record in arm.records}
    assert records["b"].status == status
    assert records["b"].failure is not None
    assert records["b"].failure.code == code
    assert records["b"].scores == {}
    assert [records[name].scores["length"].score for name in "ac"] == [5.0, 5.0]


def test_a_disk_that_refuses_stops_the_run() -> None:
    arm = Recorder("candidate", hello)

    def refuse(record: CaseResult) -> None:
        raise NoVerdictError("disk full")

    with pytest.raises(NoVerdictError, match="disk full"):
        evaluate(
            Work(
                cases=[case("a")],
                arms=[ArmRun(arm="candidate", ask=arm.run.ask, add=refuse, close=arm.run.close)],
                evaluators=(),
                trials=1,
                concurrency=2,
            ),
            lambda arm, record: None,
        )
    assert arm.closed


@pytest.mark.parametrize(
    ("evaluator", "status", "code"),
    [
        (Broken(), "error", "exception"),
        (NotANumber(), "error", "not_finite"),
        (Forgetful(), "error", "no_score"),
        (Asynchronous(), "ok", None),
    ],
    ids=["raises", "nan", "returns nothing", "async"],
)
def test_an_evaluator_costs_at_most_its_own_scores(evaluator: object, status: str, code: str | None) -> None:
    arm = Recorder("candidate", hello)
    run(arm, cases="a", evaluators=(evaluator,))
    score = arm.records[0].scores["length"]
    assert (score.status, score.error_code) == (status, code)
    assert score.reason
    if status == "error":
        assert score.score is None
        assert score.passed is None


def test_what_is_odd_about_an_answer_is_kept_with_it() -> None:
    odd = Notice(code="arguments_not_json", message="arguments of a call are no JSON")
    arm = Recorder("candidate", lambda case, trial: Sample(output_text="hello", notices=(odd,)))
    run(arm, cases="a")
    assert arm.records[0].notices == (odd,)

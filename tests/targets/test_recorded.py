"""Answers from rows."""

import asyncio

import pytest

from ci_eval.targets.base import TargetFailure
from ci_eval.targets.recorded import RecordedTarget
from tests.targets.arms import case


def test_a_row_is_given_back_untouched_and_without_a_latency() -> None:
    row = {"response": "x", "latency_ms": 12}
    reply = asyncio.run(RecordedTarget({("parcel", 1): row}).answer(case(), 1))
    assert (reply.value, reply.latency_s) == (row, None)


def test_a_row_that_holds_nothing_is_still_a_row() -> None:
    assert asyncio.run(RecordedTarget({("parcel", 0): None}).answer(case(), 0)).value is None


def test_a_missing_row_is_told_with_case_and_trial() -> None:
    with pytest.raises(TargetFailure, match="no output is recorded for case parcel, trial 2") as caught:
        asyncio.run(RecordedTarget({("parcel", 0): "x"}).answer(case(), 2))
    assert caught.value.code == "not_recorded"

"""Answers that were recorded earlier, by case and trial.

In: rows, already read and joined to cases by the spine. Out: the row of the case. No process, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Reply
from ci_eval.domain.sample import NOT_RECORDED
from ci_eval.targets.base import TargetFailure


class RecordedTarget:
    """Gives back what an outputs file holds."""

    def __init__(self, rows: Mapping[tuple[str, int], object]) -> None:
        self._rows = rows

    async def answer(self, case: Case, trial: int) -> Reply:
        """Look the case up; TargetFailure `not_recorded` where there is no row."""
        key = (case.id, trial)
        if key not in self._rows:
            raise TargetFailure(NOT_RECORDED, f"no output is recorded for case {case.id}, trial {trial}")
        return Reply(value=self._rows[key])

    async def close(self) -> None:
        """Nothing was started."""

"""Pair two runs case by case.

In: two RunResults. Out: Pairing: what both arms know about every case, and how the datasets overlap. A case that stands twice in a
run is a DataError. Pure; the order of the records never matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ci_eval.domain.comparison import CasePair, CaseSets
from ci_eval.domain.results import CaseResult, RunResult
from ci_eval.domain.sample import NOT_RECORDED
from ci_eval.errors import DataError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Every case of both runs."""

    pairs: Mapping[str, CasePair]
    """By case id, sorted; also cases that only one arm has."""
    sets: CaseSets
    unrecorded: int
    """Cases that the datasets must hold and no record names; each is a missing pair."""
    trials_baseline: int
    trials_candidate: int

    def compared(self) -> tuple[CasePair, ...]:
        """Return the cases whose difference counts, or should: paired and missing ones, by id."""
        return tuple(self.pairs[case_id] for case_id in sorted((*self.sets.paired, *self.sets.missing)))


def pair_runs(baseline: RunResult, candidate: RunResult) -> Pairing:
    """Bring the records of both arms together by case id."""
    _refuse_swapped(baseline, candidate)
    before, after = _by_case(baseline), _by_case(candidate)
    absent = _Absence(baseline, candidate, before=before, after=after)
    names = ("paired", "added", "removed", "modified", "missing")
    sets: dict[str, list[str]] = {name: [] for name in names}
    pairs = {}
    for case_id in sorted(before.keys() | after.keys()):
        pair = CasePair(case_id=case_id, baseline=before.get(case_id, ()), candidate=after.get(case_id, ()))
        pairs[case_id] = pair
        sets[absent.place_of(pair)].append(case_id)
    return Pairing(
        pairs=pairs,
        sets=CaseSets(**{name: tuple(ids) for name, ids in sets.items()}),
        unrecorded=absent.unrecorded,
        trials_baseline=baseline.header.trials,
        trials_candidate=candidate.header.trials,
    )


def _refuse_swapped(baseline: RunResult, candidate: RunResult) -> None:
    """A loss read backwards is a gain: two files that both say they are the other arm were given in the wrong order."""
    if (baseline.header.arm, candidate.header.arm) == ("candidate", "baseline"):
        message = (
            "the first run file was written for the candidate and the second for the baseline: they stand in the wrong order"
        )
        raise DataError(Problem(code="arms_swapped", message=message, hint="give the baseline first: ci-eval compare BASE CAND"))


def needed_trials(trials: int) -> int:
    """Return how many usable trials make an arm's case usable: half of them, rounded up."""
    return max(1, -(-trials // 2))


class _Absence:
    """Tells a case that one dataset does not hold from a case that was not run.

    When both arms have one dataset, or a run has fewer cases than its dataset, whatever is absent was not run: ignorance must
    never look like a smaller dataset.
    """

    def __init__(
        self,
        baseline: RunResult,
        candidate: RunResult,
        *,
        before: Mapping[str, Sequence[CaseResult]],
        after: Mapping[str, Sequence[CaseResult]],
    ) -> None:
        same = baseline.header.dataset_digest == candidate.header.dataset_digest
        cut_short = len(before) < baseline.header.cases or len(after) < candidate.header.cases
        known = len(before.keys() | after.keys()) if same else 0
        largest = max(baseline.header.cases, candidate.header.cases) if same else 0
        self._is_missing = same or cut_short
        self._needed = (needed_trials(baseline.header.trials), needed_trials(candidate.header.trials))
        self.unrecorded = max(0, largest - known)

    def place_of(self, pair: CasePair) -> str:
        """Name the set that the case belongs to."""
        if not pair.baseline or _made_before(pair):
            return "missing" if not pair.baseline and self._is_missing else "added"
        if not pair.candidate:
            return "missing" if self._is_missing else "removed"
        if {record.fingerprint for record in pair.baseline} != {record.fingerprint for record in pair.candidate}:
            return "modified"
        return "paired" if self._is_usable(pair) else "missing"

    def _is_usable(self, pair: CasePair) -> bool:
        if all(record.status == "skipped" for record in (*pair.baseline, *pair.candidate)):
            return True
        arms = (pair.baseline, pair.candidate)
        return all(sum(map(_tells, arm)) >= needed for arm, needed in zip(arms, self._needed, strict=True))


def _made_before(pair: CasePair) -> bool:
    """True when the baseline's recorded outputs are older than the case and the candidate ran it."""
    never = all(_is_not_recorded(record) for record in pair.baseline)
    return never and any(record.status != "not_run" for record in pair.candidate)


def _is_not_recorded(record: CaseResult) -> bool:
    return record.status == "not_run" and record.failure is not None and record.failure.code == NOT_RECORDED


def _tells(record: CaseResult) -> bool:
    """True when the trial says something about the agent: an answer, or the agent's own failure."""
    if record.status == "error":
        return record.failure is not None and not record.failure.is_infrastructure
    return record.status == "ok"


def _by_case(run: RunResult) -> dict[str, tuple[CaseResult, ...]]:
    """Group the records by case, trials in order; DataError for a trial that stands twice."""
    cases: dict[str, dict[int, CaseResult]] = {}
    problems = []
    for record in run.records:
        trials = cases.setdefault(record.case_id, {})
        if record.trial in trials:
            message = f"{run.header.arm}: case {record.case_id!r} has two records for trial {record.trial}; one was expected"
            hint = "the run file was joined or edited by hand: keep one record per case and trial"
            problems.append(Problem(code="duplicate_record", message=message, hint=hint))
        trials[record.trial] = record
    if problems:
        raise DataError(problems)
    return {case_id: tuple(trials[trial] for trial in sorted(trials)) for case_id, trials in cases.items()}

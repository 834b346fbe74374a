"""Pictures of runs: `run("a✓ b✓ c✗ d! e-")` is a run of five cases.

✓ pass · ✗ fail · ! the agent failed · ? the infrastructure failed · # the evaluator failed · ~ the metric does not apply ·
s left out on purpose · - not run · . never recorded. Several marks are several trials: `a✓✗✓`.
Equal marks are equal outputs, unless the arms speak with another `voice`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ci_eval.domain.canonical import digest
from ci_eval.domain.case import Source
from ci_eval.domain.results import Arm, ArmSource, CaseResult, RunHeader, RunResult
from ci_eval.domain.sample import Failure, SampleStatus
from ci_eval.domain.score import Metric, Score, errored, scored, skipped

PICTURE = re.compile(r"(?P<id>.+?)(?P<marks>[✓✗!?#~s.-]+)")
STATUS: Mapping[str, SampleStatus] = {"!": "error", "?": "error", "s": "skipped", "-": "not_run", ".": "not_run"}
FAILURES = {
    "!": Failure(stage="target", code="exception", message="KeyError: 'city'"),
    "?": Failure(stage="target", code="rate_limited", message="429 Too Many Requests"),
    ".": Failure(stage="target", code="not_recorded", message="no recorded output"),
}


def binary(name: str = "task_success", **changes: object) -> Metric:
    """A metric of pass or fail."""
    return _metric(name, "binary", **{"threshold": 1.0, **changes})


def score_metric(name: str = "quality", **changes: object) -> Metric:
    """A metric from 0 to 1 without pass or fail."""
    return _metric(name, "score", **changes)


def likert(name: str = "helpfulness", **changes: object) -> Metric:
    """A metric from 1 to 5."""
    return _metric(name, "likert", minimum=1.0, maximum=5.0, **changes)


def count(name: str = "policy_breaks", **changes: object) -> Metric:
    """A number of things, fewer is better."""
    return _metric(name, "count", **{"direction": "lower", "maximum": None, **changes})


def _metric(name: str, kind: str, **changes: object) -> Metric:
    return replace(Metric(name=name, evaluator=name, kind=kind), **changes)  # type: ignore[arg-type] # tests spell them right


def run(
    picture: str = "",
    *,
    metric: Metric | None = None,
    arm: Arm = "candidate",
    voice: str = "",
    dataset: str = "dataset",
    cases: int | None = None,
    trials: int | None = None,
    tags: Mapping[str, Sequence[str]] | None = None,
    edited: Sequence[str] = (),
) -> RunResult:
    """Draw a run of one binary metric; `edited` cases have another content than elsewhere."""
    metric = metric or binary()
    records = []
    for word in picture.split():
        match = PICTURE.fullmatch(word)
        if match is None:
            raise ValueError(f"not a case and its marks: {word!r}")
        case_id, marks = match["id"], match["marks"]
        for trial, mark in enumerate(marks):
            score = None if mark in STATUS else _drawn(metric, mark)
            record = _record(case_id, trial, STATUS.get(mark, "ok"), {} if score is None else {metric.name: score})
            output = digest([case_id, mark, voice])
            records.append(
                replace(
                    record,
                    failure=FAILURES.get(mark),
                    output_digest=output,
                    tags=tuple((tags or {}).get(case_id, ())),
                    fingerprint=f"{case_id} edited" if case_id in edited else record.fingerprint,
                )
            )
    return _run(records, metric, arm=arm, dataset=dataset, cases=cases, trials=trials)


def scores_run(
    values: Mapping[str, float | Sequence[float]], *, metric: Metric | None = None, arm: Arm = "candidate", voice: str = ""
) -> RunResult:
    """Make a run of numbers: one per case, or one per trial."""
    metric = metric or score_metric()
    records = []
    for case_id, given in values.items():
        for trial, value in enumerate([given] if isinstance(given, (int, float)) else given):
            score = scored(metric, value, f"scored {value}")
            record = _record(case_id, trial, "ok", {metric.name: score})
            records.append(replace(record, output_digest=digest([case_id, repr(value), voice])))
    return _run(records, metric, arm=arm)


def both(first: RunResult, second: RunResult) -> RunResult:
    """Put the scores of the second run beside those of the first, joined by case and trial."""
    extra = {(record.case_id, record.trial): record.scores for record in second.records}
    records = tuple(
        replace(record, scores={**record.scores, **extra.get((record.case_id, record.trial), {})}) for record in first.records
    )
    return replace(first, records=records, header=replace(first.header, metrics=first.header.metrics + second.header.metrics))


def _drawn(metric: Metric, mark: str) -> Score:
    match mark:
        case "✓" | "✗":
            return scored(metric, float((mark == "✓") == (metric.direction != "lower")), "as drawn")
        case "~":
            return skipped(metric, "does not apply")
        case _:
            return errored(metric, "judge_unparsable", "the judge's answer could not be read")


def _record(case_id: str, trial: int, status: SampleStatus, scores: Mapping[str, Score]) -> CaseResult:
    return CaseResult(
        case_id=case_id,
        trial=trial,
        fingerprint=case_id,
        source=Source(file="dataset.jsonl", line=1),
        status=status,
        query=f"query of {case_id}",
        output_text=f"answer to {case_id}",
        scores=scores,
    )


def _run(
    records: Sequence[CaseResult],
    metric: Metric,
    *,
    arm: Arm,
    dataset: str = "dataset",
    cases: int | None = None,
    trials: int | None = None,
) -> RunResult:
    header = RunHeader(
        arm=arm,
        source=ArmSource(kind="outputs", description=f"{arm}.jsonl"),
        dataset="dataset.jsonl",
        dataset_digest=dataset,
        cases=len({record.case_id for record in records}) if cases is None else cases,
        trials=max((record.trial + 1 for record in records), default=1) if trials is None else trials,
        metrics=(metric,),
        started="2026-01-31T12:00:00Z",
        version="0.1.0",
    )
    return RunResult(header=header, records=tuple(records))


def marks(text: str, *, start: int = 1) -> str:
    """Number the cases: `marks("✓✓✗")` is `c001✓ c002✓ c003✗`."""
    return " ".join(f"c{number:03}{mark}" for number, mark in enumerate(text, start=start))

"""Small cases and samples, and evaluators built as a configuration would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from ci_eval.domain.case import Case, ExpectedAction, Source
from ci_eval.domain.functions import RemoteFunction
from ci_eval.domain.message import ToolCall
from ci_eval.domain.roles import read_roles
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Score
from ci_eval.evaluators.base import EvaluatorContext, EvaluatorSpec
from ci_eval.evaluators.catalog import AnyEvaluator
from ci_eval.messages.readers import READERS
from tests.shared import SHARED, needs_shared

SPECS: TypeAdapter[EvaluatorSpec] = TypeAdapter(AnyEvaluator)


def no_function(name: str) -> RemoteFunction:
    raise AssertionError(f"nobody should open {name}")


def context(open_function=no_function) -> EvaluatorContext:
    return EvaluatorContext(readers=READERS, workspace=Path(), environ={}, open_function=open_function)


def spec(kind: str, **options: object) -> EvaluatorSpec:
    return SPECS.validate_python({"kind": kind, **options})


def row(**columns: object) -> Case:
    """A case whose row has these columns, sorted into roles as the dataset does."""
    roles = read_roles(columns, purpose="dataset").values
    truth, expected = roles.get("ground_truth"), roles.get("expected_actions")
    texts = None if truth is None else tuple(map(str, truth)) if isinstance(truth, list) else (str(truth),)
    query = roles.get("query")
    return Case(
        id="r1",
        query=query if isinstance(query, str) else None,
        source=Source(file="data.jsonl", line=1),
        fingerprint="f",
        fields=columns,
        roles=roles,
        ground_truths=texts,
        expected_actions=None if expected is None else READERS.expected_actions(expected),
    )


def said(text: str | None, **fields: object) -> Sample:
    return Sample(output_text=text, fields=fields)


def called(*steps: str | tuple[str, Mapping[str, object]]) -> Sample:
    """A sample that made these calls: a name, or a name and arguments."""
    calls = [(step, {}) if isinstance(step, str) else step for step in steps]
    return Sample(output_text="done", tool_calls=tuple(ToolCall(name=name, arguments=given) for name, given in calls))


def calls_expected(*steps: str | tuple[str, Mapping[str, object]] | ExpectedAction) -> Case:
    """A case that expects these calls: names, or names with exact arguments."""
    return Case(
        id="r1",
        query="q",
        source=Source(file="data.jsonl", line=1),
        fingerprint="f",
        expected_actions=tuple(
            step if isinstance(step, ExpectedAction)
            else ExpectedAction(name=step) if isinstance(step, str)
            else ExpectedAction(name=step[0], arguments=step[1], match="exact")
            for step in steps
        ),
    )  # fmt: skip


def scores_of(evaluator: EvaluatorSpec, case: Case, sample: Sample, open_function=no_function) -> dict[str, Score]:
    """Every score by metric name, having checked that it is what the metrics promise."""
    built = evaluator.build(context(open_function))
    given = built.evaluate(case, sample)
    scores = given if isinstance(given, tuple) else asyncio.run(_settled(given))
    assert [score.metric for score in scores] == [metric.name for metric in evaluator.metrics()]
    assert built.metrics == evaluator.metrics()
    for score in scores:
        json.dumps(dict(score.details), allow_nan=False)
        assert score.reason
        assert (score.score is not None) == (score.status == "ok")
        assert (score.error_code is not None) == (score.status == "error")
    return {score.metric: score for score in scores}


def score_of(evaluator: EvaluatorSpec, case: Case, sample: Sample, open_function=no_function) -> Score:
    """The first score: the evaluator's own."""
    return next(iter(scores_of(evaluator, case, sample, open_function).values()))


async def _settled(given):
    return await given


def oracle(evaluator: str) -> Sequence[object]:
    """The handed cases of one evaluator; where they are not there, one that is skipped and says so."""
    path = SHARED / "data" / "oracle" / f"{evaluator}.jsonl"
    if not SHARED.is_dir():
        return [pytest.param({}, id=evaluator, marks=needs_shared)]
    return [pytest.param(handed, id=handed["id"]) for handed in map(json.loads, path.read_text(encoding="utf-8").splitlines())]


def expect(score: Score, right: Mapping[str, object]) -> None:
    """Compare as the oracle's README says."""
    assert score.status == right["status"], score.reason
    if right["status"] != "ok":
        return
    assert score.score == pytest.approx(right["score"], abs=1e-6)
    assert (score.passed, score.label) == (right["passed"], right["label"])
    for key, value in dict(right.get("details", {})).items():
        found = score.details[key]
        assert found == (pytest.approx(value, abs=1e-6) if isinstance(value, float) else value), key

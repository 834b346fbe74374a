from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import ValidationError

from ci_eval.domain.functions import FunctionFailure
from ci_eval.domain.score import Score
from ci_eval.evaluators.base import EvaluatorSpec
from ci_eval.targets.worker_pool import FunctionSettings, WorkerPool
from tests.evaluators.builders import called, calls_expected, context, row, said, score_of, scores_of, spec

POLITE = spec("python", function="evals.checks:polite")


@dataclass
class Scripted:
    """A function that gives the same reply to every call, and remembers what it was given."""

    reply: object = None
    failure: FunctionFailure | None = None
    given: list[Mapping[str, object]] = field(default_factory=list)
    closed: bool = False

    async def call(self, arguments: Mapping[str, object]) -> object:
        self.given.append(arguments)
        if self.failure is not None:
            raise self.failure
        return self.reply

    async def close(self) -> None:
        self.closed = True

    def __call__(self, name: str) -> Scripted:
        return self


def replied(reply: object, evaluator: EvaluatorSpec = POLITE) -> Score:
    return score_of(evaluator, row(query="q"), said("x"), Scripted(reply))


@pytest.mark.parametrize(
    ("reply", "score", "passed"),
    [
        pytest.param(True, 1, True, id="true"),
        pytest.param(False, 0, False, id="false"),
        pytest.param(1, 1, True, id="one"),
        pytest.param({"score": 0}, 0, False, id="score"),
        pytest.param({"result": True}, 1, True, id="result"),
        pytest.param({"score": 1, "result": 1.0}, 1, True, id="both and equal"),
        pytest.param({"score": 0, "passed": True}, 0, True, id="the function decides"),
        pytest.param({"score": 1, "error": None}, 1, True, id="no error"),
    ],
)
def test_numbers_booleans_and_dicts_are_scores(reply, score, passed) -> None:
    found = replied(reply)
    assert (found.metric, found.score, found.passed) == ("polite", score, passed)
    assert found.label == ("pass" if passed else "fail")


def test_a_dict_may_say_more() -> None:
    found = replied({"score": 1, "reason": "said please", "label": "warm", "details": {"words": 3}, "tone": "mild"})
    assert (found.reason, found.label) == ("said please", "warm")
    assert found.details == {"words": 3, "other": {"tone": "mild"}}


def test_without_words_of_its_own_the_reason_quotes_the_value() -> None:
    assert replied(True).reason == "evals.checks:polite returned true"


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        pytest.param(None, "wrong_type", "is nothing (null)", id="nothing"),
        pytest.param("yes", "wrong_type", 'is the text "yes"', id="text"),
        pytest.param([1], "wrong_type", "is [1]", id="list"),
        pytest.param(float("nan"), "not_finite", "no finite number", id="NaN"),
        pytest.param(float("-inf"), "not_finite", "no finite number", id="infinity"),
        pytest.param(0.7, "out_of_range", "declare metric_kind: score with minimum and maximum", id="undeclared number"),
        pytest.param({}, "bad_reply", "a dict with nothing; score or result was expected", id="empty dict"),
        pytest.param({"tone": 1, "length": 2}, "bad_reply", "a dict with tone, length", id="undeclared numbers"),
        pytest.param({"score": 1, "result": 0}, "bad_reply", "score 1 and result 0, which differ", id="two answers"),
        pytest.param({"score": None}, "wrong_type", "is nothing (null)", id="null score"),
        pytest.param({"score": 1, "passed": "yes"}, "bad_reply", "true or false was expected", id="passed is text"),
        pytest.param({"score": 1, "reason": 5}, "bad_reply", "a text was expected", id="reason is a number"),
        pytest.param({"score": 1, "details": []}, "bad_reply", "an object was expected", id="details is a list"),
        pytest.param({"error": "no model"}, "function_error", "no model", id="error"),
        pytest.param({"error": "half done", "score": 1}, "function_error", "half done", id="error beside a score"),
    ],
)
def test_everything_else_is_an_error_that_says_what_came_back(reply, code, words) -> None:
    found = replied(reply)
    assert (found.status, found.error_code, found.score, found.passed) == ("error", code, None, None)
    assert words in found.reason


def test_threshold_and_direction_decide_where_the_function_does_not() -> None:
    words = spec("python", function="evals.checks:words", metric_kind="count", direction="lower", threshold=5)
    assert [replied(count, words).passed for count in (4, 5, 6)] == [True, True, False]
    free = spec("python", function="evals.checks:words", metric_kind="count")
    assert (replied(6, free).score, replied(6, free).passed, replied(6, free).label) == (6, None, None)


def test_several_numbers_are_metrics_of_their_own_when_declared() -> None:
    evaluator = spec("python", function="evals.checks:style", metrics={"tone": {"threshold": 0.5}, "words": {"kind": "count"}})
    assert [(metric.name, metric.kind) for metric in evaluator.metrics()] == [("style.tone", "score"), ("style.words", "count")]
    reply = {"tone": 0.8, "words": {"score": 12, "reason": "short"}, "reason": "both measured"}
    scores = scores_of(evaluator, row(query="q"), said("x"), Scripted(reply))
    assert (scores["style.tone"].score, scores["style.tone"].passed, scores["style.tone"].reason) == (0.8, True, "both measured")
    assert (scores["style.words"].score, scores["style.words"].passed, scores["style.words"].reason) == (12, None, "short")


def test_a_missing_number_costs_only_its_own_metric() -> None:
    evaluator = spec("python", function="evals.checks:style", metrics={"tone": {"threshold": 0.5}, "words": {"kind": "count"}})
    scores = scores_of(evaluator, row(query="q"), said("x"), Scripted({"tone": 0.8}))
    assert scores["style.tone"].status == "ok"
    assert scores["style.words"].reason == "evals.checks:style returned no words; found: tone"
    broken = scores_of(evaluator, row(query="q"), said("x"), Scripted(0.8))
    assert {score.status for score in broken.values()} == {"error"}
    failed = scores_of(evaluator, row(query="q"), said("x"), Scripted({"error": "no model"}))
    assert {score.error_code for score in failed.values()} == {"function_error"}


def test_the_function_is_given_all_that_is_known_by_name() -> None:
    function = Scripted(True)
    case = row(question="Where?", ground_truth="Paris", difficulty=3, note=None)
    score_of(POLITE, case, called("search"), function)
    (given,) = function.given
    call = {"type": "tool_call", "name": "search", "arguments": {}}
    assert given["query"] == given["prompt"] == "Where?"
    assert given["ground_truth"] == given["expected_response"] == "Paris"
    assert (given["response"], given["difficulty"], given["case_id"]) == ("done", 3, "r1")
    assert given["tool_calls"] == given["sample"]["output_tools"] == [call]
    assert given["actions"] == [{"name": "search", "arguments": {}}]
    assert given["item"]["sample"] == given["sample"]
    assert not {"note", "context", "expected_actions"} & set(given)  # what is not there is left out


def test_expected_actions_come_as_the_row_writes_them() -> None:
    function = Scripted(True)
    score_of(POLITE, row(query="q", expected_actions=["a", "b"]), called(), function)
    score_of(POLITE, calls_expected("a", ("b", {"k": 1})), called(), function)
    assert [given["expected_actions"] for given in function.given] == [
        ["a", "b"],
        [{"name": "a"}, {"name": "b", "arguments": {"k": 1}}],
    ]


def test_inputs_may_be_mapped_and_a_mapped_path_to_nothing_skips_the_case() -> None:
    evaluator = spec("python", function="evals.checks:polite", inputs={"language": "{{item.meta.lang}}"})
    function = Scripted(True)
    score_of(evaluator, row(query="q", meta={"lang": "pt"}), said("x"), function)
    assert function.given[0]["language"] == "pt"
    found = score_of(evaluator, row(query="q"), said("x"), function)
    assert (found.status, found.reason, len(function.given)) == ("skipped", "no item.meta.lang", 1)


def test_what_a_case_does_not_have_skips_it_and_what_nobody_has_is_an_error() -> None:
    lacks_truth = FunctionFailure("not_found", "the function wants ground_truth; …", wanted=("ground_truth",))
    found = score_of(POLITE, row(query="q"), said("x"), Scripted(failure=lacks_truth))
    assert (found.status, found.reason) == ("skipped", "no ground_truth")
    typo = FunctionFailure("not_found", "the function wants responce; …", wanted=("responce",))
    found = score_of(POLITE, row(query="q"), said("x"), Scripted(failure=typo))
    assert (found.status, found.error_code) == ("error", "not_found")


def test_a_function_that_fails_is_an_error_with_its_own_words() -> None:
    found = score_of(POLITE, row(query="q"), said("x"), Scripted(failure=FunctionFailure("timeout", "no answer within 5 s")))
    assert (found.status, found.error_code) == ("error", "timeout")
    assert found.reason == "evals.checks:polite: no answer within 5 s"


def test_closing_the_evaluator_ends_the_function() -> None:
    function = Scripted(True)
    asyncio.run(POLITE.build(context(function)).close())
    assert function.closed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"function": "evals/checks.py"}, "String should match pattern", id="a path"),
        pytest.param({"function": "checks:_own"}, "write name:", id="no metric name"),
        pytest.param(
            {"function": "a:b", "threshold": 7}, "threshold: 7 is not within 0..1; give minimum and maximum", id="threshold"
        ),
        pytest.param({"function": "a:b", "threshold": 1, "metrics": {"x": {}}}, "threshold: stands beside metrics", id="twice"),
        pytest.param({"function": "a:b", "metrics": {"x y": {}}}, "cannot name a metric", id="part name"),
        pytest.param({"function": "a:b", "metrics": {"x": {"thresold": 1}}}, "Extra inputs", id="typo in a part"),
    ],
)
def test_wrong_declarations_are_refused(options, words) -> None:
    with pytest.raises(ValidationError, match=words):
        spec("python", **options)


CHECKS = """
import asyncio

def grade(sample, item):
    return len(item["ground_truth"]) == len(sample["output_text"]) and item["sample"] == sample

def by_name(response, ground_truth, threshold=0.5):
    return {"score": float(response == ground_truth), "reason": f"limit {threshold}"}

async def slow(*, prompt, expected_response, response, **rest):
    await asyncio.sleep(0)
    return {"result": response == expected_response, "details": {"names": sorted(rest)}}

class Polite:
    def __call__(self, *, response, **_):
        return "please" in response

def broken(response):
    return response.no_such_thing

def misspelt(responce):
    return 1
"""


@pytest.fixture
def real(tmp_path: Path) -> Callable[[str], WorkerPool]:
    """Opens functions of a real module in real processes."""
    (tmp_path / "checks.py").write_text(CHECKS, encoding="utf-8")

    def open_function(name: str) -> WorkerPool:
        settings = FunctionSettings(
            function=name, folder=tmp_path, environment={"PATH": os.environ["PATH"]}, size=1, timeout_s=20, start_timeout_s=20,
            python=sys.executable,
        )  # fmt: skip
        return WorkerPool(settings)

    return open_function


@pytest.mark.parametrize(
    ("function", "status", "score", "words"),
    [
        pytest.param("checks:grade", "ok", 1, "checks:grade returned true", id="sample and item"),
        pytest.param("checks:by_name", "ok", 1, "limit 0.5", id="fields by name, with a default"),
        pytest.param("checks:slow", "ok", 1, "returned true", id="async with everything else"),
        pytest.param("checks:Polite", "ok", 0, "returned false", id="a class with __call__"),
        pytest.param("checks:broken", "error", None, "no_such_thing", id="an exception"),
        pytest.param("checks:misspelt", "error", None, "the function wants responce", id="a misspelt parameter"),
        pytest.param("checks:politte", "error", None, "checks has no politte", id="no such function"),
    ],
)
def test_real_functions_are_called_in_their_own_way(real, function, status, score, words) -> None:
    found = asked(spec("python", function=function), real, ground_truth="Paris")
    assert (found.status, found.score) == (status, score), found.reason
    assert words in found.reason


def test_a_real_function_without_its_reference_is_skipped(real) -> None:
    found = asked(spec("python", function="checks:by_name"), real)
    assert (found.status, found.reason) == ("skipped", "no ground_truth")


def asked(evaluator: EvaluatorSpec, open_function: Callable[[str], WorkerPool], **columns: object) -> Score:
    async def ask() -> Score:
        built = evaluator.build(context(open_function))
        try:
            (found,) = await built.evaluate(row(query="q", **columns), said("Paris"))
        finally:
            await built.close()
        return found

    return asyncio.run(ask())

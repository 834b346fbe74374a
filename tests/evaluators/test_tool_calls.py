from __future__ import annotations

import pytest

from ci_eval.domain.message import ToolCall
from ci_eval.domain.sample import Sample
from ci_eval.messages.readers import READERS
from tests.evaluators.builders import called, expect, oracle, row, said, score_of, spec

SUCCESS = spec("tool_call_success")


def answered(response: object) -> Sample:
    return READERS.reply(row(query="q"), {"response": response})


def one_call(name: str = "get_quote", *, call: dict[str, object] | None = None, result: dict[str, object] | None = None):
    return [
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "tool_call_id": "c1", "name": name, "arguments": {}, **(call or {})}],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "tool_result", "tool_result": "Error: no", **(result or {})}],
        },
        {"role": "assistant", "content": "Done."},
    ]


@pytest.mark.parametrize("handed", oracle("tool_call_success"))
def test_the_oracle_agrees(handed) -> None:
    right = handed.get("right", handed["expected"])
    sample = answered(handed["inputs"]["response"]) if "response" in handed["inputs"] else Sample()
    score = score_of(SUCCESS, row(query="q"), sample)
    if right["status"] == "needs_judge":
        assert (score.status, score.details["decided_by"]) == ("skipped", "needs_judge")
        assert "needs a judge" in score.reason
    else:
        expect(score, right)
        assert score.details.get("decided_by") != "needs_judge"


@pytest.mark.parametrize("handed", oracle("tool_call_success"))
def test_a_template_for_the_own_output_changes_nothing(handed) -> None:
    mapped = spec("tool_call_success", inputs={"response": "{{sample.output_items}}"})
    sample = answered(handed["inputs"]["response"]) if "response" in handed["inputs"] else Sample()
    given, plain = (score_of(evaluator, row(query="q"), sample) for evaluator in (mapped, SUCCESS))
    assert (given.status, given.score, given.details) == (plain.status, plain.score, plain.details)


def test_a_response_may_come_from_a_column() -> None:
    mapped = spec("tool_call_success", inputs={"response": "{{item.log}}"})
    assert score_of(mapped, row(query="q", log=one_call(call={"status": "failed"})), said("x")).score == 0
    assert score_of(mapped, row(query="q", log="just text"), said("x")).reason.endswith("no tool calls")


@pytest.mark.parametrize(
    ("call", "result"),
    [
        pytest.param({"status": "failed"}, {}, id="call failed"),
        pytest.param({}, {"status": "incomplete"}, id="result incomplete"),
        pytest.param({}, {"is_error": True}, id="result is an error"),
        pytest.param({}, {"error": "HTTP 503"}, id="error beside the result"),
        pytest.param({}, {"tool_result": {"error": "HTTP 503 Service Unavailable"}}, id="error in the result"),
        pytest.param({}, {"tool_result": '{"error": {"code": 503}}'}, id="error in the result's JSON text"),
    ],
)
def test_a_marked_failure_is_0_and_named(call, result) -> None:
    score = score_of(SUCCESS, row(query="q"), answered(one_call(call=call, result=result)))
    assert (score.score, score.passed) == (0, False)
    assert score.details == {"decided_by": "rule", "failed_tools": "get_quote"}
    assert score.reason == "1 tool marked as failed: get_quote"


@pytest.mark.parametrize(
    "result",
    [
        {"is_error": False}, {"tool_result": {"error": None, "price": 9.5}}, {"tool_result": {"error": "", "errors": ["x"]}},
        {"tool_result": {"error": "none that matters"}, "is_error": False}, {"tool_result": '{"error": '}, {"tool_result": ""},
        {"tool_result": [{"error": "of one of many"}]},
    ],
)  # fmt: skip
def test_what_marks_nothing_as_failed_decides_nothing(result) -> None:
    score = score_of(SUCCESS, row(query="q"), answered(one_call(result=result)))
    assert score.details == {"decided_by": "needs_judge"}


def test_of_two_parallel_calls_the_one_whose_own_result_failed_is_blamed() -> None:
    calls = [
        {"type": "tool_call", "tool_call_id": key, "name": name, "arguments": {}}
        for key, name in (("A", "price"), ("B", "stock"))
    ]
    results = [("B", {"error": "HTTP 503 Service Unavailable"}), ("A", {"price": 9.5})]  # answered in the other order
    sample = answered([
        {"role": "assistant", "content": calls},
        *({"role": "tool", "tool_call_id": key, "content": [{"type": "tool_result", "tool_result": said}]} for key, said in results),
        {"role": "assistant", "content": "It costs 9.50; stock could not be read."},
    ])  # fmt: skip
    score = score_of(SUCCESS, row(query="q"), sample)
    assert (score.score, score.details["failed_tools"]) == (0, "stock")
    assert [call.name for call in sample.tool_calls or ()] == ["price", "stock"]


def test_hosted_tools_are_skipped_unless_the_tools_are_your_own() -> None:
    sample = answered(one_call("Web_Search", call={"status": "failed"}))
    score = score_of(SUCCESS, row(query="q"), sample)
    assert (score.status, "calls to Web_Search" in score.reason) == ("skipped", True)
    own = spec("tool_call_success", unsupported_tools="judge")
    assert score_of(own, row(query="q"), sample).score == 0


def test_recorded_calls_beside_a_text_are_looked_at() -> None:
    sample = Sample(output_text="x", tool_calls=(ToolCall(name="pay", arguments={}, status="failed"),))
    assert score_of(SUCCESS, row(query="q"), sample).details["failed_tools"] == "pay"
    assert score_of(SUCCESS, row(query="q"), called("pay")).details == {"decided_by": "needs_judge"}


def test_a_plain_text_is_not_applicable_rather_than_wrong() -> None:
    score = score_of(SUCCESS, row(query="q"), answered("[see note] The capital is Quito."))
    assert (score.status, score.reason) == ("skipped", "not applicable: the response contains no tool calls")


def test_results_are_more_than_the_output_so_arms_never_share_a_score() -> None:
    assert [metric.output_only for metric in SUCCESS.metrics()] == [False]

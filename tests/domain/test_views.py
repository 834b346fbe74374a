from __future__ import annotations

from ci_eval.domain.case import Case, Source
from ci_eval.domain.message import Message, Reasoning, Text, ToolCall, ToolResult
from ci_eval.domain.sample import Failure, Sample, Usage
from ci_eval.domain.template import MISSING, parse_template
from ci_eval.domain.views import case_view, sample_view

CASE = Case(
    id="a", query="q", source=Source(file="d"), fingerprint="", fields={"question": "q", "tools": [1]},
    roles={"query": "q", "tool_definitions": [1]},
)  # fmt: skip
SAMPLE = Sample(
    output_text='{"ok": true}',
    messages=(
        Message(role="user", parts=(Text(text="q"),)),
        Message(role="assistant", parts=(Reasoning(text="hm"), Text(text="x"), ToolCall(name="f", arguments={"k": 1}, id="c"))),
        Message(role="tool", parts=(ToolResult(output={"n": 1}, id="c", name="f"),)),
    ),
    response_start=1,
    tool_calls=(ToolCall(name="f", arguments={"k": 1}, id="c"),),
    fields={"reward": 1.0},
    usage=Usage(total_tokens=5),
    latency_s=0.25,
)


def test_a_case_offers_its_columns_and_its_roles_under_their_own_names() -> None:
    view = case_view(CASE)
    assert view["question"] == view["query"] == "q"
    assert view["tool_definitions"] == [1]


def test_a_column_is_never_hidden_by_a_role() -> None:
    case = Case(id="a", query="q", source=Source(file="d"), fingerprint="", fields={"context": "raw"}, roles={"context": "other"})
    assert case_view(case)["context"] == "raw"


def test_a_sample_offers_its_response_in_the_foundry_form_without_the_thinking() -> None:
    assert sample_view(SAMPLE)["output_items"] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_call", "name": "f", "arguments": {"k": 1}, "tool_call_id": "c"},
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "tool_result", "tool_result": {"n": 1}, "name": "f"}]},
    ]


def test_a_sample_offers_its_facts() -> None:
    view = sample_view(SAMPLE, case=CASE, trial=2)
    assert (view["latency_ms"], view["usage"], view["reward"], view["trial"]) == (250.0, {"total_tokens": 5}, 1.0, 2)
    assert view["actions"] == [{"name": "f", "arguments": {"k": 1}}]
    assert view["output_json"] == {"ok": True}
    assert view["tool_definitions"] == [1]


def test_what_is_not_known_is_missing() -> None:
    view = sample_view(Sample(output_text="plain words"))
    for path in ("output_json", "cost_usd", "tool_calls", "actions", "output_items", "usage.total_tokens", "error"):
        assert parse_template(f"{{{{sample.{path}}}}}").fill(item={}, sample=view) is MISSING, path


def test_a_failed_sample_says_why() -> None:
    failed = Sample(status="error", failure=Failure(stage="target", code="timeout", message="60 s"))
    assert sample_view(failed)["error"] == {"code": "timeout", "message": "60 s"}


def test_an_empty_answer_is_a_value() -> None:
    assert sample_view(Sample(output_text=""))["output_text"] == ""

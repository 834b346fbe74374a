from __future__ import annotations

import json

import pytest

from ci_eval.messages.readers import READERS
from tests.evaluators.builders import row, said, score_of, spec

MESSAGES = [
    {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "c1", "name": "lookup", "arguments": {"k": "v"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "tool_result", "tool_result": {"capital": "SECRET-RESULT"}}]},
    {"role": "assistant", "content": [{"type": "text", "text": "The capital is Quito."}]},
]
FORMS = [
    pytest.param("The capital is Quito.", "The capital is Quito.", 0, id="plain text"),
    pytest.param(MESSAGES, "The capital is Quito.", 1, id="messages"),
    pytest.param(json.dumps(MESSAGES), "The capital is Quito.", 1, id="the JSON text of messages"),
    pytest.param("[see note] The capital is Quito.", "[see note] The capital is Quito.", 0, id="text with a bracket in front"),
    pytest.param('[{"role": "admin"', '[{"role": "admin"', 0, id="broken JSON"),
]


@pytest.mark.parametrize(("response", "text", "calls"), FORMS)
def test_a_recorded_response_has_one_text_and_its_calls_in_every_form(response, text, calls) -> None:
    case = row(query="q", ground_truth=text, expected_actions=["lookup"] * calls)
    sample = READERS.reply(case, {"response": response})
    assert score_of(spec("exact_match"), case, sample).score == 1
    assert (score_of(spec("tool_call_success"), case, sample).details == {"decided_by": "needs_judge"}) is bool(calls)
    navigation = score_of(spec("task_navigation_efficiency"), case, sample)
    assert navigation.status == ("ok" if calls else "skipped")


@pytest.mark.parametrize(("response", "text", "calls"), FORMS)
def test_a_mapped_column_is_read_in_the_same_way(response, text, calls) -> None:
    case = row(query="q", ground_truth=text, log=response)
    assert score_of(spec("exact_match", inputs={"response": "{{item.log}}"}), case, said("other")).score == 1
    success = score_of(spec("tool_call_success", inputs={"response": "{{item.log}}"}), case, said("other"))
    assert (success.details == {"decided_by": "needs_judge"}) is bool(calls)


def test_an_answer_that_is_json_stays_the_text_it_is() -> None:
    answer = '[{"name": "Quito"}]'
    case = row(query="q", ground_truth=answer, log=answer)
    assert score_of(spec("exact_match"), case, READERS.reply(case, {"response": answer})).score == 1
    assert score_of(spec("exact_match", inputs={"response": "{{item.log}}"}), case, said("x")).score == 1


def test_a_sample_without_text_falls_back_to_the_response_of_its_row() -> None:
    case = row(query="q", ground_truth="Quito", response=[{"role": "assistant", "content": "Quito"}])
    assert score_of(spec("exact_match"), case, said(None)).score == 1


def test_a_text_around_placeholders_is_put_together() -> None:
    evaluator = spec("exact_match", inputs={"ground_truth": "{{item.city}}, {{item.country}}"})
    assert score_of(evaluator, row(query="q", city="Quito", country="Ecuador"), said("Quito, Ecuador")).score == 1


def test_unreadable_messages_are_an_error_with_the_place() -> None:
    case = row(query="q", log=[{"role": "nobody", "content": "x"}], ground_truth="x")
    found = score_of(spec("exact_match", inputs={"response": "{{item.log}}"}), case, said("x"))
    assert (found.status, found.error_code) == ("error", "unknown_role")
    assert "response" in found.reason

from __future__ import annotations

import time

from ci_eval.domain.message import Message, ToolCall, ToolResult
from ci_eval.messages.conversation import read_conversation


def call(name: str, call_id: str | None = None) -> dict[str, object]:
    return {"role": "assistant", "content": [{"type": "tool_call", "name": name, "id": call_id}]}


def result(output: object, call_id: str | None = None, name: str | None = None) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": [{"type": "tool_result", "tool_result": output}]}


def told(messages: list[dict[str, object]]) -> list[str]:
    """Show a conversation as `f#1` for a call and `f#1=output` for a result."""
    shown = []
    for message in read_conversation(messages).messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                shown.append(f"{part.name}#{part.id}")
            elif isinstance(part, ToolResult):
                shown.append(f"{part.name}#{part.id}={part.output}")
            else:
                shown.append(part.type)
    return shown


def test_results_in_another_order_find_their_calls() -> None:
    both = {
        "role": "assistant",
        "content": [{"type": "tool_call", "id": "A", "name": "price"}, {"type": "tool_call", "id": "B", "name": "stock"}],
    }
    assert told([both, result("503", "B"), result(9.5, "A")]) == ["price#A", "stock#B", "stock#B=503", "price#A=9.5"]


def test_an_id_used_again_belongs_to_the_earliest_call_without_an_answer() -> None:
    assert told([call("f", "x"), result(1, "x"), call("g", "x"), result(2, "x")]) == ["f#x", "f#x=1", "g#x", "g#x=2"]
    assert told([call("f", "x"), call("g", "x"), result(1, "x"), result(2, "x")]) == ["f#x", "g#x", "f#x=1", "g#x=2"]


def test_without_ids_calls_and_results_pair_in_order() -> None:
    assert told([call("f"), call("f"), result(1), result(2)]) == ["f#auto_1", "f#auto_2", "f#auto_1=1", "f#auto_2=2"]


def test_without_an_id_the_name_decides() -> None:
    assert told([call("f"), call("g"), result(1, name="g"), result(2, name="f")]) == [
        "f#auto_1",
        "g#auto_2",
        "g#auto_2=1",
        "f#auto_1=2",
    ]


def test_numbers_of_made_up_ids_count_all_calls() -> None:
    assert told([call("f", "x"), call("g")]) == ["f#x", "g#auto_2"]


def test_a_result_before_its_call_moves_behind_it() -> None:
    user = {"role": "user", "content": "u"}
    assert told([result(1, "x"), call("f", "x"), user]) == ["f#x", "f#x=1", "text"]
    assert told([result(2, "y"), call("f", "x"), call("g", "y"), user]) == ["f#x", "g#y", "g#y=2", "text"]


def test_a_moved_result_stands_behind_the_ones_already_there() -> None:
    both = {
        "role": "assistant",
        "content": [{"type": "tool_call", "id": "A", "name": "f"}, {"type": "tool_call", "id": "B", "name": "g"}],
    }
    assert told([result(2, "B"), both, result(1, "A")]) == ["f#A", "g#B", "f#A=1", "g#B=2"]


def test_a_result_nobody_asked_for_is_kept_and_told() -> None:
    conversation = read_conversation([call("f", "x"), result(1, "other")])
    assert conversation.messages[1] == Message(role="tool", parts=(ToolResult(output=1, id="other"),))
    assert [notice.code for notice in conversation.notices] == ["result_without_call"]


def test_many_calls_of_one_id_pair_quickly() -> None:
    messages = [call("f", "x") for _ in range(5_000)] + [result(n, "x") for n in range(5_000)]
    started = time.process_time()
    assert len(read_conversation(messages).messages) == 10_000
    assert time.process_time() - started < 2

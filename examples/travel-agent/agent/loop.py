"""The agent's loop: plan one step, take it, look at the result, plan again.

In: what the customer wrote. Out: the conversation as OpenAI chat messages (tool calls, tool results, the final answer).
"""

from __future__ import annotations

import json

from agent.planner import next_step
from agent.request import read_request
from agent.steps import Call, Notes, Say
from agent.tools import use_tool
from agent.world import World

MAX_STEPS = 10


def answer(query: str) -> list[dict[str, object]]:
    """Serve one request in a world of its own, so that no request sees what another one booked."""
    world = World()
    request = read_request(query, today=world.today)
    notes = Notes()
    messages: list[dict[str, object]] = []
    for number in range(1, MAX_STEPS + 1):
        step = next_step(request, notes)
        if isinstance(step, Say):
            messages.append({"role": "assistant", "content": step.text})
            return messages
        result = use_tool(world, step.tool, step.arguments)
        notes.add(step.tool, result)
        messages += [_call_message(step, number), _result_message(result, number)]
    raise RuntimeError(f"no answer after {MAX_STEPS} steps")


def _call_message(call: Call, number: int) -> dict[str, object]:
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }


def _result_message(result: dict[str, object], number: int) -> dict[str, object]:
    refused = "error" in result
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(result), "is_error": refused}

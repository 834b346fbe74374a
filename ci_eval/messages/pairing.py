"""Results find their calls.

In: drafts in source order. Out: messages in which every call has an id, every result the id and name of its call, and no result
stands before its call. Pure. Source: the formats page, section 2.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ci_eval.domain.message import Message, Part, ToolCall, ToolResult
from ci_eval.messages.drafts import Draft


class OpenCalls:
    """The calls that have no result yet. Ids may repeat, so each id has a queue."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = calls
        self._answered = [False] * len(calls)
        self._queues: dict[tuple[str, str], deque[int]] = {}
        for number, call in enumerate(calls):
            for key in _keys_of(call):
                self._queues.setdefault(key, deque()).append(number)

    def take(self, result: ToolResult) -> int | None:
        """Return the number of the call that the result answers: by id, else by name, else the earliest open one."""
        key = ("id", result.id) if result.id is not None else ("name", result.name) if result.name is not None else ("any", "")
        queue = self._queues.get(key, deque())
        while queue:
            number = queue.popleft()
            if not self._answered[number]:
                self._answered[number] = True
                return number
        return None


def _keys_of(call: ToolCall) -> tuple[tuple[str, str], ...]:
    keys = (("name", call.name), ("any", ""))
    return keys if call.id is None else (("id", call.id), *keys)


def pair_results(drafts: Sequence[Draft]) -> tuple[tuple[Message, ...], int]:
    """Return the messages, and how many results nobody asked for; drafts without parts are dropped."""
    calls, home = _calls_of(drafts)
    open_calls = OpenCalls(calls)
    names = [call.id or f"auto_{number}" for number, call in enumerate(calls, 1)]
    early: dict[int, list[Message]] = {}  # results that stand before their call, by the place of the call
    placed: list[Message | None] = []
    unasked = 0
    number = 0
    for place, draft in enumerate(drafts):
        parts: list[Part] = []
        for part in draft.parts:
            if isinstance(part, ToolCall):
                parts.append(replace(part, id=names[number]))
                number += 1
            elif isinstance(part, ToolResult):
                asked = open_calls.take(part)
                unasked += asked is None
                answer = part if asked is None else replace(part, id=names[asked], name=calls[asked].name)
                if asked is not None and home[asked] > place:
                    early.setdefault(home[asked], []).append(Message(role="tool", parts=(answer,)))
                else:
                    parts.append(answer)
            else:
                parts.append(part)
        placed.append(Message(role=draft.role, parts=tuple(parts), name=draft.name) if parts else None)
    return tuple(_in_order(placed, early)), unasked


def _calls_of(drafts: Sequence[Draft]) -> tuple[list[ToolCall], list[int]]:
    """List all calls of the conversation, and the place of the message each stands in."""
    found = [(part, place) for place, draft in enumerate(drafts) for part in draft.parts if isinstance(part, ToolCall)]
    return [call for call, _ in found], [place for _, place in found]


def _in_order(placed: Sequence[Message | None], early: dict[int, list[Message]]) -> Iterable[Message]:
    """Put each early result behind the message with its call and the results that already follow it."""
    waiting: list[Message] = []
    for place, message in enumerate(placed):
        if message is not None and message.role != "tool":
            yield from waiting
            waiting = []
        if message is not None:
            yield message
        waiting += early.get(place, [])
    yield from waiting

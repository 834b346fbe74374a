"""Which call the agent made satisfies which call it should have made.

In: the agent's calls and the expected actions, both in order. Out: an Alignment of counts and places.
Pure. Source of the rules: the evaluators page, task_navigation_efficiency.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ci_eval.domain.canonical import json_equal
from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.json_text import JsonError, parse_json
from ci_eval.domain.message import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Steps against expectation. All places are list indexes, from 0."""

    steps: int
    """Calls the agent made."""
    expected: int
    pairs: tuple[tuple[int, int], ...]
    """(expected, step) of a largest one-to-one matching, by expected place; the order of the steps plays no role."""
    missing: tuple[int, ...]
    """Expected calls that no step satisfies."""
    extra: tuple[int, ...]
    """Steps that nobody expected."""
    first_difference: int | None
    """First place at which the two lists, laid side by side, part; None when they are equal one by one."""
    first_out_of_order: int | None
    """First expected call that no step after those before it satisfies; None when the expectation is a subsequence."""

    @property
    def matched(self) -> int:
        """Size of the matching: the true positives."""
        return len(self.pairs)

    @property
    def precision(self) -> float:
        """Share of the steps that were expected; "call nothing" kept is 1, broken is 0."""
        if not self.steps:
            return 0.0 if self.expected else 1.0
        return self.matched / self.steps

    @property
    def recall(self) -> float:
        """Share of the expected calls that were made; "call nothing" kept is 1, broken is 0."""
        if not self.expected:
            return 0.0 if self.steps else 1.0
        return self.matched / self.expected

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 when both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def align(steps: Sequence[ToolCall], expected: Sequence[ExpectedAction], *, names_only: bool = False) -> Alignment:
    """Match calls with expectations; with `names_only` no arguments are looked at, whatever the expectation gives."""
    options = [[at for at, step in enumerate(steps) if satisfies(step, action, names_only=names_only)] for action in expected]
    match = largest_matching(options)
    used = set(match.values())
    return Alignment(
        steps=len(steps),
        expected=len(expected),
        pairs=tuple(sorted(match.items())),
        missing=tuple(place for place in range(len(expected)) if place not in match),
        extra=tuple(place for place in range(len(steps)) if place not in used),
        first_difference=_first_difference(options, len(steps)),
        first_out_of_order=_first_out_of_order(options),
    )


def satisfies(step: ToolCall, action: ExpectedAction, *, names_only: bool = False) -> bool:
    """True when the step is the expected call; arguments that could not be read satisfy an expected name only."""
    if step.name.strip() != action.name.strip():
        return False
    if names_only or action.match == "name" or action.arguments is None:
        return True
    if step.arguments_error is not None or not isinstance(step.arguments, Mapping):
        return False
    given, wanted = step.arguments, action.arguments
    if action.match == "exact" and given.keys() != wanted.keys():
        return False
    same = same_value_or_text if action.text_values else json_equal
    return all(key in given and same(given[key], wanted[key]) for key in wanted)


def same_value_or_text(left: object, right: object) -> bool:
    """Compare as JSON; a text also equals a value of another type that is written like it, in JSON or in Python."""
    if isinstance(left, str) != isinstance(right, str):
        text, value = (left, right) if isinstance(left, str) else (right, left)
        return text == str(value) or _is_json_text_of(str(text), value)
    return json_equal(left, right)


def _is_json_text_of(text: str, value: object) -> bool:
    if isinstance(value, (Mapping, list, tuple)):
        try:
            return json_equal(parse_json(text), value)  # layout and key order of the text are free
        except JsonError:
            return False
    return text == json.dumps(value)


def largest_matching(options: Sequence[Sequence[int]]) -> dict[int, int]:
    """Give as many of us as possible one of our own options each, nobody sharing; earlier ones and earlier options first.

    Taking the first free option is not enough: a loose expectation could take the only call that a strict one accepts.
    So whoever finds all options taken asks their holders, breadth first, to move on (Berge 1957: augmenting paths).
    """
    held: dict[int, int] = {}
    holder: dict[int, int] = {}
    for one in range(len(options)):
        _find_place(one, options, held, holder)
    return held


def _find_place(newcomer: int, options: Sequence[Sequence[int]], held: dict[int, int], holder: dict[int, int]) -> None:
    asked_by: dict[int, int] = {}
    waiting = deque([newcomer])
    while waiting:
        one = waiting.popleft()
        for option in options[one]:
            if option in asked_by:
                continue
            asked_by[option] = one
            if option not in holder:
                _move_up(option, asked_by, held, holder)
                return
            waiting.append(holder[option])


def _move_up(free: int, asked_by: Mapping[int, int], held: dict[int, int], holder: dict[int, int]) -> None:
    """Hand the free option to who asked for it, theirs to who asked before, and so on back to the newcomer."""
    option: int | None = free
    while option is not None:
        one = asked_by[option]
        left_behind = held.get(one)
        held[one], holder[option] = option, one
        option = left_behind


def _first_difference(options: Sequence[Sequence[int]], steps: int) -> int | None:
    for place, satisfying in enumerate(options):
        if place not in satisfying:
            return place
    return len(options) if steps > len(options) else None


def _first_out_of_order(options: Sequence[Sequence[int]]) -> int | None:
    """Take the earliest step that satisfies each expectation in turn: the choice that leaves most room for the rest."""
    last = -1
    for place, satisfying in enumerate(options):
        later = next((step for step in satisfying if step > last), None)
        if later is None:
            return place
        last = later
    return None

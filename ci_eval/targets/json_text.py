"""Text from a program -> JSON value, strictly.

In: bytes or text that nobody vouches for. Out: a JSON value that can be walked without fear, or NotJson / BadJson.
Pure.
"""

from __future__ import annotations

import json

DEPTH_LIMIT = 200
"""Levels of lists and objects: no answer is deeper, and those who read it recurse."""


class NotJson(Exception):
    """The text is something else; it may be a fine answer."""


class BadJson(Exception):
    """The text is meant as JSON and cannot be taken: NaN, too deep, a number of thousands of digits."""


def read_json(text: str | bytes) -> object:
    """Parse one JSON value."""
    try:
        value: object = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError as error:
        raise NotJson(f"it is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise BadJson(str(error)) from None
    _check_depth(value)
    return value


def _refuse(name: str) -> object:
    raise BadJson(f"{name} is no JSON number")


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(DEPTH_LIMIT + 1):
        level = [inner for item in level for inner in _members(item)]
        if not level:
            return
    raise _too_deep()


def _members(item: object) -> list[object]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []


def _too_deep() -> BadJson:
    return BadJson(f"it is nested more than {DEPTH_LIMIT} levels deep")

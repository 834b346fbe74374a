"""JSON text and literals from outside, read strictly.

In: text. Out: plain JSON values, or a JsonError with the place. Pure; nothing is ever evaluated.
Source: the formats page, section 1.1 (strict JSON; cells of structured columns).
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping

MAX_NESTING = 100
"""Deepest list or object within another; far beyond honest data, far below the interpreter's stack."""


_CONTAINERS = (dict, list, tuple)


class JsonError(ValueError):
    """Text that is not the JSON it should be."""

    def __init__(self, message: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        """Line within the text, from 1."""
        self.column = column
        """Column within that line, from 1."""


def parse_json(text: str, *, repeated_keys: list[str] | None = None) -> object:
    """Read one JSON value; NaN, infinities and endless nesting are refused, keys given twice are added to `repeated_keys`."""
    return _decode(text, repeated_keys, whole=True)[0]


def parse_json_prefix(text: str, start: int = 0) -> tuple[object, int]:
    """Read the JSON value that begins at `start` and say where the next one would."""
    return _decode(text, None, whole=False, start=start)


def parse_json_or_literal(text: str) -> object:
    """Read JSON or, failing that, a Python literal; the error is the JSON one."""
    try:
        return parse_json(text)
    except JsonError:
        try:
            return parse_literal(text)
        except ValueError:
            pass
        raise


def parse_literal(text: str) -> object:
    """Read a Python literal made of what JSON has too, with tuples as lists; ValueError for anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in somebody's text is no news for our user
        try:
            value: object = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise ValueError("not a literal") from error
    if nests_too_deep(value):
        raise ValueError("nested too deep")
    return _as_json(value)


def nests_too_deep(value: object) -> bool:
    """True when lists and objects stand in each other more than MAX_NESTING deep."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_NESTING):
        level = [inner for outer in level for inner in _members(outer) if isinstance(inner, _CONTAINERS)]
        if not level:
            return False
    return True


def json_type(value: object) -> str:
    """Name the JSON type of a value, as error messages do."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def quoted(value: object, *, limit: int = 80) -> str:
    """Show a value from outside in a message: as JSON, cut to `limit` characters, nothing invisible left bare."""
    if isinstance(value, str):
        value = value[: limit + 1]  # no use in escaping a book to show its first line
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shown_name(name: str, *, limit: int = 80) -> str:
    """Show a key or column name from outside without quotes, otherwise as `quoted` does."""
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in name[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _decode(text: str, repeated_keys: list[str] | None, *, whole: bool, start: int = 0) -> tuple[object, int]:
    def pairs(members: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(members)
        if len(found) != len(members) and repeated_keys is not None:
            repeated_keys.extend(key for key, count in Counter(key for key, _ in members).items() if count > 1)
        return found

    decoder = json.JSONDecoder(
        object_pairs_hook=None if repeated_keys is None else pairs,
        parse_float=_finite, parse_int=_integer, parse_constant=_no_constant,
    )  # fmt: skip
    try:
        value, end = decoder.raw_decode(text, _first(text, start))
        end = _first(text, end)
        if whole and end != len(text):
            raise json.JSONDecodeError("the value ends here, but more text follows", text, end)
    except json.JSONDecodeError as error:
        raise JsonError(_in_words(error), line=error.lineno, column=error.colno) from None
    except _OutOfRange as error:
        position = _place_of(error.word, text)
        raise JsonError(
            str(error), line=text.count("\n", 0, position) + 1, column=position - text.rfind("\n", 0, position)
        ) from None
    except RecursionError:
        raise JsonError(f"lists and objects are nested more than {MAX_NESTING} deep") from None
    if text.count("[", start, end) + text.count("{", start, end) > MAX_NESTING and nests_too_deep(value):
        raise JsonError(f"lists and objects are nested more than {MAX_NESTING} deep")
    return value, end


class _OutOfRange(Exception):
    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise _OutOfRange(word, f"the number {quoted(word)[1:-1]} is too large")
    return number


def _integer(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise _OutOfRange(word, f"an integer of {len(word)} digits is too long") from None


def _no_constant(word: str) -> object:
    raise _OutOfRange(word, f"{word} is no JSON; write null for a missing value")


def _first(text: str, start: int = 0) -> int:
    """Skip JSON's own white space, which is less than Unicode's."""
    while start < len(text) and text[start] in " \t\r\n":
        start += 1
    return start


def _in_words(error: json.JSONDecodeError) -> str:
    """Say what was expected, in JSON's words; the standard library's text starts with a capital."""
    found = error.doc[error.pos : error.pos + 20].split("\n", 1)[0].rstrip("\r")
    at = f", found {quoted(found)}" if found else ", found the end"
    return error.msg[:1].lower() + error.msg[1:] + at


def _place_of(word: str, text: str) -> int:
    """Find a bare word, passing over the texts in quotes."""
    for token in re.finditer(rf'"(?:[^"\\]|\\.)*"|{re.escape(word)}', text):
        if token.group() == word:
            return token.start()
    return 0


def _members(container: object) -> Iterable[object]:
    if isinstance(container, dict):
        return container.values()
    return container if isinstance(container, (list, tuple)) else ()


def _as_json(value: object) -> object:
    match value:
        case None | bool() | str() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [_as_json(member) for member in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _as_json(member) for key, member in value.items()}
        case _:
            raise ValueError(f"{type(value).__name__} has no JSON form")

"""Which rows a document holds: the table of shapes, tried in order.

In: a parsed document. Out: its rows. A new shape is one row here and, where it is more than a table of rows, one file. Pure.
Source: the formats page, section 1.2.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ci_eval.dataset.document import Document, Row
from ci_eval.dataset.formats import READERS
from ci_eval.dataset.source import SourceText
from ci_eval.domain.json_text import json_type, quoted
from ci_eval.domain.notice import Notice
from ci_eval.domain.roles import role_of
from ci_eval.errors import DataError

ROW_KEYS: Final = ("data", "cases", "rows", "items", "examples", "samples", "tests", "test_cases", "records", "goldens")
"""Keys under which an object may hold its rows."""
_ITEM_TYPES: Final = frozenset({
    "message", "reasoning", "item_reference", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
})  # fmt: skip
_CASE_ROLES: Final = frozenset({"query", "messages", "actions"})

RowsOf: TypeAlias = Callable[[object], Sequence[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way to lay out cases in a JSON document."""

    name: str
    fits: Callable[[object], bool]
    """The sign of the shape, for the value of a JSON file or the list of a JSONL file's values."""
    rows: RowsOf | None
    """From the value to its rows; None while this version knows the shape by sight only."""


def _otlp(value: object) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return _has_any(first, "resourceSpans", "resourceLogs")


def _m365(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("schemaVersion"), str) and "items" in value


def _msft_action(value: object) -> bool:
    """Only the members that change what a case means make it more than a table of rows."""
    return isinstance(value, Mapping) and isinstance(value.get("data"), list) and _has_any(
        value, "openai_graders", "evaluator_parameters", "data_mapping"
    )  # fmt: skip


def _promptfoo_results(value: object) -> bool:
    results = value.get("results") if isinstance(value, Mapping) else None
    return isinstance(results, Mapping) and isinstance(results.get("results"), list)


def _promptfoo_config(value: object) -> bool:
    return isinstance(value, Mapping) and "tests" in value and _has_any(value, "prompts", "providers", "targets")


def _inspect_log(value: object) -> bool:
    return isinstance(value, Mapping) and {"eval", "samples", "version"} <= value.keys()


def _openai_response(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    output = value.get("output")
    typed = isinstance(output, list) and bool(output) and all(_has_any(item, "type") for item in output)
    return value.get("object") == "response" or typed


def _openai_completion(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("choices"), list)


def _anthropic_message(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "message" and isinstance(value.get("content"), list)


def _conversation(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    values = value.get("values")
    return isinstance(value.get("messages"), list) or (isinstance(values, Mapping) and isinstance(values.get("messages"), list))


def _message_list(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_message(member) for member in value)


def _is_message(member: object) -> bool:
    if not isinstance(member, Mapping):
        return False
    kind = member.get("type")
    typed = isinstance(kind, str) and (kind.endswith(("_call", "_output")) or kind in _ITEM_TYPES)
    spoken = isinstance(member.get("role"), str) and _has_any(member, "content", "tool_calls", "parts", "items", "function_call")
    return typed or spoken


def _tau_bench(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(member, Mapping) and {"traj", "info"} <= member.keys() for member in value)
    )


def _rows(value: object) -> bool:
    return isinstance(value, list) or _row_key(value) is not None


def _row_key(value: object) -> str | None:
    """Return the one key that holds a list of objects; an empty list counts where the object is no case itself."""
    if not isinstance(value, Mapping):
        return None
    lists = {key: value[key] for key in ROW_KEYS if isinstance(value.get(key), list)}
    full = [key for key, members in lists.items() if any(isinstance(member, Mapping) for member in members)]
    if full or _row(value):
        return full[0] if len(full) == 1 else None
    return next(iter(lists)) if len(lists) == 1 else None


def _row(value: object) -> bool:
    return isinstance(value, Mapping) and any(role_of(key) in _CASE_ROLES for key in value)


def _list_rows(value: object) -> Sequence[Row]:
    key = _row_key(value)
    members = value[key] if isinstance(value, Mapping) and key is not None else value
    if not isinstance(members, list):
        return ()
    return [Row(value=member, path=f"{key or ''}[{index}]") for index, member in enumerate(members)]


def _one_row(value: object) -> Sequence[Row]:
    return (Row(value=value),)


def _one_conversation(value: object) -> Sequence[Row]:
    values = value.get("values") if isinstance(value, Mapping) else None
    if isinstance(value, Mapping) and "messages" not in value and isinstance(values, Mapping):
        return (Row(value={**value, "messages": values.get("messages")}),)
    return (Row(value=value),)


def _one_message_list(value: object) -> Sequence[Row]:
    return (Row(value={"messages": value}),)


def _one_completion(value: object) -> Sequence[Row]:
    return (Row(value={"response": value}),)


SHAPES: Final = (
    Shape(name="otlp", fits=_otlp, rows=None),
    Shape(name="m365", fits=_m365, rows=None),
    Shape(name="msft_action", fits=_msft_action, rows=None),
    Shape(name="promptfoo_results", fits=_promptfoo_results, rows=None),
    Shape(name="promptfoo_config", fits=_promptfoo_config, rows=None),
    Shape(name="inspect_log", fits=_inspect_log, rows=None),
    Shape(name="openai_response", fits=_openai_response, rows=None),
    Shape(name="openai_completion", fits=_openai_completion, rows=_one_completion),
    Shape(name="anthropic_message", fits=_anthropic_message, rows=None),
    Shape(name="conversation", fits=_conversation, rows=_one_conversation),
    Shape(name="message_list", fits=_message_list, rows=_one_message_list),
    Shape(name="tau_bench", fits=_tau_bench, rows=None),
    Shape(name="rows", fits=_rows, rows=_list_rows),
    Shape(name="row", fits=_row, rows=_one_row),
)
"""In the order of the search; the first that fits wins."""


def rows_of(document: Document, source: SourceText, *, format: str | None = None) -> tuple[Sequence[Row], tuple[Notice, ...]]:  # noqa: A002 - the configuration's word
    """Return the rows of a document, with notices; DataError when no shape fits or there is no row."""
    named = None if format is None or format in READERS else _shape_named(format, source)
    if document.rows is not None:
        shape = named or next(
            (shape for shape in SHAPES if shape.rows is None and shape.fits([row.value for row in document.rows[:1]])), None
        )
        if shape is not None and shape.rows is None:
            raise _not_read_yet(shape, source)
        return document.rows, ()
    value = document.value
    shape = named or next((shape for shape in SHAPES if shape.fits(value)), None)
    if shape is None:
        raise _unknown(value, source)
    if shape.rows is None:
        raise _not_read_yet(shape, source)
    rows = shape.rows(value)
    if not rows:
        key = _row_key(value)
        raise DataError(source.problem("no_cases", f"{key or 'the array'} holds no case; expected at least one", field=key))
    return rows, _left_out(value) if shape.name == "rows" else ()


def _shape_named(name: str, source: SourceText) -> Shape:
    for shape in SHAPES:
        if shape.name == name:
            return shape
    known = (*READERS, *(shape.name for shape in SHAPES))
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else None
    raise DataError(source.problem("unknown_format", f"unknown format {quoted(name)}; known: {', '.join(known)}", hint=hint))


def _unknown(value: object, source: SourceText) -> DataError:
    found = (
        f"an object with the keys {quoted(list(value))}" if isinstance(value, Mapping) else f"{json_type(value)} {quoted(value)}"
    )
    shapes = ", ".join(shape.name for shape in SHAPES)
    return DataError(
        source.problem(
            "unknown_format", f"no known shape: found {found}; expected one of {shapes}",
            hint=f'write the cases as one object per line (.jsonl), or as an array under one of {", ".join(ROW_KEYS)}',
        )
    )  # fmt: skip


def _not_read_yet(shape: Shape, source: SourceText) -> DataError:
    return DataError(
        source.problem(
            "unknown_format", f"the file looks like {shape.name}, which this version does not read; "
            f"expected one of {', '.join(known.name for known in SHAPES if known.rows)}",
            hint="export the cases as JSONL rows, or name the shape with `format:` where this guess is wrong",
        )
    )  # fmt: skip


def _left_out(value: object) -> tuple[Notice, ...]:
    """Tell about what stands beside the rows and is not read."""
    key = _row_key(value)
    others = [name for name in value if name not in (key, "name")] if isinstance(value, Mapping) else []
    if not others:
        return ()
    return (Notice(code="keys_beside_rows", message=f"only {key} is read; these keys beside it are not: {quoted(others)}"),)


def _has_any(value: object, *keys: str) -> bool:
    return isinstance(value, Mapping) and any(key in value for key in keys)

"""pydantic's errors -> Problems that point: line, dotted key, value, what is allowed, the nearest known name. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from ci_eval.config.yaml_source import KeyPath, Located
from ci_eval.errors import Problem

SHOWN_VALUE = 80  # characters
EXPECTED_TEXT: Mapping[str, str] = {
    "function": "`package.module:name` was expected, such as `agent:answer`",
    "name": "a letter was expected, then letters, digits and _",
}
"""What a text with a fixed form looks like, by its key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """Makes problems that point into one configuration file."""

    shown: str
    """The path as the user wrote it."""
    marks: Located
    overridden: tuple[KeyPath, ...] = ()
    """Values that come from `--set`: the file is not to blame for them."""

    def problem(self, path: KeyPath, message: str, *, code: str = "config", hint: str | None = None) -> Problem:
        """Point at a key, or at the deepest part of the path that is written down."""
        if any(path[: len(set_here)] == set_here for set_here in self.overridden):
            return Problem(code=code, field=f"--set {dotted(path)}", message=message, hint=hint)
        mark = self.marks.mark(path)
        return Problem(
            code=code,
            file=self.shown,
            line=mark.line if mark else None,
            column=mark.column if mark else None,
            field=dotted(path),
            message=message,
            hint=hint,
        )


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like this one, or None when none is close."""
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return found[0] if found else None


def shown_value(value: object) -> str:
    """Show a value of the user's shortened, with control characters escaped."""
    text = repr(value)
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 1] + "…"


def problems_of(error: ValidationError, *, model: type[BaseModel], pointer: Pointer) -> Iterator[Problem]:
    """Translate every error of one validation."""
    schema = model.model_json_schema()
    for detail in error.errors(include_url=False):
        path: KeyPath = tuple(detail["loc"])
        message, hint = _words(detail, schema, path)
        yield pointer.problem(_as_written(path), message, code=str(detail["type"]), hint=hint)


def dotted(path: KeyPath) -> str:
    """Write a path as `evaluators[2].threshold`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _words(detail: Mapping[str, Any], schema: Mapping[str, Any], path: KeyPath) -> tuple[str, str | None]:
    kind, given = str(detail["type"]), shown_value(detail.get("input"))
    context = detail.get("ctx") or {}
    if kind == "extra_forbidden":
        known = _keys_at(schema, path[:-1])
        return f"unknown key {path[-1]!r}", _did_you_mean(str(path[-1]), known)
    if kind == "union_tag_invalid":
        known = [tag.strip(" '") for tag in str(context.get("expected_tags", "")).split(",")]
        tag = str(context.get("tag"))
        what = "evaluator" if path and path[0] == "evaluators" else "kind"
        return f"there is no {what} {tag!r}", _did_you_mean(tag, known)
    if kind == "union_tag_not_found":
        return "`kind:` is missing", _known(_kinds_at(schema, path))
    if kind == "missing":
        return "is required and missing", None
    if kind in ("literal_error", "enum"):
        allowed = str(context.get("expected"))
        known = [word.strip(" '") for word in allowed.replace(" or ", ",").split(",")]
        return f"{given} is not one of {allowed}", _did_you_mean(str(detail.get("input")), known)
    if kind == "value_error":
        return f"{context.get('error', detail['msg'])}", None
    if kind == "string_pattern_mismatch" and str(path[-1]) in EXPECTED_TEXT:
        return f"{EXPECTED_TEXT[str(path[-1])]}, found {given}", None
    if kind in ("list_type", "tuple_type"):
        return f"a list was expected, found {given}", None if isinstance(detail.get("input"), dict) else f"write [{given}]"
    return f"{given}: {_lower_first(str(detail['msg']).removeprefix('Input '))}", None


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _as_written(path: KeyPath) -> KeyPath:
    """Take out the target's kind, which pydantic puts into the path and no file has there."""
    return (path[0], *path[2:]) if len(path) > 2 and path[0] == "target" else path


def _did_you_mean(name: str, known: Iterable[str]) -> str | None:
    names = sorted(set(known))
    if not names:
        return None
    near = nearest(name, names)
    return f"did you mean {near}?" if near else _known(names)


def _known(names: Iterable[str]) -> str | None:
    listed = ", ".join(sorted(names))
    return f"known: {listed}" if listed else None


def _keys_at(schema: Mapping[str, Any], path: KeyPath) -> list[str]:
    """The keys that the schema knows at a place."""
    return list(_node_at(schema, path).get("properties", {}))


def _kinds_at(schema: Mapping[str, Any], path: KeyPath) -> Iterable[str]:
    """The kinds among which `kind:` chooses at a place."""
    return _mapping(_mapping(_node_at(schema, path).get("discriminator")).get("mapping"))


def _node_at(schema: Mapping[str, Any], path: KeyPath) -> Mapping[str, Any]:
    node: Mapping[str, Any] = schema
    for part in path:
        node = _step(_resolved(schema, node), part)
    return _resolved(schema, node)


def _step(node: Mapping[str, Any], part: str | int) -> Mapping[str, Any]:
    if isinstance(part, int):
        return _mapping(node.get("items"))
    if part in node.get("properties", {}):
        return _mapping(node["properties"][part])
    mapping = _mapping(_mapping(node.get("discriminator")).get("mapping"))
    if part in mapping:
        return {"$ref": mapping[part]}
    return _mapping(node.get("additionalProperties"))


def _resolved(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references, and the one real branch of an optional value."""
    while True:
        if "$ref" in node:
            node = schema["$defs"][str(node["$ref"]).rsplit("/", 1)[-1]]
            continue
        branches = [branch for branch in node.get("anyOf", ()) if branch.get("type") != "null"]
        if len(branches) == 1:
            node = branches[0]
            continue
        return node


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

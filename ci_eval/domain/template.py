"""`{{item.x}}` and `{{sample.y}}`: the one template language of the configuration.

In: a template and two JSON objects. Out: the value with its type, or the text; `MISSING` where a path leads nowhere.
Pure; a value put in is never scanned again. Source: the formats page, sections 3.1 and 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ci_eval.domain.canonical import canonical_json
from ci_eval.domain.json_text import JsonError, parse_json, quoted
from ci_eval.domain.readers import Unreadable


class Missing:
    """A path to nothing, or to null."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
Step: TypeAlias = str | int

_PEER_FORMS = (
    (re.compile(r"\$\{data\.([^}]+)\}"), r"{{item.\1}}"),
    (re.compile(r"\$\{(?:target|run\.outputs|outputs)\.([^}]+)\}"), r"{{sample.\1}}"),
    (re.compile(r"\{\{\s*item\.sample\."), "{{sample."),
)
_NAME = re.compile(r"[^.\[\]{}\"'\s]+")
_INDEX = re.compile(r"[0-9]{1,9}")
_STEP = re.compile(r"""\.(?P<name>[^.\[\]{}"'\s]+)|\[(?P<index>-?[0-9]{1,9})\]|\["(?P<key>(?:[^"\\]|\\.)*)"\]""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """One path, parsed."""

    root: str
    steps: tuple[tuple[Step, bool], ...]
    """Each step, and whether it was written with a dot (dotted names may join to one key)."""
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A text with placeholders, parsed once."""

    written: str
    pieces: tuple[str | Placeholder, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths in it, as written."""
        return tuple(piece.written for piece in self.pieces if isinstance(piece, Placeholder))

    def fill(
        self, *, item: Mapping[str, object], sample: Mapping[str, object], inputs: Mapping[str, object] | None = None
    ) -> object:
        """Return the value itself for a lone placeholder (or MISSING), else the text with every value put in.

        `inputs` are the values of the further roots that the template was parsed with (`{{query}}` of a judge prompt).
        """
        roots: Mapping[str, object] = {**(inputs or {}), "item": item, "sample": sample}
        whole = [piece for piece in self.pieces if isinstance(piece, Placeholder) or piece.strip()]
        if len(whole) == 1 and isinstance(whole[0], Placeholder):
            return _follow(roots.get(whole[0].root), whole[0].steps)
        return "".join(
            piece if isinstance(piece, str) else _as_text(_follow(roots.get(piece.root), piece.steps)) for piece in self.pieces
        )


def parse_template(written: str, *, roots: Sequence[str] = ("item", "sample")) -> Template:
    """Parse a template; Unreadable `mapping_syntax` or `mapping_root` with the position when it breaks a rule."""
    text = written
    for form, ours in _PEER_FORMS:
        text = form.sub(ours, text)
    pieces: list[str | Placeholder] = []
    position = 0
    while (opening := text.find("{{", position)) >= 0:
        if opening > position and text[opening - 1] == "\\":
            pieces.append(text[position : opening - 1] + "{{")
            position = opening + 2
            continue
        closing = _close_of(text, opening)
        if closing < 0:
            raise Unreadable(
                "mapping_syntax", f"the placeholder at position {opening} is never closed with }}}}: {quoted(written)}"
            )
        if opening > position:
            pieces.append(text[position:opening])
        pieces.append(_parse_path(text[opening + 2 : closing].strip(), written, opening, roots))
        position = closing + 2
    if position < len(text) or not pieces:
        pieces.append(text[position:])
    return Template(written=written, pieces=tuple(pieces))


def _close_of(text: str, start: int) -> int:
    """Find the `}}` that closes the placeholder at `start`, not counting those inside `["…"]`."""
    quoted = False
    position = start + 2
    while position < len(text):
        if quoted and text[position] == "\\":
            position += 1
        elif text[position] == '"':
            quoted = not quoted
        elif not quoted and text.startswith("}}", position):
            return position
        position += 1
    return -1


def _parse_path(path: str, written: str, position: int, roots: Sequence[str]) -> Placeholder:
    root = _NAME.match(path)
    if root is None:
        raise Unreadable(
            "mapping_syntax",
            f"a path such as item.query was expected at position {position}, found {quoted(path)} in {quoted(written)}",
        )
    steps: list[tuple[Step, bool]] = []
    at = root.end()
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise Unreadable(
                "mapping_syntax", f"unexpected {quoted(path[at:])} in the path {quoted(path)} at position {position}; "
                'write .name, [0] or ["a key"]'
            )  # fmt: skip
        if step["name"] is not None:
            steps.append((step["name"], True))
        elif step["index"] is not None:
            steps.append((int(step["index"]), False))
        else:
            steps.append((re.sub(r"\\(.)", r"\1", step["key"]), False))
        at = step.end()
    if root.group() not in roots:
        raise Unreadable(
            "mapping_root", f"{quoted(root.group())} is no root of a path (position {position} in {quoted(written)}); "
            f"known: {', '.join(roots)}"
        )  # fmt: skip
    return Placeholder(root=root.group(), steps=tuple(steps), written=path)


def _follow(value: object, steps: tuple[tuple[Step, bool], ...]) -> object:
    """Walk the steps; JSON held in a text is entered only when the path goes on."""
    position = 0
    while position < len(steps):
        step, dotted = steps[position]
        if isinstance(value, str):
            value = _decoded(value)
        if isinstance(value, Mapping) and isinstance(step, str):
            key, used = _longest_key(value, steps, position) if dotted else (step, 1)
            if key not in value:
                return MISSING
            value, position = value[key], position + used
        elif isinstance(value, Sequence) and not isinstance(value, str):
            index = step if isinstance(step, int) else int(step) if _INDEX.fullmatch(step) else None
            if index is None or not -len(value) <= index < len(value):
                return MISSING
            value, position = value[index], position + 1
        else:
            return MISSING
    return MISSING if value is None else value


def _longest_key(value: Mapping[str, object], steps: tuple[tuple[Step, bool], ...], position: int) -> tuple[str, int]:
    """The longest run of dotted names that is literally a key wins."""
    run: list[str] = []
    for step, dotted in steps[position:]:
        if not dotted or not isinstance(step, str):
            break
        run.append(step)
    for length in range(len(run), 1, -1):
        key = ".".join(run[:length])
        if key in value:
            return key, length
    return run[0], 1


def _decoded(text: str) -> object:
    try:
        value = parse_json(text)
    except JsonError:
        return text
    return value if isinstance(value, (dict, list)) else text


def _as_text(value: object) -> str:
    if isinstance(value, Missing):
        return ""
    return value if isinstance(value, str) else canonical_json(value)

"""YAML text -> plain values, and where each of them stands.

In: the text of one YAML document. Out: a Located value; ConfigError with line and column for anything that is not plain YAML.
Scalars are typed as JSON would type them and no further: `no`, `on`, `2026-01-05` and `007` stay text. Nothing is ever constructed
from a tag. Source: the formats page, section 1.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from ci_eval.errors import ConfigError, Problem

MAX_NODES = 100_000
MAX_DIGITS = 400
KeyPath: TypeAlias = tuple[str | int, ...]

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_WORDS: Mapping[str, object] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
_CORE_TAGS = {
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq", "merge", "timestamp", "value")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in the file, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A document and the place of every key and item in it."""

    value: object
    marks: Mapping[KeyPath, Mark]

    def mark(self, path: KeyPath) -> Mark | None:
        """Return the place of the deepest part of the path that is written down."""
        for length in range(len(path), 0, -1):
            found = self.marks.get(path[:length])
            if found is not None:
                return found
        return None


def read_yaml(text: str, *, shown: str) -> Located:
    """Parse one document; an empty one has the value None."""
    try:
        loader = yaml.SafeLoader(text)
    except yaml.reader.ReaderError as error:
        raise _unprintable(text, error.position, shown) from error
    try:
        root = loader.get_single_node()
    except yaml.composer.ComposerError as error:
        if "single document" in str(error):
            raise _problem(shown, error.problem_mark, "yaml_documents", "only one document is allowed in this file") from error
        raise _problem(shown, error.problem_mark, "yaml_syntax", str(error.problem)) from error
    except yaml.MarkedYAMLError as error:
        raise _problem(shown, error.problem_mark, "yaml_syntax", _explained(error)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise _problem(shown, None, "yaml_syntax", f"this is not YAML: {error or 'nested too deeply'}") from error
    finally:
        loader.dispose()
    if root is None:
        return Located(value=None, marks={})
    builder = _Builder(shown)
    return Located(value=builder.build(root, ()), marks=builder.marks)


def _unprintable(text: str, position: int, shown: str) -> ConfigError:
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    message = f"the character U+{ord(text[position]):04X} has no place in a YAML file"
    return ConfigError(Problem(code="yaml_character", file=shown, line=line, column=column, message=message))


def _explained(error: yaml.MarkedYAMLError) -> str:
    text = str(error.problem or error.context or "broken YAML")
    if "\\t" in text or "'\\t'" in text:
        return "a tab is used for indentation; YAML wants blanks"
    return f"{text}{f' ({error.context})' if error.context else ''}"


def _problem(shown: str, mark: yaml.Mark | None, code: str, message: str) -> ConfigError:
    line, column = (None, None) if mark is None else (mark.line + 1, mark.column + 1)
    return ConfigError(Problem(code=code, file=shown, line=line, column=column, message=message))


class _Builder:
    """Walks the node tree once, counting nodes so that nested aliases can't explode."""

    def __init__(self, shown: str) -> None:
        self.marks: dict[KeyPath, Mark] = {}
        self._shown = shown
        self._nodes = 0

    def build(self, node: yaml.Node, path: KeyPath) -> object:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > 100:
            message = f"aliases expand to more than {MAX_NODES:,} nodes, or to a value that holds itself"
            raise _problem(self._shown, node.start_mark, "yaml_aliases", message)
        self.marks.setdefault(path, Mark(line=node.start_mark.line + 1, column=node.start_mark.column + 1))
        if node.tag not in _CORE_TAGS:
            raise _problem(self._shown, node.start_mark, "yaml_tag", f"the tag {node.tag!r} is not allowed; write plain values")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _scalar(self, node: yaml.ScalarNode) -> object:
        text = self._text(node)
        if node.style is not None:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if not _NUMBER.match(text):
            return text
        if len(text) > MAX_DIGITS:
            raise _problem(self._shown, node.start_mark, "yaml_number", f"a number of {len(text):,} digits is not read")
        return json.loads(text)

    def _text(self, node: yaml.ScalarNode) -> str:
        text = str(node.value)
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise _problem(
                self._shown, node.start_mark, "yaml_character", "half of a character (a lone surrogate) cannot be read"
            )
        return text

    def _mapping(self, node: yaml.Node, path: KeyPath) -> dict[str, object]:
        values: dict[str, object] = {}
        merged: dict[str, object] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged |= self._merged(value_node, path)
                continue
            key = self._key(key_node)
            if key in values:
                raise _problem(
                    self._shown, key_node.start_mark, "yaml_duplicate_key", f"the key {key!r} stands here a second time"
                )
            self.marks[(*path, key)] = Mark(line=key_node.start_mark.line + 1, column=key_node.start_mark.column + 1)
            values[key] = self.build(value_node, (*path, key))
        return {**merged, **values}

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise _problem(self._shown, node.start_mark, "yaml_key", "a key must be a plain word")
        return self._text(node)

    def _merged(self, node: yaml.Node, path: KeyPath) -> dict[str, object]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, object] = {}
        for source in sources:
            value = self.build(source, (*path, "<<"))
            if not isinstance(value, dict):
                raise _problem(self._shown, node.start_mark, "yaml_merge", "`<<` takes a mapping or a list of mappings")
            merged = {**value, **merged}
        return merged

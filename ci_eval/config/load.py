"""`ci-eval.yaml` and overrides -> EvalConfig, or every problem at once.

In: a path, `key=value` overrides, today's date. Out: a LoadedConfig; ConfigError whose problems carry file, line, dotted key, value,
what is allowed and the nearest known name. Reads the one file; calls nothing.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from ci_eval.config.cross import cross_problems
from ci_eval.config.problems import Pointer, dotted, nearest, problems_of, shown_value
from ci_eval.config.schema import EvalConfig
from ci_eval.config.yaml_source import KeyPath, read_yaml
from ci_eval.domain.canonical import digest
from ci_eval.errors import ConfigError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedConfig:
    """A checked configuration and where it came from."""

    config: EvalConfig
    pointer: Pointer
    folder: Path
    """Relative paths of the configuration start here."""
    digest: str
    """SHA-256 of the effective configuration."""

    @property
    def shown(self) -> str:
        """The path as the user wrote it."""
        return self.pointer.shown


def load_config(path: Path, *, shown: str, overrides: Sequence[str] = (), today: datetime.date) -> LoadedConfig:
    """Read and check a configuration."""
    marks = read_yaml(_text_of(path, shown), shown=shown)
    if not isinstance(marks.value, dict):
        found = "an empty file" if marks.value is None else f"a {type(marks.value).__name__}"
        hint = "a minimal file has `dataset:`, `evaluators:`, and `target:` or recorded `outputs:` for both arms"
        raise ConfigError(
            Problem(
                code="config_empty", file=shown, line=1, message=f"`key: value` lines were expected, found {found}", hint=hint
            )
        )
    raw = marks.value
    overridden = []
    for override in overrides:
        keys, value = _read_override(override)
        raw = cast("dict[str, object]", _with_value(raw, keys, value))  # a mapping stays one
        overridden.append(keys)
    pointer = Pointer(shown=shown, marks=marks, overridden=tuple(overridden))
    config: EvalConfig | None = None
    problems: list[Problem] = []
    try:
        config = EvalConfig.model_validate(raw)
    except ValidationError as error:
        problems += problems_of(error, model=EvalConfig, pointer=pointer)
    problems += cross_problems(raw, config, pointer, today=today)
    if problems or config is None:
        raise ConfigError(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    return LoadedConfig(
        config=config, pointer=pointer, folder=path.parent, digest=digest(config.model_dump(mode="json", by_alias=True))
    )


def _text_of(path: Path, shown: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        near = nearest(path.name, [p.name for p in path.parent.glob("*.y*ml")]) if path.parent.is_dir() else None
        hint = f"did you mean {near}? " if near else ""
        hint += "name the configuration with -c FILE"
        raise ConfigError(
            Problem(code="file_not_found", file=shown, message="there is no such configuration file", hint=hint)
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            Problem(code="encoding", file=shown, message=f"not UTF-8 at byte {error.start + 1}; save it as UTF-8")
        ) from error
    except OSError as error:
        raise ConfigError(Problem(code="unreadable", file=shown, message=f"cannot be read: {error.strerror}")) from error


def _read_override(override: str) -> tuple[KeyPath, object]:
    """Read one `a.b[0].c=value`, the value as YAML."""
    key, equals, text = override.partition("=")
    parts = re.findall(r"[^\s.\[\]]+", key)
    if not equals or not parts:
        raise ConfigError(Problem(code="override", field="--set", message=f"key=value was expected, found {override!r}"))
    keys = tuple(int(part) if part.isdecimal() else part for part in parts)
    place = f"--set {dotted(keys)}"
    try:
        return keys, read_yaml(text, shown=place).value
    except ConfigError as error:  # the command line is no file with lines
        raise ConfigError(
            replace(problem, file=None, line=None, column=None, field=place) for problem in error.problems
        ) from error


def _with_value(raw: object, keys: KeyPath, value: object, *, done: int = 0) -> object:
    """Return a copy in which the value stands at the path; keys that are not there are made, items of lists are not."""
    if done == len(keys):
        return value
    key = keys[done]
    if isinstance(key, str) and (raw is None or isinstance(raw, dict)):
        inner = raw or {}
        return {**inner, key: _with_value(inner.get(key), keys, value, done=done + 1)}
    if isinstance(key, int) and isinstance(raw, list) and key < len(raw):
        return [*raw[:key], _with_value(raw[key], keys, value, done=done + 1), *raw[key + 1 :]]
    message = f"{dotted(keys[:done]) or 'the file'} holds {shown_value(raw)}, in which there is no {dotted(keys[done : done + 1])} to set"
    hint = f"set the whole value: --set '{dotted(keys[:done])}=…'" if done else None
    raise ConfigError(Problem(code="override", field=f"--set {dotted(keys)}", message=message, hint=hint))

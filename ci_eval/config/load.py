"""`ci-eval.yaml` and overrides -> EvalConfig, or every problem at once.

In: a path, `key=value` overrides, today's date. Out: a LoadedConfig; ConfigError whose problems carry file, line, dotted key, value,
what is allowed and the nearest known name. Reads the one file; calls nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ci_eval.config.cross import cross_problems
from ci_eval.config.problems import Pointer, nearest, problems_of
from ci_eval.config.schema import EvalConfig
from ci_eval.config.yaml_source import read_yaml
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
    raw, pointer = marks.value, Pointer(shown=shown, marks=marks)
    for override in overrides:
        raw = _overridden(raw, override)
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


def _overridden(raw: dict[str, object], override: str) -> dict[str, object]:
    """Apply one `a.b.c=value`; the value is read as YAML."""
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise ConfigError(Problem(code="override", field="--set", message=f"key=value was expected, found {override!r}"))
    value = read_yaml(text, shown=f"--set {key}").value
    return _replaced(raw, key.strip().split("."), value, key)


def _replaced(raw: Mapping[str, object], keys: Sequence[str], value: object, shown_key: str) -> dict[str, object]:
    copy = dict(raw)
    first, rest = keys[0], keys[1:]
    if not rest:
        copy[first] = value
        return copy
    inner = copy.get(first)
    if inner is None:
        inner = {}
    if not isinstance(inner, dict):
        raise ConfigError(
            Problem(
                code="override", field=f"--set {shown_key}", message=f"{first} holds {inner!r} and has no keys to set below it"
            )
        )
    copy[first] = _replaced(inner, rest, value, shown_key)
    return copy

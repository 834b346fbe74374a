"""`ci-eval.yaml` and overrides -> EvalConfig, or every problem at once.

In: a path, `key=value` overrides, today's date. Out: a LoadedConfig; ConfigError whose problems carry file, line, dotted key, value,
what is allowed and the nearest known name. Reads the one file; calls nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ci_eval.config.problems import dotted, nearest, problems_of
from ci_eval.config.schema import EvalConfig, EvaluatorEntry
from ci_eval.config.yaml_source import KeyPath, Located, read_yaml
from ci_eval.domain.canonical import digest
from ci_eval.domain.score import Metric
from ci_eval.errors import ConfigError, Problem

ALL_CHECKS = "all_checks"
"""The derived metric of `compare/`: every binary check of a case passed; it may be gated by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedConfig:
    """A checked configuration and where it came from."""

    config: EvalConfig
    shown: str
    """The path as the user wrote it."""
    folder: Path
    """Relative paths of the configuration start here."""
    marks: Located
    digest: str
    """SHA-256 of the effective configuration."""

    def problem(self, path: KeyPath, message: str, *, code: str = "config", hint: str | None = None) -> Problem:
        """Make a problem that points at a key of this file."""
        return _problem(self.shown, self.marks, path, message, code=code, hint=hint)


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
    for override in overrides:
        raw = _overridden(raw, override)
    config: EvalConfig | None = None
    problems: list[Problem] = []
    try:
        config = EvalConfig.model_validate(raw)
    except ValidationError as error:
        problems += problems_of(error, model=EvalConfig, marks=marks, shown=shown)
    problems += _cross_problems(raw, config, marks, shown, today)
    if problems or config is None:
        raise ConfigError(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    return LoadedConfig(
        config=config, shown=shown, folder=path.parent, marks=marks, digest=digest(config.model_dump(mode="json", by_alias=True))
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


def _problem(shown: str, marks: Located, path: KeyPath, message: str, *, code: str, hint: str | None) -> Problem:
    mark = marks.mark(path)
    return Problem(
        code=code, file=shown, line=mark.line if mark else None, column=mark.column if mark else None,
        field=dotted(path), message=message, hint=hint,
    )  # fmt: skip


def _cross_problems(
    raw: Mapping[str, object], config: EvalConfig | None, marks: Located, shown: str, today: datetime.date
) -> Iterator[Problem]:
    """What no single key can know. Works on the raw file too, so that one bad key never hides these."""
    metrics, every_evaluator_valid = _metrics_of(raw.get("evaluators"))
    names: dict[str, Metric] = {}
    for index, metric in metrics:
        if metric.name in names:
            message = f"the metric {metric.name!r} is computed twice; give one of the evaluators its own `name:`"
            yield _problem(shown, marks, ("evaluators", index), message, code="duplicate_metric", hint=None)
        names[metric.name] = metric
    if names or every_evaluator_valid:
        yield from _unknown_metrics(raw, {*names, ALL_CHECKS}, marks, shown)
    if config is None:
        return
    yield from _arm_problems(config, marks, shown)
    for path, message in config.gate.problems(metrics=names, specs=config.metrics, today=today):
        yield _problem(shown, marks, path, message, code="gate", hint=None)


def _metrics_of(entries: object) -> tuple[list[tuple[int, Metric]], bool]:
    """Metrics of every valid evaluator entry; a known evaluator with a bad option still lends its default metric's name."""
    metrics: list[tuple[int, Metric]] = []
    valid = isinstance(entries, list)
    adapter: TypeAdapter[EvaluatorEntry] = TypeAdapter(EvaluatorEntry)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        try:
            spec = adapter.validate_python(entry)
        except ValidationError as error:
            valid = False
            metrics += [(index, metric) for metric in _guessed_metrics(entry, error)]
            continue
        metrics += [(index, metric) for metric in spec.metrics()]
    return metrics, valid


def _guessed_metrics(entry: object, error: ValidationError) -> Iterator[Metric]:
    """What a broken entry would have computed, as far as its name tells."""
    if any(detail["type"] == "union_tag_invalid" for detail in error.errors(include_url=False)):
        return
    if isinstance(entry, dict) and len(entry) == 1:
        kind, options = next(iter(entry.items()))
        name = options.get("name") if isinstance(options, dict) else None
        adapter: TypeAdapter[EvaluatorEntry] = TypeAdapter(EvaluatorEntry)
        try:
            bare = adapter.validate_python({kind: {"name": name} if isinstance(name, str) else {}})
        except ValidationError:
            yield Metric(name=str(name or kind), evaluator=str(kind), kind="score")
        else:
            yield from bare.metrics()


def _unknown_metrics(raw: Mapping[str, object], known: set[str], marks: Located, shown: str) -> Iterator[Problem]:
    gate = raw.get("gate")
    gated = gate.get("metrics") if isinstance(gate, dict) else None
    settings = raw.get("metrics")
    asked: list[tuple[KeyPath, str]] = []
    if isinstance(gated, list):
        asked += [(("gate", "metrics", index), name) for index, name in enumerate(gated) if isinstance(name, str)]
    if isinstance(settings, dict):
        asked += [(("metrics", name), name) for name in settings]
    for path, name in asked:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}? " if near else ""
            hint += f"computed are: {', '.join(sorted(known))}"
            yield _problem(shown, marks, path, f"no evaluator computes the metric {name!r}", code="unknown_metric", hint=hint)


def _arm_problems(config: EvalConfig, marks: Located, shown: str) -> Iterator[Problem]:
    for arm in ("baseline", "candidate"):
        spec = getattr(config, arm)
        if spec.needs_target and config.target is None:
            hint = "add `target:` (how the agent is run), or give recorded outputs: `" + arm + ": {outputs: file.jsonl}`"
            yield _problem(
                shown, marks, (arm,), f"the {arm} has to be run, but there is no `target:`", code="no_target", hint=hint
            )

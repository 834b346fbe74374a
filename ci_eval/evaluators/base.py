"""(Case, Sample) -> Scores: what every evaluator must do, and what a configuration may say about any of them.

An evaluator is a frozen value: its fields are its configuration. It never raises for odd data: it says `skipped` or `error`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ci_eval.domain.canonical import digest
from ci_eval.domain.case import Case
from ci_eval.domain.functions import RemoteFunction
from ci_eval.domain.readers import Readers, Unreadable
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score
from ci_eval.domain.template import parse_template

METRIC_NAME = r"^[A-Za-z][A-Za-z0-9_]*$"
OUTPUT_PATHS = ("sample.output_text", "sample.output_json", "sample.actions")
"""What `Sample.output_digest` covers: templates that read more of a sample make a metric depend on more than the output."""

Scores: TypeAlias = tuple[Score, ...]


class Evaluator(Protocol):
    """Scores one sample. One that holds a process or a connection also has `async def close(self) -> None`."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric it yields; `evaluate` returns exactly one score for each, in this order."""
        ...

    def evaluate(self, case: Case, sample: Sample) -> Scores | Awaitable[Scores]:
        """Score a sample whose target succeeded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorContext:
    """What an evaluator is handed besides its own settings."""

    readers: Readers
    workspace: Path
    """The trusted checkout: a user's own code evaluator is imported from here, for both arms."""
    environ: Mapping[str, str]
    open_function: Callable[[str], RemoteFunction]
    """Makes `package.module:name` of the workspace callable, in a process of its own; starts nothing yet."""


class EvaluatorSpec(BaseModel):
    """What a configuration may say about an evaluator."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    version: ClassVar[int] = 1
    """Raised when the same input would get another score than before: such runs are not compared."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other spellings that mean this evaluator, beside the regular ones (`builtin.x`, `XEvaluator`)."""
    input_names: ClassVar[Mapping[str, str] | None] = {}
    """Accepted key of `inputs` -> the input it means; None when any name may be given."""
    without_meaning: ClassVar[frozenset[str]] = frozenset({"name"})
    """Options that never change a score."""

    kind: str
    name: str | None = Field(default=None, pattern=METRIC_NAME, description="Name of the metric; default: the evaluator's own.")
    """Name of the metric in the report; default: the evaluator's own name."""
    inputs: dict[str, str] = Field(
        default_factory=dict,
        description='Templates for inputs, e.g. `response: "{{sample.output_text}}"`; the rest is found by role.',
    )
    """Templates for the evaluator's inputs, e.g. `{response: "{{sample.output_text}}"}`; the rest is found by role."""

    @property
    def metric_name(self) -> str:
        """The name its first metric has."""
        return self.name or self.kind

    @property
    def fingerprint(self) -> str:
        """Digest of everything that changes what the scores mean."""
        options = self.model_dump(mode="json", exclude=set(self.without_meaning))
        return digest({"evaluator": self.kind, "version": self.version, "options": options})

    def metrics(self) -> tuple[Metric, ...]:
        """The metrics it will yield, known before anything runs."""
        raise NotImplementedError

    def build(self, context: EvaluatorContext) -> Evaluator:
        """Make the evaluator."""
        raise NotImplementedError

    def warnings(self) -> tuple[str, ...]:
        """What is accepted here but does not do what its writer may think."""
        return tuple(
            f"inputs.{name}: {written!r} has no placeholder such as {{{{item.answer}}}}, so it is the same text for every case"
            for name, written in self.inputs.items()
            if not parse_template(written).paths
        )

    def advice(self) -> tuple[str, ...]:
        """What a careful writer would add; said by `check` only."""
        return ()

    def unusable(self, cases: Sequence[Case]) -> str | None:  # noqa: ARG002 - most evaluators can always say something
        """Say why no case at all could be scored; None when at least one might be."""
        return None

    @property
    def templates(self) -> Mapping[str, str]:
        """Every template among the settings, as written."""
        return self.inputs

    @property
    def reads_output_only(self) -> bool:
        """True when equal outputs give equal inputs, so that the two arms may share a score."""
        paths = [path for written in self.templates.values() for path in parse_template(written).paths]
        return all(path.startswith(("item.", *OUTPUT_PATHS)) for path in paths)

    @model_validator(mode="after")
    def _inputs_are_known_templates(self) -> EvaluatorSpec:
        meant: dict[str, str] = {}
        for name, written in self.inputs.items():
            if self.input_names is not None and name not in self.input_names:
                known = ", ".join(self.input_names) or "none"
                raise ValueError(f"inputs.{name}: no such input; {self.kind} takes: {known}")
            try:
                parse_template(written)
            except Unreadable as wrong:
                raise ValueError(f"inputs.{name}: {wrong.message}") from wrong
            target = name if self.input_names is None else self.input_names[name]
            if target in meant:
                raise ValueError(f"inputs.{name} and inputs.{meant[target]} mean the same input; keep one of them")
            meant[target] = name
        return self


class ZeroOneSpec(EvaluatorSpec):
    """An evaluator that scores 0 or 1 and passes at 1, whatever a peer's file says."""

    without_meaning: ClassVar[frozenset[str]] = frozenset({"name", "threshold"})

    threshold: float | None = Field(default=None, description="Accepted for files of other tools and ignored: always 1.")

    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (
            Metric(
                name=self.metric_name, evaluator=self.kind, kind="binary", threshold=1.0,
                output_only=self.reads_output_only, fingerprint=self.fingerprint,
            ),
        )  # fmt: skip

    def warnings(self) -> tuple[str, ...]:
        """Add that another threshold than 1 is ignored."""
        if self.threshold is None or self.threshold == 1:
            return super().warnings()
        return (
            *super().warnings(),
            f"threshold: {self.threshold:g} is ignored: {self.kind} scores 0 or 1 and passes at 1",
        )

"""(Case, Sample) -> Scores: what every evaluator must do.

An evaluator is a frozen value: its fields are its configuration. It never raises for odd data: it says `skipped` or `error`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Readers
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score

METRIC_NAME = r"^[A-Za-z][A-Za-z0-9_]*$"


class Evaluator(Protocol):
    """Scores one sample."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Every metric it yields; `evaluate` returns exactly one score for each, in this order."""
        ...

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        """Score a sample whose target succeeded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorContext:
    """What an evaluator is handed besides its own settings."""

    readers: Readers
    workspace: Path
    """The trusted checkout: a user's own code evaluator is imported from here, for both arms."""
    environ: Mapping[str, str]


class EvaluatorSpec(BaseModel):
    """What a configuration may say about an evaluator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other spellings that mean this evaluator, beside the regular ones (`builtin.x`, `XEvaluator`)."""
    name: str | None = Field(default=None, pattern=METRIC_NAME)
    """Name of the metric in the report; default: the evaluator's own name."""
    inputs: dict[str, str] = Field(default_factory=dict)
    """Templates for the evaluator's inputs, e.g. `{response: "{{sample.output_text}}"}`; the rest is found by role."""

    @property
    def metric_name(self) -> str:
        """The name its first metric has."""
        return self.name or self.kind

    def metrics(self) -> tuple[Metric, ...]:
        """The metrics it will yield, known before anything runs."""
        raise NotImplementedError

    def build(self, context: EvaluatorContext) -> Evaluator:
        """Make the evaluator."""
        raise NotImplementedError

"""field: a number or boolean that the row or the sample already carries becomes a metric.

In: a path such as `sample.reward` or `item.priority`. Out: the value there as a score.
Converts nothing but true and false: a number written as text is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score, scored
from ci_eval.domain.template import MISSING, Template, parse_template
from ci_eval.domain.views import case_view, sample_view
from ci_eval.evaluators.base import METRIC_NAME, EvaluatorContext, EvaluatorSpec
from ci_eval.evaluators.declared import Declared, number_within
from ci_eval.evaluators.inputs import OneMetric, Unscorable, leads_nowhere
from ci_eval.evaluators.wording import number


class FieldSpec(EvaluatorSpec, Declared):
    """Takes a metric from a field."""

    kind: Literal["field"] = "field"
    path: str = Field(description="Where the value is: sample.reward, item.priority, or {{sample.scores[0].value}}.")

    @property
    @override
    def metric_name(self) -> str:
        return self.name or _last_step(self.path)

    @property
    @override
    def templates(self) -> Mapping[str, str]:
        return {"path": self.path if "{" in self.path else f"{{{{{self.path}}}}}"}

    @override
    def metrics(self) -> tuple[Metric, ...]:
        return (self.declared_metric(name=self.metric_name, evaluator=self.kind, fingerprint=self.fingerprint),)

    @override
    def build(self, context: EvaluatorContext) -> FieldValue:
        return FieldValue(metric=self.metrics()[0], template=parse_template(self.templates["path"]))

    @override
    def unusable(self, cases: Sequence[Case]) -> str | None:
        return leads_nowhere(parse_template(self.templates["path"]), cases)

    @model_validator(mode="after")
    def _is_one_path(self) -> FieldSpec:
        try:
            template = parse_template(self.templates["path"])
        except Unreadable as wrong:
            hint = f"; write sample.{self.path} or item.{self.path}?" if wrong.code == "mapping_root" else ""
            raise ValueError(f"path: {wrong.message}{hint}") from wrong
        if [piece for piece in template.pieces if not isinstance(piece, str) or piece.strip()] != [_placeholder(template)]:
            raise ValueError(f"path: one path such as sample.reward was expected, found {self.path!r}")
        if not re.match(METRIC_NAME, self.metric_name):
            raise ValueError(f"name: {self.metric_name!r}, the end of the path, cannot name a metric; write name:")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValue(OneMetric):
    """Reads the field of one sample."""

    template: Template

    @override
    def score(self, case: Case, sample: Sample) -> Score:
        """Score by the value, as it is."""
        path = self.template.paths[0]
        value = self.template.fill(item=case_view(case), sample=sample_view(sample, case=case))
        if value is MISSING:
            raise Unscorable("skipped", f"no {path}")
        found = number_within(self.metric, value, path)
        return scored(self.metric, found, f"{path} is {str(value).lower() if isinstance(value, bool) else number(found)}")


def _placeholder(template: Template) -> object:
    return next((piece for piece in template.pieces if not isinstance(piece, str)), None)


def _last_step(path: str) -> str:
    return re.split(r"[.\[\]\"{}\s]+", path.strip('{}[]" '))[-1]

"""string_check: OpenAI's plain comparison of two texts.

In: two templates, `input` and `reference`. Out: 1 when the operation holds, else 0.
Trims nothing, knows no wildcards. Rules: the evaluators page, OpenAI graders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Score, scored
from ci_eval.domain.template import parse_template
from ci_eval.evaluators.base import EvaluatorContext, ZeroOneSpec
from ci_eval.evaluators.inputs import Inputs, OneMetric, leads_nowhere, parse_inputs
from ci_eval.evaluators.wording import quoted

Operation = Literal["eq", "ne", "like", "ilike"]

HOLDS: Mapping[Operation, Callable[[str, str], bool]] = {
    "eq": lambda text, reference: text == reference,
    "ne": lambda text, reference: text != reference,
    "like": lambda text, reference: reference in text,
    "ilike": lambda text, reference: reference.casefold() in text.casefold(),
}
WORDS: Mapping[Operation, tuple[str, str]] = {
    "eq": ("equals", "does not equal"),
    "ne": ("differs from", "equals"),
    "like": ("contains", "does not contain"),
    "ilike": ("contains, in any case,", "does not contain, in any case,"),
}


class StringCheckSpec(ZeroOneSpec):
    """Compares two texts."""

    kind: Literal["string_check"] = "string_check"
    operation: Operation = Field(description="eq: equal; ne: not equal; like: input contains reference; ilike: so in any case.")
    input: str = Field(default="{{sample.output_text}}", description="Text or template that is looked at.")
    reference: str = Field(description="Text or template that is looked for, e.g. {{item.ground_truth}}.")

    @property
    @override
    def templates(self) -> Mapping[str, str]:
        return {"input": self.input, "reference": self.reference}

    @override
    def build(self, context: EvaluatorContext) -> StringCheck:
        return StringCheck(
            metric=self.metrics()[0], operation=self.operation, inputs=parse_inputs(self.templates, {}, context.readers)
        )

    @override
    def unusable(self, cases: Sequence[Case]) -> str | None:
        found = (leads_nowhere(parse_template(written), cases) for written in self.templates.values())
        return next((reason for reason in found if reason), None)

    @model_validator(mode="after")
    def _has_readable_templates(self) -> StringCheckSpec:
        for name, written in self.templates.items():
            try:
                parse_template(written)
            except Unreadable as wrong:
                raise ValueError(f"{name}: {wrong.message}") from wrong
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class StringCheck(OneMetric):
    """Compares two texts of one sample."""

    operation: Operation
    inputs: Inputs

    @override
    def score(self, case: Case, sample: Sample) -> Score:
        """Score 1 when the operation holds; of a list of references any may be met, and `ne` has to hold for all."""
        references = self.inputs.texts("reference", case, sample)
        text = self.inputs.text("input", case, sample)
        met = [HOLDS[self.operation](text, reference) for reference in references]
        holds = all(met) if self.operation == "ne" else any(met)
        decisive = met.index(holds) if holds in met else 0
        reason = f"{quoted(text)} {WORDS[self.operation][not holds]} {quoted(references[decisive])}"
        return scored(self.metric, float(holds), reason, {"operation": self.operation})

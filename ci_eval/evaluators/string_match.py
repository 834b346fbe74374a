"""exact_match: is the answer the reference, character for character?

In: the answer's text and one or more references. Out: 1 when it equals one of them, else 0.
Forgives line ends, edge blanks and the two spellings of composed characters, nothing else. Rules: the evaluators page, M365.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Score, scored
from ci_eval.evaluators.base import EvaluatorContext, ZeroOneSpec
from ci_eval.evaluators.inputs import ANSWER_AND_REFERENCE, Inputs, OneMetric, no_references, parse_inputs
from ci_eval.evaluators.wording import quoted, which_reference


class ExactMatchSpec(ZeroOneSpec):
    """The answer equals the reference."""

    input_names: ClassVar[Mapping[str, str]] = ANSWER_AND_REFERENCE

    kind: Literal["exact_match"] = "exact_match"
    case_sensitive: bool = Field(default=True, description="false: Yes equals yes.")

    @override
    def build(self, context: EvaluatorContext) -> ExactMatch:
        return ExactMatch(
            metric=self.metrics()[0],
            case_sensitive=self.case_sensitive,
            inputs=parse_inputs(self.inputs, self.input_names, context.readers),
        )

    @override
    def advice(self) -> tuple[str, ...]:
        if "case_sensitive" in self.model_fields_set:
            return ()
        return ("case_sensitive is not set: Yes and yes are different answers; write true or false so that readers know",)

    @override
    def unusable(self, cases: Sequence[Case]) -> str | None:
        return no_references(self.inputs, cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMatch(OneMetric):
    """Compares one answer with its references."""

    case_sensitive: bool
    inputs: Inputs

    @override
    def score(self, case: Case, sample: Sample) -> Score:
        """Score 1 when the answer equals any of the references."""
        references = self.inputs.references(case, sample)
        response = self.inputs.response_text(case, sample)
        answer = _settled(response)
        wanted = [_settled(reference) for reference in references]
        if answer in wanted:
            return scored(self.metric, 1.0, f"the answer equals {which_reference(wanted.index(answer), of=len(wanted))}")
        uncased = [_uncased(reference) for reference in wanted]
        if _uncased(answer) in uncased:
            which = which_reference(uncased.index(_uncased(answer)), of=len(wanted))
            if self.case_sensitive:
                reason = f"the answer differs from {which} in upper and lower case only; case_sensitive: false would pass it"
                return scored(self.metric, 0.0, reason)
            reason = f"the answer equals {which} but for upper and lower case, which case_sensitive: false ignores"
            return scored(self.metric, 1.0, reason)
        return scored(self.metric, 0.0, _unequal(answer, wanted))


def _settled(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()


def _uncased(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())  # casefold may take composed characters apart


def _unequal(answer: str, references: Sequence[str]) -> str:
    if not answer:
        return f"the agent returned an empty answer; expected {quoted(references[0])}"
    if len(references) > 1:
        return f"{quoted(answer)} equals none of the {len(references)} references, the first of which is {quoted(references[0])}"
    return f"expected {quoted(references[0])}, found {quoted(answer)}"

"""f1_score and partial_match: how many words do answer and reference share?

In: the answer's text and one or more references. Out: the F1 of their words, 0..1, that of the best reference.
Knows nothing of meaning. Rules: the evaluators page, Text overlap; M365, partial_match.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score, scored
from ci_eval.evaluators.base import EvaluatorContext, EvaluatorSpec
from ci_eval.evaluators.inputs import ANSWER_AND_REFERENCE, Inputs, OneMetric, no_references, parse_inputs
from ci_eval.evaluators.wording import counted, number, which_reference

ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
UNSPACED = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿\U00020000-\U0003fffd]")
"""Hiragana, Katakana and Han: scripts written without spaces between words."""


class TextOverlapSpec(EvaluatorSpec):
    """What f1_score and partial_match have in common."""

    input_names: ClassVar[Mapping[str, str]] = ANSWER_AND_REFERENCE

    threshold: float = Field(default=0.5, ge=0, le=1, description="Passes at this score or above.")
    compat: Literal["azure"] | None = Field(
        default=None, description="azure: the numbers of azure-ai-evaluation, also where ours differ on purpose."
    )

    @override
    def metrics(self) -> tuple[Metric, ...]:
        return (
            Metric(
                name=self.metric_name, evaluator=self.kind, kind="score", threshold=self.threshold,
                output_only=self.reads_output_only, fingerprint=self.fingerprint,
            ),
        )  # fmt: skip

    @override
    def unusable(self, cases: Sequence[Case]) -> str | None:
        return no_references(self.inputs, cases)


class F1ScoreSpec(TextOverlapSpec):
    """F1 of the words of answer and reference."""

    aliases: ClassVar[tuple[str, ...]] = ("f1",)

    kind: Literal["f1_score"] = "f1_score"

    @override
    def build(self, context: EvaluatorContext) -> WordF1:
        return WordF1(
            metric=self.metrics()[0],
            rule=WordRule(exact_peer=self.compat == "azure"),
            inputs=parse_inputs(self.inputs, self.input_names, context.readers),
        )


class PartialMatchSpec(TextOverlapSpec):
    """The same with a choice about letter case."""

    kind: Literal["partial_match"] = "partial_match"
    case_sensitive: bool = Field(default=False, description="true: Yes and yes are two words.")

    @override
    def build(self, context: EvaluatorContext) -> WordF1:
        return WordF1(
            metric=self.metrics()[0],
            rule=WordRule(keeps_case=self.case_sensitive, exact_peer=self.compat == "azure"),
            inputs=parse_inputs(self.inputs, self.input_names, context.readers),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRule:
    """What counts as the same word."""

    keeps_case: bool = False
    exact_peer: bool = False
    """Leave out our two deviations: texts without a word (T1) and composed characters (T5)."""

    def words(self, text: str) -> list[str]:
        """Take a text apart: no ASCII punctuation, no articles, split at white space."""
        bare = self._cased(text).translate(NO_PUNCTUATION)
        return ARTICLES.sub(" ", bare).split()

    def overlap(self, response: str, reference: str) -> Overlap:
        """Compare two texts word by word, as multisets."""
        said, wanted = self.words(response), self.words(reference)
        shared = (Counter(said) & Counter(wanted)).total()
        both_empty = not said and not wanted and not self.exact_peer
        return Overlap(
            shared=shared,
            said=len(said),
            wanted=len(wanted),
            equal_without_words=both_empty and self._cased(response).split() == self._cased(reference).split(),
        )

    def _cased(self, text: str) -> str:
        composed = text if self.exact_peer else unicodedata.normalize("NFC", text)
        return composed if self.keeps_case else composed.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Words of an answer and of a reference."""

    shared: int
    said: int
    """Words of the answer."""
    wanted: int
    """Words of the reference."""
    equal_without_words: bool
    """Neither text has a word, and they are the same."""

    @property
    def f1(self) -> float:
        """2PR / (P + R) with P = shared / said, R = shared / wanted; 0 when nothing is shared."""
        if self.equal_without_words:
            return 1.0
        if not self.shared:
            return 0.0
        precision, recall = self.shared / self.said, self.shared / self.wanted
        return 2 * precision * recall / (precision + recall)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordF1(OneMetric):
    """Scores the words of one answer."""

    rule: WordRule
    inputs: Inputs

    @override
    def score(self, case: Case, sample: Sample) -> Score:
        """Score against every reference and keep the best."""
        references = self.inputs.references(case, sample)
        response = self.inputs.response_text(case, sample)
        overlaps = [self.rule.overlap(response, reference) for reference in references]
        best = max(range(len(overlaps)), key=lambda at: overlaps[at].f1)
        found = overlaps[best]
        details = {"shared_words": found.shared, "response_words": found.said, "reference_words": found.wanted}
        if len(references) > 1:
            details |= {"references": len(references), "best_reference": best + 1}
        return scored(self.metric, found.f1, _reason(response, references, best, found), details)


def _reason(response: str, references: Sequence[str], best: int, found: Overlap) -> str:
    which = which_reference(best, of=len(references))
    if not response.strip():
        words = f"the agent returned an empty answer{', as the reference is' if found.equal_without_words else ''}"
    elif found.equal_without_words:
        words = f"the answer equals {which}; neither has a word"
    else:
        words = (
            f"F1 {number(found.f1)}: {found.shared} of {counted(found.said, 'word')} of the answer in common with {which}, "
            f"which has {found.wanted}"
        )
    return f"{words}. {UNSPACED_NOTE}" if _is_unspaced(references[best]) else words


UNSPACED_NOTE = "Most of the reference is written without spaces between words, and this metric takes each run as one word"


def _is_unspaced(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    return 2 * len(UNSPACED.findall(text)) > letters

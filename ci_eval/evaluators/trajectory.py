"""task_navigation_efficiency: did the agent make the calls it should, and in the right order?

In: the agent's calls and the expected actions of a case. Out: a 0/1 score by the matching mode, and precision, recall and F1.
Asks no model and judges no result of a call. Rules: the evaluators page, task_navigation_efficiency.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from ci_eval.domain.case import Case, ExpectedAction
from ci_eval.domain.message import ToolCall
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score, scored
from ci_eval.domain.template import parse_template
from ci_eval.evaluators.alignment import Alignment, align, satisfies
from ci_eval.evaluators.base import EvaluatorContext, ZeroOneSpec
from ci_eval.evaluators.inputs import Inputs, Unscorable, missing_everywhere, parse_inputs
from ci_eval.evaluators.wording import counted, listed, quoted, shortened

MatchingMode = Literal["exact_match", "in_order_match", "any_order_match"]


class TaskNavigationEfficiencySpec(ZeroOneSpec):
    """Compares the calls the agent made with those it should make."""

    input_names: ClassVar[Mapping[str, str]] = {
        "actions": "actions", "response": "actions", "expected_actions": "expected_actions", "ground_truth": "expected_actions",
    }  # fmt: skip

    kind: Literal["task_navigation_efficiency"] = "task_navigation_efficiency"
    matching_mode: MatchingMode = Field(
        default="exact_match",
        description="exact_match: the same calls one by one; in_order_match: these calls in this order, others between them are "
        "allowed; any_order_match: these calls, the order is free.",
    )
    arguments: Literal["compare", "ignore"] = Field(
        default="compare", description="ignore: only names count, whatever the expectation gives."
    )
    precision_threshold: float | None = Field(default=None, ge=0, le=1, description="Makes precision pass or fail.")
    recall_threshold: float | None = Field(default=None, ge=0, le=1, description="Makes recall pass or fail.")
    f1_threshold: float | None = Field(default=None, ge=0, le=1, description="Makes F1 pass or fail.")

    @override
    def metrics(self) -> tuple[Metric, ...]:
        main = Metric(
            name=self.metric_name, evaluator=self.kind, kind="binary", threshold=1.0,
            output_only=self.reads_output_only, fingerprint=self.fingerprint,
        )  # fmt: skip
        shares = {"precision": self.precision_threshold, "recall": self.recall_threshold, "f1": self.f1_threshold}
        return (
            main,
            *(
                Metric(
                    name=f"{self.metric_name}.{share}", evaluator=self.kind, kind="score", threshold=threshold,
                    output_only=self.reads_output_only, fingerprint=self.fingerprint, group="trajectory",
                )
                for share, threshold in shares.items()
            ),
        )  # fmt: skip

    @override
    def build(self, context: EvaluatorContext) -> TaskNavigationEfficiency:
        return TaskNavigationEfficiency(
            metrics=self.metrics(),
            matching_mode=self.matching_mode,
            names_only=self.arguments == "ignore",
            inputs=parse_inputs(self.inputs, self.input_names, context.readers),
        )

    @override
    def unusable(self, cases: Sequence[Case]) -> str | None:
        written = self.inputs.get("expected_actions") or self.inputs.get("ground_truth")
        template = parse_template(written) if written else None
        found = missing_everywhere("expected_actions", template, cases, lambda case: case.expected_actions)
        if found and template is None and any(case.ground_truths for case in cases):
            found += '; if ground_truth holds the calls, write `inputs: {expected_actions: "{{item.ground_truth}}"}`'
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNavigationEfficiency:
    """Scores the steps of one sample."""

    metrics: tuple[Metric, ...]
    matching_mode: MatchingMode
    names_only: bool
    inputs: Inputs

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        """Score the mode, then precision, recall and F1."""
        try:
            expected = self.inputs.expected_actions(case, sample)
            steps = self.inputs.steps(case, sample)
            return self._scores(steps, expected)
        except Unscorable as why:
            return why.scores(self.metrics)
        except RecursionError:
            return Unscorable("error", "arguments are nested too deeply to be compared", code="too_deep").scores(self.metrics)

    def _scores(self, steps: Sequence[ToolCall], expected: Sequence[ExpectedAction]) -> tuple[Score, ...]:
        found = align(steps, expected, names_only=self.names_only)
        passed = _passes(found, self.matching_mode)
        words = _Words(steps=steps, expected=expected, found=found, names_only=self.names_only)
        main, precision, recall, f1 = self.metrics
        return (
            scored(main, float(passed), words.verdict(self.matching_mode, passed=passed), self._details(words)),
            scored(precision, found.precision, words.precision()),
            scored(recall, found.recall, words.recall()),
            scored(f1, found.f1, words.f1()),
        )

    def _details(self, words: _Words) -> Mapping[str, object]:
        """Counts and names; `pairs` are list places from 0, `first_break` is for people and counts from 1."""
        found = words.found
        breaks_at = _break(found, self.matching_mode)
        return {
            "matching_mode": self.matching_mode,
            "steps": found.steps,
            "expected": found.expected,
            "matched": found.matched,
            "missing": [words.expected[place].name.strip() for place in found.missing],
            "extra": [words.steps[place].name.strip() for place in found.extra],
            "pairs": [list(pair) for pair in found.pairs],
            "first_break": None if breaks_at is None else breaks_at + 1,
            "precision_score": found.precision,
            "recall_score": found.recall,
            "f1_score": found.f1,
        }


def _passes(found: Alignment, mode: MatchingMode) -> bool:
    if not found.expected:
        return not found.steps  # "call nothing" would mean nothing if extra calls were allowed
    if mode == "any_order_match":
        return not found.missing
    return _break(found, mode) is None


def _break(found: Alignment, mode: MatchingMode) -> int | None:
    """Place, from 0, where the mode's order breaks."""
    match mode:
        case "exact_match":
            return found.first_difference
        case "in_order_match":
            return found.first_out_of_order
        case "any_order_match":
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The alignment, told to a reader."""

    steps: Sequence[ToolCall]
    expected: Sequence[ExpectedAction]
    found: Alignment
    names_only: bool

    def verdict(self, mode: MatchingMode, *, passed: bool) -> str:
        """Say in a sentence why the mode passes or fails."""
        found = self.found
        if not found.expected:
            return self.recall()
        parts = [f"{found.matched} of {counted(found.expected, 'expected call')} made"]
        if found.missing:
            parts.append(f"missing: {listed(self._missing())}")
        if found.extra:
            parts.append(f"not expected: {listed(self.steps[place].name for place in found.extra)}")
        breaks_at = _break(found, mode)
        told_already = mode == "in_order_match" and breaks_at in found.missing
        if breaks_at is not None and not passed and not told_already:
            parts.append(self._where(mode, breaks_at))
        return "; ".join(parts)

    def precision(self) -> str:
        """Say how many of the calls were expected."""
        found = self.found
        if not found.expected:
            return self.recall()
        if not found.steps:
            return "no call made"
        extra = f"; not expected: {listed(self.steps[place].name for place in found.extra)}" if found.extra else ""
        return f"{found.matched} of {counted(found.steps, 'call')} expected{extra}"

    def recall(self) -> str:
        """Say how many of the expected calls were made."""
        found = self.found
        if not found.expected:
            calls = listed(step.name for step in self.steps)
            return (
                f"no call was expected, {counted(found.steps, 'call')} made: {calls}" if calls else "no call expected, none made"
            )
        missing = f"; missing: {listed(self._missing())}" if found.missing else ""
        return f"{found.matched} of {counted(found.expected, 'expected call')} made{missing}"

    def f1(self) -> str:
        """Say both."""
        return f"{self.recall()}; {self.precision()}" if self.found.expected else self.recall()

    def _missing(self) -> list[str]:
        """Names of the calls that were not made; of those made with other arguments, what differs."""
        unexpected = [self.steps[place] for place in self.found.extra]
        told: list[str] = []
        for place in self.found.missing:
            action = self.expected[place]
            rival = next((step for step in unexpected if step.name.strip() == action.name.strip()), None)
            if rival is None or self.names_only:
                told.append(action.name)
            else:
                unexpected.remove(rival)
                told.append(f"{shortened(action.name)} (called with {_difference(rival, action)})")
        return told

    def _where(self, mode: MatchingMode, place: int) -> str:
        wanted = shortened(self.expected[place].name) if place < len(self.expected) else None
        if mode == "in_order_match":
            return f"the order breaks at expected call {place + 1} ({wanted}), which does not follow the ones before it"
        made = shortened(self.steps[place].name) if place < len(self.steps) else None
        if wanted is None:
            return f"differs at call {place + 1}: {made} where the end was expected"
        if made is None:
            return f"differs at call {place + 1}: the agent stopped where {wanted} was expected"
        if made == wanted:
            return f"differs at call {place + 1}: {made} with other arguments"
        return f"differs at call {place + 1}: {made} where {wanted} was expected"


def _difference(step: ToolCall, action: ExpectedAction) -> str:
    """Tell the first argument that is not as expected."""
    if step.arguments_error is not None or not isinstance(step.arguments, Mapping):
        return "arguments that are no JSON object"
    wanted = action.arguments or {}
    for name, value in wanted.items():
        if name not in step.arguments:
            return f"no {shortened(name, 40)}"
        given = step.arguments[name]
        alone = ExpectedAction(name="", arguments={name: value}, match="exact", text_values=action.text_values)
        if not satisfies(ToolCall(name="", arguments={name: given}), alone):
            return f"{shortened(name, 40)} = {quoted(given, 40)} instead of {quoted(value, 40)}"
    surplus = [shortened(name, 40) for name in step.arguments if name not in wanted]
    return f"arguments nobody expected: {listed(surplus)}" if surplus else "other arguments"

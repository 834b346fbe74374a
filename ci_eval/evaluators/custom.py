"""python: the user's own function is an evaluator.

In: `package.module:name`, called with what is known of a case and its sample, by argument name. Out: what it returned, as scores.
Decides pass and fail by the declared threshold; imports nothing of the user's itself. Rules: the evaluators page, Custom evaluators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

from pydantic import Field, field_validator, model_validator
from typing_extensions import override

from ci_eval.domain.canonical import json_equal
from ci_eval.domain.case import Case, ExpectedAction
from ci_eval.domain.functions import FunctionFailure, RemoteFunction
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score, errored, scored
from ci_eval.domain.views import case_view, sample_view
from ci_eval.evaluators.base import METRIC_NAME, EvaluatorContext, EvaluatorSpec
from ci_eval.evaluators.declared import Declared, DeclaredPart, number_within
from ci_eval.evaluators.inputs import Inputs, Unscorable, parse_inputs
from ci_eval.evaluators.wording import listed, quoted

Member = TypeVar("Member", str, bool, dict[str, object])

FUNCTION = r"^[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*$"
"""`package.module:name`."""
KNOWN_KEYS = frozenset({"score", "result", "reason", "passed", "label", "details", "error"})


class PythonSpec(EvaluatorSpec, Declared):
    """Names a function and declares what its numbers mean."""

    input_names: ClassVar[Mapping[str, str] | None] = None

    kind: Literal["python"] = "python"
    function: str = Field(pattern=FUNCTION, description="package.module:name, imported from the workspace.")
    parts: dict[str, DeclaredPart] = Field(
        default_factory=dict, alias="metrics", description="For a function that returns several numbers: each with its settings."
    )

    @property
    @override
    def metric_name(self) -> str:
        return self.name or re.split(r"[.:]", self.function)[-1]

    @override
    def metrics(self) -> tuple[Metric, ...]:
        if not self.parts:
            return (self.declared_metric(name=self.metric_name, evaluator=self.kind, fingerprint=self.fingerprint),)
        return tuple(
            part.declared_metric(name=f"{self.metric_name}.{name}", evaluator=self.kind, fingerprint=self.fingerprint)
            for name, part in self.parts.items()
        )

    @override
    def build(self, context: EvaluatorContext) -> OwnFunction:
        return OwnFunction(
            metrics=self.metrics(),
            parts=tuple(self.parts),
            written=self.function,
            function=context.open_function(self.function),
            inputs=parse_inputs(self.inputs, {}, context.readers),
        )

    @field_validator("parts")
    @classmethod
    def _have_names(cls, parts: dict[str, DeclaredPart]) -> dict[str, DeclaredPart]:
        for name in parts:
            if not re.match(METRIC_NAME, name):
                raise ValueError(f"{name!r} cannot name a metric; letters, digits and _ are expected, a letter first")
        return parts

    @model_validator(mode="after")
    def _is_declared_once(self) -> PythonSpec:
        if not re.match(METRIC_NAME, self.metric_name):
            raise ValueError(f"name: {self.metric_name!r}, the function's name, cannot name a metric; write name:")
        both = [key for key in Declared.model_fields if self.parts and getattr(self, key) is not None]
        if both:
            raise ValueError(f"{listed(both)}: stands beside metrics; write it for each of them")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFunction:
    """Asks the function about one sample."""

    metrics: tuple[Metric, ...]
    parts: tuple[str, ...]
    """Keys of the returned dict, one a metric; empty for a function with one number."""
    written: str
    """The function, as configured."""
    function: RemoteFunction
    inputs: Inputs

    async def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        """Call the function and take what it says."""
        try:
            arguments = self._arguments(case, sample)
            reply = await self.function.call({name: value for name, value in arguments.items() if value is not None})
        except Unscorable as why:
            return why.scores(self.metrics)
        except FunctionFailure as failure:
            if failure.wanted and all(name in arguments for name in failure.wanted):
                return Unscorable("skipped", f"no {' and no '.join(failure.wanted)}").scores(self.metrics)
            return Unscorable("error", f"{self.written}: {failure.message}", code=failure.code).scores(self.metrics)
        if not self.parts:
            return (self._score(self.metrics[0], reply),)
        return self._scores_of_parts(reply)

    async def close(self) -> None:
        """End the function's process."""
        await self.function.close()

    def _arguments(self, case: Case, sample: Sample) -> dict[str, object]:
        """Everything a function may ask for by name; None is what this case or sample does not have.

        Only the rest is handed over, so that a default in the function's own signature applies.
        """
        item, answered = case_view(case), sample_view(sample, case=case)
        by_role = {
            "case_id": case.id,
            "query": case.query,
            "prompt": case.query,
            "response": sample.output_text,
            "ground_truth": _one_or_all(case.ground_truths),
            "expected_response": _one_or_all(case.ground_truths),
            "context": case.roles.get("context"),
            "messages": answered.get("messages"),
            "tool_calls": answered.get("tool_calls"),
            "actions": answered.get("actions"),
            "tool_definitions": answered.get("tool_definitions"),
            "expected_actions": case.roles.get("expected_actions", _as_json(case.expected_actions)),
        }
        mapped = {name: self.inputs.value(name, case, sample) for name in self.inputs.templates}
        whole = {"output_tools": answered.get("tool_calls"), **answered}
        return {**item, **by_role, **mapped, "sample": whole, "item": {**item, "sample": whole}}

    def _scores_of_parts(self, reply: object) -> tuple[Score, ...]:
        if not isinstance(reply, Mapping):
            problem = f"{self.written} returned {quoted(reply)}; a dict with {listed(self.parts)} was expected"
            return tuple(errored(metric, "bad_reply", problem) for metric in self.metrics)
        if reply.get("error") is not None:
            return tuple(errored(metric, "function_error", str(reply["error"])) for metric in self.metrics)
        shared = reply.get("reason")
        scores = []
        for metric, key in zip(self.metrics, self.parts, strict=True):
            if key not in reply:
                problem = f"{self.written} returned no {key}; found: {listed(map(str, reply)) or 'an empty dict'}"
                scores.append(errored(metric, "bad_reply", problem))
                continue
            value = reply[key]
            told = {"score": value, "reason": shared} if isinstance(shared, str) and not isinstance(value, Mapping) else value
            scores.append(self._score(metric, told))
        return tuple(scores)

    def _score(self, metric: Metric, reply: object) -> Score:
        try:
            return _read_reply(metric, reply, self.written)
        except Unscorable as why:
            return why.scores((metric,))[0]


def _read_reply(metric: Metric, reply: object, written: str) -> Score:
    """Read a number, a boolean, or a dict that holds one."""
    if not isinstance(reply, Mapping):
        found = number_within(metric, reply, f"what {written} returned")
        return scored(metric, found, f"{written} returned {quoted(reply)}")
    if reply.get("error") is not None:
        return errored(metric, "function_error", str(reply["error"]))
    value = _value_in(reply, written)
    found = number_within(metric, value, f"what {written} returned")
    reason = _member(reply, "reason", str, written) or f"{written} returned {quoted(value)}"
    details = dict(_member(reply, "details", dict, written) or {})
    other = {key: reply[key] for key in reply if key not in KNOWN_KEYS}
    score = scored(metric, found, reason, details | ({"other": other} if other else {}))
    passed = _member(reply, "passed", bool, written)
    if passed is not None:
        score = replace(score, passed=passed, label="pass" if passed else "fail")
    label = _member(reply, "label", str, written)
    return score if label is None else replace(score, label=label)


def _value_in(reply: Mapping[str, object], written: str) -> object:
    given = [key for key in ("score", "result") if key in reply]
    if not given:
        found = listed(map(str, reply)) or "nothing"
        raise Unscorable(
            "error", f"{written} returned a dict with {found}; score or result was expected, or declare metrics", code="bad_reply"
        )
    if len(given) == 2 and not json_equal(reply["score"], reply["result"]):
        both = f"score {quoted(reply['score'])} and result {quoted(reply['result'])}"
        raise Unscorable("error", f"{written} returned {both}, which differ", code="bad_reply")
    return reply[given[0]]


def _member(reply: Mapping[str, object], key: str, kind: type[Member], written: str) -> Member | None:
    value = reply.get(key)
    if value is None or isinstance(value, kind):
        return value
    wanted = {str: "a text", bool: "true or false", dict: "an object"}[kind]
    raise Unscorable("error", f"{key} of what {written} returned is {quoted(value)}; {wanted} was expected", code="bad_reply")


def _one_or_all(references: tuple[str, ...] | None) -> object:
    if not references:
        return None
    return references[0] if len(references) == 1 else list(references)


def _as_json(actions: tuple[ExpectedAction, ...] | None) -> object:
    if actions is None:
        return None
    return [
        {"name": action.name} if action.arguments is None else {"name": action.name, "arguments": dict(action.arguments)}
        for action in actions
    ]

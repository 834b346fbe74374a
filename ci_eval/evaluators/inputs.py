"""How an evaluator's inputs are found: by the configuration's templates, else by role.

In: a case, a sample, the templates of one evaluator. Out: the input in the form the evaluator wants, or Unscorable.
Source of the order: the formats page, sections 3.2 to 3.5. Never takes one input for another in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeVar

from ci_eval.domain.canonical import canonical_json, is_list_of_objects
from ci_eval.domain.case import Case, ExpectedAction
from ci_eval.domain.json_text import JsonError, parse_json
from ci_eval.domain.message import Conversation, ToolCall, final_text
from ci_eval.domain.readers import Readers, Unreadable
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Metric, Score, errored, skipped
from ci_eval.domain.template import MISSING, Template, parse_template
from ci_eval.domain.views import case_view, sample_view
from ci_eval.evaluators.wording import quoted

Read = TypeVar("Read")

ANSWER_AND_REFERENCE: Mapping[str, str] = {
    "response": "response", "ground_truth": "ground_truth", "expected_response": "ground_truth",
}  # fmt: skip
"""Accepted keys of `inputs` -> inputs, for an evaluator that holds an answer against references."""
EMPTY_LIST_IS_A_VALUE = frozenset({"actions", "expected_actions", "response"})
"""Inputs for which `[]` says "nothing was done"; elsewhere it says that there is no value (the formats page, 1.3)."""


class Unscorable(Exception):
    """Why a case has no score: an input is not there (skipped), or cannot be read (error)."""

    def __init__(self, status: Literal["skipped", "error"], reason: str, *, code: str = "bad_input") -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.code = code

    def scores(self, metrics: Sequence[Metric]) -> tuple[Score, ...]:
        """Say the same for every metric of the evaluator."""
        if self.status == "skipped":
            return tuple(skipped(metric, self.reason) for metric in metrics)
        return tuple(errored(metric, self.code, self.reason) for metric in metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMetric:
    """An evaluator with a single metric: `score` says the number, or raises Unscorable."""

    metric: Metric

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (self.metric,)

    def evaluate(self, case: Case, sample: Sample) -> tuple[Score, ...]:
        """Return the one score."""
        try:
            return (self.score(case, sample),)
        except Unscorable as why:
            return why.scores(self.metrics)

    def score(self, case: Case, sample: Sample) -> Score:
        """Score one sample."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of one evaluator."""

    templates: Mapping[str, Template]
    """By input name; inputs without a template are found by role."""
    readers: Readers

    def response_text(self, case: Case, sample: Sample) -> str:
        """Return the answer as text: the last assistant text where it is a list of messages; "" for an answer without words."""
        if "response" in self.templates:
            return self._text("response", self._filled("response", case, sample))
        if sample.output_text is not None:
            return sample.output_text
        if case.roles.get("response") is not None:
            return self._text("response", case.roles["response"])
        raise Unscorable("skipped", "no response")

    def references(self, case: Case, sample: Sample) -> tuple[str, ...]:
        """Return the reference answers, any of which is right; at least one."""
        if "ground_truth" not in self.templates:
            if not case.ground_truths:
                raise Unscorable("skipped", "no ground_truth")
            return case.ground_truths
        value = self._filled("ground_truth", case, sample)
        if isinstance(value, list) and value and not is_list_of_objects(value):
            return tuple(self._text("ground_truth", member) for member in value)
        return (self._text("ground_truth", value),)

    def steps(self, case: Case, sample: Sample) -> tuple[ToolCall, ...]:
        """Return the calls the agent made, maybe none."""
        if "actions" in self.templates:
            return _read("actions", self.readers.actions, self._filled("actions", case, sample))
        if sample.tool_calls is None:
            raise Unscorable("skipped", "no actions: only the text of the answer is known, not the steps that led to it")
        return sample.tool_calls

    def expected_actions(self, case: Case, sample: Sample) -> tuple[ExpectedAction, ...]:
        """Return the calls the agent should make; none is an expectation too."""
        if "expected_actions" in self.templates:
            return _read("expected_actions", self.readers.expected_actions, self._filled("expected_actions", case, sample))
        if case.expected_actions is None:
            raise Unscorable("skipped", "no expected_actions")
        return case.expected_actions

    def names_own_response(self) -> bool:
        """True when the response is the sample's own messages, whether a template says so or none does.

        Written out for a template they lose what only the source knew: the status of a call, and who has to run it.
        """
        template = self.templates.get("response")
        return template is None or (template.paths == ("sample.output_items",) and len(template.pieces) == 1)

    def conversation(self, name: str, case: Case, sample: Sample) -> Conversation | str:
        """Return the messages that a template leads to, or the text it leads to."""
        value = self._filled(name, case, sample)
        if isinstance(value, str) and _messages_in(value) is None:
            return value
        return _read(name, self.readers.conversation, value)

    def value(self, name: str, case: Case, sample: Sample) -> object:
        """Return what a template leads to, with its type."""
        return self._filled(name, case, sample)

    def text(self, name: str, case: Case, sample: Sample) -> str:
        """Return the text that a grader's template makes; a number or boolean as its JSON text, a list or object too."""
        value = self._filled(name, case, sample)
        return value if isinstance(value, str) else _json_text(name, value)

    def texts(self, name: str, case: Case, sample: Sample) -> tuple[str, ...]:
        """Return the same, or each member where the template names a list of texts."""
        value = self._filled(name, case, sample)
        if isinstance(value, list) and all(isinstance(member, str) for member in value):
            return tuple(value)
        return (value if isinstance(value, str) else _json_text(name, value),)

    def _filled(self, name: str, case: Case, sample: Sample) -> object:
        template = self.templates[name]
        value = template.fill(item=case_view(case), sample=sample_view(sample, case=case))
        if value is MISSING or (value == [] and name not in EMPTY_LIST_IS_A_VALUE):
            raise Unscorable("skipped", f"no {template.paths[0]}")
        return value

    def _text(self, name: str, value: object) -> str:
        messages = _messages_in(value) if isinstance(value, str) else value
        if isinstance(messages, list):
            return final_text(_read(name, self.readers.conversation, messages).messages) or ""
        return _as_text(name, value)


def parse_inputs(written: Mapping[str, str], names: Mapping[str, str], readers: Readers) -> Inputs:
    """Parse the templates of a configuration once; `names` says which input each key means."""
    return Inputs(templates={names.get(name, name): parse_template(text) for name, text in written.items()}, readers=readers)


def missing_everywhere(
    role: str, template: Template | None, cases: Sequence[Case], by_role: Callable[[Case], object]
) -> str | None:
    """Say that no case has an input; None when one has it, or when only a sample can tell."""
    if template is not None:
        return leads_nowhere(template, cases)
    if any(by_role(case) is not None for case in cases):
        return None
    near = get_close_matches(role, sorted({column for case in cases for column in case.fields}), n=1, cutoff=0.8)
    return f"no case of the dataset has {role}{f' (is the column {near[0]} meant?)' if near else ''}"


def no_references(written: Mapping[str, str], cases: Sequence[Case]) -> str | None:
    """Say that no case has a reference answer, by the configured template or by role; None when one has it."""
    given = written.get("ground_truth") or written.get("expected_response")
    template = parse_template(given) if given else None
    return missing_everywhere("ground_truth", template, cases, lambda case: case.ground_truths)


def leads_nowhere(template: Template, cases: Sequence[Case]) -> str | None:
    """Say that a template finds nothing in any case, with near names; None when it does, or when only a sample can tell."""
    if not template.paths or not all(path.startswith("item.") for path in template.paths):
        return None
    if any(template.fill(item=case_view(case), sample={}) is not MISSING for case in cases):
        return None
    columns = sorted({column for case in cases for column in case_view(case)})
    near = get_close_matches(template.paths[0].removeprefix("item."), columns, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"columns of the dataset: {', '.join(columns) or 'none'}"
    return f"{template.written} leads nowhere in every case; {hint}"


def _messages_in(text: str) -> list[object] | None:
    """Decode the JSON text of a list of messages; None for any other text, also one that merely begins with a bracket."""
    if not text.lstrip().startswith("["):
        return None
    try:
        value = parse_json(text)
    except JsonError:
        return None
    if isinstance(value, list) and value and all(isinstance(one, dict) and "role" in one for one in value):
        return value
    return None


def _as_text(name: str, value: object) -> str:
    """Take a text, a number or a boolean as text; anything else is no answer that could be compared."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return _json_text(name, value)
    raise Unscorable("error", f"{name}: a text was expected, found {quoted(value)}", code="wrong_type")


def _json_text(name: str, value: object) -> str:
    try:
        return canonical_json(value)
    except ValueError as wrong:  # NaN and infinities
        raise Unscorable("error", f"{name}: {quoted(value)} holds a number that JSON does not know", code="wrong_type") from wrong


def _read(name: str, reader: Callable[[object], Read], value: object) -> Read:
    try:
        return reader(value)
    except Unreadable as wrong:
        raise Unscorable("error", f"{wrong.within(name).path}: {wrong.message}", code=wrong.code) from wrong

"""tool_call_success: did every call run, technically?

In: the calls of a response and their results. Out: 0 when a call is marked as failed; skipped where only a judge can tell.
Does not ask whether it was the right call, and reads of a result no more than its `error` field: a text that starts with "Error"
decides nothing here.
Rules: the evaluators page, tool_call_success, steps 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.json_text import JsonError, parse_json
from ci_eval.domain.message import Message, ToolCall, ToolResult, calls_in
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import Score, scored, skipped
from ci_eval.evaluators.base import EvaluatorContext, ZeroOneSpec
from ci_eval.evaluators.inputs import Inputs, OneMetric, Unscorable, parse_inputs
from ci_eval.evaluators.wording import counted, listed, shortened

HOSTED_TOOLS = frozenset({
    "bing_grounding", "bing_custom_search", "browser_automation", "code_interpreter_call", "computer_call", "openapi_call",
    "web_search",
})  # fmt: skip
"""Tools of the host whose results Foundry's traces leave out (the evaluators page, Hosted tools)."""

FAILED_STATUSES = frozenset({"failed", "incomplete"})


class ToolCallSuccessSpec(ZeroOneSpec):
    """Looks for calls that the source marks as failed."""

    input_names: ClassVar[Mapping[str, str]] = {"response": "response", "tool_definitions": "tool_definitions"}

    kind: Literal["tool_call_success"] = "tool_call_success"
    unsupported_tools: Literal["skip", "judge"] = Field(
        default="skip", description="judge: look at calls of hosted tools too, for agents whose own tools have such a name."
    )

    @property
    @override
    def reads_output_only(self) -> bool:
        return False  # results and statuses are no part of the output's digest

    @override
    def build(self, context: EvaluatorContext) -> ToolCallSuccess:
        return ToolCallSuccess(
            metric=self.metrics()[0],
            looks_at_hosted=self.unsupported_tools == "judge",
            inputs=parse_inputs(self.inputs, self.input_names, context.readers),
        )

    @override
    def advice(self) -> tuple[str, ...]:
        return ("without a judge only responses with a call marked as failed are scored (0); all others are skipped",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallSuccess(OneMetric):
    """Scores the calls of one sample."""

    looks_at_hosted: bool
    inputs: Inputs

    @override
    def score(self, case: Case, sample: Sample) -> Score:
        """Score by what is marked; leave the rest to a judge."""
        return self._score(self._response(case, sample))

    def _response(self, case: Case, sample: Sample) -> _Response:
        if not self.inputs.names_own_response():
            given = self.inputs.conversation("response", case, sample)
            if isinstance(given, str):
                return _Response(calls=(), results=(), awaits_caller=False)
            return _Response(
                calls=calls_in(given.messages), results=_results_in(given.messages), awaits_caller=given.awaits_caller
            )
        if sample.output_text is None and sample.tool_calls is None and not sample.response:
            raise Unscorable("skipped", "no response")
        return _Response(
            calls=calls_in(sample.response) or sample.tool_calls or (),
            results=_results_in(sample.response),
            awaits_caller=sample.awaits_caller,
        )

    def _score(self, response: _Response) -> Score:
        if response.awaits_caller:
            return skipped(self.metric, "not applicable: the response is not final")
        if response.hosted and not self.looks_at_hosted:
            reason = (
                f"not applicable: the response contains calls to {listed(response.hosted)}, whose results are not in the trace"
            )
            return skipped(self.metric, reason)
        if not response.calls:
            return skipped(self.metric, "not applicable: the response contains no tool calls")
        failed = tuple(dict.fromkeys((*_failed_calls(response.calls), *_failed_results(response.results))))
        if failed:
            details = {"decided_by": "rule", "failed_tools": ",".join(failed)}
            reason = f"{counted(len(failed), 'tool')} marked as failed: {listed(failed)}"
            return scored(self.metric, 0.0, reason, details)
        made = counted(len(response.calls), "call")
        reason = f"{made} made and none is marked as failed; whether the results are good needs a judge, which is not configured"
        return skipped(self.metric, reason, {"decided_by": "needs_judge"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Response:
    """The part of a response this evaluator looks at."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    awaits_caller: bool

    @property
    def hosted(self) -> tuple[str, ...]:
        """Names of hosted tools among the calls, each once."""
        kinds = ((call.name.strip(), call.source_type) for call in self.calls)
        return tuple(
            dict.fromkeys(
                name if name.lower() in HOSTED_TOOLS else kind
                for name, kind in kinds
                if name.lower() in HOSTED_TOOLS or kind.lower() in HOSTED_TOOLS
            )
        )


def _results_in(messages: Iterable[Message]) -> tuple[ToolResult, ...]:
    return tuple(part for message in messages for part in message.parts if isinstance(part, ToolResult))


def _failed_calls(calls: Iterable[ToolCall]) -> Iterable[str]:
    return (call.name.strip() for call in calls if call.status in FAILED_STATUSES)


def _failed_results(results: Iterable[ToolResult]) -> Iterable[str]:
    return (
        shortened(result.name or result.id or "unknown tool")
        for result in results
        if result.status in FAILED_STATUSES or result.is_error or (result.is_error is None and _holds_error(result.output))
    )


def _holds_error(output: object) -> bool:
    """True for an object, or the JSON text of one, with an `error` that says something."""
    if isinstance(output, str):
        if not output.lstrip().startswith("{"):
            return False
        try:
            output = parse_json(output)
        except JsonError:
            return False
    return isinstance(output, Mapping) and bool(output.get("error"))

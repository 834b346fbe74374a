"""A sample: what a target answered for one case in one trial. Frozen, pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ci_eval.domain.canonical import digest
from ci_eval.domain.message import Message, ToolCall
from ci_eval.domain.notice import Notice

SampleStatus: TypeAlias = Literal["ok", "error", "skipped", "not_run"]

INFRASTRUCTURE_CODES = frozenset({"rate_limited", "http_5xx", "connection", "timeout_runner", "sandbox"})
"""Failures that say nothing about the agent; codes that start with `judge_` belong here too. Every other code is the agent's."""
NOT_RECORDED = "not_recorded"
"""The code where the recorded outputs of an arm hold no answer to a case: its status is `not_run`, and nobody failed."""


def is_infrastructure(code: str) -> bool:
    """True for the code of a failure that counts against nobody."""
    return code in INFRASTRUCTURE_CODES or code.startswith("judge_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no result."""

    stage: Literal["target", "evaluator"]
    code: str
    """Stable name: `timeout`, `exit_code`, `exception`, `bad_reply`, `rate_limited`, …"""
    message: str

    @property
    def is_infrastructure(self) -> bool:
        """True when the failure counts against nobody."""
        return is_infrastructure(self.code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens; None where the source does not tell, never 0 for unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    total_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One answer with the steps that led to it."""

    status: SampleStatus = "ok"
    failure: Failure | None = None
    """Always set when status is `error`, never when it is `ok`."""
    output_text: str | None = None
    """The final answer; "" when the agent answered without a word, None when nobody recorded an answer."""
    messages: tuple[Message, ...] = ()
    """The whole conversation, query and response together; empty when only text is known."""
    response_start: int = 0
    """Index into `messages` of the first message the agent produced."""
    tool_calls: tuple[ToolCall, ...] | None = None
    """The trajectory; `()` means the agent made no call, None that nobody knows."""
    awaits_caller: bool = False
    """The response is not final: the agent waits for its caller to run a function or to approve."""
    fields: Mapping[str, object] = field(default_factory=dict)
    """Everything else the target gave (`reward`, …): what `{{sample.x}}` and the field evaluator read."""
    usage: Usage | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def response(self) -> tuple[Message, ...]:
        """The messages that the agent produced."""
        return self.messages[self.response_start :]

    def output_digest(self) -> str:
        """Digest of what evaluators see of the output: final text and trajectory."""
        calls = None if self.tool_calls is None else [[call.name, call.arguments] for call in self.tool_calls]
        return digest([self.status, self.output_text, calls])

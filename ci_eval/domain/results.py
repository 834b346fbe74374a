"""All results of one arm: a header and one record per case and trial. Frozen, pure; `run/store.py` writes and reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ci_eval.domain.case import ExpectedAction, Source
from ci_eval.domain.message import ToolCall
from ci_eval.domain.notice import Notice
from ci_eval.domain.sample import Failure, SampleStatus, Usage
from ci_eval.domain.score import Metric, Score

SCHEMA_VERSION = "ci-eval/run/v1"
Arm: TypeAlias = Literal["baseline", "candidate"]
ARMS: Final[tuple[Arm, Arm]] = ("baseline", "candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSource:
    """Which state of the agent an arm is."""

    kind: Literal["commit", "directory", "outputs", "run"]
    description: str
    """For people: `4f2c1aa (merge base)`, `before.jsonl`."""
    commit: str | None = None
    """Full id of the commit that really ran, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What the records of a run file were made from."""

    arm: Arm
    source: ArmSource
    dataset: str
    """Path as configured."""
    dataset_digest: str
    """SHA-256 over the ids and fingerprints of its cases."""
    cases: int
    """Number of cases of the dataset; fewer in the file means that the run is incomplete."""
    trials: int
    metrics: tuple[Metric, ...]
    started: str
    """UTC, ISO 8601."""
    version: str
    """Of ci-eval."""
    config_digest: str = ""
    repeatable: bool = False
    """True when the agent can be asked again, so that a confirmation is possible; False for recorded outputs."""
    judge: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Python, platform: whatever helps to repeat the run. Never a secret."""
    notices: tuple[Notice, ...] = ()
    """What was odd about the dataset and the arm before anything ran."""
    schema_version: str = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One case in one trial: the sample in short, and its scores."""

    case_id: str
    trial: int
    fingerprint: str
    source: Source
    status: SampleStatus
    query: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    ground_truths: tuple[str, ...] | None = None
    expected_actions: tuple[ExpectedAction, ...] | None = None
    failure: Failure | None = None
    output_text: str | None = None
    output_digest: str = ""
    tool_calls: tuple[ToolCall, ...] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    latency_s: float | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)
    """By metric name."""
    notices: tuple[Notice, ...] = ()
    """What was odd about the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One arm, complete or not."""

    header: RunHeader
    records: tuple[CaseResult, ...]
    """In file order; the comparison sorts by id itself."""
    notices: tuple[Notice, ...] = ()

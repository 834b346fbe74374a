"""Case -> Reply: what every kind of target must do.

In: a case and a trial number. Out: a Reply, or a TargetFailure that says whether the agent or the infrastructure is at fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Reply


class TargetFailure(Exception):
    """The target gave no answer; becomes the sample's Failure."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Target(Protocol):
    """One arm's agent, ready to be asked."""

    async def answer(self, case: Case, trial: int) -> Reply:
        """Ask for one case; raise TargetFailure when there is no answer."""
        ...

    async def close(self) -> None:
        """Stop every process that was started."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The folder an arm runs in, and what it is."""

    path: Path
    description: str
    """For people: `4f2c1aa (merge base)`, `./agent-v2`."""
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetContext:
    """What a target is handed besides its own settings."""

    checkout: Checkout
    environ: dict[str, str]
    """The full environment of ci-eval; the target takes from it by allow list."""
    concurrency: int


class TargetSpec(BaseModel):
    """What a configuration may say about a target."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def open(self, context: TargetContext) -> Target:
        """Make the target ready; start nothing yet."""
        raise NotImplementedError

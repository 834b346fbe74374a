"""Case -> Reply: what every kind of target must do.

In: a case and a trial number. Out: a Reply, or a TargetFailure that says whether the agent or the infrastructure is at fault.

    code              what happened                                                   whose fault
    timeout           no answer within the agent's own limit                          agent
    exception         the function raised, also while its module was imported         agent
    exit_code         the command ended with another exit code than 0                 agent
    crashed           the process that ran the function ended in the middle           agent
    bad_reply         an answer that is no JSON, holds NaN, or is over 10 MB          agent
    not_found         the module, function or program is not in the checkout, or      agent: a change that breaks an import
                      wants arguments that nobody passes                              breaks the agent
    not_recorded      an outputs file has no row for the case                         nobody: the case was not run
    timeout_runner    the set-up command took longer than its limit                   infrastructure
    sandbox           the program could not be started, or the set-up command failed  infrastructure
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from ci_eval.domain.case import Case
from ci_eval.domain.notice import Notice
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
    notices: tuple[Notice, ...] = ()
    """What is missing in it: submodules, the contents of Git LFS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetContext:
    """What a target is handed besides its own settings."""

    checkout: Checkout
    environ: dict[str, str]
    """The full environment of ci-eval; the target takes from it by allow list."""
    concurrency: int
    setup_log: Path | None = None
    """File that takes the end of what the set-up command writes; None: only its error message quotes it."""
    setup_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Shared by the arms: their set-up commands take turns, as package managers want it."""


class TargetSpec(BaseModel):
    """What a configuration may say about a target."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    def open(self, context: TargetContext) -> Target:
        """Make the target ready; start nothing yet."""
        raise NotImplementedError

"""Everything that can go wrong, and how the process ends for it.

CiEvalError
├── InputError       2   the config, the data or the arguments are wrong: a list of Problems
│   ├── ConfigError
│   └── DataError
├── NoVerdictError   3   the evaluation could not be finished: a service, a checkout, a disk
└── InterruptedRun 130   somebody stopped us

An exception that is none of these is our own bug and ends with 4. "The agent got worse" (1) is no error: it is a Verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

SHOWN_PROBLEMS = 20


class ExitCode(IntEnum):
    """The process's exit codes are part of the interface."""

    PASS = 0
    BLOCK = 1
    INPUT = 2
    NO_VERDICT = 3
    BUG = 4
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing the user has to put right, with its place."""

    message: str
    """What is wrong; what was expected."""
    code: str = "problem"
    """Stable name of the kind of problem, e.g. `duplicate_id`; for tests and tools."""
    file: str | None = None
    """Path as the user wrote it, or relative to the workspace."""
    line: int | None = None
    column: int | None = None
    field: str | None = None
    """Dotted key (`evaluators[2].threshold`) or column."""
    hint: str | None = None
    """What to do next."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        text = ": ".join(part for part in (place, self.field, self.message) if part)
        return f"{text}\n    {self.hint}" if self.hint else text


class CiEvalError(Exception):
    """Shown to the user as it is, without a traceback."""

    exit_code: ExitCode = ExitCode.BUG

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n    {self.hint}" if self.hint else self.message


class InputError(CiEvalError):
    """The user's files or arguments are wrong; carries every problem found, not the first only."""

    exit_code = ExitCode.INPUT

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        lines = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"… and {len(self.problems) - SHOWN_PROBLEMS} more problems")
        super().__init__("\n".join(lines))


class ConfigError(InputError):
    """`ci-eval.yaml`, an override or an Action input is wrong."""


class DataError(InputError):
    """A dataset, a recorded output or a run file is wrong."""


class NoVerdictError(CiEvalError):
    """The question could not be answered; never to be confused with a pass or a regression."""

    exit_code = ExitCode.NO_VERDICT


class InterruptedRun(CiEvalError):
    """SIGINT or SIGTERM; what was computed is on disk."""

    exit_code = ExitCode.INTERRUPTED

"""The set-up command of an arm: run once in its checkout, before the first case; the arms take turns.

In: a shell command. Out: nothing, or a TargetFailure that every case of the arm gets: without it there is no agent to judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_eval.targets import processes
from ci_eval.targets.base import TargetFailure

LOG_KEPT = 1024 * 1024
"""Bytes of the log, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupSettings:
    """What is run, and where."""

    command: str
    """For the shell, which stops at the first line that fails."""
    folder: Path
    environment: Mapping[str, str]
    timeout_s: float
    log: Path | None
    """File for the end of what the command writes."""
    turn: asyncio.Lock
    """Held while the command runs."""
    redact: Callable[[str], str]
    """Takes secrets out of the log: the file is kept and handed on."""


class Setup:
    """Runs once, however many cases wait for it."""

    def __init__(self, settings: SetupSettings | None) -> None:
        self._settings = settings
        """None: there is nothing to do."""
        self._lock = asyncio.Lock()
        self._is_done = False
        self._failure: TargetFailure | None = None

    async def done(self) -> None:
        """Return when the command has succeeded; raise the same TargetFailure to everybody when it has not."""
        if self._settings is None:
            return
        async with self._lock:
            if not self._is_done:
                async with self._settings.turn:
                    self._failure = await _run(self._settings)
                self._is_done = True
        if self._failure is not None:
            raise TargetFailure(self._failure.code, self._failure.message)


async def _run(settings: SetupSettings) -> TargetFailure | None:
    program = processes.Program(
        argv=["/bin/sh", "-ec", f"exec 1>&2\n{settings.command}"],  # one stream, so that the log is in order
        folder=settings.folder,
        environment=settings.environment,
        stderr_kept=LOG_KEPT,
    )
    try:
        finished = await processes.run(program, timeout_s=settings.timeout_s)
    except processes.CannotStart as error:
        return TargetFailure("sandbox", f"setup: {error}")
    except TimeoutError:
        return TargetFailure("timeout_runner", f"setup took longer than {settings.timeout_s:g} s: {settings.command}")
    if settings.log is not None:
        try:
            settings.log.parent.mkdir(parents=True, exist_ok=True)
            settings.log.write_text(settings.redact(finished.stderr), encoding="utf-8")
        except OSError as error:
            return TargetFailure("sandbox", f"setup: its log could not be written: {error}")
    if finished.exit_code == 0:
        return None
    how = processes.how_it_ended(finished.exit_code)
    return TargetFailure("sandbox", f"setup ended with {how}: {settings.command}{processes.last_words(finished.stderr)}")

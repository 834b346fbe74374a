"""One program of the user's, in a process group of its own.

In: a command line, a folder, an environment. Out: its output, its exit code, the end of its stderr.
When it ends, or is ended, its whole family ends with it. It must not know what the program is for.
POSIX only: groups, sessions and signals.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import re
import secrets
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from typing_extensions import override

OUTPUT_LIMIT = 10 * 1024 * 1024
"""Bytes of stdout kept for one answer; more is refused, never cut."""
STDERR_KEPT = 64 * 1024
"""Bytes of stderr kept: the last ones, where programs say why they stopped."""
SHOWN_STDERR = 1_000
"""Characters of it that an error message quotes."""
FAMILY_MARK = "CI_EVAL_FAMILY"
"""Variable by which a process that left its group (a daemon) is still known as ours."""

_PR_SET_DUMPABLE = 4  # linux/prctl.h
_LAST_WORDS_S = 2.0  # how long the pipes of an ended process may stay open
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class CannotStart(Exception):
    """The program could not be started at all."""


class OutputTooLong(Exception):
    """The program wrote more than OUTPUT_LIMIT bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to start."""

    argv: Sequence[str]
    folder: Path
    """Its working directory."""
    environment: Mapping[str, str]
    """All of it, see `environment.child_environment`."""
    stderr_kept: int = STDERR_KEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A program that ran to its end."""

    exit_code: int
    """Negative: ended by that signal."""
    output: bytes
    stderr: str
    """Its last part, as clean text."""


class Process:
    """A running program and everything it started."""

    def __init__(self, transport: asyncio.SubprocessTransport, streams: _Streams) -> None:
        self._transport = transport
        self._streams = streams

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._transport.get_returncode()

    @property
    def stderr(self) -> str:
        """The last part of what it wrote to stderr, as clean text."""
        return clean_text(bytes(self._streams.stderr))

    def send(self, data: bytes) -> None:
        """Hand over input without waiting; a program that has ended or does not read is no error."""
        pipe = self._input()
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def close_input(self) -> None:
        """Tell it that no more input comes."""
        pipe = self._input()
        if pipe is not None:
            pipe.close()

    async def read_line(self) -> bytes | None:
        """Return the next line of output without its end, or None when there will be no more."""
        streams = self._streams
        while True:
            if streams.too_long:
                raise OutputTooLong
            end = streams.output.find(b"\n")
            if end >= 0:
                line = bytes(streams.output[:end])
                del streams.output[: end + 1]
                return line
            if streams.output_ended or (self.exit_code is not None and streams.pipes_ended):
                return None
            await streams.next_change()

    async def finished(self) -> Finished:
        """Wait until it ends; what it started in the background ends then too."""
        streams = self._streams
        while self.exit_code is None:
            if streams.too_long:
                raise OutputTooLong
            await streams.next_change()
        await self._last_words()
        if streams.too_long:
            raise OutputTooLong
        return Finished(exit_code=self.exit_code, output=bytes(streams.output), stderr=self.stderr)

    def kill(self) -> None:
        """End it and its family at once."""
        self._streams.end_family()

    async def end(self, *, grace_s: float = 0.0) -> bool:
        """End it, after `grace_s` seconds to leave by itself now that its input is closed; say whether it did."""
        self.close_input()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                while self.exit_code is None:
                    await self._streams.next_change()
        left_by_itself = self.exit_code is not None
        self.kill()
        await self._last_words()
        self._transport.close()
        return left_by_itself

    async def _last_words(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S):
                while self.exit_code is None or not self._streams.pipes_ended:
                    await self._streams.next_change()

    def _input(self) -> asyncio.WriteTransport | None:
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))


async def start(program: Program) -> Process:
    """Start a program; CannotStart says why it did not."""
    _hide_own_environment()
    mark = secrets.token_hex(16)
    try:
        transport, streams = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Streams(mark=mark, stderr_kept=program.stderr_kept),
            *program.argv,
            cwd=program.folder,
            env={**program.environment, FAMILY_MARK: mark},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CannotStart(f"{program.argv[0]} could not be started in {program.folder}: {error}") from error
    return Process(transport, streams)


async def run(program: Program, *, timeout_s: float, data: bytes = b"") -> Finished:
    """Run a program to its end; TimeoutError, OutputTooLong and CannotStart leave nothing of it behind."""
    process = await start(program)
    try:
        process.send(data)
        process.close_input()
        async with asyncio.timeout(timeout_s):
            return await process.finished()
    finally:
        process.kill()
        await process.end()


def clean_text(data: bytes) -> str:
    """Decode a program's own words: no escape sequences, no control characters, line feeds only."""
    return clean(data.decode("utf-8", "replace"))


def clean(text: str) -> str:
    """Take out escape sequences and control characters; a carriage return is a line feed."""
    return _CONTROL.sub("", _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def last_words(stderr: str) -> str:
    """Return the end of a stderr, ready to be put behind an error message; empty when there was none."""
    text = stderr.strip()
    if not text:
        return ""
    return "; the end of its stderr:\n" + (text if len(text) <= SHOWN_STDERR else "… " + text[-SHOWN_STDERR:])


def how_it_ended(exit_code: int) -> str:
    """Say `exit code 3` or `signal SIGKILL (out of memory?)`."""
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = str(-exit_code)
    return f"signal {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


class _Streams(asyncio.SubprocessProtocol):
    """Collects what the process writes. asyncio's own Process.wait() hangs while a grandchild holds a pipe; this does not."""

    def __init__(self, *, mark: str, stderr_kept: int) -> None:
        self.output = bytearray()
        self.stderr = bytearray()
        self.too_long = False
        self._mark = mark
        self._stderr_kept = stderr_kept
        self._open = {1, 2}
        self._pid = 0
        self._ended = False
        self._changed = asyncio.Event()

    @property
    def output_ended(self) -> bool:
        return 1 not in self._open

    @property
    def pipes_ended(self) -> bool:
        return not self._open

    async def next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pid = cast(asyncio.SubprocessTransport, transport).get_pid()

    @override
    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr += data
            del self.stderr[: -self._stderr_kept]
            return
        if len(self.output) + len(data) > OUTPUT_LIMIT:
            self.too_long = True
            self.output.clear()
            self.end_family()
        elif not self.too_long:
            self.output += data
        self._changed.set()

    @override
    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        self._changed.set()

    @override
    def process_exited(self) -> None:
        self.end_family()
        self._ended = True
        self._changed.set()

    def end_family(self) -> None:
        if self._ended:
            return  # the number of the group may belong to somebody else by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        for _ in range(3):  # one that forks while we look is found the next time
            escaped = list(_marked(self._mark))
            for pid in escaped:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not escaped:
                return


def _marked(mark: str) -> Iterator[int]:
    """Find the processes whose environment carries the mark; none where there is no /proc."""
    wanted = f"{FAMILY_MARK}={mark}".encode()
    try:
        entries = [entry for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208 - hundreds of names, looked at often
    except OSError:
        return
    for entry in entries:
        try:
            environment = Path("/proc", entry, "environ").read_bytes()
        except OSError:
            continue
        if wanted in environment.split(b"\0"):
            yield int(entry)


def _hide_own_environment() -> None:
    """Keep a program of the same user from reading our tokens in /proc/<our pid>/environ. Linux only, and not against ptrace."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)

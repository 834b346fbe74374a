"""A user's function, served by a few long-lived processes.

In: the function's name, its interpreter, its folder; then JSON arguments. Out: its JSON value, or a FunctionFailure.
Each process serves one call at a time; one that crashed or took too long is replaced. It must not know what the function is for.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_eval.domain.functions import FunctionFailure
from ci_eval.targets import processes
from ci_eval.targets.json_text import BadJson, NotJson, read_json

WORKER = Path(__file__).with_name("worker.py")
WORKER_CODES = ("exception", "not_found", "bad_reply")
"""Failures that a worker may report; an agent that answers in its place cannot pass its fault off as the infrastructure's."""
GRACE_S = 1.0
"""Time for a worker to leave by itself, so that what the agent registered with atexit is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """Which function, and how it is called."""

    function: str
    """`package.module:name`, imported from `folder`."""
    folder: Path
    environment: Mapping[str, str]
    """The whole environment of the processes, see `environment.child_environment`."""
    size: int
    """Number of processes, that is of calls at the same time."""
    timeout_s: float
    """For one call, from handing over the arguments to the value."""
    start_timeout_s: float
    """For starting the interpreter and importing the module."""
    python: str | None = None
    """Interpreter: a path inside `folder`, an absolute path or a name on PATH; None: the one that runs ci-eval."""
    lone: str | None = None
    """Argument for a function whose single parameter has a name of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call gave."""

    value: object
    """Any JSON value."""
    seconds: float
    """From handing over the arguments to the value, without waiting for a free process."""


class WorkerPool:
    """A RemoteFunction (`domain.functions`)."""

    def __init__(self, settings: FunctionSettings) -> None:
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.size)
        self._idle: list[_Worker] = []
        self._alive: set[_Worker] = set()
        self._has_started = False
        self._hopeless: FunctionFailure | None = None

    async def call(self, arguments: Mapping[str, object]) -> object:
        """Return the function's value; FunctionFailure otherwise."""
        return (await self.ask(arguments)).value

    async def ask(self, arguments: Mapping[str, object]) -> Answer:
        """Call, and say how long it took."""
        async with self._slots:
            worker = await self._free_worker()
            try:
                answer = await worker.ask(arguments)
            except FunctionFailure:
                if worker.is_usable:
                    self._idle.append(worker)
                else:
                    await self._end(worker)
                raise
            except BaseException:  # cancelled: the worker is in the middle of something
                worker.process.kill()
                raise
            self._idle.append(worker)
            return answer

    async def close(self) -> None:
        """Stop every process, and everything they started."""
        workers, self._idle = list(self._alive), []
        await asyncio.gather(*(self._end(worker, grace_s=GRACE_S) for worker in workers))

    async def _free_worker(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_usable:
                return worker
            await self._end(worker)
        if self._hopeless is not None:
            raise FunctionFailure(self._hopeless.code, self._hopeless.message)
        return await self._start()

    async def _start(self) -> _Worker:
        try:
            process = await processes.start(self._program())
        except processes.CannotStart as error:
            raise self._remembered(FunctionFailure("sandbox", str(error))) from error
        worker = _Worker(process, self._settings)
        self._alive.add(worker)
        try:
            await worker.wait_until_ready()
        except FunctionFailure as failure:
            await self._end(worker)
            raise self._remembered(failure) from failure
        except BaseException:
            process.kill()
            raise
        self._has_started = True
        return worker

    def _remembered(self, failure: FunctionFailure) -> FunctionFailure:
        """What could not be imported once will not be the next thousand times; after one success it may be an accident."""
        if not self._has_started:
            self._hopeless = failure
        return failure

    async def _end(self, worker: _Worker, *, grace_s: float = 0.0) -> None:
        await worker.process.end(grace_s=grace_s)
        self._alive.discard(worker)

    def _program(self) -> processes.Program:
        settings = self._settings
        argv = [_interpreter(settings), "-u", str(WORKER), "--function", settings.function]
        if settings.lone:
            argv += ["--lone", settings.lone]
        return processes.Program(argv=argv, folder=settings.folder, environment=settings.environment)


class _Worker:
    """One process, from its first line on."""

    def __init__(self, process: processes.Process, settings: FunctionSettings) -> None:
        self.process = process
        self._given_up = False
        self._settings = settings

    @property
    def is_usable(self) -> bool:
        """False once it ended, or may still be busy with a call that nobody waits for."""
        return not self._given_up and self.process.exit_code is None

    async def wait_until_ready(self) -> None:
        limit = self._settings.start_timeout_s
        await self._reply("start", limit_s=limit, too_late=f"importing {self._settings.function} took longer than {limit:g} s")

    async def ask(self, arguments: Mapping[str, object]) -> Answer:
        request_id = secrets.token_hex(8)  # whoever writes to the pipe besides the worker does not know it
        request = json.dumps({"id": request_id, "arguments": arguments})
        started = time.perf_counter()
        self.process.send(request.encode("ascii") + b"\n")
        limit = self._settings.timeout_s
        value = await self._reply(request_id, limit_s=limit, too_late=f"no answer within {limit:g} s")
        return Answer(value=value, seconds=time.perf_counter() - started)

    async def _reply(self, request_id: str, *, limit_s: float, too_late: str) -> object:
        """Return the value of the reply with this id; lines that are no such reply are somebody else's noise."""
        try:
            async with asyncio.timeout(limit_s):
                while (line := await self.process.read_line()) is not None:
                    reply = _parsed(line)
                    if reply is not None and reply.get("id") == request_id:
                        return _value_of(reply)
        except TimeoutError:
            self._give_up()
            raise FunctionFailure("timeout", too_late) from None
        except processes.OutputTooLong:
            self._give_up()
            raise FunctionFailure("bad_reply", "more than 10 MB were written in place of an answer") from None
        self._given_up = True
        left_by_itself = await self.process.end(grace_s=GRACE_S)
        how = processes.how_it_ended(self.process.exit_code or 0)
        what = f"the process ended with {how}" if left_by_itself else "the process closed the pipe that its answer belongs into"
        raise FunctionFailure("crashed", what + processes.last_words(self.process.stderr))

    def _give_up(self) -> None:
        self._given_up = True
        self.process.kill()


def _parsed(line: bytes) -> Mapping[str, object] | None:
    try:
        value = read_json(line)
    except (NotJson, BadJson):
        return None
    return value if isinstance(value, dict) else None


def _value_of(reply: Mapping[str, object]) -> object:
    failure = reply.get("failure")
    if isinstance(failure, dict):
        code, message = failure.get("code"), str(failure.get("message"))
        wanted = failure.get("wanted")
        names = tuple(processes.clean(str(name)) for name in wanted) if isinstance(wanted, list) else ()
        raise FunctionFailure(code if code in WORKER_CODES else "bad_reply", processes.clean(message), wanted=names)
    return reply.get("value")


def _interpreter(settings: FunctionSettings) -> str:
    python = settings.python
    if python is None:
        return sys.executable
    if "/" in python:
        return str(settings.folder / python)  # not resolved: a virtual environment is known by the path of its link
    return python

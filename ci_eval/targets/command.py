"""A command in any language as the agent: one process per case.

In: the case as one JSON object on stdin. Out: what the command wrote to stdout, a JSON object or list, or else plain text.
No shell is involved, and the command never sees our tokens.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.readers import Reply
from ci_eval.targets import processes
from ci_eval.targets.base import Target, TargetContext, TargetFailure
from ci_eval.targets.case_input import command_input
from ci_eval.targets.environment import child_environment
from ci_eval.targets.json_text import BadJson, NotJson, read_json
from ci_eval.targets.process_spec import ProcessSpec
from ci_eval.targets.setup_command import Setup

ANSWER_KEYS = frozenset({"response", "messages", "output_items", "tool_calls", "actions"})
SHELL_SIGNS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1"})


def _split(written: object) -> object:
    if not isinstance(written, str):
        return written
    try:
        words = shlex.split(written)
    except ValueError as error:
        raise ValueError(f"{written!r} cannot be split into words: {error}") from None
    signs = [word for word in words if word in SHELL_SIGNS]
    if signs:
        raise ValueError(f"{signs[0]} means nothing without a shell; write [sh, -c, {written!r}] if you want one")
    return words


class CommandSpec(ProcessSpec):
    """`target: {kind: command, command: [node, agent.js]}`."""

    kind: Literal["command"] = "command"
    command: Annotated[tuple[str, ...], BeforeValidator(_split), Field(min_length=1)]
    """Program and arguments, as a list or as text with the quotes of a shell. A path such as `./agent` is in the checkout."""
    output: Literal["auto", "text", "json"] = "auto"
    """How stdout is read; `auto`: a JSON object or list where it is one, else text."""

    @override
    def open(self, context: TargetContext) -> Target:
        return Command(self, context)


class Command:
    """The command, set up."""

    def __init__(self, spec: CommandSpec, context: TargetContext) -> None:
        self._spec = spec
        self._program = processes.Program(
            argv=spec.command,
            folder=context.checkout.path,
            environment=child_environment(context.environ, names=spec.env),
        )
        self._setup = Setup(spec.setup_settings(context))
        self._unset = spec.unset_names(context)

    async def answer(self, case: Case, trial: int) -> Reply:
        """Run the command for one case."""
        await self._setup.done()
        started = time.perf_counter()
        finished = await self._run(json.dumps(command_input(case, trial)).encode("ascii") + b"\n")
        seconds = time.perf_counter() - started
        if finished.exit_code != 0:
            how = processes.how_it_ended(finished.exit_code)
            raise TargetFailure("exit_code", f"the command ended with {how}{self._unset}{processes.last_words(finished.stderr)}")
        return Reply(value=self._value(finished.output), latency_s=seconds)

    async def close(self) -> None:
        """Nothing lives longer than its case."""

    async def _run(self, data: bytes) -> processes.Finished:
        spec = self._spec
        try:
            return await processes.run(self._program, timeout_s=spec.timeout_s, data=data)
        except processes.CannotStart as error:
            raise TargetFailure(self._start_code(spec.command[0]), str(error)) from error
        except TimeoutError:
            raise TargetFailure("timeout", f"no answer within {spec.timeout_s:g} s") from None
        except processes.OutputTooLong:
            raise TargetFailure("bad_reply", "more than 10 MB were written to stdout") from None

    def _start_code(self, program: str) -> str:
        """A program of the checkout is the agent's own; one of the machine, such as `node`, is not."""
        is_own = "/" in program and not Path(program).is_absolute()
        return "not_found" if is_own else "sandbox"

    def _value(self, output: bytes) -> object:
        try:
            text = output.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TargetFailure("bad_reply", f"stdout is not UTF-8 at byte {error.start}") from None
        if self._spec.output == "text":
            return _without_last_line_end(text)
        if self._spec.output == "auto" and not text.lstrip().startswith(("{", "[")):
            return _plain(text)
        try:
            value = read_json(text)
        except BadJson as error:
            raise TargetFailure("bad_reply", f"stdout cannot be taken as JSON: {error}") from None
        except NotJson as error:
            if self._spec.output == "json":
                raise TargetFailure("bad_reply", f"stdout is no JSON: {error}") from None
            return _plain(text)
        if not isinstance(value, (str, list, dict)):
            raise TargetFailure("bad_reply", f"stdout is {text.strip():.80}; text, a list of messages or an object was expected")
        return value


def _plain(text: str) -> str:
    """Refuse an answer in JSON below the lines of a log: taken as text, its steps would be lost without a word."""
    start = text.find("\n{") + 1
    if start:
        with contextlib.suppress(BadJson, NotJson):
            value = read_json(text[start:])
            if isinstance(value, dict) and ANSWER_KEYS & value.keys():
                where = "a JSON answer stands on stdout, but other lines before it"
                raise TargetFailure("bad_reply", f"{where}; write logs to stderr, or set `output: text`: {text.strip():.80}")
    return _without_last_line_end(text)


def _without_last_line_end(text: str) -> str:
    if text.endswith("\r\n"):
        return text[:-2]
    return text.removesuffix("\n")

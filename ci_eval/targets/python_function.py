"""A Python function as the agent, called in a process of its own by the arm's own interpreter.

In: a case. Out: the function's value, if it is text, a list of messages or an object. The function never sees our tokens.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from typing_extensions import override

from ci_eval.domain.case import Case
from ci_eval.domain.functions import FunctionFailure
from ci_eval.domain.readers import Reply
from ci_eval.targets.base import Target, TargetContext, TargetFailure
from ci_eval.targets.case_input import function_arguments
from ci_eval.targets.environment import child_environment
from ci_eval.targets.process_spec import ProcessSpec
from ci_eval.targets.setup_command import Setup
from ci_eval.targets.worker_pool import FunctionSettings, WorkerPool

FUNCTION = r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*$"
"""`package.module:name`."""


class PythonFunctionSpec(ProcessSpec):
    """`target: {kind: python_function, function: "agent:answer"}`."""

    kind: Literal["python_function"] = "python_function"
    function: str = Field(pattern=FUNCTION)
    """`package.module:name`, imported from the arm's checkout. It is given those of `query`, `messages`, `case`, `item` and
    `trial` that its parameters name; a single parameter with another name gets the query."""
    python: str | None = Field(default=None, min_length=1)
    """Interpreter: a path inside the checkout (`.venv/bin/python`), an absolute path, or a name on PATH; default: ours."""

    @override
    def open(self, context: TargetContext) -> Target:
        function = FunctionSettings(
            function=self.function,
            folder=context.checkout.path,
            environment=child_environment(context.environ, names=self.env),
            size=context.concurrency,
            timeout_s=self.timeout_s,
            start_timeout_s=self.setup_timeout_s,
            python=self.python,
            lone="query",
        )
        return PythonFunction(
            setup=Setup(self.setup_settings(context)), pool=WorkerPool(function), unset_names=self.unset_names(context)
        )


class PythonFunction:
    """The function, set up."""

    def __init__(self, *, setup: Setup, pool: WorkerPool, unset_names: str) -> None:
        self._setup = setup
        self._pool = pool
        self._unset_names = unset_names

    async def answer(self, case: Case, trial: int) -> Reply:
        """Call the function for one case."""
        await self._setup.done()
        try:
            answer = await self._pool.ask(function_arguments(case, trial))
        except FunctionFailure as failure:
            note = self._unset_names if failure.code in ("exception", "crashed") else ""
            raise TargetFailure(failure.code, failure.message + note) from failure
        if not isinstance(answer.value, (str, list, dict)):
            shown = "None" if answer.value is None else f"{answer.value!r:.80}"
            raise TargetFailure("bad_reply", f"the function returned {shown}; text, a list of messages or a dict was expected")
        return Reply(value=answer.value, latency_s=answer.seconds)

    async def close(self) -> None:
        """Stop its processes."""
        await self._pool.close()

"""What a configuration may write under `target:`."""

import pytest
from pydantic import TypeAdapter, ValidationError

from ci_eval.targets.catalog import AnyTarget
from ci_eval.targets.command import CommandSpec
from ci_eval.targets.python_function import PythonFunctionSpec

ANY_TARGET: TypeAdapter[PythonFunctionSpec | CommandSpec] = TypeAdapter(AnyTarget)


def test_the_kind_chooses_the_target() -> None:
    function = ANY_TARGET.validate_python({"kind": "python_function", "function": "travel.agent:answer"})
    command = ANY_TARGET.validate_python({"kind": "command", "command": "node agent.js --fast"})
    assert isinstance(function, PythonFunctionSpec)
    assert isinstance(command, CommandSpec)
    assert (function.timeout_s, command.command) == (120, ("node", "agent.js", "--fast"))


@pytest.mark.parametrize(
    "written",
    [
        {"kind": "python"},
        {"function": "agent:answer"},
        {"kind": "python_function"},
        {"kind": "python_function", "function": "agent:answer", "timeout": 3},
        {"kind": "python_function", "function": "agent:answer", "timeout_s": 0},
        {"kind": "python_function", "function": "agent:answer", "timeout_s": float("inf")},
        {"kind": "command", "command": "x", "env": ["GITHUB_TOKEN"]},
    ],
)
def test_what_is_not_known_or_not_allowed_is_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        ANY_TARGET.validate_python(written)

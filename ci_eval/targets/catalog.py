"""Every kind of target a configuration may name. A new kind is one import and one `|`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from ci_eval.targets.command import CommandSpec
from ci_eval.targets.python_function import PythonFunctionSpec

AnyTarget: TypeAlias = Annotated[PythonFunctionSpec | CommandSpec, Field(discriminator="kind")]

"""What the commands know of the world around them; handed in once by `main`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The environment of the process."""

    environ: Mapping[str, str] = field(repr=False)
    in_actions: bool
    """True inside a GitHub Actions job: the log obeys commands, and there are files to write to."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> World:
        """Look at the environment once."""
        return cls(environ=dict(environ), in_actions=environ.get("GITHUB_ACTIONS") == "true")

    @classmethod
    def of_command(cls, context: typer.Context) -> World:
        """Return the world that `main` handed to the running command."""
        world = context.find_object(cls)
        if world is None:
            raise RuntimeError("the command was started without its world")
        return world

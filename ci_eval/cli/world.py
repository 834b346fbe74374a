"""What the commands know of the world around them; handed in once by `main`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The environment of the process."""

    environ: Mapping[str, str] = field(repr=False)
    in_actions: bool
    """True inside a GitHub Actions job: the log obeys commands, and there are files to write to."""
    folder: Path
    """The working directory; relative paths of the command line start here."""
    workspace: Path
    """The checkout in Actions, else the working directory; annotations name files relative to it."""

    @property
    def event_path(self) -> Path | None:
        """The payload of the event; None outside of Actions, or where the runner names none."""
        path = self.environ.get("GITHUB_EVENT_PATH") if self.in_actions else None
        return Path(path) if path else None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> World:
        """Look at the environment once."""
        folder = Path.cwd()
        in_actions = environ.get("GITHUB_ACTIONS") == "true"
        workspace = Path(environ.get("GITHUB_WORKSPACE") or folder) if in_actions else folder
        return cls(environ=dict(environ), in_actions=in_actions, folder=folder, workspace=workspace)

    def workspace_path(self, file: str) -> str:
        """Return a file's path relative to the checkout, as annotations want it; one outside of it stays as it is."""
        path = Path(os.path.normpath(self.folder / file))
        return path.relative_to(self.workspace).as_posix() if path.is_relative_to(self.workspace) else file

    @classmethod
    def of_command(cls, context: typer.Context) -> World:
        """Return the world that `main` handed to the running command."""
        world = context.find_object(cls)
        if world is None:
            raise RuntimeError("the command was started without its world")
        return world

"""The options that several commands share, each described once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ci_eval.errors import ConfigError, Problem

DEFAULT_CONFIG = Path("ci-eval.yaml")
DEFAULT_OUTPUT = Path("ci-eval-out")
ARM_KINDS = ("ref", "directory", "outputs", "run")

ConfigOption: TypeAlias = Annotated[Path, typer.Option("-c", "--config", metavar="FILE", help="The configuration.")]
OutputOption: TypeAlias = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for run files and reports.")]
SetOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key, e.g. gate.alpha=0.1; may be repeated.")
]
QuietOption: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Say only what is wrong.")]
VerboseOption: TypeAlias = Annotated[bool, typer.Option("-v", "--verbose", help="Say more.")]
ArmOption = Annotated[
    str | None,
    typer.Option(
        metavar="ARM",
        help="A commit, branch or tag (also merge-base, head), or directory:PATH, outputs:FILE, run:FILE; overrides the configuration.",
    ),
]


def set_level(*, quiet: bool, verbose: bool) -> None:
    """Set how much the log says."""
    logging.getLogger("ci_eval").setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)


def overrides_of(given: Sequence[str] | None, **arms: str | None) -> list[str]:
    """Return the overrides of the configuration: those of `--set`, then the arms that an option names."""
    return [*(given or ()), *(_arm_override(arm, value) for arm, value in arms.items() if value is not None)]


def _arm_override(arm: str, value: str) -> str:
    """Turn `--baseline outputs:before.jsonl` into an override of the configuration."""
    kind, colon, rest = value.partition(":")
    if colon and kind not in ARM_KINDS:  # no name of a commit has a colon
        raise ConfigError(
            Problem(
                code="arm", field=f"--{arm}", message=f"there is no kind of arm {kind!r}", hint=f"known: {', '.join(ARM_KINDS)}"
            )
        )
    key, text = (kind, rest) if colon else ("ref", value)
    quoted = text.replace("'", "''")
    return f"{arm}={{{key}: '{quoted}'}}"

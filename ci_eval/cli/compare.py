"""`ci-eval compare`: two run files, compared and gated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ci_eval.cli.jobs import comparison_job, tell
from ci_eval.cli.options import (
    DEFAULT_CONFIG,
    DEFAULT_OUTPUT,
    ConfigOption,
    OutputOption,
    QuietOption,
    SetOption,
    VerboseOption,
    overrides_of,
    set_level,
)
from ci_eval.cli.world import World


def compare(
    context: typer.Context,
    baseline: Annotated[Path, typer.Argument(metavar="BASE", help="Run file of the baseline.")],
    candidate: Annotated[Path, typer.Argument(metavar="CAND", help="Run file of the candidate.")],
    config: ConfigOption = DEFAULT_CONFIG,
    output: OutputOption = DEFAULT_OUTPUT,
    overrides: SetOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Compare two run files that `run` or `score` wrote; nothing is run or scored again."""
    from ci_eval.pipeline import compare_files

    set_level(quiet=quiet, verbose=verbose)
    job = comparison_job(World.of_command(context), config, output, overrides_of(overrides))
    return tell(compare_files(job, baseline, candidate), output, quiet=quiet)

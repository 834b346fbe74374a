"""`ci-eval score`: one arm, run and scored, without a comparison."""

from __future__ import annotations

import logging
from typing import Annotated, Literal

import typer

from ci_eval.cli.jobs import open_job
from ci_eval.cli.options import (
    DEFAULT_CONFIG,
    DEFAULT_OUTPUT,
    ArmOption,
    ConfigOption,
    OutputOption,
    QuietOption,
    SetOption,
    VerboseOption,
    overrides_of,
    set_level,
)
from ci_eval.cli.screen import show
from ci_eval.cli.world import World
from ci_eval.errors import ExitCode

log = logging.getLogger(__name__)


def score(
    context: typer.Context,
    arm: Annotated[Literal["candidate", "baseline"], typer.Option("--arm", help="Which arm of the configuration.")] = "candidate",
    source: ArmOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    output: OutputOption = DEFAULT_OUTPUT,
    overrides: SetOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Run and score one arm; leaves its run file in the output folder. Exit code 3 when no case has a result."""
    from ci_eval.pipeline import score_arm
    from ci_eval.report.terminal_run import render_run

    set_level(quiet=quiet, verbose=verbose)
    job = open_job(World.of_command(context), config, output, overrides_of(overrides, **{arm: source}))
    result = score_arm(job, arm)
    if not quiet:
        show(render_run(result))
        log.info("run file: %s", job.run_file(arm))
    if not any(record.status == "ok" for record in result.records):
        log.error("no case of the %s has a result", arm)
        return ExitCode.NO_VERDICT
    return ExitCode.PASS

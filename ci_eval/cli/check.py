"""`ci-eval check`: configuration and data, looked at; nothing is called."""

from __future__ import annotations

import typer

from ci_eval.cli.jobs import open_job
from ci_eval.cli.options import DEFAULT_CONFIG, DEFAULT_OUTPUT, ArmOption, ConfigOption, SetOption, arm_override
from ci_eval.cli.screen import show
from ci_eval.cli.world import World
from ci_eval.log import neutral


def check(
    context: typer.Context,
    config: ConfigOption = DEFAULT_CONFIG,
    baseline: ArmOption = None,
    candidate: ArmOption = None,
    overrides: SetOption = None,
) -> None:
    """Check the configuration, the dataset and recorded outputs; exit code 2 with every problem when something is wrong."""
    from ci_eval.pipeline import check_job

    arms = [*arm_override("baseline", baseline), *arm_override("candidate", candidate)]
    job = open_job(World.of_command(context), config, DEFAULT_OUTPUT, [*(overrides or []), *arms], allow_untrusted_code=True)
    for line in check_job(job):
        show(f"{neutral(line)}\n")

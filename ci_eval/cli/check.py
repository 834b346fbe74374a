"""`ci-eval check`: configuration and data, looked at; nothing is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from ci_eval.cli.jobs import open_job
from ci_eval.cli.options import DEFAULT_CONFIG, DEFAULT_OUTPUT, ArmOption, ConfigOption, SetOption, overrides_of
from ci_eval.cli.screen import show
from ci_eval.cli.world import World
from ci_eval.log import neutral

if TYPE_CHECKING:
    from ci_eval.pipeline import Checked, Job


def check(
    context: typer.Context,
    config: ConfigOption = DEFAULT_CONFIG,
    baseline: ArmOption = None,
    candidate: ArmOption = None,
    overrides: SetOption = None,
) -> None:
    """Check the configuration, the dataset and recorded outputs; exit code 2 with every problem when something is wrong."""
    from ci_eval import pipeline

    given = overrides_of(overrides, baseline=baseline, candidate=candidate)
    job = open_job(World.of_command(context), config, DEFAULT_OUTPUT, given, allow_untrusted_code=True)
    for name, words in _lines(job, pipeline.check(job)):
        show(f"{neutral(f'{name:<15}{words}')}\n")
    show("configuration and data can be read; neither git nor the agent was asked\n")


def _lines(job: Job, checked: Checked) -> Iterator[tuple[str, str]]:
    """What was found, a line each: what it is about, and the words."""
    yield "configuration", job.loaded.shown
    yield "dataset", f"{job.loaded.config.dataset.path}: {checked.cases} case{'' if checked.cases == 1 else 's'}"
    for spec in checked.evaluators:
        yield "evaluator", f"{spec.kind}: {', '.join(metric.name for metric in spec.metrics())}"
    yield from checked.arms.items()
    for spec in checked.evaluators:
        yield from (("advice", f"{spec.metric_name}: {text}") for text in (*spec.warnings(), *spec.advice()))
    for notice in checked.notices:
        times = f" ({notice.count} times, first {notice.location})" if notice.location else ""
        yield "notice", f"{notice.message}{times}"

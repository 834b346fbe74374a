"""From options to a Job, and from a finished evaluation to words and an exit code; shared by the commands."""

from __future__ import annotations

import datetime
import logging
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci_eval.cli.options import DEFAULT_CONFIG
from ci_eval.cli.screen import show
from ci_eval.cli.world import World
from ci_eval.domain.comparison import Outcome
from ci_eval.errors import ConfigError, ExitCode, Problem
from ci_eval.log import Redactor, secrets_in

if TYPE_CHECKING:
    from ci_eval.pipeline import ComparisonJob, Finished, Job

log = logging.getLogger(__name__)

EXIT_CODES: Final = {
    Outcome.PASS: ExitCode.PASS,
    Outcome.WARN: ExitCode.PASS,
    Outcome.BLOCK: ExitCode.BLOCK,
    Outcome.INCOMPLETE: ExitCode.NO_VERDICT,
}


def open_job(world: World, config: Path, output: Path, overrides: Sequence[str], *, allow_untrusted_code: bool = False) -> Job:
    """Read the configuration and look at the event; ConfigError for what is wrong with either."""
    from ci_eval.config.load import load_config
    from ci_eval.pipeline import Job
    from ci_eval.publish.context import load_event, read_context
    from ci_eval.targets.checkout import EventCommits

    now = datetime.datetime.now(datetime.UTC)
    loaded = load_config(config, shown=str(config), overrides=overrides, today=now.date())
    event = load_event(world.event_path)
    context = read_context(world.environ, event)
    if context is not None and not context.runs_trusted_code and loaded.config.runs_code and not allow_untrusted_code:
        raise ConfigError(_untrusted(context.event_name))
    commits = None
    if context is not None:
        repository = event.get("repository")
        default_branch = repository.get("default_branch") if isinstance(repository, dict) else None
        commits = EventCommits(
            event=context.event_name, head_sha=context.head_sha, base_sha=context.base_sha, default_branch=default_branch
        )
    return Job(
        loaded=loaded,
        folder=output,
        environ=world.environ,
        event=commits,
        now=lambda: now,
        repeat_command=Redactor(secrets_in(world.environ))(repeat_command(config, overrides)),
        report_url=context.run_url if context is not None else None,
    )


def _untrusted(event: str) -> Problem:
    return Problem(
        code="untrusted_code",
        field="GITHUB_EVENT_NAME",
        message=f"on {event} the job holds secrets, while the agent's code may come from a stranger's pull request; it is not run",
        hint="use the pull_request event, or recorded outputs; to run it all the same, set allow-untrusted-code: true",
    )


def comparison_job(world: World, config: Path, output: Path, overrides: Sequence[str]) -> ComparisonJob:
    """Read what a comparison needs: gate and metric settings; without a configuration file the defaults hold."""
    from ci_eval.config.load import load_config
    from ci_eval.pipeline import ComparisonJob

    now = datetime.datetime.now(datetime.UTC)
    if config.exists() or config != DEFAULT_CONFIG:
        loaded = load_config(config, shown=str(config), overrides=overrides, today=now.date())
        return ComparisonJob.of(loaded.config, folder=output, now=lambda: now, environ=world.environ)
    if overrides:
        raise ConfigError(Problem(code="override", field="--set", message=f"there is no {config} whose keys could be set"))
    return ComparisonJob.of(None, folder=output, now=lambda: now, environ=world.environ)


def repeat_command(config: Path, overrides: Sequence[str]) -> str:
    """Return the command that does the same at home."""
    return shlex.join(["ci-eval", "run", "-c", config.as_posix(), *[part for text in overrides for part in ("--set", text)]])


def tell(finished: Finished, folder: Path, *, quiet: bool) -> ExitCode:
    """Print the report and where its files are; return the exit code of the verdict."""
    from ci_eval.report.terminal import render_terminal

    if not quiet:
        width = shutil.get_terminal_size((100, 40)).columns
        colour = sys.stdout.isatty()
        show(render_terminal(finished.comparison, finished.verdict, finished.settings, width=width, colour=colour))
        log.info("files in %s: %s", folder, ", ".join(sorted(path.name for path in folder.iterdir())))
    return EXIT_CODES[finished.verdict.outcome]

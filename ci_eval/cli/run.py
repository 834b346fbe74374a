"""`ci-eval run`: the main job, from the configuration to the pull request."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ci_eval.cli.jobs import open_job, tell
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
from ci_eval.cli.world import World
from ci_eval.domain.comparison import Outcome
from ci_eval.errors import CiEvalError, ExitCode, NoVerdictError
from ci_eval.log import Redactor, secrets_in

if TYPE_CHECKING:
    from ci_eval.cli.publication import Publisher
    from ci_eval.pipeline import Finished

log = logging.getLogger(__name__)


def run(
    context: typer.Context,
    config: ConfigOption = DEFAULT_CONFIG,
    output: OutputOption = DEFAULT_OUTPUT,
    baseline: ArmOption = None,
    candidate: ArmOption = None,
    overrides: SetOption = None,
    publish: Annotated[
        bool, typer.Option("--publish", help="Write comment, check and summary (in GitHub Actions; token in GITHUB_TOKEN).")
    ] = False,
    comment: Annotated[
        bool, typer.Option("--comment/--no-comment", help="With --publish: the comment on the pull request.")
    ] = True,
    check: Annotated[bool, typer.Option("--check/--no-check", help="With --publish: the check run.")] = True,
    check_name: Annotated[
        str | None, typer.Option("--check-name", metavar="NAME", help="Name of the check run; default: ci-eval.")
    ] = None,
    incomplete_conclusion: Annotated[
        Literal["failure", "neutral", "action_required"],
        typer.Option(
            "--incomplete-conclusion", help="With --publish: conclusion of the check, and so the exit code, without a verdict."
        ),
    ] = "failure",
    key: Annotated[str, typer.Option("--key", metavar="KEY", help="Tells several evaluations of one pull request apart.")] = "",
    fail_on_publish_error: Annotated[
        bool, typer.Option("--fail-on-publish-error", help="Exit 3 when the report could not be published.")
    ] = False,
    allow_untrusted_code: Annotated[
        bool, typer.Option("--allow-untrusted-code", help="Run the agent although the event gives secrets to a stranger's code.")
    ] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> int:
    """Run both versions of the agent, score and compare them, report, and end with 0 (pass), 1 (blocked), 2 (input) or 3 (no verdict)."""
    from ci_eval.cli.publication import PublishChoice, open_publisher
    from ci_eval.pipeline import run as run_both

    set_level(quiet=quiet, verbose=verbose)
    world = World.of_command(context)
    choice = PublishChoice(
        wanted=publish, comment=comment, check=check, check_name=check_name, key=key, incomplete=incomplete_conclusion
    )
    publisher = open_publisher(world, choice, output)
    title = "ci-eval"
    try:
        given = overrides_of(overrides, baseline=baseline, candidate=candidate)
        job = open_job(world, config, output, given, allow_untrusted_code=allow_untrusted_code)
        title = job.loaded.config.title
        finished = run_both(job)
    except NoVerdictError as error:
        code = error.exit_code if publisher is None else publisher.exit_code(Outcome.INCOMPLETE)
        _tell_failure(publisher, error, code, title, world)
        if code != ExitCode.PASS:
            raise
        log.error("%s", error)
        return code
    except CiEvalError as error:
        _tell_failure(publisher, error, error.exit_code, title, world)
        raise
    except Exception:
        bug = CiEvalError("this is a bug of ci-eval; the log of the job says more")
        _tell_failure(publisher, bug, bug.exit_code, title, world)
        raise
    code = tell(finished, output, quiet=quiet)
    return code if publisher is None else _publish(publisher, finished, fail_on_error=fail_on_publish_error)


def _publish(publisher: Publisher, finished: Finished, *, fail_on_error: bool) -> ExitCode:
    """Carry the report to its places and return the exit code that goes with them."""
    code = publisher.exit_code(finished.verdict.outcome)
    if not publisher.publish(finished.report, code=code) and fail_on_error:
        log.error("the report could not be published everywhere, and --fail-on-publish-error is set")
        return code if code == ExitCode.BLOCK else ExitCode.NO_VERDICT
    return code


def _tell_failure(publisher: Publisher | None, error: CiEvalError, code: ExitCode, title: str, world: World) -> None:
    """An earlier green comment must not outlive an evaluation that failed; trouble in telling never hides the error itself."""
    if publisher is None or code == ExitCode.INTERRUPTED:
        return
    from ci_eval.report.failure import render_failure

    redact = Redactor(secrets_in(world.environ))  # a message may quote what a set-up command or an agent printed
    told = render_failure(error, title=title)
    without_secrets = replace(
        told,
        comment=redact(told.comment),
        summary=redact(told.summary),
        check_title=redact(told.check_title),
        check_summary=redact(told.check_summary),
        check_text=redact(told.check_text),
        annotations=tuple(replace(note, message=redact(note.message)) for note in told.annotations),
    )
    publisher.publish(without_secrets, code=code)

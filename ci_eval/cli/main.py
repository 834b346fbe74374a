"""The command line: arguments and environment in, exit code out.

The one place where an exception becomes an exit code, and (with `action.py`) the only one that touches `os.environ` and `sys.argv`.
Loads nothing heavy: `ci-eval --help` must be quick.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from types import FrameType

import typer
from typer.main import get_command

from ci_eval import __version__
from ci_eval.cli import check, compare, run, schema, score
from ci_eval.cli.screen import open_screen
from ci_eval.cli.world import World
from ci_eval.errors import CiEvalError, ExitCode, InputError
from ci_eval.log import Redactor, neutral, secrets_in, set_up

log = logging.getLogger(__name__)

app = typer.Typer(
    name="ci-eval",
    help="Tell whether a change made an AI agent better or worse.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.command("run", short_help="Run, score and compare both versions of the agent.")(run.run)
app.command("score", short_help="Run and score one version.")(score.score)
app.command("compare", short_help="Compare two run files.")(compare.compare)
app.command("check", short_help="Check configuration and data; run nothing.")(check.check)
app.command("schema", short_help="Print the JSON Schema of ci-eval.yaml.")(schema.schema)


@app.callback(invoke_without_command=True)
def root(context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    """Tell whether a change made an AI agent better or worse."""
    if version:
        typer.echo(f"ci-eval {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(ExitCode.INPUT)  # nothing was evaluated: never green


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None) -> int:
    """Run one command and return the exit code (README, "Exit codes")."""
    stop_on_sigterm()
    open_screen()
    world = World.of(os.environ if environ is None else environ)
    redact = Redactor(secrets_in(world.environ))
    set_up(sys.stderr, level=logging.INFO, redact=redact, locate=world.workspace_path if world.in_actions else None)
    try:
        code = get_command(app).main(
            args=list(sys.argv[1:] if argv is None else argv), prog_name="ci-eval", standalone_mode=False, obj=world
        )
        return int(code or ExitCode.PASS)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except typer.TyperException as error:
        log.error("%s (ci-eval --help shows the commands and options)", error)
        return ExitCode.INPUT
    except InputError as error:
        say_problems(error)
        return error.exit_code
    except CiEvalError as error:
        log.error("%s", error)
        return error.exit_code
    except KeyboardInterrupt:
        log.error("interrupted")
        return ExitCode.INTERRUPTED
    except SystemExit:  # typer's own way out when the reader of a help text has left; its code 1 would mean "blocked"
        return ExitCode.NO_VERDICT
    except Exception:  # noqa: BLE001 - the last door: our own bug gets its own exit code
        sys.stderr.write(neutral(redact(traceback.format_exc())) + "\n")
        log.error("this is a bug of ci-eval; please report it with the lines above")
        return ExitCode.BUG


def stop_on_sigterm() -> None:
    """End like Ctrl-C when a job is cancelled, at any moment: a worktree or a temporary folder must not stay behind."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _as_interrupt)


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)


def say_problems(error: InputError) -> None:
    """Log every problem with its place, so that Actions can show it on the line."""
    from ci_eval.errors import SHOWN_PROBLEMS

    for problem in error.problems[:SHOWN_PROBLEMS]:
        log.error("%s", problem, extra={"file": problem.file, "line": problem.line if problem.file else None})
    hidden = len(error.problems) - SHOWN_PROBLEMS
    if hidden > 0:
        log.error("… and %d more problems", hidden)

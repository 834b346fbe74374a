"""The Action's doorway: what a workflow wrote under `with:` becomes the same command line that people type.

In: INPUT_* variables of the runner. Out: `ci-eval run …`, printed and carried out; its exit code.
Must not decide anything that the command line could not decide at home. The token travels in the environment, never in an argument.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO, TypeAlias

from ci_eval.errors import ConfigError, ExitCode, Problem
from ci_eval.log import Redactor, escape_data, neutral, secrets_in, workflow_command

TRUE_WORDS = ("true", "True", "TRUE")  # the words of YAML 1.2 and of GitHub's own toolkit
FALSE_WORDS = ("false", "False", "FALSE")
MIN_MASK = 8  # characters; masking a shorter value stars out half of the log
PR_SET_DUMPABLE = 4  # linux/prctl.h
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "GIT_SSL_CAINFO")

Command: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionInputs:
    """The inputs of action.yml, a dash there being an underscore here; a test compares the two."""

    config: str
    output_dir: str
    baseline: str
    """Empty when the configuration decides; so for every text below."""
    candidate: str
    set: tuple[str, ...]
    github_token: str
    comment: bool
    check: bool
    check_name: str
    incomplete_conclusion: str
    key: str
    fail_on_publish_error: bool
    allow_untrusted_code: bool
    working_directory: str
    ca_bundle: str
    verbose: bool


class _Reader:
    """Takes inputs out of the environment and keeps every problem, so that all are told at once."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.problems: list[Problem] = []

    def text(self, name: str, default: str = "") -> str:
        value = self._raw(name)
        if any(ord(sign) < 32 or ord(sign) == 127 for sign in value):
            self._note(name, f"a single line of text is expected, found {value!r}", "write the value on one line")
            return default
        return value or default

    def revision(self, name: str) -> str:
        value = self.text(name)
        if value.startswith("-"):
            self._note(name, f"a commit, branch or tag is expected, found {value!r}", "a revision does not begin with a dash")
        return value

    def lines(self, name: str) -> tuple[str, ...]:
        lines = tuple(line.strip() for line in self._raw(name).splitlines() if line.strip())
        for line in lines:
            if "=" not in line.lstrip("="):
                self._note(name, f"key=value on each line is expected, found {line!r}", "for example `trials=3`")
        return lines

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._raw(name)
        if value in TRUE_WORDS:
            return True
        if value in FALSE_WORDS:
            return False
        if value:
            self._note(name, f"true or false is expected, found {value!r}", "yes, no, 1 and 0 are not taken")
        return default

    def _raw(self, name: str) -> str:
        return self._environ.get(f"INPUT_{name.upper()}", "").strip()

    def _note(self, name: str, message: str, hint: str) -> None:
        self.problems.append(Problem(code="bad_input", file="with", field=name, message=message, hint=hint))


def read_inputs(environ: Mapping[str, str]) -> ActionInputs:
    """Read every input; ConfigError with all problems. The runner cannot tell unset from empty, so empty means the default."""
    reader = _Reader(environ)
    inputs = ActionInputs(
        config=reader.text("config", "ci-eval.yaml"),
        output_dir=reader.text("output-dir", "ci-eval-out"),
        baseline=reader.revision("baseline"),
        candidate=reader.revision("candidate"),
        set=reader.lines("set"),
        github_token=reader.text("github-token"),
        comment=reader.flag("comment", default=True),
        check=reader.flag("check", default=True),
        check_name=reader.text("check-name"),
        incomplete_conclusion=reader.text("incomplete-conclusion", "failure"),
        key=reader.text("key"),
        fail_on_publish_error=reader.flag("fail-on-publish-error", default=False),
        allow_untrusted_code=reader.flag("allow-untrusted-code", default=False),
        working_directory=reader.text("working-directory", "."),
        ca_bundle=reader.text("ca-bundle"),
        verbose=reader.flag("verbose", default=False),
    )
    if reader.problems:
        raise ConfigError(reader.problems)
    return inputs


def arguments_of(inputs: ActionInputs) -> list[str]:
    """Return the command line of the evaluation and its publication."""
    options = (
        ("--check-name", inputs.check_name),
        ("--incomplete-conclusion", inputs.incomplete_conclusion.removeprefix("failure")),
        ("--key", inputs.key),
    )
    switches = (
        ("--publish", True),
        ("--no-comment", not inputs.comment),
        ("--no-check", not inputs.check),
        ("--fail-on-publish-error", inputs.fail_on_publish_error),
        ("--allow-untrusted-code", inputs.allow_untrusted_code),
        ("-v", inputs.verbose),
    )
    return [*arguments_at_home(inputs), *_given(options), *(switch for switch, is_on in switches if is_on)]


def arguments_at_home(inputs: ActionInputs) -> list[str]:
    """Return the command line of the same evaluation where there is nothing to publish to."""
    options = (
        ("-c", inputs.config),
        ("-o", inputs.output_dir),
        ("--baseline", inputs.baseline),
        ("--candidate", inputs.candidate),
        *(("--set", pair) for pair in inputs.set),
    )
    return ["run", *_given(options)]


def _given(options: Iterable[tuple[str, str]]) -> list[str]:
    return [part for option, value in options if value for part in (option, value)]


def environment_of(inputs: ActionInputs, environ: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """Return the environment of the command: without the inputs, with the token and the certificates where programs look for them."""
    handed_on = {name: value for name, value in environ.items() if not name.startswith("INPUT_")}
    if inputs.github_token:
        handed_on["GITHUB_TOKEN"] = inputs.github_token
    if inputs.ca_bundle:
        handed_on |= dict.fromkeys(CA_VARIABLES, str((workspace / inputs.ca_bundle).absolute()))
    return handed_on


def check_paths(inputs: ActionInputs, workspace: Path) -> None:
    """Raise ConfigError for a working directory or a certificate file that is not there."""
    folder = (workspace / inputs.working_directory).resolve()
    problems = []
    if not folder.is_relative_to(workspace.resolve()):
        problems.append(_bad_path("working-directory", inputs.working_directory, "a folder within the checkout is expected"))
    elif not folder.is_dir():
        problems.append(_bad_path("working-directory", inputs.working_directory, "there is no such folder in the checkout"))
    if inputs.ca_bundle and not (workspace / inputs.ca_bundle).is_file():
        problems.append(_bad_path("ca-bundle", inputs.ca_bundle, "there is no such file"))
    if problems:
        raise ConfigError(problems)


def _bad_path(name: str, value: str, message: str) -> Problem:
    hint = "paths are relative to the checkout; does a step with actions/checkout stand before this one?"
    return Problem(code="bad_input", file="with", field=name, message=f"{message}, found {value!r}", hint=hint)


def mask_commands(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the commands that make the runner star out secrets, each line of a secret for itself as well."""
    for secret in secrets_of(environ):
        for value in dict.fromkeys([secret, *secret.splitlines()]):
            if len(value.strip()) >= MIN_MASK:
                yield f"::add-mask::{escape_data(value)}"


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that must not be shown: the token, and every variable that is named like a secret. Inputs are none else."""
    named = secrets_in({name: value for name, value in environ.items() if not name.startswith("INPUT_")})
    token = environ.get("INPUT_GITHUB-TOKEN", "").strip()
    return tuple(dict.fromkeys(value for value in (token, *named) if value and not value.isdigit()))


def shown_command(inputs: ActionInputs, secrets: Sequence[str]) -> str:
    """Return the line to repeat at home, quoted for a shell, without secrets and without a voice in the log."""
    command = shlex.join(["ci-eval", *arguments_at_home(inputs)])
    if inputs.working_directory != ".":
        command = f"cd {shlex.quote(inputs.working_directory)} && {command}"
    return neutral(Redactor(secrets)(command))


def give_back(workspace: Path, *, since: float) -> None:
    """Hand files that we, as root, made or changed since then to the workspace's owner: the next checkout could not remove them."""
    owner = workspace.stat()
    if owner.st_uid == os.geteuid():
        return
    for _, folders, files, here in os.fwalk(workspace):
        for name in (*folders, *files):
            try:
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
                if found.st_uid == os.geteuid() and found.st_ctime >= since:
                    os.chown(name, owner.st_uid, owner.st_gid, dir_fd=here, follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile, or on a mount that knows no owners


def main(environ: Mapping[str, str] | None = None, *, command: Command | None = None, out: TextIO | None = None) -> int:
    """Run the Action and return its exit code."""
    environ = os.environ if environ is None else environ
    out = sys.stdout if out is None else out
    in_actions = environ.get("GITHUB_ACTIONS") == "true"
    if in_actions:
        for line in mask_commands(environ):
            out.write(line + "\n")
    workspace = Path.cwd()
    try:
        inputs = read_inputs(environ)
        check_paths(inputs, workspace)
    except ConfigError as error:
        for problem in error.problems:
            out.write((workflow_command("error", str(problem)) if in_actions else f"error: {neutral(str(problem))}") + "\n")
        return error.exit_code
    out.write(f"The same at home: {shown_command(inputs, secrets_of(environ))}\n")
    out.flush()
    return _carry_out(command or _command_line(), inputs, environ, workspace)


def _carry_out(command: Command, inputs: ActionInputs, environ: Mapping[str, str], workspace: Path) -> int:
    _close_to_other_processes()
    started = time.time() - 1  # the clock of the file system lags a little
    _stop_on_signals()
    os.chdir(workspace / inputs.working_directory)
    try:
        return command(arguments_of(inputs), environment_of(inputs, environ, workspace))
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    finally:
        _ignore_signals()  # the runner sends a second one after some seconds
        give_back(workspace, since=started)


def _command_line() -> Command:
    from ci_eval.cli.main import main as command

    return command


def _close_to_other_processes() -> None:
    """Keep the agent under test, which is root as we are, from reading our environment and memory in /proc. Linux only."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _stop_on_signals() -> None:
    """Cancelling a job sends SIGINT, then SIGTERM, which process 1 of a container does not obey unless told to."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _as_interrupt)


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)


def _ignore_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    sys.stderr = sys.stdout  # one pipe: from two, the runner's log would mix the lines
    sys.exit(main())

"""Inputs of a workflow become a command line."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ci_eval.action import arguments_of, give_back, main, mask_commands, read_inputs
from ci_eval.errors import ConfigError, ExitCode

TOKEN = "ghs_0123456789"
ROOT = str(Path(__file__).parents[2])


class Recorder:
    """A command that notes what it was called with."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.argv: list[str] = []
        self.environ: dict[str, str] = {}
        self.folder = Path()

    def __call__(self, argv: Sequence[str], environ: Mapping[str, str]) -> int:
        self.argv, self.environ, self.folder = list(argv), dict(environ), Path.cwd()
        return self.code


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path) -> Iterator[None]:
    """The Action changes folder and signal handlers of its process; put them back."""
    before, handlers = Path.cwd(), {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    os.chdir(tmp_path)
    yield
    os.chdir(before)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def inputs_of(**given: str) -> dict[str, str]:
    return {f"INPUT_{name.upper().replace('_', '-')}": value for name, value in given.items()}


def act(command: Recorder, **given: str) -> str:
    out = io.StringIO()
    code = main({"GITHUB_ACTIONS": "true", **inputs_of(**given)}, command=command, out=out)
    assert code == command.code
    return out.getvalue()


def test_every_input_finds_its_option() -> None:
    environ = inputs_of(
        config="evals/a b.yaml",
        output_dir="out",
        baseline="main",
        candidate="HEAD",
        set="trials=3\n\n  judge.model=x=y  \n",
        comment="false",
        check="False",
        check_name="agent quality",
        key="travel",
        fail_on_publish_error="true",
        allow_untrusted_code="TRUE",
        verbose="True",
    )

    assert arguments_of(read_inputs(environ)) == [
        *("run", "-c", "evals/a b.yaml", "-o", "out", "--baseline", "main", "--candidate", "HEAD"),
        *("--set", "trials=3", "--set", "judge.model=x=y", "--check-name", "agent quality", "--key", "travel"),
        *("--publish", "--no-comment", "--no-check", "--fail-on-publish-error", "--allow-untrusted-code", "-v"),
    ]


def test_white_space_around_a_value_is_trimmed() -> None:
    assert read_inputs(inputs_of(config=" a.yaml \n", comment=" false ")).config == "a.yaml"


def test_all_problems_are_told_at_once_and_nothing_is_run() -> None:
    command, out = Recorder(), io.StringIO()
    environ = inputs_of(comment="yes", verbose="1", set="trials", baseline="--upload-pack=evil", key="a\nb")

    code = main({"GITHUB_ACTIONS": "true", **environ}, command=command, out=out)

    assert code == ExitCode.INPUT
    assert command.argv == []
    lines = out.getvalue().splitlines()
    assert len(lines) == 5
    assert all(line.startswith("::error::with: ") for line in lines)
    assert "::error::with: comment: true or false is expected, found 'yes'%0A    yes, no, 1 and 0 are not taken" in lines


@pytest.mark.parametrize("word", ["yes", "no", "1", "0", "on", "tRUE"])
def test_other_words_than_true_and_false_are_refused(word: str) -> None:
    with pytest.raises(ConfigError, match=f"found '{word}'"):
        read_inputs(inputs_of(comment=word))


def test_the_token_travels_in_the_environment_and_the_inputs_do_not() -> None:
    command = Recorder()
    act(command, github_token=TOKEN, key="travel")

    assert command.environ == {"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": TOKEN}
    assert TOKEN not in command.argv


def test_the_command_is_printed_so_that_a_shell_takes_it(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    text = act(Recorder(), working_directory="agent", set="report.title=It's $HOME")

    expected = """cd agent && ci-eval run -c ci-eval.yaml -o ci-eval-out --set 'report.title=It'"'"'s $HOME'"""
    assert text == f"The same at home: {expected}\n"


def test_what_only_publishes_is_no_part_of_the_command_at_home() -> None:
    text = act(
        Recorder(), check_name="quality", key="k", comment="false", fail_on_publish_error="true", allow_untrusted_code="true"
    )
    assert text == "The same at home: ci-eval run -c ci-eval.yaml -o ci-eval-out\n"


def test_the_log_is_one_stream(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ci_eval.action"],
        env={"PYTHONPATH": ROOT},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == ""
    assert "error: --publish: there is nothing to publish to" in done.stdout


def test_a_secret_within_an_input_is_not_printed() -> None:
    out = io.StringIO()
    environ = {
        "GITHUB_ACTIONS": "true",
        "OPENAI_API_KEY": "sk-0123456789",
        **inputs_of(set="x=sk-0123456789", github_token=TOKEN),
    }
    main(environ, command=Recorder(), out=out)

    masks = [line for line in out.getvalue().splitlines() if line.startswith("::add-mask::")]
    rest = [line for line in out.getvalue().splitlines() if not line.startswith("::add-mask::")]
    assert masks == [f"::add-mask::{TOKEN}", "::add-mask::sk-0123456789"]
    assert len(rest) == 1
    assert "sk-" not in rest[0]
    assert "x=***" in rest[0]


def test_an_input_cannot_speak_to_the_log() -> None:
    assert "##[" not in act(Recorder(), check_name="##[error]boo")


def test_a_secret_of_several_lines_is_masked_whole_and_by_line() -> None:
    environ = {"SERVICE_PRIVATE_KEY": "first line 100%\nsecond line"}

    assert list(mask_commands(environ)) == [
        "::add-mask::first line 100%25%0Asecond line",
        "::add-mask::first line 100%25",
        "::add-mask::second line",
    ]


def test_what_is_no_secret_is_not_masked() -> None:
    environ = {"MAX_TOKENS": "100000000", "INPUT_KEY": "travel-agent", "SHORT_TOKEN": "abc", "PATH": "/usr/bin:/usr/local/bin"}

    assert list(mask_commands(environ)) == []


def test_at_home_no_mask_is_printed() -> None:
    out = io.StringIO()
    main({"OPENAI_API_KEY": "sk-0123456789"}, command=Recorder(), out=out)

    assert "sk-" not in out.getvalue()


def test_the_command_works_in_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    command = Recorder()
    act(command, working_directory="agent")

    assert command.folder == tmp_path / "agent"


def test_a_certificate_file_is_handed_to_every_client(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    command = Recorder()
    act(command, ca_bundle="ca.pem")

    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "GIT_SSL_CAINFO"):
        assert command.environ[name] == str(tmp_path / "ca.pem")


def test_missing_paths_are_told_together(tmp_path: Path) -> None:
    out = io.StringIO()
    code = main(inputs_of(working_directory="../..", ca_bundle="none.pem"), command=Recorder(), out=out)

    assert code == ExitCode.INPUT
    assert "working-directory: a folder within the checkout is expected, found '../..'" in out.getvalue()
    assert "ca-bundle: there is no such file, found 'none.pem'" in out.getvalue()


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_the_exit_code_is_that_of_the_command(code: int) -> None:
    act(Recorder(code))


def test_an_interrupted_command_ends_with_130() -> None:
    def interrupted(argv: Sequence[str], environ: Mapping[str, str]) -> int:
        signal.raise_signal(signal.SIGTERM)
        return 0

    assert main({}, command=interrupted, out=io.StringIO()) == ExitCode.INTERRUPTED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_we_made_belongs_to_the_owner_of_the_workspace_and_nothing_else_is_touched(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (workspace / "out", outside):
        folder.mkdir(parents=True)
    (workspace / "out" / "report.html").write_text("")
    (outside / "file").write_text("")
    (workspace / "link").symlink_to(outside)
    os.chown(workspace, 1001, 1001)

    give_back(workspace, since=time.time() - 60)

    assert {path.lstat().st_uid for path in workspace.rglob("*")} == {1001}
    assert {path.lstat().st_uid for path in (outside, outside / "file")} == {0}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_from_before_us_keep_their_owner(tmp_path: Path) -> None:
    (tmp_path / "older").write_text("")
    os.chown(tmp_path, 1001, 1001)

    give_back(tmp_path, since=time.time() + 60)

    assert (tmp_path / "older").lstat().st_uid == 0


def test_the_pull_request_s_own_files_replace_no_module(tmp_path: Path) -> None:
    for name in ("yaml", "typer", "typing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "ci_eval").mkdir()
    (tmp_path / "ci_eval" / "__init__.py").write_text("raise SystemExit('hijacked')")

    done = subprocess.run(
        [sys.executable, "-I", "-u", "-m", "ci_eval.action"],
        cwd=tmp_path,
        env={"INPUT_COMMENT": "maybe", "PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == ExitCode.INPUT, done.stderr
    assert "true or false is expected, found 'maybe'" in done.stdout

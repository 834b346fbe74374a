"""A real command per case."""

import os
import sys
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from ci_eval.targets.base import TargetFailure
from ci_eval.targets.command import CommandSpec
from tests.targets.arms import agent, answer, answers, case, context, failure, is_running
from tests.targets.test_python_function import TOKENS, wait_until

ECHO_CASE = "import json, sys; print(json.dumps({'response': json.load(sys.stdin)}))"


def shell(script: str, **settings: object) -> CommandSpec:
    return CommandSpec.model_validate({"command": ["sh", "-c", script], **settings})


def test_the_case_comes_as_one_json_object_on_stdin(tmp_path: Path) -> None:
    spec = CommandSpec(command=(sys.executable, "-c", ECHO_CASE))
    assert answer(spec, context(tmp_path), case(city="Köln")) == {
        "response": {
            "id": "parcel",
            "query": "Where is my parcel?",
            "messages": [{"role": "user", "content": "Where is my parcel?"}],
            "item": {"city": "Köln"},
            "tags": ["smoke"],
            "trial": 0,
        }
    }


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("plain text\\n", "plain text"),
        ("two\\nlines\\n\\n", "two\nlines\n"),
        ("windows\\r\\n", "windows"),
        ("", ""),
        ('{"response": "x"}\\n', {"response": "x"}),
        ('  [{"role": "assistant", "content": "x"}]', [{"role": "assistant", "content": "x"}]),
        ("[Paris] is the capital", "[Paris] is the capital"),
        ("42\\n", "42"),
        ('"quoted"', '"quoted"'),
        ("null", "null"),
    ],
)
def test_an_object_or_a_list_is_json_and_everything_else_is_text(tmp_path: Path, printed: str, value: object) -> None:
    assert answer(shell(f"printf '{printed}'"), context(tmp_path)) == value


@pytest.mark.parametrize(
    "printed", ['loading\\n{"response": "x"}\\n', '[debug] loading\\n\\n{\\n  "messages": []\\n}', 'x\\n{"tool_calls": []}']
)
def test_an_answer_in_json_below_a_log_is_refused_rather_than_taken_as_text(tmp_path: Path, printed: str) -> None:
    failed = failure(shell(f"printf '{printed}'"), context(tmp_path))
    assert failed.code == "bad_reply"
    assert "write logs to stderr, or set `output: text`" in failed.message
    assert isinstance(answer(shell(f"printf '{printed}'", output="text"), context(tmp_path)), str)


def test_a_text_that_shows_json_is_text(tmp_path: Path) -> None:
    assert answer(shell("""printf 'Use this:\\n{"city": "Rome"}\\n'"""), context(tmp_path)) == 'Use this:\n{"city": "Rome"}'


def test_text_can_be_asked_for_even_where_it_looks_like_json(tmp_path: Path) -> None:
    assert answer(shell("""echo '{"a": 1}'""", output="text"), context(tmp_path)) == '{"a": 1}'


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("echo fine; echo 'no key' >&2; exit 3", "exit_code", "exit code 3; the end of its stderr:\nno key"),
        ("kill -9 $$", "exit_code", "signal SIGKILL (out of memory?)"),
        ("""echo '{"score": NaN}'""", "bad_reply", "NaN is no JSON number"),
        ("printf '\\377x'", "bad_reply", "not UTF-8 at byte 0"),
        ("exec cat /dev/zero", "bad_reply", "more than 10 MB"),
        ("sleep 60", "timeout", "no answer within 0.5 s"),
        ("sleep 60 & sleep 60", "timeout", "no answer within 0.5 s"),
    ],
)
def test_each_way_to_fail_has_its_code_and_its_words(tmp_path: Path, script: str, code: str, words: str) -> None:
    broken = failure(shell(script, timeout_s=0.5), context(tmp_path))
    assert (broken.code, words in broken.message) == (code, True), broken.message


def test_json_that_was_promised_and_is_none_is_told_with_its_place(tmp_path: Path) -> None:
    broken = failure(shell("echo '{\"a\": 1'", output="json"), context(tmp_path))
    assert (broken.code, broken.message) == ("bad_reply", "stdout is no JSON: line 2, column 1: Expecting ',' delimiter")


def test_a_long_stderr_is_quoted_from_its_end(tmp_path: Path) -> None:
    broken = failure(shell("yes noise | head -c 200000 >&2; echo last words >&2; exit 1"), context(tmp_path))
    assert broken.message.endswith("last words")
    assert len(broken.message) < 1_200


def test_what_stays_in_the_background_does_not_hold_the_answer_back(tmp_path: Path) -> None:
    started = time.monotonic()
    assert answer(shell("sleep 300 & echo $!"), context(tmp_path), case()) is not None
    assert time.monotonic() - started < 20  # the background job lasts 300


def test_background_children_end_with_their_command(tmp_path: Path) -> None:
    pid = answer(shell("sleep 300 >/dev/null 2>&1 & echo $!"), context(tmp_path))
    assert isinstance(pid, str)
    wait_until(lambda: not is_running(int(pid)))


def test_a_command_that_never_reads_its_case_still_answers(tmp_path: Path) -> None:
    assert answer(shell("echo done"), context(tmp_path), case("x" * 3_000_000)) == "done"


def test_a_command_written_as_text_is_split_as_a_shell_would(tmp_path: Path) -> None:
    agent(tmp_path / "arm", '#!/bin/sh\necho "$1"\n', name="agent.sh").joinpath("agent.sh").chmod(0o755)
    spec = CommandSpec.model_validate({"command": "./agent.sh 'two words'"})
    assert answer(spec, context(tmp_path / "arm")) == "two words"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("cat x | ./agent", "| means nothing without a shell"),
        ("./agent 'open", "cannot be split into words: No closing quotation"),
        ("", "at least 1 item"),
        ([], "at least 1 item"),
    ],
)
def test_a_command_that_cannot_be_meant_is_refused(written: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words.replace("|", r"\|")):
        CommandSpec.model_validate({"command": written})


def test_a_program_missing_from_the_checkout_is_the_agents_fault_and_one_missing_from_the_machine_is_not(tmp_path: Path) -> None:
    assert failure(CommandSpec(command=("./agent",)), context(tmp_path)).code == "not_found"
    assert failure(CommandSpec(command=("no-such-interpreter",)), context(tmp_path)).code == "sandbox"


def test_the_command_sees_no_token(tmp_path: Path) -> None:
    environ = {**TOKENS, "PATH": os.environ["PATH"]}
    seen = answer(shell("env", env=["STRIPE_KEY"]), context(tmp_path, environ=environ))
    assert isinstance(seen, str)
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD", "CI_EVAL_FAMILY"} == {"PATH", "LC_ALL", "STRIPE_KEY"}


def test_setup_prepares_the_checkout_of_a_command_too(tmp_path: Path) -> None:
    where = context(agent(tmp_path / "arm", ""), concurrency=2)
    replies = answers(shell("cat built", setup="echo once >> built"), where, case(), case())
    assert [None if isinstance(reply, TargetFailure) else reply.value for reply in replies] == ["once", "once"]

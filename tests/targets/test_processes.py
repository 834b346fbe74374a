"""The end of a program's own words, and our own environment out of its reach."""

import shutil
import subprocess
import sys

import pytest

from ci_eval.targets.processes import clean, how_it_ended, last_words
from tests.targets.repos import ENVIRON

READ_THE_PARENT = """
import asyncio, os
from pathlib import Path
from ci_eval.targets.processes import Program, run
spy = Program(argv=["head", "-c", "4", f"/proc/{os.getpid()}/environ"], folder=Path("/"), environment={"PATH": os.environ["PATH"]})
finished = asyncio.run(run(spy, timeout_s=5))
print(finished.exit_code, finished.output, finished.stderr)
"""


@pytest.mark.skipif(not shutil.which("capsh"), reason="capsh, which takes from root what a container takes, is not here")
def test_a_program_cannot_read_our_environment_from_proc() -> None:
    drop = ["capsh", "--drop=cap_sys_ptrace,cap_perfmon,cap_sys_admin", f"--shell={sys.executable}", "--"]
    finished = subprocess.run(
        [*drop, "-c", READ_THE_PARENT], env={**ENVIRON, "INPUT_TOKEN": "ghs_x"}, capture_output=True, text=True, check=False
    )
    assert finished.stdout.startswith("1 b'' head: cannot open"), finished
    assert "Permission denied" in finished.stdout


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("50 %\r100 %\r\n", "50 %\n100 %\n"),
        ("a\x00b\x08c\x7fd\x9be", "abcde"),
        ("tab\tand ümlaut stay", "tab\tand ümlaut stay"),
    ],
)
def test_escape_sequences_and_control_characters_are_taken_out(raw: str, text: str) -> None:
    assert clean(raw) == text


def test_the_end_of_a_long_stderr_is_kept_and_said_to_be_the_end() -> None:
    assert last_words("") == ""
    assert last_words("  \n") == ""
    assert last_words("x" * 5_000 + "the end\n").endswith("…" + " " + ("x" * 5_000 + "the end")[-1_000:])


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (3, "exit code 3"), (-9, "signal SIGKILL (out of memory?)"), (-250, "signal 250")]
)
def test_an_exit_code_is_said_in_words(code: int, words: str) -> None:
    assert how_it_ended(code) == words

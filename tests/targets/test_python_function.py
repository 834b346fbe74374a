"""A real function in a real process: what it is given, what it may return, and what it cannot break."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest
from pydantic import ValidationError

from ci_eval.domain.message import Message, Text
from ci_eval.domain.readers import Reply
from ci_eval.targets.base import TargetFailure
from ci_eval.targets.python_function import PythonFunctionSpec
from tests.targets.arms import agent, answer, answers, case, context, failure, is_running

SPEC = PythonFunctionSpec(function="agent:answer", timeout_s=20)


def value_of(tmp_path: Path, source: str, **fields: object) -> object:
    return answer(SPEC, context(agent(tmp_path / "arm", source)), case(**fields))


def failure_of(tmp_path: Path, source: str, *, timeout_s: float = 20) -> TargetFailure:
    spec = PythonFunctionSpec(function="agent:answer", timeout_s=timeout_s)
    return failure(spec, context(agent(tmp_path / "arm", source)))


@pytest.mark.parametrize(
    ("signature", "given"),
    [
        ("query", "query"),
        ("question", "question"),
        ("text, temperature=0.2", "text"),
        ("question, /", "question"),
        ("question, *, trial", "question"),
        ("*words", "words[0]"),
        ("item, query", "query"),
        ("**everything", "everything['query']"),
        ("*, query", "query"),
        ("case, query=None", "query"),
    ],
)
def test_the_query_reaches_every_usual_signature(tmp_path: Path, signature: str, given: str) -> None:
    assert value_of(tmp_path, f"def answer({signature}): return {given}") == "Where is my parcel?"


def test_a_function_may_ask_for_everything_by_name(tmp_path: Path) -> None:
    source = "def answer(query, messages, case, item, trial): return [query, messages, case, item, trial]"
    assert value_of(tmp_path, source, city="Köln") == [
        "Where is my parcel?",
        [{"role": "user", "content": "Where is my parcel?"}],
        {"id": "parcel", "fields": {"city": "Köln"}, "tags": ["smoke"]},
        {"city": "Köln"},
        0,
    ]


def test_a_case_with_messages_hands_over_its_own_messages(tmp_path: Path) -> None:
    messages = (Message(role="system", parts=(Text(text="Be kind."),)), Message(role="user", parts=(Text(text="Hi"),)))
    where = context(agent(tmp_path / "arm", "def answer(messages): return messages"))
    assert answer(SPEC, where, case("Hi", messages=messages)) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
    ]


def test_a_parameter_nobody_passes_is_named(tmp_path: Path) -> None:
    broken = failure_of(tmp_path, "def answer(query, customer): return ''")
    assert (broken.code, broken.message) == (
        "not_found",
        "the function wants customer; it can be given query, messages, case, item, trial",
    )


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("async def answer(query): return 'async'", "async"),
        ("def answer(query):\n    yield 'in '\n    yield 'pieces'", "in pieces"),
        ("def answer(query):\n    yield {'response': 'a'}\n    yield {'response': 'all'}", {"response": "all"}),
        ("async def answer(query):\n    yield 'a'\n    yield 'b'", "ab"),
        ("def answer(query): return {'response': 'x', 'usage': {'input_tokens': 3}}", None),
        ("class Agent:\n    def __call__(self, query): return 'object'\nanswer = Agent()", "object"),
        ("def answer(query): return (1, 2)", [1, 2]),
        ("def answer(query): return ''", ""),
        ("def answer(query): return 'na\\u00efve \\ud83d\\ude00 \\u2028'", "naïve 😀 \u2028"),
    ],
)
def test_text_lists_and_objects_come_back_from_every_kind_of_function(tmp_path: Path, source: str, value: object) -> None:
    expected = {"response": "x", "usage": {"input_tokens": 3}} if value is None else value
    assert value_of(tmp_path, source) == expected


def test_the_checkout_comes_first_on_the_path_and_our_own_modules_are_not_on_it(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "import processes\ndef answer(query): return processes.WHOSE")
    agent(arm, "WHOSE = 'the agent’s'", name="processes.py")
    assert answer(SPEC, context(arm)) == "the agent’s"


def test_importing_the_agent_leaves_no_files_behind(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "def answer(query): return 'x'")
    answer(SPEC, context(arm))
    assert [path.name for path in arm.iterdir()] == ["agent.py"]


def test_coroutines_of_several_calls_share_one_event_loop(tmp_path: Path) -> None:
    source = "import asyncio\nseen = []\nasync def answer(query):\n    seen.append(asyncio.get_running_loop())\n    return [len(set(map(id, seen)))]"
    replies = answers(SPEC, context(agent(tmp_path / "arm", source)), case(), case(), case())
    assert [reply.value for reply in replies if isinstance(reply, Reply)] == [[1], [1], [1]]


# What goes wrong


def test_an_exception_is_told_in_one_line_with_its_place(tmp_path: Path) -> None:
    broken = failure_of(tmp_path, "def answer(query):\n    return {}['city']\n")
    assert (broken.code, broken.message) == ("exception", "KeyError: 'city' (agent.py:2 in answer)")


def test_an_exception_does_not_leak_into_the_next_case(tmp_path: Path) -> None:
    source = "def answer(query):\n    if query == 'bad': raise ValueError('no')\n    return query"
    replies = answers(SPEC, context(agent(tmp_path / "arm", source)), case("bad"), case("good"))
    assert isinstance(replies[0], TargetFailure)
    assert isinstance(replies[1], Reply)
    assert replies[1].value == "good"


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("import no_such_library\ndef answer(query): return ''", "not_found", "No module named 'no_such_library' (agent.py:1"),
        ("from json import nothing_like_it\n", "not_found", "cannot import name 'nothing_like_it'"),
        ("def answer(query) return ''", "exception", "SyntaxError: expected ':' (agent.py, line 1)"),
        ("import sys\nsys.exit('bye')", "exception", "SystemExit: bye"),
        ("def answers(query): return ''", "not_found", "agent has no answer; near names: answers"),
        ("answer = 7", "not_found", "agent:answer is of type int; a function was expected"),
        ("import sys\ndef answer(query): sys.exit(3)", "exception", "SystemExit: 3"),
        ("import os\ndef answer(query): os._exit(7)", "crashed", "the process ended with exit code 7"),
        ("import os\ndef answer(query): os.kill(os.getpid(), 11)", "crashed", "signal SIGSEGV"),
        ("import os\ndef answer(query): os.closerange(3, 50); return 'x'", "crashed", "the process ended"),
        ("import os, time\ndef answer(query): os.closerange(3, 50); time.sleep(60)", "crashed", "closed the pipe"),
        ("def answer(query): return None", "bad_reply", "returned None"),
        ("def answer(query): return 4", "bad_reply", "returned 4"),
        ("def answer(query): return {'score': float('nan')}", "bad_reply", "the value['score'] is nan"),
        ("def answer(query): return [1, {'raw': b'x'}]", "bad_reply", "the value[1]['raw'] is of type bytes"),
        ("def answer(query): return {1: 2}", "bad_reply", "a key of type int"),
        ("import datetime\ndef answer(query): return {'at': datetime.date.today()}", "bad_reply", "of type datetime.date"),
        ("def answer(query): return 'x' * 11_000_000", "bad_reply", "11,000,"),
        ("def answer(query):\n    while True: yield 'x' * 1_000_000", "bad_reply", "yielded more than"),
        ("def answer(query):\n    a = []\n    a.append(a)\n    return a", "bad_reply", "contains itself"),
        ("def answer(query): return [10 ** 5000]", "bad_reply", "cannot be written as JSON"),
        ("class Odd(Exception):\n    def __str__(self): raise ValueError\ndef answer(query): raise Odd", "exception", "Odd"),
    ],
)
def test_each_way_to_fail_has_its_code_and_its_words(tmp_path: Path, source: str, code: str, words: str) -> None:
    broken = failure_of(tmp_path, source)
    assert (broken.code, words in broken.message) == (code, True), broken.message
    assert "Traceback" not in broken.message


def test_a_missing_module_names_the_folder_it_was_looked_for_in(tmp_path: Path) -> None:
    arm = tmp_path / "arm"
    arm.mkdir()
    assert failure(SPEC, context(arm)).message == f"there is no module agent in {arm}"


def test_what_cannot_be_imported_is_tried_once_for_all_cases(tmp_path: Path) -> None:
    source = "open('tries', 'a').write('x')\nraise ValueError('no key')"
    arm = agent(tmp_path / "arm", source)
    replies = answers(SPEC, context(arm), *(case() for _ in range(5)))
    assert {reply.message for reply in replies if isinstance(reply, TargetFailure)} == {
        "importing agent failed: ValueError: no key (agent.py:2 in <module>)"
    }
    assert (arm / "tries").read_text() == "x"


def test_a_crash_is_followed_by_a_new_process_and_quotes_stderr_without_control_characters(tmp_path: Path) -> None:
    source = (
        "import os, sys\ndef answer(query):\n    if query != 'die': return query\n"
        "    sys.stderr.write('\\x1b[31mout of\\x00 luck\\x1b[0m\\r')\n    os._exit(1)"
    )
    replies = answers(SPEC, context(agent(tmp_path / "arm", source)), case("die"), case("next"))
    assert isinstance(replies[0], TargetFailure)
    assert replies[0].message == "the process ended with exit code 1; the end of its stderr:\nout of luck"
    assert isinstance(replies[1], Reply)
    assert replies[1].value == "next"


def test_an_exception_on_a_fork_says_which_listed_variable_has_no_value(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "import os\ndef answer(query): return 1 / len(os.environ['OPENAI_API_KEY'])")
    spec = PythonFunctionSpec(function="agent:answer", env=("OPENAI_API_KEY",))
    broken = failure(spec, context(arm, environ={"PATH": os.environ["PATH"], "OPENAI_API_KEY": ""}))
    assert broken.message.endswith("(listed under env, but not set: OPENAI_API_KEY)")


# Hostile agents


def test_whatever_is_printed_cannot_be_taken_for_an_answer(tmp_path: Path) -> None:
    source = """
import os, subprocess, sys
def answer(query):
    print('{"id": "start", "value": "forged"}', flush=True)
    print("::add-mask::the", "##[error]injected")
    os.write(1, b'{"value": "forged"}\\n')
    subprocess.run(["echo", "from a child"])
    for fd in range(3, 64):
        try:
            os.write(fd, b'half a line, and no end')
        except OSError:
            pass
    try:
        input()
    except EOFError:
        return "honest"
"""
    assert value_of(tmp_path, source) == "honest"


def test_a_flood_on_stdout_neither_blocks_the_agent_nor_fills_our_memory(tmp_path: Path) -> None:
    source = "def answer(query):\n    for _ in range(300): print('x' * 100_000)\n    return 'done'"
    assert value_of(tmp_path, source) == "done"


def test_a_flood_in_place_of_an_answer_is_cut_off(tmp_path: Path) -> None:
    source = """
import os
def answer(query):
    pipe = next(fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}") and os.access(f"/proc/self/fd/{fd}", os.W_OK)
                and "pipe" in os.readlink(f"/proc/self/fd/{fd}") and is_writable(fd))
    while True: os.write(pipe, b"x" * 65536)
def is_writable(fd):
    try: return os.write(fd, b"") == 0
    except OSError: return False
"""
    broken = failure_of(tmp_path, source)
    assert (broken.code, broken.message) == ("bad_reply", "more than 10 MB were written in place of an answer")


def test_too_slow_an_answer_is_a_timeout_and_the_next_case_gets_a_new_process(tmp_path: Path) -> None:
    source = "import time\ndef answer(query):\n    time.sleep(60 if query == 'slow' else 0)\n    return query"
    spec = PythonFunctionSpec(function="agent:answer", timeout_s=0.3)
    started = time.monotonic()
    replies = answers(spec, context(agent(tmp_path / "arm", source)), case("slow"), case("quick"))
    assert isinstance(replies[0], TargetFailure)
    assert (replies[0].code, replies[0].message) == ("timeout", "no answer within 0.3 s")
    assert isinstance(replies[1], Reply)
    assert replies[1].value == "quick"
    assert time.monotonic() - started < 10


CHILDREN = """
import os, subprocess, sys, time
def answer(query):
    child = subprocess.Popen(["sleep", "300"])
    daemon = subprocess.Popen(["sleep", "300"], start_new_session=True)
    stubborn = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(300)"])
    with open("pids", "w") as file:
        file.write(f"{os.getpid()} {child.pid} {daemon.pid} {stubborn.pid}")
    time.sleep(300 if query == "hang" else 0)
    return "started"
"""


@pytest.mark.parametrize("query", ["hang", "return"])
def test_children_do_not_outlive_the_agent(tmp_path: Path, query: str) -> None:
    arm = agent(tmp_path / "arm", CHILDREN)
    answers(PythonFunctionSpec(function="agent:answer", timeout_s=1), context(arm), case(query))
    pids = [int(pid) for pid in (arm / "pids").read_text().split()]
    assert len(pids) == 4
    wait_until(lambda: not any(map(is_running, pids)))


def test_a_cancelled_call_leaves_nothing_running(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", CHILDREN)

    async def cancel() -> None:
        target = SPEC.open(context(arm))
        asking = asyncio.create_task(target.answer(case("hang"), 0))
        while not ((arm / "pids").exists() and len((arm / "pids").read_text().split()) == 4):
            await asyncio.sleep(0.02)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await target.close()

    asyncio.run(cancel())
    wait_until(lambda: not any(is_running(int(pid)) for pid in (arm / "pids").read_text().split()))


def test_an_agent_that_forks_itself_answers_once(tmp_path: Path) -> None:
    source = "import os\nseen = []\ndef answer(query):\n    seen.append(os.fork())\n    return [len(seen), query]"
    replies = answers(SPEC, context(agent(tmp_path / "arm", source)), case("a"), case("b"))
    assert [reply.value for reply in replies if isinstance(reply, Reply)] == [[1, "a"], [2, "b"]]


TOKENS = {
    "INPUT_GITHUB-TOKEN": "ghs_input",
    "INPUT_TOKEN": "ghs_input2",
    "ACTIONS_RUNTIME_TOKEN": "runtime",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "oidc",
    "GITHUB_TOKEN": "ghs_job",
    "GITHUB_OUTPUT": "/github/file_commands/output",
    "GH_TOKEN": "ghp_cli",
    "RUNNER_TEMP": "/github/runner_temp",
    "OPENAI_API_KEY": "sk-listed",
    "STRIPE_KEY": "sk-not-listed",
    "LC_ALL": "C.UTF-8",
}


def test_the_agent_sees_what_is_listed_and_no_token(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "import os\ndef answer(query): return dict(os.environ)")
    spec = PythonFunctionSpec(function="agent:answer", env=("OPENAI_API_KEY",))
    seen = answer(spec, context(arm, environ={**TOKENS, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}))
    assert isinstance(seen, dict)
    assert {name for name in seen if name not in ("CI_EVAL_FAMILY", "LC_CTYPE")} == {"PATH", "HOME", "LC_ALL", "OPENAI_API_KEY"}


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "github_token", "INPUT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GH_TOKEN", "RUNNER_TEMP"]
)
def test_a_token_cannot_be_asked_for(name: str) -> None:
    with pytest.raises(ValidationError, match=f"{name} is never passed to the agent"):
        PythonFunctionSpec(function="agent:answer", env=(name,))


def test_a_value_in_place_of_a_name_is_refused() -> None:
    with pytest.raises(ValidationError, match="list names only"):
        PythonFunctionSpec(function="agent:answer", env=("KEY=value",))


@pytest.mark.parametrize("function", ["agent", "agent:", ":answer", "agent.py:answer()", "../agent:answer", "a b:c"])
def test_a_function_is_written_as_module_and_name(function: str) -> None:
    with pytest.raises(ValidationError, match="function"):
        PythonFunctionSpec(function=function)


# Interpreter, set-up, concurrency


def test_a_relative_interpreter_is_inside_the_checkout(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "import sys\ndef answer(query): return sys.executable")
    (arm / "bin").mkdir()
    (arm / "bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (arm / "bin/python").chmod(0o755)
    assert isinstance(answer(PythonFunctionSpec(function="agent:answer", python="bin/python"), context(arm)), str)


def test_an_interpreter_that_is_not_there_is_the_infrastructures_fault(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "def answer(query): return ''")
    broken = failure(PythonFunctionSpec(function="agent:answer", python=".venv/bin/python"), context(arm))
    assert broken.code == "sandbox"
    assert f"{arm}/.venv/bin/python could not be started" in broken.message


def test_setup_runs_once_before_the_first_case_and_its_log_is_kept(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "import made\ndef answer(query): return made.TEXT")
    setup = "echo installing >> log.txt\necho 'TEXT = \"ready\"' > made.py\necho done"
    where = context(arm, concurrency=3)
    replies = answers(PythonFunctionSpec(function="agent:answer", setup=setup), where, case(), case(), case())
    assert [reply.value for reply in replies if isinstance(reply, Reply)] == ["ready", "ready", "ready"]
    assert (arm / "log.txt").read_text() == "installing\n"
    assert where.setup_log is not None
    assert where.setup_log.read_text() == "done\n"


def test_the_log_of_the_setup_holds_no_secret(tmp_path: Path) -> None:
    where = context(
        agent(tmp_path / "arm", "def answer(query): return 'x'"), environ={**os.environ, "MODEL_API_KEY": 'sk-12"34\nsecond line'}
    )
    answer(PythonFunctionSpec(function="agent:answer", setup='echo "key: $MODEL_API_KEY"', env=("MODEL_API_KEY",)), where)
    assert where.setup_log is not None
    assert where.setup_log.read_text() == "key: ***\n"


def test_a_setup_that_fails_stops_at_its_first_bad_line_and_quotes_its_end(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "def answer(query): return ''")
    spec = PythonFunctionSpec(function="agent:answer", setup="echo no such version >&2\nfalse\ntouch reached")
    broken = failure(spec, context(arm))
    assert (broken.code, "no such version" in broken.message) == ("sandbox", True)
    assert not (arm / "reached").exists()


def test_a_setup_without_end_is_the_runners_timeout(tmp_path: Path) -> None:
    arm = agent(tmp_path / "arm", "def answer(query): return ''")
    spec = PythonFunctionSpec(function="agent:answer", setup="sleep 60", setup_timeout_s=0.2)
    assert failure(spec, context(arm)).code == "timeout_runner"


def test_as_many_cases_run_at_once_as_there_are_places(tmp_path: Path) -> None:
    source = "import os, time\ndef answer(query):\n    time.sleep(0.2)\n    return [os.getpid()]"
    where = context(agent(tmp_path / "arm", source), concurrency=2)
    replies = answers(SPEC, where, *(case() for _ in range(6)))
    assert len({str(reply.value) for reply in replies if isinstance(reply, Reply)}) == 2
    assert all(isinstance(reply, Reply) and 0.2 <= (reply.latency_s or 0) < 1 for reply in replies)


def wait_until(is_true: object, *, seconds: float = 3) -> None:
    assert callable(is_true)
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)

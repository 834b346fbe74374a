"""The pool as evaluators use it, and the worker in other interpreters."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.domain.functions import FunctionFailure, RemoteFunction
from ci_eval.targets import worker
from ci_eval.targets.worker_pool import FunctionSettings, WorkerPool
from tests.targets.arms import agent


def pool(folder: Path, function: str = "checks:score", *, python: str | None = None, size: int = 1) -> WorkerPool:
    return WorkerPool(
        FunctionSettings(
            function=function,
            folder=folder,
            environment={"PATH": os.environ["PATH"]},
            size=size,
            timeout_s=10,
            start_timeout_s=10,
            python=python,
        )
    )


def called(function: RemoteFunction, **arguments: object) -> object:
    async def call_and_close() -> object:
        try:
            return await function.call(arguments)
        finally:
            await function.close()

    return asyncio.run(call_and_close())


def test_a_function_is_called_with_the_arguments_it_takes(tmp_path: Path) -> None:
    agent(tmp_path, "def score(response, *, ground_truth=None): return {'score': response == ground_truth}", name="checks.py")
    assert called(pool(tmp_path), response="a", ground_truth="a", case={}) == {"score": True}


def test_scalars_and_null_are_values_of_a_function_though_not_of_an_agent(tmp_path: Path) -> None:
    agent(tmp_path, "def score(response): return response", name="checks.py")
    assert [called(pool(tmp_path), response=value) for value in (0.5, True, None)] == [0.5, True, None]


def test_only_an_agent_gets_the_query_under_a_name_of_its_own(tmp_path: Path) -> None:
    agent(tmp_path, "def score(answer): return 1", name="checks.py")
    with pytest.raises(FunctionFailure, match="the function wants answer; it can be given response") as caught:
        called(pool(tmp_path), response="a")
    assert (caught.value.code, caught.value.wanted) == ("not_found", ("answer",))


def test_a_class_whose_objects_are_called_is_made_once(tmp_path: Path) -> None:
    source = "class score:\n    def __init__(self): self.made = 1\n    def __call__(self, response): return self.made"
    agent(tmp_path, source, name="checks.py")
    assert called(pool(tmp_path), response="a") == 1


def test_a_function_may_sit_in_a_package_and_inside_an_object(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    agent(tmp_path / "evals", "class Checks:\n    @staticmethod\n    def score(response): return 1", name="checks.py")
    assert called(pool(tmp_path, "evals.checks:Checks.score"), response="a") == 1


def test_a_pool_that_was_never_asked_closes(tmp_path: Path) -> None:
    asyncio.run(pool(tmp_path).close())


def test_what_the_function_registered_for_the_end_is_done_at_close(tmp_path: Path) -> None:
    source = "import atexit\natexit.register(lambda: open('flushed', 'w').close())\ndef score(response): return 1"
    agent(tmp_path, source, name="checks.py")
    called(pool(tmp_path), response="a")
    assert (tmp_path / "flushed").exists()


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13", "3.14"])
def test_the_worker_runs_in_the_users_interpreter_of_any_age(tmp_path: Path, version: str) -> None:
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"there is no python{version} on this machine")
    agent(tmp_path, "import sys\nasync def score(response): return [response, list(sys.version_info[:2])]", name="checks.py")
    assert called(pool(tmp_path, python=python), response="ö") == ["ö", [int(part) for part in version.split(".")]]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(value=JSON)
@settings(deadline=None, max_examples=60)
def test_every_json_value_is_accepted(value: object) -> None:
    worker.check_json(value)


@given(value=JSON, odd=st.sampled_from([b"x", {1}, object(), float("nan"), float("inf"), {2: 1}, 1j]))
@settings(deadline=None, max_examples=40)
def test_one_odd_value_anywhere_is_refused(value: object, odd: object) -> None:
    with pytest.raises(worker.Refused):
        worker.check_json([value, {"deep": [odd, value]}])


def test_the_worker_imports_nothing_of_ours() -> None:
    program = "import sys, runpy; runpy.run_path(sys.argv[1], run_name='x'); print([m for m in sys.modules if 'ci_eval' in m])"
    finished = subprocess.run([sys.executable, "-I", "-c", program, worker.__file__], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"

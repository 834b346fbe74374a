from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_eval.errors import DataError
from tests.dataset.files import cases, outputs

QUICK = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.lists(st.text(max_size=4), max_size=2)
ROWS = st.dictionaries(
    st.sampled_from(["id", "query", "ground_truth", "expected_actions", "context", "messages", "note"]), VALUES, max_size=5
)
LINES = st.lists(st.one_of(ROWS.map(json.dumps), st.sampled_from(["7", "{", "[]x", '"text"'])), min_size=1, max_size=8)

JSONL = (
    b'{"id": "a", "query": "caf\xc3\xa9", "expected_actions": [["x"], {"x": {"k": 1}}], "latency_ms": 5}\n'
    b'{"id": "b", "query": [{"role": "user", "content": "u"}], "response": [{"role": "assistant", "content": "r"}]}\r\n'
)
CSV = b'\xef\xbb\xbfid,query,expected_actions,context\r\n1,"two\r\nlines","[""a"", ""b""]","[""x""]"\r\n2,plain,a -> b,\r\n'
JSON = b'{"name": "n", "data": [{"id": 1, "query": "q", "ground_truth": ["x", "y"]}, {"messages": [{"role": "user", "content": "m"}]}]}'


@given(LINES)
@QUICK
def test_every_row_becomes_a_case_or_a_problem(tmp_path: Path, lines: list[str]) -> None:
    """In which no row vanishes and none is told to be two."""
    broken: set[int | None] = set()
    read: list[int | None] = []
    try:
        read = [case.source.line for case in cases(tmp_path, "d.jsonl", "\n".join(lines), on_bad_row="skip").items]
    except DataError as error:
        if error.problems[0].code != "no_cases":
            return  # the file as a whole is something else: one array, or one object over several lines
    with contextlib.suppress(DataError):
        cases(tmp_path, "d.jsonl", "\n".join(lines))
        assert read == list(range(1, len(lines) + 1)) or len(lines) == 1
        return
    try:
        cases(tmp_path, "d.jsonl", "\n".join(lines))
    except DataError as error:
        broken = {problem.line for problem in error.problems}
    assert sorted(str(line) for line in (*read, *broken)) == sorted(str(line) for line in range(1, len(lines) + 1))


@pytest.mark.parametrize(("name", "content"), [("d.jsonl", JSONL), ("d.csv", CSV), ("d.json", JSON)])
@given(data=st.data())
@QUICK
def test_damaged_bytes_give_cases_or_an_error_of_the_data(tmp_path: Path, name: str, content: bytes, data: st.DataObject) -> None:
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    damaged = damaged[: data.draw(st.integers(0, len(damaged)))]
    for read in (cases, outputs):
        with contextlib.suppress(DataError):
            read(tmp_path, name, bytes(damaged))

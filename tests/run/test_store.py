"""A run file holds everything, survives being cut off, and names what is wrong with it."""

from __future__ import annotations

import dataclasses
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval.domain.case import ExpectedAction, Source
from ci_eval.domain.message import ToolCall
from ci_eval.domain.notice import Notice
from ci_eval.domain.results import ArmSource, CaseResult, RunHeader
from ci_eval.domain.sample import Failure, Usage
from ci_eval.domain.score import Metric, Score
from ci_eval.errors import DataError, NoVerdictError
from ci_eval.log import Redactor
from ci_eval.run.store import RunWriter, read_run

HEADER = RunHeader(
    arm="candidate",
    source=ArmSource(kind="commit", description="9b01e7d", commit="9b01e7d" + "0" * 33),
    dataset="data.jsonl",
    dataset_digest="d",
    cases=2,
    trials=1,
    metrics=(Metric(name="m", evaluator="exact_match", kind="binary", threshold=1),),
    started="2026-11-30T00:00:00Z",
    version="0.1.0",
)
RECORD = CaseResult(
    case_id="a|b",
    trial=0,
    fingerprint="f",
    source=Source(file="data.jsonl", line=3),
    status="ok",
    query="Größe?\n",
    expected_actions=(ExpectedAction(name="pay", arguments={"amount": 9007199254740993}, match="exact"),),
    ground_truths=("x", ""),
    output_text="48 €",
    tool_calls=(ToolCall(name="pay", arguments={"amount": 48.0, "deep": [1, None, {"a": True}]}, id="c1"),),
    usage=Usage(input_tokens=3),
    latency_s=0.25,
    scores={"m": Score(metric="m", score=1.0, passed=True, label="pass", threshold=1.0, reason="equal", details={"n": [1]})},
)
FAILED = CaseResult(
    case_id="z",
    trial=0,
    fingerprint="g",
    source=Source(file="data.jsonl", path="data[1]"),
    status="error",
    failure=Failure(stage="target", code="timeout", message="took too long"),
)


def keep(text: str) -> str:
    return text


@contextmanager
def _largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size` bytes."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def written(path: Path, *records: CaseResult) -> Path:
    with RunWriter(path, HEADER, redact=keep) as writer:
        for record in records:
            writer.add(record)
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    result = read_run(written(tmp_path / "deep" / "run.jsonl", RECORD, FAILED), shown="run.jsonl")
    assert result.header == HEADER
    assert result.records == (RECORD, FAILED)
    assert result.notices == ()


def test_every_record_is_on_disk_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, HEADER, redact=keep) as writer:
        writer.add(RECORD)
        assert read_run(path, shown="run.jsonl").records == (RECORD,)


def test_secrets_are_taken_out_of_every_text(tmp_path: Path) -> None:
    path, secret = tmp_path / "run.jsonl", 'sk-"quoted"'
    record = CaseResult(
        case_id="a",
        trial=0,
        fingerprint="f",
        source=Source(file="d"),
        status="error",
        query=f"q {secret}",
        title=secret,
        ground_truths=(secret,),
        expected_actions=(ExpectedAction(name="pay", arguments={"key": [secret]}, match="exact"),),
        failure=Failure(stage="target", code=secret, message=f"401 for {secret}"),
        output_text=f"my key is {secret}",
        tool_calls=(ToolCall(name="login", arguments={secret: {"key": secret}}), ToolCall(name="x", arguments=secret)),
        scores={"m": Score(metric="m", reason=f"found {secret}", label=secret, details={"seen": [{"text": secret}]})},
    )
    with RunWriter(path, HEADER, redact=Redactor([secret])) as writer:
        writer.add(record)
    text = path.read_text(encoding="utf-8")
    assert "quoted" not in text
    assert text.count("***") == 13


@pytest.mark.parametrize("secret", ["case_id", "true", "null", "status", "error", "target", "quality", "1.0,"])
def test_a_secret_that_is_spelt_like_our_own_words_breaks_no_file(tmp_path: Path, secret: str) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter(path, HEADER, redact=Redactor([secret])) as writer:
        writer.add(RECORD)
        writer.add(FAILED)
    result = read_run(path, shown="run.jsonl")
    assert (result.header, result.records) == (HEADER, (RECORD, FAILED))


def test_a_lone_surrogate_is_written_as_a_question_mark(tmp_path: Path) -> None:
    record = CaseResult(
        case_id="s", trial=0, fingerprint="f", source=Source(file="d"), status="ok", output_text="bad \ud800 text"
    )
    read = read_run(written(tmp_path / "run.jsonl", record), shown="run.jsonl")
    assert read.records[0].output_text == "bad ? text"


def test_a_file_cut_off_in_its_last_line_keeps_the_rest(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", RECORD, FAILED)
    path.write_bytes(path.read_bytes()[:-40])
    result = read_run(path, shown="run.jsonl")
    assert result.records == (RECORD,)
    assert [notice.code for notice in result.notices] == ["run_cut_off"]
    assert result.notices[0].location == "run.jsonl:3"


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        ("", "empty_file", None),
        ('{"id": 1, "query": "x"}\n', "not_a_run_file", 1),
        ("[1, 2]\n", "not_a_run_file", 1),
        ('{"schema_version": "ci-eval/run/v9"}\n', "schema_version", 1),
        ('{"schema_version": "ci-eval/run/v1"}\n', "broken_record", 1),
    ],
    ids=["empty", "a dataset", "no object", "of the future", "no header"],
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, content: str, code: str, line: int | None) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_run(path, shown="run.jsonl")
    problem = caught.value.problems[0]
    assert (problem.code, problem.file, problem.line) == (code, "run.jsonl", line)


@pytest.mark.parametrize("kept", range(1, 60))
def test_a_file_cut_off_anywhere_in_its_last_line_keeps_the_rest(tmp_path: Path, kept: int) -> None:
    last = replace(FAILED, query="größer als 5 € — {}{}{}")
    path = written(tmp_path / "run.jsonl", RECORD, last)
    data = path.read_bytes()
    start = data.rstrip(b"\n").rfind(b"\n") + 1
    cut = start + (len(data) - start - 1) * kept // 60
    path.write_bytes(data[:cut])
    result = read_run(path, shown="run.jsonl")
    assert result.records == (RECORD,)
    assert [notice.code for notice in result.notices] == ["run_cut_off"]


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ('"score":1.0', '"score":NaN'),
        ('"score":1.0', '"score":1e400'),
        ('"score":1.0', '"score":1e300'),
        ('"score":1.0', '"score":"1"'),
        ('"score":1.0', '"score":true'),
        ('"passed":true', '"passed":1'),
        ('"latency_s":0.25', '"latency_s":Infinity'),
        ('"input_tokens":3', f'"input_tokens":{"9" * 400}'),
        ('"trial":0', '"trial":"0"'),
        ('"n":[1]', '"n":[NaN]'),
        ('"n":[1]', f'"n":{"[" * 5000}{"]" * 5000}'),
    ],
)
def test_a_value_that_no_writer_of_ours_makes_is_an_error(tmp_path: Path, found: str, instead: str) -> None:
    path = written(tmp_path / "run.jsonl", RECORD, FAILED)
    text = path.read_text(encoding="utf-8")
    assert found in text
    path.write_text(text.replace(found, instead), encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.jsonl:2"):
        read_run(path, shown="run.jsonl")


@pytest.mark.parametrize(
    ("found", "instead"),
    [
        ('"cases":2', '"cases":-1'),
        ('"cases":2', f'"cases":{"9" * 30}'),
        ('"trials":1', '"trials":0'),
        ('"trials":1', f'"trials":{"9" * 30}'),
        ('"minimum":0.0', '"minimum":-Infinity'),
        ('"maximum":1.0', '"maximum":1e300'),
    ],
)
def test_a_header_with_numbers_that_cannot_be_is_an_error(tmp_path: Path, found: str, instead: str) -> None:
    path = written(tmp_path / "run.jsonl", RECORD)
    text = path.read_text(encoding="utf-8")
    assert found in text
    path.write_text(text.replace(found, instead, 1), encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.jsonl:1"):
        read_run(path, shown="run.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is always full")
def test_a_full_disk_is_one_clear_error() -> None:
    with pytest.raises(NoVerdictError, match="No space left"):
        RunWriter(Path("/dev/full"), HEADER, redact=keep)


def test_a_disk_that_fills_up_in_the_middle_is_one_clear_error(tmp_path: Path) -> None:
    with _largest_file(10_000), pytest.raises(NoVerdictError, match="File too large"):
        written(tmp_path / "run.jsonl", *[RECORD] * 100)


def test_a_broken_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", RECORD, FAILED)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1][:50]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.jsonl:2"):
        read_run(path, shown="run.jsonl")


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NoVerdictError, match="cannot be written"):
        RunWriter(tmp_path / "file" / "run.jsonl", HEADER, redact=keep)


def test_a_missing_run_file_is_named() -> None:
    with pytest.raises(DataError, match=r"before\.jsonl: no such run file"):
        read_run(Path("nowhere/before.jsonl"), shown="before.jsonl")


def test_notices_of_all_records_are_added_up(tmp_path: Path) -> None:
    odd = Notice(code="odd", message="something odd", location="data.jsonl:3")
    records = [dataclasses.replace(FAILED, case_id=name, notices=(odd,)) for name in "abc"]
    result = read_run(written(tmp_path / "run.jsonl", *records), shown="run.jsonl")
    assert [(notice.code, notice.count) for notice in result.notices] == [("odd", 3)]

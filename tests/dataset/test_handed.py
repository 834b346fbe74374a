"""The handed samples, read whole: what a file must become, and what a broken one must be told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from ci_eval.dataset.load import load_cases, load_outputs
from ci_eval.domain.canonical import json_equal
from ci_eval.domain.case import Case, ExpectedAction
from ci_eval.domain.message import Message, calls_in, final_text
from ci_eval.domain.sample import Sample
from ci_eval.errors import DataError
from ci_eval.messages.readers import READERS
from tests.shared import SHARED, needs_shared

FORMATS = SHARED / "data/formats"
READ_NOW = ("openai_chat/parallel_calls.json", "openai_chat/rows.jsonl", "foundry_messages/no_ids.json", "foundry_messages/rows.jsonl",
            "jsonl/recorded.jsonl", "jsonl/synonyms_bom_crlf.jsonl", "json_array/cases.json", "csv/cases.csv", "csv/spaced_headers.csv")  # fmt: skip
NOT_READ_YET = {"m365_future.json", "m365_items.json", "mapping.json", "python_tag.yaml", "tab_indent.yaml"}
"""Broken files of formats that this version does not read."""


def as_written(actions: tuple[ExpectedAction, ...] | None) -> object:
    return [
        {"name": action.name} if action.arguments is None else {"name": action.name, "arguments": action.arguments}
        for action in actions or ()
    ]


def shown(message: Message, wanted: dict[str, object]) -> object:
    """Show a message with the keys that the expectation lists, and no others."""
    parts = wanted["parts"]
    assert isinstance(parts, list)
    found = [dataclasses.asdict(part) for part in message.parts]
    return {
        "role": message.role,
        "parts": [{key: part.get(key) for key in want} for part, want in zip(found, parts, strict=True)],
    }


def fact(name: str, case: Case, sample: Sample, wanted: object) -> object:
    match name:
        case "id" | "query":
            return getattr(case, name)
        case "ground_truth":
            truths = case.ground_truths
            return truths and (truths[0] if len(truths) == 1 else list(truths))
        case "response":
            return sample.output_text
        case "expected_actions":
            return as_written(case.expected_actions)
        case "messages":
            assert isinstance(wanted, list)
            return [shown(message, want) for message, want in zip(sample.messages, wanted, strict=True)]
        case "response_start":
            return sample.response_start
        case "trajectory":
            calls = sample.tool_calls
            return None if calls is None else [{"name": call.name, "arguments": call.arguments} for call in calls]
        case "final_text":
            return final_text(sample.response)
        case "tools":
            definitions = case.roles["tool_definitions"]
            assert isinstance(definitions, list)
            return [(tool.get("function") or tool)["name"] for tool in definitions]
        case _:
            return case.roles.get(name)


@needs_shared
@pytest.mark.parametrize("name", READ_NOW)
def test_a_handed_file_becomes_its_cases(name: str) -> None:
    path = FORMATS / name
    expected = json.loads((path.parent / f"{path.stem}.expected.json").read_text("utf-8"))["cases"]
    cases = load_cases(path, shown=name, readers=READERS).items
    rows = load_outputs(path, shown=name, readers=READERS).items
    assert len(cases) == len(rows) == len(expected)
    for case, row, wanted in zip(cases, rows, expected, strict=True):
        sample = READERS.reply(case, row.value)
        for key, value in wanted.items():
            found = fact(key, case, sample, value)
            assert json_equal(found, value), f"{case.id} {key}: {found} is not {value}"


@needs_shared
@pytest.mark.parametrize(
    "path",
    sorted(FORMATS.glob("bad_input/*.expected.json")) if FORMATS.is_dir() else [],
    ids=lambda path: path.name.split(".expected")[0],
)
def test_a_handed_broken_file_is_told_as_it_should(path: Path) -> None:
    name = path.name.removesuffix(".expected.json")
    if name in NOT_READ_YET:
        pytest.skip("a format that this version does not read")
    with pytest.raises(DataError) as caught:
        load_cases(path.with_name(name), shown=name, readers=READERS)
    expected = json.loads(path.read_text("utf-8"))["errors"]
    assert len(caught.value.problems) == len(expected)
    for problem, wanted in zip(caught.value.problems, expected, strict=True):
        assert problem.code == wanted["code"]
        assert wanted["line"] in (None, problem.line)
        assert wanted["field"] in (None, problem.field)
        for piece in wanted["contains"]:
            assert piece.lower() in str(problem).lower()


@needs_shared
@pytest.mark.parametrize("name", sorted(NOT_READ_YET))
def test_a_format_not_read_yet_is_refused_and_never_half_read(name: str) -> None:
    with pytest.raises(DataError):
        load_cases(FORMATS / "bad_input" / name, shown=name, readers=READERS)


@needs_shared
class TestTauBench:
    FOLDER = SHARED / "data/taubench"

    def samples(self, arm: str) -> list[Sample]:
        cases = {case.id: case for case in load_cases(self.FOLDER / "dataset.jsonl", shown="d", readers=READERS).items}
        rows = load_outputs(self.FOLDER / f"{arm}.jsonl", shown=arm, readers=READERS).items
        return [READERS.reply(cases[row.id], row.value) for row in rows]

    @pytest.mark.parametrize(("arm", "calls", "reward"), [("baseline", 282, 21), ("candidate", 290, 22)])
    def test_calls_and_rewards_add_up(self, arm: str, calls: int, reward: float) -> None:
        samples = self.samples(arm)
        assert len(samples) == 50
        assert sum(len(sample.tool_calls or ()) for sample in samples) == calls
        assert sum(float(str(sample.fields["reward"])) for sample in samples) == reward

    @pytest.mark.parametrize("arm", ["baseline", "candidate"])
    def test_every_result_has_its_call_although_ids_repeat(self, arm: str) -> None:
        samples = self.samples(arm)
        assert not [notice for sample in samples for notice in sample.notices if notice.code == "result_without_call"]
        ids = [[call.id for call in calls_in(sample.messages)] for sample in samples]
        assert any(len(set(of_one)) < len(of_one) for of_one in ids)

    def test_every_run_has_a_final_text_and_the_one_cut_off_is_told(self) -> None:
        samples = self.samples("baseline")
        assert all(sample.output_text for sample in samples)
        assert [notice.code for sample in samples for notice in sample.notices] == ["status_incomplete"]

    def test_seven_tasks_expect_no_call(self) -> None:
        cases = load_cases(self.FOLDER / "dataset.jsonl", shown="d", readers=READERS).items
        assert sum(case.expected_actions == () for case in cases) == 7
        assert cases[0].title == "tau-bench airline task 0: the query is the hidden scenario given to the simulated user"

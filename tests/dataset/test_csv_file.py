from __future__ import annotations

import time
from pathlib import Path

import pytest

from ci_eval.domain.case import ExpectedAction
from tests.dataset.files import cases, outputs, problems


def test_a_file_from_windows_has_clean_names_and_cells(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbfquery,ground_truth\r\n"Where is the Eiffel Tower?",Paris\r\n"Two lines:\r\nfirst and second",ok\r\n'
    loaded = cases(tmp_path, "d.csv", text)
    assert [tuple(case.fields) for case in loaded.items] == [("query", "ground_truth")] * 2
    assert [case.query for case in loaded.items] == ["Where is the Eiffel Tower?", "Two lines:\nfirst and second"]
    assert [case.ground_truths for case in loaded.items] == [("Paris",), ("ok",)]


def test_semicolons_are_found_and_a_comma_stays_in_its_cell(tmp_path: Path) -> None:
    loaded = cases(tmp_path, "d.csv", "id;query;ground_truth\nr1;Is it raining, yes or no?;no\nr2;Say hi;hi\n")
    assert [(case.id, case.query, case.ground_truths) for case in loaded.items] == [
        ("r1", "Is it raining, yes or no?", ("no",)), ("r2", "Say hi", ("hi",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "header"), [("d.tsv", "id\tquery\tx,y,z,v"), ("d.csv", "id\tquery\tx"), ("d.csv", '"a,b,c,d"\tid\tquery')]
)
def test_tabs_are_found(tmp_path: Path, name: str, header: str) -> None:
    assert "id" in cases(tmp_path, name, f"{header}\n1\t2\t3\n").items[0].fields


def test_quotes_are_doubled_and_blanks_kept(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, "d.csv", 'id,query\n1,"  Say ""hi"", please "\n').items
    assert case.query == '  Say "hi", please '


def test_empty_cells_are_missing_and_short_rows_too(tmp_path: Path) -> None:
    loaded = cases(tmp_path, "d.csv", "id,query,ground_truth\n1,a,\n2,b\n,,\n\n3,c,x\n")
    assert [(case.id, case.ground_truths) for case in loaded.items] == [("1", None), ("2", None), ("3", ("x",))]
    assert [(notice.code, notice.count) for notice in loaded.notices] == [("csv_short_row", 1)]


def test_structured_columns_are_decoded_and_text_columns_are_not(tmp_path: Path) -> None:
    text = (
        "query,expected_actions,context,retrieved_documents\n"
        '"[1, 2]","[""search"", {""name"": ""a"", ""arguments"": {""q"": 1}}]","[""x"", ""y""]","[{""document_id"": ""d""}]"\n'
        "\"{'a': 1}\",\"(['a'], {'a': {}})\",\"plain, not JSON\",\n"
        "third,search -> answer,[see note],\n"
    )
    first, second, third = cases(tmp_path, "d.csv", text).items
    assert (first.query, first.roles["context"], first.roles["retrieved_documents"]) == (
        "[1, 2]",
        ["x", "y"],
        [{"document_id": "d"}],
    )
    assert first.expected_actions == (ExpectedAction(name="search"), ExpectedAction(name="a", arguments={"q": 1}, match="exact"))
    assert (second.query, second.roles["context"]) == ("{'a': 1}", "plain, not JSON")
    assert second.expected_actions == (ExpectedAction(name="a", arguments={}, match="exact", text_values=True),)
    assert third.expected_actions == (ExpectedAction(name="search"), ExpectedAction(name="answer"))
    assert third.roles["context"] == "[see note]"


def test_a_structured_cell_that_starts_like_json_must_be_json(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "d.csv", 'id,query,expected_actions\n1,a,"[""ok""]"\n2,b,"[{""name"": }]"\n')
    assert (problem.code, problem.line, problem.field) == ("cell_json", 3, "expected_actions")
    assert "position 11" in problem.message


def test_lines_count_the_breaks_within_cells(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "d.csv", 'id,query,ground_truth\n1,"a\nb",x\n2,c,y,z\n')
    assert (problem.code, problem.line) == ("csv_ragged", 4)
    assert "4 cells" in problem.message
    assert "3" in problem.message


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('id,query\n1,"never closed\n2,b\n', "csv_unclosed_quote", 2),
        ('id,query\n1,"a\nb\n', "csv_unclosed_quote", 2),
        ('id,query\n1,"a"b\n', "csv_unclosed_quote", 2),
        ("id,query, query \n1,a,b\n", "csv_duplicate_column", 1),
        ("id,query\n", "no_cases", None),
        ('"",""\n', "no_cases", None),
        ("1,What is up?\n2,Who?\n", "missing_query", 1),
    ],
)
def test_broken_files_are_told(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    (problem,) = problems(tmp_path, "d.csv", text)
    assert (problem.code, problem.line) == (code, line)


def test_a_file_without_a_header_is_asked_for_one(tmp_path: Path) -> None:
    assert "header row" in str(problems(tmp_path, "d.csv", "1,What is up?\n2,Who?\n")[0])


def test_a_column_without_a_name_gets_one_when_it_holds_something(tmp_path: Path) -> None:
    (case,) = cases(tmp_path, "d.csv", "query,,\na,x,\n").items
    assert case.fields == {"query": "a", "column_2": "x"}


def test_a_quote_in_the_middle_of_a_cell_is_a_character(tmp_path: Path) -> None:
    assert cases(tmp_path, "d.csv", 'query,x\n5" pipe,1\n').items[0].query == '5" pipe'


def test_recorded_facts_in_cells_are_numbers(tmp_path: Path) -> None:
    loaded = outputs(tmp_path, "o.csv", "id,trial,response,latency_ms\na,0,x,250\na,1,y,300\n")
    assert [(row.id, row.trial) for row in loaded.items] == [("a", 0), ("a", 1)]


def test_large_cells_are_no_problem(tmp_path: Path) -> None:
    started = time.process_time()
    loaded = cases(tmp_path, "d.csv", "query,x\n" + f'"{"long text, " * 60_000}",1\n' * 5)
    assert len(loaded.items) == 5
    assert time.process_time() - started < 2

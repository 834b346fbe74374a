from __future__ import annotations

from pathlib import Path

import pytest

from tests.dataset.files import cases, problems


def test_blank_lines_are_nothing_and_the_last_row_needs_no_line_end(tmp_path: Path) -> None:
    text = '{"id":"r1","query":"a"}\n\n   \t\n{"id":"r2","query":"b"}\n\n{"id":"r3","query":"c"}'
    loaded = cases(tmp_path, "d.jsonl", text)
    assert [(case.id, case.source.line) for case in loaded.items] == [("r1", 1), ("r2", 4), ("r3", 6)]
    assert loaded.notices == ()


def test_windows_files_read_like_any_other(tmp_path: Path) -> None:
    loaded = cases(
        tmp_path,
        "d.jsonl",
        b'\xef\xbb\xbf{"id":"r1","query":"q","ground_truth":"Paris"}\r\n\r\n{"id":"r2","query":"x","ground_truth":"a\\nb"}\r\n',
    )
    assert [case.ground_truths for case in loaded.items] == [("Paris",), ("a\nb",)]


def test_a_line_separator_within_a_text_ends_no_row(tmp_path: Path) -> None:
    assert cases(tmp_path, "d.jsonl", '{"query": "a\u2028b"}').items[0].query == "a\u2028b"


def test_every_broken_line_is_reported(tmp_path: Path) -> None:
    found = problems(tmp_path, "d.jsonl", '{"id": 1, "query": "a"}\n{"id": 2\n[1]\n"x"\n{\'id\': 3}\n{"query": "b", "x": NaN}\n')
    assert [(problem.code, problem.line) for problem in found] == [
        ("jsonl_syntax", 2), ("row_not_object", 3), ("row_not_object", 4), ("jsonl_syntax", 5), ("jsonl_syntax", 6),
    ]  # fmt: skip
    assert "array" in str(found[1])
    assert "string" in str(found[2])


def test_not_a_number_is_refused_with_its_line_and_becomes_no_word(tmp_path: Path) -> None:
    rows = '{"id":"r1","query":"a","ground_truth":"x","context":null}\n{"id":"r2","query":"b","ground_truth":NaN}\n'
    (problem,) = problems(tmp_path, "d.jsonl", rows)
    assert (problem.line, "NaN" in problem.message) == (2, True)


def test_objects_over_several_lines_are_told_as_such(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "d.jsonl", '{\n  "query": "a"\n}\n{\n  "query": "b"\n}\n')
    assert (problem.code, problem.line) == ("jsonl_multiline", 1)
    assert "one object per line" in problem.message


def test_a_repeated_key_keeps_its_last_value_with_a_notice(tmp_path: Path) -> None:
    loaded = cases(tmp_path, "d.jsonl", '{"id": "a", "query": "x", "query": "y"}\n')
    assert loaded.items[0].query == "y"
    assert [notice.code for notice in loaded.notices] == ["repeated_key"]


def test_a_single_line_with_an_array_is_read_as_json(tmp_path: Path) -> None:
    loaded = cases(tmp_path, "d.jsonl", '[{"id": "a", "query": "x"}, {"id": "b", "query": "y"}]\n')
    assert [(case.id, str(case.source)) for case in loaded.items] == [("a", "d.jsonl:[0]"), ("b", "d.jsonl:[1]")]
    assert [notice.code for notice in loaded.notices] == ["jsonl_is_json"]


def test_a_json_file_of_one_object_a_line_is_read_as_jsonl(tmp_path: Path) -> None:
    loaded = cases(tmp_path, "d.json", '{"id": "a", "query": "x"}\n\n{"id": "b", "query": "y"}\n')
    assert [(case.id, case.source.line) for case in loaded.items] == [("a", 1), ("b", 3)]
    assert [notice.code for notice in loaded.notices] == ["json_is_jsonl"]


def test_broken_json_is_told_with_line_and_column(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "d.json", '{\n  "data": [\n    {"query": "a"}, ]\n}\n')
    assert (problem.code, problem.line) == ("json_syntax", 3)
    assert problem.column is not None
    assert "JSON" in problem.message


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_endless_nesting_is_an_error_and_no_crash(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, name, '{"query": "q", "x": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert "nested" in problem.message


def test_big_integers_keep_their_digits(tmp_path: Path) -> None:
    row = '{"query": "q", "expected_actions": [{"name": "pay", "arguments": {"no": 9007199254740993}}]}'
    (case,) = cases(tmp_path, "d.jsonl", row).items
    assert case.expected_actions is not None
    assert case.expected_actions[0].arguments == {"no": 9007199254740993}


@pytest.mark.parametrize(
    "key", ["data", "cases", "rows", "items", "examples", "samples", "tests", "test_cases", "records", "goldens"]
)
def test_an_object_may_hold_its_rows_under_many_names(tmp_path: Path, key: str) -> None:
    loaded = cases(tmp_path, "d.json", f'{{"name": "n", "{key}": [{{"query": "a"}}, {{"query": "b"}}]}}')
    assert [case.query for case in loaded.items] == ["a", "b"]
    assert str(loaded.items[1].source) == f"d.json:{key}[1]"


def test_problems_of_a_json_row_are_told_by_path(tmp_path: Path) -> None:
    found = problems(tmp_path, "d.json", '{"data": [{"query": {"text": "a"}}, 7]}')
    assert [(problem.code, problem.field) for problem in found] == [
        ("wrong_type", "data[0].query"),
        ("row_not_object", "data[1]"),
    ]


@pytest.mark.parametrize(
    ("text", "query", "count"),
    [
        pytest.param('{"query": "a"}', "a", 0, id="row"),
        pytest.param('{"messages": [{"role": "user", "content": "a"}]}', "a", 1, id="conversation"),
        pytest.param('{"values": {"messages": [{"role": "user", "content": "a"}]}}', "a", 1, id="graph state"),
        pytest.param('[{"role": "system", "content": "s"}, {"role": "user", "content": "a"}]', "a", 2, id="message_list"),
    ],
)
def test_one_case_may_be_the_whole_file(tmp_path: Path, text: str, query: str, count: int) -> None:
    (case,) = cases(tmp_path, "d.json", text).items
    assert (case.query, len(case.messages)) == (query, count)


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ('{"name": "x", "data": []}', "no_cases", "data"),
        ("[]", "no_cases", None),
        ('{"foo": 1, "bar": [1, 2]}', "unknown_format", None),
        ("7", "unknown_format", None),
        ('{"schemaVersion": "1.2.0", "items": [{"prompt": "a"}]}', "unknown_format", None),
        ('{"data": [{"query": "a"}], "data_mapping": {"query": "{{item.x}}"}}', "unknown_format", None),
        ('[{"traj": [], "info": {}}]', "unknown_format", None),
        ('{"data": [{"query": "a"}], "rows": [{"query": "b"}]}', "unknown_format", None),
    ],
)
def test_no_shape_is_guessed(tmp_path: Path, text: str, code: str, field: str | None) -> None:
    (problem,) = problems(tmp_path, "d.json", text)
    assert (problem.code, problem.field) == (code, field)


def test_the_keys_of_an_unknown_shape_are_named(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "d.json", '{"foo": 1, "bar": [1, 2]}')
    assert '["foo", "bar"]' in problem.message


def test_the_format_may_be_named(tmp_path: Path) -> None:
    assert cases(tmp_path, "d.txt", "id;query\n1;a\n", format="csv").items[0].query == "a"
    rows = '{"schemaVersion": "1", "items": [{"query": "a"}]}'
    assert cases(tmp_path, "d.json", rows, format="rows").items[0].query == "a"


def test_a_misspelt_format_gets_the_nearest_name(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "d.json", '{"query": "a"}', format="convresation")
    assert (problem.code, problem.hint) == ("unknown_format", "did you mean conversation?")


def test_what_stands_beside_the_rows_is_told(tmp_path: Path) -> None:
    loaded = cases(tmp_path, "d.json", '{"name": "n", "evaluators": ["f1"], "data": [{"query": "a"}]}')
    assert [notice.code for notice in loaded.notices] == ["keys_beside_rows"]

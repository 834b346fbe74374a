from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from ci_eval.dataset.load import load_cases
from ci_eval.errors import DataError
from ci_eval.messages.readers import READERS
from tests.dataset.files import cases, problems

ROW = '{"id": "a", "query": "q"}'


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("d.jsonl", b"", "empty_file", ["d.jsonl"]),
        ("d.jsonl", b" \n\t\r\n", "empty_file", []),
        ("d.jsonl", codecs.BOM_UTF8 + b"\n", "empty_file", []),
        ("d.jsonl", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n", "lfs_pointer", ["LFS", "lfs: true"]),
        ("d.zip", b"PK\x03\x04rest", "binary_file", ["zip"]),
        ("d.eval", b"PK\x03\x04rest", "binary_file", [".eval", "JSON"]),
        ("d.xlsx", b"PK\x03\x04rest", "binary_file", ["Excel", "CSV"]),
        ("d.parquet", b"PAR1rest", "binary_file", ["Parquet"]),
        ("d.gz", b"\x1f\x8brest", "binary_file", ["gzip"]),
        ("d.json", b"\n<!DOCTYPE html><html>", "not_data", ["HTML"]),
        ("d.json", b"<HTML>", "not_data", ["HTML"]),
        ("d.csv", b"id,query\n1,Gr\xf6\xdfe\n", "encoding", ["UTF-8", "0xf6"]),
        ("d.jsonl", b'{"query": "a\x00b"}', "encoding", ["UTF-8", "0x00"]),
        ("d.jsonl", ROW.encode("utf-16-le"), "encoding", ["UTF-16"]),
        ("d.txt", b"hello", "unknown_format", [".txt"]),
    ],
)  # fmt: skip
def test_bytes_that_are_no_data_are_named(tmp_path: Path, name: str, content: bytes, code: str, words: list[str]) -> None:
    (problem,) = problems(tmp_path, name, content)
    assert problem.code == code
    assert problem.file == name
    for word in words:
        assert word in str(problem)


def test_the_line_of_a_wrong_byte_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, "d.csv", b"id,query\n1,Gr\xf6\xdfe\n")[0].line == 2


def test_a_header_that_starts_with_pk_is_no_zip(tmp_path: Path) -> None:
    assert cases(tmp_path, "d.csv", "PK,query\n1,q\n").items[0].fields["PK"] == "1"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark_is_decoded_with_a_notice(tmp_path: Path, codec: str) -> None:
    mark = codecs.BOM_UTF16_LE if codec == "utf-16-le" else codecs.BOM_UTF16_BE
    loaded = cases(tmp_path, "d.jsonl", mark + ROW.encode(codec))
    assert loaded.items[0].query == "q"
    assert [notice.code for notice in loaded.notices] == ["utf16"]


def test_a_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "dataset.jsonl").write_text(ROW)
    with pytest.raises(DataError, match=r"dataset\.jsonl") as caught:
        load_cases(tmp_path / "datset.jsonl", shown="evals/datset.jsonl", readers=READERS)
    assert caught.value.problems[0].code == "file_not_found"


def test_a_missing_folder_names_the_file_in_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "dataset.jsonl").write_text(ROW)
    with pytest.raises(DataError) as caught:
        load_cases(tmp_path / "eval" / "dataset.jsonl", shown="eval/dataset.jsonl", readers=READERS)
    meant = (tmp_path / "evals" / "dataset.jsonl").as_posix()
    assert str(caught.value) == f"eval/dataset.jsonl: there is no such file\n    did you mean {meant}?"


def test_a_missing_file_without_a_neighbour_says_where_paths_start(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="paths are relative to the folder of the configuration"):
        load_cases(tmp_path / "x" / "y.jsonl", shown="x/y.jsonl", readers=READERS)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="folder"):
        load_cases(tmp_path, shown="evals", readers=READERS)


def test_a_backslash_in_a_path_is_explained(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="write / between folders"):
        load_cases(tmp_path / "data\\dataset.jsonl", shown="data\\dataset.jsonl", readers=READERS)

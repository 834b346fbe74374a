"""YAML is read as JSON would type it, with the place of every key, and nothing else is allowed."""

from __future__ import annotations

import pytest

from ci_eval.config.yaml_source import Mark, read_yaml
from ci_eval.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("5", 5), ("-1.5", -1.5), ("1e3", 1000.0), ("9007199254740993", 9007199254740993),
        ("no", "no"), ("on", "on"), ("yes", "yes"), ("2026-01-05", "2026-01-05"), ("12:30:45", "12:30:45"),
        ("007", "007"), ("0x1F", "0x1F"), ("1_000", "1_000"), (".5", ".5"), ("'5'", "5"), ('"true"', "true"), ("=", "="),
    ],
)  # fmt: skip
def test_scalars_are_typed_as_json_would(written: str, value: object) -> None:
    found = read_yaml(f"key: {written}\n", shown="c.yaml").value
    assert found == {"key": value}
    assert type(found["key"]) is type(value)  # type: ignore[index]


def test_every_key_and_item_has_its_place() -> None:
    located = read_yaml("a: 1\nlist:\n  - x\n  - y: {z: 2}\n", shown="c.yaml")
    assert located.mark(("a",)) == Mark(line=1, column=1)
    assert located.mark(("list", 0)) == Mark(line=3, column=5)
    assert located.mark(("list", 1, "y", "z")) == Mark(line=4, column=9)
    assert located.mark(("list", 1, "y", "missing", "deeper")) == Mark(line=4, column=5)
    assert located.mark(("nowhere",)) is None


def test_merge_keys_work_and_own_keys_win() -> None:
    text = "base: &b {x: 1, y: 2}\none:\n  <<: *b\n  y: 3\n"
    assert read_yaml(text, shown="c").value == {"base": {"x": 1, "y": 2}, "one": {"x": 1, "y": 3}}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 1\nb: [1\n", "yaml_syntax", 3),
        ("a:\n\t- x\n", "yaml_syntax", 2),
        ("a: !!python/object:os.system x\n", "yaml_tag", 1),
        ("a: !custom x\n", "yaml_tag", 1),
        ("a: 1\n---\nb: 2\n", "yaml_documents", 2),
        ("a: 1\nb: 2\na: 3\n", "yaml_duplicate_key", 3),
        ("? [x]\n: 1\n", "yaml_key", 1),
        ("a: 1\nb: 'open\n", "yaml_syntax", 3),
        ("a: *nobody\n", "yaml_syntax", 1),
        ("a: 1\nb: x\x00y\n", "yaml_character", 2),
        ("a: 1\nb: \x7f\n", "yaml_character", 2),
        ("a: 1\nb: \ud800\n", "yaml_character", 2),
        ('a: 1\nb: "\\ud800"\n', "yaml_character", 2),
        ('a: 1\n"\\ud800": b\n', "yaml_character", 2),
        (f"a: 1\nb: {'9' * 5_000}\n", "yaml_number", 2),
    ],
    ids=["bracket", "tab", "python tag", "custom tag", "two documents", "key twice", "list as key", "open quote", "no anchor",
         "nul", "delete", "half a character", "escaped half", "half in a key", "endless number"],
)  # fmt: skip
def test_everything_else_is_an_error_with_its_place(text: str, code: str, line: int) -> None:
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, shown="c.yaml")
    problem = caught.value.problems[0]
    assert (problem.code, problem.file, problem.line) == (code, "c.yaml", line)


def test_aliases_that_explode_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 8)]
    with pytest.raises(ConfigError, match="alias"):
        read_yaml("\n".join(lines), shown="c.yaml")


def test_a_value_that_holds_itself_is_refused() -> None:
    with pytest.raises(ConfigError, match="alias"):
        read_yaml("a: &a [*a]\n", shown="c.yaml")


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(ConfigError):
        read_yaml("[" * 5_000, shown="c.yaml")

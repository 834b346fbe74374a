from __future__ import annotations

from ci_eval.evaluators.wording import counted, listed, number, quoted, shortened


def test_numbers_have_up_to_four_decimals() -> None:
    assert [number(value) for value in (1.0, 0.5, 2 / 3, 1e-9, -1e-9, 12345.0)] == ["1", "0.5", "0.6667", "0", "0", "12345"]


def test_values_are_quoted_on_one_line_and_shortened() -> None:
    assert quoted('a "b"\nc') == '"a \\"b\\"\\nc"'
    assert quoted({"a": [1, None, True]}) == '{"a": [1, null, true]}'
    assert quoted("x" * 500).endswith("x…")
    assert len(quoted("x" * 500)) == 80


def test_names_stand_in_a_row_each_once_with_its_number() -> None:
    assert listed(["b", "a", "b"]) == "b ×2, a"
    assert listed([]) == ""
    assert listed(map(str, range(10))) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert shortened(" a\nb ") == "a b"
    assert [counted(n, "call") for n in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]

"""Steps side by side."""

from __future__ import annotations

from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.message import ToolCall
from ci_eval.report.steps import MAX_STEPS, align_steps, draw
from tests.report.fixtures import calls, expected


def drawn(*arms: object) -> str:
    table = align_steps(*arms)  # type: ignore[arg-type] - three sequences
    assert table is not None
    return draw(table)


def test_a_missing_step_and_an_unexpected_one() -> None:
    want = expected("search", "confirm", "send")
    assert drawn(want, calls("search", "confirm", "send"), calls("search", "book", "send")) == (
        "  expected   baseline   candidate\n"
        "  search     search     search\n"
        "- confirm    confirm\n"
        "+                       book\n"
        "  send       send       send"
    )  # fmt: skip


def test_other_arguments_are_shown_below_the_name_as_they_should_be_and_as_they_are() -> None:
    want = expected("refund to=gift")
    assert drawn(want, calls("refund to=gift"), calls("refund to=card")) == (
        "  expected     baseline     candidate\n"
        "- refund       refund\n"
        "-   to: gift     to: gift\n"
        "+                           refund\n"
        "+                             to: card"
    )  # fmt: skip


def test_only_the_arguments_that_differ_are_shown() -> None:
    text = drawn(expected("book seat=12A day=1"), calls("book seat=12A day=1"), calls("book seat=14C day=1"))
    assert "seat: 14C" in text
    assert "day" not in text


def test_long_values_are_shown_from_where_they_begin_to_differ() -> None:
    same = "x" * 300
    text = drawn(expected(f"book flights={same}HAT110"), None, calls(f"book flights={same}HAT132"))
    assert "-   flights: …xxHAT110" in text
    assert "flights: …xxHAT132" in text


def test_a_step_finds_the_one_with_the_same_arguments_among_equal_names() -> None:
    table = align_steps(expected("cancel id=2"), None, calls("cancel id=1", "cancel id=2", "cancel id=3"))
    assert table is not None
    assert [(row.mark, row.cells) for row in table.rows] == [
        ("+", ("", "cancel(id: 1)")),
        (" ", ("cancel", "cancel")),
        ("+", ("", "cancel(id: 3)")),
    ]


def test_arguments_are_not_shown_where_nothing_differs() -> None:
    assert "(" not in drawn(expected("refund to=gift"), calls("refund to=gift"), calls("refund to=gift"))


def test_a_name_alone_is_satisfied_by_any_arguments_which_are_shown_when_the_arms_differ() -> None:
    text = drawn(expected("refund"), calls("refund to=gift"), calls("refund to=card"))
    assert text.splitlines()[1] == "  refund     refund(to: gift)   refund(to: card)"


def test_a_subset_may_have_more_arguments() -> None:
    want = [ExpectedAction(name="refund", arguments={"to": "card"}, match="subset")]
    assert draw_marks(want, calls("refund to=card fee=0")) == [" "]
    assert draw_marks(want, calls("refund fee=0")) == ["!"]


def test_a_number_matches_its_text_only_where_the_form_says_so() -> None:
    got = (ToolCall(name="book", arguments={"seats": 2}),)
    assert draw_marks([ExpectedAction(name="book", arguments={"seats": "2"}, match="exact", text_values=True)], got) == [" "]
    assert draw_marks([ExpectedAction(name="book", arguments={"seats": "2"}, match="exact")], got) == ["!"]


def draw_marks(want: list[ExpectedAction], got: tuple[ToolCall, ...]) -> list[str]:
    table = align_steps(want, None, got)
    assert table is not None
    return [row.mark for row in table.rows]


def test_without_an_expectation_the_candidate_is_held_against_the_baseline() -> None:
    assert drawn(None, calls("a", "b"), calls("a", "c")) == "  baseline   candidate\n  a          a\n- b\n+            c"


def test_the_same_detour_of_both_arms_shares_a_line() -> None:
    assert drawn(expected("a"), calls("x", "a"), calls("x", "a")).splitlines()[1] == "+            x          x"


def test_an_arm_that_called_nothing_says_so() -> None:
    assert drawn(expected("a"), calls("a"), ()).splitlines()[1] == "- a          a          (no calls)"


def test_repeated_calls_stay_in_order() -> None:
    table = align_steps(expected("a", "a", "b"), None, calls("a", "b"))
    assert table is not None
    assert [(row.mark, row.cells) for row in table.rows] == [(" ", ("a", "a")), ("-", ("a", "")), (" ", ("b", "b"))]


def test_nothing_known_is_nothing_drawn() -> None:
    assert align_steps(None, None, calls("a")) is None
    assert align_steps(expected("a"), calls("a"), None) is None
    assert align_steps((), (), ()) is None


def test_a_long_trajectory_is_cut_after_whole_steps() -> None:
    text = drawn(None, calls(*["a"] * 100), calls(*["a"] * 130))
    assert len(text.splitlines()) == 1 + MAX_STEPS + 1
    assert text.splitlines()[-1] == "  … 90 more"


def test_a_hostile_name_can_neither_break_the_line_nor_forge_a_mark() -> None:
    text = drawn(None, calls("a"), (ToolCall(name="x\n+ forged\n```", arguments={"k": "v" * 500}),))
    assert len(text.splitlines()) == 3
    assert all(len(line) <= 95 for line in text.splitlines())


def test_arguments_that_are_no_object_are_shown_as_they_are() -> None:
    assert "book(not json)" in drawn(
        expected("b"), None, (ToolCall(name="book", arguments="not json", arguments_error="invalid_json"),)
    )

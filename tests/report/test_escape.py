"""What leaves `escape.py` can't do anything but be read; held against GitHub's own parser."""

from __future__ import annotations

import html as html_entities
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.report.escape import (
    EMPTY,
    Ready,
    both_ends,
    clean,
    code_block,
    code_cell,
    code_span,
    html,
    html_code,
    link,
    one_line,
    prose,
)  # fmt: skip
from tests.report.markdown_reader import Page, to_html

NASTY = st.text(
    st.sampled_from([*"`|\\<>&*_~[](){}!#@$:/-+=.\"'0a1 \n\r\t", "\u200b", "\u202e", "\U000e0041", "\ud800", "\xa0", "🧪", "é", "\x00", "\x1b"]),
    max_size=30,  # a run of more backticks than that is cut, see below
)  # fmt: skip
PIECES = st.lists(
    st.sampled_from(
        ["```", "``", "`", "\\", "|", "\n", "\r\n", "\n\n", "</code>", "</details>", "<!--", "-->", "<script>", "@org/team", "fixes #12",
         "![x](https://evil.invalid/p.png)", "[x](https://evil.invalid)", "www.evil.invalid", "---", "# h", "> q", "- l", "1. l", "    x",
         "$a$", "&amp;", "&#64;", "~~~", "<b>", "::error::x", " ", "x"]
    ),
    max_size=8,
).map("".join)  # fmt: skip
HOSTILE = st.one_of(NASTY, PIECES)


def shown_in(code: str) -> str:
    """The parser turns line breaks within code into blanks; nothing else."""
    return code.replace("\n", " ")


@settings(max_examples=400, deadline=None)
@given(HOSTILE)
def test_a_span_is_one_code_element_with_exactly_the_text(text: str) -> None:
    page = Page(f"before {code_span(text)} after **end**\n\nnext")
    assert page.codes == [one_line(text)]
    assert page.tags == ["p", "code", "strong", "p"]
    assert page.text_outside_code == "before  after end\nnext\n"


@settings(max_examples=400, deadline=None)
@given(HOSTILE, HOSTILE)
def test_a_cell_keeps_its_row_and_its_text(left: str, right: str) -> None:
    page = Page(f"| a | b |\n|:--|--:|\n| {code_cell(left)} | {code_cell(right)} |\n| x | y |\n")
    assert page.codes == [one_line(left), one_line(right)]
    assert page.tables == [[2, 2, 2]]
    assert re.sub(r"\s", "", page.text_outside_code) == "abxy"


@settings(max_examples=400, deadline=None)
@given(HOSTILE)
def test_a_block_is_one_code_element_and_ends_where_it_should(text: str) -> None:
    page = Page(f"<details><summary>s</summary>\n\n{code_block(text, 'diff')}\n\n| a |\n|--|\n| b |\n\n</details>\n\nend")
    assert page.codes == [clean(text) + "\n"] or page.codes == [clean(text)]
    assert page.tables == [[1, 1]]
    assert page.text_outside_code.replace("\n", "") == "sabend"


@settings(max_examples=400, deadline=None)
@given(HOSTILE)
def test_html_code_within_a_summary_is_one_code_element_with_exactly_the_text(text: str) -> None:
    page = Page(f"<details><summary>{html_code(text)}</summary>\n\nbody\n\n</details>\n\nend")
    assert page.codes == [one_line(text)]
    assert page.tags == ["details", "summary", "code", "p", "p"]
    assert page.text_outside_code.replace("\n", "") == "bodyend"


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_html_shows_the_cleaned_text(text: str) -> None:
    escaped = html(text)
    assert html_entities.unescape(escaped) == clean(text)
    assert not set("<>\"'") & set(escaped)


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_prose_is_words_or_code_and_never_anything_else(text: str) -> None:
    page = Page(f"## x {prose(text)}\n\nend {prose(text)} end\n")
    assert set(page.tags) <= {"h2", "p", "code"}
    assert not re.search(r"@|#|\$|://|www\.", page.text_outside_code)


def test_line_ends_of_all_systems_become_one() -> None:
    assert clean("a\r\nb\rc\nd") == "a\nb\nc\nd"


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\x7f", "\x85", "\u200b", "\u200d", "\u2028", "\u202e", "\u2066", "\ufeff", "\U000e0041", "\ud800", "\u3164"],
    ids=lambda character: f"U+{ord(character):04X}",
)  # fmt: skip
def test_what_hides_is_made_visible(character: str) -> None:
    assert clean(f"a{character}b") == "a\ufffdb"


def test_tabs_umlauts_and_emoji_stay() -> None:
    assert clean("a\tä 🧪 日本") == "a\tä 🧪 日本"


def test_a_long_text_is_cut_before_it_is_escaped_and_says_by_how_much() -> None:
    assert clean("x" * 1_334, 100) == "x" * 100 + "… (+1,234 characters)"
    assert code_span("`" * 300, 20).count("`") == 20 + 2 * 21


def test_a_cut_does_not_part_a_letter_from_its_accent() -> None:
    assert clean("ae\u0301b", 2) == "a… (+3 characters)"


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \t "])
def test_nothing_is_shown_as_nothing(text: str) -> None:
    assert code_span(text) == f"`{EMPTY}`"


def test_a_backslash_before_the_border_does_not_swallow_it() -> None:
    assert Page("| a | b |\n|--|--|\n| " + code_cell("x\\") + " | " + code_cell("\\|") + " |\n").codes == ["x\\", "\\|"]


def test_plain_words_stay_words() -> None:
    assert prose("Regression: 84.0 % to 70.0 % (−14.0 points, 90 % interval −23.1 to −5.2), <0.001") == (
        "Regression: 84.0 % to 70.0 % (−14.0 points, 90 % interval −23.1 to −5.2), &lt;0.001"
    )
    assert prose("Reise-Agent für Zürich: v1.2") == "Reise-Agent für Zürich: v1.2"


@pytest.mark.parametrize(
    "title", ["@org/team", "fixes #12", "GH-12", "https://evil.invalid", "www.evil.invalid", "[x](y)", "**b**", "a|b", "$1 and $2"]
)  # fmt: skip
def test_a_title_that_could_come_alive_goes_into_code(title: str) -> None:
    assert Page(f"## {prose(title)}").codes == [title]
    assert Page(f"## {prose(title)}").links == []


def test_a_title_with_html_is_shown_as_typed() -> None:
    page = Page(f"## {prose('a <b> & <!-- c')}")
    assert page.tags in (["h2"], ["h2", "code"])
    assert "".join([page.text_outside_code.strip(), *page.codes]) == "a <b> & <!-- c"


def test_an_odd_address_is_shown_and_not_linked() -> None:
    assert link("full report", "https://github.com/a/b/actions/runs/1") == "[full report](https://github.com/a/b/actions/runs/1)"
    assert "<a" not in to_html(link("full report", "javascript:alert(1)"))
    assert to_html(link("full report", "https://x.invalid/)[y](https://evil.invalid")).count("<a") == 0


def test_ready_text_that_was_edited_is_no_longer_ready() -> None:
    assert not isinstance(Ready("a") + "b", Ready)


@given(NASTY, st.integers(20, 60))
@settings(deadline=None)
def test_a_text_cut_in_its_middle_keeps_both_ends_and_its_limit(text: str, limit: int) -> None:
    shown = both_ends(f"first{text * 5}last", limit)
    assert len(shown) <= limit
    assert shown.startswith("first")
    assert shown.endswith("last")
    assert ("…" in shown) == (shown != one_line(f"first{text * 5}last", 1_000))


@pytest.mark.parametrize("count", [31, 32, 79, 80, 81, 199, 255, 256, 1_000])
def test_backticks_without_end_close_nothing(count: int) -> None:
    hostile = "`" * count + "\n@octocat [x](https://evil.example)\n" + "`" * count
    for markdown in (code_span(hostile, 4_000), prose(hostile, 4_000), code_block(hostile, "text"), code_cell(hostile, 4_000)):
        page = Page(markdown)
        assert page.text_outside_code.strip() == ""
        assert page.links == []
        assert ("…" in markdown) == (count > 31)

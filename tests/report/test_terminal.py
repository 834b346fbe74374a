"""The report on a screen."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ci_eval.domain.comparison import Outcome, Verdict
from ci_eval.report.terminal import render_terminal
from tests.report.fixtures import BLOCKED, PASSED, SETTINGS, broken, comparison, expected, gated_loss, travel_agent
from tests.report.test_render import NASTY_REASONS, hostile_parts

COLOUR = re.compile("\x1b\\[[0-9;]*m")


def test_a_blocked_merge(matches_golden: Callable[[str, str], None]) -> None:
    matches_golden("terminal_blocked.txt", render_terminal(travel_agent(), BLOCKED, SETTINGS, width=80))


@pytest.mark.parametrize("width", [20, 60, 80, 100, 300])
def test_it_keeps_to_the_width_within_reason(width: int) -> None:
    text = render_terminal(travel_agent(), BLOCKED, SETTINGS, width=width)
    assert max(len(line) for line in text.splitlines()) <= min(max(width, 60), 120)


def test_without_colour_it_is_plain_text_and_with_colour_it_says_the_same() -> None:
    plain = render_terminal(travel_agent(), BLOCKED, SETTINGS, width=80)
    coloured = render_terminal(travel_agent(), BLOCKED, SETTINGS, width=80, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert [line.rstrip() for line in COLOUR.sub("", coloured).splitlines()] == plain.splitlines()


def test_it_names_the_verdict_and_every_broken_and_fixed_case() -> None:
    text = render_terminal(travel_agent(), BLOCKED, SETTINGS)
    assert "✗ Regression: merging is blocked." in text
    assert "8 cases broke" in text
    assert "1 case was fixed" in text
    for case_id in ("refund-017", "refund-021", "seat-006", "baggage-004"):
        assert case_id in text


def test_many_cases_are_cut_and_counted() -> None:
    stories = [broken(f"row-{i:02d}", "x") for i in range(30)]
    text = render_terminal(
        comparison([gated_loss(30)], [change for change, _ in stories], [pair for _, pair in stories], paired=30), BLOCKED, SETTINGS
    )  # fmt: skip
    assert "row-09" in text
    assert "▌ row-10" not in text
    assert "row-29" in text.split("20 more in summary.md: ")[1]
    assert "… 20 more in summary.md" in text


def test_a_pass_is_short() -> None:
    text = render_terminal(
        comparison([gated_loss(3)]), Verdict(outcome=Outcome.PASS, headline="No regression found.", rules=()), SETTINGS
    )
    assert "✓ No regression found." in text
    assert "broke" not in text


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
def test_text_from_outside_can_not_speak_to_the_log(colour: bool) -> None:
    text = render_terminal(*hostile_parts(), width=60, colour=colour)
    assert_silent(text)
    for reason in ("::error", "##[error]", "\x1b[31m", "\u2066"):
        assert any(reason in nasty for nasty in NASTY_REASONS.values())
    assert "\x1b[31md" not in text
    assert "\u2066" not in text


def test_a_command_at_the_place_where_a_line_wraps_stays_silent() -> None:
    for padding in range(40, 90):
        change, pair = broken("r1", "x" * padding + " ::add-mask::the ##[error]y", expected_actions=expected("::error::x"))
        assert_silent(render_terminal(comparison([gated_loss(1)], [change], [pair], paired=1), PASSED, SETTINGS, width=80))


def test_markup_of_the_screen_library_is_shown_as_typed() -> None:
    change, pair = broken("r1", "[bold red]x[/] :skull:", query="[link=https://evil.invalid]y[/link]")
    text = render_terminal(comparison([gated_loss(1)], [change], [pair], paired=1), PASSED, SETTINGS)
    assert "[bold red]x[/] :skull:" in text
    assert "[link=https://evil.invalid]y[/link]" in text


def assert_silent(text: str) -> None:
    """SEC-01: no line that the runner would obey."""
    for line in COLOUR.sub("", text).splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
    for line in text.splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line

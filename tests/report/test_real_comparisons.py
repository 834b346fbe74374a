"""What the comparison and the gate really say, as the report tells it."""

from __future__ import annotations

import datetime
import re
from collections import Counter

import pytest

from ci_eval.compare.compare import CompareSettings, compare_runs
from ci_eval.compare.gate import apply_gate
from ci_eval.compare.spec import GateSpec
from ci_eval.report.render import render_report
from tests.builders import run
from tests.report.fixtures import SETTINGS
from tests.report.markdown_reader import Page, assert_is_harmless


def many(count: int, *turns: tuple[int, str]) -> str:
    """`many(20, (4, "✗"), (20, "✓"))`: the first 4 cases fail, the others pass."""
    return " ".join(f"case-{number:02d}{next(marks for end, marks in turns if number < end)}" for number in range(count))


ALL_PASS = many(30, (30, "✓"))


def commented(baseline: str, candidate: str) -> str:
    comparison = compare_runs(run(baseline, arm="baseline"), run(candidate), CompareSettings())
    verdict = apply_gate(comparison, GateSpec(), {}, datetime.date(2026, 1, 1))
    return render_report(comparison, verdict, SETTINGS).comment


STORIES = {
    "regression": (ALL_PASS, many(30, (9, "✗"), (30, "✓")), "❌ Travel agent: regression, merging is blocked"),
    "improvement": (many(30, (9, "✗"), (30, "✓")), ALL_PASS, "✅ Travel agent: improved"),
    "identical": (ALL_PASS, ALL_PASS, "✅ Travel agent: no relevant difference"),
    "noise": (many(30, (3, "✗"), (30, "✓")), many(30, (2, "✓"), (5, "✗"), (30, "✓")), "✅ Travel agent: no regression found"),
    "few cases": ("a✓ b✓ c✗", "a✓ b✗ c✗", "⚠️ Travel agent: no decision, too few cases for a verdict"),
    "missing": (ALL_PASS, many(30, (4, "?"), (30, "✓")), "⛔ Travel agent: evaluation incomplete, no verdict"),
    "agent errors": (ALL_PASS, many(30, (8, "!"), (30, "✓")), "❌ Travel agent: regression, merging is blocked"),
    "trials": (many(20, (20, "✓✗✓")), many(20, (6, "✗✗✓"), (20, "✓✓✓")), "✅ Travel agent: improved"),
}


@pytest.mark.parametrize(("baseline", "candidate", "title"), STORIES.values(), ids=STORIES)
def test_it_reads_well(baseline: str, candidate: str, title: str) -> None:
    comment = commented(baseline, candidate)
    page = assert_is_harmless(comment, own_links=frozenset({str(SETTINGS.report_url)}))
    assert comment.splitlines()[0] == f"## {title}"
    without_cases = Page(re.sub(r"(?s)<details.*?</details>", "", comment)).text_outside_code
    said = Counter(sentence.strip() for sentence in re.split(r"\. |\n", without_cases) if len(sentence) > 40)
    assert [sentence for sentence, times in said.items() if times > 1] == []
    for wrong in (r"\b1 cases\b", r"\b[02-9] case\b", r"\bNone\b", r"\bnan\b", r"\.\.", "∅"):
        assert not re.search(wrong, page.text_outside_code), wrong


def test_our_sentences_are_words_and_never_fall_into_code() -> None:
    for baseline, candidate, _ in STORIES.values():
        for code in Page(commented(baseline, candidate)).codes:
            assert "would usually go unnoticed" not in code
            assert "got worse" not in code


def test_a_crash_is_told_once() -> None:
    comment = commented(*STORIES["agent errors"][:2])
    block = comment[comment.index("<details open>") : comment.index("</details>")]
    assert block.count("KeyError") == 1
    assert "8 agent errors on the candidate (`exception` 8×), counted as failures of the agent." in comment

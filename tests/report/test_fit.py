"""Whole blocks go, in a fixed order, until the text fits."""

from __future__ import annotations

from ci_eval.report.fit import Shown, fit, shrinking, size

ALL = Shown(reasons=2, metrics=3, trajectory=3, broken=20, fixed=5, others=2, notices=1, usage=1, errors=1, facts=1)


def rendered(shown: Shown) -> str:
    return "ä" * 100 * shown.broken + "f" * 100 * shown.fixed + "m" * 10 * shown.metrics


def test_everything_is_shown_when_it_fits() -> None:
    assert fit(rendered, ALL, 10_000) == rendered(ALL)


def test_the_budget_counts_bytes() -> None:
    assert size("ä🧪") == 6


def test_fixed_cases_go_before_broken_ones_and_broken_ones_before_metrics() -> None:
    assert fit(rendered, ALL, 4_200).count("f") == 100
    text = fit(rendered, ALL, 2_030)
    assert text.count("f") == 0
    assert text.count("ä") == 1_000
    assert text.count("m") == 30


def test_the_longest_text_that_fits_is_taken() -> None:
    for budget in range(0, 5_000, 97):
        fitting = [rendered(choice) for choice in shrinking(ALL) if size(rendered(choice)) <= budget]
        if fitting:
            assert fit(rendered, ALL, budget) == fitting[0]


def test_each_choice_leaves_out_one_block_more_and_the_last_one_all() -> None:
    choices = shrinking(ALL)
    totals = [sum(getattr(choice, kind) for kind in Shown.__slots__) for choice in choices]
    assert totals == list(range(totals[0], -1, -1))

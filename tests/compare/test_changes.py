"""The truth table of a case's change, whole."""

from __future__ import annotations

import pytest

from ci_eval.compare.changes import ORDER
from ci_eval.domain.comparison import Change
from tests.builders import both, count, likert, run, score_metric, scores_run
from tests.compare.comparing import compared, first

TABLE = [
    ("✓", "✓", None),
    ("✗", "✗", None),
    ("✓", "✗", Change.BROKEN),
    ("✗", "✓", Change.FIXED),
    ("✓", "!", Change.BROKEN),
    ("!", "✓", Change.FIXED),
    ("!", "!", None),
    ("✗", "!", None),
    ("✓", "?", Change.MISSING),
    ("?", "✓", Change.MISSING),
    ("?", "?", Change.MISSING),
    ("✓", "#", Change.MISSING),
    ("✓", "-", Change.MISSING),
    ("✓", "~", Change.MISSING),
    ("~", "✓", Change.MISSING),
    ("~", "~", None),
    ("s", "s", None),
    ("s", "~", None),
    ("✓", "s", Change.MISSING),
    ("~", "!", Change.MISSING),
    ("✓✓✓", "✗✗✗", Change.BROKEN),
    ("✗✗✗", "✓✓✓", Change.FIXED),
    ("✓✓✓", "✓✓✗", Change.DEGRADED),
    ("✓✗✗", "✓✓✗", Change.IMPROVED),
    ("✓✗✗", "✗✓✗", Change.FLAKY_SAME),
    ("✓✓✓", "✓✓✓", None),
    ("✓✗✗", "✗✗✗", Change.DEGRADED),
    ("✓✓✗", "✓✓?", None),  # both are cut to two trials, and those are equal
]


@pytest.mark.parametrize(("before", "after", "change"), TABLE, ids=str)
def test_truth_table(before: str, after: str, change: Change | None) -> None:
    found = [one.change for one in compared(run(f"a{before}"), run(f"a{after}")).changes]
    assert found == ([] if change is None else [change])


def test_added_removed_and_modified_cases_are_listed_and_not_compared() -> None:
    comparison = compared(run("a✓ gone✓ m✓", dataset="old"), run("a✗ new✓ m✗", dataset="new", edited=["m"]))
    found = {one.case_id: (one.change, one.baseline, one.candidate) for one in comparison.changes}
    assert found == {
        "a": (Change.BROKEN, 1.0, 0.0),
        "gone": (Change.REMOVED, 1.0, None),
        "m": (Change.MODIFIED, 1.0, 0.0),
        "new": (Change.ADDED, None, 1.0),
    }
    assert first(comparison).n == 1


def test_numbers_without_pass_or_fail_only_rise_and_fall() -> None:
    before, after = scores_run({"a": 0.5, "b": 0.5, "c": 0.5}), scores_run({"a": 0.4, "b": 0.6, "c": 0.5})
    assert {one.case_id: one.change for one in compared(before, after).changes} == {"a": Change.DEGRADED, "b": Change.IMPROVED}


def test_fewer_is_better_turns_the_words_round() -> None:
    before = scores_run({"a": 3, "b": 1}, metric=count())
    after = scores_run({"a": 1, "b": 3}, metric=count())
    found = compared(before, after, {"metrics": ["policy_breaks"]}).changes
    assert {one.case_id: one.change for one in found} == {"a": Change.IMPROVED, "b": Change.DEGRADED}


def test_without_a_good_direction_a_number_only_changes() -> None:
    length = count("answer_length", direction="none")
    before = both(run("a✓ b✓"), scores_run({"a": 10, "b": 10}, metric=length))
    after = both(run("a✓ b✓", voice="x"), scores_run({"a": 20, "b": 10}, metric=length))
    assert [(one.case_id, one.change) for one in compared(before, after).changes] == [("a", Change.CHANGED)]


def test_a_score_that_crosses_its_threshold_breaks() -> None:
    metric = score_metric(threshold=0.7)
    before = scores_run({"a": 0.7, "b": 0.9}, metric=metric)
    after = scores_run({"a": 0.6, "b": 0.8}, metric=metric)
    assert {one.case_id: one.change for one in compared(before, after).changes} == {"a": Change.BROKEN, "b": Change.DEGRADED}


def test_losses_come_first_then_ids() -> None:
    changes = compared(run("a✗ b✓ c✗ d✓ e✓"), run("a✓ b✗ c✓ d✗ e-")).changes
    assert [one.case_id for one in changes] == ["b", "d", "e", "a", "c"]


def test_every_change_has_a_place_in_the_order() -> None:
    assert set(ORDER) == set(Change)


def test_rounding_of_a_mean_is_no_change() -> None:
    before, after = scores_run({"a": [1, 2, 2]}, metric=likert()), scores_run({"a": [2, 1, 2]}, metric=likert())
    assert compared(before, after).changes == ()

"""Cases are paired by id; what is absent is never taken for equal, nor for gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ci_eval.compare.pairing import needed_trials, pair_runs
from ci_eval.errors import DataError
from tests.builders import run


def test_records_in_any_order_meet_by_id() -> None:
    before, after = run("a✓ b✗ c✓"), run("c✗ a✓ b✓")
    pairing = pair_runs(before, after)
    assert pairing.sets.paired == ("a", "b", "c")
    assert [pairing.pairs["c"].baseline[0].case_id, pairing.pairs["c"].candidate[0].case_id] == ["c", "c"]


def test_what_one_dataset_holds_and_was_not_run_is_missing() -> None:
    sets = pair_runs(run("a✓ b✓ c✓"), run("a✓ b- ", cases=3)).sets
    assert (sets.paired, sets.missing, sets.removed) == (("a",), ("b", "c"), ())


def test_with_another_dataset_an_absent_case_was_removed_or_added() -> None:
    sets = pair_runs(run("a✓ b✓", dataset="old"), run("a✓ c✓", dataset="new")).sets
    assert (sets.paired, sets.removed, sets.added, sets.missing) == (("a",), ("b",), ("c",), ())


def test_a_run_cut_short_never_looks_like_a_smaller_dataset() -> None:
    sets = pair_runs(run("a✓ b✓", dataset="old"), run("a✓", dataset="new", cases=2)).sets
    assert (sets.removed, sets.missing) == ((), ("b",))


def test_a_case_that_neither_run_names_is_still_missing() -> None:
    assert pair_runs(run("a✓", cases=3), run("a✓", cases=3)).unrecorded == 2


def test_a_case_newer_than_the_recorded_baseline_is_added() -> None:
    sets = pair_runs(run("a✓ b."), run("a✓ b✓")).sets
    assert (sets.paired, sets.added) == (("a",), ("b",))


def test_a_recorded_candidate_without_the_case_is_missing() -> None:
    sets = pair_runs(run("a✓ b✓"), run("a✓ b.")).sets
    assert (sets.added, sets.removed, sets.missing) == ((), (), ("b",))


def test_a_case_that_nobody_recorded_is_missing() -> None:
    assert pair_runs(run("a✓ b."), run("a✓ b.")).sets.missing == ("b",)


def test_another_content_makes_it_another_case() -> None:
    sets = pair_runs(run("a✓ b✓"), run("a✓ b✓", edited=["b"])).sets
    assert (sets.paired, sets.modified) == (("a",), ("b",))


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("a✓", "a!", "paired"),  # the agent's own failure is a result
        ("a✓", "a?", "missing"),
        ("a?", "a✓", "missing"),
        ("a✓", "a-", "missing"),
        ("as", "as", "paired"),
        ("a✓", "as", "missing"),
        ("a✓✓✓", "a✓?✓", "paired"),
        ("a✓✓✓", "a✓??", "missing"),
        ("a✓✓", "a✓?", "paired"),
    ],
)
def test_a_pair_needs_half_of_its_trials_on_each_arm(before: str, after: str, place: str) -> None:
    assert getattr(pair_runs(run(before), run(after)).sets, place) == ("a",)


def test_half_is_rounded_up() -> None:
    assert [needed_trials(trials) for trials in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]


def test_two_records_of_one_trial_are_refused_with_their_case_and_arm() -> None:
    broken = run("a✓ b✓")
    broken = replace(broken, records=(*broken.records, broken.records[0]))
    with pytest.raises(DataError, match="candidate: case 'a' has two records for trial 0"):
        pair_runs(run("a✓ b✓"), broken)

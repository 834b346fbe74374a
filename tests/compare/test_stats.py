"""Formulas against reference values and against their own laws."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.compare import stats
from tests.shared import SHARED, needs_shared

ORACLE = SHARED / "data" / "oracle" / "statistics.jsonl"
Input = Mapping[str, Any]
Answer = Mapping[str, object]


def of_pass_fail(losses: int, gains: int) -> Answer:
    test = stats.mcnemar(losses=losses, gains=gains)
    return {**asdict(test), "p_two_sided": test.p_two_sided}


def flipped(gains: list[float], lattice: int | None) -> Answer:
    test = stats.sign_flip(gains, lattice=lattice)
    return {**asdict(test), "n": len(gains), "p_two_sided": test.p_two_sided}


def paired_binary(i: Input) -> Answer:
    before, after = i["baseline"], i["candidate"]
    pairs = list(zip(before, after, strict=True))
    losses, gains = pairs.count((1, 0)), pairs.count((0, 1))
    limits = stats.tango_interval(gains=gains, losses=losses, n=len(pairs), level=i["level"])
    return {
        "n": len(pairs), "both_pass": pairs.count((1, 1)), "losses": losses, "gains": gains, "both_fail": pairs.count((0, 0)),
        "baseline_rate": stats.rate_interval(before, [1] * len(before), level=0.9).estimate,
        "candidate_rate": stats.rate_interval(after, [1] * len(after), level=0.9).estimate,
        **asdict(limits), **of_pass_fail(losses, gains),
    }  # fmt: skip


def paired_trials(i: Input) -> Answer:
    k = i["trials"]
    gains = [(after - before) / k for before, after in zip(i["baseline_passes"], i["candidate_passes"], strict=True)]
    up, down = stats.matched_counts(gains)
    limits = stats.tango_interval(gains=up, losses=down, n=len(gains), level=i["level"])
    return {**asdict(limits), "gains_eff": up, "losses_eff": down, **flipped(gains, k)}


ADAPTER: dict[str, Callable[[Input], Answer]] = {
    "wilson_interval": lambda i: asdict(stats.wilson_interval(i["successes"], i["n"], level=i["level"])),
    "rate_interval": lambda i: asdict(stats.rate_interval(i["passes"], i["trials"], level=i["level"])),
    "mcnemar": lambda i: of_pass_fail(i["losses"], i["gains"]),
    "score_interval": lambda i: asdict(stats.tango_interval(gains=i["gains"], losses=i["losses"], n=i["n"], level=i["level"])),
    "paired_binary": paired_binary,
    "paired_trials": paired_trials,
    "sign_flip": lambda i: flipped(i["diffs"], i["lattice"]),
    "mean_diff_interval": lambda i: asdict(stats.mean_interval(i["diffs"], level=i["level"])),
    "holm": lambda i: {"value": stats.holm(i["p"])},
    "benjamini_hochberg": lambda i: {"value": stats.benjamini_hochberg(i["p"])},
    "ratio_summary": lambda i: asdict(stats.ratio_summary(i["baseline"], i["candidate"], level=i["level"])),
    "min_net_flips": lambda i: {"value": stats.minimum_net_flips(i["alpha"])},
    "mde_binary": lambda i: {
        "value": stats.minimum_detectable_binary(i["n"], churn=i["churn"], alpha=i["alpha"], power=i["power"])
    },
}
BUILT_ELSEWHERE = {
    "verdict": "test_metrics.py",
    "control_limits": "not built: limits over past runs belong to the history of the default branch",
    **dict.fromkeys(
        ("pass_at_k", "dataset_pass_at_k", "dataset_pass_hat_k", "icc", "newly_failing_p"),
        "not built: no report prints a number about the trials within a case",
    ),
}


def oracle() -> list[dict[str, Any]]:
    if not ORACLE.is_file():
        return []
    rows = [json.loads(line) for line in ORACLE.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["fn"] not in BUILT_ELSEWHERE]


@needs_shared
@pytest.mark.parametrize("row", oracle(), ids=lambda row: f"{row['id']}-{row['fn']}")
def test_the_oracle_agrees(row: dict[str, Any]) -> None:
    answer = ADAPTER[row["fn"]](row["input"])
    for key, right in row["expected"].items():
        if right is None or isinstance(right, str):
            assert answer[key] == right, key
        else:
            assert answer[key] == pytest.approx(right, abs=row["tol"], rel=row["tol"]), key


# The same without the handed file: published or hand-checked values.


def test_wilson_never_has_zero_width() -> None:
    assert stats.wilson_interval(10, 10, level=0.95).low == pytest.approx(0.7224672, abs=1e-6)
    assert stats.wilson_interval(0, 10, level=0.95).high == pytest.approx(0.2775328, abs=1e-6)
    assert stats.wilson_interval(0, 0, level=0.95).estimate is None


def test_tango_gives_the_published_example() -> None:
    limits = stats.tango_interval(gains=1, losses=7, n=21, level=0.95)
    assert limits.low == pytest.approx(-0.517232, abs=1e-6)
    assert limits.high == pytest.approx(-0.026003, abs=1e-6)


def test_nine_losses_against_one_gain_are_the_same_from_both_sides() -> None:
    worse, better = stats.mcnemar(losses=9, gains=1), stats.mcnemar(losses=1, gains=9)
    assert worse.p_two_sided == better.p_two_sided == pytest.approx(0.0117, abs=5e-5)
    assert 2 * worse.p_regress_exact == pytest.approx(0.0215, abs=5e-5)
    assert worse.p_regress == better.p_improve


@pytest.mark.parametrize(("losses", "p"), [(1, 0.25), (3, 0.0625), (4, 0.03125), (6, 0.0078125)])
def test_only_losses_halve_the_chance_with_each_case(losses: int, p: float) -> None:
    assert stats.mcnemar(losses=losses, gains=0).p_regress == p


def test_a_p_value_is_never_zero() -> None:
    assert stats.mcnemar(losses=5000, gains=0).p_regress > 0
    assert stats.sign_flip([-1.0] * 2000, lattice=1).p_regress > 0
    assert stats.sign_flip([-0.1 * i for i in range(1, 300)], lattice=None).p_regress > 0


def test_counts_of_flips_and_losses_that_can_be_found() -> None:
    assert [stats.minimum_net_flips(alpha) for alpha in (0.05, 0.025, 0.01, 0.0025)] == [4, 5, 6, 8]
    sizes = {n: stats.minimum_detectable_binary(n, churn=0.0, alpha=0.05) for n in (10, 20, 50, 100)}
    assert {n: round(size or 0, 2) for n, size in sizes.items()} == {10: 0.50, 20: 0.28, 50: 0.12, 100: 0.06}
    assert stats.minimum_detectable_binary(2, churn=0.0, alpha=0.05) is None


def test_holm_and_benjamini_hochberg_adjust_in_input_order() -> None:
    assert stats.holm([0.01, 0.04, 0.03, 0.2, 0.5]) == pytest.approx([0.05, 0.12, 0.12, 0.4, 0.5])
    assert stats.benjamini_hochberg([0.01, 0.04, 0.03, 0.2, 0.5]) == pytest.approx([0.05, 1 / 15, 1 / 15, 0.25, 0.5])


def test_the_median_has_no_proven_limits_among_four_values() -> None:
    interval = stats.median_interval([1.0, 2.0, 3.0, 9.0], level=0.9)
    assert (interval.estimate, interval.low, interval.high) == (2.5, None, None)


def test_quantiles_lie_on_the_line_between_neighbours() -> None:
    assert stats.quantile([4.0, 1.0, 2.0, 3.0], 0.5) == 2.5
    assert stats.quantile([1.0], 0.95) == 1.0
    assert stats.quantile([], 0.5) is None


def test_a_zero_measurement_leaves_only_the_bill_and_the_test() -> None:
    summary = stats.ratio_summary([0, 2, 3, 4], [1, 2, 2, 6], level=0.9)
    assert (summary.mode, summary.geo_mean_ratio, summary.p_increase) == ("difference", None, 0.25)
    assert summary.ratio_of_totals == pytest.approx(11 / 9)


def test_transforms_give_the_same_chances_as_additions() -> None:
    sizes = [1 + (i * 37) % 101 for i in range(120)]
    added = stats._flip_directly(sizes)
    transformed = stats._convolve(stats._flip_directly(sizes[:50]), stats._flip_directly(sizes[50:]))
    assert transformed == pytest.approx(added, abs=1e-14)


def test_very_many_gains_follow_the_normal_curve() -> None:
    sizes = sorted(1 + (i * 37) % 101 for i in range(900))
    spread, won = stats._flip_directly(sizes), int(0.48 * sum(sizes))
    exact = math.fsum(spread[:won]) + spread[won] / 2
    assert stats._normal_flip(sizes, won).p_regress == pytest.approx(exact, rel=1e-3)


# Laws


def limits(interval: stats.Interval) -> tuple[float, float, float]:
    assert interval.low is not None
    assert interval.estimate is not None
    assert interval.high is not None
    return interval.low, interval.estimate, interval.high


steps = st.integers(min_value=-3, max_value=3)
gains_of_thirds = st.lists(steps.map(lambda step: step / 3), max_size=12)
continuous = st.lists(st.floats(min_value=-1, max_value=1, allow_nan=False), max_size=25)
quick = settings(max_examples=60, deadline=None)


@given(gains=gains_of_thirds)
@quick
def test_the_distribution_equals_trying_every_sign(gains: list[float]) -> None:
    sizes = [abs(round(gain * 3)) for gain in gains if gain]
    won = sum(round(gain * 3) for gain in gains if gain > 0)
    sums = [sum(size for size, head in zip(sizes, heads, strict=True) if head) for heads in product((0, 1), repeat=len(sizes))]
    below, point = sum(total < won for total in sums), sum(total == won for total in sums)
    right = (below + point / 2) / len(sums) if sizes else 1.0
    assert stats.sign_flip(gains, lattice=3).p_regress == pytest.approx(right, abs=1e-12)


@given(gains=continuous)
@quick
def test_swapping_the_arms_swaps_the_p_values(gains: list[float]) -> None:
    here, there = stats.sign_flip(gains, lattice=None), stats.sign_flip([-gain for gain in gains], lattice=None)
    assert (here.p_regress, here.p_improve) == (there.p_improve, there.p_regress)


@given(gains=continuous, data=st.data())
@quick
def test_the_order_of_cases_does_not_matter(gains: list[float], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(gains))
    assert stats.sign_flip(gains, lattice=None) == stats.sign_flip(shuffled, lattice=None)


@given(gains=gains_of_thirds, ties=st.integers(min_value=0, max_value=20))
@quick
def test_ties_do_not_change_p(gains: list[float], ties: int) -> None:
    assert stats.sign_flip(gains, lattice=3) == stats.sign_flip([*gains, *[0.0] * ties], lattice=3)


@given(gains=gains_of_thirds)
@quick
def test_one_more_loss_never_raises_p(gains: list[float]) -> None:
    more = stats.sign_flip([*gains, -1.0], lattice=3)
    assert more.p_regress <= stats.sign_flip(gains, lattice=3).p_regress + 1e-12


@given(losses=st.integers(0, 40), gains=st.integers(0, 40), same=st.integers(0, 40))
@quick
def test_one_trial_makes_it_mcnemar(losses: int, gains: int, same: int) -> None:
    flips = [-1.0] * losses + [1.0] * gains + [0.0] * same
    assert stats.sign_flip(flips, lattice=1) == stats.mcnemar(losses=losses, gains=gains)


@given(losses=st.integers(0, 60), gains=st.integers(0, 60), same=st.integers(0, 60), level=st.sampled_from([0.8, 0.9, 0.99]))
@quick
def test_an_interval_holds_its_estimate_and_mirrors(losses: int, gains: int, same: int, level: float) -> None:
    n = losses + gains + same
    if n == 0:
        return
    low, estimate, high = limits(stats.tango_interval(gains=gains, losses=losses, n=n, level=level))
    mirrored_low, _, _ = limits(stats.tango_interval(gains=losses, losses=gains, n=n, level=level))
    assert -1 <= low <= estimate <= high <= 1
    assert low < high
    assert high == pytest.approx(-mirrored_low, abs=1e-9)
    low, estimate, high = limits(stats.wilson_interval(gains, n, level=level))
    assert 0 <= low <= estimate <= high <= 1


@given(p_values=st.lists(st.floats(min_value=0, max_value=1), max_size=12))
@quick
def test_an_adjusted_p_is_never_smaller_and_never_above_one(p_values: list[float]) -> None:
    for adjusted in (stats.holm(p_values), stats.benjamini_hochberg(p_values)):
        assert all(p <= q + 1e-15 and q <= 1 for p, q in zip(p_values, adjusted, strict=True))


def test_thousands_of_scores_take_seconds_not_minutes() -> None:
    gains = [math.sin(i * i) for i in range(3000)]
    test = stats.sign_flip(gains, lattice=None)
    assert 0 < test.p_regress < 1

"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from ci_eval.domain.comparison import Difference
from ci_eval.domain.score import Metric
from ci_eval.report import numbers
from tests.report.fixtures import SUCCESS, estimate

LATENCY = Metric(name="latency_s", evaluator="latency_s", kind="ratio", direction="lower", minimum=None, maximum=None)
COUNT = Metric(name="policy_breaks", evaluator="policy_breaks", kind="count", direction="lower", maximum=None)


@pytest.mark.parametrize(("rate", "text"), [(0.84, "84.0 %"), (0.0, "0.0 %"), (1.0, "100.0 %"), (2 / 3, "66.7 %"), (None, "–")])
def test_percent(rate: float | None, text: str) -> None:
    assert numbers.percent(rate) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(4.317, "4.32"), (0, "0.00"), (-0.001, "−0.0010"), (0.00042, "0.00042"), (123.45, "123.5"), (12345.6, "12,346"), (-2, "−2.00"), (None, "–")],
)  # fmt: skip
def test_number(value: float | None, text: str) -> None:
    assert numbers.number(value) == text


@pytest.mark.parametrize(("value", "text"), [(-0.14, "−14.0"), (0.04, "+4.0"), (0.0, "0.0"), (-0.0001, "0.0"), (None, "–")])
def test_points_have_a_sign_unless_they_are_zero(value: float | None, text: str) -> None:
    assert numbers.points(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.26, "+0.26"), (-0.02, "−0.02"), (-0.004, "−0.004"), (0.0, "0.000"), (None, "–")])
def test_delta(value: float | None, text: str) -> None:
    assert numbers.delta(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 ms"), (0.85, "850 ms"), (0.9999, "1.0 s"), (3.14, "3.1 s"), (59.94, "59.9 s"), (59.96, "1 min 00 s"), (125, "2 min 05 s"),
     (3_720, "1 h 02 min"), (None, "–")],
)  # fmt: skip
def test_duration(seconds: float | None, text: str) -> None:
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (950, "950"), (8_120, "8.1 k"), (99_960, "100 k"), (812_345, "812 k"), (999_600, "1.00 M"),
     (1_234_567, "1.23 M"), (None, "–")]
)  # fmt: skip
def test_tokens(count: int | None, text: str) -> None:
    assert numbers.tokens(count) == text


def test_money_has_no_dollar_sign_because_two_of_them_make_a_formula() -> None:
    assert numbers.cost(0.4249) == "0.42 USD"
    assert numbers.cost(0.00042) == "0.00042 USD"
    assert numbers.cost(None) == "–"


def test_a_share_of_nothing_is_unknown() -> None:
    assert numbers.share(0.47, 0.42) == "×1.12"
    assert numbers.share(1.0, 0.0) == "–"
    assert numbers.share(None, 1.0) == "–"


def test_plurals() -> None:
    assert numbers.plural(1, "case") == "1 case"
    assert numbers.plural(0, "case") == "0 cases"
    assert numbers.plural(1_200, "case") == "1,200 cases"
    assert numbers.plural(2, "kind of change", "kinds of change") == "2 kinds of change"


def test_a_binary_metric_shows_its_counts_when_they_are_whole() -> None:
    assert numbers.estimate(estimate(0.84), SUCCESS, 1) == "84.0 % (42/50)"
    assert numbers.estimate(estimate(0.84), SUCCESS, 3) == "84.0 %"
    assert numbers.estimate(estimate(None, 0), SUCCESS, 1) == "–"


def gain(center: float, low: float | None, high: float | None) -> Difference:
    return Difference(estimate=center, low=low, high=high, p_regress=None, p_improve=None)


def test_a_difference_is_candidate_minus_baseline_also_where_lower_is_better() -> None:
    assert numbers.change(gain(-0.14, -0.231, -0.052), SUCCESS) == ("−14.0", "[−23.1, −5.2]")
    assert numbers.change(gain(-0.5, -1.0, 0.25), COUNT) == ("+0.50", "[−0.25, +1.00]")


def test_a_ratio_stays_a_ratio() -> None:
    assert numbers.change(gain(1.12, 1.05, 1.2), LATENCY) == ("×1.12", "[×1.05, ×1.20]")


def test_without_an_interval_none_is_printed() -> None:
    assert numbers.change(gain(-0.5, None, None), COUNT) == ("+0.50", "")


def test_sizes_without_sign() -> None:
    assert numbers.amount(0.118, SUCCESS) == "12 points"
    assert numbers.amount(0.061, SUCCESS) == "6.1 points"
    assert numbers.amount(0.25, COUNT) == "0.25"
    assert numbers.amount(None, SUCCESS) == "–"


def test_a_level() -> None:
    assert numbers.level(0.9) == "90 %"
    assert numbers.level(0.975) == "97.5 %"


def test_no_number_is_written_as_nan() -> None:
    assert "nan" not in numbers.factor(math.inf)

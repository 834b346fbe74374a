"""Formulas: lists of numbers in, estimates, limits and p-values out.

In: plain numbers; a gain is positive when the candidate is better. Out: frozen values; None means "undefined" and is never shown as 0.
Pure. numpy and scipy are imported by the functions that need them; scipy.special loads in a third of the time of scipy.stats.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

TIE = 1e-12  # two scores closer than this are equal; a standard deviation below it is none
CONTINUOUS_STEPS = 1000  # the largest gain of a continuous metric becomes this many whole steps
LARGEST_LATTICE = 2520  # least common multiple of 1 to 10; beyond it the distribution grows out of hand
DIRECT_WORK = 200_000_000  # additions; a fifth of a second, beyond that Fourier transforms take over
LONGEST_DISTRIBUTION = 8_000_000  # sums; some 20,000 continuous gains, where the normal curve is as good and needs no memory
POWER = 0.80


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A number and its two-sided limits."""

    estimate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateInterval(Interval):
    """A pass rate over cases."""

    se: float | None
    """Standard error over the cases."""
    n_eff: float | None
    """Number of independent trials that the rate is worth, between cases and trials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval(Interval):
    """A mean over cases."""

    sd: float | None
    """With n - 1; None below two values."""
    se: float | None
    df: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlip:
    """Result of the exact sign-flip test."""

    nonzero: int
    """Cases that moved by at least one step."""
    p_regress: float
    """Chance of at most this much gain when nothing changed; in (0, 1]."""
    p_improve: float
    p_regress_exact: float
    """Without the mid-p correction; for comparison only."""

    @property
    def p_two_sided(self) -> float:
        """Chance of a split at least this uneven in either direction."""
        return min(1.0, 2 * min(self.p_regress, self.p_improve))


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioSummary:
    """Candidate over baseline for positive measurements (latency, tokens, cost)."""

    n: int
    mode: Literal["log_ratio", "difference"]
    """`difference` when a value is 0: then there are no ratios by case."""
    ratio_of_totals: float | None
    """The bill; None when the baseline's total is 0."""
    geo_mean_ratio: float | None
    geo_low: float | None
    geo_high: float | None
    median_ratio: float | None
    median_low: float | None
    median_high: float | None
    p_increase: float
    p_decrease: float


def normal_quantile(probability: float) -> float:
    """Return the value that a standard normal number stays below with this probability, within (0, 1)."""
    return NormalDist().inv_cdf(probability)


def two_sided_z(level: float) -> float:
    """Return the normal quantile that belongs to a two-sided level: 1.645 for 0.90."""
    return normal_quantile(1 - (1 - level) / 2)


# --- one arm ---


def wilson_interval(passed: float, n: float, *, level: float) -> Interval:
    """Limits of a rate, within 0..1 and never of zero width; all None when n is 0.  Source: Wilson 1927, JASA 22:209."""
    if n == 0:
        return Interval(estimate=None, low=None, high=None)
    rate, z = passed / n, two_sided_z(level)
    shrink = 1 + z * z / n
    centre = (rate + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return Interval(estimate=rate, low=low, high=high)


def rate_interval(passes: Sequence[float], trials: Sequence[int], *, level: float) -> RateInterval:
    """Limits of the mean pass rate of cases that ran one or more trials each; all None without a case.

    The Wilson limits with an effective number of trials, as surveys do for clusters; with one trial each the plain ones.
    """
    n, total = len(trials), sum(trials)
    if n == 0:
        return RateInterval(estimate=None, low=None, high=None, se=None, n_eff=None)
    scores = [passed / count for passed, count in zip(passes, trials, strict=True)]
    rate = min(1.0, max(0.0, math.fsum(scores) / n))
    sd = standard_deviation(scores)
    se = None if sd is None else sd / math.sqrt(n)
    if se is None or rate in {0.0, 1.0}:
        n_eff = float(n)
    elif se < TIE:
        n_eff = float(total)
    else:
        n_eff = min(max(rate * (1 - rate) / se**2, float(n)), float(total))
    limits = wilson_interval(rate * n_eff, n_eff, level=level)
    return RateInterval(estimate=rate, low=limits.low, high=limits.high, se=se, n_eff=n_eff)


def mean_interval(values: Sequence[float], *, level: float) -> MeanInterval:
    """Mean and t limits; no limits below two values or without any spread, nothing at all without a value."""
    n = len(values)
    if n == 0:
        return MeanInterval(estimate=None, low=None, high=None, sd=None, se=None, df=None)
    mean, sd = math.fsum(values) / n, standard_deviation(values)
    if sd is None:
        return MeanInterval(estimate=mean, low=None, high=None, sd=None, se=None, df=0)
    if sd < TIE:
        return MeanInterval(estimate=mean, low=None, high=None, sd=0.0, se=0.0, df=n - 1)
    se = sd / math.sqrt(n)
    half = _t_quantile(1 - (1 - level) / 2, n - 1) * se
    return MeanInterval(estimate=mean, low=mean - half, high=mean + half, sd=sd, se=se, df=n - 1)


def standard_deviation(values: Sequence[float]) -> float | None:
    """With n - 1 in the denominator; None below two values."""
    n = len(values)
    if n < 2:
        return None
    mean = math.fsum(values) / n
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))


def _t_quantile(probability: float, df: int) -> float:
    from scipy import special

    return float(special.stdtrit(df, probability))


# --- the difference ---


def tango_interval(*, gains: float, losses: float, n: int, level: float) -> Interval:
    """Score limits of a paired difference of rates, within -1..1; all None when n is 0.

    `gains` and `losses` are counts of cases, or real numbers matched to several trials.  Source: Tango 1998, Statist. Med. 17:891.
    """
    if n == 0:
        return Interval(estimate=None, low=None, high=None)
    z, difference = two_sided_z(level), (gains - losses) / n
    if gains == 0 and losses == 0:
        half = z * z / (n + z * z)
        return Interval(estimate=0.0, low=-half, high=half)

    def statistic(delta: float) -> float:
        linear = -gains - losses + (2 * n - gains + losses) * delta
        root = math.sqrt(max(0.0, linear**2 + 8 * n * losses * delta * (1 - delta)))
        spread = n * (2 * (root - linear) / (4 * n) + delta * (1 - delta))
        distance = gains - losses - n * delta
        return distance / math.sqrt(spread) if spread > 0 else math.copysign(math.inf, distance)

    low = -1.0 if difference <= -1 else _falling_root(lambda delta: statistic(delta) - z, -1.0, difference)
    high = 1.0 if difference >= 1 else _falling_root(lambda delta: statistic(delta) + z, difference, 1.0)
    return Interval(estimate=difference, low=low, high=high)


def matched_counts(gains: Sequence[float]) -> tuple[float, float]:
    """Return the (gains, losses) of single trials that have the same mean and mean square; the plain counts for 0/1 scores."""
    total = math.fsum(gains)
    squares = max(math.fsum(gain * gain for gain in gains), abs(total))
    return (squares + total) / 2, (squares - total) / 2


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Halve until two neighbouring numbers are left; the function falls from positive to negative."""
    while low < (middle := (low + high) / 2) < high:
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return middle


# --- the test ---


def mcnemar(*, losses: int, gains: int) -> SignFlip:
    """Mid-p McNemar test, one p-value per direction; 1 when no case changed.  Source: Fagerland, Lydersen, Laake 2013."""
    moved = losses + gains
    if moved == 0:
        return SignFlip(nonzero=0, p_regress=1.0, p_improve=1.0, p_regress_exact=1.0)
    below, point, above = _coin_tails(moved, gains)
    return _mid_p(moved, below, point, above)


def sign_flip(gains: Sequence[float], *, lattice: int | None) -> SignFlip:
    """Test the mean of the gains by the exact distribution of its sign flips, with the mid-p correction; 1 when all are ties.

    `lattice`: the number that makes every gain whole (the least common multiple of the trial counts), None for continuous scores.
    Gains off their lattice, or a lattice beyond 2,520, are treated as continuous.
    """
    steps = [step for step in _whole_steps(gains, lattice) if step]
    if not steps:
        return SignFlip(nonzero=0, p_regress=1.0, p_improve=1.0, p_regress_exact=1.0)
    common = math.gcd(*steps)
    sizes = sorted(abs(step) // common for step in steps)  # sorted: the order of the cases must not show in the last digit
    won = sum(step for step in steps if step > 0) // common
    if sizes[-1] == 1:
        return mcnemar(losses=len(sizes) - won, gains=won)
    if sum(sizes) > LONGEST_DISTRIBUTION:
        return _normal_flip(sizes, won)
    spread = _flip_distribution(sizes)
    below, point, above = math.fsum(spread[:won]), float(spread[won]), math.fsum(spread[won + 1 :])
    return _mid_p(len(sizes), below, point, above)


def _mid_p(moved: int, below: float, point: float, above: float) -> SignFlip:
    smallest = sys.float_info.min  # a p-value is never 0, even where 2^-n is too small to be written
    return SignFlip(
        nonzero=moved,
        p_regress=min(1.0, max(below + point / 2, smallest)),
        p_improve=min(1.0, max(above + point / 2, smallest)),
        p_regress_exact=min(1.0, max(below + point, smallest)),
    )


def _normal_flip(sizes: Sequence[int], won: int) -> SignFlip:
    """The limit of the distribution for very many gains."""
    distance = (won - sum(sizes) / 2) / (math.sqrt(math.fsum(size * size for size in sizes)) / 2)
    below, above = (math.erfc(sign * distance / math.sqrt(2)) / 2 for sign in (-1, 1))
    return _mid_p(len(sizes), below, 0.0, above)


def _whole_steps(gains: Sequence[float], lattice: int | None) -> list[int]:
    largest = max((abs(gain) for gain in gains), default=0.0)
    if largest <= TIE:
        return [0] * len(gains)
    if lattice is not None and lattice <= LARGEST_LATTICE:
        steps = [round(gain * lattice) for gain in gains]
        if all(abs(gain * lattice - step) <= 1e-9 for gain, step in zip(gains, steps, strict=True)):
            return steps
    return [round(CONTINUOUS_STEPS * (gain / largest)) if abs(gain) > TIE else 0 for gain in gains]


def _coin_tails(coins: int, heads: int) -> tuple[float, float, float]:
    """Chances of fewer, exactly as many, and more heads of fair coins; whole numbers until the last division."""
    if heads > coins - heads:
        below, point, above = _coin_tails(coins, coins - heads)
        return above, point, below
    fewer, ways = 0, 1
    for count in range(heads):
        fewer += ways
        ways = ways * (coins - count) // (count + 1)
    everything = 1 << coins
    return fewer / everything, ways / everything, (everything - fewer - ways) / everything


def _flip_distribution(sizes: Sequence[int]) -> Floats:
    """Chances of every sum of the sizes when a fair coin decides about each; index is the sum."""
    if len(sizes) * sum(sizes) <= DIRECT_WORK:
        return _flip_directly(sizes)
    half = len(sizes) // 2
    return _convolve(_flip_distribution(sizes[:half]), _flip_distribution(sizes[half:]))


def _flip_directly(sizes: Sequence[int]) -> Floats:
    import numpy as np

    spread = np.zeros(sum(sizes) + 1)
    spread[0], reach = 1.0, 1
    for size in sizes:
        spread[size : size + reach] += spread[:reach].copy()
        reach += size
        spread[:reach] *= 0.5
    return spread


def _convolve(left: Floats, right: Floats) -> Floats:
    """Convolve by Fourier transforms: right to about 1e-15 absolutely, which is far below every p-value that decides."""
    import numpy as np

    length = len(left) + len(right) - 1
    width = 1 << (length - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(left, width) * np.fft.rfft(right, width), width)
    return np.maximum(product[:length], 0.0)


# --- several metrics, and what a dataset can show ---


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust for the whole family, in input order, at most 1.  Source: Holm 1979."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust for the share of false discoveries, in input order, at most 1.  Source: Benjamini and Hochberg 1995."""
    count = len(p_values)
    order = sorted(range(count), key=lambda index: p_values[index], reverse=True)
    adjusted, lowest = [0.0] * count, 1.0
    for position, index in enumerate(order):
        lowest = min(lowest, p_values[index] * count / (count - position))
        adjusted[index] = lowest
    return adjusted


def minimum_net_flips(alpha: float) -> int:
    """Return the number of cases that must get worse, none getting better, before the test can say so: 4 at 0.05."""
    flips = 1
    while 0.5 ** (flips + 1) > alpha:
        flips += 1
    return flips


def minimum_detectable_binary(n: int, *, churn: float, alpha: float, power: float = POWER) -> float | None:
    """Smallest true loss of a rate that is found with this power; None when even losing every case would not be.

    `churn`: share of the cases on which two runs of the same agent disagree.  Source: Connor 1987, Biometrics 43:207.
    """
    z_alpha, z_power = normal_quantile(1 - alpha), normal_quantile(power)

    def lacking(loss: float) -> float:
        noise = z_alpha * math.sqrt(churn + loss) + z_power * math.sqrt(max(0.0, churn + loss - loss * loss))
        return noise - loss * math.sqrt(n)

    if n < 1 or lacking(1.0) > 0:
        return None
    return _falling_root(lacking, 0.0, 1.0)


def minimum_detectable_mean(gains: Sequence[float], *, alpha: float, power: float = POWER) -> float | None:
    """Smallest true loss of a mean that is found with this power; None without spread."""
    sd = standard_deviation(gains)
    if sd is None or sd < TIE:
        return None
    return (normal_quantile(1 - alpha) + normal_quantile(power)) * sd / math.sqrt(len(gains))


# --- measurements ---


def ratio_summary(baseline: Sequence[float], candidate: Sequence[float], *, level: float) -> RatioSummary:
    """Compare non-negative measurements of the same cases by their logarithms; by plain differences once a value is 0."""
    total = math.fsum(baseline)
    bill = math.fsum(candidate) / total if total > 0 else None
    if not baseline or min(*baseline, *candidate) <= 0:
        test = sign_flip([before - after for before, after in zip(baseline, candidate, strict=True)], lattice=None)
        return RatioSummary(
            n=len(baseline), mode="difference", ratio_of_totals=bill, geo_mean_ratio=None, geo_low=None, geo_high=None,
            median_ratio=None, median_low=None, median_high=None, p_increase=test.p_regress, p_decrease=test.p_improve,
        )  # fmt: skip
    logs = [math.log(after / before) for before, after in zip(baseline, candidate, strict=True)]
    geo = mean_interval(logs, level=level)
    median = median_interval([after / before for before, after in zip(baseline, candidate, strict=True)], level=level)
    test = sign_flip([-log for log in logs], lattice=None)
    return RatioSummary(
        n=len(logs), mode="log_ratio", ratio_of_totals=bill, geo_mean_ratio=_exp(geo.estimate), geo_low=_exp(geo.low),
        geo_high=_exp(geo.high), median_ratio=median.estimate, median_low=median.low, median_high=median.high,
        p_increase=test.p_regress, p_decrease=test.p_improve,
    )  # fmt: skip


def median_interval(values: Sequence[float], *, level: float) -> Interval:
    """Median and the limits that the order statistics prove for any distribution; a limit is None where too few values prove it."""
    ordered, n = sorted(values), len(values)
    if n == 0:
        return Interval(estimate=None, low=None, high=None)
    tail = (1 - level) / 2
    index, ways, reached = 0, 1, 1
    while reached / (1 << n) < tail:  # the smallest number of heads among n coins whose chance reaches the tail
        ways = ways * (n - index) // (index + 1)
        index += 1
        reached += ways
    low = ordered[index - 1] if index else None
    high = ordered[n - index] if index else None
    return Interval(estimate=(ordered[(n - 1) // 2] + ordered[n // 2]) / 2, low=low, high=high)


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which this share lies, linear between neighbours; None without a value."""
    if not values:
        return None
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


def mean_over_cases(values: Sequence[float | None]) -> float | None:
    """Mean of one number per case; None as soon as one is undefined, and without a case."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined and len(defined) == len(values) else None

"""Numbers as people read them; nothing else in this room rounds (the gate writes its own sentences, in `compare.wording`).

In: unrounded numbers, None for unknown. Out: short plain text, `–` for unknown.
Must not decide anything: decisions are taken on the unrounded numbers. No dollar sign either: two of them make a formula on GitHub.
"""

from __future__ import annotations

import math
from typing import Final

from ci_eval.domain.comparison import Difference, Estimate
from ci_eval.domain.score import Metric

UNKNOWN: Final = "–"
MINUS: Final = "−"


def percent(rate: float | None) -> str:
    """0.84 -> `84.0 %`."""
    return UNKNOWN if rate is None else f"{_plain(100 * rate, 1)} %"


def number(value: float | None) -> str:
    """4.317 -> `4.32`; small values keep two digits that count, large ones get separators."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    if size >= 1_000:
        return _plain(value, 0)
    if size >= 100:
        return _plain(value, 1)
    if size == 0 or size >= 0.01:
        return _plain(value, 2)
    return _plain(value, min(12, 1 - math.floor(math.log10(size))))


def points(difference: float | None) -> str:
    """-0.14 -> `−14.0`: percentage points with their sign."""
    return UNKNOWN if difference is None else _signed(100 * difference, 1)


def delta(difference: float | None) -> str:
    """0.26 -> `+0.26`."""
    if difference is None:
        return UNKNOWN
    return _signed(difference, 2 if abs(difference) >= 0.01 else 3)


def factor(ratio: float | None) -> str:
    """1.12 -> `×1.12`."""
    return UNKNOWN if ratio is None else f"×{_plain(ratio, 2)}"


def interval(low: str, high: str) -> str:
    """Two written numbers -> `[−23.0, −5.0]`; nothing when neither is known."""
    return "" if low == high == UNKNOWN else f"[{low}, {high}]"


def duration(seconds: float | None) -> str:
    """3.14 -> `3.1 s`."""
    if seconds is None:
        return UNKNOWN
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def cost(usd: float | None) -> str:
    """0.4249 -> `0.42 USD`."""
    return UNKNOWN if usd is None else f"{number(usd)} USD"


def tokens(count: int | None) -> str:
    """812345 -> `812 k`."""
    if count is None:
        return UNKNOWN
    if count < 1_000:
        return str(count)
    if count < 999_500:
        return f"{count / 1_000:.1f} k" if count < 99_950 else f"{count / 1_000:.0f} k"
    return f"{count / 1_000_000:.2f} M"


def share(candidate: float | None, baseline: float | None) -> str:
    """The candidate's total as a multiple of the baseline's; unknown when that is zero."""
    return UNKNOWN if candidate is None or not baseline else factor(candidate / baseline)


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 case`, `8 cases`; thousands are separated."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def level(share_of_one: float) -> str:
    """0.9 -> `90 %`."""
    return f"{_plain(100 * share_of_one, 1).removesuffix('.0')} %"


def estimate(arm: Estimate, metric: Metric, trials: int) -> str:
    """One arm of a metric over the compared pairs: `84.0 % (42/50)` for a binary one, else its mean."""
    return _average(arm.estimate, arm.n, metric, trials)


def overall(arm: Estimate, metric: Metric, trials: int) -> str:
    """The same over every case of the arm that has a score, compared or not."""
    return _average(arm.overall, arm.overall_n, metric, trials)


def _average(value: float | None, n: int, metric: Metric, trials: int) -> str:
    if metric.kind != "binary":
        return number(value)
    if value is None:
        return UNKNOWN
    passes = value * n
    counted = trials == 1 and abs(passes - round(passes)) < 1e-6
    return f"{percent(value)} ({round(passes)}/{n})" if counted else percent(value)


def change(difference: Difference, metric: Metric) -> tuple[str, str]:
    """Candidate minus baseline as it is measured (points, units or a factor), and its interval."""
    if metric.kind == "ratio":
        return factor(difference.estimate), interval(factor(difference.low), factor(difference.high))
    write = points if metric.kind == "binary" else delta
    center, low, high = _as_measured(difference, metric)
    return write(center), interval(write(low), write(high))


def amount(size: float | None, metric: Metric) -> str:
    """A size without sign in the metric's own unit: `12 points`, `0.25`."""
    if size is None:
        return UNKNOWN
    if metric.kind == "binary":
        return f"{100 * size:.0f} points" if size >= 0.1 else f"{100 * size:.1f} points"
    return number(size)


def _as_measured(difference: Difference, metric: Metric) -> tuple[float | None, float | None, float | None]:
    """Turn gains (positive is better) back into candidate minus baseline."""
    if metric.direction != "lower":
        return difference.estimate, difference.low, difference.high
    return _negated(difference.estimate), _negated(difference.high), _negated(difference.low)


def _negated(value: float | None) -> float | None:
    return None if value is None else -value


def _plain(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def _signed(value: float, digits: int) -> str:
    text = _plain(value, digits)
    is_zero = not any(digit in text for digit in "123456789")
    return text if is_zero or text.startswith(MINUS) else f"+{text}"

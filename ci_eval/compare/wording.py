"""The sentences of the gate: our own words and numbers, never a text from data.

In: a MetricComparison. Out: sentences; the report puts names and case ids around them. Pure.
"""

from __future__ import annotations

import math

from ci_eval.domain.comparison import Estimate, MetricClass, MetricComparison

MINUS = "\u2212"
TIE = 1e-12  # a limit that is met exactly is met


def cases(count: int) -> str:
    """Write `1 case`, `2 cases`."""
    return f"{count:,} case" if count == 1 else f"{count:,} cases"


def value(compared: MetricComparison, number: float | None) -> str:
    """Write an estimate of one arm: a percentage for a rate, else up to three decimals."""
    if number is None:
        return "nothing"
    if compared.metric.kind == "binary":
        return f"{100 * number:.1f} %"
    return _signed(f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}")


def step(compared: MetricComparison, number: float | None) -> str:
    """Write a difference with its sign: points of a rate, else the plain number."""
    if number is None:
        return "unknown"
    return _signed(f"{100 * number:+.1f}" if compared.metric.kind == "binary" else f"{number:+.3g}")


def size(compared: MetricComparison, number: float) -> str:
    """Write the size of a difference, without a sign: `5 points`, `0.25`, a factor for ratios."""
    if compared.metric.kind == "ratio":
        return f"a factor of {number:.3g}"
    if compared.metric.kind != "binary":
        return f"{number:.3g}"
    points = f"{100 * number:.1f}".removesuffix(".0")
    return f"{points} point" if points == "1" else f"{points} points"


def told(compared: MetricComparison, level: float) -> str:
    """Say what the class of a metric means, with its numbers."""
    match compared.result:
        case MetricClass.IMPROVED if compared.worse:
            return f"{moved(compared, level)} {_chance(compared)} This does not prove that no case got worse."
        case MetricClass.REGRESSED | MetricClass.IMPROVED | MetricClass.CHANGED:
            return f"{moved(compared, level)} {_chance(compared)}"
        case MetricClass.NO_DIFFERENCE:
            return _no_difference(compared)
        case MetricClass.INCONCLUSIVE:
            return _inconclusive(compared)
        case MetricClass.TOO_FEW_CASES:
            return _too_few(compared)
        case MetricClass.INVALID:
            return incomplete(compared)


def moved(compared: MetricComparison, level: float) -> str:
    """Say from where to where, how surely, and how many cases moved."""
    before, after = compared.baseline.estimate, compared.candidate.estimate
    if compared.metric.kind == "ratio":
        return f"{_ratio_moved(compared, level)} {_split(compared)}"
    what = "The rate" if compared.metric.kind == "binary" else "The mean"
    verb = "stayed at" if before == after else "fell from" if (before or 0.0) > (after or 0.0) else "rose from"
    points = " points" if compared.metric.kind == "binary" else ""
    interval = f", {100 * level:.3g} % {_interval(compared)}" if _ends(compared) else ""
    change = value(compared, after) if before == after else f"{value(compared, before)} to {value(compared, after)}"
    raw = _raw(compared, compared.difference.estimate)
    return f"{what} {verb} {change} ({step(compared, raw)}{points}{interval}) on the same {cases(compared.n)}: {_split(compared)}"


def _raw(compared: MetricComparison, gain: float | None) -> float | None:
    """Turn a gain back into candidate minus baseline, which is what the two numbers beside it show."""
    return -gain if gain is not None and compared.metric.direction == "lower" else gain


def _ends(compared: MetricComparison) -> tuple[float, float] | None:
    """The interval of candidate minus baseline (of the ratio, for ratios), low end first; None when there is none."""
    low, high = compared.difference.low, compared.difference.high
    if low is None or high is None:
        return None
    return (-high, -low) if compared.metric.direction == "lower" and compared.metric.kind != "ratio" else (low, high)


def _interval(compared: MetricComparison) -> str:
    ends = _ends(compared)
    if ends is None:
        return ""
    if compared.metric.kind == "ratio":
        return f"interval {ends[0]:.3g} to {ends[1]:.3g}"
    return f"interval {step(compared, ends[0])} to {step(compared, ends[1])}"


def _ratio_moved(compared: MetricComparison, level: float) -> str:
    found = compared.difference
    if found.estimate is None:
        bill = "unknown" if compared.ratio_of_totals is None else f"{compared.ratio_of_totals:.3g}"
        return f"The candidate's total over the baseline's is {bill} on the same {cases(compared.n)}:"
    interval = f" ({100 * level:.3g} % {_interval(compared)})" if _ends(compared) else ""
    return f"The candidate takes {found.estimate:.3g} times as much as the baseline{interval} on the same {cases(compared.n)}:"


def _split(compared: MetricComparison) -> str:
    worse, better = len(compared.worse), len(compared.better)
    if compared.metric.direction == "none":
        return f"{cases(worse + better)} changed."
    if worse == better == 0:
        return "no case changed."
    fell = f"{cases(worse)} got worse" if worse else "no case got worse"
    return f"{fell}, {better:,} got better." if better else f"{fell}, none got better."


def _chance(compared: MetricComparison) -> str:
    down, up = compared.difference.p_regress, compared.difference.p_improve
    chance = min(1.0 if down is None else down, 1.0 if up is None else up)
    return f"If the change had no effect, a split at least this uneven would appear in {_share(chance)} runs."


def _share(chance: float) -> str:
    if chance < 0.001:
        return "fewer than 1 of 1,000"
    return f"{round(1000 * chance):,} of 1,000" if chance < 0.01 else f"{round(100 * chance)} of 100"


def _no_difference(compared: MetricComparison) -> str:
    if compared.reason == "identical_outputs":
        same = f"All {compared.n:,} outputs are identical" if compared.n != 1 else "The only output is identical"
        return f"{same} to the baseline's; nothing could change on these runs."
    is_ratio = compared.metric.kind == "ratio"
    if compared.reason == "within_margin":
        what = "the true ratio is very likely within" if is_ratio else "any true difference is very likely smaller than"
        return f"Unchanged for practical purposes: {what} {size(compared, compared.equivalence)} ({_interval(compared)})."
    least = size(compared, compared.min_effect)
    if is_ratio:
        return f"There is a measurable difference, below {least}, which this project treats as irrelevant."
    points = " points" if compared.metric.kind == "binary" else ""
    found = step(compared, _raw(compared, compared.difference.estimate))
    return f"There is a measurable difference of {found}{points}, below the {least} that this project treats as relevant."


def _inconclusive(compared: MetricComparison) -> str:
    if compared.metric.direction == "none":
        return f"No clear change: {cases(len(compared.worse) + len(compared.better))} of {compared.n:,} changed."
    says = [f"No clear change: {_split(compared)}"]
    if compared.worse or compared.better:
        says = [f"{says[0].removesuffix('.')}, which an unchanged agent could show."]
    if compared.minimum_detectable is not None:
        hidden = size(compared, compared.minimum_detectable)
        says.append(f"With these {cases(compared.n)} a true loss of less than about {hidden} would usually go unnoticed.")
    else:
        says.append(f"With these {cases(compared.n)} no loss would reliably be noticed.")
    if compared.difference.low is not None and compared.difference.low < 0 and compared.metric.kind != "ratio":
        says.append(f"A loss of up to {size(compared, -compared.difference.low)} is compatible with this result.")
    if compared.borderline:
        says.append("Borderline: one more loss of this kind would have counted as a regression.")
    return " ".join(says)


def _too_few(compared: MetricComparison) -> str:
    if compared.reason == "no_pairs":
        return "There is no comparable baseline: no case has a result of this metric on both arms."
    if compared.reason == "evaluator_changed":
        return "The evaluator, its threshold or its judge changed between the two runs: their scores mean different things and are not compared."
    if compared.reason == "unattainable":
        family = "1 gated metric" if compared.family == 1 else f"{compared.family:,} gated metrics"
        return f"With {family} and {cases(compared.n)} no outcome could tell a loss from chance: gate fewer metrics or add cases."
    same = compared.n - len(compared.worse) - len(compared.better)
    few = "1 case is" if compared.n == 1 else f"{cases(compared.n)} are"
    least = compared.smallest_provable
    if least <= compared.n:
        needed = f"at least {least:,} would have to get worse, and none better, before a loss could be told from chance"
    else:
        needed = f"a loss can be told from chance from {cases(least)} on"
    return f"{few} too few for a verdict: {needed}. {same:,} of {compared.n:,} unchanged; {_split(compared)}"


def incomplete(compared: MetricComparison) -> str:
    """Say how many pairs are missing, why, and that this is no pass."""
    expected = compared.n + compared.missing
    allowed = math.floor(compared.max_missing * expected + 1e-9)
    troubles = (_trouble("baseline", compared.baseline), _trouble("candidate", compared.candidate))
    why = "; ".join(trouble for trouble in troubles if trouble)
    return (
        f"{compared.missing:,} of {cases(expected)} have no comparable result{f' ({why})' if why else ''}; at most {allowed:,} may be "
        "missing. This is not a pass: repair what failed and run again."
    )


def _trouble(name: str, arm: Estimate) -> str:
    counts = (
        (arm.not_run, "not run", "not run"),
        (arm.infra_errors, "infrastructure error", "infrastructure errors"),
        (arm.evaluator_errors, "evaluator error", "evaluator errors"),
        (arm.skipped, "not applicable", "not applicable"),
    )
    told = ", ".join(f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count)
    return f"{name}: {told}" if told else ""


def below_floor(compared: MetricComparison, floor: float | None) -> str:
    """Say that the candidate is below its floor, over all its cases."""
    arm = compared.candidate
    return f"The candidate reaches {value(compared, arm.overall)} over its {cases(arm.overall_n)}; at least {value(compared, floor)} is asked."


def adverse(compared: MetricComparison) -> str:
    """Say that a missing case could have turned the result."""
    one = compared.missing == 1
    return (
        f"{cases(compared.missing)} could not be evaluated. If {'it' if one else 'they'} had failed, the gate would have blocked."
    )


def _signed(text: str) -> str:
    return text.replace("-", MINUS)

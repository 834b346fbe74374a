"""What a user declares about numbers of their own, and the check that a number keeps the promise.

In: kind, range, direction, threshold, each optional. Out: a Metric; and for each value a finite number within the range.
Nothing is clamped or guessed: a value outside the declaration is an error of that case.
"""

from __future__ import annotations

import math

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ci_eval.domain.score import LARGEST, NARROWEST, Direction, Metric, MetricKind
from ci_eval.evaluators.inputs import Unscorable
from ci_eval.evaluators.wording import quoted

RANGES: dict[MetricKind, tuple[float, float | None]] = {
    "binary": (0.0, 1.0), "score": (0.0, 1.0), "likert": (1.0, 5.0), "count": (0.0, None), "ratio": (0.0, None),
}  # fmt: skip
"""Range of each kind where none is declared."""


class Declared(BaseModel):
    """Settings of a metric whose values come from the user."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    metric_kind: MetricKind | None = Field(
        default=None, description="What the numbers are; default: binary when the threshold is 0, 1 or not given, else score."
    )
    threshold: float | None = Field(default=None, description="Passes at this value or better; binary: 1, else none.")
    direction: Direction | None = Field(default=None, description="Which way is better; default higher, for ratio lower.")
    minimum: float | None = Field(default=None, description="Smallest possible value.")
    maximum: float | None = Field(default=None, description="Largest possible value.")

    def declared_metric(self, *, name: str, evaluator: str, fingerprint: str) -> Metric:
        """Make the metric; it is never shared between arms, since more than the output may decide it."""
        low, high = self._range()
        return Metric(
            name=name, evaluator=evaluator, kind=self._kind(), direction=self._direction(), minimum=low, maximum=high,
            threshold=self._threshold(), output_only=False, fingerprint=fingerprint,
        )  # fmt: skip

    def _kind(self) -> MetricKind:
        if self.metric_kind is not None:
            return self.metric_kind
        plain = self.minimum is None and self.maximum is None and self.threshold in (None, 0, 1)
        return "binary" if plain else "score"

    def _range(self) -> tuple[float, float | None]:
        low, high = RANGES[self._kind()]
        return (low if self.minimum is None else self.minimum, high if self.maximum is None else self.maximum)

    def _direction(self) -> Direction:
        return self.direction or ("lower" if self._kind() == "ratio" else "higher")

    def _threshold(self) -> float | None:
        if self.threshold is not None or self._kind() != "binary" or self._direction() == "none":
            return self.threshold
        return 0.0 if self._direction() == "lower" else 1.0

    @model_validator(mode="after")
    def _is_consistent(self) -> Declared:
        low, high = self._range()
        if self._kind() == "binary" and (low, high) != (0, 1):
            raise ValueError("minimum and maximum of a binary metric are 0 and 1; leave them out, or write metric_kind: score")
        if high is not None and low >= high:
            raise ValueError(f"minimum {low:g} is not below maximum {high:g}")
        if abs(low) > LARGEST or (high is not None and abs(high) > LARGEST):
            raise ValueError(f"minimum and maximum are expected within -{LARGEST:g}..{LARGEST:g}")
        if high is not None and high - low < NARROWEST:
            raise ValueError(f"minimum {low:g} and maximum {high:g} lie closer than {NARROWEST:g}: no difference could be told")
        if self.threshold is not None and self._direction() == "none":
            raise ValueError("direction: none says that no value is better, so nothing can pass a threshold; keep one of the two")
        if self.threshold is not None and not (low <= self.threshold and (high is None or self.threshold <= high)):
            upper = "" if high is None else f"{high:g}"
            hint = "" if self.minimum is not None and self.maximum is not None else "; give minimum and maximum"
            raise ValueError(f"threshold: {self.threshold:g} is not within {low:g}..{upper}{hint}")
        return self


class DeclaredPart(Declared):
    """The same for one of several metrics, where `kind` is free to mean the metric's."""

    model_config = ConfigDict(populate_by_name=True)

    metric_kind: MetricKind | None = Field(default=None, alias="kind", description="What the numbers are.")


def number_within(metric: Metric, value: object, what: str) -> float:
    """Return the number that a value is, true and false as 1 and 0; Unscorable when it is none or breaks the declaration."""
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, (int, float)):
        found = "nothing (null)" if value is None else f"the text {quoted(value)}" if isinstance(value, str) else quoted(value)
        raise Unscorable("error", f"{what} is {found}; a number or boolean was expected", code="wrong_type")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Unscorable("error", f"{what} is {number}, which is no finite number", code="not_finite")
    if metric.kind == "binary" and number not in (0.0, 1.0):
        hint = "for other numbers declare metric_kind: score with minimum and maximum"
        raise Unscorable(
            "error", f"{what} is {number:g}, and {metric.name} is declared to be 0 or 1; {hint}", code="out_of_range"
        )
    low, high = metric.minimum, metric.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        bounds = f"{'' if low is None else f'{low:g}'}..{'' if high is None else f'{high:g}'}"
        raise Unscorable("error", f"{what} is {number:g}, outside the declared range {bounds}", code="out_of_range")
    return number

"""What happened to one case on one metric: the truth table.

In: the scores of both arms. Out: a Change. Pure.
"""

from __future__ import annotations

from ci_eval.compare.observations import CaseScore
from ci_eval.compare.stats import TIE
from ci_eval.domain.comparison import Change
from ci_eval.domain.score import Direction

STABLE = frozenset({Change.STABLE_PASS, Change.STABLE_FAIL, Change.UNCHANGED, Change.NOT_APPLICABLE})
"""Nothing to tell a reviewer."""
MOVES = frozenset({Change.BROKEN, Change.DEGRADED, Change.FIXED, Change.IMPROVED, Change.CHANGED})
"""Another score than before."""
ORDER = {
    change: rank
    for rank, change in enumerate(
        (
            Change.BROKEN, Change.DEGRADED, Change.MISSING, Change.FLAKY_SAME, Change.CHANGED, Change.FIXED, Change.IMPROVED,
            Change.MODIFIED, Change.REMOVED, Change.ADDED, *sorted(STABLE),
        )
    )
}  # fmt: skip
"""Losses first."""


def change_of(before: CaseScore, after: CaseScore, direction: Direction) -> Change:
    """Name the change of a case that both datasets hold."""
    if before.is_outside and after.is_outside:
        return Change.NOT_APPLICABLE
    trials = min(len(before.usable), len(after.usable))
    old, new = before.mean(trials), after.mean(trials)
    if not trials or old is None or new is None:
        return Change.MISSING
    passes = before.passes(trials), after.passes(trials)
    turns: dict[tuple[int | None, int | None], Change] = {(trials, 0): Change.BROKEN, (0, trials): Change.FIXED}
    turned = turns.get(passes)
    if turned is not None:
        return turned
    if abs(new - old) > TIE:
        return _moved(new - old, direction)
    return _same(passes[1], trials)


def _same(passes: int | None, trials: int) -> Change:
    if passes is None:
        return Change.UNCHANGED
    return {trials: Change.STABLE_PASS, 0: Change.STABLE_FAIL}.get(passes, Change.FLAKY_SAME)


def _moved(step: float, direction: Direction) -> Change:
    if direction == "none":
        return Change.CHANGED
    is_better = (step > 0) == (direction == "higher")
    return Change.IMPROVED if is_better else Change.DEGRADED


def is_newly_failing(before: CaseScore, after: CaseScore) -> bool:
    """True when the baseline passed every trial and the candidate fewer than half of its own."""
    old, new = before.passes(), after.passes()
    return old is not None and new is not None and old == len(before.usable) and 2 * new < len(after.usable)

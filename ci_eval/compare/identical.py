"""Equal outputs of both arms: nothing could change there, so nothing is tested.

In: a pair of cases. Out: booleans. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ci_eval.domain.comparison import CasePair
from ci_eval.domain.results import CaseResult


def same_outputs(pair: CasePair) -> bool:
    """True when both arms gave the same outputs as often, or failed in the same way; False as soon as one is unknown."""
    before, after = (Counter(map(_output, arm)) for arm in (pair.baseline, pair.candidate))
    return bool(before) and before == after and None not in before


def count_same_outputs(pairs: Iterable[CasePair]) -> int:
    """Count the cases whose outputs are the same on both arms."""
    return sum(same_outputs(pair) for pair in pairs)


def _output(record: CaseResult) -> tuple[str, str, str] | None:
    if record.status == "ok" and record.output_digest:
        return record.status, "", record.output_digest
    if record.status == "error" and record.failure is not None:
        return record.status, record.failure.code, record.output_digest
    return None

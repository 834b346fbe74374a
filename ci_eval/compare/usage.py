"""What an arm took: money, tokens, time, and how it failed.

In: the records of an arm. Out: ArmUsage; None where no record tells, never 0. Pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ci_eval.compare.derived import total_tokens
from ci_eval.compare.stats import quantile
from ci_eval.domain.comparison import ArmUsage
from ci_eval.domain.results import CaseResult

SHORTEST_TAIL = 20  # values; below, a 95 % quantile is the largest value and says nothing more


def usage_of(records: Sequence[CaseResult], *, unrecorded: int) -> ArmUsage:
    """Add up an arm; totals hold failed trials too, times only finished ones. `unrecorded`: trials that left no record."""
    costs = [record.cost_usd for record in records if record.cost_usd is not None]
    tokens = [count for record in records if (count := total_tokens(record.usage)) is not None]
    times = [record.latency_s for record in records if record.status == "ok" and record.latency_s is not None]
    failures = [record.failure for record in records if record.status == "error" and record.failure is not None]
    infrastructure = sum(failure.is_infrastructure for failure in failures)
    return ArmUsage(
        cost_usd=math.fsum(costs) if costs else None,
        tokens=sum(tokens) if tokens else None,
        latency_median_s=quantile(times, 0.5),
        latency_p95_s=quantile(times, 0.95) if len(times) >= SHORTEST_TAIL else None,
        agent_errors=len(failures) - infrastructure,
        infra_errors=infrastructure,
        not_run=sum(record.status == "not_run" for record in records) + unrecorded,
        failures=dict(sorted(Counter(failure.code for failure in failures).items())),
    )

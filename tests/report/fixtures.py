"""Comparisons to report on, drawn by hand, so that a report can be tested without running or comparing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.domain.case import ExpectedAction, Source
from ci_eval.domain.comparison import (
    ArmUsage,
    CaseChange,
    CasePair,
    CaseSets,
    Change,
    Comparison,
    Difference,
    Estimate,
    MetricClass,
    MetricComparison,
    Outcome,
    Rule,
    Verdict,
)  # fmt: skip
from ci_eval.domain.message import ToolCall
from ci_eval.domain.notice import Notice
from ci_eval.domain.results import Arm, ArmSource, CaseResult, RunHeader
from ci_eval.domain.sample import Failure
from ci_eval.domain.score import Metric, Score
from ci_eval.report.settings import ReportSettings

SETTINGS = ReportSettings(
    title="Travel agent",
    repeat_command="ci-eval run -c ci-eval.yaml --set baseline.ref=4f2c1aa",
    report_url="https://github.com/acme/travel/actions/runs/17",
)

SUCCESS = Metric(name="task_success", evaluator="task_success", kind="binary", threshold=1)
QUALITY = Metric(name="intent_resolution", evaluator="intent_resolution", kind="likert", minimum=1, maximum=5, threshold=3)
ACCURACY = Metric(name="tool_call_accuracy", evaluator="tool_call_accuracy", kind="binary", threshold=1)
RELEVANCE = Metric(name="relevance", evaluator="relevance", kind="likert", minimum=1, maximum=5, threshold=3)
STEPS = tuple(
    Metric(name=f"task_navigation_efficiency.{part}", evaluator="task_navigation_efficiency", kind="score", group="trajectory")
    for part in ("precision", "recall", "f1")
)


def estimate(value: float | None, n: int = 50, **counts: int) -> Estimate:
    """An arm's number; every count that is not named is 0."""
    zero = {"passed": 0, "failed": 0, "agent_errors": 0, "infra_errors": 0, "evaluator_errors": 0, "skipped": 0, "not_run": 0}
    return Estimate(estimate=value, low=None, high=None, n=n, **(zero | counts))


def compared(
    metric: Metric,
    baseline: Estimate,
    candidate: Estimate,
    gain: tuple[float | None, float | None, float | None],
    result: MetricClass,
    *,
    gated: bool = False,
    reason: str = "significant",
    **more: object,
) -> MetricComparison:
    """One metric; `gain` is estimate, low, high."""
    fields: dict[str, object] = {
        "missing": 0, "worse": (), "better": (), "missing_ids": (), "newly_failing": (), "minimum_detectable": 0.12,
        "smallest_provable": 4, "min_effect": 0.02, "equivalence": 0.05,
    }  # fmt: skip
    return MetricComparison(
        metric=metric, gated=gated, result=result, reason=reason, n=baseline.n, baseline=baseline, candidate=candidate,
        difference=Difference(estimate=gain[0], low=gain[1], high=gain[2], p_regress=0.02, p_improve=0.98),
        **(fields | more),  # type: ignore[arg-type] - a literal table of fields
    )  # fmt: skip


def header(arm: Arm, description: str, **more: object) -> RunHeader:
    """An arm's header."""
    fields: dict[str, object] = {
        "source": ArmSource(kind="commit", description=description), "dataset": "evals/dataset.jsonl", "dataset_digest": "3c9e" * 16,
        "cases": 50, "trials": 1, "metrics": (), "started": "2026-01-05T12:00:00Z", "version": "0.1.0", "repeatable": True,
    }  # fmt: skip
    return RunHeader(arm=arm, **(fields | more))  # type: ignore[arg-type] - a literal table of fields


def calls(*names: str) -> tuple[ToolCall, ...]:
    """`calls("search", "book seat=12A")`: each with its arguments behind the name."""
    made = []
    for written in names:
        name, *pairs = written.split(" ")
        made.append(ToolCall(name=name, arguments=dict(pair.split("=", 1) for pair in pairs)))
    return tuple(made)


def expected(*names: str) -> tuple[ExpectedAction, ...]:
    """`expected("search", "book seat=12A")`: a name alone, or a name and exactly these arguments."""
    return tuple(
        ExpectedAction(name=call.name, arguments=call.arguments or None, match="exact" if call.arguments else "name")  # type: ignore[arg-type] - made above
        for call in calls(*names)
    )


def record(
    case_id: str,
    *,
    line: int = 1,
    scores: Mapping[str, Score] | None = None,
    answer: str | None = None,
    steps: tuple[ToolCall, ...] | None = None,
    failure: Failure | None = None,
    **more: object,
) -> CaseResult:
    """What an arm knows about a case."""
    fields: dict[str, object] = {
        "trial": 0,
        "query": "Where is my booking?",
        "source": Source(file="evals/dataset.jsonl", line=line),
    }
    return CaseResult(
        case_id=case_id, fingerprint="f", status="error" if failure else "ok", failure=failure, output_text=answer, tool_calls=steps,
        scores=scores or {}, **(fields | more),  # type: ignore[arg-type] - a literal table of fields
    )  # fmt: skip


def score(metric: Metric, value: float, reason: str = "") -> Score:
    """A score that went well."""
    return Score(metric=metric.name, score=value, passed=metric.passes(value), reason=reason, threshold=metric.threshold)


def comparison(
    metrics: Sequence[MetricComparison],
    changes: Sequence[CaseChange] = (),
    pairs: Sequence[CasePair] = (),
    *,
    paired: int = 50,
    **more: object,
) -> Comparison:
    """Two runs, paired."""
    ids = [pair.case_id for pair in pairs]
    ids += [f"quiet-{number:03d}" for number in range(paired - len(ids))]
    nothing = ArmUsage(
        cost_usd=None, tokens=None, latency_median_s=None, latency_p95_s=None, agent_errors=0, infra_errors=0, not_run=0
    )
    fields: dict[str, object] = {
        "baseline": header("baseline", "4f2c1aa (merge base)"), "candidate": header("candidate", "9b01e7d"),
        "cases": CaseSets(paired=tuple(ids), added=(), removed=(), modified=(), missing=()), "usage_baseline": nothing,
        "usage_candidate": nothing, "identical_outputs": 0,
    }  # fmt: skip
    return Comparison(
        metrics=tuple(metrics), changes=tuple(changes), pairs={pair.case_id: pair for pair in pairs},
        **(fields | more),  # type: ignore[arg-type] - a literal table of fields
    )  # fmt: skip


def flipped(
    case_id: str, metric: Metric, *, broke: bool, reason: str = "", before: CaseResult, after: CaseResult
) -> tuple[CaseChange, CasePair]:
    """A case that passed on one arm only."""
    change = CaseChange(
        case_id=case_id, metric=metric.name, change=Change.BROKEN if broke else Change.FIXED, baseline=float(broke),
        candidate=float(not broke), reason=reason,
    )  # fmt: skip
    return change, CasePair(case_id=case_id, baseline=(before,), candidate=(after,))


def broken(
    case_id: str, reason: str, *, metric: Metric = SUCCESS, line: int = 1, answer: str = "Done.", **more: object
) -> tuple[CaseChange, CasePair]:
    """A case that passed before and fails now for this reason."""
    return flipped(
        case_id, metric, broke=True, reason=reason,
        before=record(case_id, line=line, scores={metric.name: score(metric, 1)}, answer="All is well.", **more),  # type: ignore[arg-type] - passed on
        after=record(case_id, line=line, scores={metric.name: score(metric, 0, reason)}, answer=answer, **more),  # type: ignore[arg-type] - passed on
    )  # fmt: skip


def gated_loss(cases: int) -> MetricComparison:
    """`task_success` fell; as many cases broke."""
    return compared(
        SUCCESS, estimate(1.0, cases, passed=cases), estimate(0.0, cases, failed=cases), (-1.0, -1.0, -0.95), MetricClass.REGRESSED,
        gated=True,
    )  # fmt: skip


BLOCKED = Verdict(
    outcome=Outcome.BLOCK,
    headline="Regression: merging is blocked.",
    rules=(
        Rule(
            name="statistical", outcome=Outcome.BLOCK, metric="task_success", case_ids=("refund-017",),
            sentence="task_success fell from 84.0 % to 70.0 % (−14.0 points, 90 % interval −23.1 to −5.2) on the same 50 cases: "
            "8 cases got worse, 1 got better. If the change had no effect, a split at least this bad would appear in 2 of 100 runs.",
        ),
    ),
)  # fmt: skip
PASSED = Verdict(
    outcome=Outcome.PASS,
    headline="No regression found.",
    rules=(
        Rule(
            name="statistical", outcome=Outcome.PASS, metric="task_success",
            sentence="task_success shows no clear change: 1 case got worse, 2 got better, which is what an unchanged agent would show.",
        ),
    ),
)  # fmt: skip


def travel_agent() -> Comparison:
    """A believable regression with a believable improvement: what a reviewer sees most."""
    refund = ("search_booking", "confirm_price", "send_receipt")
    success, relevance = SUCCESS.name, RELEVANCE.name

    def arm(
        case_id: str, line: int, passed: float, reason: str, rank: float, answer: str, steps: tuple[ToolCall, ...], **more: object
    ) -> CaseResult:
        scores = {
            success: score(SUCCESS, passed, reason),
            relevance: score(RELEVANCE, rank, "on topic" if rank > 3 else "beside the point"),
        }
        return record(case_id, line=line, scores=scores, answer=answer, steps=steps, **more)  # type: ignore[arg-type] - passed on

    stories: list[tuple[CaseChange, CasePair]] = []
    query = "Cancel my booking X7K2 and refund the card I paid with."
    stories.append(flipped(
        "refund-017", SUCCESS, broke=True, reason="2 of 3 expected calls made; missing: confirm_price",
        before=arm("refund-017", 17, 1, "3 of 3 expected calls made", 4, "I've cancelled booking X7K2 and refunded 214 € to your Visa.",
                   calls("search_booking id=X7K2", "confirm_price amount=214", "send_receipt"), query=query, expected_actions=expected(*refund)),
        after=arm("refund-017", 17, 0, "2 of 3 expected calls made; missing: confirm_price", 2, "Your new flight is booked!",
                  calls("search_booking id=X7K2", "book_flight to=LIS date=2026-03-01", "send_receipt"), query=query,
                  expected_actions=expected(*refund)),
    ))  # fmt: skip
    stories.append(flipped(
        "refund-021", SUCCESS, broke=True, reason="1 of 2 expected calls made; other arguments: refund",
        before=arm("refund-021", 21, 1, "2 of 2 expected calls made", 4, "The refund went to your gift card.",
                   calls("search_booking id=Q1", "refund to=gift_card"), query="Refund it to my gift card, please.",
                   expected_actions=expected("search_booking", "refund to=gift_card")),
        after=arm("refund-021", 21, 0, "1 of 2 expected calls made; other arguments: refund", 4, "The refund went to your card.",
                  calls("search_booking id=Q1", "refund to=card"), query="Refund it to my gift card, please.",
                  expected_actions=expected("search_booking", "refund to=gift_card")),
    ))  # fmt: skip
    for number in range(6):
        case_id = f"seat-{number + 1:03d}"
        stories.append(flipped(
            case_id, SUCCESS, broke=True, reason="no call was made; missing: find_seat",
            before=arm(case_id, 30 + number, 1, "1 of 1 expected call made", 4, "Seat 12A is yours.", calls("find_seat"),
                       query="A window seat, please.", expected_actions=expected("find_seat")),
            after=arm(case_id, 30 + number, 0, "no call was made; missing: find_seat", 4, "Which seat would you like?", (),
                      query="A window seat, please.", expected_actions=expected("find_seat")),
        ))  # fmt: skip
    stories.append(flipped(
        "baggage-004", SUCCESS, broke=False, reason="1 of 1 expected call made",
        before=arm("baggage-004", 44, 0, "no call was made; missing: add_bag", 4, "You can add bags online.", (),
                   query="Add a bag to my trip.", expected_actions=expected("add_bag")),
        after=arm("baggage-004", 44, 1, "1 of 1 expected call made", 4, "One bag was added.", calls("add_bag"),
                  query="Add a bag to my trip.", expected_actions=expected("add_bag")),
    ))  # fmt: skip
    changes = [change for change, _ in stories]
    changes.append(CaseChange(
        case_id="refund-017", metric=relevance, change=Change.BROKEN, baseline=4, candidate=2, reason="beside the point",
    ))  # fmt: skip
    metrics = [
        compared(SUCCESS, estimate(0.84, passed=42, failed=8), estimate(0.70, passed=35, failed=15, agent_errors=2),
                 (-0.14, -0.231, -0.052), MetricClass.REGRESSED, gated=True),
        compared(QUALITY, estimate(4.32), estimate(4.30), (-0.02, -0.11, 0.07), MetricClass.NO_DIFFERENCE),
        compared(ACCURACY, estimate(0.92), estimate(0.88), (-0.04, -0.11, 0.03), MetricClass.INCONCLUSIVE),
        compared(RELEVANCE, estimate(4.05, 49), estimate(4.31, 49, evaluator_errors=1), (0.26, 0.12, 0.40), MetricClass.IMPROVED),
        compared(STEPS[0], estimate(0.91), estimate(0.78), (-0.13, -0.20, -0.06), MetricClass.REGRESSED),
        compared(STEPS[1], estimate(0.94), estimate(0.93), (-0.01, -0.04, 0.02), MetricClass.NO_DIFFERENCE),
        compared(STEPS[2], estimate(0.92), estimate(0.84), (-0.08, -0.13, -0.03), MetricClass.REGRESSED),
    ]  # fmt: skip
    usage = {"agent_errors": 0, "infra_errors": 0, "not_run": 0}
    return comparison(
        metrics, changes, [pair for _, pair in stories],
        usage_baseline=ArmUsage(cost_usd=0.42, tokens=812_000, latency_median_s=3.1, latency_p95_s=9.8, **usage),
        usage_candidate=ArmUsage(cost_usd=0.47, tokens=903_000, latency_median_s=3.4, latency_p95_s=11.2,
                                 **(usage | {"agent_errors": 2}), failures={"timeout": 2}),
        identical_outputs=31,
        notices=(Notice(code="blank_line", message="blank lines were passed over", count=2, location="evals/dataset.jsonl:12"),),
    )  # fmt: skip

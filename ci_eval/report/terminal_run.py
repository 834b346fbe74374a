"""One arm's run for a terminal: each metric with its counts, and what went wrong.

In: a RunResult. Out: text. Text from outside is cleaned, and no line can speak to a workflow log.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ci_eval.domain.results import CaseResult, RunResult
from ci_eval.domain.score import Metric, Score
from ci_eval.log import neutral
from ci_eval.report import numbers
from ci_eval.report.escape import both_ends, one_line

WIDTH: Final = 100
SHOWN_IDS: Final = 5
SHOWN_CAUSE: Final = 300  # characters


def render_run(result: RunResult) -> str:
    """Render the table of a run."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", overflow="fold")
    for column in ("mean", "passed", "scored", "skipped", "errors"):
        table.add_column(column, justify="right")
    for metric in result.header.metrics:
        scores = [record.scores[metric.name] for record in result.records if metric.name in record.scores]
        table.add_row(*(Text(cell) for cell in _cells(metric, scores)))
    stream = io.StringIO()
    Console(file=stream, width=WIDTH, highlight=False, markup=False, emoji=False, color_system=None).print(table)
    return neutral(stream.getvalue().rstrip() + "\n" + "".join(f"{line}\n" for line in _troubles(result)))


def _cells(metric: Metric, scores: list[Score]) -> tuple[str, ...]:
    values = [score.score for score in scores if score.status == "ok" and score.score is not None]
    judged = [score.passed for score in scores if score.passed is not None]
    mean = math.fsum(values) / len(values) if values else None
    status = Counter(score.status for score in scores)
    passed = f"{sum(judged)}/{len(judged)}" if judged else numbers.UNKNOWN
    return (
        one_line(metric.name, 60),
        numbers.number(mean),
        passed,
        str(status["ok"]),
        str(status["skipped"]),
        str(status["error"]),
    )


def _troubles(result: RunResult) -> Iterator[str]:
    """What has no result, by the kind of trouble, with the first ids and the commonest cause in its own words."""
    troubles: dict[str, list[tuple[str, str]]] = {}
    for record in result.records:
        for kind, cause in _troubles_of(record):
            troubles.setdefault(kind, []).append((one_line(record.case_id, 60), cause))
    for kind, found in troubles.items():
        ids = [case_id for case_id, _ in found[:SHOWN_IDS]]
        yield f"{kind}: {len(found)} of {len(result.records)} ({', '.join(ids)}{', …' if len(found) > SHOWN_IDS else ''})"
        ((cause, _),) = Counter(cause for _, cause in found).most_common(1)
        if cause:
            yield f"    {both_ends(cause, SHOWN_CAUSE)}"


def _troubles_of(record: CaseResult) -> Iterator[tuple[str, str]]:
    if record.status != "ok":
        failure = record.failure
        yield f"{record.status}: {failure.code if failure else record.status}", failure.message if failure else ""
    for name, score in record.scores.items():
        if score.status != "ok":
            yield f"{one_line(name, 60)}: {score.error_code or score.status}", score.reason

"""One arm's run for a terminal: each metric with its counts, and what went wrong.

In: a RunResult. Out: text. Text from outside is cleaned, and no line can speak to a workflow log.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from typing import Final

from ci_eval.domain.results import RunResult
from ci_eval.domain.score import Metric, Score
from ci_eval.log import neutral
from ci_eval.report import numbers
from ci_eval.report.escape import one_line

WIDTH: Final = 100


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


def _troubles(result: RunResult) -> list[str]:
    """Cases without a result, by the reason, with the first ids."""
    by_reason: dict[str, list[str]] = {}
    for record in result.records:
        if record.status != "ok":
            code = record.failure.code if record.failure is not None else record.status
            by_reason.setdefault(f"{record.status}: {code}", []).append(one_line(record.case_id, 60))
    return [
        f"{reason}: {len(ids)} of {len(result.records)} ({', '.join(ids[:5])}{', …' if len(ids) > 5 else ''})"
        for reason, ids in by_reason.items()
    ]

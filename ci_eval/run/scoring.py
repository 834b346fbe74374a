"""All evaluators on one sample.

In: a case, its sample, the evaluators. Out: one Score per metric, by name. The only place that awaits an evaluator.
An evaluator that breaks costs its own scores, never another's and never the run.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Mapping, Sequence

from ci_eval.domain.case import Case
from ci_eval.domain.sample import Sample
from ci_eval.domain.score import LARGEST, Metric, Score, errored
from ci_eval.evaluators.base import Evaluator

log = logging.getLogger(__name__)


async def score_sample(evaluators: Sequence[Evaluator], case: Case, sample: Sample) -> Mapping[str, Score]:
    """Score a sample; a sample without an answer has no scores, for its failure is the case's result."""
    if sample.status != "ok":
        return {}
    scores: dict[str, Score] = {}
    for evaluator in evaluators:
        for score in await _evaluate(evaluator, case, sample):
            scores[score.metric] = score
    return scores


async def _evaluate(evaluator: Evaluator, case: Case, sample: Sample) -> Sequence[Score]:
    try:
        given = evaluator.evaluate(case, sample)
        scores = await given if inspect.isawaitable(given) else given
    except Exception as error:
        log.debug("evaluator failed on case %s", case.id, exc_info=True)
        reason = f"the evaluator failed: {type(error).__name__}: {error}"
        return [errored(metric, "exception", reason) for metric in evaluator.metrics]
    by_name = {score.metric: score for score in scores}
    return [_checked(metric, by_name.get(metric.name)) for metric in evaluator.metrics]


def _checked(metric: Metric, score: Score | None) -> Score:
    """Hold the promise of the type: a metric is never left out, and an ok score is a finite number."""
    if score is None:
        return errored(metric, "no_score", "the evaluator returned no score for this metric")
    if score.status == "ok" and (score.score is None or not math.isfinite(score.score)):
        return errored(metric, "not_finite", f"the evaluator returned {score.score}, which is no finite number")
    if score.score is not None and abs(score.score) > LARGEST:
        return errored(metric, "out_of_range", f"the evaluator returned {score.score:g}; at most {LARGEST:g} can be compared")
    return score

"""Broken cases as remarks on their lines of the dataset.

In: an outline. Out: Annotations of plain text, one line each, so that nothing in them is markdown or a workflow command.
Must not publish: where the file lies in the repository, and batches, are known elsewhere.
"""

from __future__ import annotations

import itertools
from typing import Final, Literal, TypeAlias

from ci_eval.domain.comparison import Change, Outcome
from ci_eval.domain.report import Annotation
from ci_eval.report.cases import CaseStory
from ci_eval.report.escape import one_line
from ci_eval.report.outline import Outline

Level: TypeAlias = Literal["failure", "warning", "notice"]

MOST: Final = 200
TITLE_LIMIT: Final = 200  # characters; GitHub allows 255, and a cut adds up to 30 of its own
MESSAGE_LIMIT: Final = 3_900
_WORDS: Final = {Change.BROKEN: "Case broke", Change.DEGRADED: "Case got worse"}


def annotate(outline: Outline) -> tuple[Annotation, ...]:
    """Annotate the broken cases whose row has a line in a file, at most 200."""
    level: Level = "failure" if outline.outcome is Outcome.BLOCK else "warning"
    noted = (
        Annotation(
            path=story.file,
            line=story.line,
            level=level if story.gated else "notice",
            title=one_line(f"{_WORDS[story.change]}: {story.case_id}", TITLE_LIMIT),
            message=_message(story),
        )
        for story in outline.cases.broken
        if story.file and story.line is not None
    )
    return tuple(itertools.islice(noted, MOST))


def _message(story: CaseStory) -> str:
    """Metric by metric, in one line."""
    told = []
    for score in story.scores:
        if score.is_lead:
            reason = f" ({one_line(score.candidate_reason, 300)})" if score.candidate_reason else ""
            told.append(f"{score.metric}: {score.baseline} before, {score.candidate} now{reason}")
    return one_line("; ".join(told), MESSAGE_LIMIT)

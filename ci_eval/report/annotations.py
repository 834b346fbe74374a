"""Broken cases as remarks on their lines of the dataset.

In: an outline. Out: Annotations of plain text, one line each, so that nothing in them is markdown or a workflow command.
Must not publish: batches and levels of other places are `publish/`'s business.
"""

from __future__ import annotations

import posixpath
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
    """Annotate the broken cases whose row has a line in a file of the repository, at most 200."""
    level: Level = "failure" if outline.outcome is Outcome.BLOCK else "warning"
    noted = []
    for story in outline.cases.broken:
        path = _inside(story.file)
        if path is not None and story.line is not None:
            noted.append(
                Annotation(
                    path=path, line=story.line, level=level if story.gated else "notice",
                    title=one_line(f"{_WORDS[story.change]}: {story.case_id}", TITLE_LIMIT), message=_message(story),
                )
            )  # fmt: skip
    return tuple(noted[:MOST])


def _message(story: CaseStory) -> str:
    """Metric by metric, in one line."""
    told = []
    for score in story.scores:
        if score.is_lead:
            reason = f" ({one_line(score.candidate_reason, 300)})" if score.candidate_reason else ""
            told.append(f"{score.metric}: {score.baseline} before, {score.candidate} now{reason}")
    return one_line("; ".join(told), MESSAGE_LIMIT)


def _inside(file: str) -> str | None:
    """The path relative to the repository; None when the file lies outside of it."""
    path = posixpath.normpath(file.replace("\\", "/"))
    is_outside = path.startswith(("/", "../")) or path in ("..", ".") or path[1:2] == ":"
    return None if is_outside else path

"""An evaluation that ended in an error -> Report: an earlier green comment must not outlive it.

In: the error, and the configuration's title. Out: a Report whose outcome is `incomplete`; both are text from outside and end up
harmless. Pure.
"""

from __future__ import annotations

from ci_eval.domain.comparison import Outcome
from ci_eval.domain.report import Annotation, Report
from ci_eval.errors import CiEvalError, InputError, Problem
from ci_eval.report.escape import code_block, one_line, prose

SHOWN_TEXT = 20_000  # characters; far below what a comment takes
MESSAGE_LIMIT = 4_000
TITLE = "Evaluation incomplete: no verdict"


def render_failure(error: CiEvalError, *, title: str) -> Report:
    """Tell that there is no verdict, and why."""
    at_fault = "The configuration or the data is wrong, not the agent." if isinstance(error, InputError) else ""
    lines = [
        f"## ⚠️ {prose(title)}: evaluation incomplete",
        f"**{TITLE}.** {at_fault} This is not a pass. Nothing can be said about the change until the evaluation has run.",
        code_block(str(error)[:SHOWN_TEXT], "text"),
    ]
    text = "\n\n".join(lines)
    return Report(
        outcome=Outcome.INCOMPLETE,
        headline=f"{TITLE}.",
        comment=text,
        summary=text,
        check_title=TITLE,
        check_summary=text,
        check_text="",
        annotations=tuple(_annotation(problem) for problem in _problems(error) if problem.file and problem.line),
        comparison_json="",
    )


def _problems(error: CiEvalError) -> tuple[Problem, ...]:
    return error.problems if isinstance(error, InputError) else ()


def _annotation(problem: Problem) -> Annotation:
    place = f"{problem.field}: " if problem.field else ""
    return Annotation(
        path=problem.file or "",
        line=problem.line or 1,
        level="failure",
        title="ci-eval: the input is wrong",
        message=one_line(f"{place}{problem.message}{f' ({problem.hint})' if problem.hint else ''}", MESSAGE_LIMIT),
    )

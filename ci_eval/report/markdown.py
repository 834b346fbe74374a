"""Outline -> the markdown of comment, job summary and check, each within its size.

In: an outline, the settings, the templates. Out: text that ends in one line break. Writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ci_eval.report.escape import Ready, link
from ci_eval.report.fit import CHECK_BUDGET, COMMENT_BUDGET, SUMMARY_BUDGET, Shown, fit
from ci_eval.report.outline import Outline
from ci_eval.report.settings import ReportSettings
from ci_eval.report.templates import Templates
from ci_eval.report.view import everything, report_view
from ci_eval.report.view_words import Place, TextLengths

COMMENT_CASES: Final = 20
SUMMARY_CASES: Final = 200

_SHORT: Final = TextLengths(label=64, reason=300, answer=400)
_SHORTER: Final = TextLengths(label=64, reason=200, answer=200)
_LONG: Final = TextLengths(label=100, reason=1_000, answer=2_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """The finished texts."""

    comment: str
    summary: str
    check_summary: str
    check_text: str


def render_markdown(outline: Outline, settings: ReportSettings, templates: Templates) -> Markdown:
    """Render every text that goes to GitHub."""
    comment = Place(broken=_SHORT, fixed=_SHORTER, most_cases=COMMENT_CASES, elsewhere=_full_report(settings))
    summary = Place(broken=_LONG, fixed=_SHORT, most_cases=SUMMARY_CASES, elsewhere=Ready("in `comparison.json`"))
    return Markdown(
        comment=_fitted("comment.md.j2", outline, comment, templates, COMMENT_BUDGET),
        summary=_fitted("summary.md.j2", outline, summary, templates, SUMMARY_BUDGET),
        check_summary=_fitted("check.md.j2", outline, comment, templates, CHECK_BUDGET),
        check_text=_fitted("check_text.md.j2", outline, comment, templates, CHECK_BUDGET),
    )


def _full_report(settings: ReportSettings) -> Ready:
    if settings.report_url:
        return Ready(f"in the {link('full report', settings.report_url)}")
    return Ready("in the job summary and in `comparison.json`")


def _fitted(name: str, outline: Outline, place: Place, templates: Templates, budget: int) -> str:
    def render(shown: Shown) -> str:
        text = templates.render(name, report_view(outline, shown, place)).strip("\n")
        return f"{text}\n" if text else ""

    return fit(render, everything(outline, place), budget)

"""Comparison and Verdict -> Report, and the Report's files.

In: what was compared and decided, and the settings. Out: a Report with every text finished; on disk `comment.md`, `summary.md`, `comparison.json`.
Must not decide, and must not know how the texts are published.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ci_eval.domain.comparison import Comparison, Outcome, Verdict
from ci_eval.domain.report import Report
from ci_eval.errors import InputError, NoVerdictError, Problem
from ci_eval.report.annotations import annotate
from ci_eval.report.escape import one_line
from ci_eval.report.json_report import render_json
from ci_eval.report.markdown import render_markdown
from ci_eval.report.outline import outline
from ci_eval.report.settings import ReportSettings
from ci_eval.report.templates import open_templates

HEADLINE_LIMIT: Final = 115  # characters; a commit status takes 140, and a cut adds up to 25 of its own
REPORT_FILES: Final = ("comment.md", "summary.md", "comparison.json")
CHECK_TITLES: Final = {
    Outcome.INCOMPLETE: "Evaluation incomplete: no verdict",
}


def render_report(comparison: Comparison, verdict: Verdict, settings: ReportSettings) -> Report:
    """Tell one evaluation for every place it goes to."""
    told = outline(comparison, verdict, settings)
    texts = render_markdown(told, settings, open_templates())
    headline = one_line(verdict.headline, HEADLINE_LIMIT)
    return Report(
        outcome=verdict.outcome,
        headline=headline,
        comment=texts.comment,
        summary=texts.summary,
        check_title=CHECK_TITLES.get(verdict.outcome, headline.rstrip(".")),
        check_summary=texts.check_summary,
        check_text=texts.check_text,
        annotations=annotate(told),
        comparison_json=render_json(comparison, verdict, settings.configuration),
    )


def clear_folder(folder: Path) -> None:
    """Make the folder and take an earlier report out of it: what an evaluation that fails leaves must not look like its result."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in REPORT_FILES:
            (folder / name).unlink(missing_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(
            Problem(
                code="output_folder", file=str(folder), message="a folder for the report was expected, found a file",
                hint="give another folder with -o",
            )
        ) from error  # fmt: skip
    except OSError as error:
        raise _unwritable(folder, error) from error


def write_report(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write the files into the folder, made if need be; return their paths."""
    clear_folder(folder)
    for name, text in zip(REPORT_FILES, (report.comment, report.summary, report.comparison_json), strict=True):
        try:
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise _unwritable(folder / name, error) from error
    return tuple(folder / name for name in REPORT_FILES)


def _unwritable(path: Path, error: OSError) -> NoVerdictError:
    return NoVerdictError(
        f"{path}: the report can't be written ({error.strerror})", hint="make the folder writable, or give another one with -o"
    )

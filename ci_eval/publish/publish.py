"""Carry a finished report to every place that takes it.

In: Report, PullContext, settings, a CodeHost (None without a token). Out: Publication.
Never raises for trouble with the host or a file, and never changes the verdict: a refusal is a notice.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never

from ci_eval.clients.base import CodeHost, HostError
from ci_eval.domain.notice import Notice
from ci_eval.domain.report import Report
from ci_eval.publish.check_run import write_check
from ci_eval.publish.comment import CommentDraft, RunStamp, write_comment
from ci_eval.publish.commit_status import write_status
from ci_eval.publish.context import PullContext
from ci_eval.publish.job_summary import SummaryTooLong, append_summary
from ci_eval.publish.notices import refusal
from ci_eval.publish.outputs import OutputName, append_outputs
from ci_eval.publish.plan import CheckRun, CommitStatus, JobSummary, Outputs, StickyComment, plan_publication
from ci_eval.publish.settings import PublishSettings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What was published, and what was not."""

    done: tuple[str, ...]
    """Places written, in order: `job summary`, `comment`, `check run`, `commit status`, `outputs`."""
    failed: tuple[str, ...]
    """Places refused that no fallback made up for."""
    notices: tuple[Notice, ...]
    """One for each refusal, also where a fallback helped, and for what was left alone on purpose."""
    comment_url: str | None
    check_url: str | None

    @property
    def complete(self) -> bool:
        """True when the report reached every place that was asked for."""
        return not self.failed


def publish(  # noqa: PLR0913 - the last two are what only the caller knows
    report: Report,
    context: PullContext,
    settings: PublishSettings,
    host: CodeHost | None,
    *,
    report_dir: Path | None = None,
    exit_code: int | None = None,
) -> Publication:
    """Publish the report; every notice is also logged as a warning.

    `report_dir` and `exit_code` are named in the outputs; without the latter, the exit code that follows from the outcome.
    """
    publisher = _Publisher(
        report=report, context=context, settings=settings, host=host, report_dir=report_dir, exit_code=exit_code
    )
    for step in plan_publication(context, settings, report.outcome):
        match step:
            case JobSummary():
                publisher.write_summary()
            case StickyComment():
                publisher.write_comment(step)
            case CheckRun():
                publisher.write_check(step)
            case CommitStatus():
                publisher.write_status(step)
            case Outputs():
                publisher.write_outputs(step)
            case _:
                assert_never(step)
    publisher.tell()
    return Publication(
        done=tuple(publisher.done),
        failed=tuple(publisher.failed),
        notices=tuple(publisher.notices),
        comment_url=publisher.comment_url,
        check_url=publisher.check_url,
    )


@dataclass(slots=True, kw_only=True)
class _Publisher:
    report: Report
    context: PullContext
    settings: PublishSettings
    host: CodeHost | None
    report_dir: Path | None
    exit_code: int | None
    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    comment_url: str | None = None
    check_url: str | None = None

    def write_summary(self) -> None:
        path = self.context.summary_file
        if path is not None:
            self._write_file("job summary", lambda: append_summary(path, self.report.summary))

    def write_comment(self, step: StickyComment) -> None:
        def write(host: CodeHost) -> None:
            result = write_comment(host, self._comment_draft(step))
            self.comment_url = result.url
            if result.skipped is not None:
                self.notices.append(Notice(code="comment_left_alone", message=f"comment left as it is: {result.skipped}"))
            if result.surplus:
                message = f"further comments of ours could not be removed: {result.surplus}; delete them by hand"
                self.notices.append(Notice(code="comments_not_removed", message=message))

        self._ask_host("comment", "pull-requests: write", write)

    def write_check(self, step: CheckRun) -> None:
        def write(host: CodeHost) -> None:
            result = write_check(host, step, self.report, external_id=self._external_id)
            self.check_url = result.url
            if result.left_out:
                message = (
                    f"{result.left_out:,} of {len(self.report.annotations):,} annotations could not be added to the check run"
                )
                self.notices.append(Notice(code="annotations_left_out", message=message))

        if self._ask_host("check run", "checks: write", write) or step.fallback is None:
            return
        if self.write_status(step.fallback):
            self.failed.remove("check run")

    def write_status(self, step: CommitStatus) -> bool:
        return self._ask_host(
            "commit status",
            "statuses: write",
            lambda host: write_status(host, step, self.report, target_url=self.context.run_url),
        )

    def write_outputs(self, step: Outputs) -> None:
        path = self.context.output_file
        if path is not None:
            self._write_file("outputs", lambda: append_outputs(path, self._output_values(step)))

    def tell(self) -> None:
        """Say what was refused: a line each in the log, and a block in the job summary."""
        for notice in self.notices:
            log.warning("%s", notice.message)
        path = self.context.summary_file
        if path is None or not self.notices:
            return
        lines = "\n".join(notice.message for notice in self.notices)
        try:
            append_summary(path, f"Publishing:\n\n```text\n{lines}\n```")
        except (OSError, SummaryTooLong) as error:
            log.warning("job summary: the lines above could not be added: %s", error)

    def _ask_host(self, place: str, needs: str, write: Callable[[CodeHost], None]) -> bool:
        if self.host is None:
            message = f"{place} not written: there is no token; hand one to the input github-token or set GITHUB_TOKEN"
            self._note_failure(place, Notice(code="no_token", message=message))
            return False
        try:
            write(self.host)
        except HostError as error:
            self._note_failure(place, refusal(place, needs, error, is_fork=self.context.is_fork))
            return False
        self.done.append(place)
        return True

    def _write_file(self, place: str, write: Callable[[], None]) -> None:
        try:
            write()
        except (OSError, ValueError, SummaryTooLong) as error:
            code = f"not_published_{place.replace(' ', '_')}"
            self._note_failure(place, Notice(code=code, message=f"{place} not written: {error}"))
        else:
            self.done.append(place)

    def _note_failure(self, place: str, notice: Notice) -> None:
        self.failed.append(place)
        self.notices.append(notice)

    def _comment_draft(self, step: StickyComment) -> CommentDraft:
        link = f"\n\nThe full report is on [the page of the run]({self.context.run_url})." if self.context.run_url else ""
        return CommentDraft(
            number=step.number,
            key=step.key,
            stamp=self._stamp,
            head_sha=self.context.head_sha,
            body=self.report.comment,
            short_body=f"{self.report.headline}{link}",
        )

    @property
    def _stamp(self) -> RunStamp:
        return RunStamp(self.context.run_id or 0, self.context.run_attempt)

    @property
    def _external_id(self) -> str:
        return f"ci-eval:{self.settings.key}:{self._stamp.run_id}.{self._stamp.attempt}"

    def _output_values(self, step: Outputs) -> dict[OutputName, str | int]:
        values: dict[OutputName, str | int] = {
            "outcome": self.report.outcome.value,
            "headline": self.report.headline,
            "exit-code": step.exit_code if self.exit_code is None else self.exit_code,
            "comment-url": self.comment_url or "",
            "check-url": self.check_url or "",
        }
        if self.report.comparison_json:
            values["regressed"] = _count_metrics(self.report, "regressed")
            values["improved"] = _count_metrics(self.report, "improved")
        if self.report_dir is not None:
            values["report-dir"] = self._in_workspace(self.report_dir)
            if self.report.comparison_json:  # else there is no such file, or one of an earlier run
                values["comparison-json"] = self._in_workspace(self.report_dir / "comparison.json")
        return values

    def _in_workspace(self, path: Path) -> str:
        """Later steps run on the runner, where the container's absolute paths do not exist."""
        workspace = self.context.workspace
        absolute = path.absolute()
        if workspace is not None and absolute.is_relative_to(workspace):
            return absolute.relative_to(workspace).as_posix()
        return path.as_posix()


def _count_metrics(report: Report, result: str) -> int:
    metrics = json.loads(report.comparison_json).get("metrics", [])
    return sum(1 for metric in metrics if metric.get("class") == result)

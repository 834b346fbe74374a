"""The check run on the head commit, with a remark on each line of the dataset that matters.

In: Report and its conclusion. Out: where the run stands. Made completed in one request, so that none is ever left in progress.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ci_eval.clients.base import CheckDraft, CheckOutput, CodeHost, HostCheck, HostError, HostTrouble
from ci_eval.domain.report import Annotation, Report
from ci_eval.publish.plan import CheckRun

BATCH = 50  # annotations a request; GitHub answers 422 to more
MAX_ANNOTATIONS = 250  # five requests: the whole publication stays within fifteen, and nobody reads more


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What became of the check run."""

    url: str
    left_out: int
    """Annotations that the host did not take, beyond those over the limit (the check's own text names these)."""


def write_check(host: CodeHost, step: CheckRun, report: Report, *, external_id: str) -> CheckResult:
    """Make the check run; raises HostError when that is refused. Trouble with later annotations only leaves these out."""
    shown = report.annotations[:MAX_ANNOTATIONS]
    batches = [shown[start : start + BATCH] for start in range(0, len(shown), BATCH)] or [()]
    draft = CheckDraft(
        name=step.name,
        head_sha=step.head_sha,
        external_id=external_id,
        conclusion=step.conclusion,
        output=CheckOutput(
            title=report.check_title,
            summary=_summary(report),
            text=report.check_text,
            annotations=batches[0],
        ),
    )
    try:
        check = _create(host, draft)
    except HostError as error:
        if error.status != 422:
            raise
        bare = replace(draft.output, text="", annotations=())
        return CheckResult(url=_create(host, replace(draft, output=bare)).url, left_out=len(shown))
    return CheckResult(url=check.url, left_out=_append(host, check, draft, batches))


def _summary(report: Report) -> str:
    over = len(report.annotations) - MAX_ANNOTATIONS
    if over <= 0:
        return report.check_summary
    return f"{report.check_summary}\n\n{MAX_ANNOTATIONS} lines are annotated, and {over:,} more are not."


def _create(host: CodeHost, draft: CheckDraft) -> HostCheck:
    """Create the run; after a lost answer look whether it is there before trying once more."""
    try:
        return host.create_check(draft)
    except HostError as error:
        if error.trouble is not HostTrouble.LOST:
            raise
    found = host.find_check(head_sha=draft.head_sha, name=draft.name, external_id=draft.external_id)
    return found or host.create_check(draft)


def _append(host: CodeHost, check: HostCheck, draft: CheckDraft, batches: list[tuple[Annotation, ...]]) -> int:
    """Append all batches but the first; return how many annotations are missing in the end."""
    done = 1
    try:
        for batch in batches[1:]:
            host.add_annotations(check.id, replace(draft.output, annotations=batch))
            done += 1
    except HostError:
        # a batch whose answer was lost may be there: it is not sent twice, and counts as missing
        return sum(len(batch) for batch in batches[done:])
    return 0

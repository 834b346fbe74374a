"""A line beside the commit: what is left when the check run is refused.

In: Report. Out: a commit status; only its state, one sentence and a link fit.
"""

from __future__ import annotations

from ci_eval.clients.base import CodeHost, StatusDraft
from ci_eval.domain.report import Report
from ci_eval.publish.plan import CommitStatus

DESCRIPTION_LIMIT = 140  # characters; GitHub answers 422 to more


def write_status(host: CodeHost, step: CommitStatus, report: Report, *, target_url: str | None) -> None:
    """Set the status; raises HostError when that is refused."""
    host.create_status(
        StatusDraft(
            head_sha=step.head_sha,
            context=step.context,
            state=step.state,
            description=_fitted(report.headline),
            target_url=target_url,
        )
    )


def _fitted(headline: str) -> str:
    return headline if len(headline) <= DESCRIPTION_LIMIT else headline[: DESCRIPTION_LIMIT - 1] + "…"

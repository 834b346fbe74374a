"""Why something did not reach its place, in one sentence that says what to do.

In: HostError. Out: Notice. Pure. Texts of the host stay on one line and lose what markdown, HTML or the log would obey.
"""

from __future__ import annotations

import re

from ci_eval.clients.base import HostError, HostTrouble
from ci_eval.domain.notice import Notice

MAX_QUOTE = 300  # characters
_UNSAFE = re.compile(r"[^ -~]+|[`\"<>|]")

_REASONS = {
    HostTrouble.CREDENTIALS: "the token was not accepted; hand a valid one to the input github-token",
    HostTrouble.LOCKED: "the conversation or the repository is closed for writing",
    HostTrouble.NOT_FOUND: "it does not exist, or the token may not see it; the permission is {needs}",
    HostTrouble.INVALID: "GitHub refused the content, also in its shortest form",
    HostTrouble.RATE_LIMIT: "GitHub's rate limit lasts longer than we wait",
    HostTrouble.UNREACHABLE: "GitHub gave no answer",
    HostTrouble.LOST: "GitHub gave no answer",
}
_PERMISSION = "the token lacks the permission {needs}{accepted}; add it to the permissions of the job"
_PERMISSION_FORK = (
    "the token lacks the permission {needs}{accepted}, as for every change that comes from a fork or from Dependabot; "
    "the report is in the job summary, and the step's exit code is right without it"
)


def refusal(place: str, needs: str, error: HostError, *, is_fork: bool) -> Notice:
    """Say that `place` (`comment`, `check run`, …) was not written, and which permission (`checks: write`) it needs."""
    accepted = f" (GitHub accepts: {quote(error.accepted)})" if error.accepted else ""
    reasons = {**_REASONS, HostTrouble.PERMISSION: _PERMISSION_FORK if is_fork else _PERMISSION}
    why = reasons[error.trouble].format(needs=needs, accepted=accepted)
    said = f'GitHub said: "{quote(error.message)}"'
    return Notice(code=f"not_published_{place.replace(' ', '_')}", message=f"{place} not written: {why}. {said}")


def quote(text: str) -> str:
    """Put a text from outside on one line of harmless printable ASCII."""
    shown = _UNSAFE.sub(" ", text).strip()
    return shown if len(shown) <= MAX_QUOTE else f"{shown[:MAX_QUOTE]}... ({len(shown) - MAX_QUOTE} more characters)"

"""What the rooms may ask of a service, without knowing its SDK.

In and out: plain frozen values. Must not import any SDK; `clients/<name>.py` holds the one door to each.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol, TypeAlias

from ci_eval.domain.report import Annotation

CheckConclusion: TypeAlias = Literal["success", "neutral", "failure", "action_required"]
StatusState: TypeAlias = Literal["success", "failure", "error", "pending"]


class HostTrouble(StrEnum):
    """Why the code host did not do what was asked."""

    PERMISSION = "permission"  # the token lacks it; asking again changes nothing
    CREDENTIALS = "credentials"  # wrong or expired token
    LOCKED = "locked"  # a locked conversation, an archived repository
    NOT_FOUND = "not_found"
    INVALID = "invalid"  # 422: a limit, or our mistake
    RATE_LIMIT = "rate_limit"  # longer than we were ready to wait
    UNREACHABLE = "unreachable"  # no answer; nothing was changed
    LOST = "lost"  # no answer to a write that may have happened all the same


class HostError(Exception):
    """The code host refused, or could not be reached. `publish` turns it into a notice; it never ends the process."""

    def __init__(self, trouble: HostTrouble, message: str, *, status: int | None = None, accepted: str = "") -> None:
        super().__init__(message)
        self.trouble = trouble
        self.message = message
        """What the host said; text from outside."""
        self.status = status
        """HTTP status; None when there was no answer."""
        self.accepted = accepted
        """`X-Accepted-GitHub-Permissions`: the permissions that would have sufficed. Text from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostComment:
    """One comment of a pull request."""

    id: int
    body: str
    author: str
    """Login; empty when the account is gone."""
    by_bot: bool
    url: str
    hidden: bool = False
    """True when somebody minimised it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck:
    """One check run."""

    id: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PullState:
    """A pull request as it is now, which may differ from the event that started us."""

    head_sha: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutput:
    """What a check run shows."""

    title: str
    summary: str
    text: str
    """May be empty."""
    annotations: tuple[Annotation, ...]
    """At most 50 a request; further ones are appended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDraft:
    """A completed check run to be made."""

    name: str
    head_sha: str
    external_id: str
    """Our own mark, by which a run whose answer was lost is found again."""
    conclusion: CheckConclusion
    output: CheckOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusDraft:
    """A commit status to be set."""

    head_sha: str
    context: str
    state: StatusState
    description: str
    """At most 140 characters."""
    target_url: str | None


class CodeHost(Protocol):
    """The pull request's home. Every method raises HostError, and nothing else, for trouble with the host."""

    def viewer(self) -> str:
        """Return the login that our token writes as."""
        ...

    def pull_state(self, number: int) -> PullState:
        """Look a pull request up."""
        ...

    def list_comments(self, number: int) -> list[HostComment]:
        """Return every comment of a pull request, oldest first, over all pages."""
        ...

    def create_comment(self, number: int, body: str) -> HostComment:
        """Write a new comment; trouble `LOST` means that it may exist."""
        ...

    def update_comment(self, number: int, comment_id: int, body: str) -> HostComment:
        """Replace the text of a comment."""
        ...

    def delete_comment(self, number: int, comment_id: int) -> None:
        """Remove a comment; one that is gone already is no trouble."""
        ...

    def create_check(self, draft: CheckDraft) -> HostCheck:
        """Make a completed check run; trouble `LOST` means that it may exist."""
        ...

    def find_check(self, *, head_sha: str, name: str, external_id: str) -> HostCheck | None:
        """Return the check run of that name and mark on a commit."""
        ...

    def add_annotations(self, check_id: int, output: CheckOutput) -> HostCheck:
        """Append the annotations to a check run; trouble `LOST` means that they may be there."""
        ...

    def create_status(self, draft: StatusDraft) -> None:
        """Set the commit status of that context; the newest one counts."""
        ...

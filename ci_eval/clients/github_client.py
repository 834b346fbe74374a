"""The only door to PyGithub.

In: address, token, repository. Out: a CodeHost that waits and tries again where that is safe, and speaks in HostError.
Must not decide what is published, and must not repeat a write whose answer was lost: the caller looks first.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ci_eval.clients.base import CheckDraft, CheckOutput, HostCheck, HostComment, HostError, HostTrouble, PullState, StatusDraft
from ci_eval.domain.report import Annotation

if TYPE_CHECKING:
    from github import Github
    from github.CheckRun import CheckRun
    from github.Commit import Commit
    from github.GithubException import GithubException
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.Repository import Repository

T = TypeVar("T")

log = logging.getLogger(__name__)

API_VERSION = "2022-11-28"  # the description that our tests check against; supported until March 2028 at least
PAGE_SIZE = 100  # the most that GitHub gives
LIMIT_WAIT_S = 60.0  # GitHub's advice for a secondary limit that names no time


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How fast we ask and how long we wait. A test hands in a clock of its own and never sleeps."""

    seconds_between_requests: float | None = 0.25
    seconds_between_writes: float | None = 1.0
    """GitHub asks for a second at least; None switches the pause off."""
    timeout_s: int = 30
    """For connecting and for each read."""
    tries: int = 4
    """For answers such as 502 and for cut connections."""
    first_wait_s: float = 1.0
    """Doubles with each try."""
    give_up_after_s: float = 600.0
    """Counted from the first request of this client, over all of them."""
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    """Seconds since 1970, as `X-RateLimit-Reset` counts."""


@dataclass(slots=True, kw_only=True)
class GitHubHost:
    """A CodeHost on github.com, on an Enterprise Server or with data residency."""

    api_url: str
    """`https://api.github.com`, `https://HOST/api/v3`, …"""
    token: str = field(repr=False)
    repository: str
    """`owner/name`."""
    ca_bundle: str | None = None
    """Path of a PEM file; None for the usual certificates and `REQUESTS_CA_BUNDLE`."""
    patience: Patience = field(default_factory=Patience)
    _github: Github | None = field(default=None, init=False, repr=False)
    _started: float | None = field(default=None, init=False, repr=False)

    def viewer(self) -> str:
        """Return the login that our token writes as; `GET /user` is refused to a workflow's token, GraphQL is not."""
        query = "query { viewer { login } }"
        _, answer = self._ask(lambda: self._open().requester.graphql_query(query, {}), repeatable=True)
        return str(answer["data"]["viewer"]["login"])

    def pull_state(self, number: int) -> PullState:
        """Look a pull request up."""

        def look() -> PullState:
            return PullState(head_sha=self._repository().get_pull(number).head.sha)

        return self._ask(look, repeatable=True)

    def list_comments(self, number: int) -> list[HostComment]:
        """Return every comment, oldest first. The pages are followed by their links, whatever size the server makes them."""
        return self._ask(lambda: [_comment(found) for found in self._issue(number).get_comments()], repeatable=True)

    def create_comment(self, number: int, body: str) -> HostComment:
        """Write a new comment."""
        return self._ask(lambda: _comment(self._issue(number).create_comment(body)), repeatable=False)

    def update_comment(self, number: int, comment_id: int, body: str) -> HostComment:
        """Replace the text of a comment."""

        def edit() -> HostComment:
            comment = self._issue(number).get_comment(comment_id)
            comment.edit(body)
            return _comment(comment)

        return self._ask(edit, repeatable=True)

    def delete_comment(self, number: int, comment_id: int) -> None:
        """Remove a comment; one that is gone already is no trouble."""
        try:
            self._ask(lambda: self._issue(number).get_comment(comment_id).delete(), repeatable=True)
        except HostError as error:
            if error.trouble is not HostTrouble.NOT_FOUND:
                raise

    def create_check(self, draft: CheckDraft) -> HostCheck:
        """Make a completed check run in one request, so that none is ever left in progress."""

        def create() -> HostCheck:
            return _check(
                self._repository().create_check_run(
                    name=draft.name,
                    head_sha=draft.head_sha,
                    external_id=draft.external_id,
                    status="completed",
                    conclusion=draft.conclusion,
                    output=_output(draft.output),
                )
            )

        return self._ask(create, repeatable=False)

    def find_check(self, *, head_sha: str, name: str, external_id: str) -> HostCheck | None:
        """Return the check run of that name and mark on a commit."""

        def find() -> HostCheck | None:
            runs = self._commit(head_sha).get_check_runs(check_name=name)
            return next((_check(run) for run in runs if run.external_id == external_id), None)

        return self._ask(find, repeatable=True)

    def add_annotations(self, check_id: int, output: CheckOutput) -> HostCheck:
        """Append the annotations to a check run; title and summary are demanded, and replaced, once more."""

        def append() -> HostCheck:
            run = self._repository().get_check_run(check_id)
            run.edit(output=_output(output))
            return _check(run)

        return self._ask(append, repeatable=False)

    def create_status(self, draft: StatusDraft) -> None:
        """Set the commit status of that context; writing it twice changes nothing, so it may be repeated."""
        from github.GithubObject import NotSet

        def create() -> None:
            self._commit(draft.head_sha).create_status(
                draft.state,
                target_url=draft.target_url or NotSet,
                description=draft.description,
                context=draft.context,
            )

        self._ask(create, repeatable=True)

    def _open(self) -> Github:
        if self._github is None:
            from github import Auth, Github

            self._github = Github(
                auth=Auth.Token(self.token),
                base_url=self.api_url.rstrip("/"),
                timeout=self.patience.timeout_s,
                user_agent="ci-eval",
                per_page=PAGE_SIZE,
                verify=self.ca_bundle or True,
                retry=None,  # PyGithub's own repeats a POST whose answer was lost
                seconds_between_requests=self.patience.seconds_between_requests,
                seconds_between_writes=self.patience.seconds_between_writes,
                lazy=True,
                api_version=API_VERSION,
            )
        return self._github

    def _repository(self) -> Repository:
        return self._open().get_repo(self.repository)

    def _issue(self, number: int) -> Issue:
        return self._repository().get_issue(number)

    def _commit(self, sha: str) -> Commit:
        return self._repository().get_commit(sha)

    def _ask(self, question: Callable[[], T], *, repeatable: bool) -> T:
        """Ask until there is an answer, a refusal, or no time left. What may have happened is repeated only if that is harmless."""
        if self._started is None:
            self._started = self.patience.clock()
        tries = 0
        while True:
            tries += 1
            error, wait = self._one_try(question, repeatable=repeatable)
            if not isinstance(error, HostError):
                return error
            if wait is None:
                wait = self.patience.first_wait_s * 2 ** (tries - 1)
                if tries >= self.patience.tries:
                    raise error
            if error.trouble not in (HostTrouble.RATE_LIMIT, HostTrouble.UNREACHABLE) or not self._has_time_for(wait):
                raise error
            log.info("GitHub: %s; next try in %.0f s", error.message, wait)
            self.patience.sleep(wait)

    def _one_try(self, question: Callable[[], T], *, repeatable: bool) -> tuple[T | HostError, float | None]:
        """Return the answer, or the trouble and how long GitHub wants us to wait."""
        import requests
        from github import GithubException

        try:
            return question(), None
        except GithubException as error:
            return self._refusal(error, repeatable=repeatable)
        except (requests.RequestException, OSError) as error:
            trouble = HostTrouble.UNREACHABLE if repeatable else HostTrouble.LOST
            return HostError(trouble, f"{self.api_url} did not answer: {type(error).__name__}"), None
        except Exception as error:  # noqa: BLE001 - PyGithub trips over the answers of a proxy in more ways than can be listed
            message = f"{self.api_url} gave an answer that cannot be read: {type(error).__name__} {error}"
            return HostError(HostTrouble.INVALID if repeatable else HostTrouble.LOST, message), None

    def _refusal(self, error: GithubException, *, repeatable: bool) -> tuple[HostError, float | None]:
        headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
        message = _message(error)
        wait: float | None = None
        if error.status in (403, 429) and _is_rate_limit(error.status, message, headers):
            trouble, wait = HostTrouble.RATE_LIMIT, self._asked_wait(headers)
        elif error.status >= 500:
            trouble = HostTrouble.UNREACHABLE if repeatable else HostTrouble.LOST
        else:
            trouble = _trouble(error.status, message)
        accepted = headers.get("x-accepted-github-permissions", "")
        return HostError(trouble, message, status=error.status, accepted=accepted), wait

    def _asked_wait(self, headers: dict[str, str]) -> float:
        after = headers.get("retry-after", "")
        if after.isdigit():
            return float(after)
        reset = headers.get("x-ratelimit-reset", "")
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
            return max(1.0, float(reset) - self.patience.clock() + 1)  # it is not said when in that second
        return LIMIT_WAIT_S

    def _has_time_for(self, wait_s: float) -> bool:
        started = self._started if self._started is not None else self.patience.clock()
        return self.patience.clock() - started + wait_s <= self.patience.give_up_after_s


def _is_rate_limit(status: int, message: str, headers: dict[str, str]) -> bool:
    return status == 429 or "retry-after" in headers or "rate limit" in message.lower()


def _trouble(status: int, message: str) -> HostTrouble:
    lower = message.lower()
    if status == 401:
        return HostTrouble.CREDENTIALS
    if status == 410 or (status == 403 and ("locked" in lower or "archived" in lower)):
        return HostTrouble.LOCKED
    if status == 404:
        return HostTrouble.NOT_FOUND
    # GraphQL says FORBIDDEN in an answer of status 200, which PyGithub reports as 400
    if status == 403 or "not accessible by" in lower:
        return HostTrouble.PERMISSION
    return HostTrouble.INVALID


def _message(error: GithubException) -> str:
    data = error.data
    if not isinstance(data, dict):
        return f"HTTP {error.status}"
    parts = [str(data.get("message") or f"HTTP {error.status}")]
    details = data.get("errors")
    if isinstance(details, list):
        parts += [
            str(item.get("message") or item.get("code") or item) if isinstance(item, dict) else str(item) for item in details
        ]
    return "; ".join(parts)


def _comment(comment: IssueComment) -> HostComment:
    user = comment.user  # None for a deleted account
    return HostComment(
        id=comment.id,
        body=comment.body or "",
        author=user.login if user else "",
        by_bot=bool(user) and user.type == "Bot",
        url=comment.html_url,
        hidden=bool(comment._rawData.get("minimized")),  # noqa: SLF001 - `raw_data` asks once more for every comment of a list
    )


def _check(run: CheckRun) -> HostCheck:
    return HostCheck(id=run.id, url=run.html_url or "")


def _output(output: CheckOutput) -> dict[str, str | list[dict[str, str | int]]]:
    shown: dict[str, str | list[dict[str, str | int]]] = {"title": output.title, "summary": output.summary}
    if output.text:
        shown["text"] = output.text
    if output.annotations:
        shown["annotations"] = [_annotation(note) for note in output.annotations]
    return shown


def _annotation(note: Annotation) -> dict[str, str | int]:
    return {
        "path": note.path,
        "start_line": note.line,
        "end_line": note.line,
        "annotation_level": note.level,
        "title": note.title,
        "message": note.message,
    }

"""Who asked, and which commits it is about.

In: the environment of a workflow step and the event's payload. Out: PullContext, or None outside GitHub Actions.
Any field of a payload may be null or missing. Must not ask the network, and must not read `os.environ` itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_eval.errors import ConfigError, Problem

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_PULL_EVENTS = ("pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment")
_DEPENDABOT = "dependabot[bot]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullContext:
    """One workflow run, as far as it matters for publishing and for choosing the two commits."""

    event_name: str
    """`pull_request`, `push`, …; empty when the runner did not say."""
    repository: str | None
    """`owner/name` of the repository that the workflow belongs to."""
    api_url: str
    head_sha: str | None
    """The commit that checks, statuses and the comment speak of; never the test-merge commit of a pull request."""
    base_sha: str | None
    """The commit that the event names as the state before; None where it names none."""
    pull_number: int | None
    """The pull request to comment on; None when the event has none."""
    is_fork: bool
    """True when the change comes from another repository, or from Dependabot: the token is usually read-only then."""
    run_id: int | None
    run_attempt: int
    """1 for the first; a re-run has the same id."""
    run_url: str | None
    workspace: Path | None
    output_file: Path | None
    """GITHUB_OUTPUT."""
    summary_file: Path | None
    """GITHUB_STEP_SUMMARY."""

    @property
    def runs_trusted_code(self) -> bool:
        """False where the workflow has secrets and a write token although the change may come from anybody."""
        return self.event_name not in ("pull_request_target", "workflow_run", "issue_comment")


def read_context(environ: Mapping[str, str], event: Mapping[str, object]) -> PullContext | None:
    """Return what a workflow run says about itself; None outside GitHub Actions."""
    if environ.get("GITHUB_ACTIONS") != "true":
        return None
    name = environ.get("GITHUB_EVENT_NAME", "")
    repository = _matching(_REPOSITORY, environ.get("GITHUB_REPOSITORY"))
    server_url = environ.get("GITHUB_SERVER_URL") or "https://github.com"
    run_id = _number(environ.get("GITHUB_RUN_ID"))
    commits = _commits(name, event, environ.get("GITHUB_SHA"))
    return PullContext(
        event_name=name,
        repository=repository,
        api_url=environ.get("GITHUB_API_URL") or "https://api.github.com",
        head_sha=commits.head,
        base_sha=commits.base,
        pull_number=_pull_number(name, event, commits.head),
        is_fork=_is_fork(name, event, repository) or _is_dependabot(name, environ),
        run_id=run_id,
        run_attempt=_number(environ.get("GITHUB_RUN_ATTEMPT")) or 1,
        run_url=f"{server_url.rstrip('/')}/{repository}/actions/runs/{run_id}" if repository and run_id else None,
        workspace=_path(environ.get("GITHUB_WORKSPACE")),
        output_file=_path(environ.get("GITHUB_OUTPUT")),
        summary_file=_path(environ.get("GITHUB_STEP_SUMMARY")),
    )


def load_event(path: Path | None) -> dict[str, object]:
    """Read the payload file that GITHUB_EVENT_PATH names; ConfigError when it is no JSON object, empty when there is no path."""
    if path is None:
        return {}
    try:
        event = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _bad_event(path, f"the event's payload cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise _bad_event(path, f"the event's payload is not JSON: {error}") from None
    if not isinstance(event, dict):
        raise _bad_event(path, f"the event's payload is expected to be a JSON object, found {type(event).__name__}")
    return event


def _bad_event(path: Path, message: str) -> ConfigError:
    hint = "GITHUB_EVENT_PATH is set by the runner; run without --publish outside of GitHub Actions"
    return ConfigError(Problem(code="bad_event", file=str(path), message=message, hint=hint))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commits:
    head: str | None
    base: str | None


def _commits(name: str, event: Mapping[str, object], checkout_sha: str | None) -> _Commits:
    if name in _PULL_EVENTS:
        pull = _part(event, "pull_request")
        return _Commits(head=_sha(_part(pull, "head").get("sha")), base=_sha(_part(pull, "base").get("sha")))
    if name == "push":
        return _Commits(head=_sha(event.get("after")), base=_sha(event.get("before")))
    if name == "merge_group":
        group = _part(event, "merge_group")
        return _Commits(head=_sha(group.get("head_sha")), base=_sha(group.get("base_sha")))
    if name == "workflow_run":
        return _Commits(head=_sha(_part(event, "workflow_run").get("head_sha")), base=None)
    if name == "issue_comment":
        # the payload does not tell the pull request's head, and GITHUB_SHA is the default branch
        return _Commits(head=None, base=None)
    return _Commits(head=_sha(checkout_sha), base=None)


def _pull_number(name: str, event: Mapping[str, object], head: str | None) -> int | None:
    if name in _PULL_EVENTS:
        return _number(_part(event, "pull_request").get("number")) or _number(event.get("number"))
    if name == "issue_comment":
        issue = _part(event, "issue")
        return _number(issue.get("number")) if issue.get("pull_request") else None
    if name == "workflow_run":
        listed = _part(event, "workflow_run").get("pull_requests")
        pulls = [pull for pull in listed if isinstance(pull, Mapping)] if isinstance(listed, list) else []
        matching = [pull for pull in pulls if head is not None and _part(pull, "head").get("sha") == head]
        return _number(matching[0].get("number")) if len(matching) == 1 else None
    return None


def _is_fork(name: str, event: Mapping[str, object], repository: str | None) -> bool:
    if name in _PULL_EVENTS:
        pull = _part(event, "pull_request")
        head = _part(_part(pull, "head"), "repo").get("full_name")
        base = _part(_part(pull, "base"), "repo").get("full_name") or repository
    elif name == "workflow_run":
        head = _part(_part(event, "workflow_run"), "head_repository").get("full_name")
        base = repository
    else:
        return False
    # a deleted fork has no repository any more: whatever is not surely ours is a fork
    return not isinstance(head, str) or not isinstance(base, str) or head.lower() != base.lower()


def _is_dependabot(name: str, environ: Mapping[str, str]) -> bool:
    return name in _PULL_EVENTS and environ.get("GITHUB_ACTOR") == _DEPENDABOT


def _part(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    part = value.get(key)
    return part if isinstance(part, Mapping) else {}


def _sha(value: object) -> str | None:
    found = _matching(_SHA, value)
    return None if found is None or set(found) == {"0"} else found  # zeros: a branch was created or deleted


def _matching(pattern: re.Pattern[str], value: object) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) else None


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and value > 0 else None


def _path(value: str | None) -> Path | None:
    return Path(value) if value else None

"""The two states of the agent: which commits, and the folders that hold them.

In: what the configuration says of an arm, the event's commits, the workspace. Out: commits with the words that describe them,
then folders. The candidate `head` is the workspace itself; any other commit gets a worktree outside of it, gone afterwards.
The default pair is (first parent of the merge, merge) or (merge base, head), never a mixture: the base's tip against the head
blames the change for what landed on the base meanwhile. Source: the GitHub page, sections 4 and 4.1.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ci_eval.domain.notice import Notice
from ci_eval.errors import ConfigError, NoVerdictError, Problem
from ci_eval.targets.base import Checkout
from ci_eval.targets.git import Git, GitRefused
from ci_eval.targets.history import History

MERGE_BASE = "merge-base"
HEAD = "head"
LFS_POINTER = "version https://git-lfs.github.com/spec/"
WITHOUT_LFS = ("filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.required=false")
"""For a checkout that asks for git-lfs on a machine that does not have it, such as our image."""
DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
PULL_EVENTS = frozenset(
    {"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment", "issue_comment"}
)


class FolderMissing(NoVerdictError):
    """The commit is there, and the folder that the configuration stands in is not: the agent did not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCommits:
    """The commits that a GitHub event is about."""

    event: str
    """Its name: `pull_request`, `push`, `merge_group`, …"""
    head_sha: str | None
    """Head of the pull request, `after` of a push, head of the merge group."""
    base_sha: str | None
    """Tip of the base branch, `before` of a push, base of the merge group."""
    default_branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedArm:
    """One commit, and what it is."""

    commit: str
    """Full id."""
    description: str
    """For people: `4f2c1aa (merge base)`, `working tree at 1a2b3c4, with uncommitted changes`."""
    in_workspace: bool = False
    """The arm runs in the workspace as it stands, uncommitted changes included."""
    has_changes: bool = False
    """Tracked files of the workspace differ from the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPair:
    """Both arms, None for the one that was not asked for."""

    baseline: ResolvedArm | None
    candidate: ResolvedArm | None
    notices: tuple[Notice, ...] = ()


def resolve_commits(
    git: Git,
    *,
    baseline: str | None = MERGE_BASE,
    candidate: str | None = HEAD,
    event: EventCommits | None = None,
    may_fetch: bool = True,
) -> ResolvedPair:
    """Find the commit of each arm, fetching what a shallow clone lacks.

    An arm is `merge-base`, `head`, the name of any commit, or None when it is no commit at all.
    """
    if git.ask("rev-parse", "--is-inside-work-tree") != "true":
        raise ConfigError(
            Problem(
                message=f"{git.folder} is not in a git repository: there are no commits to compare",
                hint="name two folders, `baseline: {directory: …}` and `candidate: {directory: …}`, or recorded outputs",
            )
        )
    with _owner_kept(git):
        try:
            return _Resolver(History(git, may_fetch=may_fetch), git, event).pair(baseline=baseline, candidate=candidate)
        except GitRefused as error:
            raise NoVerdictError(f"git could not tell which commits to compare: {error}") from error


@contextmanager
def open_checkout(git: Git, arm: ResolvedArm, *, name: str, scratch: Path) -> Iterator[Checkout]:
    """Give the folder that holds the arm; a worktree in `scratch` is removed afterwards."""
    prefix = git.run("rev-parse", "--show-prefix").rstrip("/")
    if arm.in_workspace:
        yield Checkout(path=git.folder, description=arm.description, commit=arm.commit)
        return
    scratch.mkdir(parents=True, exist_ok=True)
    holder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch)).resolve()
    worktree = holder / name
    try:
        with _owner_kept(git):
            notices = _add_worktree(git, worktree, arm)
        if not (worktree / prefix).is_dir():
            raise FolderMissing(f"{arm.description} has no folder {prefix}", hint="name the arm's folder with `directory:`")
        yield Checkout(path=worktree / prefix, description=arm.description, commit=arm.commit, notices=notices)
    finally:
        with _owner_kept(git):
            git.ask("worktree", "remove", "--force", "--force", str(worktree))
            shutil.rmtree(holder, ignore_errors=True)
            git.ask("worktree", "prune")


def open_directory(workspace: Path, directory: str, *, field: str) -> Checkout:
    """Give a plain folder as an arm."""
    path = workspace / directory
    if not path.is_dir():
        raise ConfigError(
            Problem(
                field=field,
                message=f"{directory} is {'no folder' if path.exists() else 'not there'}; a folder that holds the agent was expected",
                hint=f"paths are relative to {workspace}",
            )
        )
    return Checkout(path=path, description=f"./{Path(directory).as_posix()}" if not Path(directory).is_absolute() else directory)


class _Resolver:
    """Turns the words of the configuration into commits."""

    def __init__(self, history: History, git: Git, event: EventCommits | None) -> None:
        self._history = history
        self._git = git
        self._event = event
        self._head = history.head()
        self._notices: list[Notice] = []

    def pair(self, *, baseline: str | None, candidate: str | None) -> ResolvedPair:
        after = None if candidate is None else self._candidate(candidate)
        before = None if baseline is None else self._baseline(baseline, after)
        if before and after and before.commit == after.commit and not after.has_changes:
            self._notice("same_commit", f"both arms are commit {_short(after.commit)}: nothing can differ but chance")
        return ResolvedPair(baseline=before, candidate=after, notices=tuple(self._notices))

    def _candidate(self, asked: str) -> ResolvedArm:
        if asked == HEAD:
            return self._head_arm()
        if asked == MERGE_BASE:
            return self._merge_base(self._head_arm())
        return self._named(asked, field="candidate.ref")

    def _baseline(self, asked: str, candidate: ResolvedArm | None) -> ResolvedArm:
        if asked == MERGE_BASE:
            return self._merge_base(candidate or self._head_arm())
        if asked == HEAD:
            return ResolvedArm(commit=self._head, description=f"{_short(self._head)} (HEAD)")
        return self._named(asked, field="baseline.ref")

    def _head_arm(self) -> ResolvedArm:
        event = self._event
        pull_head = event.head_sha if event is not None and event.event in PULL_EVENTS else None
        parents = self._history.parents(self._head)
        if pull_head is None:
            if event is not None and event.head_sha not in (None, self._head):
                self._notice("head_moved", f"the workspace is at {_short(self._head)}, not at {_short(event.head_sha or '')} "
                             f"that the {event.event} event is about; the workspace is evaluated")  # fmt: skip
            return self._workspace(f"working tree at {_short(self._head)}")
        if pull_head == self._head:
            return self._workspace(f"{_short(pull_head)} (head of the pull request)")
        if len(parents) == 2 and parents[1] == pull_head:
            return self._workspace(f"{_short(pull_head)} merged into {_short(parents[0])} (test merge {_short(self._head)})")
        self._history.need(pull_head)
        self._notice("head_moved", f"the workspace is at {_short(self._head)}, which is neither the head of the pull request nor "
                     f"its test merge; {_short(pull_head)} is evaluated")  # fmt: skip
        return ResolvedArm(commit=pull_head, description=f"{_short(pull_head)} (head of the pull request)")

    def _workspace(self, description: str) -> ResolvedArm:
        """Untracked files do not count as changes: earlier steps and our own reports leave some."""
        has_changes = bool(self._git.run("status", "--porcelain", "--untracked-files=no", "--ignore-submodules"))
        return ResolvedArm(
            commit=self._head,
            description=f"{description}, with uncommitted changes" if has_changes else description,
            in_workspace=True,
            has_changes=has_changes,
        )

    def _merge_base(self, candidate: ResolvedArm) -> ResolvedArm:
        """What the candidate is measured against: what the event says, or the fork point from the default branch."""
        return self._base_by_event(candidate) or self._base_by_branch(candidate)

    def _base_by_event(self, candidate: ResolvedArm) -> ResolvedArm | None:
        event = self._event
        if event is None:
            return None
        if event.event in PULL_EVENTS:
            return self._base_of_pull(event, candidate)
        if event.head_sha != candidate.commit or event.base_sha is None:
            return None
        if event.event == "merge_group":
            self._history.need(event.base_sha)
            return ResolvedArm(commit=event.base_sha, description=f"{_short(event.base_sha)} (base of the merge group)")
        if event.event == "push":
            return self._before_push(event.base_sha)
        return None

    def _base_of_pull(self, event: EventCommits, candidate: ResolvedArm) -> ResolvedArm | None:
        parents = self._history.parents(candidate.commit)
        if candidate.in_workspace and len(parents) == 2 and parents[1] == event.head_sha:
            self._history.need(parents[0])
            return ResolvedArm(commit=parents[0], description=f"{_short(parents[0])} (what the pull request is merged into)")
        if event.base_sha is None:
            return None
        base = self._history.merge_base(candidate.commit, event.base_sha)
        return ResolvedArm(commit=base, description=f"{_short(base)} (merge base)")

    def _before_push(self, before: str) -> ResolvedArm | None:
        if set(before) != {"0"} and self._history.has(before):
            return ResolvedArm(commit=before, description=f"{_short(before)} (before the push)")
        why = "the branch is new" if set(before) == {"0"} else f"{_short(before)} is gone"
        self._notice("before_unknown", f"{why}: the push is compared with the default branch")
        return None

    def _base_by_branch(self, candidate: ResolvedArm) -> ResolvedArm:
        branch, tip = self._default_branch()
        base = self._history.merge_base(candidate.commit, tip)
        if base != candidate.commit:
            return ResolvedArm(commit=base, description=f"{_short(base)} (merge base with {branch})")
        if candidate.has_changes:
            return ResolvedArm(commit=base, description=f"{_short(base)} (HEAD, without the uncommitted changes)")
        return self._parent(candidate.commit, branch)

    def _parent(self, commit: str, branch: str) -> ResolvedArm:
        event = self._event
        if event is not None and event.event in PULL_EVENTS:
            raise ConfigError(
                Problem(
                    field="candidate.ref",
                    message=f"{_short(commit)} is part of {branch} already, and the {event.event} event does not say which commit "
                    "the pull request is at",
                    hint="check the pull request out, or name its commit",
                )
            )
        parents = self._history.parents(commit)
        if not parents:
            raise ConfigError(
                Problem(message=f"{_short(commit)} is the first commit: there is nothing to compare it with", hint="name the "
                        "baseline: `baseline: {ref: …}`, `{directory: …}` or `{outputs: …}`")
            )  # fmt: skip
        self._history.need(parents[0])
        self._notice("parent_as_baseline", f"{_short(commit)} is part of {branch} already: it is compared with its parent")
        return ResolvedArm(commit=parents[0], description=f"{_short(parents[0])} (parent of {_short(commit)})")

    def _default_branch(self) -> tuple[str, str]:
        event = self._event
        named = [f"origin/{event.default_branch}", event.default_branch] if event and event.default_branch else []
        for branch in (*named, *DEFAULT_BRANCHES):
            tip = self._history.known(branch)
            if tip is not None:
                return branch, tip
        if named:
            return named[0], self._history.find(named[1], field="baseline.ref")
        raise ConfigError(
            Problem(
                field="baseline.ref",
                message=f"there is no merge base: none of {', '.join(DEFAULT_BRANCHES)} is here",
                hint="name the branch or commit to compare with: `baseline: {ref: …}`",
            )
        )

    def _named(self, ref: str, *, field: str) -> ResolvedArm:
        commit = self._history.find(ref, field=field)
        return ResolvedArm(commit=commit, description=_short(commit) if commit.startswith(ref) else f"{_short(commit)} ({ref})")

    def _notice(self, code: str, message: str) -> None:
        self._notices.append(Notice(code=code, message=message))


def _short(commit: str) -> str:
    return commit[:7]


def _add_worktree(git: Git, worktree: Path, arm: ResolvedArm) -> tuple[Notice, ...]:
    git.ask("worktree", "prune")
    arguments = ("worktree", "add", "--quiet", "--detach", str(worktree), arm.commit)
    try:
        git.run(*arguments)
    except GitRefused as first:
        shutil.rmtree(worktree, ignore_errors=True)
        git.ask("worktree", "prune")
        try:
            git.run(*arguments, settings=WITHOUT_LFS)
        except GitRefused:
            raise NoVerdictError(f"{arm.description} could not be checked out: {first}") from first
    return tuple(_missing_parts(worktree, git, arm))


def _missing_parts(worktree: Path, git: Git, arm: ResolvedArm) -> Iterator[Notice]:
    if (worktree / ".gitmodules").exists():
        yield Notice(
            code="submodules", message=f"the submodules of {arm.description} are empty folders; fetch them with `setup:`"
        )
    attributes = worktree / ".gitattributes"
    if not attributes.is_file() or b"filter=lfs" not in attributes.read_bytes():
        return
    tree = Git(folder=worktree, environ=git.environ)
    pointers = (tree.ask("grep", "--files-with-matches", "--fixed-strings", "-e", LFS_POINTER) or "").splitlines()
    if pointers:
        yield Notice(
            code="lfs_pointers",
            message=f"{len(pointers)} files of {arm.description} are Git LFS pointers, {pointers[0]} first; "
            "fetch them with `setup: git lfs pull`",
        )


@contextmanager
def _owner_kept(git: Git) -> Iterator[None]:
    """Give what root leaves in .git to the folder's owner: on a self-hosted runner the next checkout could not remove it."""
    try:
        yield
    finally:
        owner = git.folder.stat()
        shared = git.ask("rev-parse", "--path-format=absolute", "--git-common-dir")
        if os.geteuid() == 0 and owner.st_uid != 0 and shared is not None:
            _give_to(owner, Path(shared))


def _give_to(owner: os.stat_result, folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):
            if path.lstat().st_uid == 0:
                os.lchown(path, owner.st_uid, owner.st_gid)

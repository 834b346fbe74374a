"""Builds small git repositories, as the commands of a user would."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ci_eval.targets.git import Git

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Repo:
    """A working copy."""

    path: Path

    def git(self, *arguments: str) -> str:
        finished = subprocess.run(["git", *arguments], cwd=self.path, env=ENVIRON, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        return finished.stdout.strip()

    def commit(self, text: str, *, file: str = "agent.py") -> str:
        """Write a file, commit it, give the id."""
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "HEAD")

    def commits(self, words: str, count: int) -> str:
        """Add many empty commits in one go, give the id of the last."""
        tree, last = self.git("rev-parse", "HEAD^{tree}"), self.git("rev-parse", "HEAD")
        for number in range(count):
            last = self.git("commit-tree", tree, "-p", last, "-m", f"{words} {number}")
        self.git("reset", "-q", "--hard", last)
        return last

    def door(self) -> Git:
        return Git(folder=self.path, environ={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


def new_repo(path: Path, *, branch: str = "main") -> Repo:
    path.mkdir(parents=True)
    repo = Repo(path)
    repo.git("init", "-q", "-b", branch)
    return repo


def clone(origin: Repo, path: Path, *, ref: str = "HEAD", depth: int | None = None) -> Repo:
    """Check out one ref as actions/checkout does: nothing of the repository but what that ref needs."""
    path.mkdir(parents=True)
    repo = Repo(path)
    repo.git("init", "-q", "-b", "main")
    repo.git("remote", "add", "origin", f"file://{origin.path}")
    how = [f"--depth={depth}"] if depth else []
    repo.git("fetch", "-q", "--no-tags", *how, "origin", ref)
    repo.git("checkout", "-q", "--detach", "FETCH_HEAD")
    return repo


@dataclass(frozen=True)
class PullRequest:
    """A base that moved on, a head, and their test merge."""

    origin: Repo
    fork_point: str
    base: str
    head: str
    merge: str


def pull_request(path: Path, *, base_commits: int = 2, head_commits: int = 2) -> PullRequest:
    origin = new_repo(path)
    origin.commit("first")
    fork_point = origin.commit("v1")
    origin.git("checkout", "-q", "-b", "feature")
    origin.commit("feature")
    head = origin.commits("more of the feature", head_commits - 1)
    origin.git("checkout", "-q", "main")
    origin.commit("landed", file="other.py")
    base = origin.commits("landed later", base_commits - 1)
    origin.git("checkout", "-q", "--detach", "main")
    origin.git("merge", "-q", "--no-ff", "-m", "test merge", "feature")
    merge = origin.git("rev-parse", "HEAD")
    origin.git("update-ref", "refs/pull/7/merge", merge)
    origin.git("checkout", "-q", "main")
    return PullRequest(origin=origin, fork_point=fork_point, base=base, head=head, merge=merge)

"""The commits of a clone, which may lack most of them.

In: names and ids. Out: ids of commits that are there, fetched if need be, or an error that says what to change.
A clone that holds its whole history is never made shallow. Source of the order: the GitHub page, section 4.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ci_eval.errors import ConfigError, NoVerdictError, Problem
from ci_eval.targets.git import Git, GitRefused

DEEPEN_BY = "--deepen=50"
FETCH_DEPTH_HINT = "let actions/checkout fetch the history: `with: {fetch-depth: 0}`"

_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"[^\s\x00-\x1f\x7f:?*\[\\+-][^\s\x00-\x1f\x7f:?*\[\\]*")
_RELATIVE = re.compile(r"[~^]|@\{")


class History:
    """Finds commits, and fetches those that are missing."""

    def __init__(self, git: Git, *, may_fetch: bool) -> None:
        self._git = git
        self._may_fetch = may_fetch
        self._refusal = "fetching is switched off"

    def head(self) -> str:
        """Return the id of HEAD."""
        head = self._git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if head is None:
            raise ConfigError(Problem(message="the repository has no commit yet", hint="commit the agent first"))
        return head

    def parents(self, commit: str) -> tuple[str, ...]:
        """Return the parents as the commit itself names them; a shallow clone need not have them."""
        header, _, _ = self._git.run("cat-file", "-p", commit).partition("\n\n")
        lines = [line.split(" ", 1) for line in header.splitlines()]
        return tuple(value for key, value in lines if key == "parent")

    def known(self, name: str) -> str | None:
        """Return the commit that a name means in this clone, if it is there."""
        return self._git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def find(self, ref: str, *, field: str) -> str:
        """Return the commit of a branch, tag or id, on either side; ConfigError when nobody knows it."""
        if not _REF.fullmatch(ref):
            raise ConfigError(
                Problem(field=field, message=f"{ref!r} is no name of a commit", hint="write a branch, a tag or an id")
            )
        if _FULL_ID.fullmatch(ref):
            self.need(ref)
            return ref
        found = self._known_on_either_side(ref)
        if found is None and not _RELATIVE.search(ref) and self._fetch(self._depth("--depth=1"), ref):
            found = self.known("FETCH_HEAD")
        if found is None and _RELATIVE.search(ref):
            found = next((commit for _ in self._deeper() if (commit := self._known_on_either_side(ref))), None)
        if found is None:
            raise ConfigError(
                Problem(
                    field=field,
                    message=f"there is no commit {ref} in this clone, and it could not be fetched: {self._refusal}",
                    hint="name a branch, a tag or a commit, or `merge-base`; or give a folder with `directory:`",
                )
            )
        return found

    def need(self, commit: str) -> None:
        """Make sure that a commit is there; NoVerdictError when it cannot be had."""
        if not self.has(commit):
            raise NoVerdictError(
                f"commit {commit} is not in this clone and could not be fetched: {self._refusal}", hint=FETCH_DEPTH_HINT
            )

    def has(self, commit: str) -> bool:
        """Say whether a commit is there, after trying to fetch it."""
        if self._is_present(commit) or (self._fetch(self._depth("--depth=1"), commit) and self._is_present(commit)):
            return True
        return any(self._is_present(commit) for _ in self._deeper())

    def merge_base(self, one: str, other: str) -> str:
        """Return the best common ancestor, which in a shallow clone can be hidden behind a worse one."""
        self.need(one)
        self.need(other)
        base = self._git.ask("merge-base", one, other)
        if base is not None and self._is_certain(base, one, other):
            return base
        for _ in self._deeper(one, other):
            base = self._git.ask("merge-base", one, other)
            if base is not None and self._is_certain(base, one, other):
                return base
        if self._is_shallow():
            raise NoVerdictError(
                f"the merge base of {one[:7]} and {other[:7]} is not in this clone, and its history could not be fetched: "
                f"{self._refusal}",
                hint=FETCH_DEPTH_HINT,
            )
        raise ConfigError(
            Problem(message=f"{one[:7]} and {other[:7]} have no common history", hint="name the baseline: `baseline: {ref: …}`")
        )

    def _known_on_either_side(self, ref: str) -> str | None:
        remote = self._remote()
        return self.known(ref) or (self.known(f"{remote}/{ref}") if remote else None)

    def _is_present(self, commit: str) -> bool:
        return self._git.ask("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def _is_shallow(self) -> bool:
        return self._git.ask("rev-parse", "--is-shallow-repository") == "true"

    def _is_certain(self, base: str, one: str, other: str) -> bool:
        """True when nothing between the two commits and their base is cut off."""
        if not self._is_shallow():
            return True
        cut = (self._git.folder / self._git.run("rev-parse", "--git-path", "shallow")).read_text(encoding="ascii").split()
        between = self._git.run("rev-list", one, other, "--not", base).splitlines()
        return set(cut).isdisjoint(between)

    def _deeper(self, *commits: str) -> Iterator[None]:
        """Go back in steps, and stop for a look after each; a commit that only this clone has cannot be asked for by id."""
        for option in (DEEPEN_BY, "--unshallow"):
            if self._is_shallow() and (self._fetch((option,), *commits) or (commits and self._fetch((option,)))):
                yield

    def _depth(self, option: str) -> tuple[str, ...]:
        """A depth is only for a clone that is shallow already: given to a whole one, it would cut that off."""
        return (option,) if self._is_shallow() else ()

    def _remote(self) -> str | None:
        remotes = (self._git.ask("remote") or "").split()
        return "origin" if "origin" in remotes else remotes[0] if len(remotes) == 1 else None

    def _fetch(self, options: tuple[str, ...], *wanted: str) -> bool:
        remote = self._remote()
        if not self._may_fetch:
            return False
        if remote is None:
            self._refusal = "the clone has no remote named origin"
            return False
        try:
            self._git.run("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", *options, remote, *wanted, with_access=True)
        except GitRefused as error:
            self._refusal = str(error)
            return False
        return True

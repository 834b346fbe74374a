"""One comment of ours on the pull request, created once and edited afterwards.

In: the text and who writes it. Out: where it stands, or why it was left alone.
Must not touch a comment that is not ours, and must not read facts from one: its first line says whose, which run, which commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ci_eval.clients.base import CodeHost, HostComment, HostError, HostTrouble

_MARKER = re.compile(
    r"<!-- ci-eval:report:v1 key=(?P<key>[A-Za-z0-9_.-]*) run=(?P<run>\d{1,19})\.(?P<attempt>\d{1,9}) head=(?P<head>[0-9a-f]*) -->"
)
_ACTIONS_BOT = "github-actions[bot]"


class RunStamp(NamedTuple):
    """Which workflow run wrote a comment; stamps compare by age."""

    run_id: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentDraft:
    """What one run has to say on a pull request."""

    number: int
    key: str
    """Evaluations with different keys have a comment each."""
    stamp: RunStamp
    head_sha: str | None
    """The commit that was evaluated."""
    body: str
    short_body: str
    """Written instead when the host finds the body too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentResult:
    """What became of the comment."""

    url: str | None
    skipped: str | None = None
    """Why the comment was left as it is; None when it was written."""
    surplus: int = 0
    """Further comments of ours that should go, and that the host did not remove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ours:
    """A comment that we wrote, for the same key."""

    comment: HostComment
    stamp: RunStamp
    head_sha: str


def write_comment(host: CodeHost, draft: CommentDraft) -> CommentResult:
    """Create the comment, or edit the one that is there; raises HostError when that is refused."""
    return _Writer(host=host, draft=draft, head_now=_head_now(host, draft)).write()


def marker(key: str, stamp: RunStamp, head_sha: str | None) -> str:
    """Return the first line, which is invisible on the page."""
    return f"<!-- ci-eval:report:v1 key={key} run={stamp.run_id}.{stamp.attempt} head={head_sha or ''} -->"


def _head_now(host: CodeHost, draft: CommentDraft) -> str | None:
    try:
        return host.pull_state(draft.number).head_sha
    except HostError:
        return draft.head_sha  # without the right to look, the event's word has to do


@dataclass(slots=True, kw_only=True)
class _Writer:
    host: CodeHost
    draft: CommentDraft
    head_now: str | None
    _login: str | None = field(default=None, init=False)

    def write(self) -> CommentResult:
        ours = self._list_ours()
        reason = self._reason_to_skip(ours)
        if reason is not None:
            return CommentResult(url=ours[0].comment.url, skipped=reason)
        if ours:
            try:
                written = self._edit(ours[0].comment)
            except HostError as error:
                if error.trouble is not HostTrouble.NOT_FOUND:
                    raise
            else:
                return CommentResult(url=written.url, surplus=self._delete(ours[1:]))
        return self._settle(self._create())

    def _settle(self, created: HostComment) -> CommentResult:
        """Another run may have created one at the same moment: the oldest stays, with the newest text."""
        ours = self._list_ours()
        oldest = ours[0].comment if ours else created
        if oldest.id == created.id:
            surplus = self._delete([one for one in ours[1:] if one.stamp <= self.draft.stamp])
            return CommentResult(url=created.url, surplus=surplus)
        reason = self._reason_to_skip([one for one in ours if one.comment.id != created.id])
        kept = oldest if reason is not None else self._edit(oldest)
        return CommentResult(url=kept.url, skipped=reason, surplus=self._delete_one(created))

    def _reason_to_skip(self, ours: list[_Ours]) -> str | None:
        if any(one.stamp > self.draft.stamp for one in ours):
            return "a newer run has reported already"
        if self._head_moved and any(one.head_sha == self.head_now for one in ours):
            return "the pull request has moved on, and its newer commit is reported already"
        return None

    @property
    def _head_moved(self) -> bool:
        return self.draft.head_sha is not None and self.head_now != self.draft.head_sha

    def _create(self) -> HostComment:
        """Create the comment; after a lost answer look whether it is there before trying once more."""
        try:
            return self._create_once()
        except HostError as error:
            if error.trouble is not HostTrouble.LOST:
                raise
        mine = [one.comment for one in self._list_ours() if one.stamp == self.draft.stamp]
        return mine[0] if mine else self._create_once()

    def _create_once(self) -> HostComment:
        return self._shrinking(lambda text: self.host.create_comment(self.draft.number, text))

    def _edit(self, comment: HostComment) -> HostComment:
        return self._shrinking(lambda text: self.host.update_comment(self.draft.number, comment.id, text))

    def _delete(self, surplus: list[_Ours]) -> int:
        """Remove comments; return how many are still there. The report stands by now, so a refusal is no failure."""
        return sum(self._delete_one(one.comment) for one in surplus)

    def _delete_one(self, comment: HostComment) -> int:
        try:
            self.host.delete_comment(self.draft.number, comment.id)
        except HostError:
            return 1
        return 0

    def _shrinking(self, write: Callable[[str], HostComment]) -> HostComment:
        try:
            return write(self._text(self.draft.body))
        except HostError as error:
            if error.status != 422:
                raise
            return write(self._text(self.draft.short_body))

    def _text(self, body: str) -> str:
        first = marker(self.draft.key, self.draft.stamp, self.draft.head_sha)
        if not self._head_moved:
            return f"{first}\n{body}"
        evaluated, now = (self.draft.head_sha or "")[:10], (self.head_now or "")[:10]
        note = f"> This report is about commit `{evaluated}`; the pull request has moved on to `{now}` since."
        return f"{first}\n{note}\n\n{body}"

    def _list_ours(self) -> list[_Ours]:
        """Return our comments for this key, oldest first."""
        found: list[_Ours] = []
        for comment in self.host.list_comments(self.draft.number):
            match = _MARKER.match(comment.body)
            if match is None or match["key"] != self.draft.key or comment.hidden or not self._is_by_us(comment):
                continue
            stamp = RunStamp(int(match["run"]), int(match["attempt"]))
            found.append(_Ours(comment=comment, stamp=stamp, head_sha=match["head"]))
        return sorted(found, key=lambda one: one.comment.id)

    def _is_by_us(self, comment: HostComment) -> bool:
        if comment.by_bot and comment.author == _ACTIONS_BOT:
            return True
        if self._login is None:
            try:
                self._login = self.host.viewer()
            except HostError:
                self._login = ""  # an unknown account is never ours
        return comment.author != "" and comment.author == self._login

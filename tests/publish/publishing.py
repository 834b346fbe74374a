"""A pull request on the fake GitHub, and a report to publish there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval.clients.github_client import GitHubHost, Patience
from ci_eval.domain.comparison import Outcome
from ci_eval.domain.report import Annotation, Report
from ci_eval.publish.context import PullContext, read_context
from ci_eval.publish.publish import Publication, publish
from ci_eval.publish.settings import PublishSettings
from tests.fakes.fake_github import FakeGitHub

HEAD, BASE, MERGE, NEWER = "a" * 40, "b" * 40, "c" * 40, "d" * 40
REPO = "octo/agent"
BOT = "github-actions[bot]"


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def host_of(gh: FakeGitHub, clock: Clock | None = None, **given: str) -> GitHubHost:
    clock = clock or Clock()
    patience = Patience(seconds_between_requests=None, seconds_between_writes=None, sleep=clock.sleep, clock=lambda: clock.now)
    return GitHubHost(**{"api_url": gh.url, "token": gh.token, "repository": gh.repo, **given}, patience=patience)


def report_of(outcome: Outcome = Outcome.PASS, *, comment: str = "The report.", annotations: int = 0) -> Report:
    headline = {
        Outcome.PASS: "No regression found.",
        Outcome.WARN: "No verdict against merging, but look at this.",
        Outcome.BLOCK: "Regression: merging is blocked.",
        Outcome.INCOMPLETE: "Evaluation incomplete: no verdict.",
    }[outcome]
    return Report(
        outcome=outcome,
        headline=headline,
        comment=comment,
        summary="The long report.",
        check_title=headline,
        check_summary="The check's report.",
        check_text="Details.",
        annotations=tuple(
            Annotation(path="evals/data.jsonl", line=n, level="failure", title=f"row-{n} broke", message="reason " * 20)
            for n in range(1, annotations + 1)
        ),
        comparison_json=json.dumps({"metrics": [{"class": "regressed"}, {"class": "no_difference"}, {"class": "regressed"}]}),
    )


def pull_event(*, head: str = HEAD, head_repo: str | None = REPO) -> dict[str, object]:
    return {
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": {"sha": head, "ref": "feature", "repo": {"full_name": head_repo} if head_repo else None},
            "base": {"sha": BASE, "ref": "main", "repo": {"full_name": REPO}},
        },
    }


def environ_of(folder: Path | None = None, **given: str) -> dict[str, str]:
    environ = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_REPOSITORY": REPO,
        "GITHUB_SHA": MERGE,
        "GITHUB_RUN_ID": "42",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_ACTOR": "dev",
        "GITHUB_SERVER_URL": "https://github.com",
    }
    if folder is not None:
        environ |= {
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_WORKSPACE": str(folder),
        }
    return environ | given


def context_of(folder: Path | None = None, event: Mapping[str, object] | None = None, **given: str) -> PullContext:
    context = read_context(environ_of(folder, **given), pull_event() if event is None else event)
    assert context is not None
    return context


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A pull request with a workflow run on it."""

    gh: FakeGitHub
    folder: Path
    clock: Clock

    def publish(
        self,
        report: Report | None = None,
        *,
        run: int = 42,
        attempt: int = 1,
        head: str = HEAD,
        settings: PublishSettings | None = None,
        head_repo: str | None = REPO,
    ) -> Publication:
        context = context_of(self.folder, pull_event(head=head, head_repo=head_repo))
        return publish(
            report or report_of(),
            replace(context, run_id=run, run_attempt=attempt),
            settings or PublishSettings(),
            host_of(self.gh, self.clock),
            report_dir=self.folder / "ci-eval-out",
        )

    @property
    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.gh.comments.values()]

    @property
    def own_bodies(self) -> list[str]:
        return [comment["body"] for comment in self.gh.comments.values() if "ci-eval:report:v1" in comment["body"]]

    @property
    def asked(self) -> list[str]:
        return [f"{entry['method']} {entry['path'].removeprefix(f'/repos/{REPO}')}" for entry in self.gh.log]

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text(encoding="utf-8")


@contextmanager
def scene_of(folder: Path, **given: str) -> Iterator[Scene]:
    with FakeGitHub(repo=REPO, **given) as gh:
        gh.add_pull(7, head_sha=HEAD, base_sha=BASE)
        yield Scene(gh=gh, folder=folder, clock=Clock())
        assert not gh.violations

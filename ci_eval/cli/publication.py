"""Publishing, as far as the command line decides about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from pydantic import ValidationError

from ci_eval.cli.world import World
from ci_eval.clients.base import CodeHost
from ci_eval.domain.comparison import Outcome
from ci_eval.domain.report import Report
from ci_eval.errors import ConfigError, ExitCode, Problem
from ci_eval.publish.context import PullContext, load_event, read_context
from ci_eval.publish.plan import exit_code
from ci_eval.publish.publish import publish
from ci_eval.publish.settings import CHECK_NAME, IncompleteConclusion, PublishSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishChoice:
    """What the options say."""

    wanted: bool
    comment: bool
    check: bool
    check_name: str | None
    key: str
    incomplete: IncompleteConclusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Ready to publish, whatever the report turns out to be."""

    world: World
    context: PullContext
    settings: PublishSettings
    report_dir: Path

    def exit_code(self, outcome: Outcome) -> ExitCode:
        """Return how the process ends, so that the step and the check say the same."""
        return exit_code(outcome, self.settings)

    def publish(self, report: Report, *, code: ExitCode) -> bool:
        """Publish; True when the report reached every place."""
        paths = [self.world.workspace_path(note.path) for note in report.annotations]
        notes = zip(report.annotations, paths, strict=True)
        located = replace(report, annotations=tuple(replace(note, path=path) for note, path in notes if _is_inside(path)))
        publication = publish(
            located, self.context, self._settings(code), self._host(), report_dir=self.report_dir.absolute(), exit_code=code
        )
        return publication.complete

    def _settings(self, code: ExitCode) -> PublishSettings:
        """`neutral` is for services out of reach: it must not let a broken configuration pass a required check."""
        if code in (ExitCode.INPUT, ExitCode.BUG) and self.settings.incomplete == "neutral":
            return self.settings.model_copy(update={"incomplete": "failure"})
        return self.settings

    def _host(self) -> CodeHost | None:
        """Open the door to GitHub; None without a token or a repository."""
        from ci_eval.clients.github_client import GitHubHost

        token = self.world.environ.get("GITHUB_TOKEN")
        if not token or self.context.repository is None:
            return None
        return GitHubHost(
            api_url=self.context.api_url,
            token=token,
            repository=self.context.repository,
            ca_bundle=self.world.environ.get("REQUESTS_CA_BUNDLE") or None,
        )


def _is_inside(path: str) -> bool:
    """True for a path within the checkout; one outside of it was left as it was by `workspace_path`."""
    return not PurePath(path).is_absolute() and PurePath(path).parts[:1] not in ((), ("..",))


def open_publisher(world: World, choice: PublishChoice, output: Path) -> Publisher | None:
    """Check everything that publishing needs before anything runs; None when it was not asked for."""
    if not choice.wanted:
        return None
    context = read_context(world.environ, load_event(world.event_path))
    if context is None:
        message = "there is nothing to publish to: this is no GitHub Actions job"
        raise ConfigError(Problem(code="no_actions", field="--publish", message=message, hint="leave --publish out at home"))
    try:
        settings = PublishSettings(
            comment=choice.comment,
            check=choice.check,
            check_name=choice.check_name or CHECK_NAME,
            key=choice.key,
            incomplete=choice.incomplete,
        )
    except ValidationError as error:
        raise ConfigError(
            Problem(code="publish", field=f"--{str(detail['loc'][0]).replace('_', '-')}", message=str(detail["msg"]))
            for detail in error.errors(include_url=False)
        ) from error
    return Publisher(world=world, context=context, settings=settings, report_dir=output)

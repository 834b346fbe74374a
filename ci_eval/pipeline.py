"""The story, one call per stage.

ci-eval.yaml -> cases -> arms -> run files -> comparison -> verdict -> report. Publishing is the caller's last step.
In: a Job. Out: a Finished evaluation, or a CiEvalError. No branching on kinds, no formatting, no network.
"""

from __future__ import annotations

import datetime
import logging
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from ci_eval import __version__
from ci_eval.arms import OpenArm, Surroundings, describe_arm, open_arms, open_function, read_cases
from ci_eval.compare.compare import CompareSettings, compare_runs
from ci_eval.compare.gate import apply_gate
from ci_eval.config.load import LoadedConfig
from ci_eval.config.schema import EvalConfig
from ci_eval.dataset.load import Loaded, dataset_digest
from ci_eval.domain.case import Case
from ci_eval.domain.comparison import Comparison, Verdict
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.report import Report
from ci_eval.domain.results import ARMS, Arm, RunHeader, RunResult
from ci_eval.errors import ConfigError
from ci_eval.evaluators.base import Evaluator, EvaluatorContext, EvaluatorSpec
from ci_eval.log import Redactor, secrets_in
from ci_eval.messages.readers import READERS
from ci_eval.report.render import clear_folder, render_report, write_report
from ci_eval.report.settings import ReportSettings
from ci_eval.run.engine import ArmRun, Work, evaluate
from ci_eval.run.redaction import redacted_value
from ci_eval.run.store import RunWriter, read_run
from ci_eval.targets.checkout import EventCommits

log = logging.getLogger(__name__)


Clock: TypeAlias = Callable[[], datetime.datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonJob:
    """Two runs to compare, and what the verdict depends on."""

    folder: Path
    """Where the report is written."""
    now: Clock
    compare: CompareSettings
    report: ReportSettings

    @classmethod
    def of(
        cls,
        config: EvalConfig | None,
        *,
        folder: Path,
        now: Clock,
        environ: Mapping[str, str],
    ) -> ComparisonJob:
        """Take the settings of a configuration, or the defaults without one; no secret of the environment gets into the report."""
        redact = Redactor(secrets_in(environ))
        compare = CompareSettings()
        configured: dict[str, object] = {"gate": compare.gate.model_dump(mode="json"), "interval_level": compare.interval_level}
        title = "Agent evaluation"
        if config is not None:
            compare = CompareSettings(gate=config.gate, metrics=config.metrics, interval_level=config.interval_level)
            configured = config.model_dump(mode="json", by_alias=True)
            title = config.title
        report = ReportSettings(
            title=redact(title),
            configuration={key: redacted_value(value, redact) for key, value in configured.items()},
        )
        return cls(folder=folder, now=now, compare=compare, report=report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One evaluation to do, and the world it happens in."""

    loaded: LoadedConfig
    folder: Path
    """Where everything is written."""
    environ: Mapping[str, str] = field(repr=False)
    event: EventCommits | None
    """The commits of the GitHub event; None at home."""
    now: Clock
    repeat_command: str | None = None
    """Without secrets: the report prints it."""
    report_url: str | None = None

    def run_file(self, arm: Arm) -> Path:
        """Where the arm's records go."""
        return self.folder / f"{arm}.jsonl"

    def comparison(self) -> ComparisonJob:
        """The second half of the job."""
        job = ComparisonJob.of(self.loaded.config, folder=self.folder, now=self.now, environ=self.environ)
        report = replace(job.report, repeat_command=self.repeat_command, report_url=self.report_url)
        return replace(job, report=report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A complete evaluation."""

    comparison: Comparison
    verdict: Verdict
    report: Report
    settings: ReportSettings


def run(job: Job) -> Finished:
    """Run both arms, compare them, write the report: the main job."""
    clear_folder(job.folder)
    baseline, candidate = evaluate_arms(job, ("baseline", "candidate"))
    return conclude(job.comparison(), baseline, candidate)


def score_arm(job: Job, arm: Arm) -> RunResult:
    """Run and score one arm."""
    (result,) = evaluate_arms(job, (arm,))
    return result


def compare_files(job: ComparisonJob, baseline: Path, candidate: Path) -> Finished:
    """Compare two run files."""
    return conclude(job, read_run(baseline, shown=str(baseline)), read_run(candidate, shown=str(candidate)))


def conclude(job: ComparisonJob, baseline: RunResult, candidate: RunResult) -> Finished:
    """Compare, decide, report; the report's files are written."""
    comparison = compare_runs(baseline, candidate, job.compare)
    verdict = apply_gate(comparison, job.compare.gate, job.compare.metrics, today=job.now().date())
    report = render_report(comparison, verdict, job.report)
    write_report(report, job.folder)
    return Finished(comparison=comparison, verdict=verdict, report=report, settings=job.report)


def evaluate_arms(job: Job, arms: Sequence[Arm]) -> list[RunResult]:
    """Run and score the arms on the configured dataset; each one's run file stays in the job's folder."""
    stored = {arm: _stored_run(job, arm) for arm in arms}
    wanted = [arm for arm in arms if stored[arm] is None]
    if wanted:
        cases = read_cases(job.loaded)
        evaluators = build_evaluators(job, cases.items)
        with ExitStack() as stack:
            around = Surroundings(environ=job.environ, event=job.event, folder=job.folder)
            opened = open_arms(job.loaded, wanted, cases.items, around, stack)
            write_runs(job, cases, opened, evaluators, stack)
    return [stored[arm] or read_run(job.run_file(arm), shown=str(job.run_file(arm))) for arm in arms]


def _stored_run(job: Job, arm: Arm) -> RunResult | None:
    """Read the run file that an arm names; None when the arm has to be run."""
    name = getattr(job.loaded.config, arm).run
    if name is None:
        return None
    path = job.loaded.folder / name
    return read_run(path, shown=path.as_posix())


def check_evaluators(loaded: LoadedConfig, cases: Sequence[Case]) -> list[EvaluatorSpec]:
    """Return the evaluators' settings; ConfigError for one that could not score a single case."""
    useless = [(i, why) for i, spec in enumerate(loaded.config.evaluators) if (why := spec.unusable(cases))]
    if useless:
        raise ConfigError(loaded.pointer.problem(("evaluators", index), why, code="unusable_evaluator") for index, why in useless)
    return list(loaded.config.evaluators)


def build_evaluators(job: Job, cases: Sequence[Case]) -> list[Evaluator]:
    """Make the evaluators."""
    loaded = job.loaded
    specs = check_evaluators(loaded, cases)
    for spec in specs:
        for warning in spec.warnings():
            log.warning("%s: %s", spec.metric_name, warning)
    context = EvaluatorContext(
        readers=READERS,
        workspace=loaded.folder,
        environ=job.environ,
        open_function=lambda function: open_function(loaded, job.environ, function),
    )
    return [spec.build(context) for spec in specs]


def write_runs(
    job: Job, cases: Loaded[Case], opened: Sequence[OpenArm], evaluators: Sequence[Evaluator], stack: ExitStack
) -> None:
    """Ask every arm every case and append the records to its run file as they come."""
    redact = Redactor(secrets_in(job.environ))
    runs = []
    for arm in opened:
        header = _header(job, arm, cases, evaluators)
        writer = stack.enter_context(RunWriter(job.run_file(arm.arm), header, redact=redact))
        runs.append(ArmRun(arm=arm.arm, ask=arm.ask, add=writer.add, close=arm.close))
        log.info("%s: %s", arm.arm, arm.source.description)
    config = job.loaded.config
    work = Work(cases=cases.items, arms=runs, evaluators=evaluators, trials=config.trials, concurrency=config.concurrency)
    evaluate(work, lambda arm, record: log.debug("%s %s: %s", arm, record.case_id, record.status))


def _header(job: Job, arm: OpenArm, cases: Loaded[Case], evaluators: Sequence[Evaluator]) -> RunHeader:
    config = job.loaded.config
    return RunHeader(
        arm=arm.arm,
        source=arm.source,
        dataset=config.dataset.path,
        dataset_digest=dataset_digest(cases.items),
        cases=len(cases.items),
        trials=config.trials,
        metrics=tuple(metric for evaluator in evaluators for metric in evaluator.metrics),
        started=job.now().isoformat(timespec="seconds").replace("+00:00", "Z"),
        version=__version__,
        config_digest=job.loaded.digest,
        repeatable=arm.repeatable,
        environment={"python": platform.python_version(), "platform": platform.system().lower()},
        notices=merge_notices([*cases.notices, *arm.notices]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a look at configuration and data found, nothing having been run."""

    cases: int
    evaluators: Sequence[EvaluatorSpec]
    arms: Mapping[Arm, str]
    """What each arm is, in words."""
    notices: Sequence[Notice]


def check(job: Job) -> Checked:
    """Read everything that can be read without asking git or the agent."""
    cases = read_cases(job.loaded)
    specs = check_evaluators(job.loaded, cases.items)
    described = {arm: describe_arm(job.loaded, arm, cases.items) for arm in ARMS}
    return Checked(
        cases=len(cases.items),
        evaluators=specs,
        arms={arm: words for arm, (words, _) in described.items()},
        notices=merge_notices([*cases.notices, *(notice for _, found in described.values() for notice in found)]),
    )

"""The two arms, made ready: checkouts, recorded outputs, targets.

In: a checked configuration and its cases. Out: an OpenArm for each arm, closed with the ExitStack that was handed in.
This is where rooms that don't know each other meet: dataset rows become replies, replies become samples.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ci_eval.config.load import LoadedConfig
from ci_eval.config.schema import ArmSpec
from ci_eval.dataset.load import Loaded, RecordedRow, load_cases, load_outputs
from ci_eval.domain.case import Case
from ci_eval.domain.functions import RemoteFunction
from ci_eval.domain.notice import Notice, merge_notices
from ci_eval.domain.results import Arm, ArmSource
from ci_eval.domain.sample import Sample
from ci_eval.errors import ConfigError, DataError, Problem
from ci_eval.messages.readers import READERS
from ci_eval.targets.base import Checkout, Target, TargetContext
from ci_eval.targets.checkout import EventCommits, FolderMissing, ResolvedArm, open_checkout, open_directory, resolve_commits
from ci_eval.targets.environment import child_environment
from ci_eval.targets.git import FetchAccess, Git
from ci_eval.targets.recorded import RecordedTarget
from ci_eval.targets.worker_pool import FunctionSettings, WorkerPool

_WELL_KNOWN: Mapping[str, str] = {
    "merge-base": "merge-base: the commit that the change starts from",
    "head": "head: the change itself; at home the working tree, uncommitted changes included",
}
"""The names that mean the pair of the event, for people."""
FUNCTION_TIMEOUT_S = 120.0
"""For one call of a user's own evaluator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenArm:
    """One arm, ready to be asked."""

    arm: Arm
    source: ArmSource
    repeatable: bool
    """True when the agent runs; recorded outputs give the same answer for ever."""
    ask: Callable[[Case, int], Awaitable[Sample]]
    close: Callable[[], Awaitable[None]]
    notices: tuple[Notice, ...] = ()


def read_cases(loaded: LoadedConfig) -> Loaded[Case]:
    """Read the dataset; DataError for a broken one, or when nothing is left to evaluate."""
    spec = loaded.config.dataset
    path = loaded.folder / spec.path
    cases = load_cases(
        path, shown=path.as_posix(), readers=READERS, mapping=spec.mapping, on_bad_row=spec.on_bad_row, format=spec.format
    )
    chosen = tuple(case for case in cases.items if not spec.tags or set(spec.tags) & set(case.tags))[: spec.limit]
    if not chosen:
        message = f"none of the {len(cases.items)} cases has one of the tags {', '.join(spec.tags)}"
        raise DataError(Problem(code="no_cases", file=spec.path, field="dataset.tags", message=message))
    return replace(cases, items=chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What opening an arm needs to know besides the configuration."""

    environ: Mapping[str, str]
    event: EventCommits | None
    folder: Path
    """Where set-up logs go."""
    setup_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """The arms' set-up commands take turns."""


def open_arms(
    loaded: LoadedConfig, arms: Sequence[Arm], cases: Sequence[Case], around: Surroundings, stack: ExitStack
) -> tuple[OpenArm, ...]:
    """Make the arms ready; nothing of the agent is started before the first question."""
    specs: dict[Arm, ArmSpec] = {arm: getattr(loaded.config, arm) for arm in arms}
    folder = loaded.folder.resolve()
    git = Git(folder=folder, environ=around.environ, access=_fetch_access(around.environ))
    refs = {arm: spec.ref for arm, spec in specs.items() if spec.ref is not None}
    pair = (
        resolve_commits(git, baseline=refs.get("baseline"), candidate=refs.get("candidate"), event=around.event) if refs else None
    )
    notices = pair.notices if pair is not None else ()
    opened = []
    for arm, spec in specs.items():
        resolved = None if pair is None else pair.baseline if arm == "baseline" else pair.candidate
        if spec.outputs is not None:
            opened.append(_recorded_arm(loaded, arm, spec.outputs, cases))
        elif spec.directory is not None:
            checkout = open_directory(folder, spec.directory, field=f"{arm}.directory")
            opened.append(_running_arm(loaded, arm, checkout, around, ()))
        elif resolved is not None:
            try:
                checkout = _worktree(git, arm, resolved, stack)
            except FolderMissing as missing:
                if arm == "candidate":
                    raise
                opened.append(_absent_baseline(resolved, missing, notices))
            else:
                opened.append(_running_arm(loaded, arm, checkout, around, notices))
            notices = ()  # told once
    return tuple(opened)


def _fetch_access(environ: Mapping[str, str]) -> FetchAccess | None:
    token = environ.get("GITHUB_TOKEN")
    return FetchAccess(server_url=environ.get("GITHUB_SERVER_URL") or "https://github.com", token=token) if token else None


def _worktree(git: Git, arm: Arm, resolved: ResolvedArm, stack: ExitStack) -> Checkout:
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True)))
    return stack.enter_context(open_checkout(git, resolved, name=arm, scratch=scratch))


def _absent_baseline(resolved: ResolvedArm, missing: FolderMissing, notices: tuple[Notice, ...]) -> OpenArm:
    """Stand in for an agent that did not exist yet: every case is new, and the gate says what that means (`on_no_baseline`)."""
    target = RecordedTarget({})
    return OpenArm(
        arm="baseline",
        source=ArmSource(kind="commit", description=missing.message, commit=resolved.commit),
        repeatable=False,
        ask=_asker(target),
        close=target.close,
        notices=(*notices, Notice(code="no_baseline", message=f"{missing.message}: the agent did not exist yet")),
    )


def _running_arm(
    loaded: LoadedConfig, arm: Arm, checkout: Checkout, around: Surroundings, notices: tuple[Notice, ...]
) -> OpenArm:
    config = loaded.config
    if config.target is None:
        raise ConfigError(loaded.pointer.problem((arm,), f"the {arm} has to be run, but there is no `target:`", code="no_target"))
    context = TargetContext(
        checkout=checkout,
        environ=dict(around.environ),
        concurrency=config.concurrency,
        setup_log=around.folder / f"{arm}-setup.log" if getattr(config.target, "setup", None) else None,
        setup_turn=around.setup_turn,
    )
    target = config.target.open(context)
    return OpenArm(
        arm=arm,
        source=_source_of(checkout),
        repeatable=True,
        ask=_asker(target),
        close=target.close,
        notices=(*notices, *checkout.notices),
    )


def _source_of(checkout: Checkout) -> ArmSource:
    kind: Literal["commit", "directory"] = "directory" if checkout.commit is None else "commit"
    return ArmSource(kind=kind, description=checkout.description, commit=checkout.commit)


def _asker(target: Target) -> Callable[[Case, int], Awaitable[Sample]]:
    """Ask, read the reply, and trust our own clock more than the agent's."""

    async def ask(case: Case, trial: int) -> Sample:
        reply = await target.answer(case, trial)
        if isinstance(reply.value, Sample):
            return reply.value
        sample = READERS.reply(case, reply.value)
        return sample if reply.latency_s is None else replace(sample, latency_s=reply.latency_s)

    return ask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """The recorded outputs of one arm, joined to the cases."""

    samples: Mapping[tuple[str, int], Sample]
    notices: tuple[Notice, ...]
    """What is odd about the file; what is odd about an answer stands in its sample."""


def _recorded(loaded: LoadedConfig, arm: Arm, outputs: str, cases: Sequence[Case]) -> _Recorded:
    path = loaded.folder / outputs
    rows = load_outputs(path, shown=path.as_posix(), readers=READERS)
    by_id = {case.id: case for case in cases}
    samples = {
        (row.id, trial): READERS.reply(by_id[row.id], row.value) for row, trial in _renumbered(rows.items) if row.id in by_id
    }
    if not samples:
        raise DataError(_nothing_in_common(arm, path.as_posix(), rows, cases))
    notices = [*rows.notices, *_join_notices(loaded.config.trials, arm, rows.items, by_id)]
    return _Recorded(samples=samples, notices=merge_notices(notices))


def _recorded_arm(loaded: LoadedConfig, arm: Arm, outputs: str, cases: Sequence[Case]) -> OpenArm:
    recorded = _recorded(loaded, arm, outputs, cases)
    target = RecordedTarget(recorded.samples)
    return OpenArm(
        arm=arm,
        source=ArmSource(kind="outputs", description=outputs),
        repeatable=False,
        ask=_asker(target),
        close=target.close,
        notices=recorded.notices,
    )


def _renumbered(rows: Sequence[RecordedRow]) -> list[tuple[RecordedRow, int]]:
    """Number each case's recorded trials from 0 in their own order: the file of one arm may hold "trial 1" alone."""
    counted: Counter[str] = Counter()
    numbered = []
    for row in sorted(rows, key=lambda row: row.trial):
        numbered.append((row, counted[row.id]))
        counted[row.id] += 1
    return numbered


def _join_notices(trials: int, arm: Arm, rows: Sequence[RecordedRow], cases: Mapping[str, Case]) -> Sequence[Notice]:
    """Tell of recorded rows that nobody asked for; they are left out, and not in silence."""
    notices = []
    strangers = [row for row in rows if row.id not in cases]
    if strangers:
        message = f"recorded outputs of the {arm} belong to no case of the dataset and are left out"
        notices.append(Notice(code="no_such_case", message=message, count=len(strangers), location=str(strangers[0].source)))
    beyond = [row for row, trial in _renumbered(rows) if row.id in cases and trial >= trials]
    if beyond:
        message = f"recorded outputs of the {arm} are further trials than `trials: {trials}` asks for; they are left out"
        notices.append(Notice(code="trial_beyond", message=message, count=len(beyond), location=str(beyond[0].source)))
    return notices


def _nothing_in_common(arm: Arm, outputs: str, rows: Loaded[RecordedRow], cases: Sequence[Case]) -> Problem:
    ours = ", ".join(case.id for case in cases[:3])
    theirs = ", ".join(row.id for row in rows.items[:3])
    hint = "give both files the same `id` column" + (
        "" if cases[0].id_is_given else "; without ids, rows are joined by their query"
    )
    return Problem(
        code="no_common_cases", file=outputs, field=f"{arm}.outputs",
        message=f"no recorded output belongs to a case: the dataset has {ours} …, the file has {theirs} …", hint=hint,
    )  # fmt: skip


def open_function(loaded: LoadedConfig, environ: Mapping[str, str], function: str) -> RemoteFunction:
    """Make a user's own evaluator callable: from the workspace, in a process of its own, without our tokens."""
    settings = FunctionSettings(
        function=function,
        folder=loaded.folder.resolve(),
        environment=child_environment(environ, names=getattr(loaded.config.target, "env", ())),
        size=min(4, loaded.config.concurrency),
        timeout_s=FUNCTION_TIMEOUT_S,
        start_timeout_s=FUNCTION_TIMEOUT_S,
    )
    return WorkerPool(settings)


def describe_arm(loaded: LoadedConfig, arm: Arm, cases: Sequence[Case]) -> tuple[str, tuple[Notice, ...]]:
    """Say what an arm is without running it; recorded outputs are read and joined."""
    spec: ArmSpec = getattr(loaded.config, arm)
    if spec.outputs is not None:
        recorded = _recorded(loaded, arm, spec.outputs, cases)
        answers = (notice for sample in recorded.samples.values() for notice in sample.notices)
        return f"recorded outputs in {spec.outputs}", merge_notices([*recorded.notices, *answers])
    if spec.directory is not None:
        return open_directory(loaded.folder.resolve(), spec.directory, field=f"{arm}.directory").description, ()
    if spec.run is not None:
        return f"run file {spec.run}", ()
    return _WELL_KNOWN.get(spec.ref or "", f"commit {spec.ref}"), ()

"""Builds arms to try targets on: a folder with an agent in it, a case, a context."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from ci_eval.domain.case import Case, Source
from ci_eval.domain.message import Message
from ci_eval.domain.readers import Reply
from ci_eval.targets.base import Checkout, TargetContext, TargetFailure, TargetSpec


def case(query: str | None = "Where is my parcel?", *, messages: tuple[Message, ...] = (), **fields: object) -> Case:
    return Case(
        id="parcel",
        query=query,
        messages=messages,
        fields=fields,
        tags=("smoke",),
        source=Source(file="cases.jsonl", line=1),
        fingerprint="0" * 64,
    )


def context(folder: Path, *, environ: Mapping[str, str] | None = None, concurrency: int = 1) -> TargetContext:
    return TargetContext(
        checkout=Checkout(path=folder, description="./agent"),
        environ=dict(os.environ if environ is None else environ),
        concurrency=concurrency,
        setup_log=folder.with_name("setup.log"),
    )


def agent(folder: Path, source: str, *, name: str = "agent.py") -> Path:
    """Write the agent's source and return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(source, encoding="utf-8")
    return folder


def answers(spec: TargetSpec, where: TargetContext, *cases: Case) -> list[Reply | TargetFailure]:
    """Ask for all cases at once, close, and give back what came, in order."""

    async def ask_all() -> list[Reply | TargetFailure]:
        target = spec.open(where)

        async def ask(one: Case) -> Reply | TargetFailure:
            try:
                return await target.answer(one, 0)
            except TargetFailure as failure:
                return failure

        try:
            return await asyncio.gather(*(ask(one) for one in cases))
        finally:
            await target.close()

    return asyncio.run(ask_all())


def answer(spec: TargetSpec, where: TargetContext, one: Case | None = None) -> object:
    """The value for one case; a failure is raised."""
    (reply,) = answers(spec, where, one or case())
    if isinstance(reply, TargetFailure):
        raise reply
    return reply.value


def failure(spec: TargetSpec, where: TargetContext, one: Case | None = None) -> TargetFailure:
    """The failure for one case."""
    (reply,) = answers(spec, where, one or case())
    assert isinstance(reply, TargetFailure), reply
    return reply


def is_running(pid: int) -> bool:
    """True for a process that lives; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rsplit(")", 1)[1].split()[0] not in ("Z", "X")

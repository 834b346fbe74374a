"""Imports point down only: the table of docs/architecture.md, held by reading the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "ci_eval"

STAGE = {"domain", "errors", "log"}
ALLOWED = {
    "domain": {"errors"},
    "clients": {"domain", "errors", "log"},
    "messages": {"domain", "errors"},
    "dataset": STAGE,
    "compare": STAGE,
    "report": STAGE,
    "targets": {*STAGE, "clients.base"},
    "evaluators": {*STAGE, "clients.base"},
    "publish": {*STAGE, "clients.base"},
    "run": {*STAGE, "targets.base", "evaluators.base", "clients.base", "messages"},
    "config": {*STAGE, "targets.catalog", "evaluators.base", "evaluators.catalog", "compare.spec"},
    "arms": {*STAGE, "config", "run", "dataset", "messages", "targets"},
    "pipeline": {*STAGE, "arms", "config", "run", "dataset", "messages", "targets", "evaluators", "compare", "report"},
    "cli": {*STAGE, "pipeline", "config", "clients", "publish", "report", "targets.checkout"},
    "action": {"cli", "errors", "log"},
    "errors": set(),
    "log": set(),
    "__init__": {"domain"},
    "__main__": {"cli"},
}
ONE_DOOR = {
    "github": {"clients/github_client.py"},
    "openai": {"clients/openai_client.py"},
    "jinja2": {"report/templates.py"},
    "markdown_it": {"report/html.py"},
    "rich": {"report/terminal.py", "report/terminal_run.py"},
    "yaml": {"config/yaml_source.py"},
}


def modules() -> Iterator[Path]:
    yield from sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_lies_below_it(path: Path) -> None:
    room = room_of(path)
    allowed = {room, *ALLOWED[room]}
    for name in imported(path):
        if not name.startswith("ci_eval.") or name == "ci_eval.__version__":
            continue
        inner = name.removeprefix("ci_eval.")
        fits = any(inner == one or inner.startswith(one + ".") or one.startswith(inner + ".") for one in allowed)
        assert fits, f"{path.relative_to(PACKAGE)} imports {name}; {room} may import {sorted(allowed)}"


@pytest.mark.parametrize(("package", "doors"), ONE_DOOR.items(), ids=ONE_DOOR)
def test_every_sdk_has_one_door(package: str, doors: set[str]) -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        for name in imported(path)
        if name == package or name.startswith(package + ".")
    }
    assert users <= doors


def test_a_room_has_no_code_in_its_door() -> None:
    for door in PACKAGE.glob("*/__init__.py"):
        body = ast.parse(door.read_text(encoding="utf-8")).body
        assert len(body) == 1, f"{door.relative_to(PACKAGE)} holds more than its docstring"

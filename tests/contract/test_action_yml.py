"""action.yml declares what the code reads and writes, and nothing else."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci_eval.action import ActionInputs, arguments_of, read_inputs
from ci_eval.publish.outputs import OUTPUT_NAMES

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def as_the_runner_does(**given: str) -> dict[str, str]:
    defaults = {name: spec["default"].replace("${{ github.token }}", "ghs_token") for name, spec in ACTION["inputs"].items()}
    return {f"INPUT_{name.upper()}": value for name, value in (defaults | given).items()}


def test_every_declared_input_is_read_and_every_read_input_is_declared() -> None:
    assert [field.name.replace("_", "-") for field in fields(ActionInputs)] == list(ACTION["inputs"])


def test_every_declared_output_is_written_and_every_written_output_is_declared() -> None:
    assert list(OUTPUT_NAMES) == list(ACTION["outputs"])


def test_the_declared_defaults_are_those_of_the_code() -> None:
    assert read_inputs(as_the_runner_does()) == read_inputs({"INPUT_GITHUB-TOKEN": "ghs_token"})
    assert arguments_of(read_inputs({})) == ["run", "-c", "ci-eval.yaml", "-o", "ci-eval-out", "--publish"]


@pytest.mark.parametrize("name", ACTION["inputs"])
def test_an_input_is_documented_and_has_a_default_that_is_text(name: str) -> None:
    spec = ACTION["inputs"][name]
    assert spec["description"].endswith(".")
    assert isinstance(spec["default"], str)
    assert spec["required"] is False


def test_an_output_is_documented_and_has_no_value() -> None:
    assert all(list(spec) == ["description"] for spec in ACTION["outputs"].values())


def test_the_container_is_started_without_arguments_or_github_expressions() -> None:
    assert ACTION["runs"] == {"using": "docker", "image": "Dockerfile"}


def test_the_entrypoint_ignores_the_workspace_and_needs_no_shell() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("ENTRYPOINT")] == [
        'ENTRYPOINT ["/opt/ci-eval/bin/python", "-I", "-u", "-m", "ci_eval.action"]'
    ]
    assert not [line for line in lines if line.startswith(("USER", "CMD"))]


@pytest.mark.skipif("## Action inputs" not in README, reason="the README has no table of inputs yet")
def test_the_readme_lists_the_same_inputs_and_outputs() -> None:
    section = README.split("## Action inputs")[1]
    rows = re.findall(r"(?m)^\| `([a-z-]+)` \|", section)
    assert rows == [*ACTION["inputs"], *ACTION["outputs"]]

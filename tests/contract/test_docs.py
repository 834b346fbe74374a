"""The documents for users name every setting there is, and show nothing that would not be accepted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from ci_eval.compare.spec import GateSpec, MetricSpec
from ci_eval.config.schema import ArmSpec, DatasetSpec, EvalConfig, ReportSpec
from ci_eval.evaluators.catalog import SPECS
from ci_eval.targets.command import CommandSpec
from ci_eval.targets.python_function import PythonFunctionSpec

ROOT = Path(__file__).parents[2]
DOCS = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
EVALUATORS = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")

SECTIONS = (EvalConfig, DatasetSpec, ArmSpec, ReportSpec, GateSpec, MetricSpec, PythonFunctionSpec, CommandSpec)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+?)(?:#([^)\s]+))?\)")
YAML_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)


def keys_of(section: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in section.model_fields.items()]


def named_in(text: str) -> set[str]:
    """Every word that stands in code."""
    return {word for span in CODE.findall(text) for word in re.findall(r"\w+", span)}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_of_the_configuration_is_documented(section: type[BaseModel]) -> None:
    assert set(keys_of(section)) - {"kind"} <= named_in(CONFIGURATION)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model_fields["kind"].default)
def test_every_evaluator_and_its_options_are_documented(spec: type[BaseModel]) -> None:
    kind = spec.model_fields["kind"].default
    headings = "\n".join(line for line in EVALUATORS.splitlines() if line.startswith("## "))
    assert re.search(rf"\b{kind}\b", headings)
    accepted_only = {"kind", "threshold"} if spec.model_fields["threshold"].default is None else {"kind"}
    assert set(keys_of(spec)) - accepted_only <= named_in(EVALUATORS) | set(
        re.findall(r"\w+", "".join(YAML_BLOCK.findall(EVALUATORS)))
    )


def test_every_key_of_the_comparison_is_documented() -> None:
    document = json.loads((ROOT / "tests" / "golden" / "comparison_blocked.json").read_text(encoding="utf-8"))
    usage = {key for arm in document["usage"].values() for key in arm if key != "failures"}
    arms = {key for arm in ("baseline", "candidate") for key in document["provenance"][arm]}
    metric = document["metrics"][0]
    lists = (*document["changes"], *document["notices"], *document["verdict"]["reasons"])
    keys = {
        *document,
        *document["verdict"],
        *document["cases"],
        *usage,
        *arms,
        *metric,
        *metric["baseline"],
        *metric["difference"],
    }
    keys |= {key for entry in lists for key in entry} | set(document["provenance"])
    assert keys <= named_in((ROOT / "docs" / "files.md").read_text(encoding="utf-8"))


def test_the_whole_configuration_shown_is_valid() -> None:
    shown = [yaml.safe_load(block) for block in YAML_BLOCK.findall(CONFIGURATION)]
    whole = [block for block in shown if "dataset" in block]
    assert whole
    for block in whole:
        EvalConfig.model_validate(block)


def test_every_evaluator_shown_is_valid() -> None:
    entries = []
    for block in YAML_BLOCK.findall(EVALUATORS):
        shown = yaml.safe_load(block)
        entries += shown["evaluators"] if isinstance(shown, dict) else shown
    assert len(entries) >= 5
    EvalConfig.model_validate({"dataset": "cases.jsonl", "evaluators": entries})


@pytest.mark.parametrize("document", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path = (document.parent / target).resolve()
        assert path.exists(), target
        if anchor:
            assert anchor in {slug(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")}, (
                anchor
            )


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lstrip("#").strip().lower()).replace(" ", "-")

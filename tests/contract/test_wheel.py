"""The wheel carries the templates, so that an installed ci-eval can print a report."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_every_template_and_no_tests(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling builds the wheel and is not installed")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    templates = {str(path.relative_to(ROOT)) for path in (ROOT / "report_templates").rglob("*.j2")}
    assert templates
    assert {f"ci_eval/{name}" for name in templates} <= names
    assert not any(name.startswith("tests/") for name in names)

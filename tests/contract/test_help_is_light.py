"""`ci-eval --help` loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("openai", "github", "scipy", "numpy", "nltk", "rouge_score", "jinja2", "markdown_it", "requests")


def test_help_loads_no_heavy_library() -> None:
    program = (
        "import sys\n"
        "from ci_eval.cli.main import main\n"
        "code = main(['--help'], {})\n"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules], code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED [] 0"
    assert "Usage: ci-eval" in done.stdout

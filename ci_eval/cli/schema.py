"""`ci-eval schema`: the JSON Schema of the configuration, for editors."""

from __future__ import annotations

import json

from ci_eval.cli.screen import show


def schema() -> None:
    """Print the JSON Schema of ci-eval.yaml; every default is visible in it."""
    from ci_eval.config.schema import json_schema

    show(f"{json.dumps(json_schema(), indent=2, ensure_ascii=False)}\n")

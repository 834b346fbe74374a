"""The door to Jinja: the only module that imports it, and the only one that knows where the templates lie.

In: a template's name and a view of ready strings. Out: text. Templates print, they don't think: a value that is no text is an error,
and text that nobody declared `Ready` is put into code on its way out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci_eval.report.escape import Ready, code_cell

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_PLACES: Final = (_PACKAGE / "report_templates", _PACKAGE.parent / "report_templates")
"""In an installed wheel; in the source tree."""


class Templates:
    """The markdown templates, compiled once."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def render(self, name: str, view: object) -> str:
        """Fill the template of that name, e.g. `comment.md.j2`."""
        return self._environment.get_template(name).render(view=view)


def open_templates() -> Templates:
    """Load the templates from the wheel or the source tree."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader([str(place) for place in _PLACES]),
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # HTML escaping would be wrong in markdown: `_printed` is the escaping
    )
    return Templates(environment)


def _printed(value: object) -> str:
    """Let ready text through, put any other text into code, refuse everything else."""
    if isinstance(value, Ready):
        return value
    if isinstance(value, str):
        return code_cell(value)
    raise TypeError(f"a template prints ready strings only, found {type(value).__name__}")

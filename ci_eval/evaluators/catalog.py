"""Every evaluator there is, and every name people write for it.

A new evaluator is one import and one `|` in AnyEvaluator. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, get_args

from pydantic import Field

from ci_eval.domain.case import Case
from ci_eval.evaluators.base import EvaluatorSpec
from ci_eval.evaluators.custom import PythonSpec
from ci_eval.evaluators.field import FieldSpec
from ci_eval.evaluators.graders import StringCheckSpec
from ci_eval.evaluators.string_match import ExactMatchSpec
from ci_eval.evaluators.text_overlap import F1ScoreSpec, PartialMatchSpec
from ci_eval.evaluators.tool_calls import ToolCallSuccessSpec
from ci_eval.evaluators.trajectory import TaskNavigationEfficiencySpec

AnyEvaluator = Annotated[
    TaskNavigationEfficiencySpec
    | ToolCallSuccessSpec
    | F1ScoreSpec
    | PartialMatchSpec
    | ExactMatchSpec
    | StringCheckSpec
    | FieldSpec
    | PythonSpec,
    Field(discriminator="kind"),
]

SPECS: Final[tuple[type[EvaluatorSpec], ...]] = get_args(get_args(AnyEvaluator)[0])

NAMES: Final[Mapping[str, str]] = {
    name: spec.model_fields["kind"].default for spec in SPECS for name in (spec.model_fields["kind"].default, *spec.aliases)
}
"""Our names and the irregular ones -> our name; the regular spellings are undone by `resolve_name`."""

SHORTHAND: Final[Mapping[str, str]] = {"python": "function", "field": "path"}
"""Kinds that may be written with a single text, and the option that it means: `- python: evals.checks:polite`."""

OPTION_FIELDS: Final[Mapping[str, str]] = {"kind": "metric_kind"}
"""Options whose field has another name, since `kind` of a spec says which evaluator it is: `- field: {kind: score, …}`."""

_VERSION = re.compile(r"(?:/(?:versions|labels)/[^/]*|:\d[\w.]*)$")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def resolve_name(text: str) -> str | None:
    """Return our name for any accepted spelling: `builtin.x`, a registry id, `XEvaluator`; None for an unknown one."""
    last = _VERSION.sub("", text.strip()).rsplit("/", 1)[-1]
    name = _HUMP.sub("_", last.removeprefix("builtin.")).replace("-", "_").lower()
    for spelling in (name, name.removesuffix("_evaluator"), re.sub(r"_+", "_", name).removesuffix("_evaluator")):
        if spelling in NAMES:
            return NAMES[spelling]
    return None


def name_clash(spec: EvaluatorSpec) -> str | None:
    """Say that a metric of the user's own has the name of a built-in evaluator; None when it has not."""
    if spec.kind not in ("field", "python"):
        return None
    taken = resolve_name(spec.metric_name)
    return f"name: {spec.metric_name!r} is the name of a built-in evaluator; choose another" if taken else None


def unusable(spec: EvaluatorSpec, cases: Sequence[Case]) -> str | None:
    """Say why an evaluator could not score a single case, before anything runs; None when it might."""
    return spec.unusable(cases)

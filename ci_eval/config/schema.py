"""What `ci-eval.yaml` may say. Assembles the specs that the stages own; a default stands here and nowhere else."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

from ci_eval.compare.spec import GateSpec, MetricSpec
from ci_eval.evaluators.catalog import NAMES, OPTION_FIELDS, SHORTHAND, SPECS, AnyEvaluator, resolve_name
from ci_eval.targets.catalog import AnyTarget


class Section(BaseModel):
    """A part of the configuration: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetSpec(Section):
    """The cases."""

    path: str = Field(description="JSON Lines, JSON or CSV file, relative to the configuration file.")
    format: Literal["rows"] | None = Field(default=None, description="Names the shape instead of recognising it.")
    mapping: dict[str, str] = Field(
        default_factory=dict, description='Role to template for columns with other names, e.g. `query: "{{item.prompt_text}}"`.'
    )
    on_bad_row: Literal["error", "skip"] = Field(default="error", description="`skip` drops a broken row with a notice.")
    limit: PositiveInt | None = Field(default=None, description="Take the first N cases only.")
    tags: list[str] = Field(default_factory=list, description="Take only cases with one of these tags.")

    @model_validator(mode="before")
    @classmethod
    def _from_path(cls, value: object) -> object:
        return {"path": value} if isinstance(value, str) else value


class ArmSpec(Section):
    """Where one arm comes from: exactly one of the keys."""

    ref: str | None = Field(default=None, description="A commit, branch or tag; `merge-base` or `head`.")
    directory: str | None = Field(default=None, description="A folder that holds the agent, relative to the configuration file.")
    outputs: str | None = Field(default=None, description="A file of recorded outputs, joined by case id.")
    run: str | None = Field(default=None, description="A run file of an earlier evaluation; its scores are taken as they are.")

    @model_validator(mode="after")
    def _exactly_one(self) -> ArmSpec:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            message = f"exactly one of {', '.join(type(self).model_fields)} is expected, found {found}"
            raise ValueError(message)
        return self

    @property
    def needs_target(self) -> bool:
        """True when the agent has to be run."""
        return self.ref is not None or self.directory is not None


class ReportSpec(Section):
    """How the report looks."""

    title: str | None = Field(default=None, max_length=100, description="Heading of the comment; default: `name`.")


def _evaluator_entry(entry: object) -> object:
    """Turn `name` and `{name: {options}}` into `{kind: name, **options}`."""
    if isinstance(entry, str):
        return {"kind": resolve_name(entry) or entry}
    if isinstance(entry, dict) and len(entry) == 1:
        name, options = next(iter(entry.items()))
        if name == "name":
            raise ValueError(
                f"an evaluator is written `- {options}` or `- {options}: {{option: value}}`, without `name:` before it"
            )
        kind = resolve_name(str(name)) or name
        if isinstance(options, str) and kind in SHORTHAND:
            options = {SHORTHAND[str(kind)]: options}
        if options is None:
            options = {}
        if isinstance(options, dict):
            return {"kind": kind, **{OPTION_FIELDS.get(option, option): value for option, value in options.items()}}
        raise ValueError(f"options of {name} are expected as `key: value` pairs, found {options!r}")
    raise ValueError("an evaluator is written `- name` or `- name: {option: value}`")


EvaluatorEntry = Annotated[AnyEvaluator, BeforeValidator(_evaluator_entry)]


class EvalConfig(Section):
    """One evaluation, completely described."""

    name: str = Field(default="Agent evaluation", max_length=100, description="Shown as the report's heading.")
    dataset: DatasetSpec
    target: AnyTarget | None = Field(default=None, description="The agent; not needed when both arms are recorded.")
    baseline: ArmSpec = Field(default=ArmSpec(ref="merge-base"), description="The agent as it was.")
    candidate: ArmSpec = Field(default=ArmSpec(ref="head"), description="The agent as it would be.")
    trials: int = Field(default=1, ge=1, le=100, description="Repeats of every case on each arm.")
    concurrency: int = Field(default=16, ge=1, le=1000, description="Questions in flight at a time, over both arms.")
    evaluators: list[EvaluatorEntry] = Field(min_length=1, description="What is scored.")
    metrics: dict[str, MetricSpec] = Field(default_factory=dict, description="Settings of single metrics, by name.")
    gate: GateSpec = Field(default=GateSpec(), description="What may block the merge.")
    interval_level: float = Field(default=0.90, gt=0.5, le=0.999999, description="Two-sided level of the printed intervals.")
    report: ReportSpec = ReportSpec()

    @property
    def title(self) -> str:
        """Heading of the report."""
        return self.report.title or self.name

    @property
    def runs_code(self) -> bool:
        """True when evaluating starts a program of the repository: the agent, or an evaluator of the user's own."""
        return self.baseline.needs_target or self.candidate.needs_target or any(spec.kind == "python" for spec in self.evaluators)


def json_schema() -> dict[str, object]:
    """The schema of the file as people write it: an evaluator is a name, or a name with options."""
    schema = EvalConfig.model_json_schema()
    kinds = schema["$defs"]
    entries: list[dict[str, object]] = [{"type": "string", "enum": sorted(NAMES)}]
    for spec in SPECS:
        options = kinds[spec.__name__]
        kind = options["properties"].pop("kind")["default"]
        for written, field in OPTION_FIELDS.items():
            if field in options["properties"]:
                options["properties"][written] = options["properties"].pop(field)
        options["required"] = [name for name in options.get("required", []) if name != "kind"]
        forms: list[dict[str, object]] = [{"$ref": f"#/$defs/{spec.__name__}"}]
        if kind in SHORTHAND:
            forms.append({"type": "string"})
        entries.append(
            {"type": "object", "properties": {kind: {"anyOf": forms}}, "required": [kind], "additionalProperties": False}
        )
    schema["properties"]["evaluators"]["items"] = {"anyOf": entries}
    dataset = schema["properties"]["dataset"]
    schema["properties"]["dataset"] = {"anyOf": [{"type": "string"}, dataset]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ci-eval.yaml", **schema}

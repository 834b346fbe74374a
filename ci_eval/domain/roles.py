"""Field names people use, and the roles they mean.

In: one row as a JSON object. Out: raw values by role, the row's own columns, and notices for choices made.
Pure. Source: the formats page, section 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ci_eval.domain.json_text import shown_name
from ci_eval.domain.notice import Notice

Purpose: TypeAlias = Literal["dataset", "outputs"]

ROLE_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "case_id", "test_id", "task_id", "sample_id", "example_id", "item_id", "question_id", "uuid", "_id"),
    "trial": ("trial", "repeat", "repetition", "epoch", "run_index"),
    "query": (
        "query", "question", "prompt", "input", "user_input", "user_query", "user_message", "instruction", "scenario",
    ),
    "messages": ("messages", "conversation", "conversations", "turns", "traj", "transcript", "chat_history"),
    "response": (
        "response", "answer", "output", "actual_output", "actual_response", "agent_response", "completion", "prediction",
        "model_output", "output_text", "outputs",
    ),
    "output_items": ("output_items",),
    "ground_truth": (
        "ground_truth", "ground_truths", "expected_response", "expected_output", "expected_answer", "expected_outcome",
        "expected", "reference", "reference_answer", "reference_outputs", "target", "ideal", "gold",
    ),
    "context": ("retrieval_context", "retrieved_contexts", "context", "contexts"),
    "tool_calls": ("tool_calls", "tools_called"),
    "tool_definitions": ("tool_definitions", "tools", "functions", "available_tools"),
    "actions": ("actions", "predicted_trajectory", "actual_trajectory", "trajectory"),
    "expected_actions": (
        "expected_actions", "expected_tool_calls", "expected_tools", "reference_tool_calls", "reference_trajectory",
        "expected_trajectory",
    ),
    "retrieved_documents": ("retrieved_documents",),
    "retrieval_ground_truth": ("retrieval_ground_truth",),
    "test_case_description": ("test_case_description", "test_name", "title", "description", "name"),
    "latency_ms": ("latency_ms", "latency", "duration_ms"),
    "latency_s": ("latency_s",),
    "usage": ("usage", "token_usage"),
    "cost_usd": ("cost_usd", "cost"),
    "error": ("error",),
    "status": ("status",),
    "tags": ("tags",),
}  # fmt: skip
"""Role to names, best first."""

STRUCTURED_ROLES = frozenset({
    "messages", "context", "tool_calls", "tool_definitions", "actions", "expected_actions", "retrieved_documents",
    "retrieval_ground_truth",
})  # fmt: skip
"""Roles whose CSV cells are decoded."""

_ROLE_OF = {name: (role, rank) for role, names in ROLE_NAMES.items() for rank, name in enumerate(names)}
_PREFIX = re.compile(r"^(?:item|inputs|outputs|data|sample)\.(?=.)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[\s\-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """One row, understood."""

    values: Mapping[str, object]
    """Raw value by role; a role whose value is null, or an empty cell, is not there."""
    columns: Mapping[str, str]
    """The column each role was taken from, as the user spelt it."""
    fields: Mapping[str, object]
    """The row after unwrapping, under its own names."""
    notices: tuple[Notice, ...] = ()


def normalised_name(name: str) -> str:
    """Turn `Ground Truth`, `groundTruth` and `ground-truth` into `ground_truth`."""
    return _GAP.sub("_", _HUMP.sub("_", _PREFIX.sub("", name.strip()))).lower()


def role_of(name: str) -> str | None:
    """Return the role a column name stands for, or None."""
    found = _ROLE_OF.get(normalised_name(name))
    return found[0] if found else None


def unwrap(row: Mapping[str, object]) -> dict[str, object]:
    """Lift the members of `{"item": …, "sample": …}` and `{"inputs": …, "outputs": …}`; a name at the top is never overwritten."""
    wrappers = {"item", "sample", "inputs"} | ({"outputs"} if isinstance(row.get("inputs"), Mapping) else set())
    lifted: dict[str, object] = {}
    for key, value in row.items():
        if key in wrappers and isinstance(value, Mapping):
            for inner, inner_value in value.items():
                if inner not in row:
                    lifted.setdefault(inner, inner_value)
        else:
            lifted[key] = value
    return lifted


def read_roles(row: Mapping[str, object], *, purpose: Purpose, given: Mapping[str, object] | None = None) -> Roles:
    """Sort a row's columns into roles; an earlier name of the table beats a later one, an exact spelling a normalised one.

    Roles in `given` (the user's own mapping) are taken from there and nowhere else; a null there means "not in this row".
    """
    fields = unwrap(row)
    columns, notices = _columns_by_role(fields, skip=given or {})
    values = {role: fields[column] for role, column in columns.items()}
    for role, value in (given or {}).items():
        if not _is_absent(value, role):
            values[role], columns[role] = value, role
    if not (given and {"response", "ground_truth"} & given.keys()):
        _settle_answer(values, columns, purpose, notices, beside_inputs="inputs" in row)
    if "id" not in (given or {}):
        _settle_id(values, columns, fields)
    return Roles(values=values, columns=columns, fields=fields, notices=tuple(notices))


def _columns_by_role(fields: Mapping[str, object], *, skip: Mapping[str, object]) -> tuple[dict[str, str], list[Notice]]:
    """Find the best column of each role, and tell about every choice."""
    best: dict[str, tuple[int, int, str]] = {}
    notices: list[Notice] = []
    for column, value in fields.items():
        name = normalised_name(column)
        role, rank = _ROLE_OF.get(name, (None, 0))
        if role is None or role in skip or _is_absent(value, role):
            continue
        candidate = (rank, 0 if column == name else 1, column)
        chosen, other = sorted((candidate, best[role])) if role in best else (candidate, None)
        best[role] = chosen
        if other is not None:
            notices.append(_choice(f"{shown_name(chosen[2])} is taken as {role}; {shown_name(other[2])} stays a plain field"))
    return {role: column for role, (_, _, column) in best.items()}, notices


def _is_absent(value: object, role: str) -> bool:
    """Null is nothing; an empty list is a value where it says "no call" or "no word", and no id is made of one."""
    if value is None:
        return True
    return value == [] and role not in ("id", "actions", "tool_calls", "expected_actions", "messages", "response")


def _settle_answer(
    values: dict[str, object], columns: dict[str, str], purpose: Purpose, notices: list[Notice], *, beside_inputs: bool
) -> None:
    """Without a ground truth, `answer` and `output` (and `outputs` beside `inputs`) are the reference of a dataset."""
    column = columns.get("response")
    if column is None or "ground_truth" in values:
        return
    name = normalised_name(column)
    if name not in ("answer", "output", "outputs") or (name == "outputs" and not beside_inputs):
        return
    if purpose == "dataset":
        values["ground_truth"] = values.pop("response")
        columns["ground_truth"] = columns.pop("response")
    notices.append(
        _choice(f"{shown_name(column)} is taken as {'ground_truth, as in any dataset' if purpose == 'dataset' else 'response'}")
    )


def _settle_id(values: dict[str, object], columns: dict[str, str], fields: Mapping[str, object]) -> None:
    """`metadata.id` and `extensions.id` count when no column does."""
    if "id" in values:
        return
    for holder in ("metadata", "extensions"):
        inner = fields.get(holder)
        found = inner.get("id") if isinstance(inner, Mapping) else fields.get(f"{holder}.id")
        if found is not None:
            values["id"], columns["id"] = found, f"{holder}.id"
            return


def _choice(message: str) -> Notice:
    return Notice(code="role_chosen", message=message)

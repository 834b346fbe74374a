"""Field names people use, and the roles they mean.

In: one row as a JSON object. Out: raw values by role, the row's own columns, and notices for choices made.
Pure. Source: the formats page, section 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
    """Lift the members of `{"item": …, "sample": …}` and `{"inputs": …}` to the top; later wrappers do not overwrite."""
    lifted: dict[str, object] = {}
    for key, value in row.items():
        if key in ("item", "sample", "inputs") and isinstance(value, Mapping):
            for inner, inner_value in value.items():
                lifted.setdefault(inner, inner_value)
        else:
            lifted.setdefault(key, value)
    return lifted


def read_roles(row: Mapping[str, object], *, purpose: Purpose) -> Roles:
    """Sort a row's columns into roles; an exact name beats a normalised one, an earlier name of the table a later one."""
    fields = unwrap(row)
    best: dict[str, tuple[int, int, str]] = {}
    notices: list[Notice] = []
    for column in fields:
        name = normalised_name(column)
        found = _ROLE_OF.get(name)
        if found is None or _is_absent(fields[column], found[0]):
            continue
        role, rank = found
        candidate = (rank, 0 if column == name else 1, column)
        rival = best.get(role)
        if rival is not None:
            chosen, other = (candidate, rival) if candidate < rival else (rival, candidate)
            notices.append(
                Notice(
                    code="role_chosen",
                    message=f"{chosen[2]} is taken as {role}; {other[2]} means the same and is left as a plain field",
                )
            )
            best[role] = chosen
        else:
            best[role] = candidate
    columns = {role: column for role, (_, _, column) in best.items()}
    values = {role: fields[column] for role, column in columns.items()}
    _settle_answer(values, columns, fields, purpose, notices)
    _settle_id(values, columns, fields)
    return Roles(values=values, columns=columns, fields=fields, notices=tuple(notices))


def _is_absent(value: object, role: str) -> bool:
    """Null is nothing; an empty list is a value only where it says "no call"."""
    if value is None:
        return True
    return value == [] and role not in ("actions", "tool_calls", "expected_actions", "messages", "response")


def _settle_answer(
    values: dict[str, object], columns: dict[str, str], fields: Mapping[str, object], purpose: Purpose, notices: list[Notice]
) -> None:
    """In a dataset, a lone `answer` or `output` (or `outputs` beside `inputs`) is the reference, not a response."""
    column = columns.get("response")
    if purpose != "dataset" or column is None or "ground_truth" in values:
        return
    if normalised_name(column) in ("answer", "output", "outputs"):
        values["ground_truth"] = values.pop("response")
        columns["ground_truth"] = columns.pop("response")
        notices.append(Notice(code="role_chosen", message=f"{column} of the dataset is taken as ground_truth"))


def _settle_id(values: dict[str, object], columns: dict[str, str], fields: Mapping[str, object]) -> None:
    """`metadata.id` and `extensions.id` count when no column does."""
    if "id" in values:
        return
    for holder in ("metadata", "extensions"):
        inner = fields.get(holder)
        if isinstance(inner, Mapping) and inner.get("id") is not None:
            values["id"], columns["id"] = inner["id"], f"{holder}.id"
            return

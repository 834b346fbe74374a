"""The user's own mapping of columns to roles: `{query: "{{item.q}}"}`.

In: templates of the configuration. Out: values by role, for one row after another. Text from data is never taken for a template. Pure.
Source: the formats page, sections 3.1 and 3.3.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ci_eval.domain.json_text import quoted, shown_name
from ci_eval.domain.notice import Notice
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.roles import ROLE_NAMES, role_of, unwrap
from ci_eval.domain.template import MISSING, Template, parse_template
from ci_eval.errors import DataError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMapping:
    """Templates by role, parsed."""

    templates: Mapping[str, Template]
    notices: tuple[Notice, ...] = ()

    def values(self, row: Mapping[str, object]) -> dict[str, object]:
        """Return the value of every mapped role in a row; null where the path leads nowhere."""
        item = unwrap(row)
        filled = {role: template.fill(item=item, sample={}) for role, template in self.templates.items()}
        return {role: None if value is MISSING else value for role, value in filled.items()}


def parse_mapping(mapping: Mapping[str, str], columns: Collection[str], *, shown: str) -> RoleMapping:
    """Parse every template; DataError with all that is wrong with them."""
    templates: dict[str, Template] = {}
    notices: list[Notice] = []
    problems: list[Problem] = []
    for name, written in mapping.items():
        role = name if name in ROLE_NAMES else role_of(name)
        if role is None:
            problems.append(_unknown_role(name, shown))
            continue
        is_plain = "{{" not in written and "${" not in written
        if is_plain and written not in columns:
            notices.append(
                Notice(
                    code="mapping_constant", message=f"mapping.{role} is no column; every case gets the text {quoted(written)}"
                )
            )
        try:
            templates[role] = parse_template(
                f"{{{{item[{_as_key(written)}]}}}}" if is_plain and written in columns else written, roots=("item",)
            )
        except Unreadable as error:
            problems.append(Problem(code=error.code, message=error.message, file=shown, field=f"mapping.{name}"))
    if problems:
        raise DataError(problems)
    return RoleMapping(templates=templates, notices=tuple(notices))


def missing_everywhere(mapping: RoleMapping, filled: Collection[str], columns: Collection[str], *, shown: str) -> list[Problem]:
    """Return a problem for every mapped role that had no value in any row."""
    return [_missing(role, template, columns, shown) for role, template in mapping.templates.items() if role not in filled]


def _missing(role: str, template: Template, columns: Collection[str], shown: str) -> Problem:
    names = [path.removeprefix("item.") for path in template.paths]
    near = [match for name in names for match in difflib.get_close_matches(name, list(columns), n=2)]
    known = near or sorted(columns)[:10]
    return Problem(
        code="mapping_missing_everywhere", message=f"{quoted(template.written)} leads to nothing in every row", file=shown,
        field=f"mapping.{role}",
        hint=f"{'nearest names' if near else 'columns there'}: {', '.join(shown_name(name) for name in known)}",
    )  # fmt: skip


def _unknown_role(name: str, shown: str) -> Problem:
    near = difflib.get_close_matches(name, ROLE_NAMES, n=1)
    return Problem(
        code="mapping_role", message=f"{quoted(name)} is no role; expected one of {', '.join(ROLE_NAMES)}", file=shown,
        field=f"mapping.{shown_name(name)}", hint=f"did you mean {near[0]}?" if near else None,
    )  # fmt: skip


def _as_key(name: str) -> str:
    """Quote a column name for a bracket step."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

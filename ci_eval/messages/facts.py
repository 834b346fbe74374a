"""Facts about an answer: how it ended, how long it took, what it cost.

In: raw values of a record. Out: numbers and a Failure; Unreadable for what cannot be true. Nothing is clamped or defaulted. Pure.
Source: the formats page, sections 1.3 and 4.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from ci_eval.domain.json_text import JsonError, parse_json, quoted
from ci_eval.domain.notice import Notice
from ci_eval.domain.readers import Unreadable
from ci_eval.domain.roles import Roles
from ci_eval.domain.sample import Failure, SampleStatus, Usage
from ci_eval.domain.score import LARGEST
from ci_eval.messages.drafts import wrong_type

STATUS_WORDS: Final[Mapping[str, SampleStatus]] = {
    "ok": "ok", "completed": "ok", "complete": "ok", "success": "ok", "succeeded": "ok", "done": "ok", "incomplete": "ok",
    "error": "error", "failed": "error", "failure": "error", "timeout": "error",
    "skipped": "skipped", "not_run": "not_run",
}  # fmt: skip
"""What a record may say about itself."""

_TOKEN_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "input_tokens": ("input_tokens", "prompt_tokens", "prompt"),
    "output_tokens": ("output_tokens", "completion_tokens", "completion"),
    "cached_tokens": ("cached_tokens", "cached"),
    "total_tokens": ("total_tokens", "total"),
}
_DETAIL_NAMES: Final = ("input_tokens_details", "prompt_tokens_details")


def read_status(roles: Roles) -> tuple[SampleStatus, Failure | None, tuple[Notice, ...]]:
    """Settle how it ended: an error always counts, a word that nobody knows is refused."""
    written = roles.values.get("status")
    column = roles.columns.get("status", "status")
    word = written.strip().lower() if isinstance(written, str) else written
    if word is not None and (not isinstance(word, str) or word not in STATUS_WORDS):
        raise Unreadable("bad_status", f"unknown status {quoted(written)}; known: {', '.join(STATUS_WORDS)}", path=column)
    status = STATUS_WORDS[str(word)] if word is not None else "ok"
    failure = _read_failure(roles.values.get("error"))
    if failure is None and status == "error":
        code = "timeout" if word == "timeout" else "agent_error"
        failure = Failure(stage="target", code=code, message=f"the record has the status {word}")
    if failure is not None:
        return ("error" if status == "ok" else status), (None if status in ("skipped", "not_run") else failure), ()
    odd = Notice(code="status_incomplete", message="the status incomplete, without an error, counts as ok")
    return status, None, (odd,) if word == "incomplete" else ()


def _read_failure(error: object) -> Failure | None:
    """Read an error: text, or an object with code and message; nothing, false and empty ones are no error."""
    if not error:
        return None
    if isinstance(error, str):
        return Failure(stage="target", code="agent_error", message=error) if error.strip() else None
    if not isinstance(error, Mapping):
        return Failure(stage="target", code="agent_error", message=f"the record's error is {quoted(error)}")
    code, message = error.get("code"), error.get("message")
    return Failure(
        stage="target",
        code=str(code).strip() if isinstance(code, (str, int)) and str(code).strip() else "agent_error",
        message=message if isinstance(message, str) and message else quoted(error, limit=1000),
    )


def read_latency(roles: Roles) -> float | None:
    """Return seconds; `latency` and `duration_ms` are milliseconds, `latency_s` is what it says."""
    if "latency_ms" in roles.values:
        milliseconds = read_number(roles.values["latency_ms"], roles.columns["latency_ms"])
        return None if milliseconds is None else milliseconds / 1000
    return read_number(roles.values.get("latency_s"), roles.columns.get("latency_s", "latency_s"))


def read_usage(value: object, path: str) -> Usage | None:
    """Read token counts under any provider's names; the total is the sum where only the parts are told."""
    value = _from_cell(value)
    if value is None or value == "":
        return None
    if not isinstance(value, Mapping):
        raise wrong_type(value, "an object with token counts", path)
    details = next((value[name] for name in _DETAIL_NAMES if isinstance(value.get(name), Mapping)), None)
    counts = {field: _find_count((value, details or {}), names, path) for field, names in _TOKEN_NAMES.items()}
    if counts["total_tokens"] is None and counts["input_tokens"] is not None and counts["output_tokens"] is not None:
        counts["total_tokens"] = counts["input_tokens"] + counts["output_tokens"]
    return Usage(**counts)


def _find_count(sources: tuple[Mapping[str, object], ...], names: tuple[str, ...], path: str) -> int | None:
    for source in sources:
        for name in names:
            if source.get(name) is not None:
                return _read_count(source[name], f"{path}.{name}")
    return None


def _read_count(value: object, path: str) -> int:
    number = read_number(value, path)
    if number is None or number != int(number):
        raise Unreadable("bad_number", f"found {quoted(value)}; expected a whole number, 0 or more", path=path)
    return int(number)


def read_number(value: object, path: str) -> float | None:
    """Read a finite number, 0 or more; None when there is none."""
    value = _from_cell(value)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(value, "a number, 0 or more", path)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise Unreadable("bad_number", f"found {quoted(value)}; expected a finite number, 0 or more", path=path)
    if number > LARGEST:
        raise Unreadable("bad_number", f"found {quoted(value)}; expected at most {LARGEST:g}", path=path)
    return number


def _from_cell(value: object) -> object:
    """Read a CSV cell, which is always text, as the JSON it stands for."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except JsonError:
        return value

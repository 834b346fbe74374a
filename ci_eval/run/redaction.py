"""Headers and records without secrets.

In: a header or record, a function that takes secrets out of a text. Out: the same with every text from outside redacted.
Only texts: a secret that happens to be spelt like a key, a status or a number of ours must not break the file that holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ci_eval.domain.case import ExpectedAction
from ci_eval.domain.message import ToolCall
from ci_eval.domain.notice import Notice
from ci_eval.domain.results import CaseResult, RunHeader
from ci_eval.domain.sample import Failure
from ci_eval.domain.score import Score

Redact: TypeAlias = Callable[[str], str]


def redacted_header(header: RunHeader, redact: Redact) -> RunHeader:
    """Redact where the arm comes from, its environment, and what was odd."""
    return replace(
        header,
        source=replace(header.source, description=redact(header.source.description)),
        environment={name: redact(value) for name, value in header.environment.items()},
        notices=tuple(_notice(notice, redact) for notice in header.notices),
    )


def redacted_record(record: CaseResult, redact: Redact) -> CaseResult:
    """Redact what was asked, expected, answered, and said about the answer; ids, metrics and numbers stay."""
    expected, calls, truths = record.expected_actions, record.tool_calls, record.ground_truths
    return replace(
        record,
        query=_text(record.query, redact),
        title=_text(record.title, redact),
        ground_truths=None if truths is None else tuple(redact(text) for text in truths),
        expected_actions=None if expected is None else tuple(_expected(action, redact) for action in expected),
        failure=None if record.failure is None else _failure(record.failure, redact),
        output_text=_text(record.output_text, redact),
        tool_calls=None if calls is None else tuple(_call(call, redact) for call in calls),
        scores={name: _score(score, redact) for name, score in record.scores.items()},
    )


def redacted_value(value: object, redact: Redact) -> object:
    """Redact every text within a JSON value, keys of objects too."""
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {redact(str(key)): redacted_value(member, redact) for key, member in value.items()}
        case list() | tuple():
            return [redacted_value(member, redact) for member in value]
        case _:
            return value


def _text(text: str | None, redact: Redact) -> str | None:
    return None if text is None else redact(text)


def _notice(notice: Notice, redact: Redact) -> Notice:
    return replace(notice, message=redact(notice.message), location=_text(notice.location, redact))


def _failure(failure: Failure, redact: Redact) -> Failure:
    code = failure.code if failure.is_infrastructure else redact(failure.code)  # an agent may give a code of its own
    return replace(failure, code=code, message=redact(failure.message))


def _expected(action: ExpectedAction, redact: Redact) -> ExpectedAction:
    given = action.arguments
    arguments = None if given is None else {redact(key): redacted_value(value, redact) for key, value in given.items()}
    return replace(action, name=redact(action.name), arguments=arguments)


def _call(call: ToolCall, redact: Redact) -> ToolCall:
    return replace(
        call,
        name=redact(call.name),
        arguments=redacted_value(call.arguments, redact),
        id=_text(call.id, redact),
        status=_text(call.status, redact),
    )


def _score(score: Score, redact: Redact) -> Score:
    return replace(
        score,
        label=_text(score.label, redact),
        reason=redact(score.reason),
        details={key: redacted_value(value, redact) for key, value in score.details.items()},
    )

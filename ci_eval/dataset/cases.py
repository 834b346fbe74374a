"""One row -> one Case.

In: a row's roles and the doors of `messages/`. Out: the Case, or every problem of the row. Pure.
Source: the formats page, sections 1.3 and 1.4.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ci_eval.dataset.ids import Identity, asked_messages, asked_text, hash_id, read_id
from ci_eval.domain.canonical import digest
from ci_eval.domain.case import Case, ExpectedAction, Source
from ci_eval.domain.json_text import JsonError, json_type, parse_json, quoted, shown_name
from ci_eval.domain.message import Message, Text, calls_in, final_text
from ci_eval.domain.notice import Notice
from ci_eval.domain.readers import Readers, Unreadable
from ci_eval.domain.roles import ROLE_NAMES, Roles
from ci_eval.domain.views import foundry_messages

_T = TypeVar("_T")

SAMPLE_ROLES: Final = frozenset({
    "response", "output_items", "tool_calls", "actions", "latency_ms", "latency_s", "usage", "cost_usd", "error", "status", "trial",
})  # fmt: skip
"""Roles that tell what an agent did, not what is asked or expected."""
LONG_TEXT: Final = 1000
_LIST_ROLES: Final = ("retrieved_documents", "retrieval_ground_truth", "tool_definitions")


@dataclass(slots=True, kw_only=True)
class RowReading:
    """Reads the fields of one row and keeps going after a problem, so that all of them are told at once."""

    roles: Roles
    problems: list[Unreadable] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def value(self, role: str) -> object:
        """Return the raw value of a role, None when the row has none."""
        return self.roles.values.get(role)

    def read(self, role: str, reader: Callable[[object], _T]) -> _T | None:
        """Read the value of a role, if there is one; a problem is kept under the column's own name."""
        if role not in self.roles.values:
            return None
        try:
            return reader(self.roles.values[role])
        except Unreadable as error:
            self.problems.append(error.within(shown_name(self.roles.columns[role])))
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a row asks."""

    text: str | None = None
    """The query, or the last user message of it."""
    messages: tuple[Message, ...] = ()
    counted: object = None
    """What its hash id is made of; None when the row asks nothing."""


def read_asked(reading: RowReading, readers: Readers) -> Asked:
    """Read the query, or the messages before the agent's first."""
    if "query" in reading.roles.values:
        return reading.read("query", lambda value: _read_query(value, readers, reading.notices)) or Asked()
    messages = reading.read("messages", lambda value: _messages_asked(value, readers, reading.notices)) or ()
    if not messages:
        return Asked()
    return Asked(text=_last_user_text(messages), messages=messages, counted=asked_messages(messages))


def _read_query(value: object, readers: Readers, notices: list[Notice]) -> Asked:
    if isinstance(value, Mapping):
        raise Unreadable("wrong_type", f"found object {quoted(value)}; expected a string or an array of messages")
    encoded = _encoded_list(value)
    if isinstance(value, list) or encoded is not None:
        conversation = readers.conversation(value if encoded is None else encoded)
        notices.extend(conversation.notices)
        counted = asked_messages(conversation.messages) if conversation.messages else None
        return Asked(text=_last_user_text(conversation.messages), messages=conversation.messages, counted=counted)
    text = read_text(value)
    if not text.strip():
        raise Unreadable("missing_query", "the query is empty; expected what the agent is asked")
    return Asked(text=text, counted=asked_text(text))


def _encoded_list(value: object) -> object | None:
    """Return the message list that a text holds as JSON; None for any other text."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return None
    try:
        decoded = parse_json(value)
    except JsonError:
        return None
    is_messages = isinstance(decoded, list) and bool(decoded) and all(
        isinstance(member, Mapping) and isinstance(member.get("role"), str) and "content" in member for member in decoded
    )  # fmt: skip
    return decoded if is_messages else None


def _messages_asked(value: object, readers: Readers, notices: list[Notice]) -> tuple[Message, ...]:
    conversation = readers.conversation(value)
    notices.extend(conversation.notices)
    return conversation.messages[: conversation.response_start()]


def _last_user_text(messages: tuple[Message, ...]) -> str | None:
    for message in reversed(messages):
        if message.role == "user":
            return "".join(part.text for part in message.parts if isinstance(part, Text)) or None
    return None


def read_text(value: object) -> str:
    """Read a text role: text as it is, numbers and booleans as their JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise Unreadable("wrong_type", f"found {json_type(value)} {quoted(value)}; expected a string")


def read_trial(value: object) -> int:
    """Read a repetition number, also from a CSV cell."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unreadable("wrong_type", f"found {json_type(value)} {quoted(value)}; expected a whole number, 0 or more")
    return value


def identify(reading: RowReading, asked: Asked, *, place: str, strict_trial: bool) -> Identity | None:
    """Say who the row is; None when it cannot be told, with the problem kept."""
    given = reading.read("id", read_id)
    trial = reading.read("trial", read_trial if strict_trial else _read_trial_if_any) or 0
    if given is not None:
        return Identity(id=given, is_given=True, trial=trial, place=place, asked=asked.counted)
    if reading.problems:
        return None
    counted = asked.counted
    if counted is None:
        variables = {name: value for name, value in reading.roles.fields.items() if name not in reading.roles.columns.values()}
        counted = {name: value for name, value in variables.items() if value is not None} or None
    if counted is None:
        reading.problems.append(missing_query(reading.roles, "neither an id nor a query to make one of"))
        return None
    return Identity(id=hash_id(counted), is_given=False, trial=trial, place=place, asked=counted)


def _read_trial_if_any(value: object) -> int:
    """A dataset's column named like a trial may be anything."""
    try:
        return read_trial(value)
    except Unreadable:
        return 0


def missing_query(roles: Roles, what: str) -> Unreadable:
    """Return the error of a row that asks nothing, with the columns there and a near miss."""
    columns = list(roles.fields)
    near = near_columns(columns)
    hint = f"; is {quoted(near)} meant as the query?" if near else ""
    return Unreadable("missing_query", f"{what}; the columns are {quoted(columns, limit=200)}{hint}", path="query")


def near_columns(columns: Collection[str]) -> str | None:
    """Return a column whose name is nearly one that asks something."""
    wanted = (*ROLE_NAMES["query"], *ROLE_NAMES["messages"])
    return next((column for column in columns if difflib.get_close_matches(column.lower(), wanted, n=1, cutoff=0.75)), None)


def read_case(reading: RowReading, asked: Asked, identity: Identity, source: Source, readers: Readers) -> Case:
    """Build the case; problems stay in the reading, and the case counts only when there are none."""
    if asked.counted is None and "actions" not in reading.roles.values and not reading.problems:
        reading.problems.append(missing_query(reading.roles, "no query, messages or actions"))
    truths, wanted = _read_ground_truth(reading, readers)
    given = reading.read("expected_actions", readers.expected_actions)
    _check_answer(reading, readers)
    reading.read("context", _read_context)
    decoded = {role: reading.read(role, _read_list) for role in _LIST_ROLES if role in reading.roles.values}
    return Case(
        id=identity.id, id_is_given=identity.is_given,
        query=asked.text, messages=asked.messages, source=source,
        fingerprint=_fingerprint(reading.roles, asked),
        fields=reading.roles.fields,
        roles={**reading.roles.values, **decoded},
        ground_truths=truths,
        expected_actions=given if "expected_actions" in reading.roles.values else wanted,
        title=reading.read("test_case_description", read_text),
        tags=reading.read("tags", _read_tags) or (),
    )  # fmt: skip


def _read_ground_truth(reading: RowReading, readers: Readers) -> tuple[tuple[str, ...] | None, tuple[ExpectedAction, ...] | None]:
    """Read the references; one given as messages holds the wanted calls too."""
    value = reading.value("ground_truth")
    if not isinstance(value, list) or not any(isinstance(member, Mapping) for member in value):
        return reading.read("ground_truth", _read_references), None
    conversation = reading.read("ground_truth", readers.conversation)
    if conversation is None:
        return None, None
    text = final_text(conversation.messages)
    calls = [{"name": call.name, "arguments": call.arguments} for call in calls_in(conversation.messages)]
    return None if text is None else (text,), reading.read(
        "ground_truth", lambda _: readers.expected_actions(calls)
    ) if calls else None


def _read_references(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return (read_text(value),)
    references: list[str] = []
    for index, member in enumerate(value):
        try:
            references.append(read_text(member))
        except Unreadable as error:
            raise error.within(f"[{index}]") from None
    return tuple(references)


def _check_answer(reading: RowReading, readers: Readers) -> None:
    """Read what a recorded agent did, only to tell about what is wrong with it before anything runs."""
    is_plain = not isinstance(reading.value("response"), list)
    reading.read("response", _read_response if is_plain else readers.conversation)
    reading.read("output_items", readers.conversation)
    if "query" in reading.roles.values:  # without a query the messages were read for it
        reading.read("messages", readers.conversation)
    reading.read("actions", readers.actions)
    reading.read("tool_calls", readers.actions)


def _read_response(value: object) -> object:
    if isinstance(value, Mapping) and isinstance(value.get("choices"), list):
        return value
    if isinstance(value, Mapping):
        raise Unreadable("wrong_type", f"found object {quoted(value)}; expected a string or an array of messages")
    return value


def _read_context(value: object) -> object:
    if isinstance(value, Mapping):
        raise Unreadable("wrong_type", f"found object {quoted(value)}; expected a string or an array")
    return value


def _read_list(value: object) -> object:
    """Read a list that may come as JSON text; a lone definition is a list of one."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except JsonError as error:
            raise Unreadable(
                "wrong_type", f"found text that is no JSON ({error.message}); expected an array of objects"
            ) from None
    members = [value] if isinstance(value, Mapping) else value
    if not isinstance(members, list):
        raise Unreadable("wrong_type", f"found {json_type(value)} {quoted(value)}; expected an array of objects")
    for index, member in enumerate(members):
        if not isinstance(member, Mapping):
            raise Unreadable("wrong_type", f"found {json_type(member)} {quoted(member)}; expected an object", path=f"[{index}]")
    return members


def _read_tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(tag.strip() for tag in value.split(",") if tag.strip())
    if not isinstance(value, list):
        raise Unreadable("wrong_type", f"found {json_type(value)} {quoted(value)}; expected an array of texts")
    return tuple(read_text(tag) for tag in value)


def _fingerprint(roles: Roles, asked: Asked) -> str:
    """Digest all that is asked, expected and read by evaluators: everything but the id and what an agent did."""
    taken = set(roles.columns.values())
    unread = SAMPLE_ROLES | {"id", "query", "messages"}
    return digest({
        "asked": foundry_messages(asked.messages) if asked.messages else _summed_up(asked.text),
        "roles": {role: _summed_up(value) for role, value in roles.values.items() if role not in unread},
        "fields": {
            name: _summed_up(value) for name, value in roles.fields.items() if name not in taken and value is not None
        },
    })  # fmt: skip


def _summed_up(value: object) -> object:
    """Put the digest of a long text in its place: escaping a book as JSON costs more than reading it."""
    if isinstance(value, str) and len(value) > LONG_TEXT:
        return {"sha256": hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()}
    return value

"""What a person staring at a red build reads.

In: records of the standard `logging`. Out: plain lines at home; in Actions, `::error::` and `::warning::` commands of our own making.
Text from outside (an agent's output, a case id, an exception) can speak to the workflow log; nothing passes here before
`neutral` took its voice away. Source of the rules: actions/runner, `::name::` at a line's start and `##[name]` anywhere in it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import IO

MAX_ANNOTATION = 4_096  # characters; the runner cuts there
_BREAKS = re.compile(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_MASK = "***"


def lines_of(text: str) -> list[str]:
    """Split at every character that any reader takes for a line's end; control and invisible characters become U+FFFD."""
    return [_CONTROL.sub("\ufffd", line) for line in _BREAKS.split(text)]


def neutral(text: str) -> str:
    """Return the text with no line that a workflow log would obey; ordinary text stays as it is."""
    return "\n".join(_silenced(line) for line in lines_of(text))


def _silenced(line: str) -> str:
    if line.lstrip().startswith("::"):
        line = "| " + line
    return line.replace("##[", "# #[")


def escape_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property (file, title) of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def workflow_command(name: str, message: str, properties: Mapping[str, object] | None = None) -> str:
    """Write one command such as `::error file=a.jsonl,line=3::text`; every part is escaped."""
    given = [f"{key}={escape_property(str(value))}" for key, value in (properties or {}).items() if value is not None]
    return f"::{name}{' ' + ','.join(given) if given else ''}::{escape_data(message[:MAX_ANNOTATION])}"


class Redactor:
    """Takes known secrets out of any text, also where it quotes them as JSON or Python do.

    Values shorter than four characters would mask half of the text and are left.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        lines = {line.strip() for secret in secrets for line in [secret, *secret.splitlines()]}
        spellings = {spelling for line in lines if len(line) >= 4 for spelling in _spellings(line)}
        self._secrets = sorted(spellings, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text with every secret replaced by three stars."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text


def _spellings(text: str) -> tuple[str, ...]:
    return text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]


SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIAL|CONNECTION_STRING|(?:^|_)KEY$", re.IGNORECASE
)


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables whose names say that they are secret."""
    return tuple(value for name, value in environ.items() if value and SECRET_NAME.search(name))


class LineFormatter(logging.Formatter):
    """`message` for info, `warning: message` above; redacted and without a voice."""

    def __init__(self, redact: Redactor, *, locate: Callable[[str], str] | None) -> None:
        super().__init__()
        self._redact = redact
        self._locate = locate

    def format(self, record: logging.LogRecord) -> str:
        """Render one record."""
        text = self._redact(record.getMessage())
        if record.levelno < logging.WARNING:
            return neutral(text)
        name = "error" if record.levelno >= logging.ERROR else "warning"
        if self._locate is not None:
            file = getattr(record, "file", None)
            place = {"file": self._locate(file) if file else None, "line": getattr(record, "line", None)}
            return workflow_command(name, "\n".join(lines_of(text)), place)
        return neutral(f"{name}: {text}")


def set_up(stream: IO[str], *, level: int, redact: Redactor, locate: Callable[[str], str] | None) -> None:
    """Send the records of every `ci_eval` logger to the stream; replaces an earlier set-up.

    `locate`: in Actions, turns a file into its path in the checkout; None at home, where the log obeys no commands.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(redact, locate=locate))
    logger = logging.getLogger("ci_eval")
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False

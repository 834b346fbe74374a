"""What a person sees: standard output and error, whatever state they are in.

In: text. Out: nothing that could change an exit code: a reader that left, a full disk behind `>`, a closed descriptor or a narrow
encoding must not turn a verdict into another one.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from pathlib import Path

log = logging.getLogger(__name__)


def open_screen() -> None:
    """Make both streams take any text; called once, before the first word."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def show(text: str) -> None:
    """Write to standard output; what it does not take is told and left."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        log.warning("standard output takes no more text: %s", error.strerror or error)
        sys.stdout = _nowhere()  # else the interpreter tries once more at its end, and fails


def _nowhere() -> io.TextIOWrapper:
    return Path(os.devnull).open("w", encoding="utf-8")

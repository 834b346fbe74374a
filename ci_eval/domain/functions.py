"""A user's function in a process of its own, as other rooms see it. Implemented in `targets/`, handed over by the spine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class FunctionFailure(Exception):
    """The function gave no value."""

    def __init__(self, code: str, message: str, *, wanted: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        """`exception`, `timeout`, `not_found`, `bad_reply`, `crashed`."""
        self.message = message
        self.wanted = wanted
        """Names of arguments that the function needs and was not given: it was not called."""


class RemoteFunction(Protocol):
    """Calls `package.module:name` in the user's own interpreter, without our tokens in its environment."""

    async def call(self, arguments: Mapping[str, object]) -> object:
        """Pass JSON keyword arguments (those the function takes), return its JSON value; raise FunctionFailure otherwise."""
        ...

    async def close(self) -> None:
        """Stop the process."""
        ...

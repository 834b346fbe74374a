"""Calls one function of the user's, again and again, in the user's own interpreter.

Run by path as `python -u worker.py --function package.module:name [--lone query]`, the checkout being the working directory.
In: JSON Lines on stdin, `{"id": …, "arguments": {…}}`. Out: JSON Lines on what was stdout, `{"id": …, "value": …}` or
`{"id": …, "failure": {"code": …, "message": …}}`; the first line has the id `start`.

It must not import anything but the standard library, nor use syntax newer than Python 3.8: the interpreter is not ours.
Whatever the function prints goes to stderr, also from C code and child processes.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import importlib
import inspect
import json
import math
import os
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

CHECKOUT = Path.cwd()
OUTPUT_LIMIT = 10 * 1024 * 1024 - 1024  # bytes of one reply; the reader stops at 10 MB, line ends and noise included
DEPTH_LIMIT = 200  # levels of lists and objects: no answer is deeper, and those who read it recurse
MESSAGE_LIMIT = 2_000  # characters of an exception's text

BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
POSITIONAL = (*BY_PLACE, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Refused(Exception):
    """There is no value, and why."""

    def __init__(self, code: str, message: str, wanted: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.wanted = list(wanted)

    def failure(self) -> Mapping[str, object]:
        """Write what goes to the other side; `wanted` names arguments that were needed and not given."""
        failure = {"code": self.code, "message": self.message}
        return {**failure, "wanted": self.wanted} if self.wanted else failure


def main() -> int:
    """Load the function, then answer one request after the other until stdin ends."""
    options = read_options()
    requests, replies = take_streams()
    own_pid = os.getpid()
    try:
        function = load(options.function)
    except Refused as refused:
        send(replies, {"id": "start", "failure": refused.failure()})
        return 1
    send(replies, {"id": "start"})
    calls = Calls(function, options.lone)
    try:
        for line in requests:
            reply = calls.answer(json.loads(line))
            if os.getpid() != own_pid:
                os._exit(0)  # the function forked, and this is the child coming back
            send(replies, reply)
    except OSError:
        os._exit(1)  # the function closed descriptors that were not its own; there is nobody left to tell
    return 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--function", required=True)
    parser.add_argument("--lone", help="the argument for a function whose single parameter has a name of its own")
    return parser.parse_args()


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move the protocol to descriptors that no other program inherits; 1 becomes a second stderr, 0 becomes empty."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def send(replies: BinaryIO, reply: Mapping[str, object]) -> None:
    """Write one line; the line feed in front ends whatever somebody else left on the descriptor."""
    replies.write(b"\n" + json.dumps(reply, allow_nan=False).encode("ascii") + b"\n")
    replies.flush()


def load(target: str) -> Callable[..., object]:
    """Import `package.module:name` from the working directory."""
    own_folder = Path(__file__).resolve().parent
    sys.path[:] = [str(CHECKOUT), *(path for path in sys.path if path and Path(path).resolve() != own_folder)]
    sys.dont_write_bytecode = True  # the checkout stays as it is
    module_name, _, path = target.partition(":")
    found: object = import_module(module_name)
    for name in path.split("."):
        if not hasattr(found, name):
            raise Refused("not_found", f"{module_name} has no {path}{near_names(name, found)}")
        found = getattr(found, name)
    if not callable(found):
        raise Refused("not_found", f"{target} is of type {type_name(found)}; a function was expected")
    if inspect.isclass(found) and any("__call__" in vars(base) for base in found.__mro__):
        return instance_of(found, target)
    return found


def instance_of(found: Callable[[], Callable[..., object]], target: str) -> Callable[..., object]:
    """Make the object of a class whose objects are called."""
    try:
        return found()
    except BaseException as error:  # also sys.exit() in a constructor
        raise Refused("not_found", f"making an object of {target} failed: {describe(error)}") from error


def import_module(name: str) -> object:
    """Import a module and say plainly what stood in the way."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise Refused("not_found", f"there is no module {error.name} in {CHECKOUT}") from error
        raise Refused("not_found", f"importing {name} failed: {describe(error)}") from error
    except ImportError as error:
        raise Refused("not_found", f"importing {name} failed: {describe(error)}") from error
    except BaseException as error:  # a syntax error, or sys.exit() in the middle of a module
        raise Refused("exception", f"importing {name} failed: {describe(error)}") from error


class Calls:
    """The function, and the event loop that its coroutines share: a client opened in one call lives on in the next."""

    def __init__(self, function: Callable[..., object], lone: str | None) -> None:
        self.function = function
        self.lone = lone
        self.loop: asyncio.AbstractEventLoop | None = None

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, object]:
        """Call once and turn whatever happens into a reply."""
        try:
            value = self.value_of(request["arguments"])
            check_json(value)
            reply = {"id": request["id"], "value": value}
            check_size(reply)
        except Refused as refused:
            return {"id": request["id"], "failure": refused.failure()}
        except BaseException as error:  # noqa: BLE001 - also sys.exit() and KeyboardInterrupt: the next case has a right to its answer
            return {"id": request["id"], "failure": {"code": "exception", "message": describe(error)}}
        return reply

    def value_of(self, arguments: Mapping[str, object]) -> object:
        """Call, await, and collect what a generator yields."""
        positional, named = bind(self.function, arguments, self.lone)
        result = self.function(*positional, **named)
        if inspect.isawaitable(result):
            result = self.wait_for(awaited(result))
        if inspect.isasyncgen(result):
            return self.wait_for(collected(result))
        if inspect.isgenerator(result):
            return joined(list(within_limit(result)))
        return result

    def wait_for(self, coroutine: Coroutine[object, object, object]) -> object:
        """Run a coroutine on the one loop."""
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(coroutine)


async def awaited(awaitable: Awaitable[object]) -> object:
    """Make a coroutine of any awaitable."""
    return await awaitable


async def collected(stream: AsyncIterator[object]) -> object:
    """Collect an asynchronous generator."""
    pieces: list[object] = []
    size = 0
    async for piece in stream:
        size = grown(size, piece)
        pieces.append(piece)
    return joined(pieces)


def within_limit(stream: Iterator[object]) -> Iterator[object]:
    """Pass pieces on until they are too many."""
    size = 0
    for piece in stream:
        size = grown(size, piece)
        yield piece


def grown(size: int, piece: object) -> int:
    """Add up what a generator yields, so that an endless one ends before the memory does."""
    size += len(piece) if isinstance(piece, str) else 1
    if size > OUTPUT_LIMIT:
        raise Refused("bad_reply", "the function yielded more than 10 MB")
    return size


def joined(pieces: list[object]) -> object:
    """Make one answer of a stream: the joined text, or else the last value, which is the whole one."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) == len(pieces):
        return "".join(texts)
    return pieces[-1]


def bind(
    function: Callable[..., object], arguments: Mapping[str, object], lone: str | None
) -> tuple[list[object], dict[str, object]]:
    """Choose the arguments that the signature takes; Refused names those that it wants in vain."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin that tells nothing about itself
        return ([arguments[lone]], {}) if lone else ([], dict(arguments))
    own_name = lone_parameter(parameters, arguments, lone)
    positional: list[object] = []
    named: dict[str, object] = {}
    wanted: list[str] = []
    for parameter in parameters:
        source = lone if lone and parameter.name == own_name else parameter.name
        if parameter.kind == inspect.Parameter.VAR_KEYWORD:
            named.update({name: value for name, value in arguments.items() if name not in named})
        elif source in arguments and parameter.kind in BY_PLACE:
            positional.append(arguments[source])
        elif source in arguments:
            named[parameter.name] = arguments[source]
        elif parameter.kind == inspect.Parameter.VAR_POSITIONAL:
            continue
        elif parameter.default is inspect.Parameter.empty:
            wanted.append(parameter.name)
        elif parameter.kind == inspect.Parameter.POSITIONAL_ONLY:
            positional.append(parameter.default)  # keeps the place of the ones behind it
    if wanted:
        raise Refused("not_found", f"the function wants {', '.join(wanted)}; it can be given {', '.join(arguments)}", wanted)
    return positional, named


def lone_parameter(parameters: list[inspect.Parameter], arguments: Mapping[str, object], lone: str | None) -> str | None:
    """Find the parameter of `def answer(question)`: the only one that needs a value, with a name that we do not know."""
    by_place = [parameter for parameter in parameters if parameter.kind in POSITIONAL]
    if not by_place or any(parameter.name == lone for parameter in parameters):
        return None
    first, *others = by_place
    if any(parameter.name in arguments for parameter in by_place):
        return None
    if any(other.default is inspect.Parameter.empty and other.kind != inspect.Parameter.VAR_POSITIONAL for other in others):
        return None
    return first.name


def check_json(value: object) -> None:
    """Refuse, with its place, whatever JSON cannot say."""
    rest: list[tuple[object, str, int]] = [(value, "the value", 0)]
    while rest:
        item, place, depth = rest.pop()
        if depth > DEPTH_LIMIT:
            raise Refused("bad_reply", f"the value is nested more than {DEPTH_LIMIT} levels deep, or contains itself")
        if isinstance(item, dict):
            for key, inner in item.items():
                if not isinstance(key, str):
                    raise Refused("bad_reply", f"{place} has a key of type {type_name(key)}; JSON has text keys only")
                rest.append((inner, f"{place}[{key!r:.60}]", depth + 1))
        elif isinstance(item, (list, tuple)):
            rest.extend((inner, f"{place}[{index}]", depth + 1) for index, inner in enumerate(item))
        elif isinstance(item, float) and not math.isfinite(item):
            raise Refused("bad_reply", f"{place} is {item}, which is no JSON number")
        elif not (item is None or isinstance(item, (str, int, float))):
            raise Refused("bad_reply", f"{place} is of type {type_name(item)}, which is no JSON value")


def check_size(reply: Mapping[str, object]) -> None:
    """Refuse a reply over the limit, which is told here rather than found out by the reader."""
    try:
        size = len(json.dumps(reply, allow_nan=False))
    except (ValueError, TypeError) as error:  # an integer of more digits than Python writes
        raise Refused("bad_reply", f"the value cannot be written as JSON: {error}") from error
    if size > OUTPUT_LIMIT:
        raise Refused("bad_reply", f"the value takes {size:,} bytes as JSON; 10 MB are allowed")


def describe(error: BaseException) -> str:
    """Give the last line of a traceback, and where in the user's own code it happened."""
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - an exception whose text raises is still an exception
        words = "(its text cannot be read)"
    if len(words) > MESSAGE_LIMIT:
        words = f"{words[:MESSAGE_LIMIT]}… ({len(words):,} characters)"
    kind = type_name(error)
    place = place_of(error)
    return f"{kind}: {words}{place}" if words else f"{kind}{place}"


def place_of(error: BaseException) -> str:
    """Name the innermost line of the checkout that the exception passed through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = CHECKOUT / frame.filename
        if CHECKOUT in path.parents and "site-packages" not in path.parts:
            return f" ({path.relative_to(CHECKOUT)}:{frame.lineno} in {frame.name})"
    return ""


def type_name(value: object) -> str:
    """Name a type as a traceback does."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"


def near_names(name: str, holder: object) -> str:
    """Suggest what was meant."""
    near = difflib.get_close_matches(name, [other for other in dir(holder) if not other.startswith("_")], n=3, cutoff=0.4)
    return f"; near names: {', '.join(near)}" if near else ""


if __name__ == "__main__":
    sys.exit(main())

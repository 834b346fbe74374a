"""File -> text.

In: a path. Out: the decoded text with LF line ends, or a DataError that says what the bytes are instead. Reads one file, nothing else.
Source: the formats page, section 1.1.
"""

from __future__ import annotations

import codecs
import difflib
from dataclasses import dataclass
from pathlib import Path

from ci_eval.domain.json_text import quoted
from ci_eval.domain.notice import Notice
from ci_eval.errors import DataError, Problem

EMPTY = "the file is empty; expected at least one case"
_BLANKS = b" \t\r\n\f\v"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A data file, decoded."""

    text: str
    """Without a byte order mark; every CRLF is a LF."""
    shown: str
    """The path for messages, as the user wrote it."""
    suffix: str
    """Lower case, with the dot: `.jsonl`."""
    notices: tuple[Notice, ...] = ()

    def problem(  # noqa: PLR0913 - the parts of a Problem
        self,
        code: str,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> Problem:
        """Return a problem of this file."""
        return Problem(code=code, message=message, file=self.shown, line=line, column=column, field=field, hint=hint)


def read_source(path: Path, *, shown: str) -> SourceText:
    """Read and decode a file; DataError for anything that is no text."""
    data = _read_bytes(path, shown)
    source = SourceText(text="", shown=shown, suffix=path.suffix.lower())
    _refuse_other_kinds(data, source)
    notices: tuple[Notice, ...] = ()
    if data.startswith(_UTF16_MARKS):
        text = _decode_utf16(data, source)
        notices = (Notice(code="utf16", message="the file is UTF-16; it was decoded", location=shown),)
    else:
        text = _decode_utf8(data.removeprefix(codecs.BOM_UTF8), source)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        every_second = text.count("\0") * 3 >= len(text)
        guess = "; it looks like UTF-16 without its mark" if every_second else ""
        raise DataError(
            source.problem(
                "encoding", f"the byte 0x00 stands in the text{guess}; expected UTF-8", line=line, hint="save it as UTF-8"
            )
        )
    if not text or text.isspace():
        raise DataError(source.problem("empty_file", EMPTY))
    return SourceText(
        text=text.replace("\r\n", "\n") if "\r\n" in text else text, shown=shown, suffix=source.suffix, notices=notices
    )


def _read_bytes(path: Path, shown: str) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        near = _near_names(path)
        hint = f"did you mean {' or '.join(near)}?" if near else "paths are relative to the folder of the configuration"
        if "\\" in shown:
            hint = f"write / between folders, not \\; {hint}"
        raise DataError(Problem(code="file_not_found", message="there is no such file", file=shown, hint=hint)) from None
    except IsADirectoryError:
        raise DataError(Problem(code="file_not_found", message="a file was expected, found a folder", file=shown)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no valid path"
        raise DataError(Problem(code="file_not_found", message=f"the file can't be read: {reason}", file=shown)) from None


def _near_names(path: Path) -> list[str]:
    """Paths that are there and look alike: the first part that is missing is put right, if the rest is then there."""
    try:
        missing = next(part for part in reversed((path, *path.parents)) if not part.exists())
        names = [entry.name for entry in missing.parent.iterdir()]
        near = difflib.get_close_matches(missing.name, names, n=3, cutoff=0.5)
        paths = [missing.with_name(name) / path.relative_to(missing) for name in near]
        return [found.as_posix() for found in paths if found.exists()]
    except (OSError, ValueError, StopIteration):
        return []


def _refuse_other_kinds(data: bytes, source: SourceText) -> None:
    """Name the usual things that lie where data should lie."""
    start = data[:512].removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS)
    if not start and not data.strip(_BLANKS):
        raise DataError(source.problem("empty_file", EMPTY))
    if start.startswith(b"version https://git-lfs"):
        raise DataError(
            source.problem(
                "lfs_pointer", "the file is a Git LFS pointer, not the data",
                hint="add `lfs: true` to the checkout step of the workflow",
            )
        )  # fmt: skip
    if data.startswith((*_ZIP_STARTS, b"PAR1", b"\x1f\x8b")):
        raise DataError(source.problem("binary_file", _binary_kind(data, source.suffix)))
    if start[:9].lower() == b"<!doctype" or start[:5].lower() == b"<html":
        raise DataError(
            source.problem(
                "not_data", "the file is an HTML page, not data", hint="download the file itself, not the page that shows it"
            )
        )


def _binary_kind(data: bytes, suffix: str) -> str:
    if data.startswith(b"PAR1"):
        return "the file is Parquet; export it as JSONL or CSV"
    if data.startswith(b"\x1f\x8b"):
        return "the file is gzip; unpack it first"
    if suffix == ".eval":
        return "the file is a packed Inspect log (.eval); have Inspect dump it as JSON: inspect log dump"
    if suffix in (".xlsx", ".xlsm"):
        return "the file is an Excel workbook; save the sheet as CSV"
    return "the file is a zip archive; unpack it, or export JSON, JSONL or CSV"


def _decode_utf16(data: bytes, source: SourceText) -> str:
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise DataError(
            source.problem(
                "encoding", f"the UTF-16 text breaks off at byte {error.start}; expected UTF-8", hint="save it as UTF-8"
            )
        ) from None


def _decode_utf8(data: bytes, source: SourceText) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        near = data[max(error.start - 20, data.rfind(b"\n", 0, error.start) + 1) : error.start].decode("utf-8", "replace")
        message = f"the byte {byte} after {quoted(near)} is not UTF-8; expected UTF-8"
        raise DataError(source.problem("encoding", message, line=line, hint="save the file as UTF-8")) from None

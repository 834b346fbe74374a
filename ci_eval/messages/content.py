"""Content items: what stands within one message.

In: the items of a `content` list. Out: parts. A new kind of item is one row in ITEM_READERS; a kind nobody knows is kept as Other. Pure.
Source: the formats page, section 2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from ci_eval.domain.message import Media, Other, Part, Reasoning, Refusal, Text, ToolResult
from ci_eval.messages.calls import read_call, read_id
from ci_eval.messages.drafts import wrong_type

Item: TypeAlias = Mapping[str, object]
ItemReader: TypeAlias = Callable[[Item, str], Part | None]
MediaKind: TypeAlias = Literal["image", "audio", "video", "file"]


def read_content(content: object, path: str) -> tuple[list[Part], str | None]:
    """Return the parts of a text or a list of items, and the kind of the last item."""
    if content is None:
        return [], None
    if isinstance(content, str):
        return ([Text(text=content)] if content else []), "text"
    if not isinstance(content, list):
        raise wrong_type(content, "text or an array of content items", path)
    parts: list[Part] = []
    kind: str | None = None
    for index, item in enumerate(content):
        part, kind = _read_item(item, f"{path}[{index}]")
        if part is not None:
            parts.append(part)
    return parts, kind


def _read_item(item: object, path: str) -> tuple[Part | None, str]:
    if isinstance(item, str):
        return (Text(text=item) if item else None), "text"
    if not isinstance(item, Mapping):
        raise wrong_type(item, "a content item (object) or text", path)
    written = item.get("type")
    if not isinstance(written, str):
        written = "text" if isinstance(item.get("text"), str) else "tool_call" if "tool_call" in item else "without a type"
    reader = ITEM_READERS.get(written)
    return (reader(item, path) if reader else Other(source_type=written)), written


def output_value(value: object) -> object:
    """Return what a tool gave back: a list of nothing but content blocks becomes its text, every other value stays."""
    if isinstance(value, list) and value and all(_is_block(block) for block in value):
        return "\n".join(_block_text(block) for block in value)
    return value


def error_mark(source: Mapping[str, object]) -> bool | None:
    """Return what a result says of itself: `is_error`, else True when it holds an `error`, else nothing."""
    is_error = source.get("is_error")
    if isinstance(is_error, bool):
        return is_error
    return True if source.get("error") else None


def _is_block(block: object) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("type"), str) and block["type"] in _BLOCK_NAMES


def _block_text(block: Item) -> str:
    name = _BLOCK_NAMES[str(block["type"])]
    return str(block.get("text") or "") if name == "text" else f"[{name}]"


_BLOCK_NAMES: Final[Mapping[str, str]] = {
    "text": "text", "input_text": "text", "output_text": "text",
    "image": "image", "image_url": "image", "input_image": "image",
    "document": "document", "file": "file", "input_file": "file", "input_audio": "audio", "audio": "audio",
}  # fmt: skip


def _text(item: Item, path: str) -> Part | None:
    text = item.get("text")
    if isinstance(text, Mapping):
        text = text.get("value")
    words = _words(text, f"{path}.text")
    return Text(text=words) if words else None


def _refusal(item: Item, path: str) -> Part | None:
    words = _words(item.get("refusal"), f"{path}.refusal")
    return Refusal(text=words) if words else None


def _words(value: object, path: str) -> str:
    """Read a text; "" where there is none."""
    if value is not None and not isinstance(value, str):
        raise wrong_type(value, "text", path)
    return value or ""


def _reasoning(item: Item, _path: str) -> Part | None:
    """Take the words of the thinking itself, else of its summary; nothing when it is encrypted."""
    for key in ("thinking", "text", "content", "summary", "reasoning"):
        value = item.get(key)
        if isinstance(value, str) and value:
            return Reasoning(text=value)
        if isinstance(value, list):
            texts = [str(block["text"]) for block in value if isinstance(block, Mapping) and isinstance(block.get("text"), str)]
            if any(texts):
                return Reasoning(text="\n".join(texts))
    return None


def _result(item: Item, _path: str) -> Part | None:
    kind = str(item.get("type"))
    value = next((item[key] for key in (kind, "output", "content", "error") if item.get(key) is not None), None)
    name, status = item.get("name"), item.get("status")
    return ToolResult(
        output=output_value(value), id=read_id(item),
        name=name if isinstance(name, str) else None,
        is_error=error_mark(item),
        status=status if isinstance(status, str) else None,
    )  # fmt: skip


def _media(kind: MediaKind) -> ItemReader:
    def read(item: Item, _path: str) -> Part | None:
        holder = item.get(str(item.get("type")))
        found: Item = holder if isinstance(holder, Mapping) else {**item, "url": holder} if isinstance(holder, str) else item
        ref = next((found[key] for key in ("url", "image_url", "file_id", "file_url", "uri") if found.get(key)), None)
        mime = found.get("mime") or found.get("mime_type")
        if not isinstance(ref, str):
            return Media(kind=kind, mime=mime if isinstance(mime, str) else None, ref="inline")
        if ref.startswith("data:"):
            return Media(kind=kind, mime=ref[5:].partition(";")[0].partition(",")[0] or None, ref="inline")
        return Media(kind=kind, mime=mime if isinstance(mime, str) else None, ref=ref)

    return read


def _nothing(_item: Item, _path: str) -> Part | None:
    return None


ITEM_READERS: Final[Mapping[str, ItemReader]] = {
    "text": _text, "input_text": _text, "output_text": _text,
    "refusal": _refusal,
    "reasoning": _reasoning, "thinking": _reasoning, "redacted_thinking": _nothing,
    "tool_call": read_call, "function_call": read_call, "openapi_call": read_call, "tool_use": read_call,
    "tool_result": _result, "function_call_output": _result, "openapi_call_output": _result,
    "mcp_approval_request": _nothing, "mcp_approval_response": _nothing,
    "image_url": _media("image"), "input_image": _media("image"), "image": _media("image"),
    "input_audio": _media("audio"), "audio": _media("audio"),
    "input_video": _media("video"), "video_url": _media("video"),
    "file": _media("file"), "input_file": _media("file"), "document": _media("file"),
}  # fmt: skip
"""Kind of item to its reader."""

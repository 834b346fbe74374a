"""Checks of our own: plain functions that score one answer. ci-eval hands each the fields it asks for by name."""

from __future__ import annotations

import json
import re
from typing import Any

REFERENCE = re.compile(r"\b(?=\w*\d)(?=\w*[a-z])[a-z0-9]{6}\b", re.IGNORECASE)


def no_tool_refused(messages: list[dict[str, Any]]) -> dict[str, object]:
    """A tool that refuses was asked for something that cannot be done."""
    results = [item for message in messages for item in message["content"] if item["type"] == "tool_result"]
    refused = [f"{result['name']}: {json.loads(result['tool_result'])['error']}" for result in results if result["is_error"]]
    return {"score": int(not refused), "reason": "; ".join(refused) or f"{len(results)} calls, none refused"}


def names_the_booking(query: str, response: str) -> dict[str, object]:
    """A customer who gives a booking reference finds it in the answer."""
    asked = REFERENCE.search(query)
    if asked is None:
        return {"score": 1, "reason": "the request names no booking"}
    reference = asked[0].upper()
    if reference in response:
        return {"score": 1, "reason": f"the answer names {reference}"}
    return {"score": 0, "reason": f"the answer does not name {reference}"}

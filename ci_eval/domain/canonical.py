"""JSON values: one spelling, one digest, one equality.

In: plain JSON values as `json.loads` gives them. Out: text, digests, booleans.
Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence


def canonical_json(value: object) -> str:
    """Write sorted keys, no insignificant white space, non-ASCII written out."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical JSON, 64 hexadecimal digits; lone surrogates count as themselves."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def json_equal(left: object, right: object) -> bool:
    """Compare as JSON: 48 equals 48.0, true differs from 1, big integers are not merged, key order is free."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right  # Python compares int and float exactly
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(json_equal(a, b) for a, b in zip(left, right, strict=True))
    return type(left) is type(right) and left == right


def compact(value: object) -> str:
    """Show a JSON value in a line: text as it is, everything else as compact JSON in its own key order."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)


def is_list_of_objects(value: object) -> bool:
    """True for a list (maybe empty) of JSON objects."""
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(v, Mapping) for v in value)

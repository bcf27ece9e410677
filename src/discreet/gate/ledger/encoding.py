"""Canonical bytes: one value, one text, so that a hash of the text is a hash of the value."""

import json
from collections.abc import Callable, Mapping
from json.scanner import make_scanner
from typing import Any

from discreet.core import InvalidInput

Fields = dict[str, Any]

#: Reads one value and tells where it ends: `json.loads` without the spaces that canonical bytes never have.
SCAN: Callable[[str, int], tuple[Any, int]] = make_scanner(json.JSONDecoder())  # type: ignore[arg-type] # typed as its own argument


def canonical(fields: Mapping[str, Any]) -> bytes:
    """Return JSON in ASCII, keys in order, no spaces; floats have no place in it."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def parse_canonical(body: bytes) -> Fields:
    """Return what canonical bytes say; other bytes are refused."""
    try:
        text = body.decode("ascii")
        fields, end = SCAN(text, 0)
    except (ValueError, StopIteration, RecursionError):
        fields, end, text = None, 0, ""
    if type(fields) is not dict or end != len(text):
        raise InvalidInput("This is not the text of an event.", fix="pass the bytes as they were stored")
    return fields

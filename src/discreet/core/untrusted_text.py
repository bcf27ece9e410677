"""Reads JSON and exact numbers from untrusted sources: one meaning each, and no more work than the text is long.

Python's own readers take the last of two equal keys, numbers that are none (`NaN`), nesting without end, and exact
numbers such as `1e999999999`, whose digits would take hours to write out.
"""

import json
import math
import re
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidInput

#: Digits of a whole number, of a numerator or of a denominator: what Python itself reads at most.
MOST_DIGITS = 4300
#: A text such as -12, 7/30 or 0.25; exponents are refused, however small.
NUMBER = re.compile(r"-?[0-9]+(?:/[0-9]+|\.[0-9]+)?")
#: The deepest nesting of a JSON text.
DEEPEST = 100


def read_fraction(text: object) -> Fraction:
    """Return the exact number that a text says, if it is written as our own are: no exponent, no spaces."""
    if isinstance(text, str) and len(text) <= 2 * MOST_DIGITS + 2 and NUMBER.fullmatch(text):
        parts = re.split(r"[/.]", text)
        if max(map(len, parts)) <= MOST_DIGITS and not ("/" in text and not int(parts[1])):
            return Fraction(text)
    raise InvalidInput("A number in this text is missing or misspelt.", fix="pass the text as it was written")


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; refuse equal keys in one object, NaN, infinities, and deep nesting."""
    try:
        value = json.loads(text, object_pairs_hook=_need_unique_keys, parse_constant=_refuse, parse_float=_finite)
        _need_shallow(value)
    except RecursionError:
        raise _unreadable() from None
    return value


def _need_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise InvalidInput("This text contains a key twice.", fix="ask its author for a new one")
    return by_key


def _refuse(_constant: str) -> Any:
    raise _unreadable()


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _unreadable()
    return number


def _need_shallow(value: Any) -> None:
    """Refuse values that are nested deeper than any of ours: a later walk over them would exhaust the stack."""
    level, depth = [value], 0
    while level:
        if depth > DEEPEST:
            raise _unreadable()
        inside: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inside += item.values()
            elif isinstance(item, list):
                inside += item
        level, depth = [item for item in inside if isinstance(item, dict | list)], depth + 1


def _unreadable() -> InvalidInput:
    return InvalidInput("This text was not written by discreet.", fix="ask its author for a new one")

"""Marks by which a unit's own rows and groups are chosen: the same on every engine, and nobody else's business.

mark(salt, a, b) = mix(mix(salt ⊕ a) + b·G), all modulo 2⁶⁴, where mix is the finaliser of SplitMix64 (Steele, Lea,
Flood 2014) and G = 0x9E3779B97F4A7C15. Marks need not be secret or independent: privacy holds for any choice that
depends on the unit's own rows alone. They should look random, so that the choice is fair.

The name of a text t is the last 8 bytes of md5(UTF-8 of t) read as a little-endian number (`md5_number_lower` of
DuckDB). A unit's name is that of its id as text; a group's is that of `group_text`. With rows as units there is one row
a unit and nothing to choose; every name is 0.
"""

import hashlib
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.schema import Value

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
#: A mark that decides has so many bits: the upper half.
BITS = 32

Words = NDArray[np.uint64]


def mix(word: int) -> int:
    """Return the finaliser of SplitMix64 of one word."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def mark(salt: int, name: int, other: int) -> int:
    """Return a unit's mark for something, 64 bits."""
    return mix((mix((salt ^ name) & MASK) + other * GOLDEN) & MASK)


def mix_words(words: Words) -> Words:
    """Return `mix` of many words. Works in place: the argument is gone."""
    spare = words >> np.uint64(30)
    words ^= spare
    words *= np.uint64(0xBF58476D1CE4E5B9)
    np.right_shift(words, np.uint64(27), out=spare)
    words ^= spare
    words *= np.uint64(0x94D049BB133111EB)
    np.right_shift(words, np.uint64(31), out=spare)
    words ^= spare
    return words


def name_of(text: str) -> int:
    """Return the name of a text."""
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[8:], "little")


def salt_of(text: str) -> int:
    """Return the salt of a plan, from all that it says; public."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def group_text(group: tuple[Value, ...]) -> str:
    """Return the text that a group is named by: for each key its length and its text, or 'n' for NULL."""
    return "".join("n" if value is None else _with_length(value_text(value)) for value in group)


def _with_length(text: str) -> str:
    return f"{len(text)}:{text}"  # in code points


def value_text(value: Value) -> str:
    """Return a value as text; dates as YYYY-MM-DD. Reals and timestamps are no keys."""
    match value:
        case bool():
            return "true" if value else "false"
        case date():
            return value.isoformat()
        case _:
            return str(value)


def group_order(group: tuple[Value, ...]) -> tuple[Any, ...]:
    """Return what groups are sorted by: key by key, NULL first, texts by their UTF-8 bytes."""
    return tuple(
        (0, 0) if value is None else (1, value.encode() if isinstance(value, str) else value) for value in group
    )

"""Hash function that samples a unit's rows and groups; identical on all engines. A hash is called a mark.

All arithmetic is modulo 2³², with multipliers below 2³⁰: so that an engine whose widest number is a signed one of 64
bits can do it, too.

* mark(salt, name, other) = mix(salt + name·G + other·H), and mix(x): x ← x ⊕ (x ≫ 16), x ← x·A, x ← x ⊕ (x ≫ 12),
  x ← x·B (the mixer of Wellons' *hash-prospector* less its last step, which would leave the upper bits as they are).
* The word of a value: of an integer v ⊕ (v ≫ 32)·K, of a date its days since 1970 and of a boolean 0 or 1, both
  as integers; of a text the first four bytes of md5(UTF-8), the first one highest; of NULL a constant.
* Rows of one unit never have the same mark, as no unit has 2³² of them; two groups have if their names are equal.
* The name of a unit is the word of its id. The name of a group, word by word: h ← h·K + word, from h = 0. With rows as
  units there is one row a unit and nothing to choose; every name is 0.

Marks need not be secret or independent: privacy holds for any choice that depends on the unit's own rows alone. They
should look random, so that the choice is fair.
"""

import hashlib
from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.schema import Value, day_number

MASK = (1 << 32) - 1
#: The multipliers of the names of units and of groups, of the numbers of rows, and of words within a name.
UNITS, OTHERS, KEYS = 0x1E3779B9, 0x35EBCA6B, 0x27D4EB2F
#: The mixer's multipliers and shifts.
FIRST, SECOND, SHIFTS = 0x2C1B3C6D, 0x297A2D39, (16, 12)
#: The word of NULL.
NULL = 0x6E756C6C

Words = NDArray[np.uint32]


def mix(word: int) -> int:
    """Return one word, mixed."""
    word = ((word ^ (word >> SHIFTS[0])) * FIRST) & MASK
    return ((word ^ (word >> SHIFTS[1])) * SECOND) & MASK


def mark(salt: int, name: int, other: int) -> int:
    """Return a unit's mark for something: a group by its name, or a row by its number."""
    return mix((salt + name * UNITS + other * OTHERS) & MASK)


def mix_words(words: Words) -> Words:
    """Return `mix` of many words. Works in place: the argument is gone."""
    spare = words >> np.uint32(SHIFTS[0])
    words ^= spare
    words *= np.uint32(FIRST)
    np.right_shift(words, np.uint32(SHIFTS[1]), out=spare)
    words ^= spare
    words *= np.uint32(SECOND)
    return words


def word_of(value: Value) -> int:
    """Return the word of one value. Reals and timestamps cannot be keys."""
    match value:
        case None:
            return NULL
        case str():
            return int.from_bytes(hashlib.md5(value.encode(), usedforsecurity=False).digest()[:4], "big")
        case bool() | int():
            number = int(value)
        case date():
            number = day_number(value)
        case _:
            number = int(value)
    return (number ^ (number >> 32) * KEYS) & MASK


def name_of(values: Iterable[Value]) -> int:
    """Return the name of a group; of a unit, that of its id alone."""
    name = 0
    for value in values:
        name = (name * KEYS + word_of(value)) & MASK
    return name


def salt_of(text: str) -> int:
    """Return the salt of a plan, from all that it says; public."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def value_text(value: Value) -> str:
    """Return a value as text; dates as YYYY-MM-DD. Reals and timestamps cannot be keys."""
    match value:
        case bool():
            return "true" if value else "false"
        case date():
            return value.isoformat()
        case _:
            return str(value)


def group_order(group: tuple[Value, ...]) -> tuple[Any, ...]:
    """Return the sort key of groups: key by key, NULL first, texts by their UTF-8 bytes."""
    return tuple(
        (0, 0) if value is None else (1, value.encode() if isinstance(value, str) else value) for value in group
    )

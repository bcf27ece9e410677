"""Choosing among one unit's own rows; and what bounding is made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.row_hashes import MASK, OTHERS, UNITS, Words, mix_words
from discreet.data.engine_rules import engine_failed

#: A piece has so many rows: what 16 bits can number.
PIECE = 1 << 16
LOWER, UPPER = np.uint64(16), np.uint64(48)
LAST_16 = np.uint64(0xFFFF)
PLACES = np.arange(PIECE, dtype=np.uint64)

#: From so many rows on that may stay, they stay side by side.
SPREAD = 1 << 27

Ints = NDArray[np.intp]
Longs = NDArray[np.uint64]


def choose_rows(salt: int, names: Words, lengths: Ints, most: int) -> Ints:
    """Return the places of rows that stay, from the runs' lengths, all above `most`, and the names of their units.

    Rows of a run compete with each other and with no others, and stand in their order.
    Proof that k of c stay: let a(n) = n·k − s. As k < c, a(n) mod c < k just where ⌊a(n)/c⌋ is one more than
    ⌊a(n − 1)/c⌋; over n = 0, …, c − 1 this adds up to ⌊(ck − k − s)/c⌋ − ⌊(−k − s)/c⌋ = k. And for each n, a(n) takes
    each value mod c for one s, so that k of the c starts let it stay.
    """
    starts = mix_words(unit_words(salt + 1, names) + lengths.astype(np.uint32) * np.uint32(OTHERS))
    number = np.arange(int(lengths.sum())) - (np.cumsum(lengths) - lengths).repeat(lengths)
    number *= stride(most)
    number += (lengths - starts % lengths).repeat(lengths)
    number %= lengths.repeat(lengths)
    return np.flatnonzero(number < most)


def stride(most: int) -> int:
    """Return by how much the numbers of neighbours differ, that are reduced to choose `most` of them.

    No table has 2³⁶ rows: a product with what is below 2²⁷ is below 2⁶³.
    """
    return most if most < SPREAD else 1


def unit_words(salt: int, names: Words) -> Words:
    """Return the prefix of the marks of each unit."""
    return names * np.uint32(UNITS) + np.uint32(salt & MASK)


def pack_words(first: Longs, second: Words) -> Longs:
    """Return the sorted words [first 16 | second 32 | place 16]."""
    words = first << UPPER
    words |= second.astype(np.uint64) << LOWER
    words |= PLACES[: len(words)]
    words.sort()
    return words


def ranges(begins: Ints, lengths: Ints) -> Ints:
    """Return begin, begin + 1, … for each begin, so many of them."""
    ends = np.cumsum(lengths)
    places = np.arange(int(ends[-1]) if len(ends) else 0)
    places += (begins - ends + lengths).repeat(lengths)
    return places


def check_differ(later: NDArray[Any], earlier: NDArray[Any]) -> None:
    """Stop where a bound does not hold after all: a wrong sensitivity would be a broken promise."""
    if np.any(later == earlier):
        raise engine_failed()


def check_loads(loads: NDArray[Any], most: int) -> None:
    """Stop where a bound does not hold after all: a wrong sensitivity would be a broken promise."""
    if len(loads) and int(loads.max()) > most:
        raise engine_failed()

"""Choosing among one unit's own rows, by their marks; and what bounding is made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.errors import engine_failed
from discreet.data.marks import MASK, OTHERS, UNITS, Words, mix_words
from discreet.data.unit_rows import Placed

#: A piece has so many rows: what 16 bits can number.
PIECE = 1 << 16
LOWER, UPPER = np.uint64(16), np.uint64(48)
LAST_16 = np.uint64(0xFFFF)
PLACES = np.arange(PIECE, dtype=np.uint64)

Ints = NDArray[np.intp]
Longs = NDArray[np.uint64]


def chosen(salt: int, rows: Placed, unit: Ints, lengths: Ints, mine: Ints, most: int) -> Ints:
    """Return which of some rows have the smallest marks in their run; each run is of one unit."""
    labels = unit_words(salt + 1, rows.names[unit]).repeat(lengths)
    number = (mine - rows.begins[unit].repeat(lengths)).astype(np.uint32)
    number *= np.uint32(OTHERS)
    labels += number
    labels = mix_words(labels)
    run = np.arange(len(unit), dtype=np.uint64).repeat(lengths)
    # Within a run, rows already stand in their order, so that their place here breaks ties like their number.
    order = order_of(run, labels)
    rank = np.arange(len(order)) - (np.cumsum(lengths) - lengths).repeat(lengths)
    return order[rank < most]


def unit_words(salt: int, names: Words) -> Words:
    """Return what the marks of each unit begin with."""
    return names * np.uint32(UNITS) + np.uint32(salt & MASK)


def packed(first: Longs, second: Words) -> Longs:
    """Return the sorted words [first 16 | second 32 | place 16]."""
    words = first << UPPER
    words |= second.astype(np.uint64) << LOWER
    words |= PLACES[: len(words)]
    words.sort()
    return words


def order_of(first: Longs, second: Words) -> Ints:
    """Return the order by first, second and place."""
    if len(first) > PIECE:
        return np.lexsort((second, first))
    words = packed(first, second)
    words &= LAST_16
    return words.view(np.int64)


def ranges(begins: Ints, lengths: Ints) -> Ints:
    """Return begin, begin + 1, … for each begin, so many of them."""
    ends = np.cumsum(lengths)
    places = np.arange(int(ends[-1]) if len(ends) else 0)
    places += (begins - ends + lengths).repeat(lengths)
    return places


def differ(later: NDArray[Any], earlier: NDArray[Any]) -> None:
    """Stop where a bound does not hold after all: a wrong sensitivity would be a broken promise."""
    if np.any(later == earlier):
        raise engine_failed()


def check(loads: NDArray[Any], most: int) -> None:
    """Stop where a bound does not hold after all: a wrong sensitivity would be a broken promise."""
    if len(loads) and int(loads.max()) > most:
        raise engine_failed()

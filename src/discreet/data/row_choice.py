"""Choosing among one unit's own rows, by their marks; and what bounding is made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.errors import engine_failed
from discreet.data.marks import MASK, OTHERS, UNITS, Words, mix_words

#: A piece has so many rows: what 16 bits can number.
PIECE = 1 << 16
LOWER, UPPER = np.uint64(16), np.uint64(48)
LAST_16 = np.uint64(0xFFFF)
PLACES = np.arange(PIECE, dtype=np.uint64)

Ints = NDArray[np.intp]
Longs = NDArray[np.uint64]


def chosen(salt: int, names: Words, lengths: Ints, most: int) -> Ints:
    """Return the places of rows with the smallest marks in their run, from the runs' lengths and their units' names.

    The rows of a run stand in their order, and compete with no others.
    """
    number = np.arange(int(lengths.sum())) - (np.cumsum(lengths) - lengths).repeat(lengths)
    labels = number.astype(np.uint32)
    labels *= np.uint32(OTHERS)
    labels += unit_words(salt + 1, names).repeat(lengths)
    labels = mix_words(labels)
    run = np.arange(len(lengths), dtype=np.uint64).repeat(lengths)
    order = order_of(run, labels)  # places break ties like numbers
    return order[number < most]  # in this order, too, a run's rows are numbered from 0 on


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

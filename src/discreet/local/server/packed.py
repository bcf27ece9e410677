"""Sets as bits of 64-bit words, one row for each report, and the count of each bit."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]

ONE = np.uint64(1)
#: Rows that are added up at a time, so that they stay in the processor's cache.
ROWS = 1 << 12


def words_for(domain: int) -> int:
    """Return the number of words that hold a set."""
    return -(-domain // 64)


def places_of(values: Integers, domain: int) -> tuple[Integers, Words]:
    """Return the position of the bit of each row's own value: the word among all, and the bit in it."""
    word = np.arange(len(values)) * words_for(domain) + (values >> 6)
    return word, ONE << (values & 63).astype(np.uint64)


def trim_rows(rows: Words, domain: int) -> Words:
    """Clear the bits beyond the domain, in place."""
    if domain % 64:
        rows[:, -1] &= np.uint64((1 << domain % 64) - 1)
    return rows


def pack_sets(sets: Iterable[int], domain: int) -> Words:
    """Return sets that came as whole numbers, as rows of words."""
    width = words_for(domain) * 8
    data = b"".join(members.to_bytes(width, "little") for members in sets)
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, width // 8)


def unpack_sets(rows: Words) -> list[int]:
    """Return rows of words as whole numbers."""
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in rows]


def sizes_of(rows: Words) -> Integers:
    """Return the number of bits that each row has."""
    return np.asarray(_bit_counts(rows).sum(axis=1, dtype=np.int64))


def _bit_counts(words: Words) -> NDArray[Any]:
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(words))
    table = np.array([number.bit_count() for number in range(256)], np.uint8)  # NumPy 1
    return np.asarray(table[words.view(np.uint8)].reshape(*words.shape, 8).sum(axis=-1, dtype=np.uint8))


def column_counts(rows: Words, domain: int) -> Integers:
    """Return the number of rows that have each bit."""
    total = np.zeros(rows.shape[1] * 64, np.int64)
    for start in range(0, len(rows), ROWS):
        weight, level = 1, rows[start : start + ROWS]
        while len(level):
            rest, level = _add_with_carries(level)
            total += weight * _sum_bits(rest)
            weight *= 2
    return total[:domain]


def _add_with_carries(level: Words) -> tuple[Words, Words]:
    """Return at most two rows, and rows that count double, which together have each bit as often as before.

    A full adder takes three rows: where one or three of them have a bit, the sum has it; where two or more, the carry.
    """
    carries = []
    while len(level) > 2:
        third = len(level) // 3
        first, second, last = level[:third], level[third : 2 * third], level[2 * third : 3 * third]
        either = first ^ second
        carries.append(first & second | last & either)
        level = np.concatenate([either ^ last, level[3 * third :]])
    return level, np.concatenate(carries) if carries else level[:0]


def _sum_bits(rows: Words) -> Integers:
    bits = np.unpackbits(rows.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return np.asarray(bits.sum(axis=0, dtype=np.int64))

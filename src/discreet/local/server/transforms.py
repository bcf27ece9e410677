"""Fast transforms: sums over all hash functions at once."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.local.device.hashing import FiniteField

Integers = NDArray[np.int64]


def hadamard_transform(values: Integers) -> Integers:
    """Return Σ over r of values[r]·(−1)^⟨r, x⟩ for every x, exactly; the length is a power of two."""
    sums = values.astype(np.int64)
    half = 1
    while half < len(sums):
        pairs = sums.reshape(-1, 2, half)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        half *= 2
    return sums


@lru_cache(maxsize=16)
def tables(finite: FiniteField) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the tables of sums and of products of a field."""
    numbers = range(finite.size)
    plus = np.array([[finite.plus(first, second) for second in numbers] for first in numbers], np.uint8)
    times = np.array([[finite.times(first, second) for second in numbers] for first in numbers], np.uint8)
    plus.flags.writeable = times.flags.writeable = False  # they are kept
    return plus, times


def hash_supports(counts: Integers, finite: FiniteField) -> Integers:
    """Return for every x how many reports support it, from how many there are of each seed and bucket.

    The counts have an axis for each digit of the seed, the lowest one first, and one for the bucket. Digit by digit, an
    axis of the seed becomes one of x: Σ over a of counts[a, y + a·x] is what is left to be told by the other digits.
    For the last digit only what is left at bucket 0 is looked up: Σ over a of counts[a, a·x].
    """
    plus, times = tables(finite)
    left = counts
    for axis in range(counts.ndim - 2):
        front = np.moveaxis(left, axis, 0)
        moved = np.zeros_like(front)
        for x in range(finite.size):
            for a in range(finite.size):
                moved[x] += front[a][..., plus[:, times[a, x]]]
        left = np.moveaxis(moved, 0, axis)
    numbers = np.arange(finite.size)
    return np.stack([left[..., numbers, times[:, x]].sum(axis=-1) for x in numbers], axis=-1)

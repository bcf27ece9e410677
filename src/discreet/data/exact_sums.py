"""Exact sums of integers by group, with float64 as the adder only where it cannot round."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: float64 adds integers exactly below this.
EXACT = 1 << 53
#: int64 holds totals below this.
NARROW = 1 << 62
#: Squares of magnitudes below this fit into int64.
ROOT = 1 << 31
#: Larger magnitudes are squared by halves of so many bits.
HALF = 27


def count_by(codes: NDArray[np.intp], size: int) -> NDArray[np.int64]:
    """Return how often each code occurs."""
    return np.bincount(codes, minlength=size).astype(np.int64, copy=False)


def sum_by(codes: NDArray[np.intp], numbers: NDArray[Any], most: int, size: int) -> NDArray[Any]:
    """Return the sum of numbers (whole, none larger than `most`) of each code; objects where int64 is too narrow."""
    rows = max(len(numbers), 1)
    if rows * most < EXACT:
        return np.bincount(codes, weights=numbers, minlength=size).astype(np.int64)
    bits = (EXACT // rows).bit_length() - 1
    whole = numbers.astype(np.int64, copy=False)
    upper = whole >> bits  # rounds down, so that the lower bits are not negative
    lower = whole - (upper << bits)
    uppers = sum_by(codes, upper, (most >> bits) + 1, size)
    lowers = np.bincount(codes, weights=lower, minlength=size).astype(np.int64)
    if rows * most < NARROW:
        return np.asarray(uppers * (1 << bits) + lowers)
    return np.asarray(uppers.astype(object) * (1 << bits) + lowers.astype(object))


def squares_by(codes: NDArray[np.intp], numbers: NDArray[Any], most: int, size: int) -> NDArray[Any]:
    """Return the sum of squares of numbers (whole, none larger than `most`) of each code."""
    if most < ROOT:
        whole = numbers.astype(np.int64, copy=False)
        return sum_by(codes, whole * whole, most * most, size)
    whole = np.abs(numbers.astype(np.int64, copy=False))
    upper = whole >> HALF
    lower = whole - (upper << HALF)
    above, below = (most >> HALF) + 1, 1 << HALF
    parts = (
        (sum_by(codes, upper * upper, above * above, size), 2 * HALF),
        (sum_by(codes, upper * lower, above * below, size), HALF + 1),
        (sum_by(codes, lower * lower, below * below, size), 0),
    )
    return sum((part.astype(object) * (1 << shift) for part, shift in parts), np.zeros(size, dtype=object))

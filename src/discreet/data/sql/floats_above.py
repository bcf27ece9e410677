"""Exact integers as float64, never below what they were: what a contribution is told in."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: float64 holds all integers up to this.
EXACT = 1 << 53


def floats_above(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each number the least float64 that is not below it.

    They are whole and not negative: integers below 2⁶², Python's own of any size, or float64 already.
    """
    if numbers.dtype.kind == "O":
        return np.array([_above(int(number)) for number in numbers.tolist()], dtype=np.float64)
    nearest = numbers.astype(np.float64)
    if numbers.dtype.kind == "f" or numbers.max(initial=0) <= EXACT:
        return nearest
    return np.where(nearest.astype(np.int64) < numbers, np.nextafter(nearest, np.inf), nearest)


def _above(number: int) -> float:
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if int(nearest) >= number else math.nextafter(nearest, math.inf)

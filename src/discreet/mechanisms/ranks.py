"""Counts in the order of their cells, and how far a cell is from a wanted rank: exact integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, OutOfRange
from discreet.mechanisms.integers import read_integers

#: More cells than this are a grid too fine for a histogram.
MOST_CELLS = 1 << 24
#: Levels with a larger denominator than this ask for more than any histogram can tell.
FINEST = 10**6
#: Ranks times denominators stay below this.
WIDEST = 1 << 62
COUNTS = "pass how many rows lie in each cell, as an integer array or a list of ints"

Counts = NDArray[np.int64]


def read_cells(counts: object, finest: int = 1, *, dimensions: int = 1) -> Counts:
    """Return counts by cell as `int64`, cut so that `finest` times their sum fits 64 bits.

    Cutting moves no two counts apart, so it costs nothing; where it cuts depends on public numbers alone.
    """
    values = read_integers(counts, fix=COUNTS)
    if values.ndim != dimensions:
        wanted = "one count for each cell" if dimensions == 1 else "one row of counts for each group"
        raise InvalidInput(f"The counts have {values.ndim} dimensions, not {dimensions}.", fix=f"pass {wanted}")
    cells = values.shape[-1]
    if not cells:
        raise InvalidInput("There are no cells.", fix="pass at least one count")
    if cells > MOST_CELLS:
        raise OutOfRange(f"There are more than {MOST_CELLS:,} cells.", fix="use a coarser grid")
    return np.asarray(np.clip(values, 0, WIDEST // (finest * cells)), np.int64)


def distances(counts: Counts, target: Any, unit: int = 1) -> Counts:
    """Return how far the target lies from each cell's ranks, from the rows below it to those and its own.

    In steps of 1/unit of a row; the target is in these steps, one number for each group.
    """
    through = counts.cumsum(axis=-1)
    apart: Counts = np.maximum((through - counts) * unit - target, target - through * unit)
    return np.maximum(apart, 0, out=apart)

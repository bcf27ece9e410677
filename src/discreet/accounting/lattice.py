"""Masses on the multiples of a step: a pair rounded outwards (it costs more) or inwards (it costs less).

*Outwards* is connect-the-dots, see `cells`. *Inwards*, each cell is first merged into one outcome, which lies between
its two ends, and shares of neighbouring cells are then merged again so that they come to lie on grid points. Merging is
post-processing: it lowers the curve. What a grid point z gets from cells above it has an excess over z, what it gets
from cells below has a deficit, and where these are equal, the merged outcome has a loss of exactly z; where the excess
is greater, lowering the outcome to z lowers the curve still more. Cells are handed out from the top: a grid point takes
of each cell below it as much as its excess can lift, and what is left of a cell goes down to its own lower end.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.cells import Cells, Floats

#: Shares that go up are trimmed by this, so that rounding cannot turn an equality around.
TRIM = 1e-13
#: What counts as a small share.
CLOSE = 1e-7
#: Masses of points are accurate to this.
POINT_SLACK = 1e-12
#: Relative rounding of the few operations between a cell and its masses.
SLACK = 1e-14


@dataclass(frozen=True, slots=True)
class Lattice:
    """P-masses at (first + i)·step; `beyond` is mass at a loss of +∞, rounded like the masses."""

    first: int
    masses: Floats
    beyond: float


def outwards(cells: Cells, first: int) -> Lattice:
    """Return masses whose privacy curve is at least that of the cells.

    Edges are consecutive multiples from `first` on.
    """
    step = _step(cells)
    masses = cells.points.copy()
    masses[1:] += (cells.excess + cells.error) / -math.expm1(-step)
    masses[:-1] += (cells.deficit + cells.error) / math.expm1(step)
    masses[0] += cells.below.present
    return Lattice(first, masses * (1 + SLACK), cells.above.present)


def inwards(cells: Cells, first: int) -> Lattice:
    """Return masses whose privacy curve is at most that of the cells, up to a drift of their losses (see `numeric`).

    A cell known up to an error e is first made cheaper for certain. Where e is a small share of both excess and
    deficit, e is taken off both: less mass, whose loss is off by no more than twice that share of a step. Elsewhere E −
    3e/(1−e^−h) is taken for the excess and D + e for the deficit: less P-mass, and no more of it where it counts; if
    that leaves no excess, all of it goes to the lower end, less e.
    """
    step = _step(cells)
    rise, fall = math.expm1(step), -math.expm1(-step)
    close = cells.error <= CLOSE * np.minimum(cells.excess, cells.deficit)
    excess = np.maximum(cells.excess - cells.error * np.where(close, 1.0, 3 / fall), 0)
    less = close | (excess == 0)
    deficit = np.maximum(cells.deficit + np.where(less, -cells.error, cells.error), 0)
    present, top = excess / fall + deficit / rise, (excess + deficit) / fall
    masses = cells.points * (1 - POINT_SLACK)
    masses += _handed_out(excess.tolist(), deficit.tolist(), present.tolist(), top.tolist(), step)
    return Lattice(first, masses * (1 - SLACK), cells.certain.present)


def _step(cells: Cells) -> float:
    # Over the whole length, as the difference of two neighbours far from 0 has few digits left.
    return float(cells.edges[-1] - cells.edges[0]) / (len(cells.edges) - 1)


def _handed_out(
    excess: list[float], deficit: list[float], present: list[float], top: list[float], step: float
) -> Floats:
    """Return the P-mass at each edge; `top` is each cell's Q-mass times e to its upper edge."""
    masses = [0.0] * (len(excess) + 1)
    point, spare = len(excess), 0.0
    for cell in range(len(excess) - 1, -1, -1):
        if not present[cell]:
            continue
        need = deficit[cell] + (top[cell] * math.expm1((point - cell - 1) * step) if point > cell + 1 else 0.0)
        share = (spare / need if spare < need else 1.0) * (1 - TRIM)
        masses[point] += share * present[cell]
        spare = (spare - share * need) * (1 - TRIM)
        if share < 1 - 2 * TRIM:
            masses[cell] += (1 - share) * present[cell]
            point, spare = cell, (1 - share) * excess[cell]
    return np.array(masses)

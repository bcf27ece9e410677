"""Masses on the multiples of a step: a pair rounded outwards (it costs more) or inwards (it costs less).

*Outwards* is connect-the-dots, see `cells`. *Inwards*, each cell is first merged into one outcome, which lies between
its two ends, and shares of neighbouring cells are then merged again so that they come to lie on grid points. Merging is
post-processing: it lowers the curve. The mass that a grid point z gets from cells above it has an excess over z, that
from cells below has a deficit, and where these are equal, the merged outcome has a loss of exactly z; where the excess
is greater, lowering the outcome to z lowers the curve still more. Cells are handed out from the top: a grid point takes
of each cell below it as much as its excess can lift, and what is left of a cell goes down to its own lower end.

None of this asks where the grid points are, as long as they are a step apart. So each pair may have its multiples
counted from an *offset* of its own. Losses less their offset are multiples of the step, as are their sums less all
offsets: if L′ = L − O, then E[max(0, 1 − e^(ε−L))] = E[max(0, 1 − e^((ε−O)−L′))], and ε − O takes the place of ε.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pld.cells import Floats, LossCells, Pair

#: Shares that go up are trimmed by this, so that rounding cannot turn an equality around.
TRIM = 1e-13
#: The largest small share.
CLOSE = 1e-7
#: Masses of points are accurate to this.
POINT_SLACK = 1e-12
#: Relative rounding of the few operations between a cell and its masses.
SLACK = 1e-14
#: Settings of an offset's choice: cells looked at, rounds, when it has settled, and the share that is not looked at.
STACK, MOST_POINTS, SETTLED, FAINT, STEEPEST = 256, 12, 1e-9, 1e-6, 100.0


@dataclass(frozen=True, slots=True)
class Lattice:
    """P-masses at (first + i)·step, counted from an offset; `beyond` is mass at +∞, rounded like the masses."""

    first: int
    masses: Floats
    beyond: float


def outwards(cells: LossCells, first: int) -> Lattice:
    """Return masses whose privacy curve is at least that of the cells.

    Edges are consecutive multiples from `first` on, counted from an offset.
    """
    step = _step(cells)
    masses = cells.points.copy()
    masses[1:] += (cells.excess + cells.error) / -math.expm1(-step)
    masses[:-1] += (cells.deficit + cells.error) / math.expm1(step)
    masses[0] += cells.below.present
    return Lattice(first, masses * (1 + SLACK), cells.above.present)


def inwards(cells: LossCells, first: int) -> Lattice:
    """Return masses whose privacy curve is at most that of the cells, up to a drift of their losses (see `numeric`).

    A cell known up to an error e is first made cheaper for certain. If e is a small share of both excess and
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
    masses += _distribute_cells(excess.tolist(), deficit.tolist(), present.tolist(), top.tolist(), step=step)[0]
    return Lattice(first, masses * (1 - SLACK), cells.certain.present)


def _step(cells: LossCells) -> float:
    # Over the whole length, as the difference of two neighbours far from 0 has few digits left.
    return float(cells.edges[-1] - cells.edges[0]) / (len(cells.edges) - 1)


def offset_of(pair: Pair, step: float, tilt: float, *, mirrored: bool) -> float:
    """Return an offset for the grid of a pair that is to be rounded inwards, by which the least is lost, roughly.

    Grid points may lie anywhere, so that every offset is sound. But a grid point is only given what it can lift. Many a
    sampled pair has nearly all of its mass within a step, at a loss of about ln(1−q): cut in two by a grid point that
    lies too high, much of it would go down by a step, in each of many releases. So two grid points are tried onto which
    what is around them merges exactly, near the least loss and near the median, and 0.
    """
    levels, masses = pair.sketch()
    if mirrored:
        levels, masses = -levels, masses * np.exp(-levels)
    order = np.argsort(levels)
    reached = np.cumsum(masses[order])
    least, middle = (levels[order][np.searchsorted(reached, share * reached[-1])] for share in (FAINT, 0.5))
    balanced = [_balance_point(pair, step, float(start), mirrored=mirrored) for start in (least + step / 2, middle)]
    return min((0.0, *balanced), key=lambda offset: _cost(pair, step, offset, tilt, mirrored=mirrored))


def _balance_point(pair: Pair, step: float, start: float, *, mirrored: bool) -> float:
    """Return a z near the start, less a multiple of the step, onto which what is around it merges exactly.

    That is the cell below z, and what is left of the one above when the next grid point has taken its share. Each z
    gives a share, and that the next z.
    """
    point, rise, fall = start, math.expm1(step), -math.expm1(-step)
    for _ in range(MOST_POINTS):
        cells = _around(pair, point + step * np.arange(-1.0, STACK), mirrored=mirrored)
        present, top = cells.excess / fall + cells.deficit / rise, (cells.excess + cells.deficit) / fall
        lists = (values.tolist() for values in (cells.excess, cells.deficit, present, top))
        left = np.array([1.0, 1 - _distribute_cells(*lists, step=step, lowest=1)[1]])
        both = float(left @ (top[:2] * np.exp(-cells.edges[1:3])))
        if not both:
            return 0.0
        before, point = point, math.log(float(left @ present[:2]) / both)
        if abs(point - before) < SETTLED * step:
            break
    return math.remainder(point, step)


def _cost(pair: Pair, step: float, offset: float, tilt: float, *, mirrored: bool) -> float:
    """Return by how much both roundings differ in E[e^(θL)], roughly, over the cells around 0."""
    cells = _around(pair, offset + step * np.arange(-STACK, STACK + 1.0), mirrored=mirrored)
    weights = np.exp(np.minimum(tilt * cells.edges, STEEPEST))
    return float((outwards(cells, 0).masses - inwards(cells, 0).masses) @ weights)


def _around(pair: Pair, edges: Floats, *, mirrored: bool) -> LossCells:
    return pair.cells(-edges[::-1]).mirror() if mirrored else pair.cells(edges)


def _distribute_cells(
    excess: list[float], deficit: list[float], present: list[float], top: list[float], *, step: float, lowest: int = 0
) -> tuple[Floats, float]:
    """Return the P-mass at each edge, and the share of the lowest cell that was lifted.

    `top` is each cell's Q-mass times e to its upper edge.
    """
    masses = [0.0] * (len(excess) + 1)
    point, spare, share = len(excess), 0.0, 0.0
    for cell in range(len(excess) - 1, lowest - 1, -1):
        if not present[cell]:
            share = 0.0
            continue
        need = deficit[cell] + (top[cell] * math.expm1((point - cell - 1) * step) if point > cell + 1 else 0.0)
        share = (spare / need if spare < need else 1.0) * (1 - TRIM)
        masses[point] += share * present[cell]
        spare = (spare - share * need) * (1 - TRIM)
        if share < 1 - 2 * TRIM:
            masses[cell] += (1 - share) * present[cell]
            point, spare = cell, (1 - share) * excess[cell]
    return np.array(masses), share

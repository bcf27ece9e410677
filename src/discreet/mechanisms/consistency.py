"""Noisy counts of a tree made to add up: least squares, and then whole numbers. No noise is drawn here.

The input is private already, so that all of this is post-processing, and free. Every level of the tree was measured
with noise of its own; a nation's count and the sum of its states' are two estimates of the same number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, OutOfRange

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Nodes by levels, from the top down: `parents[k][i]` is where in level k the parent of node i of level k + 1 is.

    `roots` is the number of nodes of level 0. Every node above the last level has a child.
    """

    roots: int
    parents: tuple[Ints, ...]

    def __post_init__(self) -> None:
        for above, places in zip(self.sizes, self.parents, strict=False):
            if places.ndim != 1 or places.dtype.kind != "i" or places.min(initial=0) < 0:
                raise InvalidInput("A tree's parents are not places.", fix="pass arrays of whole numbers from 0 on")
            if not np.array_equal(np.unique(places), np.arange(above)):
                raise InvalidInput(
                    "A node of a tree has no child, or a child no parent.", fix="let every path reach the last level"
                )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes that each level has."""
        return (self.roots, *(len(places) for places in self.parents))

    def sums(self, level: int, below: NDArray[Any]) -> NDArray[Any]:
        """Return for each node of a level the sum of its children's values: whole numbers stay exact."""
        totals = np.zeros(self.sizes[level], below.dtype)
        np.add.at(totals, self.parents[level], below)
        return totals


@dataclass(frozen=True, slots=True, eq=False)
class Consistent:
    """Estimates that add up, level by level, and the variance of each."""

    estimates: tuple[Floats, ...]
    variances: tuple[Floats, ...]


def consistent(tree: Tree, noisy: Sequence[NDArray[Any]], variances: Sequence[float]) -> Consistent:
    """Return the least-squares estimates of all counts of a tree, given one noisy count of each.

    `variances` has one number for each level: of independent noise on its nodes. Infinite: the level was not measured;
    0, at the top only: it is known exactly. The last level is always measured.

    Claim: these are the estimates that add up and minimise Σ (estimate − noisy)²/variance; of all unbiased linear ones
    they have the least variance, and that variance is what is returned. Upwards, a node's own count and the sum of its
    children's estimates are independent, and are weighed by their precision. Downwards, what the parent's final
    estimate differs from the children's sum is handed to them by their share of its variance. A child's estimate less
    its share of the sum does not correlate with that sum, hence not with the parent's final estimate, and variances
    follow. In float64: relative to the magnitudes summed, errors are at most about the number of nodes times 2⁻⁵².
    Reference: Hay, Rastogi, Miklau, Suciu 2010, Section 4, for equal variances and equal numbers of children.
    """
    _need_variances(tree, noisy, variances)
    values = [np.asarray(level, np.float64) for level in noisy]
    spreads: list[Floats] = [
        np.full(size, float(variance)) for size, variance in zip(tree.sizes, variances, strict=True)
    ]
    last = len(values) - 1
    sums, together = list(values), list(spreads)
    for level in reversed(range(last)):
        sums[level], together[level] = tree.sums(level, values[level + 1]), tree.sums(level, spreads[level + 1])
        with np.errstate(divide="ignore"):  # a level that is known, or was not measured
            own, rest = 1 / (1 + spreads[level] / together[level]), 1 / (1 + together[level] / spreads[level])
        measured = values[level] if np.isfinite(variances[level]) else sums[level]
        values[level] = own * measured + rest * sums[level]
        spreads[level] = rest * together[level]
    for level in range(last):
        parents, below = tree.parents[level], spreads[level + 1]
        share = below / together[level][parents]
        values[level + 1] = values[level + 1] + share * (values[level] - sums[level])[parents]
        spreads[level + 1] = below * (1 - share) + share**2 * spreads[level][parents]
    return Consistent(tuple(values), tuple(spreads))


def _need_variances(tree: Tree, noisy: Sequence[NDArray[Any]], variances: Sequence[float]) -> None:
    if len(variances) != len(tree.sizes) or tuple(len(level) for level in noisy) != tree.sizes:
        raise InvalidInput("Counts and variances are not those of this tree.", fix="pass one of each for every level")
    if not all(variance > 0 for variance in variances[1:]) or not variances[0] >= 0 or not 0 < variances[-1] < np.inf:
        raise InvalidInput(
            "A level has a variance that makes no sense.",
            fix="pass positive ones; infinite where a level was not measured, but for the last; 0 for a known top",
        )


def rounded(tree: Tree, estimates: Sequence[Floats]) -> tuple[Ints, ...]:
    """Return whole numbers, none below 0, that add up exactly: from the top down.

    The top is rounded. The children of a node that got P are moved to the nearest point of {x ≥ 0, Σ x = P}, and
    rounded down; what is missing goes to the largest remainders, of equal ones to the first.

    Claims, for estimates y of children whose true counts are t ≥ 0, with sum T: the nearest point x has
    ‖x − t‖ ≤ ‖y − t‖ + |P − T|, as moving to a convex set brings no two points farther apart, and from t itself to the
    set it is at most |P − T|; where P = T, this is: no farther from the truth than before. Rounding moves no count by
    more than 1. Nothing is claimed of single counts: error bars are those of the estimates.
    """
    levels = [np.maximum(np.floor(np.asarray(estimates[0], np.float64) + 0.5), 0).astype(np.int64)]
    for level, parents in enumerate(tree.parents):
        nearest = _nearest(np.asarray(estimates[level + 1], np.float64), parents, levels[level])
        levels.append(_whole(nearest, parents, levels[level]))
    return tuple(levels)


def _places(parents: Ints, keys: Floats, size: int) -> tuple[Ints, Ints]:
    """Return children by parent and falling key, of equal ones the first; and the place of each among its siblings."""
    order = np.lexsort((-keys, parents))
    begins = np.concatenate(([0], np.cumsum(np.bincount(parents, minlength=size))[:-1]))
    return order, np.arange(len(order)) - begins[parents[order]]


def _nearest(values: Floats, parents: Ints, totals: Ints) -> Floats:
    """Return for all children at once the nearest x ≥ 0 whose sum is their parent's total.

    x = max(y − τ, 0), where τ is such that the sum is right. With the values in falling order, it is the largest of
    (y₁ + … + yₖ − P)/k. Reference: Held, Wolfe, Crowder 1974; Duchi, Shalev-Shwartz, Singer, Chandra 2008, Figure 1.
    """
    size = len(totals)
    # Around the siblings' mean, which changes nothing but that running sums stay small.
    means = np.bincount(parents, values, minlength=size) / np.bincount(parents, minlength=size)
    around = values - means[parents]
    order, place = _places(parents, around, size)
    sorted_values, owner = around[order], parents[order]
    running = np.cumsum(sorted_values)
    before = (running - sorted_values)[place == 0]
    thresholds = (running - before[owner] - totals[owner]) / (place + 1)
    level = np.full(size, -np.inf)
    np.maximum.at(level, owner, thresholds)
    return np.asarray(np.maximum(around - level[parents], 0.0))


def _whole(nearest: Floats, parents: Ints, totals: Ints) -> Ints:
    """Return whole numbers close to others, with exactly these sums."""
    down = np.floor(nearest).astype(np.int64)
    missing = totals.copy()
    np.subtract.at(missing, parents, down)
    order, place = _places(parents, nearest - down, len(totals))
    counts = np.bincount(parents, minlength=len(totals))
    if np.any((missing < 0) | (missing > counts)):
        raise OutOfRange("These counts are too large to be rounded exactly.", fix="pass estimates below 2⁴⁰")
    down[order] += place < missing[parents[order]]
    return down

"""Noisy counts of all nodes of a tree over the cells of a grid, and ranks read off them."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.ranks import Counts
from discreet.noise import Entropy, laplace

#: Children of a node that are worth a try.
BRANCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
#: Float error of the bound below, with room to spare.
SLACK = 1 + 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuantileTree:
    """A tree of `height` levels above the cells, each node with so many branches.

    Every row is in one node of each level, so one unit moves all counts of a level by `rows` in l1.
    """

    cells: int
    branches: int
    height: int
    scale: Fraction

    @classmethod
    def over(cls, cells: int, epsilon: Fraction, rows: int) -> "QuantileTree":
        """Return the tree of least variance: a rank adds up to height·(branches − 1) nodes, each of noise ∝ height."""

        def spread(branches: int) -> int:
            return _height(cells, branches) ** 3 * (branches - 1)

        branches = min(BRANCHES, key=spread)
        height = _height(cells, branches)
        return cls(cells, branches, height, height * rows / epsilon)

    @property
    def terms(self) -> int:
        """How many noises a rank and its target are made of at most, each with a factor between −1 and 1."""
        return self.height * (self.branches - 1) + 1

    def ranks(self, counts: Counts, entropy: Entropy) -> Floats:
        """Return noisy numbers of rows in cells up to each one, the last of them the noisy number of all rows.

        Made of the fewest nodes: all complete ones before the place, largest first.
        """
        padded = np.zeros(self.branches**self.height, np.int64)
        padded[: self.cells] = counts
        before, total = np.zeros(1), 0.0
        for level in range(self.height - 1, -1, -1):
            nodes = padded.reshape(-1, self.branches**level).sum(axis=1)
            noisy = (nodes + laplace(self.scale, nodes.shape, entropy=entropy)).astype(np.float64)
            # Before a child lie what lies before its parent, and the elder children.
            siblings = noisy.reshape(-1, self.branches).cumsum(axis=1)
            total = total if level < self.height - 1 else float(siblings[:, -1].sum())
            elder = np.concatenate([np.zeros((len(siblings), 1)), siblings[:, :-1]], axis=1)
            before = (before[:, None] + elder).ravel()
        through: Floats = np.append(before[1:], total)[: self.cells]
        through[-1] = total
        return through

    def error(self, chance: Fraction) -> float:
        """Return a bound on all errors of rank − level·total at once, exceeded with at most this probability.

        Chernoff: a noise Z of scale t has E[e^(λZ)] = (1 − p)²/((1 − p·e^λ)(1 − p·e^−λ)), p = e^−1/t, which is even and
        convex in λ; so factors between −1 and 1 make it no larger. The places are joined by the union bound.
        """
        rate = 1 / float(self.scale)
        wanted = math.log(2 * self.cells) - math.log(chance.numerator) + math.log(chance.denominator)

        def bound_at(share: float) -> float:
            slope = share * rate
            up, down = -math.expm1(slope - rate), -math.expm1(-slope - rate)
            growth = 2 * math.log(-math.expm1(-rate)) - math.log(up) - math.log(down)
            return (wanted + self.terms * growth) / slope

        return min(bound_at(k / 256) for k in range(1, 256)) * SLACK


def _height(cells: int, branches: int) -> int:
    height = 1
    while branches**height < cells:
        height += 1
    return height

"""Dominating pairs of subsampled mechanisms: amplification by sampling, cell by cell.

*Poisson, add/remove.* If (P, Q) dominates with and without the person, then (qP + (1−q)Q, Q) dominates the sampled
mechanism (Zhu, Dong, Wang 2022, Theorem 11; the other direction of adding a person is the pair in the other order). A
loss of L becomes ln(1 − q + q·e^L), which grows with L, so that cells map to cells: with e^ℓ = 1 − q + q·e^A,

    (qP + (1−q)Q) − e^ℓ·Q = q·(P − e^A·Q),

and excess and deficit of the sampled pair are q times those of the pair between the mapped edges. Nothing lies below
ln(1−q).

*Without replacement, replace.* The curve is that of (qP + (1−q)Q, Q) for ε ≥ 0 and that of (P, (1−q)P + qQ) for ε < 0
(Zhu, Dong, Wang 2022, Proposition 30; Balle, Barthe, Gaboardi 2018, Theorem 9). For a symmetric pair the second is the
mirror of the first; what is left of P lies at a loss of exactly 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pld.cells import UNIT, Ends, Floats, LossCells, Pair

#: A smaller mass that a sketch misses is rounding.
LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class PoissonPair:
    """A pair under Poisson sampling at a rate below 1."""

    base: Pair
    rate: float

    @property
    def symmetric(self) -> bool:
        """Adding and removing a person are not the same here."""
        return False

    @property
    def pin(self) -> float:
        """The least loss, near which most of the mass lies, unless the base has a definite one."""
        return float(self._map_levels(np.array([self.base.pin]))[0]) if self.base.pin else -math.log1p(-self.rate)

    @property
    def loose(self) -> float:
        """All of it: at most one loss of the base is mapped to the pin."""
        return 1.0

    @property
    def movable(self) -> bool:
        """A loss of 0 is mapped to 0."""
        return self.base.movable

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the range of losses, mapped; nothing lies below ln(1−q)."""
        high = self.base.span(tiny)[1]
        return math.log1p(-self.rate), float(self._map_levels(np.array([high]))[0])

    def _map_levels(self, levels: Floats) -> Floats:
        small = np.log1p(self.rate * np.expm1(np.minimum(levels, 40)))
        large = levels + math.log(self.rate) + np.log1p((1 - self.rate) / self.rate * np.exp(-np.maximum(levels, 1)))
        return np.where(levels > 30, large, small)

    def cells(self, edges: Floats) -> LossCells:
        """Return the cells between rising edges."""
        # An edge on the floor, or above it by no more than a rounding, has no finite edge of the base to map to.
        floor = math.log1p(-self.rate * (1 - 1e-12))
        # Edges up to the floor hold nothing below them; the first cell above reaches down to a loss of −∞ of the base.
        first = int(np.searchsorted(edges, floor, side="right"))
        if first >= len(edges):  # all of the grid lies below the floor
            return _nothing(edges)
        base = self.base.cells(self._unmap_edges(edges[first:]))
        count = len(edges) - 1
        excess, deficit, error = np.zeros(count), np.zeros(count), np.zeros(count)
        excess[first:], deficit[first:] = self.rate * base.excess, self.rate * base.deficit
        # The mapped edges are rounded: what was meant to vanish at an edge is off by a rounding of e^ℓ, times Q.
        low, high = np.exp(edges[first:-1]), np.exp(edges[first + 1 :])
        absent = self.rate * (base.excess + base.deficit) / (high - low)
        error[first:] = self.rate * base.error + 16 * UNIT * high * absent
        # A point on an edge keeps its place; its P-mass becomes qP + (1−q)Q, and e^(ℓ−A) = (qP + (1−q)Q)/P.
        points = np.zeros(len(edges))
        points[first:] = base.points * np.exp(edges[first:] - base.edges)
        below = self._sample_ends(base.below)
        if first:
            excess[first - 1], deficit[first - 1], error[first - 1] = self._bottom(
                edges[first - 1 : first + 1], base.below
            )
            below = Ends(0.0, 0.0)
        # Where only the person's presence leads, a sampled presence still tells; an absence does not.
        certain = Ends(self.rate * base.certain.present * (1 - 4 * UNIT), 0.0)
        return LossCells(edges, excess, deficit, error, points, below, self._sample_ends(base.above), certain)

    def _bottom(self, edges: Floats, below: Ends) -> tuple[float, float, float]:
        """Return excess, deficit and error of the cell that holds all that lies below the first edge of the base."""
        low, high = np.exp(edges).tolist()
        keep = 1 - self.rate
        excess = max(0.0, self.rate * below.present + (keep - low) * below.absent)
        deficit = max(0.0, (high - keep) * below.absent - self.rate * below.present)
        return excess, deficit, 1e-12 * self.rate * (below.present + below.absent) + 32 * UNIT * below.absent

    def _sample_ends(self, ends: Ends) -> Ends:
        return Ends((self.rate * ends.present + (1 - self.rate) * ends.absent) * (1 + 8 * UNIT), ends.absent)

    def _unmap_edges(self, edges: Floats) -> Floats:
        with np.errstate(over="ignore", divide="ignore"):
            small = np.log1p(np.maximum(np.expm1(np.minimum(edges, 40)) / self.rate, -1.0))
            large = edges - math.log(self.rate) + np.log1p(-(1 - self.rate) * np.exp(-np.maximum(edges, 1)))
        return np.where(edges > 30, large, small)

    def sketch(self) -> tuple[Floats, Floats]:
        """Return the sketch of the base, mapped."""
        levels, masses = self.base.sketch()
        sampled = self.rate * masses + (1 - self.rate) * masses * np.exp(-np.maximum(levels, -700))
        # Outcomes of an absence alone lie at the floor.
        rest = 1 - float(sampled.sum())
        return np.append(self._map_levels(levels), math.log1p(-self.rate)), np.append(
            sampled, rest if rest > LEAST else 0
        )


@dataclass(frozen=True, slots=True)
class FixedSizePair:
    """A symmetric pair under sampling without replacement at a rate below 1."""

    base: Pair
    rate: float

    @property
    def symmetric(self) -> bool:
        """By construction."""
        return True

    @property
    def pin(self) -> float:
        """None that matters: most of the mass is at 0, which always is a grid point."""
        return 0.0

    @property
    def loose(self) -> float:
        """All of it, as there is no pin."""
        return 1.0

    @property
    def movable(self) -> bool:
        """Most of the mass lies at 0."""
        return False

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the range of losses of the upper half, on both sides."""
        high = PoissonPair(self.base, self.rate).span(tiny)[1]
        return -high, high

    def cells(self, edges: Floats) -> LossCells:
        """Return the cells between rising edges, 0 among them."""
        middle = int(np.searchsorted(edges, 0.0))
        upper = PoissonPair(self.base, self.rate).cells(edges[middle:])
        lower = PoissonPair(self.base, self.rate).cells(-edges[: middle + 1][::-1]).mirror()
        excess = np.concatenate([lower.excess, upper.excess])
        deficit = np.concatenate([lower.deficit, upper.deficit])
        error = np.concatenate([lower.error, upper.error])
        # The rest of the P-mass sits at 0. The mass beyond the ends is in it, too.
        step = np.diff(edges)
        spent = ((excess * np.exp(step) + deficit) / np.expm1(step)).sum()
        points = np.concatenate([lower.points[:-1], [0.0], upper.points[1:]])
        points[middle] = max(0.0, 1 - float(spent) - float(points.sum()))
        error[middle - 1] += (1e-13 + upper.above.present + lower.below.present) * step[middle - 1]
        return LossCells(edges, excess, deficit, error, points, below=lower.below, above=upper.above)

    def sketch(self) -> tuple[Floats, Floats]:
        """Return both halves and the rest at 0."""
        levels, masses = PoissonPair(self.base, self.rate).sketch()
        positive = levels > 0
        up, mass = levels[positive], masses[positive]
        rest = max(0.0, 1 - mass.sum() - (mass * np.exp(-up)).sum())
        return np.concatenate([-up, [0.0], up]), np.concatenate([mass * np.exp(-up), [rest], mass])


def _nothing(edges: Floats) -> LossCells:
    empty = np.zeros(len(edges) - 1)
    return LossCells(edges, empty, empty, empty, np.zeros(len(edges)), below=Ends(0.0, 0.0), above=Ends(1.0, 1.0))

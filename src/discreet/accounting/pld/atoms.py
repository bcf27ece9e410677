"""Pairs with finitely many outcomes: randomised response, discrete noise, shuffled reports, anything listed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.pld.cells import UNIT, Ends, Floats, Indices, LossCells, edge_cells

#: Losses closer than this to an edge, relative to the logarithms they come from, are taken to lie on it.
SNAP = 4 * UNIT
#: Longer lists are spread out, and no single loss matters.
FEW = 16
#: Losses as close as this to the pin, as a share of it, count as being there when a grid is chosen.
CLOSE = 1e-6
#: The number of losses that a sketch lists.
BINS = 400


@dataclass(frozen=True, slots=True)
class Atoms:
    """P- and Q-masses of finitely many outcomes, each accurate to a relative `slack`.

    Where Q is zero the loss is +∞, where P is zero −∞. The mass left out of the lists is bounded by `lost_present`
    (of P) and `lost_absent` (of Q): for a bound from above that mass counts as telling its side for certain.
    """

    present: Floats
    absent: Floats
    symmetric: bool
    slack: float = 4 * UNIT
    lost_present: float = 0.0
    lost_absent: float = 0.0

    @property
    def levels(self) -> Floats:
        """The privacy loss of each outcome."""
        first, second = self._logarithms()
        return np.asarray(first - second)

    def _logarithms(self) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore"):
            return np.log(self.present), np.log(self.absent)

    @property
    def pin(self) -> float:
        """The largest finite loss, of few."""
        finite = self.levels[np.isfinite(self.levels)] if len(self.present) <= FEW else np.zeros(0)
        return float(np.abs(finite).max(initial=0.0))

    @property
    def loose(self) -> float:
        """All but what lies at the pin, at its opposite and at 0."""
        pin = self.pin
        away = np.abs(np.abs(self.levels) - pin / 2)
        return float(self.present[np.abs(away - pin / 2) > CLOSE * pin].sum()) if pin else 1.0

    @property
    def movable(self) -> bool:
        """Nothing is special about 0."""
        return True

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the losses between which all but `tiny` of P above and of Q below lies."""
        levels = self.levels
        order = np.argsort(levels)
        levels, present, absent = levels[order], self.present[order], self.absent[order]
        above = np.cumsum(present[::-1])[::-1] > tiny
        below = np.cumsum(absent) > tiny
        finite = np.isfinite(levels)
        kept = levels[finite & above & below]
        return (float(kept[0]), float(kept[-1])) if len(kept) else (0.0, 0.0)

    def cells(self, edges: Floats) -> LossCells:
        """Return the cells between rising edges, each outcome in its own."""
        first, second = self._logarithms()
        levels, count = first - second, len(edges) - 1
        nearest = np.clip(np.searchsorted(edges, levels), 0, count)
        nearest -= (nearest > 0) & (levels - edges[nearest - 1] < edges[nearest] - levels)
        # A loss is the difference of two logarithms, each of them off by a rounding.
        rounding = SNAP * np.where(np.isfinite(levels), 1 - first - second, 0)
        snapped = np.abs(levels - edges[nearest]) <= rounding
        where = np.where(snapped, np.minimum(nearest, count - 1), edge_cells(edges, levels))
        inside = (where >= 0) & (where < count)
        cell, level, loose = where[inside], levels[inside], ~snapped[inside]
        present = self.present[inside]
        # P − e^a·Q = P·(1 − e^(a−L)); what is off is L, by rounding, and the masses themselves.
        excess = loose * present * -np.expm1(edges[cell] - level)
        deficit = loose * present * np.expm1(edges[cell + 1] - level)
        error = present * (4 * self.slack + 4 * rounding[inside])
        return LossCells(
            edges=edges,
            excess=_sums(cell, excess, count),
            deficit=_sums(cell, deficit, count),
            # A loss that was snapped to an edge may lie in the cell below it as well.
            error=(_sums(cell, error, count) + _sums(np.maximum(cell - 1, 0), error, count)) * (1 + 1e-12),
            points=_sums(nearest[snapped], self.present[snapped], count + 1) * (1 + self.slack),
            below=Ends(*self._outside(where < 0)),
            above=Ends(*self._outside(where >= count)),
            certain=Ends(
                float(self.present[self.absent == 0].sum()) * (1 - 2 * self.slack - 1e-12),
                float(self.absent[self.present == 0].sum()) * (1 - 2 * self.slack - 1e-12),
            ),
        )

    def sketch(self) -> tuple[Floats, Floats]:
        """Return the finite losses and their P-masses, in bins if there are many."""
        levels = self.levels
        finite = np.isfinite(levels)
        levels, masses = levels[finite], self.present[finite]
        if len(levels) <= BINS:
            return levels, masses
        binned, edges = np.histogram(levels, BINS, weights=masses)
        return (edges[:-1] + edges[1:]) / 2, binned

    def _outside(self, chosen: NDArray[np.bool_]) -> tuple[float, float]:
        # Lost mass may lie anywhere, so it is counted at both ends: what tells for certain is above for P, below for Q.
        up = 1 + 2 * self.slack + 1e-12
        return (
            float(self.present[chosen].sum()) * up + self.lost_present,
            float(self.absent[chosen].sum()) * up + self.lost_absent,
        )


def _sums(where: Indices, values: Floats, count: int) -> Floats:
    """Return the sum of the values in each of `count` places."""
    return np.bincount(where, values, count).astype(np.float64)

"""A dominating pair on a grid of losses: what lies in each cell, seen from both of its ends.

Let P and Q be the two distributions of a dominating pair and L = ln(P/Q) the privacy loss. For a cell (a, b] of losses,

    excess  = ∫ over a < L ≤ b of (P − e^a·Q) ≥ 0,        deficit = ∫ over a < L ≤ b of (e^b·Q − P) ≥ 0

say all that both roundings of a distribution need. Rounding *outwards* sends P-mass excess/(1 − e^−h) to b and
deficit/(e^h − 1) to a (h = b − a): both P- and Q-mass are kept, and the privacy curve, as a function of e^ε, becomes
its chord over the cell, which lies above it because the curve is convex (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi
2022, "connect the dots"). Rounding *inwards* merges neighbouring cells, which is post-processing: see `lattice`.

Excess and deficit are integrals of positive functions. Computed as such they keep their relative accuracy far out in
the tails, where differences of the curve would be rounding noise; this is where other accountants lose small δ.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Unit roundoff of doubles.
UNIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class Ends:
    """Masses of P and Q that lie beyond an end of the grid, rounded up."""

    present: float
    absent: float


@dataclass(frozen=True, slots=True)
class LossCells:
    """Cells between consecutive edges, rising; `error` bounds how far each excess and deficit may be off.

    P-mass whose loss is that of an edge, up to rounding that `error` covers, is listed in `points` instead.
    """

    edges: Floats
    excess: Floats
    deficit: Floats
    error: Floats
    points: Floats
    below: Ends
    above: Ends
    #: Outcomes that distinguish for certain: P-mass where Q has none, and Q-mass where P has none; rounded down.
    certain: Ends = Ends(0.0, 0.0)
    #: The cells of the pair in the other order, where they do not follow from these.
    other: "LossCells | None" = None

    def mirror(self) -> "LossCells":
        """Return the same pair with its two distributions in the other order: losses change their sign."""
        if self.other is not None:
            return self.other
        low, high = self.edges[:-1], self.edges[1:]
        scale = np.maximum(np.exp(-high), np.exp(-low))
        return LossCells(
            edges=-self.edges[::-1],
            excess=(np.exp(-high) * self.deficit)[::-1],
            deficit=(np.exp(-low) * self.excess)[::-1],
            error=((self.error + 4 * UNIT * (self.excess + self.deficit)) * scale)[::-1],
            points=(self.points * np.exp(-self.edges))[::-1],
            below=Ends(self.above.absent, self.above.present),
            above=Ends(self.below.absent, self.below.present),
            certain=Ends(self.certain.absent, self.certain.present),
        )


class Pair(Protocol):
    """A dominating pair that can be put on a grid."""

    @property
    def symmetric(self) -> bool:
        """Whether the pair in the other order has the same losses."""
        ...

    @property
    def pin(self) -> float:
        """A loss of definite mass that is best put on a grid point; 0 if there is none."""
        ...

    @property
    def loose(self) -> float:
        """Share of P's mass, roughly, that a grid through the pin has to round; for choosing a grid."""
        ...

    @property
    def movable(self) -> bool:
        """Whether its cells may lie anywhere; if not, 0 must be an edge."""
        ...

    def span(self, tiny: float) -> tuple[float, float]:
        """Return losses (low, high) with about P[L > high] ≤ tiny and Q[L < low] ≤ tiny."""
        ...

    def cells(self, edges: Floats) -> LossCells:
        """Return the cells between rising, finite edges."""
        ...

    def sketch(self) -> tuple[Floats, Floats]:
        """Return losses and their P-masses, roughly: for choosing a grid and a tilt, never for a bound."""
        ...


def edge_cells(edges: Floats, levels: Floats) -> Indices:
    """Return for each level the index of the cell (edge, next edge] that holds it; −1 below all, len − 1 above all."""
    return np.searchsorted(edges, levels, side="left") - 1

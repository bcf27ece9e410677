"""The dominating pair of a release whose mechanism is one of several, chosen after earlier answers.

A person is in one part of a table that is cut into disjoint parts, and the cut may depend on earlier answers. Within a
composition the release is therefore an adaptive choice among the mechanisms of the parts, and no fixed part bounds it.

Theorem. Let fᵢ(x) = sup over events of P[·] − x·Q[·], for x ≥ 0, be the hockey-stick curves of pairs (Pᵢ, Qᵢ), and let
f = maxᵢ fᵢ. Then f is the curve of a pair (P, Q), and in any adaptive composition (P, Q) dominates a release by
whichever of the mechanisms is chosen.
Proof. Each fᵢ is convex, does not rise, has fᵢ(0) = 1 and max(0, 1 − x) ≤ fᵢ(x) ≤ 1. A maximum of such functions has
all of these properties, and each such function is the curve of a pair (Zhu, Dong, Wang 2022, Proposition 9 and Lemma
8; Q[L > ln x] = −f′(x) from the right, P[L > ln x] = f(x) − x·f′(x)). After each history the mechanism that was chosen
has a curve of at most f. So (P, Q) dominates it, and compositions of dominating pairs dominate adaptive compositions
(Zhu, Dong, Wang 2022, Theorem 10). In the other order of the two tables the curves are 1 − x + x·fᵢ(1/x), and the
maximum of these is the curve of (Q, P). ∎

Sampling maps curves monotonically (f_q(x) = q·f((x − 1 + q)/q) for Poisson sampling), so that a sample of a maximum is
the maximum of the samples; a maximum itself is never sampled here.

*On a grid.* Every part is rounded outwards on the same grid, where its curve h is linear in x between grid points. The
curve that is returned takes the largest h at every grid point, and is linear in between: a maximum of convex functions
at the grid points, hence convex there. While one part stays the largest, the masses are those of that part. If the
largest changes from A at grid point j to B at j + 1, with step s, the change of slope adds P-mass of

    (h_B − h_A)(j + 1) / (e^s − 1) to j,        (h_A − h_B)(j) / (1 − e^−s) to j + 1.

*Rounding.* h = beyond + (e^s − 1)·Σ over k ≥ j of T_k, where T_k = Σ over l > k of m_l·e^(−(l−k)s), is a sum of sums of
positive numbers, computed to a relative error of `_slack`. A part is only replaced by another that exceeds it by more
than some such errors, so that the chosen one is the largest up to these. All masses are enlarged by as much: the whole
curve, and that of every composition, grows by the same factor.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.accounting.pld.cells import UNIT, Ends, Floats, LossCells, Pair
from discreet.accounting.pld.lattice import Lattice, outwards

#: Losses per block of a scaled sum: masses of 1e-290 times e to minus that are still within the range of floats.
BLOCK = 40.0
#: More than all that is lost below the range of floats.
LOST = 1e-300
#: The number of grid points of a sketch, and the mass that it leaves out at either end.
SKETCHED, FAINT = 800, 1e-18


@dataclass(frozen=True, slots=True)
class MaximumPair:
    """The pair whose curve is the maximum of the curves of several pairs."""

    pairs: tuple[Pair, ...]

    @property
    def symmetric(self) -> bool:
        """The maximum of symmetric curves is symmetric."""
        return all(pair.symmetric for pair in self.pairs)

    @property
    def pin(self) -> float:
        """The largest definite loss of any part."""
        return max(pair.pin for pair in self.pairs)

    @property
    def loose(self) -> float:
        """All of it, as other parts lie between."""
        return 1.0

    @property
    def movable(self) -> bool:
        """Whether the cells of every part may lie anywhere."""
        return all(pair.movable for pair in self.pairs)

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the range that holds the ranges of all parts."""
        spans = [pair.span(tiny) for pair in self.pairs]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def cells(self, edges: Floats) -> LossCells:
        """Return cells between evenly spaced edges, all of whose mass lies on the edges, rounded outwards."""
        all_cells = [pair.cells(edges) for pair in self.pairs]
        other = None if self.symmetric else _largest([cells.mirror() for cells in all_cells])
        return replace(_largest(all_cells), other=other)

    def sketch(self) -> tuple[Floats, Floats]:
        """Return the masses on a coarse grid."""
        low, high = self.span(FAINT)
        step = max(high - low, 1e-6) / SKETCHED
        # As 0 is a grid point.
        edges = step * np.arange(math.floor(low / step) - 1, math.ceil(high / step) + 2, dtype=np.float64)
        cells = self.cells(edges)
        occupied = cells.points > 0
        return edges[occupied], cells.points[occupied]


def _largest(all_cells: list[LossCells]) -> LossCells:
    """Return the cells of the largest of several curves, for bounds from above only."""
    lattices = [outwards(cells, 0) for cells in all_cells]
    edges = all_cells[0].edges
    step = float(edges[-1] - edges[0]) / (len(edges) - 1)
    heights = np.array([_curve(lattice, step) for lattice in lattices])
    slack = _slack(len(edges))
    masses, beyond = _merge_by_largest(lattices, heights, step, slack)
    nothing = np.zeros(len(edges) - 1)
    return LossCells(
        edges=edges,
        excess=nothing,
        deficit=nothing,
        error=nothing,
        points=masses * (1 + 8 * slack),
        below=Ends(0.0, 0.0),
        above=Ends(beyond * (1 + 8 * slack) + LOST, 0.0),
    )


def _slack(count: int) -> float:
    """Return the relative error of a curve: two sums of `count` positive terms, and some roundings of the terms."""
    return (2 * count + 64) * UNIT


def _curve(lattice: Lattice, step: float) -> Floats:
    """Return the curve of a lattice at each of its grid points."""
    heads = math.expm1(step) * np.cumsum(_tails(lattice.masses, step)[::-1])[::-1]
    return np.asarray(heads + lattice.beyond)


def _tails(masses: Floats, step: float) -> Floats:
    """Return Σ over l > k of m_l·e^(−(l−k)·step) for each k, block by block from the right."""
    size = max(min(int(BLOCK / step), len(masses)), 1)
    tails, carried = np.zeros(len(masses)), 0.0
    for stop in range(len(masses), 0, -size):
        start = max(stop - size, 0)
        # Seen from the first of the block, with what lies beyond the last of it carried along.
        falls = np.exp(-step * np.arange(stop - start, dtype=np.float64))
        sums = np.cumsum((masses[start:stop] * falls)[::-1])[::-1]
        after = np.append(sums[1:], 0.0) + carried * falls[-1]
        tails[start:stop] = after / falls
        carried = (float(sums[0]) + carried * float(falls[-1])) * math.exp(-step)
    return tails


def _merge_by_largest(lattices: list[Lattice], heights: Floats, step: float, slack: float) -> tuple[Floats, float]:
    """Return masses whose curve is the largest of the heights at each grid point, and the mass beyond."""
    top = heights.max(axis=0)
    stop, chosen = heights.shape[1], int(heights[:, -1].argmax())
    masses, beyond = np.zeros(stop), lattices[chosen].beyond
    while True:
        # The last place at which another part is the larger one, by more than errors.
        exceeded = np.flatnonzero(top[:stop] > heights[chosen, :stop] * (1 + 4 * slack))
        start = int(exceeded[-1]) + 1 if len(exceeded) else 0
        masses[start:stop] += lattices[chosen].masses[start:stop]
        if start == 0:
            break
        before, chosen, stop = chosen, int(heights[:, start - 1].argmax()), start
        masses[start - 1] += _risen(heights[:, start], before, chosen, slack) / math.expm1(step)
        masses[start] += _risen(heights[:, start - 1], chosen, before, slack) / -math.expm1(-step)
    totals = [float(lattice.masses.sum()) + lattice.beyond for lattice in lattices]
    # To the left of all grid points the curve rises to the largest total mass at x = 0.
    masses[0] += max(totals) - totals[chosen] + 4 * slack
    return masses, beyond


def _risen(heights: Floats, more: int, less: int, slack: float) -> float:
    """Return by how much a curve exceeds another one, rounded up."""
    return max(float(heights[more] - heights[less]), 0.0) + 4 * slack * float(heights[more])

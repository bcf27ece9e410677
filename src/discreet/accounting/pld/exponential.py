"""Pairs whose loss has a density proportional to e^(ℓ/2): Laplace noise and the exponential mechanism.

*Laplace noise* of scale b on an answer that moves by Δ, with r = Δ/b: under P the loss is r with probability 1/2, −r
with probability e^−r/2, and has density e^((ℓ−r)/2)/4 in between.

*Bounded range* ε. Any two neighbours have losses in some [t − ε, t] with t in [0, ε], and E_P[e^−L] = 1. The curve is
an expectation of a convex function of e^−L, so moving L to the two ends of the interval, with that mean kept, enlarges
it: the pair on two outcomes with losses t and t − ε dominates (Dong, Durfee, Rogers 2020). There P gives the first p =
(1 − e^(t−ε))/(1 − e^−ε). Its curve at e^−ε ≤ x ≤ e^ε is the greatest of p·(1 − x·e^−t), 1 − x and 0. The first is
largest over t at e^2t = x·e^ε, where it is (1 − √(x·e^−ε))²/(1 − e^−ε), and at least the other two, as it then is a
curve's value itself. The greatest over all t is convex in x as a maximum of convex functions, so it is the curve of a
pair that dominates them all: P[L > ℓ] = h − x·h′ = (1 − e^((ℓ−ε)/2))/(1 − e^−ε), a density of e^((ℓ−ε)/2)/(2(1 − e^−ε))
on [−ε, ε].

With density k·e^((ℓ−r)/2)/4 on (a, b), the excess is k·e^((a−r)/2)·2sinh²((b−a)/4) and the deficit the same with b in
the exponent.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.accounting.pld.cells import UNIT, Ends, Floats, LossCells

#: Where a sketch puts its masses, in units of the reach: midpoints of equal steps, and both ends.
FEW, MANY = (np.append(np.arange(1 - count, count, 2) / count, [-1.0, 1.0]) for count in (12, 128))
#: Where losses reach farther than this, few steps are too wide.
WIDE = 2.0


@dataclass(frozen=True, slots=True)
class ExponentialPair:
    """A loss on [−reach, reach] with density weight·e^((ℓ−reach)/2)/4, and `end` of P's mass at reach itself."""

    reach: float
    weight: float
    end: float

    @property
    def symmetric(self) -> bool:
        """The density of Q is that of P mirrored."""
        return True

    @property
    def pin(self) -> float:
        """The largest loss."""
        return self.reach

    @property
    def loose(self) -> float:
        """All but the ends, the lower of which is e^−reach of the upper."""
        return 1 - self.end * (1 + math.exp(-self.reach))

    @property
    def movable(self) -> bool:
        """Nothing is special about 0."""
        return True

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the range of the loss: it has no tails."""
        del tiny
        return -self.reach, self.reach

    def cells(self, edges: Floats) -> LossCells:
        """Return the cells between rising edges; only their parts within reach hold anything but the ends."""
        clipped = np.minimum(np.maximum(edges, -self.reach), self.reach)
        low, high = clipped[:-1], clipped[1:]
        half, roots = np.sinh((high - low) / 4), np.exp((clipped - self.reach) / 2)
        shape = 2 * self.weight * half**2
        excess, deficit = shape * roots[:-1], shape * roots[1:]
        # A cell that reaches beyond has strips between its part and its edges: Q-mass over the part, times their rise.
        for cell in np.flatnonzero((half > 0) & ((low > edges[:-1]) | (high < edges[1:]))).tolist():
            near, far, at, end = (float(bound) for bound in (edges[cell], edges[cell + 1], low[cell], high[cell]))
            absent = self.weight * math.exp(-(at + end) / 4 - self.reach / 2) * float(half[cell])
            excess[cell] += absent * math.exp(near) * math.expm1(at - near)
            deficit[cell] += absent * math.exp(end) * math.expm1(far - end)
        error = (excess + deficit) * (64 * UNIT * (1 + self.reach))
        cells = LossCells(
            edges=edges,
            excess=excess,
            deficit=deficit,
            error=error,
            points=np.zeros(len(edges)),
            below=Ends(*self._density_below(float(edges[0]))),
            above=Ends(*self._density_above(float(edges[-1]))),
        )
        if not self.end:
            return cells
        falling = self.end * math.exp(-self.reach)
        return _with_point(_with_point(cells, -self.reach, falling, self.end), self.reach, self.end, falling)

    def sketch(self) -> tuple[Floats, Floats]:
        """Return midpoints of the density, and the ends."""
        places = MANY if self.reach > WIDE else FEW
        levels = self.reach * places
        masses = np.exp((levels - self.reach) / 2)
        masses *= self.loose / masses[:-2].sum()
        masses[-2], masses[-1] = self.end * math.exp(-self.reach), self.end
        return levels, masses

    def _density_below(self, edge: float) -> tuple[float, float]:
        """Return bounds on the masses of the density below an edge."""
        part = max(0.0, min(edge, self.reach) + self.reach)
        return self._masses(-self.reach, -self.reach + part)

    def _density_above(self, edge: float) -> tuple[float, float]:
        part = max(0.0, self.reach - max(edge, -self.reach))
        return self._masses(self.reach - part, self.reach)

    def _masses(self, low: float, high: float) -> tuple[float, float]:
        """Return the masses of P and Q over an interval of losses, rounded up."""
        common = self.weight * math.sinh((high - low) / 4) * (1 + 64 * UNIT * (1 + self.reach))
        return (
            common * math.exp((low + high) / 4 - self.reach / 2),
            common * math.exp(-(low + high) / 4 - self.reach / 2),
        )


def laplace_pair(reach: float) -> ExponentialPair:
    """Return the pair of Laplace noise whose answer moves by `reach` scales."""
    return ExponentialPair(reach, 1.0, 0.5)


def range_pair(reach: float) -> ExponentialPair:
    """Return the pair that dominates every mechanism of bounded range `reach`."""
    return ExponentialPair(reach, -2 / math.expm1(-reach), 0.0)


def _with_point(cells: LossCells, level: float, present: float, absent: float) -> LossCells:
    """Put one more outcome into cells, in place where it lies on the grid; masses are right to some roundings."""
    edges, last = cells.edges, len(cells.edges) - 1
    at = int(np.searchsorted(edges, level))
    # The loss is what it is; an edge is off by some roundings of its own, and one as close as that is taken to be it.
    rounding = 8 * UNIT * abs(level)
    for near in (at - 1, at):
        if 0 <= near <= last and abs(float(edges[near]) - level) <= rounding:
            cells.points[near] += present * (1 + 16 * UNIT)
            # It may lie on either side.
            cells.error[max(near - 1, 0)] += 4 * rounding * present
            cells.error[min(near, last - 1)] += 4 * rounding * present
            return cells
    if 0 < at <= last:
        # P − e^a·Q = P·(1 − e^(a−L))
        excess = present * -math.expm1(float(edges[at - 1]) - level)
        deficit = present * math.expm1(float(edges[at]) - level)
        cells.excess[at - 1] += excess
        cells.deficit[at - 1] += deficit
        cells.error[at - 1] += 16 * UNIT * (excess + deficit) + 4 * rounding * present
        return cells
    up = 1 + 16 * UNIT
    if at == 0:
        return replace(cells, below=Ends(cells.below.present + present * up, cells.below.absent + absent * up))
    return replace(cells, above=Ends(cells.above.present + present * up, cells.above.absent + absent * up))

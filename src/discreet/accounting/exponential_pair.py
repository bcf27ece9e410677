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
from dataclasses import dataclass

import numpy as np

from discreet.accounting.atoms import Atoms
from discreet.accounting.cells import UNIT, Cells, Ends, Floats

SKETCH_STEPS = 128


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

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the range of the loss: it has no tails."""
        del tiny
        return -self.reach, self.reach

    def cells(self, edges: Floats) -> Cells:
        """Return the cells between rising edges; only their parts within reach hold anything but the ends."""
        clipped = np.clip(edges, -self.reach, self.reach)
        low, high = clipped[:-1], clipped[1:]
        shape = 2 * self.weight * np.sinh((high - low) / 4) ** 2
        # Q-mass over each part, for the strips between the part and the edges of its cell.
        absent = self.weight * np.exp(-(low + high) / 4 - self.reach / 2) * np.sinh((high - low) / 4)
        excess = shape * np.exp((low - self.reach) / 2) + absent * np.exp(edges[:-1]) * np.expm1(low - edges[:-1])
        deficit = shape * np.exp((high - self.reach) / 2) + absent * np.exp(high) * np.expm1(edges[1:] - high)
        ends = self._ends().cells(edges)
        return Cells(
            edges=edges,
            excess=excess + ends.excess,
            deficit=deficit + ends.deficit,
            points=ends.points,
            error=ends.error + (excess + deficit) * (64 * UNIT) * (1 + self.reach),
            below=Ends(*(a + b for a, b in zip(self._density_below(float(edges[0])), _both(ends.below), strict=True))),
            above=Ends(*(a + b for a, b in zip(self._density_above(float(edges[-1])), _both(ends.above), strict=True))),
        )

    def sketch(self) -> tuple[Floats, Floats]:
        """Return midpoints of the density, and the ends."""
        steps = np.linspace(-self.reach, self.reach, SKETCH_STEPS + 1)
        middles = (steps[:-1] + steps[1:]) / 2
        masses = self.weight / 4 * np.exp((middles - self.reach) / 2) * (steps[1] - steps[0])
        ends = self._ends()
        return np.concatenate([middles, ends.levels]), np.concatenate([masses, ends.present])

    def _ends(self) -> Atoms:
        if not self.end:
            return Atoms(np.zeros(0), np.zeros(0), symmetric=True)
        falling = self.end * math.exp(-self.reach)
        return Atoms(np.array([falling, self.end]), np.array([self.end, falling]), symmetric=True)

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


def _both(ends: Ends) -> tuple[float, float]:
    return ends.present, ends.absent

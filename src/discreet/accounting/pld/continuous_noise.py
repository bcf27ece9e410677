"""Dominating pairs of continuous noise on a grid of losses: Gaussian, Laplace, and the exponential mechanism.

Gaussian noise is the pair N(μ, 1) against N(0, 1). In terms of the noise x, the loss is L = μx − μ²/2. Over a cell
whose noise runs from x to x + w,

    excess  = φ(x−μ)·∫₀ʷ e^(−(x−μ)t − t²/2)·(1 − e^(−μt)) dt,
    deficit = φ(x−μ)·∫₀ʷ e^(−(x−μ)t − t²/2)·(e^(μ(w−t)) − 1) dt,

both integrals of positive functions. Narrow cells are integrated by Gauss–Legendre quadrature with `NODES` nodes. Its
error: scaled to [−1, 1] the integrand is entire, and for w·(|x−μ| + w + μ) ≤ `NARROW` = 1 it is at most e^(3b)·μwb with
b = (ρ + 1/ρ)/4 + 1/2 on the ellipse of Bernstein with parameter ρ; by Trefethen 2013, Theorem 19.3 the error is at most
64/15·M·ρ^(−2·NODES)/(1 − ρ^−2) times w/2, which at ρ = 12 and 10 nodes is below 2e-16 of the excess or deficit, as
these are at least e^−1.5·μw²/2. Wide cells, of which there are few, are differences of erfc.

Thin cells need fewer nodes. With z = w·(|x−μ| + μ + 1), so that w ≤ z, the integrand is at most μwb·e^(2bz + (bz)²/2)
on the ellipse, which is e⁶·μwb at b = 2/z. There ρ ≥ 4b − 3 = 8/z − 3; excess and deficit are at least e^(−2z)·μw²/2,
and the error of n nodes, as a share of them, is below 64/15·b·e^(6+2z)·ρ^(−2n)/(1 − ρ^−2). For each thickness in
`RULES` that is below 2e-16.
"""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from discreet.accounting.pld.cells import UNIT, Ends, Floats, Indices, LossCells

NODES = 10
NARROW = 1.0
#: Relative accuracy of math.erfc, with room: the C libraries in use stay within a few units in the last place.
TAIL_SLACK = 1e-14
#: Relative accuracy of a quadrature: some fifty roundings.
SUM_SLACK = 2e-14
#: Thinner cells need fewer nodes: pairs of a thickness up to which so many are enough.
RULES = ((1.5e-3, 3), (1.5e-2, 4), (6e-2, 5), (math.inf, NODES))
#: As many cells at a time stay in the processor's cache.
BLOCK = 2**13


@cache
def _rule(nodes: int) -> tuple[list[float], list[float]]:
    """Return nodes and weights of Gauss and Legendre on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return ((1 + points) / 2).tolist(), (weights / 2).tolist()


#: The reach of a sketch, in widths of the noise, its resolution, and its largest number of steps.
SKETCH_REACH, SKETCH_SPACING, SKETCH_STEPS = 14.0, 0.4, 400


@dataclass(frozen=True, slots=True)
class GaussianPair:
    """Gaussian noise of width 1 on an answer that moves by μ."""

    mu: float

    @property
    def symmetric(self) -> bool:
        """Reflecting the noise in μ/2 swaps the two."""
        return True

    @property
    def pin(self) -> float:
        """No single loss has any mass."""
        return 0.0

    @property
    def loose(self) -> float:
        """All of it."""
        return 1.0

    @property
    def movable(self) -> bool:
        """Nothing is special about 0."""
        return True

    def span(self, tiny: float) -> tuple[float, float]:
        """Return the losses at so many widths of the noise that less than `tiny` lies beyond."""
        reach = math.sqrt(max(-2 * math.log(tiny), 1.0))
        return -self.mu * reach - self.mu**2 / 2, self.mu * reach + self.mu**2 / 2

    def cells(self, edges: Floats) -> LossCells:
        """Return the cells between rising edges."""
        noise = edges / self.mu + self.mu / 2
        start, width = noise[:-1], np.diff(edges) / self.mu
        narrow = width * (np.abs(start - self.mu) + width + self.mu) <= NARROW
        excess, deficit, error = (np.zeros(len(start)) for _ in range(3))
        excess[narrow], deficit[narrow], error[narrow] = self._narrow(start[narrow], width[narrow])
        wide = np.flatnonzero(~narrow)
        if len(wide):
            excess[wide], deficit[wide], error[wide] = self._wide(edges, noise, wide)
        low, high = float(noise[0]), float(noise[-1])
        return LossCells(
            edges=edges,
            excess=excess,
            deficit=deficit,
            error=error,
            points=np.zeros(len(edges)),
            below=Ends(_tail_up(self.mu - low), _tail_up(-low)),
            above=Ends(_tail_up(high - self.mu), _tail_up(high)),
        )

    def sketch(self) -> tuple[Floats, Floats]:
        """Return the loss at evenly spaced noise, a trapezoid rule."""
        spacing = min(SKETCH_SPACING, 1 / self.mu)
        count = min(int((2 * SKETCH_REACH + self.mu) / spacing) + 2, SKETCH_STEPS)
        noise = np.linspace(-SKETCH_REACH, SKETCH_REACH + self.mu, count)
        masses = np.exp(-((noise - self.mu) ** 2) / 2)
        return self.mu * noise - self.mu**2 / 2, masses / masses.sum()

    def _narrow(self, start: Floats, width: Floats) -> tuple[Floats, Floats, Floats]:
        excess, deficit = np.zeros(len(start)), np.zeros(len(start))
        if not len(start):
            return excess, deficit, excess
        thickness = width * (np.abs(start - self.mu) + self.mu + 1)
        error, least = np.zeros(len(start)), -1.0
        for most, nodes in RULES:
            chosen = np.flatnonzero((thickness > least) & (thickness <= most))
            for block in (chosen[first : first + BLOCK] for first in range(0, len(chosen), BLOCK)):
                excess[block], deficit[block], error[block] = self._integrate_cells(start[block], width[block], nodes)
            least = most
        return excess, deficit, error

    def _integrate_cells(self, start: Floats, width: Floats, nodes: int) -> tuple[Floats, Floats, Floats]:
        """Return excess, deficit and error of narrow cells by a rule of so many nodes."""
        excess, deficit = np.zeros(len(start)), np.zeros(len(start))
        shift, rise = start - self.mu, self.mu * width
        points, weights = _rule(nodes)
        # 1 − e^(−μt) at each node; the nodes are symmetric, so e^(μ(w−t)) − 1 is u/(1−u) of the opposite one.
        steps = [-np.expm1(-rise * point) for point in points]
        for point, weight, up, opposite in zip(points, weights, steps, reversed(steps), strict=True):
            step = width * point
            value = weight * np.exp(-(shift + step / 2) * step)
            excess += value * up
            deficit += value * (opposite / (1 - opposite))
        height = np.exp(-(shift**2) / 2) * (width / math.sqrt(2 * math.pi))
        excess *= height
        deficit *= height
        # The exponent of the height is off by a few roundings of the noise, too.
        return excess, deficit, (SUM_SLACK + 8 * UNIT * shift**2) * (excess + deficit)

    def _wide(self, edges: Floats, noise: Floats, wide: Indices) -> tuple[Floats, Floats, Floats]:
        present, absent = _between(noise - self.mu, wide), _between(noise, wide)
        low, high = np.exp(edges[wide]), np.exp(edges[wide + 1])
        with np.errstate(over="ignore", invalid="ignore"):
            excess = np.maximum(present[0] - low * absent[0], 0)
            deficit = np.maximum(np.where(absent[0] > 0, high * absent[0], 0) - present[0], 0)
            off = present[1] + np.where(absent[1] > 0, high * absent[1], 0)
        return excess, deficit, off + 8 * UNIT * (excess + deficit + present[0])


def _between(noise: Floats, cells: Indices) -> tuple[Floats, Floats]:
    """Return the mass of N(0, 1) over each cell, and how far it may be off."""
    left, right = noise[cells], noise[cells + 1]
    # Both ends on the side where tails are small: differences of tails keep their accuracy there.
    flip = left + right < 0
    near, far = np.where(flip, -right, left), np.where(flip, -left, right)
    large, small = _tails(near), _tails(far)
    # Arguments are off by a few roundings, which the exponent x² magnifies.
    off = (TAIL_SLACK + 8 * UNIT * near**2) * large + (TAIL_SLACK + 8 * UNIT * far**2) * small
    return np.maximum(large - small, 0), off + 1e-300


def _tails(noise: Floats) -> Floats:
    return np.array([math.erfc(x) / 2 for x in (noise / math.sqrt(2)).tolist()])


def _tail_up(noise: float) -> float:
    return math.erfc(noise / math.sqrt(2)) / 2 * (1 + 2 * TAIL_SLACK + 8 * UNIT * noise * noise) + 1e-300


# Pairs whose loss has a density proportional to e^(ℓ/2): Laplace noise and the exponential mechanism.
#
# *Laplace noise* of scale b on an answer that moves by Δ, with r = Δ/b: under P the loss is r with probability 1/2, −r
# with probability e^−r/2, and has density e^((ℓ−r)/2)/4 in between.
#
# *Bounded range* ε. Any two neighbours have losses in some [t − ε, t] with t in [0, ε], and E_P[e^−L] = 1. The curve
# is an expectation of a convex function of e^−L, so moving L to the two ends of the interval, with that mean kept,
# enlarges it: the pair on two outcomes with losses t and t − ε dominates (Dong, Durfee, Rogers 2020). There P gives
# the first p = (1 − e^(t−ε))/(1 − e^−ε). Its curve at e^−ε ≤ x ≤ e^ε is the greatest of p·(1 − x·e^−t), 1 − x and 0.
# The first is largest over t at e^2t = x·e^ε, where it is (1 − √(x·e^−ε))²/(1 − e^−ε), and at least the other two, as
# it then is a curve's value itself. The greatest over all t is convex in x as a maximum of convex functions, so it is
# the curve of a pair that dominates them all: P[L > ℓ] = h − x·h′ = (1 − e^((ℓ−ε)/2))/(1 − e^−ε), a density of
# e^((ℓ−ε)/2)/(2(1 − e^−ε)) on [−ε, ε].
#
# With density k·e^((ℓ−r)/2)/4 on (a, b), the excess is k·e^((a−r)/2)·2sinh²((b−a)/4) and the deficit the same with b
# in the exponent.

#: The places of a sketch's masses, in units of the reach: midpoints of equal steps, and both ends.
FEW, MANY = (np.append(np.arange(1 - count, count, 2) / count, [-1.0, 1.0]) for count in (12, 128))
#: If losses reach farther than this, few steps are too wide.
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

"""Continual counting by a binary tree of noisy partial sums."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.accounting import Concentrated, Pure
from discreet.core import InvalidInput, Neighbours, Number, Sensitivity, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.limits import AnyLimit
from discreet.mechanisms.counters.readings import (
    MOST_STEPS,
    ONE_ROW,
    Counted,
    Floats,
    Span,
    add_rounding_error,
    bound_sensitivity,
    gaussian_factor,
    laplace_growth,
    laplace_radius,
    need_counts,
    need_reach,
    need_released,
    need_spans,
    risk_each,
    worst_stream,
)
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise import SYSTEM, Entropy


@dataclass(frozen=True, slots=True, init=False)
class TreeCounter:
    """Count as steps arrive, by the noisy sums of dyadic stretches of steps, each released once when it is over.

    A *node* of height h is a stretch of 2ʰ steps that begins at a multiple of 2ʰ and ends within the horizon. At each
    step the nodes that end with it are released, with fresh Laplace noise (`epsilon`) or Gaussian noise (`rho`). A
    stretch of steps is a few nodes; each is estimated from all nodes inside of it, weighted by their variances, which
    halves the variance.

    Guarantee: ε-differential privacy, or ρ-zCDP, for all steps together, where one unit adds what `limit` says to the
    exact counts; also if arriving data depends on earlier releases. Every step is in at most one node of each height,
    so with L heights one row moves the nodes by at most L in l1 and √L in l2; k rows by at most k·L in l1, and most in
    l2 if they are the first k steps: `discreet.mechanisms.counters.readings`.
    Reference: Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; the estimate is Honaker 2015, "from below".
    """

    __canonical__: ClassVar[Record] = Record("TreeCounter", "steps", "epsilon", "rho", "limit", "neighbours")

    steps: int
    epsilon: Fraction | None
    rho: Fraction | None
    limit: AnyLimit
    neighbours: Neighbours

    def __init__(
        self,
        *,
        steps: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        limit: AnyLimit = ONE_ROW,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise InvalidInput("One price is needed.", fix="pass either epsilon=… or rho=…")
        need_reach(limit, neighbours)
        settle(
            self,
            steps=whole(steps, "steps", most=MOST_STEPS),
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
            rho=None if rho is None else positive(rho, "rho"),
            limit=limit,
            neighbours=neighbours,
        )

    @property
    def heights(self) -> int:
        """The number of heights of nodes: every step is in at most one node of each."""
        return self.steps.bit_length()

    @property
    def sensitivity(self) -> Sensitivity:
        """The distance by which one unit moves all nodes together."""
        return _sensitivity(self.steps, self.limit, self.neighbours)

    @property
    def noise(self) -> Laplace | Gaussian:
        """The noise that is added to each node."""
        if self.rho is not None:
            return Gaussian.for_rho(self.rho, self.sensitivity)
        return Laplace(scale=self.sensitivity.l1 / (self.epsilon or Fraction(1)), sensitivity=self.sensitivity)

    @property
    def cost(self) -> Pure | Concentrated:
        """The cost of all steps together."""
        noise = self.noise
        if isinstance(noise, Laplace):
            return noise.cost
        return Concentrated(self.sensitivity.l2_squared / (2 * noise.variance))

    def exact(self, step: int, counts: Sequence[int]) -> list[int]:
        """Return the sums of the nodes that end with a step, lowest first; private."""
        end = self._need_step(step) + 1
        known = need_counts(counts, step)
        return [sum(known[end - (1 << height) :]) for height in range(self.heights) if end % (1 << height) == 0]

    def measure(self, step: int, counts: Sequence[int], *, entropy: Entropy = SYSTEM) -> list[int]:
        """Return the release of a step, 0, 1, 2, …, from the exact counts of all steps up to it; once."""
        noise = self.noise
        return [noise.perturb(node, entropy=entropy) for node in self.exact(step, counts)]

    def estimate(
        self,
        released: Sequence[Sequence[int]],
        *,
        spans: Iterable[Span] | None = None,
        confidence: Number = 0.95,
        together: bool = False,
    ) -> Counted:
        """Return the counts of stretches of steps, from the releases of the first steps: post-processing.

        A span (2, 5) is steps 2, 3 and 4. Without `spans`: the counts so far, (0, 1), (0, 2), …. Errors hold for each
        span with the confidence, or for all of them `together`.
        """
        sizes = [((step + 1) & -(step + 1)).bit_length() for step in range(self.steps)]
        known = need_released(released, sizes)
        wanted = need_spans(spans, len(known))
        nodes = [_nodes(begin, end) for begin, end in wanted]
        levels = _from_below(known)
        values = np.array(
            [sum(levels[height][place] for height, place in span_nodes) for span_nodes in nodes], np.float64
        )
        return add_rounding_error(
            values, self._radii(_by_height(nodes, self.heights), risk_each(confidence, wanted, together))
        )

    def error(self, confidence: Number = 0.95, *, at: int | None = None) -> float:
        """Return how far off the count so far may be: `at` so many steps, or (None) at all of them at once."""
        ends = range(1, self.steps + 1) if at is None else (whole(at, "at", most=self.steps),)
        wanted = [(0, end) for end in ends]
        nodes = _by_height([_nodes(*span) for span in wanted], self.heights)
        return float(self._radii(nodes, risk_each(confidence, wanted, together=True)).max())

    def deviation(self, at: int | None = None) -> float:
        """Return the standard deviation of the count so far at so many steps; (None) the largest of all."""
        ends = range(1, self.steps + 1) if at is None else (whole(at, "at", most=self.steps),)
        nodes = _by_height([_nodes(0, end) for end in ends], self.heights)
        return self.noise.deviation * math.sqrt((nodes @ _variances(self.heights)).max())

    def _radii(self, nodes: Floats, risk: float) -> Floats:
        """Return how far off sums of so many nodes of each height may be; one node of height 0 has plain noise."""
        noise = self.noise
        if isinstance(noise, Laplace):
            radii = laplace_radius(noise.scale, nodes @ _growth(noise.scale, self.heights), risk)
        else:
            factor = gaussian_factor(noise.variance, 2 * self.steps, risk)
            radii = factor * np.sqrt(nodes @ _variances(self.heights))
        alone = (nodes[:, 0] == 1) & (nodes.sum(axis=1) == 1)
        return np.where(alone, np.minimum(radii, noise.error(1 - Fraction(risk))), radii)

    def _need_step(self, step: int) -> int:
        return whole(step, "step", least=0, most=self.steps - 1)


@lru_cache(maxsize=256)  # of public numbers; a plan asks when it is priced, paid for and run
def _sensitivity(steps: int, limit: AnyLimit, neighbours: Neighbours) -> Sensitivity:
    """Return the norms of what the worst stream does to the nodes.

    Nodes of one height cover the first steps, so that early steps are in as many nodes as any: that is l1. For l2 let
    k steps be given, and say that c of them fall into a node of height h, c ≤ 2ʰ. The sum of all c² is largest if nodes
    are filled one after the other; and the first k steps fill them so at every height at once.
    """
    worst = worst_stream(steps, limit)
    heights = range(steps.bit_length())
    moves = [sum(worst[place << h : (place + 1) << h]) for h in heights for place in range(steps >> h)]
    return bound_sensitivity(moves, len(heights) * min(limit.groups, steps), neighbours)


def _own_weight(height: int) -> float:
    """Return the weight of a node's own value beside what its children say.

    With variance 1 of each value, the estimate of a node of height h has variance v₀ = 1, 1/v = 1 + 1/(2v'), v' that of
    its children; so v = 2ʰ/(2ʰ⁺¹ − 1), which is also the weight.
    """
    return (1 << height) / ((2 << height) - 1)


def _variances(heights: int) -> Floats:
    return np.array([_own_weight(height) for height in range(heights)])


@lru_cache(maxsize=64)
def _growth(scale: Fraction, heights: int) -> Floats:
    """Return the growth of the noise in the estimate of one node, for each height and slope."""
    rows = []
    for top in range(heights):
        weights, handed_down = np.zeros(top + 1), 1.0
        for height in range(top, -1, -1):
            weights[height] = handed_down * _own_weight(height)
            handed_down *= 1 - _own_weight(height)
        times = 2.0 ** (top - np.arange(top + 1))
        rows.append(times @ laplace_growth(scale, weights))
    return np.array(rows)


def _from_below(released: Sequence[Sequence[int]]) -> list[Floats]:
    """Return the estimates of all complete nodes, by height, each from its own value and its children."""
    levels: list[Floats] = []
    height = 0
    while len(released) >> height:
        ends = range((1 << height) - 1, len(released), 1 << height)
        own = np.array([float(released[end][height]) for end in ends])
        if height:
            below, weight = levels[-1][: 2 * len(own)], _own_weight(height)
            own = weight * own + (1 - weight) * (below[::2] + below[1::2])
        levels.append(own)
        height += 1
    return levels


def _nodes(begin: int, end: int) -> list[tuple[int, int]]:
    """Return the fewest nodes that make up a span: height and place of each."""
    nodes = []
    while begin < end:
        height = min((begin & -begin or end).bit_length(), (end - begin).bit_length()) - 1
        nodes.append((height, begin >> height))
        begin += 1 << height
    return nodes


def _by_height(nodes: Sequence[Sequence[tuple[int, int]]], heights: int) -> Floats:
    counts = np.zeros((len(nodes), heights))
    for row, span_nodes in enumerate(nodes):
        for height, _ in span_nodes:
            counts[row, height] += 1
    return counts

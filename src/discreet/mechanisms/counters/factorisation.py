"""Continual counting by a factorisation of the matrix that adds up: correlated noise, smaller than a tree's."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.accounting import Concentrated
from discreet.core import Neighbours, Number, Sensitivity, positive, whole
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
    need_counts,
    need_reach,
    need_released,
    need_spans,
    risk_each,
    worst_stream,
)
from discreet.mechanisms.gaussian import Gaussian
from discreet.noise import SYSTEM, Entropy

#: The factor is rounded to multiples of 1/GRID. In any case, the guarantee is that of the rounded one.
GRID = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class FactorisationCounter:
    """Count as steps arrive: at step t release y_t = Σ_{i≤t} c_{t−i}·x_i + z_t, and add up with the inverse of c.

    Counts so far are Ax, A the matrix of ones on and below the diagonal. With A = BC, one releases Cx + z and reads off
    B(Cx + z) = Ax + Bz. Here C is the square root of A, Toeplitz, with f(k) = binom(2k, k)/4ᵏ below the diagonal. To be
    exact, it is put on a public grid: c_k = round(2²⁰·f(k)), whole numbers. So what is released are whole numbers with
    discrete Gaussian noise z; B = A·C⁻¹ of the rounded C is applied afterwards, in floats.

    Guarantee: ρ-zCDP for all steps together, where one unit adds what `limit` says to the exact counts; also if
    arriving data depends on earlier releases. c is not negative and does not grow, so ⟨C_s, C_t⟩ = Σ_j
    c_j·c_{j+t−s}, over j < steps − t for s ≤ t, falls with t and with t − s; hence the first steps move most:
    `discreet.mechanisms.counters.readings`.
    Reference: Fichtenberger, Henzinger, Upadhyay 2023; Henzinger, Upadhyay, Upadhyay 2023; adaptively arriving data:
    Denisov, McMahan, Rush, Smith, Thakurta 2022.
    """

    __canonical__: ClassVar[Record] = Record("FactorisationCounter", "steps", "rho", "limit", "neighbours")

    steps: int
    rho: Fraction
    limit: AnyLimit
    neighbours: Neighbours

    def __init__(
        self,
        *,
        steps: int,
        rho: Number,
        limit: AnyLimit = ONE_ROW,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> None:
        need_reach(limit, neighbours)
        settle(
            self,
            steps=whole(steps, "steps", most=MOST_STEPS),
            rho=positive(rho, "rho"),
            limit=limit,
            neighbours=neighbours,
        )

    @property
    def sensitivity(self) -> Sensitivity:
        """The distance by which one unit moves all that is released."""
        return _sensitivity(self.steps, self.limit, self.neighbours)

    @property
    def noise(self) -> Gaussian:
        """The noise that is added at each step, on the grid."""
        return Gaussian.for_rho(self.rho, self.sensitivity)

    @property
    def cost(self) -> Concentrated:
        """The cost of all steps together."""
        return Concentrated(self.sensitivity.l2_squared / (2 * self.noise.variance))

    def exact(self, step: int, counts: Sequence[int]) -> list[int]:
        """Return the one sum that is measured at a step; private."""
        known = need_counts(counts, whole(step, "step", least=0, most=self.steps - 1))
        return [sum(c * count for c, count in zip(coefficients(self.steps), reversed(known), strict=False))]

    def measure(self, step: int, counts: Sequence[int], *, entropy: Entropy = SYSTEM) -> list[int]:
        """Return the release of a step, 0, 1, 2, …, from the exact counts of all steps up to it; once."""
        return [self.noise.perturb(value, entropy=entropy) for value in self.exact(step, counts)]

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
        known = need_released(released, [1] * self.steps)
        wanted = need_spans(spans, len(known))
        measured = np.array([float(value) for (value,) in known])
        so_far = np.append(0.0, np.convolve(_inverse(self.steps)[: len(known)], measured)[: len(known)])
        values = np.array([so_far[end] - so_far[begin] for begin, end in wanted])
        largest = np.array([max(abs(so_far[end]), abs(so_far[begin])) for begin, end in wanted])
        estimate = add_rounding_error(values, self._radii(wanted, risk_each(confidence, wanted, together)))
        return Counted(values, estimate.errors + add_rounding_error(largest, np.zeros(len(wanted))).errors)

    def error(self, confidence: Number = 0.95, *, at: int | None = None) -> float:
        """Return how far off the count so far may be: `at` so many steps, or (None) at all of them at once."""
        wanted = [(0, end) for end in self._ends(at)]
        factor = gaussian_factor(self.noise.variance, self.steps, risk_each(confidence, wanted, together=True))
        # Of more steps the count is less certain, so the last one is the worst.
        return factor * math.sqrt(_square(self.steps, wanted[-1]))

    def deviation(self, at: int | None = None) -> float:
        """Return the standard deviation of the count so far at so many steps; (None) the largest of all."""
        return self.noise.deviation * math.sqrt(_square(self.steps, (0, self._ends(at)[-1])))

    def _ends(self, at: int | None) -> Sequence[int]:
        return range(1, self.steps + 1) if at is None else (whole(at, "at", most=self.steps),)

    def _radii(self, spans: Sequence[Span], risk: float) -> Floats:
        factor = gaussian_factor(self.noise.variance, self.steps, risk)
        return factor * np.sqrt([_square(self.steps, span) for span in spans])


@lru_cache(maxsize=64)  # of public numbers; a plan asks when it is priced, paid for and run
def coefficients(steps: int) -> tuple[int, ...]:
    """Return c_k = round(GRID·binom(2k, k)/4ᵏ), exactly: from GRID down, never growing, as rounding keeps the order."""
    values, binomial = [], 1
    for k in range(steps):
        power = 4**k
        values.append((2 * GRID * binomial + power) // (2 * power))
        binomial = binomial * 2 * (2 * k + 1) // (k + 1)
    return tuple(values)


@lru_cache(maxsize=64)
def _inverse(steps: int) -> Floats:
    """Return the power series b with b·c = 1 + x + x² + …, the Toeplitz entries of B.

    b_n = (1 − Σ_{k≥1} c_k·b_{n−k})/c₀. Rounding errors are handed on by 1/c ≈ √(1−x)/GRID, whose coefficients sum to 2
    in magnitude, and so do not grow.
    """
    c, b = np.array(coefficients(steps), np.float64), np.zeros(steps)
    for n in range(steps):
        b[n] = (1 - c[1 : n + 1] @ b[:n][::-1]) / c[0]
    return b


@lru_cache(maxsize=1 << 16)
def _square(steps: int, span: Span) -> float:
    """Return the sum of squares of the weights that the noise of each step has in the count of a span."""
    b, (begin, end) = _inverse(steps), span
    weights = b[:end].copy()
    weights[end - begin :] -= b[:begin]
    return float(weights @ weights)


@lru_cache(maxsize=256)
def _sensitivity(steps: int, limit: AnyLimit, neighbours: Neighbours) -> Sensitivity:
    """Return the norms of what the worst stream does to all steps: it is constant at first, and then zero."""
    worst, c = worst_stream(steps, limit), coefficients(steps)
    early = sum(rows > 0 for rows in worst)
    moves, inside = [], 0
    for step in range(steps):
        inside += c[step] - (c[step - early] if step >= early else 0)
        moves.append(worst[0] * inside)
    return bound_sensitivity(moves, steps, neighbours)

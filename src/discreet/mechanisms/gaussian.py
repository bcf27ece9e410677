"""The Gaussian mechanism on integers, and its three calibrations."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Self, overload

from numpy.typing import NDArray

from discreet.accounting import DiscreteGaussianNoise, calibrate_gaussian, tail
from discreet.accounting import delta as delta_at
from discreet.core import (
    NotProved,
    Number,
    Sensitivity,
    log_up,
    need_sensitivity,
    positive,
    probability,
    round_down,
    whole,
)
from discreet.core.canonical_text import settle
from discreet.mechanisms.integers import Answer, add_noise
from discreet.mechanisms.laplace import FAINT, chance_each
from discreet.noise import SYSTEM, Entropy, gaussian


@dataclass(frozen=True, slots=True, init=False)
class Gaussian:
    """Add discrete Gaussian noise, P(z) ∝ e^−z²/(2·variance), to every coordinate of an integer answer.

    Guarantee: (l2²/2σ²)-zCDP for answers whose neighbours lie within l2, and the (ε, δ) of the exact curve, which
    `discreet.accounting.epsilon(mechanism.cost, delta)` returns.
    Reference: Canonne, Kamath, Steinke 2020, Theorems 7 and 14.
    """

    variance: Fraction
    sensitivity: Sensitivity

    def __init__(self, *, variance: Number, sensitivity: Sensitivity) -> None:
        settle(self, variance=positive(variance, "variance"), sensitivity=need_sensitivity(sensitivity))

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Sensitivity) -> Self:
        """Calibrate to ρ-zCDP: σ² = l2²/2ρ."""
        square = need_sensitivity(sensitivity).l2_squared
        return cls(variance=square / (2 * positive(rho, "rho")), sensitivity=sensitivity)

    @classmethod
    def for_epsilon_delta(cls, epsilon: Number, delta: Number, sensitivity: Sensitivity) -> Self:
        """Calibrate to (ε, δ) by the exact curve of the discrete Gaussian: the least noise of the three.

        Reference: Balle, Wang 2018, for the continuous Gaussian.
        """
        return cls(variance=calibrate_gaussian(epsilon, delta, need_sensitivity(sensitivity)), sensitivity=sensitivity)

    @classmethod
    def classic(cls, epsilon: Number, delta: Number, sensitivity: Sensitivity) -> Self:
        """Calibrate to (ε, δ) by the textbook's σ² = 2·ln(1.25/δ)·l2²/ε², which holds for ε < 1 only.

        The theorem speaks of the continuous Gaussian, so the exact curve of the discrete one is checked as well.
        Reference: Dwork, Roth 2014, Theorem 3.22.
        """
        target, allowed = positive(epsilon, "epsilon"), probability(delta, "delta")
        if target >= 1:
            raise NotProved(
                "The classic calibration of Gaussian noise is proved for epsilon below 1 only.",
                fix="use Gaussian.for_epsilon_delta, which holds for every epsilon and adds less noise",
            )
        square = 2 * log_up(Fraction(5, 4) / allowed) * need_sensitivity(sensitivity).l2_squared
        mechanism = cls(variance=square / target**2, sensitivity=sensitivity)
        if delta_at(mechanism.cost, target) > round_down(allowed):
            raise NotProved(
                "This calibration is not proved for discrete Gaussian noise at this sensitivity.",
                fix="use Gaussian.for_epsilon_delta, which calibrates to the exact curve",
            )
        return mechanism

    @property
    def cost(self) -> DiscreteGaussianNoise:
        """The cost of one release."""
        return DiscreteGaussianNoise(self.variance, self.sensitivity)

    @property
    def deviation(self) -> float:
        """An upper bound on the standard deviation of the noise, met from σ = 1 on to six digits.

        Reference: Canonne, Kamath, Steinke 2020, Corollary 9.
        """
        return math.sqrt(self.variance)

    @overload
    def perturb(self, answer: int, *, entropy: Entropy = SYSTEM) -> int: ...
    @overload
    def perturb(self, answer: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM) -> NDArray[Any]: ...
    def perturb(self, answer: Answer, *, entropy: Entropy = SYSTEM) -> int | NDArray[Any]:
        """Return the answer with fresh noise."""
        return add_noise(answer, partial(gaussian, self.variance), entropy)

    def pmf(self, noise: int) -> float:
        """Return the probability of a noise value, to about ten digits."""
        distance = abs(whole(noise, "noise", least=None))
        width = math.sqrt(self.variance)
        zero = 1 - 2 * tail(width, 1)[0] if width < 1 else _density_at_zero(width)
        return zero * math.exp(max(-(distance**2) / (2 * self.variance), FAINT))

    def tail(self, distance: int) -> float:
        """Return P[|noise| ≥ distance], for a distance of 1 or more, rounded up."""
        return 2 * tail(math.sqrt(self.variance), whole(distance, "distance"))[1]

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> int:
        """Return the least e such that all `size` coordinates are within e, with the given probability."""
        chance = chance_each(confidence, size)
        low, high = -1, 1
        while self.tail(high + 1) > chance:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tail(middle + 1) <= chance else (middle, high)
        return high


def _density_at_zero(width: float) -> float:
    """Return 1/Σ e^(−x²/2σ²), by Poisson summation: the sum is σ√2π·Σ e^(−2π²σ²m²)."""
    return 1 / (width * math.sqrt(2 * math.pi) * (1 + 2 * math.exp(-2 * (math.pi * width) ** 2)))

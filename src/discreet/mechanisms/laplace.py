"""The Laplace mechanism on integers; on counts, the same thing is called the geometric mechanism."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Self, overload

from numpy.typing import NDArray

from discreet.accounting import Pure
from discreet.core import Number, Sensitivity, need_sensitivity, positive, probability, whole
from discreet.core.canonical_text import settle
from discreet.mechanisms.integers import Answer, add_noise
from discreet.noise import SYSTEM, Entropy, laplace

#: Float error of the closed forms below, with room to spare.
SLACK = 1e-12
#: e to this power is below the least float.
FAINT = Fraction(-800)


@dataclass(frozen=True, slots=True, init=False)
class Laplace:
    """Add discrete Laplace noise, P(z) ∝ e^−|z|/scale, to every coordinate of an integer answer.

    Guarantee: (l1/scale)-differential privacy, for answers whose neighbours lie within l1.
    Reference: Dwork, McSherry, Nissim, Smith 2006, Theorem 1; on counts Ghosh, Roughgarden, Sundararajan 2009.
    """

    scale: Fraction
    sensitivity: Sensitivity

    def __init__(self, *, scale: Number, sensitivity: Sensitivity) -> None:
        settle(self, scale=positive(scale, "scale"), sensitivity=need_sensitivity(sensitivity))

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity) -> Self:
        """Calibrate to ε-differential privacy: scale = l1/ε."""
        return cls(scale=need_sensitivity(sensitivity).l1 / positive(epsilon, "epsilon"), sensitivity=sensitivity)

    @property
    def cost(self) -> Pure:
        """The cost of one release."""
        return Pure(self.sensitivity.l1 / self.scale)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise."""
        ratio = 1 / (2 * float(self.scale))
        # 1/(√2·sinh(1/2t)); for large t that is √2·t.
        return 1 / (math.sqrt(2) * math.sinh(ratio)) if ratio < 700 else 0.0

    @overload
    def perturb(self, answer: int, *, entropy: Entropy = SYSTEM) -> int: ...
    @overload
    def perturb(self, answer: NDArray[Any] | list[int], *, entropy: Entropy = SYSTEM) -> NDArray[Any]: ...
    def perturb(self, answer: Answer, *, entropy: Entropy = SYSTEM) -> int | NDArray[Any]:
        """Return the answer with fresh noise."""
        return add_noise(answer, partial(laplace, self.scale), entropy)

    def pmf(self, noise: int) -> float:
        """Return the probability of a noise value: tanh(1/2t)·e^−|z|/t."""
        distance = abs(whole(noise, "noise", least=None))
        return math.tanh(1 / (2 * float(self.scale))) * _exp(-distance / self.scale)

    def tail(self, distance: int) -> float:
        """Return P[|noise| ≥ distance], for a distance of 1 or more: 2q^distance/(1 + q), q = e^−1/t."""
        steps = whole(distance, "distance")
        return 2 * _exp(-steps / self.scale) / (1 + _exp(-1 / self.scale))

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> int:
        """Return the least e such that all `size` coordinates are within e, with the given probability."""
        chance = chance_each(confidence, size)
        weight = 2 / (1 + _exp(-1 / self.scale)) / chance
        # tail(e + 1) ≤ each, solved for e.
        bound = float(self.scale) * math.log(weight) * (1 + SLACK)
        return max(0, math.ceil(bound - 1))


def chance_each(confidence: Number, size: int) -> float:
    """Return how often one of `size` coordinates may err so that all hold together: 1 − confidence^(1/size)."""
    risk = float(1 - probability(confidence, "confidence"))
    return -math.expm1(math.log1p(-risk) / whole(size, "size")) * (1 - SLACK)


def _exp(exponent: Fraction) -> float:
    return math.exp(max(exponent, FAINT))

"""Clipping a private answer to a range where the true one must lie: post-processing, and free."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss
from discreet.core import InvalidInput, Number, WrongType, whole
from discreet.core.canonical_text import settle
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.integers import Answer
from discreet.mechanisms.laplace import Laplace
from discreet.noise import SYSTEM, Entropy


@dataclass(frozen=True, slots=True, init=False)
class Truncated:
    """Perturb, then move answers below `low` or above `high` to these ends.

    Guarantee: the mechanism's. With Laplace noise this is the truncated geometric mechanism.
    Reference: Ghosh, Roughgarden, Sundararajan 2009.
    """

    mechanism: Laplace | Gaussian
    low: int
    high: int

    def __init__(self, mechanism: Laplace | Gaussian, *, low: int, high: int) -> None:
        if not isinstance(mechanism, (Laplace, Gaussian)):
            raise WrongType("mechanism is not one for integers.", fix="pass a Laplace or a Gaussian mechanism")
        lower, upper = whole(low, "low", least=-(1 << 62)), whole(high, "high", least=-(1 << 62), most=1 << 62)
        if lower >= upper:
            raise InvalidInput("low is not below high.", fix="pass low < high, such as low=0, high=100")
        settle(self, mechanism=mechanism, low=lower, high=upper)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of one release."""
        return self.mechanism.cost

    def perturb(self, answer: Answer, *, entropy: Entropy = SYSTEM) -> int | NDArray[Any]:
        """Return the answer with fresh noise, within the range."""
        noisy: int | NDArray[Any] = self.mechanism.perturb(answer, entropy=entropy)
        if isinstance(noisy, np.ndarray):
            return np.asarray(np.clip(noisy, self.low, self.high))
        return min(max(noisy, self.low), self.high)

    def probability(self, output: int, answer: int) -> float:
        """Return the probability of an output for an exact answer within the range."""
        value, centre = (
            whole(output, "output", least=self.low, most=self.high),
            whole(answer, "answer", least=self.low, most=self.high),
        )
        if value == self.low:
            return self._beyond(centre - self.low)
        if value == self.high:
            return self._beyond(self.high - centre)
        return self.mechanism.pmf(value - centre)

    def _beyond(self, distance: int) -> float:
        """Return P[noise ≥ distance]."""
        if distance > 0:
            return self.mechanism.tail(distance) / 2
        return 1 - self.mechanism.tail(1 - distance) / 2

    def error(self, confidence: Number = 0.95, *, size: int = 1) -> int:
        """Return the mechanism's bound: clipping never moves an answer away from a true one within the range."""
        return self.mechanism.error(confidence, size=size)

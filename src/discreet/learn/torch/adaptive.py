"""Clipping bounds that follow a quantile of the gradients' norms, privately.

Each lot tells, beside its sum, how many of its examples were within the bound: every example adds +1 or −1, and noise
of 2σ_b is added to the sum of these. The bound is then moved geometrically towards the wanted quantile, which is
post-processing. Reference: Andrew, Thakkar, McMahan, Ramaswamy 2021, Algorithm 1 and Theorem 1.

*The price.* Divided by their noise, gradients and counts are one Gaussian answer of a vector that one example moves by
at most √(1/z_Δ² + k/(2σ_b)²), where k is the number of clipping groups. For the price of the noise multiplier z, take

    z_Δ = (1/z² − k/(2σ_b)²)^(−1/2)

rounded up: an extra coordinate for each group, and no loss of its own. The bound of a lot depends on earlier lots
alone, so that it is a public value when the lot is drawn, and composition allows for it.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import ClassVar

from discreet.core import InvalidInput, Number, positive, probability
from discreet.core.canonical_text import Record
from discreet.core.exact import root_down
from discreet.core.frozen import settle

#: Bounds stay within these, so that no run of unlucky noise makes a grid without steps.
LEAST_BOUND, MOST_BOUND = 1e-9, 1e9
#: A factor of e to this power, or its inverse, goes from one end of these to the other.
STEEPEST = 50.0


@dataclass(frozen=True, slots=True, init=False)
class AdaptiveClip:
    """Follow the `quantile` of gradient norms from `start` on.

    `count_noise` is σ_b, the noise on how many were within (lot/20 if left out), and `rate` how fast bounds move.
    """

    __canonical__: ClassVar[Record] = Record("AdaptiveClip", "start", "quantile", "rate", "count_noise")

    start: Fraction
    quantile: Fraction
    rate: Fraction
    count_noise: Fraction | None

    def __init__(
        self,
        start: Number = Fraction(1, 10),
        *,
        quantile: Number = Fraction(1, 2),
        rate: Number = Fraction(1, 5),
        count_noise: Number | None = None,
    ) -> None:
        noise = None if count_noise is None else positive(count_noise, "count_noise")
        settle(
            self,
            start=positive(start, "start"),
            quantile=probability(quantile, "quantile"),
            rate=positive(rate, "rate"),
            count_noise=noise,
        )

    def counts_sigma(self, lot: int) -> Fraction:
        """Return 2σ_b: the noise on sums of +1 and −1, at least one step."""
        return max(2 * (Fraction(lot, 20) if self.count_noise is None else self.count_noise), Fraction(1))

    def gradient_noise(self, noise: Fraction, lot: int, groups: int) -> Fraction:
        """Return z_Δ, the noise multiplier that is left for gradients, so that all together costs what `noise` does."""
        left = 1 / noise**2 - groups / self.counts_sigma(lot) ** 2
        if left <= 0:
            raise InvalidInput(
                "Counting how many are within the bound would cost more than all the noise allows.",
                fix="pass a larger count_noise, such as AdaptiveClip(count_noise=lot / 10), or fewer groups",
            )
        return rounded_up(1 / root_down(left))

    def moved(self, bound: Fraction, noisy: int, lot: int) -> Fraction:
        """Return the next bound, given the noisy sum of +1 for who was within and −1 for who was not."""
        within = 0.5 + noisy / (2 * lot)
        exponent = -float(self.rate) * (min(max(within, 0.0), 1.0) - float(self.quantile))
        factor = exp(min(max(exponent, -STEEPEST), STEEPEST))  # or a draw would overflow where `rate` is large
        return Fraction(min(max(float(bound) * factor, LEAST_BOUND), MOST_BOUND))


def rounded_up(number: Fraction, bits: int = 40) -> Fraction:
    """Return a number with few digits that is not smaller."""
    return Fraction(-((-number.numerator << bits) // number.denominator), 1 << bits)

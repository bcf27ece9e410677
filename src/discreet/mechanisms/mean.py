"""The mean of bounded values: a centred sum over a count, each released once."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from discreet.accounting import Composed
from discreet.core import (
    ONE_ROW,
    Bounds,
    InvalidInput,
    Limit,
    Neighbours,
    Number,
    Sensitivity,
    WrongType,
    counting_query,
    need_bounds,
    need_neighbours,
    positive,
    round_up,
    whole,
)
from discreet.core import probability as need_probability
from discreet.core.canonical_text import settle
from discreet.core.errors import kind_of
from discreet.core.limits import need_limit
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.grid import to_grid
from discreet.mechanisms.laplace import Laplace
from discreet.noise import SYSTEM, Entropy


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CentredTotal:
    """The exact answer behind a mean: Σ(value − centre) in grid steps, and how many values there are.

    Made by `CentredTotal.of`, or by an engine that adds up the same. Not shown by `repr`, because it is private.
    """

    steps: int
    count: int
    bounds: Bounds

    def __post_init__(self) -> None:
        settle(self, steps=whole(self.steps, "steps", least=None), count=whole(self.count, "count", least=0))
        need_bounds(self.bounds)

    @classmethod
    def of(cls, values: object, bounds: Bounds) -> Self:
        """Clamp values to the bounds, count them from the centre, and add them up exactly."""
        points = to_grid(values, bounds).ravel() - bounds.centre
        # High and low bits apart, as the sum of many large steps may need more than 64 bits.
        high, low = points >> 26, points & ((1 << 26) - 1)
        return cls(steps=(int(high.sum()) << 26) + int(low.sum()), count=len(points), bounds=bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanAnswer:
    """A private mean, the private count it rests on, and how far off it may be."""

    value: float
    count: int
    error: float
    """The mean is within this of the truth, with the confidence that was asked for."""


@dataclass(frozen=True, slots=True, init=False)
class Mean:
    """Release Σ(value − centre) and the count with noise; their ratio, back on the scale, is the mean.

    Counting values from the middle of their bounds halves the sum's sensitivity, and a wrong count then pulls the mean
    towards the middle rather than towards zero.
    Guarantee: both parts composed. Under add/remove, one row moves the centred sum by at most half the width
    of the bounds and the count by 1; under replace, the sum by the width and the count by 1 at most (a condition may
    drop the row). Reference: Dwork, Roth 2014, Section 3.3, for both parts.
    """

    bounds: Bounds
    sums: Laplace | Gaussian
    counts: Laplace | Gaussian

    def __init__(self, *, bounds: Bounds, sums: Laplace | Gaussian, counts: Laplace | Gaussian) -> None:
        for part in (sums, counts):
            if not isinstance(part, (Laplace, Gaussian)):
                raise WrongType("sums and counts are not mechanisms for integers.", fix="pass Laplace or Gaussian ones")
        if sums.sensitivity.linf < need_bounds(bounds).radius:
            raise InvalidInput(
                "The mechanism for sums assumes that a row moves them by less than the bounds allow.",
                fix="make it with the sensitivity centred_sum(bounds)",
            )
        settle(self, bounds=bounds, sums=sums, counts=counts)

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        bounds: Bounds,
        *,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        limit: Limit = ONE_ROW,
    ) -> Self:
        """Calibrate to ε, half for the sum and half for the count, with Laplace noise."""
        half = positive(epsilon, "epsilon") / 2
        sums = Laplace.for_epsilon(half, centred_sum(bounds, neighbours=neighbours, limit=limit))
        return cls(bounds=bounds, sums=sums, counts=Laplace.for_epsilon(half, counting_query(limit=limit)))

    @property
    def cost(self) -> Composed:
        """The cost of one release."""
        return Composed((self.sums.cost, self.counts.cost))

    def perturb(self, total: CentredTotal, *, confidence: Number = 0.95, entropy: Entropy = SYSTEM) -> MeanAnswer:
        """Return the private mean of an exact total.

        A noisy count below one is read as one: post-processing, like the clamping of the mean to its bounds.
        """
        if not isinstance(total, CentredTotal):
            raise WrongType(
                f"total is {kind_of(total)}, not a CentredTotal.", fix="pass CentredTotal.of(values, bounds)"
            )
        if total.bounds != self.bounds:
            raise InvalidInput("The total was made with other bounds.", fix="make it with the mechanism's own bounds")
        noisy_sum = self.sums.perturb(total.steps, entropy=entropy)
        noisy_count = max(1, self.counts.perturb(total.count, entropy=entropy))
        steps = self.bounds.centre + Fraction(noisy_sum, noisy_count)
        mean = min(max(steps * self.bounds.step, self.bounds.low), self.bounds.high)
        slack = self._slack(confidence) / noisy_count
        width = self.bounds.high - self.bounds.low
        return MeanAnswer(value=float(mean), count=noisy_count, error=round_up(min(slack * self.bounds.step, width)))

    def error(self, confidence: Number = 0.95, *, count: int) -> float:
        """Return a bound on the error for a table of `count` rows, before it is asked."""
        rows = whole(count, "count")
        least = rows - self.counts.error(_half_risk(confidence))
        width = self.bounds.high - self.bounds.low
        return round_up(min(self._slack(confidence) / least * self.bounds.step, width) if least > 0 else width)

    def _slack(self, confidence: Number) -> Fraction:
        """Return s such that the mean is within s/(noisy count) grid steps.

        S̃/Ñ − S/N = (S̃ − S)/Ñ + (S/N)·(N − Ñ)/Ñ, and |S/N| is at most the radius of the bounds.
        """
        level = _half_risk(confidence)
        return Fraction(self.sums.error(level) + self.bounds.radius * self.counts.error(level))


def centred_sum(
    bounds: Bounds, *, neighbours: Neighbours = Neighbours.ADD_REMOVE, limit: Limit = ONE_ROW
) -> Sensitivity:
    """Return the distance by which one unit moves Σ(value − centre), in grid steps.

    Under replace a value may go from one end to the other, or be dropped by a condition, which is less.
    """
    rows = need_limit(limit).rows
    match need_neighbours(neighbours):
        case Neighbours.ADD_REMOVE:
            return Sensitivity.box(l0=1, linf=rows * need_bounds(bounds).radius)
        case Neighbours.REPLACE:
            return Sensitivity.box(l0=1, linf=rows * (need_bounds(bounds).high_steps - bounds.low_steps))


def _half_risk(confidence: Number) -> Fraction:
    """Return the confidence that two statements need so that both hold together."""
    return 1 - (1 - need_probability(confidence, "confidence")) / 2

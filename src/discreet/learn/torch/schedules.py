"""Schedules of clipping bounds and noise: fixed beforehand for each segment of a training, or adaptive.

A segment is the iterations between two checkpoints. All of them have the same clipping bounds (unless these are
adaptive) and the same noise multiplier. A state is stored, as a checkpoint, at the end of each segment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import ClassVar

from discreet.core import InvalidInput, Number, WrongType, exact, positive, probability
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import root_down

# Adaptive clipping: bounds that follow a quantile of the per-example gradient norms, privately.
#
# Each step releases, beside the sum of its gradients, how many of its examples were within the bound: every example
# adds +1 or −1, and noise of 2σ_b is added to their sum. The bound is then moved geometrically towards the target
# quantile, which is post-processing. Reference: Andrew, Thakkar, McMahan, Ramaswamy 2021, Algorithm 1 and Theorem 1.
#
# *The price.* Divided by their noise, gradients and counts are one Gaussian answer of a vector that one example moves
# by at most √(1/z_Δ² + k/(2σ_b)²), where k is the number of clipping groups. For the price of the noise multiplier z,
# take
#
#     z_Δ = (1/z² − k/(2σ_b)²)^(−1/2)
#
# rounded up: an extra coordinate for each group, and no loss of its own. The bound of a step depends on earlier steps
# alone, so that it is a public value when the batch is sampled, and composition allows for it.

#: Bounds stay within these, so that no sequence of draws makes a grid without steps.
LEAST_BOUND, MOST_BOUND = 1e-9, 1e9
#: A factor of e to this power, or its inverse, goes from one end of these to the other.
STEEPEST = 50.0


@dataclass(frozen=True, slots=True, init=False)
class AdaptiveClip:
    """A clipping bound that follows a quantile of the per-example gradient norms, privately.

    Each step also releases, with noise, how many gradients were within the bound. The gradients get slightly more noise
    in return, so that a training costs what it would with a fixed bound.

    Args:
        start: the first bound.
        quantile: the quantile of the norms that the bound follows, between 0 and 1.
        rate: how fast the bound moves; the learning rate η_C of the reference.
        count_noise: σ_b, the noise on the number of gradients within the bound; batch_size/20 if left out.

    Raises:
        DiscreetError: if a value is out of its range.

    Example:
        >>> from discreet.learn.torch import AdaptiveClip
        >>> AdaptiveClip(start=1, quantile=0.5).start
        Fraction(1, 1)

    Reference: Andrew, Thakkar, McMahan, Ramaswamy 2021, Algorithm 1.

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

    def counts_sigma(self, batch_size: int) -> Fraction:
        """Return 2σ_b: the noise on sums of +1 and −1, at least one step."""
        return max(2 * (Fraction(batch_size, 20) if self.count_noise is None else self.count_noise), Fraction(1))

    def gradient_noise(self, noise_multiplier: Fraction, batch_size: int, groups: int) -> Fraction:
        """Return z_Δ, the noise multiplier of the gradients; with the counts they cost what `noise_multiplier` does."""
        left = 1 / noise_multiplier**2 - groups / self.counts_sigma(batch_size) ** 2
        if left <= 0:
            raise InvalidInput(
                "Counting the gradients within the bound would cost more than the whole step.",
                fix="pass a larger count_noise, such as AdaptiveClip(count_noise=batch_size / 10), or fewer groups",
            )
        return round_up_to_bits(1 / root_down(left))

    def move_bound(self, bound: Fraction, noisy: int, batch_size: int) -> Fraction:
        """Return the next bound, given the noisy sum of +1 for gradients within the bound and −1 for others."""
        within = 0.5 + noisy / (2 * batch_size)
        exponent = -float(self.rate) * (min(max(within, 0.0), 1.0) - float(self.quantile))
        factor = exp(min(max(exponent, -STEEPEST), STEEPEST))  # or a draw would overflow where `rate` is large
        return Fraction(min(max(float(bound) * factor, LEAST_BOUND), MOST_BOUND))


def round_up_to_bits(number: Fraction, bits: int = 40) -> Fraction:
    """Return the next multiple of 2^−bits that is not smaller."""
    return Fraction(-((-number.numerator << bits) // number.denominator), 1 << bits)


@dataclass(frozen=True, slots=True, init=False)
class Linear:
    """A schedule from one value to another in equal differences, one value for each segment of a training.

    Args:
        start: the first value.
        end: the last value.

    Raises:
        DiscreetError: if a value is not a positive number.

    Example:
        >>> from discreet.learn.torch import Linear
        >>> [float(value) for value in Linear(1, 2).values(3)]
        [1.0, 1.5, 2.0]

    """

    start: Fraction
    end: Fraction

    def __init__(self, start: Number, end: Number) -> None:
        settle(self, start=positive(start, "start"), end=positive(end, "end"))

    def values(self, count: int) -> tuple[Fraction, ...]:
        """Return so many values, the first and the last among them."""
        return tuple(self.start + (self.end - self.start) * Fraction(i, max(count - 1, 1)) for i in range(count))


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """A schedule from one value to another in equal ratios, one value for each segment, rounded to six digits.

    Args:
        start: the first value.
        end: the last value.

    Raises:
        DiscreetError: if a value is not a positive number.

    Example:
        >>> from discreet.learn.torch import Geometric
        >>> [float(value) for value in Geometric(4, 1).values(3)]
        [4.0, 2.0, 1.0]

    """

    start: Fraction
    end: Fraction

    def __init__(self, start: Number, end: Number) -> None:
        settle(self, start=positive(start, "start"), end=positive(end, "end"))

    def values(self, count: int) -> tuple[Fraction, ...]:
        """Return so many values, the first and the last among them."""
        ratio = float(self.end / self.start)
        powers = (ratio ** (i / max(count - 1, 1)) for i in range(count))
        return tuple(Fraction(f"{float(self.start) * power:.6g}") for power in powers)


Schedule = Number | Sequence[Number] | Linear | Geometric
#: One schedule for all clipping groups, a tuple with one for each, or a bound that is adapted.
ClipSchedule = Schedule | AdaptiveClip | tuple[Schedule, ...]


def schedule_values(schedule: object, count: int, name: str) -> tuple[Fraction, ...]:
    """Return the values of a schedule, one for each of `count` segments; a number alone is the same for all."""
    if isinstance(schedule, Linear | Geometric):
        return schedule.values(count)
    if isinstance(schedule, str | bytes):
        raise WrongType(f"{name} is text.", fix=f"pass {name} as a number, a list, Linear(…) or Geometric(…)")
    if not isinstance(schedule, Sequence):
        return (positive(exact(schedule, name), name),) * count
    if len(schedule) != count:
        raise InvalidInput(
            f"{name} lists {len(schedule)} values for {count} segments.",
            fix=f"list {count} values, one for each segment, or pass Linear(start, end)",
        )
    return tuple(positive(value, name) for value in schedule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The iterations between two checkpoints.

    Args:
        iterations: the number of iterations.
        bounds: the clipping bound of each group of parameters.
        noise_multiplier: the standard deviation of the noise, in units of the clipping bound.

    """

    __canonical__: ClassVar[Record] = Record("Stretch", "lots=iterations", "bounds", "noise=noise_multiplier")

    iterations: int
    bounds: tuple[Fraction, ...]
    noise_multiplier: Fraction


def split_iterations(total: int, checkpoint_every: int) -> list[int]:
    """Return the number of iterations in each segment; the last may be shorter."""
    rest = total % checkpoint_every
    return [checkpoint_every] * (total // checkpoint_every) + ([rest] if rest else [])


def clipping_bounds(clip: ClipSchedule, groups: int, segments: int) -> list[tuple[Fraction, ...]]:
    """Return the bounds of all groups in each segment: one schedule for all groups, or a tuple with one for each."""
    if isinstance(clip, AdaptiveClip):
        by_group = [(clip.start,) * segments] * groups
    elif not isinstance(clip, tuple):
        by_group = [schedule_values(clip, segments, "clip")] * groups
    elif len(clip) != groups:
        raise InvalidInput(
            "A tuple of clips needs one entry for each group.",
            fix=f"pass {groups} entries; a schedule over time is a list",
        )
    else:
        by_group = [schedule_values(schedule, segments, "clip") for schedule in clip]
    return list(zip(*by_group, strict=True))

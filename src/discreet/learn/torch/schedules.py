"""Schedules of clipping bounds and noise: public values, fixed beforehand, one for each segment of a training."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import InvalidInput, Number, WrongType, exact, positive
from discreet.core.frozen import settle


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

"""Bounds and noise that vary during training: public values, fixed beforehand, one for each stretch of lots."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import InvalidInput, Number, WrongType, exact, positive
from discreet.core.frozen import settle


@dataclass(frozen=True, slots=True, init=False)
class Linear:
    """From one value to another in equal differences."""

    start: Fraction
    end: Fraction

    def __init__(self, start: Number, end: Number) -> None:
        settle(self, start=positive(start, "start"), end=positive(end, "end"))

    def values(self, count: int) -> tuple[Fraction, ...]:
        """Return so many values, the first and the last among them."""
        return tuple(self.start + (self.end - self.start) * Fraction(i, max(count - 1, 1)) for i in range(count))


@dataclass(frozen=True, slots=True, init=False)
class Geometric:
    """From one value to another in equal ratios, each rounded to six digits."""

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
    """Return the values of a schedule for so many stretches; a number alone is the same for all."""
    if isinstance(schedule, Linear | Geometric):
        return schedule.values(count)
    if isinstance(schedule, str | bytes):
        raise WrongType(f"{name} is a text.", fix=f"pass {name} as a number, a list, Linear(…) or Geometric(…)")
    if not isinstance(schedule, Sequence):
        return (positive(exact(schedule, name), name),) * count
    if len(schedule) != count:
        raise InvalidInput(
            f"{name} lists another number of values than there are stretches of lots.",
            fix=f"list {count} values, one for each stretch, or pass Linear(start, end)",
        )
    return tuple(positive(value, name) for value in schedule)

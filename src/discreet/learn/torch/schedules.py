"""Schedules of clipping bounds and noise: public values, fixed beforehand, one for each segment of a training.

A segment is the iterations between two checkpoints. All of them have the same clipping bounds (unless these are
adaptive) and the same noise multiplier. A state is stored, as a checkpoint, at the end of each segment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core import InvalidInput, Number, WrongType, exact, positive
from discreet.core.canonical_text import Record
from discreet.core.frozen import settle
from discreet.learn.torch.adaptive import AdaptiveClip


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

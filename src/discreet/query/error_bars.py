"""Answers with their error bars: a value and an interval for each group, and arithmetic on them.

If every ingredient lies in its interval, every result does: interval arithmetic, rounded outwards by a little. It
forgets that two ingredients may be the same number, so that intervals are rather too wide than too narrow. NaN is NULL
as a value, and not known as an end.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.functions import F

Floats = NDArray[np.float64]

#: Float errors of a few operations are far below this, relative to the result.
SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class Band:
    """One value for each group, and between what the exact answers lie."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def around(cls, value: Floats, radius: float | Floats) -> "Band":
        """Return values that are off by at most a radius."""
        return cls(value, value - radius, value + radius).widen()

    @classmethod
    def constant(cls, value: float, size: int) -> "Band":
        """Return the same exact number everywhere."""
        same = np.full(size, float(value))
        return cls(same, same, same)

    def widen(self) -> "Band":
        """Make room for rounding."""
        return Band(self.value, self.low - SLACK * np.abs(self.low), self.high + SLACK * np.abs(self.high))

    def scale(self, factor: float, offset: float = 0.0) -> "Band":
        """Return factor·x + offset."""
        ends = (self.low, self.high) if factor >= 0 else (self.high, self.low)
        return Band(self.value * factor + offset, ends[0] * factor + offset, ends[1] * factor + offset).widen()

    def clip(self, low: float | Floats, high: float | Floats) -> "Band":
        """Return the band for answers that are known to lie between two numbers; an unknown end becomes known."""
        return Band(
            np.clip(self.value, low, high),
            np.where(np.isnan(self.low), low, np.clip(self.low, low, high)),
            np.where(np.isnan(self.high), high, np.clip(self.high, low, high)),
        )

    def cut(self, low: float | Floats, high: float | Floats) -> "Band":
        """Return the band with its ends cut to a range that holds every exact answer.

        Values stay as they are: what is clamped one by one no longer adds up to what was measured, and sums of many
        clamped values are too large.
        """
        return Band(
            self.value,
            np.where(np.isnan(self.low) & np.isfinite(low), low, np.clip(self.low, low, high)),
            np.where(np.isnan(self.high) & np.isfinite(high), high, np.clip(self.high, low, high)),
        )

    def with_both_ends(self) -> "Band":
        """Return the band without ends where only one of them is known: such an interval is not an error bar."""
        unknown = ~(np.isfinite(self.low) & np.isfinite(self.high))
        return Band(self.value, np.where(unknown, np.nan, self.low), np.where(unknown, np.nan, self.high))


def add(left: Band, right: Band) -> Band:
    """Return x + y."""
    return Band(left.value + right.value, left.low + right.low, left.high + right.high).widen()


def negate(part: Band) -> Band:
    """Return −x."""
    return Band(-part.value, -part.high, -part.low)


def multiply(left: Band, right: Band) -> Band:
    """Return x·y."""
    corners = np.stack(
        [left_end * right_end for left_end in (left.low, left.high) for right_end in (right.low, right.high)]
    )
    return Band(left.value * right.value, corners.min(axis=0), corners.max(axis=0)).widen()


def divide(left: Band, right: Band) -> Band:
    """Return x/y; NULL where y is 0, and nothing is known where it may be 0."""
    unsure = ~((right.low > 0) | (right.high < 0))
    with np.errstate(all="ignore"):
        inverse = Band(
            np.where(right.value == 0, np.nan, 1 / right.value),
            np.where(unsure, np.nan, 1 / right.high),
            np.where(unsure, np.nan, 1 / right.low),
        )
        result = multiply(left, inverse)
        return Band(np.where(right.value == 0, np.nan, left.value / right.value), result.low, result.high)


def square(part: Band) -> Band:
    """Return x²."""
    low, high = part.low**2, part.high**2
    inside = (part.low <= 0) & (part.high >= 0)
    return Band(part.value**2, np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high)).widen()


def absolute(part: Band) -> Band:
    """Return |x|."""
    low, high = np.abs(part.low), np.abs(part.high)
    inside = (part.low <= 0) & (part.high >= 0)
    return Band(np.abs(part.value), np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))


def make_rising_rule(rule: Callable[[Floats], Floats]) -> Callable[[Band], Band]:
    """Return a function that never falls, of bands."""

    def apply(part: Band) -> Band:
        with np.errstate(all="ignore"):
            value, low, high = rule(part.value), rule(part.low), rule(part.high)
        finite = np.where(np.isfinite(value), value, np.nan)
        return Band(finite, low, high).widen()

    return apply


def root(part: Band) -> Band:
    """Return √x; NULL where x is negative, and what is below 0 in the interval counts as 0."""
    return make_rising_rule(np.sqrt)(Band(part.value, np.maximum(part.low, 0), np.maximum(part.high, 0)))


def logarithm(part: Band, rule: Callable[[Floats], Floats] = np.log) -> Band:
    """Return ln x, or another logarithm; NULL where x is not positive."""
    band = make_rising_rule(rule)(Band(part.value, np.maximum(part.low, 0), part.high))
    return Band(np.where(part.value > 0, band.value, np.nan), band.low, band.high)


def least(*parts: Band) -> Band:
    """Return the smallest of several."""
    return Band(*(np.stack([getattr(part, end) for part in parts]).min(axis=0) for end in ("value", "low", "high")))


def greatest(*parts: Band) -> Band:
    """Return the largest of several."""
    return Band(*(np.stack([getattr(part, end) for part in parts]).max(axis=0) for end in ("value", "low", "high")))


def first_known(*parts: Band) -> Band:
    """Return the first that is not NULL. Its interval is that of all together: which one it is hangs on the noise."""
    value = parts[0].value
    for part in parts[1:]:
        value = np.where(np.isnan(value), part.value, value)
    hull = Band(value, least(*parts).low, greatest(*parts).high)
    return hull if len(parts) > 1 else parts[0]


def _half_away(values: Floats) -> Floats:
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


#: The functions of answers, and how their intervals follow.
RULES: dict[F, Callable[..., Band]] = {
    F.ADD: add,
    F.SUBTRACT: lambda left, right: add(left, negate(right)),
    F.MULTIPLY: multiply,
    F.DIVIDE: divide,
    F.FLOOR_DIVIDE: lambda left, right: make_rising_rule(np.floor)(divide(left, right)),
    F.NEGATE: negate,
    F.ABS: absolute,
    F.FLOOR: make_rising_rule(np.floor),
    F.CEIL: make_rising_rule(np.ceil),
    F.ROUND: make_rising_rule(_half_away),
    F.TO_INTEGER: make_rising_rule(_half_away),
    F.TO_REAL: lambda part: part,
    F.SQRT: root,
    F.LN: logarithm,
    F.LOG10: lambda part: logarithm(part, np.log10),
    F.EXP: make_rising_rule(np.exp),
    F.LEAST: least,
    F.GREATEST: greatest,
    F.CLAMP: lambda part, low, high: greatest(low, least(part, high)),
    F.COALESCE: first_known,
}

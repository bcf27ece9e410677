"""Bounds are on values: the public interval that a value is clamped to, and the grid it is counted on."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.canonical_text import Record, settle
from discreet.core.errors import InvalidInput, OutOfRange, WrongType, kind_of
from discreet.core.exact import Number, exact, positive

#: Without a step of its own, an interval gets at least this many grid steps.
FINE = 10**6
#: Grid points stay where float64 still counts in ones.
WIDEST = 2**53


@dataclass(frozen=True, slots=True, init=False)
class Bounds:
    """The public bounds of a value: the interval that it is clamped to, and the grid on which it is counted.

    A value v becomes the integer ⌊v/step + 1/2⌋ after clamping, so that low and high must be multiples of
    the step. A finer grid costs nothing in privacy or noise: sensitivity and noise scale with it.

    Args:
        low: The lower bound. Bounds are public: take them from knowledge of the domain, never from the rows.
        high: The upper bound, above the lower one.
        step: The distance of grid points; a power of ten with at least a million steps, if left out.

    Raises:
        InvalidInput: The bounds are empty, or the step does not divide them.
        OutOfRange: The grid has points beyond 2⁵³ steps from zero.

    Example:
        >>> stay = discreet.Bounds(0, 60, step=0.5)
        >>> stay.snap(75.2), stay.snap(2.7)  # 75.2 is clamped to 60; both in steps of a half
        (120, 5)

    """

    __canonical__: ClassVar[Record] = Record("Bounds", "low", "high", "step")

    low: Fraction
    high: Fraction
    step: Fraction

    def __init__(self, low: Number, high: Number, *, step: Number | None = None) -> None:
        lower, upper = exact(low, "low"), exact(high, "high")
        if lower >= upper:
            raise InvalidInput("The lower bound is not below the upper bound.", fix="pass low < high, such as (0, 100)")
        grid = _default_step(lower, upper) if step is None else positive(step, "step")
        if (lower / grid).denominator != 1 or (upper / grid).denominator != 1:
            raise InvalidInput(
                "The bounds do not lie on the grid.",
                fix="pass a step that divides both bounds, such as step=0.01 for (0, 2.5)",
            )
        if max(abs(lower), abs(upper)) / grid > WIDEST:
            raise OutOfRange("The grid has points beyond 2^53 steps from zero.", fix="pass a coarser step")
        settle(self, low=lower, high=upper, step=grid)

    @property
    def low_steps(self) -> int:
        """The lower bound in grid steps."""
        return int(self.low / self.step)

    @property
    def high_steps(self) -> int:
        """The upper bound in grid steps."""
        return int(self.high / self.step)

    @property
    def largest(self) -> int:
        """The largest magnitude of a clamped value, in grid steps."""
        return max(abs(self.low_steps), abs(self.high_steps))

    @property
    def centre(self) -> int:
        """The grid point in the middle of the interval (rounded down), in grid steps."""
        return (self.low_steps + self.high_steps) // 2

    @property
    def radius(self) -> int:
        """The farthest that a clamped value lies from the centre, in grid steps."""
        return max(self.high_steps - self.centre, self.centre - self.low_steps)

    def snap(self, value: Number) -> int:
        """Return the grid point of one value, clamped, in grid steps."""
        return self.nearest(min(max(exact(value, "value"), self.low), self.high))

    def nearest(self, value: Fraction) -> int:
        """Return ⌊value/step + 1/2⌋.

        Halves always go up. Half-to-even, as `round` does it, could take two values one step apart to grid
        points two steps apart, and so understate the sensitivity.
        """
        return (2 * value + self.step) // (2 * self.step)


def need_bounds(value: object) -> Bounds:
    """Return `value` if it is Bounds; a bare pair would not say on which grid."""
    if not isinstance(value, Bounds):
        raise WrongType(
            f"bounds is {kind_of(value)}, not a Bounds.", fix="pass Bounds(low, high), such as Bounds(0, 100)"
        )
    return value


def _default_step(low: Fraction, high: Fraction) -> Fraction:
    """Return 1, or the power of ten nearest to it that gives `FINE` steps and divides both bounds."""
    step = Fraction(1)
    while (high - low) / step < FINE:
        step /= 10
    while max(abs(low), abs(high)) / step > WIDEST:
        step *= 10
    while (low / step).denominator != 1 or (high / step).denominator != 1:
        step /= 10
        if (high - low) / step > WIDEST:
            raise InvalidInput(
                "No power of ten makes a grid for these bounds.",
                fix="pass a step that divides both, such as step=Fraction(1, 3) for thirds",
            )
    return step

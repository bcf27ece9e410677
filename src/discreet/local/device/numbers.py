"""Numbers and vectors for means: a device reports one of a few levels, or some coordinates, unbiased."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from discreet.core import Bounds, InvalidInput, Number, WrongType, need_bounds, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import kind_of
from discreet.core.exact import exact
from discreet.local.device.categories import draw_subset, need_epsilon, odds_below, root_below
from discreet.noise.coins import DEVICE, Coins, need_coins

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Values are placed on a grid of so many steps from bound to bound; a step is far below any noise.
GRID = 1 << 32
#: Levels of the piecewise way, at the least, and how many of them are near a value, at the least.
LEVELS, NEAR = 1024, 32
#: Up to here two levels are the better way (Wang and others 2019, Section 3.3: 0.61).
SMALL = Fraction(61, 100)


@dataclass(frozen=True, slots=True, init=False)
class NumberResponse:
    """Local privacy for a bounded number: reports one of two extreme levels, or one of many levels near the number.

    *Duchi's* way is rounded at random to one of the bounds and told by randomised response. The *piecewise* way is
    rounded at random to one of `levels − near + 1` places; the `near` levels at a place are told with `odds` times the
    probability of others. `share` says how often the second way is taken; `hybrid` mixes them for the least variance.
    Reports 0 and 1 are the bounds, 2 and more the levels. All are decoded to numbers that are right on average.

    Guarantee: ε-local differential privacy: both ways tell any two places apart by a factor of odds ≤ e^ε at most, and
    rounding and mixing at random keep that.
    Reference: Duchi, Jordan, Wainwright 2018; Wang and others 2019 (piecewise, hybrid). On a grid of levels: ours.

    Args:
        bounds: the public bounds of the number.
        epsilon: ε of one report.
        share: the probability of the piecewise method; use `hybrid`, `duchi` or `piecewise` to have it chosen.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record(
        "NumberResponse", "bounds", "epsilon", "share", unwritten=["odds", "levels", "near"]
    )

    bounds: Bounds
    epsilon: Fraction
    share: Fraction
    odds: Fraction = field(repr=False, compare=False)
    levels: int = field(repr=False, compare=False)
    near: int = field(repr=False, compare=False)

    def __init__(self, *, bounds: Bounds, epsilon: Number, share: Number) -> None:
        target, mixed = need_epsilon(epsilon), exact(share, "share")
        if not 0 <= mixed <= 1:
            raise WrongType("share is not a probability.", fix="use NumberResponse.hybrid, .duchi or .piecewise")
        odds = odds_below(target)
        root = root_below(odds)
        levels = max(LEVELS, NEAR * math.ceil(root + 1))
        near = round(levels / (root + 1))
        settle(self, bounds=need_bounds(bounds), epsilon=target, share=mixed, odds=odds, levels=levels, near=near)

    @classmethod
    def duchi(cls, *, bounds: Bounds, epsilon: Number) -> Self:
        """Tell one of two levels: one bit, and the least variance for a small ε."""
        return cls(bounds=bounds, epsilon=epsilon, share=0)

    @classmethod
    def piecewise(cls, *, bounds: Bounds, epsilon: Number) -> Self:
        """Tell one of many levels: better for a large ε."""
        return cls(bounds=bounds, epsilon=epsilon, share=1)

    @classmethod
    def hybrid(cls, *, bounds: Bounds, epsilon: Number) -> Self:
        """Mix both for the least variance, whatever the values are."""
        target = need_epsilon(epsilon)
        share = 1 - 1 / root_below(odds_below(target)) if target > SMALL else Fraction(0)
        return cls(bounds=bounds, epsilon=target, share=share)

    @property
    def outputs(self) -> int:
        """Two bounds and, where they are told at all, the levels."""
        return 2 + (self.levels if self.share else 0)

    @property
    def kept(self) -> Fraction:
        """How likely the bound that a value was rounded to is reported as it is."""
        return self.odds / (self.odds + 1)

    @property
    def hit(self) -> Fraction:
        """The probability of reporting one of the levels near a place."""
        return self.near * self.odds / (self.near * self.odds + self.levels - self.near)

    @property
    def places(self) -> int:
        """Steps between the places that values are rounded to."""
        return self.levels - self.near

    def place(self, value: Number) -> int:
        """Return a value's place between the bounds, in steps of the grid; other values lie in the middle."""
        if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
            raise WrongType(f"value is {kind_of(value)}, not a number.", fix="pass an int, a float or a Fraction")
        if value != value:  # noqa: PLR0124 (NaN)
            return GRID // 2
        within = min(max(value, self.bounds.low), self.bounds.high)
        share = (Fraction(within) - self.bounds.low) / (self.bounds.high - self.bounds.low)
        return math.floor(share * GRID + Fraction(1, 2))

    def encode(self, value: Number, coins: Coins = DEVICE) -> int:
        """Return the bound or the level that is reported."""
        place = self.place(value)
        if self.share and need_coins(coins).toss(self.share):
            return 2 + self._level(place, coins)
        upper = need_coins(coins).toss(Fraction(place, GRID))
        return upper ^ (not coins.toss(self.kept))

    def _level(self, place: int, coins: Coins) -> int:
        first, rest = divmod(place * self.places, GRID)
        first += coins.toss(Fraction(rest, GRID))
        if coins.toss(self.hit):
            return first + coins.below(self.near)
        other = coins.below(self.places)
        return other + (self.near if other >= first else 0)  # step over the near ones

    def probability(self, report: int, value: Number) -> Fraction:
        """Return how likely a value is reported so."""
        place = self.place(value)
        if report < 2:
            upper = Fraction(place, GRID)
            same = upper if report else 1 - upper
            return (1 - self.share) * (same * self.kept + (1 - same) * (1 - self.kept))
        first, rest = divmod(place * self.places, GRID)
        above = Fraction(rest, GRID)
        return self.share * (
            (1 - above) * self._chance(report - 2, first) + (above and above * self._chance(report - 2, first + 1))
        )

    def _chance(self, level: int, first: int) -> Fraction:
        near = first <= level < first + self.near
        return self.hit / self.near if near else (1 - self.hit) / self.places

    def decode(self, report: int) -> Fraction:
        """Return the number that a report stands for: right on average, and often beyond the bounds."""
        middle = (self.bounds.low + self.bounds.high) / 2
        if report < 2:
            return middle + self.total(2 * report - 1, 0)
        return middle + self.total(0, 2 * (report - 2) - self.levels + 1)

    def total(self, extremes: int, steps: int) -> Fraction:
        """Return the sum of reports, less the middle for each.

        `extremes` is how many more told the upper bound than the lower, `steps` the sum of 2·level − levels + 1.
        """
        return (self.bounds.high - self.bounds.low) / 2 * (extremes * self._reach + steps * self._scale)

    @property
    def _reach(self) -> Fraction:
        """The value that the bounds are reported as, from −1 to 1: (odds + 1)/(odds − 1)."""
        return (self.odds + 1) / (self.odds - 1)

    @property
    def _scale(self) -> Fraction:
        """Half the distance of two levels: 2·level − levels + 1 has the mean place/scale, from −1 to 1."""
        gain = self.hit - self.near * (1 - self.hit) / self.places
        return 1 / (gain * self.places)

    @property
    def variance(self) -> Fraction:
        """The largest variance that a decoded report has, whatever the value is.

        At a place, the second moment is quadratic in the place; between two of them it is on the line between, and the
        square of the mean at most (1/places)² below its line. So the largest is at an end or in the middle, or less
        than that much above.
        """
        half = (self.bounds.high - self.bounds.low) / 2
        if not self.share:
            return half**2 * self._reach**2
        firsts = {0, self.places // 2, (self.places + 1) // 2}
        largest = max(self._second(first) - Fraction(2 * first - self.places, self.places) ** 2 for first in firsts)
        return half**2 * (largest + Fraction(1, self.places**2))

    def _second(self, first: int) -> Fraction:
        """Return the second moment at a place, from −1 to 1."""
        everywhere, nearby = _squares(1 - self.levels, self.levels), _squares(2 * first - self.levels + 1, self.near)
        away = (1 - self.hit) / self.places
        levels = self._scale**2 * (away * everywhere + (self.hit / self.near - away) * nearby)
        return self.share * levels + (1 - self.share) * self._reach**2


def _squares(first: int, count: int) -> int:
    """Return first² + (first + 2)² + … of so many terms."""
    return count * first**2 + 2 * first * count * (count - 1) + 2 * (count - 1) * count * (2 * count - 1) // 3


# Vectors for means: a device reports a few random coordinates, each with a share of its ε.

#: A coordinate is told for each so much ε (Wang and others 2019, Section 4.2).
EACH = Fraction(5, 2)


@dataclass(frozen=True, slots=True, init=False)
class VectorResponse:
    """Local privacy for a bounded vector: reports some coordinates, each by `NumberResponse.hybrid`.

    `told` of `size` coordinates are drawn; each costs ε/told. A report is a number with a digit for each of them,
    coordinate·outputs + report. The error is of the least order that is possible, √(size·ln size)/(ε·√n).

    Guarantee: ε-local differential privacy: which coordinates are told does not depend on the vector, and the costs of
    those that are add up to ε.
    Reference: Wang and others 2019, Algorithm 4; the least order: Duchi, Jordan, Wainwright 2018.

    Args:
        size: the number of coordinates.
        bounds: the public bounds of every coordinate.
        epsilon: ε of one report.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("VectorResponse", "size", "epsilon", "told", "each")

    size: int
    epsilon: Fraction
    told: int
    each: NumberResponse

    def __init__(self, *, size: int, bounds: Bounds, epsilon: Number) -> None:
        count, target = whole(size, "size", most=1 << 24), need_epsilon(epsilon)
        reported = max(1, min(count, int(target / EACH)))
        response = NumberResponse.hybrid(bounds=bounds, epsilon=target / reported)
        settle(self, size=count, epsilon=target, told=reported, each=response)

    @property
    def outputs(self) -> int:
        """Coordinate and report, as often as some are told."""
        return int((self.size * self.each.outputs) ** self.told)

    def encode(self, values: "Sequence[Number]", coins: Coins = DEVICE) -> int:
        """Return the coordinates and their reports, as one number."""
        if len(values) != self.size:
            raise InvalidInput(
                "The number of values differs from the number of coordinates.", fix=f"pass {self.size} values"
            )
        chosen, report = draw_subset(self.size, self.told, need_coins(coins)), 0
        while chosen:
            coordinate = (chosen & -chosen).bit_length() - 1
            chosen &= chosen - 1
            code = self.each.encode(values[coordinate], coins)
            report = report * self.size * self.each.outputs + coordinate * self.each.outputs + code
        return report

    def parts(self, report: int) -> list[tuple[int, int]]:
        """Return the coordinates of a report, each with its own report."""
        parts = []
        for _ in range(self.told):
            report, digit = divmod(report, self.size * self.each.outputs)
            parts.append(divmod(digit, self.each.outputs))
        return parts[::-1]

"""Price grids: the public prices α·top, 2α·top, …, top, where α = 1/steps, and the levels of bids on them.

A bid counts by how many prices it reaches, a whole number from 0 to `steps`: below 0 it is 0, above the top it is the
top, and a value that is not a number is not a bid. The result for a bid depends on that bid alone, and no bid is
refused for its value.
"""

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.core import Number, WrongType, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import kind_of

#: More prices than this make no better auction for any number of bidders that one machine holds.
MOST_STEPS = 1_000_000
#: So near a price, relatively, a float product may be on its wrong side; fractions decide.
MARGIN = 2.0**-48
#: Powers of ten beyond which a decimal is above every price, or below.
FARTHEST = 200

Levels = NDArray[np.int64]
#: One bid for each bidder.
Bids = NDArray[Any] | list[Any] | tuple[Any, ...]


@dataclass(frozen=True, slots=True, init=False)
class PriceGrid:
    """The public prices top/steps, 2·top/steps, …, top.

    Args:
        steps: the number of prices.
        top: the highest price.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("PriceGrid", "steps", "top")

    steps: int
    top: Fraction

    def __init__(self, steps: int, *, top: Number = 1) -> None:
        settle(self, steps=whole(steps, "steps", most=MOST_STEPS), top=positive(top, "top"))

    @classmethod
    def for_bidders(cls, bidders: int, epsilon: Number, *, top: Number = 1) -> Self:
        """Choose α from how many bidders are expected, a public number, and ε.

        The revenue lost is at most top·(αn + ln(1/α)/ε), which is least at α = 1/(εn); of the two whole numbers
        of steps next to εn the better is taken.
        """
        people, price = whole(bidders, "bidders"), positive(epsilon, "epsilon")
        below = max(1, min(MOST_STEPS, math.floor(people * price)))
        near = (below, min(MOST_STEPS, below + 1))
        return cls(min(near, key=lambda steps: people / steps + math.log(steps) / price), top=top)

    @property
    def alpha(self) -> Fraction:
        """The step of the grid, in units of the top price."""
        return Fraction(1, self.steps)

    @property
    def prices(self) -> list[Fraction]:
        """All prices, lowest first."""
        return [self.price(step) for step in range(1, self.steps + 1)]

    def price(self, step: int) -> Fraction:
        """Return the price of a step, 1 to `steps`."""
        return whole(step, "step", most=self.steps) * self.top / self.steps

    def level(self, bid: object) -> int:
        """Return how many prices a bid reaches."""
        value = _finite(bid, self.top)
        return max(0, min(self.steps, math.floor(value * self.steps / self.top)))

    def levels(self, bids: Bids) -> Levels:
        """Return the number of prices that each bid reaches; refuse a bid that is not a number."""
        return self._levels_by(bids, self.level)

    def levels_paid_for(self, bids: Bids) -> Levels:
        """Return the same for bids that were paid for: a value that is not a number is not a bid.

        Whether a paid run fails must not depend on what one bidder wrote.
        """
        return self._levels_by(bids, self._level_or_none)

    def _levels_by(self, bids: Bids, level: Callable[[Any], int]) -> Levels:
        need_bids(bids)
        if isinstance(bids, np.ndarray):
            return self._levels_of_array(bids, level)
        return np.fromiter(self._levels_of(bids, level), np.int64, len(bids))

    def _level_or_none(self, bid: object) -> int:
        try:
            return self.level(bid)
        except Exception:  # noqa: BLE001 - a number of a caller's own type may raise anything
            return 0

    def _levels_of(self, bids: Iterable[Any], level: Callable[[Any], int]) -> Iterable[int]:
        known: dict[tuple[type, Any], int] = {}
        for bid in bids:
            number = known.get((type(bid), bid)) if isinstance(bid, int | float) else None
            if number is None:
                number = level(bid)
                if isinstance(bid, int | float):
                    known[type(bid), bid] = number
            yield number

    def _levels_of_array(self, bids: NDArray[Any], level: Callable[[Any], int]) -> Levels:
        if bids.dtype.kind == "f" and bids.dtype.itemsize < 8:
            # Of a narrow float, too, the text is what was typed; widened it would be another.
            narrow, back = np.unique(bids, return_inverse=True)
            return np.array([self.level(bid) for bid in narrow], np.int64)[back]
        if bids.dtype.kind not in "iuf" or bids.dtype.itemsize > 8:
            return self._levels_by(bids.tolist(), level)
        # Bids beyond the top reach every price, so nothing is lost; values that are not numbers become no bid.
        values = np.clip(np.nan_to_num(bids.astype(np.float64), nan=0.0), 0, 2 * float(self.top))
        ratio = values * float(self.steps / self.top)
        levels = np.minimum(np.floor(ratio), self.steps).astype(np.int64)
        near = np.abs(ratio - np.rint(ratio)) <= MARGIN * (1 + ratio)
        distinct, where = np.unique(bids[near], return_inverse=True)
        levels[near] = np.array([self.level(bid) for bid in distinct.tolist()], np.int64)[where]
        return levels


def need_bids(bids: object) -> None:
    """Refuse values that are not one bid for each bidder, by their type and dimensions; no bid is looked at."""
    if isinstance(bids, np.ma.MaskedArray):
        raise WrongType("bids is a masked array.", fix="fill it, such as bids.filled(0): a masked bid is not a bid")
    if not isinstance(bids, list | tuple | np.ndarray):
        raise WrongType(f"bids is {kind_of(bids)}, not a list or an array.", fix="pass one bid for each bidder")
    if isinstance(bids, np.ndarray) and bids.ndim != 1:
        raise WrongType(f"bids has {bids.ndim} dimensions, not one.", fix="pass one bid for each bidder")


def _finite(bid: object, top: Fraction) -> Fraction:
    """Return a bid as a fraction; a value that is not a finite number by its rank among prices."""
    if isinstance(bid, bool | np.bool_) or not isinstance(bid, numbers.Real | Decimal):
        raise WrongType(f"A bid is {kind_of(bid)}, not a number.", fix="pass bids as int, float, Fraction or Decimal")
    match bid:
        case Decimal():
            if bid.is_nan() or (bid.is_finite() and (not bid or bid.adjusted() < -FARTHEST)):
                return Fraction(0)
            return Fraction(bid) if bid.is_finite() and bid.adjusted() <= FARTHEST else _end(top, over=bid > 0)
        case numbers.Rational():
            return Fraction(int(bid.numerator), int(bid.denominator))
        case _:
            value = float(bid)
            if math.isnan(value):
                return Fraction(0)
            if not math.isfinite(value):
                return _end(top, over=value > 0)
            # A float means what was typed: its shortest decimal text.
            return Fraction(float.__repr__(bid) if isinstance(bid, float) else str(bid))


def _end(top: Fraction, *, over: bool) -> Fraction:
    return top if over else Fraction(0)


def revenues(counted: Levels, steps: int) -> Levels:
    """Return the revenue of each price from bids at these levels, in steps of the grid: step·(bids that reach it).

    One bid more, or a bid that is raised, raises every price's by 0 or by its step, and lowers none.
    """
    at_level = np.bincount(counted, minlength=steps + 1)
    reached = at_level[::-1].cumsum()[::-1][1:]
    earned: Levels = np.arange(1, steps + 1) * reached
    return earned

"""Bounds and limits that are bought: an end of a column's range, and how many rows or groups a person may have."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, Number, positive, probability, whole
from discreet.core.exact import flag
from discreet.core.frozen import settle
from discreet.mechanisms.quantiles import CountList, Extreme, QuantileChoice, read_level
from discreet.mechanisms.ranks import read_cells
from discreet.noise import SYSTEM, Entropy

NINETEEN_OF_TWENTY = Fraction(19, 20)


@dataclass(frozen=True, slots=True, init=False)
class RangeChoice:
    """Choose the cell of a coarse grid where the values of all but a few units end, upwards or downwards.

    The counts say how many units have their largest (or smallest) value in each cell; a unit is in one cell. The
    choice is `Extreme`'s, with the least offset such that some unit's value lies in the cell chosen or beyond, with
    probability `confidence`. So the range is not wider than the data, and all but `error()` units lie within it.

    Guarantee: ε-bounded range, and so ε-differential privacy and (ε²/8)-zCDP, for add/remove neighbours.
    Reference: McSherry, Talwar 2007, Theorem 6; Durfee, Rogers 2019, Section 4.2.
    """

    epsilon: Fraction
    cells: int
    upper: bool
    confidence: Fraction

    def __init__(self, *, epsilon: Number, cells: int, upper: bool, confidence: Number = 0.95) -> None:
        settle(
            self,
            epsilon=positive(epsilon, "epsilon"),
            cells=whole(cells, "cells"),
            upper=flag(upper, "upper"),
            confidence=probability(confidence, "confidence"),
        )
        self._choice()  # which refuses what is out of range

    def _choice(self) -> Extreme:
        return Extreme.for_confidence(
            upper=self.upper, epsilon=self.epsilon, cells=self.cells, confidence=self.confidence
        )

    @property
    def offset(self) -> int:
        """How many units are meant to lie beyond the range."""
        return self._choice().offset

    @property
    def cost(self) -> BoundedRange:
        """What one choice costs."""
        return BoundedRange(self.epsilon)

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the cell where the range ends. The distribution is exact."""
        return self._choice().choose(_need_cells(counts, self.cells), entropy=entropy)

    def error(self, confidence: Number | None = None) -> float:
        """Return how many units may lie beyond the range, except with the probability left; of at least `offset`."""
        asked = self.confidence if confidence is None else confidence
        return self.offset + self._choice().error(asked, cells=self.cells)


@dataclass(frozen=True, slots=True, init=False)
class LimitChoice:
    """Choose a limit k from 1 to `most` so that about a share `level` of all people have a load of at most k.

    The counts say how many people have a load of 1, 2, …, `most` or more. The rule is the quantile of the load at
    `level`, by `QuantileChoice`: a limit at the 19/20-quantile loses something of one person in twenty and
    keeps the noise from growing for the sake of the few who have most.

    Guarantee: ε-bounded range, and so ε-differential privacy and (ε²/8)-zCDP, for add/remove neighbours.
    Reference: McSherry, Talwar 2007, Theorem 6; Smith 2011 (quantiles).
    """

    epsilon: Fraction
    most: int
    level: Fraction

    def __init__(self, *, epsilon: Number, most: int, level: Number = NINETEEN_OF_TWENTY) -> None:
        settle(self, epsilon=positive(epsilon, "epsilon"), most=whole(most, "most"), level=read_level(level))
        self._choice()  # which refuses what is out of range

    def _choice(self) -> QuantileChoice:
        return QuantileChoice(level=self.level, epsilon=self.epsilon)

    @property
    def cost(self) -> BoundedRange:
        """What one choice costs."""
        return BoundedRange(self.epsilon)

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the limit chosen, from 1 to `most`. The distribution is exact."""
        return 1 + self._choice().choose(_need_cells(counts, self.most), entropy=entropy)

    def error(self, confidence: Number = 0.95) -> float:
        """Return how many people level·n may be away from the limit, except with the probability left."""
        return self._choice().error(confidence, cells=self.most)


def _need_cells(counts: object, cells: int) -> CountList:
    given = read_cells(counts)
    if len(given) != cells:
        raise InvalidInput(f"There are not {cells} counts.", fix="pass one count for each cell, also where it is 0")
    return given

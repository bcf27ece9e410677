"""Bounds and limits that are bought: an end of a column's range, and how many rows or groups a person may have."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, Number, positive, probability, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.exact import flag
from discreet.mechanisms.quantiles import CountList, Extreme, Floats, QuantileChoice, read_cells, read_level
from discreet.mechanisms.selection.odds import exponential_odds
from discreet.noise import SYSTEM, Entropy, choose_exp

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

    __canonical__: ClassVar[Record] = Record("RangeChoice", "epsilon", "cells", "upper", "confidence")

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
        """The number of units that are meant to lie beyond the range."""
        return self._choice().offset

    @property
    def cost(self) -> BoundedRange:
        """The cost of one choice."""
        return BoundedRange(self.epsilon)

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the cell where the range ends. The distribution is exact."""
        return self._choice().choose(_need_cells(counts, self.cells), entropy=entropy)

    def error(self, confidence: Number | None = None) -> float:
        """Return a bound on the units beyond the range, except with the probability left; of at least `offset`."""
        wanted = self.confidence if confidence is None else confidence
        return self.offset + self._choice().error(wanted, cells=self.cells)


@dataclass(frozen=True, slots=True, init=False)
class LimitChoice:
    """Choose a limit so that about a share `level` of all people have a load of at most that much.

    The counts say how many people have a load of 1, 2, …, `most` or more. Limits are chosen from 1, 2, …, 8, 10, 12,
    15, … (each a quarter above the last), with P(k) ∝ k⁻²·e^(−rate·distance), where the distance is how many people the
    quantile of the load at `level` is away from k. A limit at the 19/20-quantile loses something of one person in
    twenty and keeps the noise from growing for the sake of the few who have most. The factor k⁻² is public: it makes
    small limits likely where there are too few people to tell, because noise grows with the limit.

    Guarantee: ε-bounded range, and so ε-differential privacy and (ε²/8)-zCDP, for add/remove neighbours.
    Proof: As for `QuantileChoice`, on counts of coarser cells in which every unit is once. The factor adds a public
    number to each score, which is the same on neighbours.
    Reference: McSherry, Talwar 2007, Theorem 6 (with a base measure); Smith 2011 (quantiles).
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
    def limits(self) -> tuple[int, ...]:
        """The candidates."""
        limits = [1]
        while limits[-1] < self.most:
            limits.append(min(max(limits[-1] + 1, limits[-1] * 5 // 4), self.most))
        return tuple(limits)

    @property
    def cost(self) -> BoundedRange:
        """The cost of one choice."""
        return BoundedRange(self.epsilon)

    def _scores(self, counts: CountList) -> tuple[NDArray[np.int64], Fraction]:
        """Return integer scores, and what one point takes off the logarithm of a limit's chance."""
        choice = self._choice()
        unit = choice.level.denominator
        people = read_cells(_need_cells(counts, self.most), unit)
        cells = np.add.reduceat(people, [0, *self.limits[:-1]])  # people with loads up to each limit and above the last
        rate = choice.rate / unit
        dearer = np.array([math.ceil(2 * math.log(limit) / rate) for limit in self.limits], np.int64)
        return choice.scores(cells) - dearer, rate

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the limit chosen, from 1 to `most`. The distribution is exact."""
        scores, rate = self._scores(counts)
        return self.limits[choose_exp(scores, rate, entropy=entropy)]

    def probabilities(self, counts: CountList) -> Floats:
        """Return the chance of every one of the `limits`. As private as the counts: not for release."""
        scores, rate = self._scores(counts)
        return exponential_odds((scores.max() - scores) * float(rate))

    def error(self, confidence: Number = 0.95) -> float:
        """Return the largest distance in people of level·n from the limit, except with the probability left.

        Some limit has distance 0, and at worst it is the largest, with a factor of most⁻²; the factors of all sum to
        less than 2, and are rounded by less than 1 in the logarithm's unit, a row's part.
        """
        risk = float(1 - probability(confidence, "confidence"))
        choice = self._choice()
        return math.log(2 * self.most**2 / risk) / float(choice.rate) + 1


def _need_cells(counts: object, cells: int) -> CountList:
    cell_counts = read_cells(counts)
    if len(cell_counts) != cells:
        raise InvalidInput(f"There are not {cells} counts.", fix="pass one count for each cell, also where it is 0")
    return cell_counts

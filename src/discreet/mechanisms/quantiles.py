"""Quantiles, least and largest values, read off the counts of a public grid by a private choice of one cell."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, Number, OutOfRange, positive, probability, whole
from discreet.core.canonical_text import settle
from discreet.core.exact import flag
from discreet.mechanisms.integers import read_integers
from discreet.mechanisms.selection.odds import exponential_error, exponential_odds, read_question
from discreet.mechanisms.selection.scores import read_rate
from discreet.noise import SYSTEM, Entropy, choose_exp, need_entropy

# Counts in the order of their cells, and how far a cell is from a wanted rank: exact integers.

#: More cells than this are a grid too fine for a histogram.
MOST_CELLS = 1 << 24
#: Levels with a larger denominator than this ask for more than any histogram can tell.
FINEST = 10**6
#: Ranks times denominators stay below this.
WIDEST = 1 << 62
COUNTS = "pass how many rows lie in each cell, as an integer array or a list of ints"

Counts = NDArray[np.int64]


def read_cells(counts: object, finest: int = 1, *, dimensions: int = 1) -> Counts:
    """Return counts by cell as `int64`, cut so that `finest` times their sum fits 64 bits.

    Cutting moves no two counts apart, so it costs nothing; where it cuts depends on public numbers alone.
    """
    values = read_integers(counts, fix=COUNTS)
    if values.ndim != dimensions:
        wanted = "one count for each cell" if dimensions == 1 else "one row of counts for each group"
        raise InvalidInput(f"The counts have {values.ndim} dimensions, not {dimensions}.", fix=f"pass {wanted}")
    cells = values.shape[-1]
    if not cells:
        raise InvalidInput("There are no cells.", fix="pass at least one count")
    if cells > MOST_CELLS:
        raise OutOfRange(f"There are more than {MOST_CELLS:,} cells.", fix="use a coarser grid")
    return np.asarray(np.clip(values, 0, WIDEST // (finest * cells)), np.int64)


def distances(counts: Counts, target: Any, unit: int = 1) -> Counts:
    """Return how far the target lies from each cell's ranks, from the rows below it to those and its own.

    In steps of 1/unit of a row; the target is in these steps, one number for each group.
    """
    through = counts.cumsum(axis=-1)
    apart: Counts = np.maximum((through - counts) * unit - target, target - through * unit)
    return np.maximum(apart, 0, out=apart)


Floats = NDArray[np.float64]
CountList = NDArray[Any] | list[int]


@dataclass(frozen=True, slots=True, init=False)
class QuantileChoice:
    """Choose a cell near the quantile of a level q, with P(cell) ∝ e^(−rate·distance).

    Of n rows, b lie in cells below and c in the cell itself. Its distance is how far q·n is from the interval [b, b +
    c], in rows: 0 for the cell of the quantile. One unit has at most `rows` rows. Cells without rows between two
    others have the same distance, and one of them is as good as another: all split the rows alike.

    Guarantee: ε-bounded range, and so ε-differential privacy and (ε²/8)-zCDP, for add/remove neighbours.
    Proof: The distance is max(0, b − q·n, q·n − b − c). One more row moves b − q·n by 1 − q or −q, and q·n − b − c by
    q or q − 1, so that the distance moves by at most w = max(q, 1 − q), one way for some cells and the other way for
    others: distances are not monotone. So log-ratios lie in an interval of 2·w·rows·rate = ε. It is met: let a row
    come above (q ≥ 1/2) or below (q ≤ 1/2) the quantile.
    Reference: McSherry, Talwar 2007, Theorem 6; Smith 2011 (quantiles); Durfee, Rogers 2019, Section 4.2 (range).
    """

    level: Fraction
    epsilon: Fraction
    rows: int

    def __init__(self, *, level: Number, epsilon: Number, rows: int = 1) -> None:
        settle(self, level=read_level(level), epsilon=positive(epsilon, "epsilon"), rows=whole(rows, "rows"))
        read_rate(self.epsilon, self.sensitivity, monotone=False)  # which refuses what is out of range

    @property
    def sensitivity(self) -> Fraction:
        """The distance by which one unit moves one distance, in rows."""
        return max(self.level, 1 - self.level) * self.rows

    @property
    def rate(self) -> Fraction:
        """How much one row of distance takes off the logarithm of a cell's chance."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def cost(self) -> BoundedRange:
        """The cost of one choice; one for every group that a unit is in, where there are several."""
        return BoundedRange(self.epsilon)

    def scores(self, counts: Counts) -> Counts:
        """Return minus the distances of all cells, in parts of a row: as many as the level's denominator."""
        target = self.level.numerator * counts.sum(axis=-1, keepdims=True)
        return -distances(counts, target, self.level.denominator)

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the cell chosen. The distribution is exact."""
        scores = self.scores(read_cells(counts, self.level.denominator))
        return choose_exp(scores, self.rate / self.level.denominator, entropy=entropy)

    def choose_many(self, counts: NDArray[Any], *, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Return one cell for each group; counts have one row for each. Costs for every group that a unit is in."""
        need_entropy(entropy)
        every = read_cells(counts, self.level.denominator, dimensions=2)
        rate = self.rate / self.level.denominator
        return np.array([choose_exp(self.scores(row), rate, entropy=entropy) for row in every], np.int64)

    def probabilities(self, counts: CountList) -> Floats:
        """Return the chance of every cell. As private as the counts: not for release."""
        scores = self.scores(read_cells(counts, self.level.denominator))
        return exponential_odds(np.asarray(-scores * float(self.rate / self.level.denominator), np.float64))

    def error(self, confidence: Number = 0.95, *, cells: int) -> float:
        """Return the largest distance in rows of level·n from the cell chosen, except with the probability left.

        There is always a cell of distance 0. So this is the error of the exponential mechanism.
        """
        chance, best, others = read_question(confidence, cells, 1)
        return exponential_error(self.rate, others * (1 - chance) / (best * chance))


@dataclass(frozen=True, slots=True, init=False)
class Extreme:
    """Choose a cell near the row `offset` rows below the largest (or above the least), P(cell) ∝ e^(−rate·distance).

    Let a rows lie beyond the cell, towards the end that is asked for, and c in it. Its distance is how far the offset
    is from [a, a + c]. The largest value of all cannot be told privately, as one unit alone may have it; a cell with a
    few rows beyond it can. `for_confidence` takes the least offset such that some row lies in the cell chosen or
    beyond.

    Guarantee: ε-bounded range, and so ε-differential privacy and (ε²/8)-zCDP, for add/remove neighbours.
    Proof: As for `QuantileChoice`: one more row moves a or a + c by one or not at all, and so each distance by at most
    one, up for some cells and down for others: 2·rows·rate = ε.
    Reference: McSherry, Talwar 2007, Theorem 6; Durfee, Rogers 2019, Section 4.2.
    """

    upper: bool
    offset: int
    epsilon: Fraction
    rows: int

    def __init__(self, *, upper: bool, offset: int, epsilon: Number, rows: int = 1) -> None:
        settle(
            self,
            upper=flag(upper, "upper"),
            offset=whole(offset, "offset", most=1 << 40),
            epsilon=positive(epsilon, "epsilon"),
            rows=whole(rows, "rows"),
        )
        read_rate(self.epsilon, Fraction(self.rows), monotone=False)  # which refuses what is out of range

    @classmethod
    def for_confidence(
        cls, *, upper: bool, epsilon: Number, cells: int, rows: int = 1, confidence: Number = 0.95
    ) -> Self:
        """Take the least offset above the error at this confidence.

        If the table has at least so many rows, then with this probability some row lies in the cell chosen or beyond
        it, and at most `offset` + `error` rows lie beyond it.
        """
        error = cls(upper=upper, offset=1, epsilon=epsilon, rows=rows).error(confidence, cells=cells)
        return cls(upper=upper, offset=math.floor(error) + 1, epsilon=epsilon, rows=rows)

    @property
    def rate(self) -> Fraction:
        """How much one row of distance takes off the logarithm of a cell's chance."""
        return self.epsilon / (2 * self.rows)

    @property
    def cost(self) -> BoundedRange:
        """The cost of one choice; one for every group that a unit is in, where there are several."""
        return BoundedRange(self.epsilon)

    def _scores(self, counts: Counts) -> Counts:
        """Return scores in the order of the cells, from the end that is asked for."""
        from_end = counts[..., ::-1] if self.upper else counts
        scores = -distances(from_end, self.offset)
        return scores[..., ::-1] if self.upper else scores

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> int:
        """Return the index of the cell chosen. The distribution is exact."""
        return choose_exp(self._scores(read_cells(counts)), self.rate, entropy=entropy)

    def choose_many(self, counts: NDArray[Any], *, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
        """Return one cell for each group; counts have one row for each. Costs for every group that a unit is in."""
        need_entropy(entropy)
        every = read_cells(counts, dimensions=2)
        return np.array([choose_exp(self._scores(row), self.rate, entropy=entropy) for row in every], np.int64)

    def probabilities(self, counts: CountList) -> Floats:
        """Return the chance of every cell. As private as the counts: not for release."""
        scores = self._scores(read_cells(counts))
        return exponential_odds((scores.max() - scores) * float(self.rate))

    def error(self, confidence: Number = 0.95, *, cells: int) -> float:
        """Return the largest distance in rows of the offset from the cell chosen, except with the probability left.

        For tables of at least `offset` rows, where some cell has distance 0.
        """
        chance, best, others = read_question(confidence, cells, 1)
        return exponential_error(self.rate, others * (1 - chance) / (best * chance))


def read_level(level: object, name: str = "level") -> Fraction:
    """Return a level strictly between 0 and 1, of a denominator that ranks can be multiplied with."""
    share = probability(level, name)
    if share.denominator > FINEST:
        raise OutOfRange(
            f"{name} has a denominator above {FINEST:,}.", fix="round it to six digits, such as 0.95 or 0.333333"
        )
    return share

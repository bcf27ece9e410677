"""Several quantiles of one column under one budget, by repeated cuts or by a tree of noisy counts."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange, PrivacyLoss, Pure, Repeated
from discreet.core import InvalidInput, Number, OutOfRange, WrongType, positive, probability, whole
from discreet.core.canonical_text import settle
from discreet.mechanisms.cuts import PARTS, CellCounts, Target
from discreet.mechanisms.quantiles import FINEST, MOST_CELLS, CountList, Counts, QuantileChoice, read_cells, read_level
from discreet.noise import SYSTEM, Entropy, laplace, need_entropy

# Noisy counts of all nodes of a tree over the cells of a grid, and ranks read off them.

#: Children of a node that are worth a try.
BRANCHES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
#: Float error of the bound below, with room to spare.
SLACK = 1 + 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuantileTree:
    """A tree of `height` levels above the cells, each node with so many branches.

    Every row is in one node of each level, so one unit moves all counts of a level by `rows` in l1.
    """

    cells: int
    branches: int
    height: int
    scale: Fraction

    @classmethod
    def over(cls, cells: int, epsilon: Fraction, rows: int) -> "QuantileTree":
        """Return the tree of least variance: a rank adds up to height·(branches − 1) nodes, each of noise ∝ height."""

        def spread(branches: int) -> int:
            return _height(cells, branches) ** 3 * (branches - 1)

        branches = min(BRANCHES, key=spread)
        height = _height(cells, branches)
        return cls(cells, branches, height, height * rows / epsilon)

    @property
    def terms(self) -> int:
        """The largest number of noises that a rank and its target are made of, each with a factor between −1 and 1."""
        return self.height * (self.branches - 1) + 1

    def ranks(self, counts: Counts, entropy: Entropy) -> Floats:
        """Return noisy numbers of rows in cells up to each one, the last of them the noisy number of all rows.

        Made of the fewest nodes: all complete ones before the place, largest first.
        """
        padded = np.zeros(self.branches**self.height, np.int64)
        padded[: self.cells] = counts
        before, total = np.zeros(1), 0.0
        for level in range(self.height - 1, -1, -1):
            nodes = padded.reshape(-1, self.branches**level).sum(axis=1)
            noisy = (nodes + laplace(self.scale, nodes.shape, entropy=entropy)).astype(np.float64)
            # Before a child lie what lies before its parent, and the elder children.
            siblings = noisy.reshape(-1, self.branches).cumsum(axis=1)
            total = total if level < self.height - 1 else float(siblings[:, -1].sum())
            elder = np.concatenate([np.zeros((len(siblings), 1)), siblings[:, :-1]], axis=1)
            before = (before[:, None] + elder).ravel()
        through: Floats = np.append(before[1:], total)[: self.cells]
        through[-1] = total
        return through

    def error(self, chance: Fraction) -> float:
        """Return a bound on all errors of rank − level·total at once, exceeded with at most this probability.

        Chernoff: a noise Z of scale t has E[e^(λZ)] = (1 − p)²/((1 − p·e^λ)(1 − p·e^−λ)), p = e^−1/t, which is even and
        convex in λ; so factors between −1 and 1 make it no larger. The places are joined by the union bound.
        """
        rate = 1 / float(self.scale)
        wanted = math.log(2 * self.cells) - math.log(chance.numerator) + math.log(chance.denominator)

        def bound_at(share: float) -> float:
            slope = share * rate
            up, down = -math.expm1(slope - rate), -math.expm1(-slope - rate)
            growth = 2 * math.log(-math.expm1(-rate)) - math.log(up) - math.log(down)
            return (wanted + self.terms * growth) / slope

        return min(bound_at(k / 256) for k in range(1, 256)) * SLACK


def _height(cells: int, branches: int) -> int:
    height = 1
    while branches**height < cells:
        height += 1
    return height


MOST_LEVELS = 1000
#: The limits within which one method measures better than another; see `better_method`.
FEW_LEVELS, CELLS_A_LEVEL = 2, 8

Cells = NDArray[np.int64]


class QuantileMethod(Enum):
    """How several quantiles are found."""

    INDEPENDENT = "independent"
    """One choice for each level, with an even part of ε."""

    RECURSIVE = "recursive"
    """The middle level first, then the others on either side of its answer, each row on one side."""

    TREE = "tree"
    """Noisy counts of all nodes of a tree over the cells, and quantiles read off them."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Levels `start` to `stop` − 1, still to be found among the parts `first` to `end` − 1 of the grid.

    The rows there are taken to be those from level `low` to level `high`.
    """

    start: int
    stop: int
    first: int
    end: int
    low: Fraction
    high: Fraction

    @property
    def middle(self) -> int:
        return (self.start + self.stop) // 2

    def inner(self, level: Fraction) -> Fraction:
        """Return a level of all rows as a level of the rows in this span."""
        return (level - self.low) / (self.high - self.low)

    def cut(self, level: Fraction, part: int) -> "tuple[_Span, _Span]":
        """Return the two sides of an answer; its part goes to the left."""
        left = _Span(self.start, self.middle, self.first, part + 1, self.low, level)
        return left, _Span(self.middle + 1, self.stop, part + 1, self.end, level, self.high)


@dataclass(frozen=True, slots=True, init=False)
class ManyQuantiles:
    """Choose a cell for each of several levels; the answers ascend with the levels.

    `INDEPENDENT` is `QuantileChoice` for each of the m levels at ε/m, sorted. `RECURSIVE` finds the middle level, cuts
    the rows there, and goes on with the levels of either side in the rows of that side, on all L = ⌈log₂(m + 1)⌉
    storeys at ε/L; so that the rows of one full cell can go both ways, cells are first cut into parts, with rows
    spread evenly. `TREE` adds discrete Laplace noise of scale height·rows/ε to the counts of all nodes of a tree over
    the cells, and takes the first cell whose noisy rank reaches level·total. Without a `method`, the one that measured
    better is taken (`benchmarks/quantiles.py`): a rule by public numbers.

    Guarantee: `INDEPENDENT` is m times (ε/m)-bounded range, `RECURSIVE` L times (ε/L)-bounded range, `TREE` height
    times ε/height; so each is ε-differentially private, for add/remove neighbours that differ in at most `rows` rows.
    Proof for `RECURSIVE`: Let the answers of the storeys above be fixed. Then every row is in one span of the storey,
    and the choices in its spans are independent. A unit with rᵢ rows in span i moves the log-ratios there within an
    interval of rᵢ/rows·ε/L, and those of the whole storey within the sum, at most ε/L. A row more in a cell is a row
    more in one of its parts. Storeys compose. Proof for `TREE`: every row is in one node of a storey.
    Reference: Kaplan, Schnapp, Stemmer 2022 (recursive); Hay, Rastogi, Miklau, Suciu 2010 (tree).
    """

    levels: tuple[Fraction, ...]
    epsilon: Fraction
    cells: int
    rows: int
    method: QuantileMethod

    def __init__(
        self,
        *,
        levels: Iterable[Number],
        epsilon: Number,
        cells: int,
        rows: int = 1,
        method: QuantileMethod | None = None,
    ) -> None:
        if method is not None and not isinstance(method, QuantileMethod):
            raise WrongType("Unknown method.", fix="leave it out, or pass a QuantileMethod")
        settle(
            self,
            levels=(shares := _read_levels(levels)),
            epsilon=positive(epsilon, "epsilon"),
            cells=whole(cells, "cells", most=MOST_CELLS),
            rows=whole(rows, "rows"),
            method=method or better_method(len(shares), cells),
        )
        self._choice(shares[0], 1)  # which refuses what is out of range

    @property
    def storeys(self) -> int:
        """The number of times that the rows are looked at, by which ε is divided."""
        match self.method:
            case QuantileMethod.INDEPENDENT:
                return len(self.levels)
            case QuantileMethod.RECURSIVE:
                return len(self.levels).bit_length()
            case QuantileMethod.TREE:
                return self._tree.height

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of all answers together: it adds up to ε."""
        part = Pure if self.method is QuantileMethod.TREE else BoundedRange
        return Repeated(part(self.epsilon / self.storeys), self.storeys)

    @property
    def _tree(self) -> QuantileTree:
        return QuantileTree.over(self.cells, self.epsilon, self.rows)

    def _choice(self, level: Fraction, storeys: int) -> QuantileChoice:
        return QuantileChoice(level=level, epsilon=self.epsilon / storeys, rows=self.rows)

    def choose(self, counts: CountList, *, entropy: Entropy = SYSTEM) -> Cells:
        """Return one cell for each level, in the order of the levels."""
        need_entropy(entropy)
        finest = math.lcm(*(level.denominator for level in self.levels))
        cell_counts = read_cells(counts, finest)
        if len(cell_counts) != self.cells:
            raise InvalidInput(f"There are not {self.cells} counts.", fix="pass one count for each of the cells")
        match self.method:
            case QuantileMethod.INDEPENDENT:
                return self._each(cell_counts, entropy)
            case QuantileMethod.RECURSIVE:
                return self._recursive(cell_counts, entropy)
            case QuantileMethod.TREE:
                return self._read_tree(cell_counts, entropy)

    def choose_many(self, counts: NDArray[np.int64], *, entropy: Entropy = SYSTEM) -> Cells:
        """Return one row of cells for each group; counts have one row for each. Costs for every group of a unit."""
        every = read_cells(counts, dimensions=2)
        choices = [self.choose(row, entropy=entropy) for row in every]
        return np.array(choices, np.int64).reshape(len(every), len(self.levels))

    def _each(self, counts: Counts, entropy: Entropy) -> Cells:
        choices = [self._choice(level, self.storeys).choose(counts, entropy=entropy) for level in self.levels]
        return np.sort(np.array(choices, np.int64))

    def _recursive(self, counts: Counts, entropy: Entropy) -> Cells:
        rows = CellCounts(counts)
        choices = np.zeros(len(self.levels), np.int64)
        spans = [_Span(0, len(self.levels), 0, self.cells * PARTS, Fraction(0), Fraction(1))]
        while spans:
            span = spans.pop()
            if span.start == span.stop:
                continue
            if span.first == span.end:  # the answer before was the last part: nothing lies beyond it
                choices[span.start : span.stop] = (span.end - 1) // PARTS
                continue
            level = self.levels[span.middle]
            part = rows.choose(span.first, span.end, self._target(rows, span, span.inner(level)), entropy)
            choices[span.middle] = part // PARTS
            spans += span.cut(level, part)
        return choices

    def _target(self, rows: CellCounts, span: _Span, level: Fraction) -> Target:
        """Return the rank of a level of the rows in a span, counted from the first row of all."""
        low, high = rows.rank(span.first), rows.rank(span.end)
        rank = low * level.denominator + level.numerator * (high - low)
        return Target(rank, level.denominator, self._choice(level, self.storeys).rate / level.denominator)

    def _read_tree(self, counts: Counts, entropy: Entropy) -> Cells:
        ranks = self._tree.ranks(counts, entropy)
        reached = [np.flatnonzero(ranks >= float(level) * ranks[-1]) for level in self.levels]
        last = self.cells - 1
        return np.sort(np.array([places[0] if len(places) else last for places in reached], np.int64))

    def error(self, confidence: Number = 0.95, *, fullest: int = PARTS) -> float:
        """Return the largest distance in rows of all levels·n from the cells chosen, except with the probability left.

        `fullest` is how many rows one cell holds at most; `RECURSIVE` alone needs it. There, an error of one storey is
        handed down: the rows of a span end up to that many rows from where they should. And a cut is at the end of a
        part.
        """
        risk = (1 - probability(confidence, "confidence")) / len(self.levels)
        most = whole(fullest, "fullest")
        match self.method:
            case QuantileMethod.INDEPENDENT:
                return max(self._choice(level, self.storeys).error(1 - risk, cells=self.cells) for level in self.levels)
            case QuantileMethod.RECURSIVE:
                return self._sum_storey_errors(risk) + (self.storeys - 1) * -(-most // PARTS)
            case QuantileMethod.TREE:
                return self._tree.error(risk * len(self.levels))

    def _sum_storey_errors(self, risk: Fraction) -> float:
        """Return the sum over storeys of the largest error of a choice there."""
        total, spans = 0.0, [_Span(0, len(self.levels), 0, 0, Fraction(0), Fraction(1))]
        fine = self.cells * PARTS
        while spans:
            inner = [span.inner(self.levels[span.middle]) for span in spans]
            total += max(self._choice(level, self.storeys).error(1 - risk, cells=fine) for level in inner)
            sides = [side for span in spans for side in span.cut(self.levels[span.middle], 0)]
            spans = [side for side in sides if side.start < side.stop]
        return total


def better_method(levels: int, cells: int) -> QuantileMethod:
    """Return the method that measured better (`benchmarks/results/quantiles.md`).

    Up to two levels, choices one by one; from there on the recursive method, unless there are so few cells for so many
    levels that nearly every cell is asked for: then the tree, whose error does not grow with the levels.
    """
    if levels <= FEW_LEVELS:
        return QuantileMethod.INDEPENDENT
    return QuantileMethod.TREE if cells < CELLS_A_LEVEL * levels else QuantileMethod.RECURSIVE


def _read_levels(levels: object) -> tuple[Fraction, ...]:
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise WrongType("levels is not a list.", fix="pass a list such as [0.25, 0.5, 0.75]")
    shares = tuple(read_level(level, "a level") for level in levels)
    if not 1 <= len(shares) <= MOST_LEVELS:
        raise InvalidInput(f"There must be 1 to {MOST_LEVELS} levels.", fix="pass a list such as [0.25, 0.5, 0.75]")
    if any(low >= high for low, high in pairwise(shares)):
        raise InvalidInput("The levels do not ascend.", fix="pass each level once, in ascending order")
    if math.lcm(*(share.denominator for share in shares)) > FINEST:
        raise OutOfRange(
            f"The levels have a common denominator above {FINEST:,}.", fix="round them to the same few digits"
        )
    return shares

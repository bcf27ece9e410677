"""Cutting the rows of a histogram at a quantile, inside of cells too, by an exact private choice.

Every cell is thought of as 2²⁰ parts, and its rows as spread over them in a fixed order: row j lies in the part whose
number is j with its bits reversed (van der Corput). So rows are spread evenly, however many there are, and one more row
in a cell is one more row in one of its parts. The parts are never written down: neighbouring ones are weighed together
in *lumps*, cut smaller until the rows of a lump matter little.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.quantiles import Counts
from discreet.noise import Entropy, below, below_exp

#: A cell has 2 to this power parts.
PART_BITS = 20
PARTS = 1 << PART_BITS
#: A whole cell at distance 0 weighs about 2 to this power. Sums of 2²⁴ cells stay below 2⁶³.
WEIGHT_BITS = 37
#: Float exponentials are trusted to this relative error; the weights below are rounded up by as much.
MARGIN = 2.0**-30
#: A lump whose rows change a chance by more than e^EVEN is cut, unless its chance is below e^−FAR of the best one.
EVEN, FAR = 1.0, 60.0
SPLIT_BITS = 4
#: e to minus this is still a normal float.
FAINT = 700.0

Floats = NDArray[np.float64]


def rows_before(counts: Counts, parts: Counts) -> Counts:
    """Return the number of rows of each cell that lie in its parts before the given one, of 0 to 2²⁰.

    The parts before it are dyadic intervals, one for each of its bits that is set; in one of 2^−t of the cell lies
    every 2^t-th row.
    """
    rounds, rest = counts >> PART_BITS, counts & (PARTS - 1)
    total = rounds * parts
    first = np.zeros_like(parts)  # the first row that lies in the interval
    for t in range(1, PART_BITS + 1):
        bit = (parts >> (PART_BITS - t)) & 1
        total += bit * np.maximum((rest - first + (1 << t) - 1) >> t, 0)
        first += bit << (t - 1)
    return np.where(parts == PARTS, counts, total)


def one_before(count: int, part: int) -> int:
    """Return the same for one cell and a part of 0 to 2²⁰ − 1."""
    rounds, rest = divmod(count, PARTS)
    total, first = rounds * part, 0
    for t in range(1, PART_BITS + 1):
        if part >> (PART_BITS - t) & 1:
            total += max((rest - first + (1 << t) - 1) >> t, 0)
            first += 1 << (t - 1)
    return total


@dataclass(frozen=True, slots=True)
class Target:
    """A rank that is wanted, in steps of 1/unit of a row, and how much one step takes off the logarithm of a chance."""

    rank: int
    unit: int
    rate: Fraction

    def distances(self, low: Counts, high: Counts) -> Counts:
        """Return how far the target is from intervals of ranks."""
        return np.maximum(np.maximum(low * self.unit - self.rank, self.rank - high * self.unit), 0)


@dataclass(slots=True)
class Lumps:
    """Neighbouring parts of one cell each: 2^bits of them from `part` on, with ranks from `low` to `high`."""

    cell: Counts
    part: Counts
    bits: Counts
    low: Counts
    high: Counts

    def pick(self, which: NDArray[np.bool_]) -> "Lumps":
        """Return some of the lumps."""
        return Lumps(self.cell[which], self.part[which], self.bits[which], self.low[which], self.high[which])

    def join(self, *others: "Lumps") -> "Lumps":
        """Return these lumps and others."""
        every = (self, *others)
        return Lumps(
            *(
                np.concatenate([getattr(lumps, name) for lumps in every])
                for name in ("cell", "part", "bits", "low", "high")
            )
        )

    def weights(self, target: Target, best: int) -> Counts:
        """Return integers of at least 2^WEIGHT_BITS·(share of a cell)·e^(−rate·(least distance − best))."""
        exponents = (target.distances(self.low, self.high) - best) * float(target.rate)
        shares = np.exp2(WEIGHT_BITS - PART_BITS + self.bits.astype(np.float64))
        weights: Counts = (np.floor(np.exp(-np.minimum(exponents, FAINT)) * shares * (1 + MARGIN)) + 1).astype(np.int64)
        return weights


class CellCounts:
    """Counts by cell, cut where one likes. Private."""

    __slots__ = ("_below", "_counts")

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._below = np.concatenate([[0], counts.cumsum()])

    def rank(self, place: int) -> int:
        """Return the number of rows before a place: a part of a cell, counted from the first part of the first cell."""
        cell, part = divmod(place, PARTS)
        if cell == len(self._counts):
            return int(self._below[-1])
        return int(self._below[cell]) + one_before(int(self._counts[cell]), part)

    def _ranks(self, cell: Counts, part: Counts) -> Counts:
        ranks: Counts = self._below[cell] + rows_before(self._counts[cell], part)
        return ranks

    def choose(self, start: int, stop: int, target: Target, entropy: Entropy) -> int:
        """Return a part from `start` to `stop` − 1, with P(part) ∝ e^(−rate·distance). The distribution is exact.

        A lump gets an integer weight of at least 2^37·(its share of a cell)·e^(−rate·its least distance). A lump is
        drawn by weight, and of its parts one, all alike, which is taken with the probability that makes up for it.
        """
        lumps = self._refine_lumps(self._lumps(start, stop), target)
        best = int(target.distances(lumps.low, lumps.high).min())
        weights = lumps.weights(target, best)
        limits = weights.cumsum()
        while True:
            at = int(np.searchsorted(limits, below(int(limits[-1]), entropy=entropy), side="right"))
            bits = int(lumps.bits[at])
            chosen = int(lumps.cell[at]) * PARTS + int(lumps.part[at]) + below(1 << bits, entropy=entropy)
            exponent = target.rate * (self.distance(chosen, target) - best)
            scale = Fraction(int(weights[at]) << PART_BITS, 1 << (WEIGHT_BITS + bits))
            if below_exp(entropy, entropy.word(), 64, exponent, scale=scale):
                return chosen

    def distance(self, place: int, target: Target) -> int:
        """Return how far the target is from the ranks of one part."""
        return max(0, self.rank(place) * target.unit - target.rank, target.rank - self.rank(place + 1) * target.unit)

    def _lumps(self, start: int, stop: int) -> Lumps:
        """Return whole cells as lumps, and what is left at both ends in dyadic pieces."""
        first, last = -(-start // PARTS), stop // PARTS
        pieces = _dyadic(start, min(stop, first * PARTS)) if first * PARTS > start else []
        if last >= first and stop > last * PARTS:
            pieces += _dyadic(last * PARTS, stop)
        cells = np.arange(first, max(first, last), dtype=np.int64)
        zeros = np.zeros_like(cells)
        whole = Lumps(cells, zeros, zeros + PART_BITS, self._below[cells], self._below[cells + 1])
        begins, bits = np.array(pieces, np.int64).reshape(-1, 2).T
        return whole.join(self._build_lumps(begins // PARTS, begins % PARTS, bits))

    def _build_lumps(self, cell: Counts, part: Counts, bits: Counts) -> Lumps:
        return Lumps(cell, part, bits, self._ranks(cell, part), self._ranks(cell, part + (1 << bits)))

    def _refine_lumps(self, lumps: Lumps, target: Target) -> Lumps:
        """Cut lumps until the chances of their parts are nearly alike. For speed alone: any lumps would do."""
        rate, done = float(target.rate), []
        while True:
            apart = target.distances(lumps.low, lumps.high)
            heavy = (lumps.high - lumps.low) * (rate * target.unit) > EVEN
            heavy &= ((apart - apart.min()) * rate < FAR) & (lumps.bits > 0)
            done.append(lumps.pick(~heavy))
            if not heavy.any():
                return done[0].join(*done[1:])
            lumps = self._split(lumps.pick(heavy))

    def _split(self, lumps: Lumps) -> Lumps:
        """Return each lump in 16 pieces, or in single parts."""
        bits = np.maximum(lumps.bits - SPLIT_BITS, 0)
        pieces = 1 << (lumps.bits - bits)
        begin = np.repeat(lumps.part, pieces)
        nth = np.arange(len(begin)) - np.repeat(pieces.cumsum() - pieces, pieces)
        piece_bits = np.repeat(bits, pieces)
        return self._build_lumps(np.repeat(lumps.cell, pieces), begin + (nth << piece_bits), piece_bits)


def _dyadic(start: int, stop: int) -> list[tuple[int, int]]:
    """Return the dyadic pieces of parts from `start` to `stop` − 1: where each begins, and its bits."""
    pieces = []
    while start < stop:
        aligned = (start & -start).bit_length() - 1 if start else PART_BITS
        bits = min(aligned, (stop - start).bit_length() - 1, PART_BITS)
        pieces.append((start, bits))
        start += 1 << bits
    return pieces

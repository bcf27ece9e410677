"""Distributions on the integers, and tables of their sure and maybe weights: exact noise at the speed of a look-up.

Let p(x) = e^−exponent(x), unnormalised. Cut the integers into blocks of B = 2^m. Fix a float c (a float is an
exact dyadic number). Every block h gets integers low and gap with

    low ≤ c·p(x) ≤ low + gap      for all x of the block.

A random word below 2^w falls into the *sure* part of a block (of width low), into its *maybe* part (of width gap),
into a tail, or into the rest. Within the block, x is uniform. A sure x is taken. A maybe x is taken with probability
(c·p(x) − low)/gap. A tail is drawn by a rare path of its own. Everything else starts again. Then x comes out with
probability proportional to (low + gap·(c·p(x) − low)/gap)/B = c·p(x)/B: exactly p, whatever c, low and gap are.
Floats decide how often the slow paths are taken, and nothing else.

A *rounded* table has its shape on the reals: a block of integers stands for the reals that are rounded to them, low and
gap hold for all of these, and where it matters, in maybe parts and tails, a real is drawn that is rounded to x. Then x
comes out with probability proportional to the integral of p from x − 1/2 to x + 1/2.

Reference: rejection from a dyadic proposal, in the manner of Karney 2016 and Canonne, Kamath, Steinke 2020.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.noise.stream import Words

# The distributions on the integers, each given by its exponent: P(x) ∝ e^−exponent(x).
#
# A shape knows no normalising constant: none of the samplers needs one, so none has to be computed or trusted.

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LaplaceShape:
    """P(x) ∝ e^−|x|/scale on all integers; one-sided, on those from zero on, it is the geometric distribution."""

    scale: Fraction
    two_sided: bool = True

    @property
    def width(self) -> float:
        """The scale, as a float; for choosing sizes, never for deciding a draw."""
        return float(self.scale)

    def exponent(self, x: int | Fraction) -> Fraction:
        """Return |x|/scale exactly."""
        return abs(Fraction(x)) / self.scale

    def exponents(self, x: NDArray[Any]) -> Floats:
        """Return |x|/scale in floats, off by at most 4 units in the last place."""
        return np.abs(x.astype(np.float64)) / self.width

    def slope(self, x: float) -> float:  # noqa: ARG002 (the same everywhere)
        """Return how fast the exponent grows from x > 0 on, at the least."""
        return 1 / self.width

    def reach(self, exponent: float) -> float:
        """Return the distance at which the exponent is reached."""
        return exponent * self.width


@dataclass(frozen=True, slots=True)
class GaussianShape:
    """P(x) ∝ e^−x²/(2·variance) on all integers."""

    variance: Fraction
    two_sided = True

    @property
    def width(self) -> float:
        """The standard deviation of the continuous Gaussian of this variance, as a float."""
        return math.sqrt(self.variance)

    def exponent(self, x: int | Fraction) -> Fraction:
        """Return x²/(2·variance) exactly."""
        return x * x / (2 * self.variance)

    def exponents(self, x: NDArray[Any]) -> Floats:
        """Return x²/(2·variance) in floats, off by at most 8 units in the last place."""
        scaled: Floats = x.astype(np.float64) / self.width
        return scaled * scaled * 0.5

    def slope(self, x: float) -> float:
        """Return how fast the exponent grows from x > 0 on, at the least: it is convex."""
        return x / float(self.variance)

    def reach(self, exponent: float) -> float:
        """Return the distance at which the exponent is reached."""
        return self.width * math.sqrt(2 * exponent)


Shape = LaplaceShape | GaussianShape


Name = TypeVar("Name")
Kept = TypeVar("Kept")

#: Building a table takes about as long as this many single draws.
WORTH = 384
#: A request this small is always faster without a table.
FEW = 8
#: Shapes remembered; a table takes about half a megabyte.
MOST = 128

#: Float exponentials are trusted to this relative error: about 4000 units in the last place, where NumPy's and that of
#: C are within 4, and the rounding of exponents below 50 adds fewer than 500.
MARGIN = 2.0**-40
#: Blocks per width of the shape: with fewer, more draws fall into maybe parts; with more, into split buckets.
FINENESS = 128
#: The leading bits of a word that find its block by look-up.
JUMP_BITS = 16
#: The leading bits of a word behind all sure parts that find where its search begins.
GUESS_BITS = 13
#: Up to this many bits below the block, words and values have 32 bits. Words would have room for 16, and values for
#: more; but a draw that does not fit must be as good as impossible, and two-sided noise of width 2²⁰ exceeds 2³⁰ with a
#: probability below 2⁻¹⁴⁰⁰.
NARROW_BITS = 13
#: Wider shapes would have table entries that 64 bits cannot hold.
WIDEST = 2.0**48


@dataclass(frozen=True, slots=True, eq=False)
class BlockTable:
    """The weights of one shape. Blocks are numbered from `first` on."""

    shape: Shape
    rounded: bool
    word_bits: int
    block_bits: int
    first: int
    multiplier: float
    low: Words
    gap: Words
    sure: Words
    """The end of each block's sure part."""
    maybe: Words
    """The end of each block's maybe part, and then the tails, counted from the end of the sure parts."""
    tail: int
    """The weight of one tail."""
    tail_stride_bits: int
    starts: NDArray[Any]
    """For each value of the leading bits the least integer of its block; or, where the words with these leading bits do
    not all lie in one sure part, `split` and, added to it, the place of the first block that they may lie in."""
    guesses: NDArray[np.int64]
    """The first maybe part that words behind all sure parts may lie in, for each value of the bits after the shift."""
    guess_shift: np.uint64
    further: float
    """A bound on the average number of words that a draw takes after its first."""

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return len(self.low)

    @property
    def split(self) -> int:
        """The first value that is not a start: more than any integer of the table."""
        return split_of(self.starts.dtype)

    @property
    def edge(self) -> int:
        """The start of the right tail."""
        return (self.first + self.blocks) << self.block_bits


def build(shape: Shape, word_bits: int = 64, *, rounded: bool = False) -> BlockTable:
    """Build the table of a shape; words shorter than 64 bits are for tests that walk through all of them."""
    width = shape.width
    block_bits = max(0, math.ceil(math.log2(width / FINENESS)))
    # Beyond this point all weights together are less than one part in 2^word_bits.
    last = (int(shape.reach((word_bits + 3) * math.log(2))) >> block_bits) + 2
    first = -last if shape.two_sided else 0
    smallest, largest = _extremes(shape, np.arange(first, last, dtype=np.int64), block_bits, 0.5 if rounded else 0.0)
    count = last - first
    room = (1 << word_bits) - 2 * count - 64
    multiplier = room / (float(largest.sum()) * (1 + 2.0**-20))
    low = np.floor(multiplier * smallest * (1 - MARGIN)).astype(np.uint64)
    high = (np.ceil(multiplier * largest * (1 + MARGIN)) + 1).astype(np.uint64)
    gap = high - low
    edge = Fraction(2 * (last << block_bits) - rounded, 2)
    tail, stride_bits = _tail_weight(shape, edge, multiplier / (1 << block_bits))
    tails = np.full(2 if shape.two_sided else 1, tail, np.uint64)
    sure = np.cumsum(low)
    maybe = np.cumsum(np.concatenate([gap, tails]))
    if int(sure[-1]) + int(maybe[-1]) > 1 << word_bits:
        raise ArithmeticError("the weights of a noise table do not fit its word")  # c was chosen so that they do
    starts = _starts(sure, first, block_bits, word_bits)
    guesses, guess_shift = _guesses(maybe)
    further = _further(starts, sure, maybe, word_bits, 2 if rounded else 1)
    weights = (multiplier, low, gap, sure, maybe, tail, stride_bits)
    return BlockTable(shape, rounded, word_bits, block_bits, first, *weights, starts, guesses, guess_shift, further)


def _extremes(shape: Shape, block: NDArray[np.int64], block_bits: int, half: float) -> tuple[Any, Any]:
    """Return the least and the greatest p of every block, with so much to each side of it, up to the margin."""
    start = block << block_bits
    end = start + ((1 << block_bits) - 1)
    near = np.maximum(np.abs(np.where(block >= 0, start, end)) - half, 0)
    far = np.abs(np.where(block >= 0, end, start)) + half
    return np.exp(-shape.exponents(far)), np.exp(-shape.exponents(near))


def _tail_weight(shape: Shape, edge: Fraction, multiplier: float) -> tuple[int, int]:
    """Return the weight of a tail and the length of its strides (see `tail_draw`).

    In strides over which p falls by half at least, the k-th stride is proposed with probability 2^−(k+1), which
    covers c/B·p everywhere in the tail if the weight is at least 2·stride·c/B·p(edge).
    """
    stride_bits = max(0, math.ceil(math.log2(math.log(2) / shape.slope(float(edge)) * (1 + MARGIN))))
    largest = math.exp(-float(shape.exponent(edge)))
    return math.ceil(2 * (1 << stride_bits) * multiplier * largest * (1 + 2.0**-20)) + 1, stride_bits


def _starts(sure: Words, first: int, block_bits: int, word_bits: int) -> NDArray[Any]:
    kind = np.dtype(np.int32 if block_bits <= NARROW_BITS else np.int64)
    shift = np.uint64(word_bits - JUMP_BITS)
    start = np.arange(1 << JUMP_BITS, dtype=np.uint64) << shift
    end = start + ((np.uint64(1) << shift) - np.uint64(1))
    block = np.searchsorted(sure, start, side="right")
    inside = (block < len(sure)) & (block == np.searchsorted(sure, end, side="right"))
    return np.where(inside, (block + first) << block_bits, split_of(kind) + block).astype(kind)


def _guesses(maybe: Words) -> tuple[NDArray[np.int64], np.uint64]:
    """Return the start of a search among the maybe parts, by their leading bits."""
    shift = np.uint64(max(int(maybe[-1]).bit_length() - GUESS_BITS, 0))
    begins = np.arange((int(maybe[-1]) >> int(shift)) + 1, dtype=np.uint64) << shift
    return np.searchsorted(maybe, begins, side="right").astype(np.int64), shift


def _further(starts: NDArray[Any], sure: Words, maybe: Words, word_bits: int, for_maybe: int) -> float:
    """Return a bound on the average number of words that a draw takes after its first.

    What is open takes one, a maybe so many more, and whatever is not sure may start again, with a word of its own.
    """
    is_open = float(np.mean(starts >= split_of(starts.dtype)))
    unsure = 1 - int(sure[-1]) / (1 << word_bits)
    is_maybe = min(int(maybe[-1]) / (1 << word_bits), unsure)
    return (is_open + is_maybe * for_maybe + unsure) / (1 - unsure)


def split_of(kind: np.dtype[Any]) -> int:
    """Return half of what the kind of integers holds."""
    return 1 << (8 * kind.itemsize - 2)


def tail_scale(table: BlockTable, stride: int) -> Fraction:
    """Return the number s such that a proposal from the given stride is taken if s·U < p(x)."""
    weight = Fraction(table.tail << table.block_bits, 1 << (table.tail_stride_bits + stride + 1))
    return weight / Fraction(table.multiplier)


class TableCache:
    """The tables of the shapes that came to need one last.

    Which path a draw takes depends on public numbers only: shape, size and how often they were asked for. There is no
    lock: two threads may build the same table at once, which costs time and nothing else.
    """

    __slots__ = ("_tables", "_wanted")

    def __init__(self) -> None:
        self._tables: dict[tuple[Shape, bool], BlockTable] = {}
        self._wanted: dict[Shape, int] = {}

    def find(self, shape: Shape, count: int) -> BlockTable | None:
        """Return the shape's table, or None if `count` draws are cheaper without."""
        if count <= FEW:
            return None
        if (shape, False) not in self._tables:
            wanted = self._wanted.get(shape, 0) + count
            if wanted < WORTH:
                _remember(self._wanted, shape, wanted)
                return None
        return self.fetch_table(shape)

    def fetch_table(self, shape: Shape, *, rounded: bool = False) -> BlockTable:
        """Return the shape's table, built if it is not there."""
        table = self._tables.get((shape, rounded))
        if table is None:
            table = build(shape, rounded=rounded)
            _remember(self._tables, (shape, rounded), table)
        return table


def _remember(store: dict[Name, Kept], name: Name, value: Kept) -> None:
    store[name] = value
    for oldest in list(store)[:-MOST]:
        store.pop(oldest, None)


TABLES = TableCache()

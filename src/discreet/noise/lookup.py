"""Draws from a table: one look-up for nearly all, exact arithmetic for the rest; in Python, or compiled."""

import ctypes
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.compiled import load_library
from discreet.noise.decide import below_exp, below_exp_around
from discreet.noise.stream import Entropy, Words
from discreet.noise.table import JUMP_BITS, MARGIN, BlockTable, GaussianShape, tail_scale

# Draws from a table, compiled (`lookup.c`): word for word what the functions in Python below make of them.

#: The integers that the usual table has, and the bits of its words.
NARROW, WORD_BITS = np.dtype(np.int32), 64
#: A draw that is left to Python: its place, the word of its last try, and which spare words that used.
LEFT = np.dtype([(name, np.int64) for name in ("place", "word", "begin", "end")])
#: Room for draws that are left: nearly always there is none.
FEW = 64

_ARRAYS = ("starts", "sure", "maybe", "low", "gap", "guesses")


class _Table(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        *((name, ctypes.c_int64) for name in ("blocks", "parts", "last_guess", "first")),
        *((name, ctypes.c_double) for name in ("multiplier", "width", "margin")),
        *((name, ctypes.c_int32) for name in ("bits", "split", "guess_shift", "rounded", "gaussian")),
    )


class CompiledTable:
    """A table as C sees it, and room for a batch of draws. Not for several threads at once."""

    __slots__ = ("_lefts", "_library", "_places", "_scratch", "_seen", "spare", "table", "values", "words")

    def __init__(self, table: BlockTable, library: ctypes.CDLL, most: int, spare: int) -> None:
        shape = table.shape
        self.table, self._library = table, library
        self.words, self.spare = np.empty(most, np.uint32), np.empty(spare, np.uint64)
        self.values = np.empty(most, np.int32)
        self._scratch, self._lefts = np.empty(most, np.uint32), np.empty(FEW, LEFT)
        # Found once: asking an array where it is takes as long as hundreds of draws.
        arrays = (self.words, self.spare, self.values, self._scratch, self._lefts)
        self._places = [array.ctypes.data for array in arrays]
        self._seen = _Table(
            *(getattr(table, name).ctypes.data for name in _ARRAYS),
            *(table.blocks, len(table.maybe), len(table.guesses) - 1, table.first),
            *(table.multiplier, shape.width, MARGIN),
            *(table.block_bits, table.split, int(table.guess_shift), table.rounded, isinstance(shape, GaussianShape)),
        )

    def draw(self, count: int) -> NDArray[Any]:
        """Make `values` of the first `words`, and return those that are left, which have no value yet."""
        if not 0 <= count <= len(self.words):
            raise ValueError("there is no room for so many draws")
        words, spare, values, scratch, lefts = self._places
        reference = ctypes.byref(self._seen)
        left = self._library.draw(reference, words, count, spare, len(self.spare), values, scratch, lefts, FEW)
        if left <= FEW:
            return self._lefts[:left]
        more = np.empty(left, LEFT)  # the same words make the same draws
        self._library.draw(reference, words, count, spare, len(self.spare), values, scratch, more.ctypes.data, left)
        return more


def build_compiled_table(table: BlockTable, most: int, spare: int) -> CompiledTable | None:
    """Return a table with room for so many draws at once, and so many spare words.

    None where nothing is compiled, or not for tables like this.
    """
    library = _library()
    if library is None or table.starts.dtype != NARROW or table.word_bits != WORD_BITS:
        return None
    return CompiledTable(table, library, most, spare)


@cache
def _library() -> ctypes.CDLL | None:
    library = load_library(__file__)
    if library is not None:
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        library.draw.argtypes = (pointer, pointer, size, pointer, size, pointer, pointer, pointer, size)
        library.draw.restype = size
    return library


LAST_WORD = np.uint64((1 << 64) - 1)
#: Draws made at a time, so that all buffers stay in the processor's cache.
BATCH = 1 << 16
#: Fewer draws than this are made sooner by NumPy than they are handed to C.
LEAST = 32
#: Spare words: those that a batch takes on average, as many deviations more, and some. With too few it takes longer.
DEVIATIONS, LEAST_SPARE = 6, 64

Integers = NDArray[np.int64]
#: Takes draws, and which of all they are.
Put = Callable[[Any, NDArray[Any]], None]
#: Places of draws that the look-up left open, and their words.
_Open = tuple[NDArray[np.intp], NDArray[Any]]


def draw(table: BlockTable, entropy: Entropy, count: int) -> NDArray[Any]:
    """Return independent draws from the table's shape: `int32` where that is wide enough, else `int64`.

    Guarantee: each integer x has probability exactly proportional to e^−exponent(x), or, where the table is rounded, to
    its integral from x − 1/2 to x + 1/2.
    """
    out = np.empty(count, table.starts.dtype)
    hand_out(table, entropy, count, out.__setitem__)
    return out


def hand_out(table: BlockTable, entropy: Entropy, count: int, put: Put) -> None:
    """Make draws, and hand them out with their places while they are in the cache.

    A place that a batch leaves open gets zero first and its draw in the end: draws may be put there, or added. Places
    are slices first, and then perhaps one row of numbers, in order.
    """
    size = min(count, BATCH)
    by_c = build_compiled_table(table, size, spare_words(table, size)) if count >= LEAST else None
    if by_c is None:
        _hand_out(table, entropy, count, put)
    else:
        _hand_out_by_c(by_c, entropy, count, put)


def _hand_out_by_c(table: CompiledTable, entropy: Entropy, count: int, put: Put) -> None:
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        entropy.fill(table.words[:size])
        entropy.fill(table.spare)
        for place, word, begin, end in table.draw(size).tolist():
            known = np.array([word], np.uint32)
            table.values[place] = _resolve(table.table, Replayed(table.spare[begin:end], entropy), known)[0]
        put(slice(start, start + size), table.values[:size])


def spare_words(table: BlockTable, count: int) -> int:
    """Return the number of further words that are at hand for so many draws: more than they nearly ever take."""
    mean = count * table.further
    return int(mean + DEVIATIONS * math.sqrt(mean * (1 + table.further))) + LEAST_SPARE


class Replayed(Entropy):
    """Words that were drawn before, and then fresh ones: for a draw that is finished elsewhere than it was begun."""

    __slots__ = ("_known", "_then")

    def __init__(self, known: Words, then: Entropy) -> None:
        super().__init__()
        self._known, self._then = known.tolist()[::-1], then

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite an array with random bytes; each number of it takes one of the words that are known."""
        known = [self._known.pop() for _ in range(min(len(buffer), len(self._known)))]
        buffer[: len(known)] = np.array(known, np.uint64).astype(buffer.dtype)
        if len(known) < len(buffer):
            self._then.fill(buffer[len(known) :])

    def uniform(self) -> tuple[int, float]:
        """Return a word, and the number in [0, 1] that it begins, as a float."""
        if not self._known:
            return self._then.uniform()
        word = self._known.pop()
        return word, word * 2.0**-64


def _hand_out(table: BlockTable, entropy: Entropy, count: int, put: Put) -> None:
    size = min(count, BATCH)
    kind = table.starts.dtype
    buffers = np.empty(size, np.dtype(f"u{kind.itemsize}")), np.empty(size, np.intp), np.empty(size, kind)
    open_draws: list[_Open] = []
    for start in range(0, count, BATCH):
        words, places, values = (buffer[: count - start] for buffer in buffers)
        entropy.fill(words)
        left = _look_up(table, words, places, values)
        put(slice(start, start + len(values)), values)
        open_draws.append((left + start, words[left]))
    if open_draws:
        # All at once: the fixed price of a NumPy call, times the dozen calls of the slow path, is the larger part.
        where, known = (np.concatenate(parts) for parts in zip(*open_draws, strict=True))
        if len(where):
            put(where, _resolve(table, entropy, known))


def _look_up(
    table: BlockTable, words: NDArray[Any], places: NDArray[np.intp], values: NDArray[Any]
) -> NDArray[np.intp]:
    """Find draws where the leading bits decide, put zeros where they do not, and return where that is."""
    # The highest 16 bits find the block, the lowest are the place in it: no bit is used twice, or both would depend.
    places[:] = words.view(np.uint16)[_HIGHEST[words.itemsize] :: words.itemsize // 2]
    # "clip" only spares the check of indices that 16 bits cannot exceed.
    np.take(table.starts, places, out=values, mode="clip")
    split = np.flatnonzero(values >= table.split)
    values += (words & words.dtype.type((1 << table.block_bits) - 1)).view(values.dtype)
    values[split] = 0
    return split


#: The position of the highest 16 bits in a word of 4 or 8 bytes.
_HIGHEST = {4: 1, 8: 3} if sys.byteorder == "little" else {4: 0, 8: 0}


def _resolve(table: BlockTable, entropy: Entropy, known: NDArray[Any]) -> Integers:
    """Finish the draws that the look-up left open: about one in forty on wide shapes."""
    bits, below = 8 * known.itemsize, table.block_bits
    lower = (known & known.dtype.type((1 << below) - 1)).astype(np.int64)
    first = table.starts[known >> known.dtype.type(bits - JUMP_BITS)].astype(np.int64) - table.split
    word = (known >> known.dtype.type(below)).astype(np.uint64)
    missing = table.word_bits - (bits - below)
    if missing > 0:
        word <<= np.uint64(missing)
        word |= entropy.words(len(word)) & np.uint64((1 << missing) - 1)
    else:
        word >>= np.uint64(-missing)
    index: Integers = _blocks(table.sure, word, first)
    result: Integers = ((index + table.first) << below) + lower
    unsure = np.flatnonzero(index == table.blocks)
    if len(unsure):
        result[unsure] = _settle(table, entropy, word[unsure] - table.sure[-1], lower[unsure])
    return result


def _blocks(ends: Words, word: Words, first: Integers) -> Integers:
    """Return which of some parts words fall into, or how many there are for those behind all of them.

    Nearly all fall into the first part that they may lie in, or the next; the others are searched for.
    """
    # Behind all parts nothing is beyond, but for the last word of all, which is searched for as well.
    bounds = np.append(ends, [LAST_WORD, LAST_WORD])
    index = first + (word >= bounds[first])
    beyond = np.flatnonzero(word >= bounds[index])
    index[beyond] = np.searchsorted(ends, word[beyond], side="right")
    return index


def _settle(table: BlockTable, entropy: Entropy, word: Words, lower: Integers) -> Integers:
    """Draw where the word fell behind the sure parts: maybe, tail, or start again."""
    first = table.guesses[np.minimum(word >> table.guess_shift, len(table.guesses) - 1)]
    index = _blocks(table.maybe, word, first)
    result = ((index + table.first) << table.block_bits) + lower
    accepted = np.zeros(len(word), np.bool_)
    maybe = np.flatnonzero(index < table.blocks)
    accepted[maybe] = _accept(table, entropy, index[maybe], result[maybe])
    for which in np.flatnonzero((index >= table.blocks) & (index < len(table.maybe))):
        value = tail_draw(table, entropy, left=bool(index[which] > table.blocks))
        if value is not None:
            result[which], accepted[which] = value, True
    again = np.flatnonzero(~accepted)
    if len(again):
        result[again] = draw(table, entropy, len(again))
    return result


def _accept(table: BlockTable, entropy: Entropy, index: Integers, x: Integers) -> NDArray[np.bool_]:
    """Take each x with probability (c·p(x) − low)/gap, by a float comparison where that is certain."""
    word = entropy.words(len(x))
    place = entropy.words(len(x)) if table.rounded else None
    points = x if place is None else x + (place * 2.0**-64 - 0.5)
    weight = table.multiplier * np.exp(-table.shape.exponents(points))
    gap = table.gap[index].astype(np.float64)
    chance = (weight - table.low[index].astype(np.float64)) / gap
    # The weight is within its margin and the float forms of low and gap within 2⁻⁵³, relatively.
    doubt = (weight * (2 * MARGIN) + 2) / gap + 2.0**-40
    uniform = word.astype(np.float64) * 2.0**-64
    accepted: NDArray[np.bool_] = uniform < chance
    for which in np.flatnonzero(np.abs(uniform - chance) <= doubt):
        low, width = int(table.low[index[which]]), int(table.gap[index[which]])
        scale, offset = width / Fraction(table.multiplier), low / Fraction(table.multiplier)
        known = None if place is None else int(place[which])
        accepted[which] = _below(table, entropy, int(word[which]), int(x[which]), known, scale, offset)
    return accepted


def tail_draw(table: BlockTable, entropy: Entropy, *, left: bool) -> int | None:
    """Draw beyond the table, or start again (None). Happens about once in 2⁶² draws.

    Proposes the k-th stride with probability 2^−(k+1) and a uniform point of it; the left tail is the right one
    mirrored, and starts one step farther out, where p is smaller still.
    """
    stride = 0
    while entropy.bits(1):
        stride += 1
    x = table.edge + (stride << table.tail_stride_bits) + entropy.bits(table.tail_stride_bits) + left
    place = entropy.word() if table.rounded else None
    if not _below(table, entropy, entropy.word(), x, place, tail_scale(table, stride), Fraction(0)):
        return None
    return clamp_draw(-x if left else x, table.split)


def _below(
    table: BlockTable, entropy: Entropy, word: int, x: int, place: int | None, scale: Fraction, offset: Fraction
) -> bool:
    """Decide offset + scale·U < p(x), or < p(x + W − 1/2), for U and W that begin with the given words."""
    shape = table.shape
    if place is None:
        return below_exp(entropy, word, 64, shape.exponent(x), scale=scale, offset=offset)
    return below_exp_around(entropy, (word, place), 64, x, shape.exponent, scale=scale, offset=offset)


def clamp_draw(value: int, most: int = 1 << 62) -> int:
    """Return a draw, clamped to what its bits can hold; at the widest shapes of a table, the chance is below 2^−1400.

    It is not refused: a run that fails by what was drawn is run again, and its answer would be a chosen one.
    """
    return max(-most, min(value, most))

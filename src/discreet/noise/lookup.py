"""Draws from a table: one look-up for nearly all of them, exact arithmetic for the rest."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import OutOfRange
from discreet.noise.decide import below_exp
from discreet.noise.stream import Entropy, Words
from discreet.noise.table import JUMP_BITS, MARGIN, SPLIT, BlockTable, tail_scale

#: Draws made at a time, so that all buffers stay in the processor's cache.
BATCH = 1 << 16

Integers = NDArray[np.int64]
#: Leading bits, bits below the block, and block numbers of one batch.
_Buffers = tuple[NDArray[np.uint16], NDArray[Any], NDArray[np.int16]]
#: Positions, leading bits and bits below the block of draws that the look-up left open.
_Open = tuple[NDArray[np.intp], NDArray[np.uint16], Integers]


def draw(table: BlockTable, entropy: Entropy, count: int) -> Integers:
    """Return independent draws from the table's shape.

    Guarantee: each integer x has probability exactly proportional to e^−exponent(x).
    """
    out = np.empty(count, np.int64)
    buffers = _buffers(table, min(count, BATCH))
    open_draws = [
        _look_up(table, entropy, out[start : start + BATCH], start, buffers) for start in range(0, count, BATCH)
    ]
    if open_draws:
        # All at once: the fixed price of a NumPy call, times the dozen calls of the slow path, is the larger part.
        where, leading, lower = (np.concatenate(parts) for parts in zip(*open_draws, strict=True))
        if len(where):
            out[where] = _resolve(table, entropy, leading, lower)
    return out


def _buffers(table: BlockTable, size: int) -> _Buffers:
    bits = table.block_bits
    lower = np.uint16 if bits <= 16 else np.uint32 if bits <= 32 else np.uint64
    return np.empty(size, np.uint16), np.zeros(size, lower), np.empty(size, np.int16)


def _look_up(table: BlockTable, entropy: Entropy, out: Integers, start: int, buffers: _Buffers) -> _Open:
    """Fill `out` where the leading bits decide; return where they do not, with the bits drawn so far."""
    size = len(out)
    leading, lower, block = buffers[0][:size], buffers[1][:size], buffers[2][:size]
    entropy.fill(leading)
    # "clip" only spares the check of indices that 16 bits cannot exceed.
    np.take(table.jump, leading, out=block, mode="clip")
    if table.block_bits:
        entropy.fill(lower)
        lower &= lower.dtype.type((1 << table.block_bits) - 1)
        np.multiply(block, 1 << table.block_bits, out=out, dtype=np.int64)
        np.add(out, lower, out=out, casting="unsafe")
    else:
        out[:] = block
    split = np.flatnonzero(block == SPLIT)
    return split + start, leading[split], lower[split].astype(np.int64)


def _resolve(table: BlockTable, entropy: Entropy, leading: NDArray[np.uint16], lower: Integers) -> Integers:
    """Finish the draws whose leading bits do not decide: about one in thirty on wide shapes."""
    rest_bits = table.word_bits - JUMP_BITS
    word = leading.astype(np.uint64) << np.uint64(rest_bits)
    word |= entropy.words(len(word)) & np.uint64((1 << rest_bits) - 1)
    index = np.searchsorted(table.sure, word, side="right")
    result = ((index + table.first) << table.block_bits) + lower
    unsure = np.flatnonzero(index == table.blocks)
    if len(unsure):
        result[unsure] = _settle(table, entropy, word[unsure] - table.sure[-1], lower[unsure])
    return result


def _settle(table: BlockTable, entropy: Entropy, word: Words, lower: Integers) -> Integers:
    """Draw where the word fell behind the sure parts: maybe, tail, or start again."""
    index = np.searchsorted(table.maybe, word, side="right")
    result = ((index + table.first) << table.block_bits) + lower
    taken = np.zeros(len(word), np.bool_)
    maybe = np.flatnonzero(index < table.blocks)
    taken[maybe] = _accept(table, entropy, index[maybe], result[maybe])
    for which in np.flatnonzero((index >= table.blocks) & (index < len(table.maybe))):
        value = tail_draw(table, entropy, left=bool(index[which] > table.blocks))
        if value is not None:
            result[which], taken[which] = value, True
    again = np.flatnonzero(~taken)
    if len(again):
        result[again] = draw(table, entropy, len(again))
    return result


def _accept(table: BlockTable, entropy: Entropy, index: Integers, x: Integers) -> NDArray[np.bool_]:
    """Take each x with probability (c·p(x) − low)/gap, by a float comparison where that is certain."""
    word = entropy.words(len(x))
    weight = table.multiplier * np.exp(-table.shape.exponents(x))
    gap = table.gap[index].astype(np.float64)
    chance = (weight - table.low[index].astype(np.float64)) / gap
    # The weight is within its margin and the float forms of low and gap within 2⁻⁵³, relatively.
    doubt = (weight * (2 * MARGIN) + 2) / gap + 2.0**-40
    uniform = word.astype(np.float64) * 2.0**-64
    taken: NDArray[np.bool_] = uniform < chance
    for which in np.flatnonzero(np.abs(uniform - chance) <= doubt):
        low, width = int(table.low[index[which]]), int(table.gap[index[which]])
        taken[which] = below_exp(
            entropy,
            int(word[which]),
            64,
            table.shape.exponent(int(x[which])),
            scale=width / Fraction(table.multiplier),
            offset=low / Fraction(table.multiplier),
        )
    return taken


def tail_draw(table: BlockTable, entropy: Entropy, *, left: bool) -> int | None:
    """Draw beyond the table, or start again (None). Happens about once in 2⁶² draws.

    Proposes the k-th stride with probability 2^−(k+1) and a uniform point of it; the left tail is the right one
    mirrored, and starts one step farther out, where p is smaller still.
    """
    stride = 0
    while entropy.bits(1):
        stride += 1
    x = table.edge + (stride << table.tail_stride_bits) + entropy.bits(table.tail_stride_bits) + left
    if not below_exp(entropy, entropy.word(), 64, table.shape.exponent(x), scale=tail_scale(table, stride)):
        return None
    return need_64_bits(-x if left else x)


def need_64_bits(value: int) -> int:
    """Return a draw of at most ±2⁶², or refuse; at the widest shape that tables serve, the chance is below 2^−20000."""
    if abs(value) > 1 << 62:
        raise OutOfRange("A draw does not fit into 64 bits.", fix="draw again under the same payment")
    return value

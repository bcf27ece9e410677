"""Coins by the billion: 64 to a word, compared side by side."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from discreet.core import InvalidInput, Number, exact
from discreet.noise.sampling import Size, bernoulli, dimensions_of
from discreet.noise.stream import SYSTEM, Entropy, Words, need_entropy

#: Bits of each random number that are compared side by side; the one in 2¹⁶ that is still open is decided on its own.
TOGETHER = 16
#: Words made at a time, so that all buffers stay in the processor's cache.
BATCH = 1 << 13


def coin_words(chance: Number, size: Size, *, entropy: Entropy = SYSTEM) -> Words:
    """Return an array of 64-bit words, every bit of which is an independent coin that is 1 with probability `chance`.

    Guarantee: the probability is exactly `chance`, any rational number from 0 to 1.
    """
    need_entropy(entropy)
    ratio = exact(chance, "chance")
    if not 0 <= ratio <= 1:
        raise InvalidInput("chance must lie between 0 and 1.", fix="pass a probability, such as 0.75")
    dimensions = dimensions_of(size)
    if ratio == 1:
        return np.full(dimensions, ~np.uint64(0))
    heads = np.zeros(math.prod(dimensions), np.uint64)
    leading = math.floor(ratio * (1 << TOGETHER))
    rest = ratio * (1 << TOGETHER) - leading
    # Where nothing is left of the chance, no number that begins like it is below it.
    last = 0 if rest or not leading else (leading & -leading).bit_length() - 1
    for start in range(0, len(heads), BATCH):
        piece = heads[start : start + BATCH]
        undecided = _compare(piece, leading, last, entropy)
        if rest:
            _settle(piece, undecided, rest, entropy)
    return heads.reshape(dimensions)


def _compare(heads: Words, leading: int, last: int, entropy: Entropy) -> Words:
    """Set the bits whose random numbers begin below `leading`, down to its bit `last`; return those that are equal."""
    undecided = np.full(len(heads), ~np.uint64(0))
    zeros = np.empty_like(heads)  # where the random number has a 0
    for place in reversed(range(last, TOGETHER)):
        entropy.fill(zeros)
        np.bitwise_and(undecided, zeros, out=zeros)
        if leading >> place & 1:
            np.bitwise_or(heads, zeros, out=heads)
            np.bitwise_xor(undecided, zeros, out=undecided)
        else:
            np.copyto(undecided, zeros)
    return undecided


def _settle(heads: Words, undecided: Words, rest: Fraction, entropy: Entropy) -> None:
    """Decide the coins that are still open: what is left of each is a coin of what is left of the chance."""
    which = np.flatnonzero(undecided)
    places = [
        (index, coin) for index, word in zip(which, undecided[which].tolist(), strict=True) for coin in _bits(word)
    ]
    for (index, coin), head in zip(places, bernoulli(rest, len(places), entropy=entropy), strict=True):
        if head:
            heads[index] |= np.uint64(coin)


def _bits(word: int) -> Iterator[int]:
    """Yield the bits of a word, each as the number that it is."""
    while word:
        yield word & -word
        word &= word - 1

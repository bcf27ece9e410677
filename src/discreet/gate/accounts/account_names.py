"""Names of personal accounts: the beginning of a hash, and many of them as bytes.

**How long a name is.** 84 bits of SHA-256 (`algebra.contributions`). A name may not say two things: two persons
of one table who shared theirs would be refused, and of two tables would have one account. For n persons the chance that
any two of them share one is below n²/2⁸⁵, as the hash is as good as random to whoever did not choose the ids by it: for
a hundred million 3·10⁻¹⁰. That one certain person shares it with anybody has a chance below n/2⁸⁴: 5·10⁻¹⁸. What is
promised to these two even then is in `docs/personal.md`.

**How names are stored.** In their order, which is as good as random and tells nothing. Of n names in order the first
⌈log₂ n⌉ bits of each are hardly more than where it stands: the number that they are grows by about 1 from each to the
next, so that it is written in ones and zeros, a one for each name and a zero for each step, with about two bits a name
(Elias 1974, Fano 1971). What follows these bits is written as it is. So n names take about 86 − log₂ n bits each: a
hundred million 59.3, where no way of writing down as many random names without their order takes less than 58.9 on
average.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.contributions import Names
from discreet.gate.accounts.bit_packing import pack_bits, size_of, unpack_bits

#: Bits of a name: the first, and those that follow.
FIRST, SECOND = 64, 20
#: Bits that engines give after the first.
GIVEN = 32

First = NDArray[np.uint64]
Second = NDArray[np.uint32]


def halves(names: Names) -> tuple[First, Second]:
    """Return both parts of names, as they are stored, from what engines give."""
    second = names[:, 1] >> np.uint64(GIVEN - SECOND) & np.uint64(2**SECOND - 1)
    return np.ascontiguousarray(names[:, 0]), second.astype(np.uint32)


def in_order(high: First, low: Second) -> bool:
    """Tell whether names stand in their order, each once."""
    rising, same = high[1:] > high[:-1], high[1:] == high[:-1]
    if same.any():
        rising |= same & (low[1:] > low[:-1])
    return bool(rising.all())


def order_of(high: First, low: Second) -> NDArray[np.int64] | slice:
    """Return the order of names: by the first part, then by the second."""
    if in_order(high, low):
        return slice(None)
    # Numbers are sorted in a third of the time that their places take: so each place stands in the lowest bits of its
    # number. Those who are alike above these bits, some in ten thousand, are told apart after.
    width = np.uint64((len(high) - 1).bit_length())
    keys = high >> width << width
    keys |= np.arange(len(high), dtype=np.uint64)
    keys.sort()
    alike = np.zeros(len(high), np.bool_)
    alike[1:] = keys[1:] ^ keys[:-1] < np.uint64(1 << int(width))
    alike[:-1] |= alike[1:]
    keys &= np.uint64((1 << int(width)) - 1)
    order = keys.view(np.int64)
    places = np.flatnonzero(alike)
    tied = order[places]
    order[places] = tied[np.lexsort((low[tied], high[tied]))]
    return order


def encode_names(high: First, low: Second) -> list[memoryview]:
    """Return names, which are in order, as bytes, in parts."""
    count, steps = len(high), _steps(len(high))
    marks = np.zeros(count + (1 << steps), np.bool_)
    # A shift by all 64 bits is not defined.
    first = high >> np.uint64(FIRST - steps) if steps else np.zeros(count, np.uint64)
    marks[first + np.arange(count, dtype=np.uint64)] = True
    beginnings = np.packbits(marks, bitorder="little")
    return [beginnings.data, *pack_bits(high, FIRST - steps), *pack_bits(low, SECOND)]


def sizes_of(count: int) -> tuple[int, int, int]:
    """Return how many bytes so many names take: the steps, the rest of the first parts, the second parts."""
    steps = _steps(count)
    return -(-(count + (1 << steps)) // 8), size_of(count, FIRST - steps), size_of(count, SECOND)


def decode_names(content: bytes | memoryview, count: int) -> tuple[First, Second]:
    """Return so many names from their bytes; refuse any that are not in order, each once."""
    steps, sizes = _steps(count), sizes_of(count)
    if len(content) != sum(sizes):
        raise ValueError
    whole = memoryview(content)
    marks = np.unpackbits(np.frombuffer(whole[: sizes[0]], np.uint8), count=count + (1 << steps), bitorder="little")
    first = np.flatnonzero(marks.view(np.bool_)).astype(np.uint64)
    if len(first) != count:
        raise ValueError
    first -= np.arange(count, dtype=np.uint64)
    high = unpack_bits(whole[sizes[0] : sizes[0] + sizes[1]], count, FIRST - steps, np.uint64)
    if steps:
        high |= first << np.uint64(FIRST - steps)
    low = unpack_bits(whole[sizes[0] + sizes[1] :], count, SECOND, np.uint32)
    if not in_order(high, low):
        raise ValueError
    return high, low


def _steps(count: int) -> int:
    """Return how many bits of so many names are written as steps."""
    return min(count.bit_length(), FIRST)

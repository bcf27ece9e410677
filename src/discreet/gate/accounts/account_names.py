"""Names of personal accounts: the beginning of a hash, many of them as bytes, and an index with their numbers.

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

import threading
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.contributions import Names
from discreet.core import InvalidInput

# Bit packing: whole numbers as bytes, with a fixed number of bits each.
#
# A number of 20 bits is one of 16 and one of 4. All first parts stand together, then all second ones: so they are
# written and read by NumPy, many at a time, and nothing is wasted but some bits at the end.

#: How many bits the parts of numbers have, lowest first, by which of these add up to their width.
PARTS = (64, 32, 16, 8, 4, 2, 1)
#: So many are written at a time, in the processor's cache; a multiple of 8, so that each time begins with a byte.
BLOCK = 1 << 16

Word = TypeVar("Word", np.uint8, np.uint32, np.uint64)


def size_of(count: int, width: int) -> int:
    """Return how many bytes so many numbers take."""
    return sum(-(-count * part // 8) for part in _parts(width))


def pack_bits(numbers: NDArray[Word], width: int, least: int = 0) -> list[memoryview]:
    """Return how far numbers are above the least, less than 2^`width` each, as bytes, in parts."""
    parts, kind = _parts(width), numbers.dtype.type
    packed = [np.frombuffer(bytearray(-(-len(numbers) * part // 8)), np.uint8) for part in parts]
    for start in range(0, len(numbers), BLOCK):
        block, shift = numbers[start : start + BLOCK] - kind(least), 0
        for part, content in zip(parts, packed, strict=True):
            mine = (block >> kind(shift)).astype(_type(part))
            written = mine.view(np.uint8) if part >= 8 else _join_bits(mine, part)
            content[start * part // 8 :][: len(written)] = written
            shift += part
    return [content.data for content in packed]


def unpack_bits(content: bytes | memoryview, count: int, width: int, kind: type[Word]) -> NDArray[Word]:
    """Return numbers from their bytes; refuse bytes that are not as many as it takes."""
    if len(content) != size_of(count, width):
        raise ValueError
    numbers = np.zeros(count, kind)
    at = shift = 0
    for part in _parts(width):
        size = -(-count * part // 8)
        whole = np.frombuffer(content, np.uint8, size, at)
        for start in range(0, count, BLOCK):
            block = whole[start * part // 8 : -(-min(start + BLOCK, count) * part // 8)]
            parted = block.view(_type(part)) if part >= 8 else _split(block, part)
            mine = numbers[start : start + BLOCK]
            mine |= parted[: len(mine)].astype(kind) << kind(shift)
        at, shift = at + size, shift + part
    return numbers


def _parts(width: int) -> list[int]:
    return [part for part in PARTS if width & part]


def _type(part: int) -> str:
    return f"<u{max(part // 8, 1)}"


def _join_bits(numbers: NDArray[np.uint8], part: int) -> NDArray[np.uint8]:
    """Return numbers of less than a byte, the first in the lowest bits; what is above their bits is not looked at."""
    if part == 1:
        return np.packbits(numbers & 1, bitorder="little")
    together = 8 // part
    whole = np.zeros(-(-len(numbers) // together) * together, np.uint8)
    whole[: len(numbers)] = numbers & (2**part - 1)
    joined = whole[::together].copy()
    for place in range(1, together):
        joined |= whole[place::together] << np.uint8(place * part)
    return joined


def _split(content: NDArray[np.uint8], part: int) -> NDArray[np.uint8]:
    if part == 1:
        return np.unpackbits(content, bitorder="little")
    together = 8 // part
    split = np.empty((len(content), together), np.uint8)
    for place in range(together):
        split[:, place] = (content >> np.uint8(place * part)) & np.uint8(2**part - 1)
    return split.reshape(-1)


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


# Index of account names: each has one number for as long as the process runs.
#
# Engines keep the numbers of a table's units, so a number that was given out may not change its meaning: not when a
# run fails before its charges are stored, not when another process opened other accounts meanwhile, not when the
# ledger is closed and opened again. So numbers are this process's own, one directory for each ledger, kept to the end;
# the numbers in what is stored are others (`balances`). Names that come together get theirs in the order of the names:
# so they are mostly the same.

T = TypeVar("T", bound=np.generic)

#: No more people than this: numbers are stored in four bytes.
MOST = 2**32 - 1
#: If fewer than one in so many is asked for, sorting those takes less time than a look at all.
MANY = 16


class Directory:
    """Names, in their order, and their numbers. Private."""

    _known: ClassVar[dict[str, "Directory"]] = {}
    _guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._high = np.zeros(0, np.uint64)
        self._low, self._number = np.zeros(0, np.uint32), np.zeros(0, np.uint32)
        #: For each value of the first bits the place of the first name that has it, or more; empty until it is needed.
        self._begins = np.zeros(0, np.uint32)
        #: Whether numbers are places, as long as all names came together.
        self._plain = True

    @classmethod
    def of(cls, ledger: str) -> "Directory":
        """Return the directory of a ledger in this process."""
        with cls._guard:
            return cls._known.setdefault(ledger, cls())

    def __len__(self) -> int:
        return len(self._high)

    def __repr__(self) -> str:
        return "Directory(…)"

    def numbers(self, high: First, low: Second) -> NDArray[np.int64]:
        """Return the numbers of names, which are all different; new ones get the next, in the order of the names."""
        with self._lock:
            known = self._find_numbers(high, low)
        if known is not None:
            return known
        order = order_of(high, low)
        high, low = high[order], low[order]
        if np.any((high[1:] == high[:-1]) & (low[1:] == low[:-1])):
            # Or one of two would be charged for both.
            raise InvalidInput("Two units have one name.", fix="see that the table names each unit once")
        numbers = np.empty(len(high), np.int64)
        with self._lock:
            numbers[order] = self._assign_numbers(high, low)
        return numbers

    def names(self, numbers: NDArray[np.int64] | slice) -> tuple[First, Second]:
        """Return the names of some numbers, or of a slice of them."""
        with self._lock:
            at = numbers if self._plain else self._invert_numbers()[numbers]
            return self._high[at], self._low[at]

    def _invert_numbers(self) -> NDArray[np.int64]:
        """Return the place of each number."""
        place = np.zeros(len(self), np.int64)
        place[self._number] = np.arange(len(self))
        return place

    def are_numbered_from(self, first: int, high: First, low: Second) -> bool:
        """Tell whether these names have the numbers from `first` on, in this order."""
        if first + len(high) > len(self):
            return False
        mine = self.names(slice(first, first + len(high)))
        return np.array_equal(mine[0], high) and np.array_equal(mine[1], low)

    def _assign_numbers(self, high: First, low: Second) -> NDArray[np.int64]:
        """Return the numbers of names that come in their order; new ones get the next."""
        if not len(self):
            self._insert(np.zeros(0, np.int64), high, low, np.arange(len(high), dtype=np.uint32))
            return np.arange(len(high))
        before, places = len(self), self._places(high, low)
        known = np.flatnonzero(places < before)
        known = known[(self._high[places[known]] == high[known]) & (self._low[places[known]] == low[known])]
        new = np.ones(len(high), np.bool_)
        new[known] = False
        numbers = np.cumsum(new) + (before - 1)
        numbers[known] = self._number[places[known]]
        if len(known) < len(high):
            self._insert(places[new], high[new], low[new], numbers[new].astype(np.uint32))
        return numbers

    def _find_numbers(self, high: First, low: Second) -> NDArray[np.int64] | None:
        """Return the numbers of names that are all here, and different; else None. Nothing is sorted for that."""
        bits = len(self).bit_length() - 1
        if bits < 1 or len(high) * MANY < len(self):
            return None
        shift = np.uint64(FIRST - bits)
        if not len(self._begins):
            sizes = np.bincount((self._high >> shift).view(np.int64), minlength=1 << bits)
            self._begins = (np.cumsum(sizes) - sizes).astype(np.uint32)
        last = len(self) - 1
        places = np.minimum(self._begins[(high >> shift).view(np.int64)], last).astype(np.int64)
        waiting = np.flatnonzero(self._comes_before(places, high, low))
        while len(waiting):
            places[waiting] += 1
            waiting = waiting[places[waiting] <= last]
            waiting = waiting[self._comes_before(places[waiting], high[waiting], low[waiting])]
        if (places > last).any() or not ((self._high[places] == high) & (self._low[places] == low)).all():
            return None
        marks = np.zeros(len(self), np.bool_)
        marks[places] = True
        if np.count_nonzero(marks) < len(places):
            return None
        return places if self._plain else self._number[places].astype(np.int64)

    def _comes_before(self, places: NDArray[np.int64], high: First, low: Second) -> NDArray[np.bool_]:
        """Tell whether the name at each place comes before another one."""
        mine = self._high[places]
        before: NDArray[np.bool_] = mine < high
        same = np.flatnonzero(mine == high)
        before[same] = self._low[places[same]] < low[same]
        return before

    def _places(self, high: First, low: Second) -> NDArray[np.int64]:
        """Return how many names here come before each of some."""
        places = np.searchsorted(self._high, high)
        waiting = np.arange(len(high))
        while len(waiting):
            # Those who share their first part with somebody who comes before them: the next one.
            waiting = waiting[places[waiting] < len(self)]
            at = places[waiting]
            waiting = waiting[(self._high[at] == high[waiting]) & (self._low[at] < low[waiting])]
            places[waiting] += 1
        return places

    def _insert(self, places: NDArray[np.int64], high: First, low: Second, numbers: Second) -> None:
        """Put new names in their places among those that are here."""
        if len(self) + len(high) > MOST:
            raise InvalidInput("There are more people than accounts.", fix="begin another ledger for some")
        self._plain = not len(self)
        if len(self):
            at = places + np.arange(len(places))
            old = np.ones(len(self) + len(at), np.bool_)
            old[at] = False
            high = _merge_arrays(old, at, self._high, high)
            low = _merge_arrays(old, at, self._low, low)
            numbers = _merge_arrays(old, at, self._number, numbers)
        self._low, self._number, self._high = low, numbers, high
        self._begins = np.empty(0, np.uint32)


def _merge_arrays(old: NDArray[np.bool_], at: NDArray[np.int64], values: NDArray[T], more: NDArray[T]) -> NDArray[T]:
    """Return what is kept, where it is old, and more at its places."""
    merged = np.empty(len(old), values.dtype)
    merged[old], merged[at] = values, more
    return merged

"""Index of account names: each has one number for as long as the process runs.

Engines keep the numbers of a table's units, so a number that was given out may not change its meaning: not when a run
fails before its charges are stored, not when another process opened other accounts meanwhile, not when the ledger is
closed and opened again. So numbers are this process's own, one directory for each ledger, kept to the end; the numbers
in what is stored are others (`balances`). Names that come together get theirs in the order of the names: so
they are mostly the same.
"""

import threading
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput
from discreet.gate.accounts.account_names import FIRST, First, Second, order_of

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

"""Which number a name has in this process: found once, and the same for as long as it runs.

Engines keep the numbers of a table's units, so a number that was given out may not change its meaning: not when a run
fails before its charges are stored, not when another process opened other accounts meanwhile, not when the ledger is
closed and opened again. So numbers are this process's own, one directory for each ledger, kept to the end; the numbers
in what is stored are others (`personal_accounts`).
"""

import threading
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput
from discreet.data.contributions import Names

#: No more people than this: numbers are stored in four bytes.
MOST = 2**32 - 1


class Directory:
    """Names, sorted by their first half, and their numbers. Private."""

    _known: ClassVar[dict[str, "Directory"]] = {}
    _guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._high = np.zeros(0, np.uint64)
        self._low, self._number = np.zeros(0, np.uint32), np.zeros(0, np.uint32)

    @classmethod
    def of(cls, ledger: str) -> "Directory":
        """Return the directory of a ledger in this process."""
        with cls._guard:
            return cls._known.setdefault(ledger, cls())

    def __len__(self) -> int:
        return len(self._high)

    def __repr__(self) -> str:
        return "Directory(…)"

    def numbers(self, high: NDArray[np.uint64], low: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the numbers of names, which are all different; new ones get the next, in order."""
        with self._lock:
            found = self._found(high, low)
            new = np.flatnonzero(found < 0)
            if len(new):
                if len(self) + len(new) > MOST:
                    raise InvalidInput("There are more people than accounts.", fix="begin another ledger for some")
                numbers = np.arange(len(self), len(self) + len(new))
                self._insert(high[new], low[new], numbers.astype(np.uint32))
                found[new] = numbers
            return found

    def known(self, high: NDArray[np.uint64], low: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the numbers of names, −1 for those that have none."""
        with self._lock:
            return self._found(high, low)

    def names(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Return the names of some numbers."""
        with self._lock:
            place = np.zeros(len(self), np.int64)
            place[self._number] = np.arange(len(self))
            at = place[numbers]
            return self._high[at], self._low[at]

    def _found(self, high: NDArray[np.uint64], low: NDArray[np.uint32]) -> NDArray[np.int64]:
        if not len(self):
            return np.full(len(high), -1, np.int64)
        # Nearly in order, so that what one search looked at is still at hand for the next.
        order = _ordered(high, 32)
        sought, second = high[order], low[order]
        at = np.searchsorted(self._high, sought)
        numbers = np.full(len(high), -1, np.int64)
        waiting = np.arange(len(high))
        while len(waiting):
            place = at[waiting]
            inside = place < len(self)
            waiting, place = waiting[inside], place[inside]
            same = self._high[place] == sought[waiting]
            waiting, place = waiting[same], place[same]
            hit = self._low[place] == second[waiting]
            numbers[order[waiting[hit]]] = self._number[place[hit]]
            waiting = waiting[~hit]  # those who share their first half with somebody: the next one
            at[waiting] += 1
        return numbers

    def _insert(self, high: NDArray[np.uint64], low: NDArray[np.uint32], numbers: NDArray[np.uint32]) -> None:
        order = _ordered(high, 0)
        joined = np.concatenate([self._high, high[order]])
        # Two runs that are in order each: a stable sort only merges them.
        merged = np.argsort(joined, kind="stable")
        self._low = np.concatenate([self._low, low[order]])[merged]
        self._number = np.concatenate([self._number, numbers[order]])[merged]
        self._high = joined[merged]


def _ordered(high: NDArray[np.uint64], least: int) -> NDArray[np.int64]:
    """Return the order of first halves by their bits from `least` on: 16 at a time, which NumPy sorts by counting."""
    order = np.arange(len(high))
    for shift in range(least, 64, 16):
        digits = (high[order] >> np.uint64(shift)).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
    return order


def halves(names: Names) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return both parts of names, as they are stored."""
    return np.ascontiguousarray(names[:, 0]), names[:, 1].astype(np.uint32)

"""Whose rows stand where: the import is clustered, so that a unit's rows are neighbours, in the order of the source."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.row_hashes import Words

#: Rows that are fetched together, unless one unit has more.
FETCHED = 1 << 20


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Units:
    """The names of all units, and where the rows of each begin; one more beginning says where the last one ends."""

    names: Words
    begins: NDArray[np.int64]
    #: Their places among the units of a table, if they are some of these.
    places: NDArray[np.intp] | None = None

    def spans(self, rows: int) -> Iterator[tuple[int, int]]:
        """Split units into spans [first, last) of about so many rows."""
        first, count = 0, len(self.names)
        while first < count:
            last = int(np.searchsorted(self.begins, self.begins[first] + rows, side="right")) - 1
            last = min(max(last, first + 1), count)
            yield first, last
            first = last


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Placed:
    """Fetched rows, and the unit of each: an index among the units that have rows here."""

    #: Where the rows of each unit begin, and where the last one ends.
    begins: NDArray[np.intp]
    names: Words
    #: The places of these units among all, where it is said.
    places: slice | NDArray[np.intp] | None = None

    @property
    def units(self) -> int:
        """How many units have rows here."""
        return len(self.names)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.begins[-1])

    @property
    def counts(self) -> NDArray[np.intp]:
        """How many rows each unit has."""
        return np.diff(self.begins)


def place_rows(units: Units, first: int, last: int, rows: NDArray[np.int64]) -> Placed:
    """Return whose the rows of these numbers are; they are sorted, and those of units first to last."""
    begins = units.begins[first : last + 1]
    if len(rows) == begins[-1] - begins[0]:
        return Placed((begins - begins[0]).astype(np.intp, copy=False), units.names[first:last], slice(first, last))
    ends = np.searchsorted(rows, begins)
    present = np.flatnonzero(np.diff(ends))
    own = np.append(ends[present], len(rows)).astype(np.intp, copy=False)
    return Placed(own, units.names[first:last][present], first + present)

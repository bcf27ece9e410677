"""Bundles of units that came to this process, with which each unit is asked, and of which the answer is made.

A *bundle* is the rows of one unit that count in one group: how many they are, and what is folded of them. Guarantee:
the answer of those who stay is the one that the engine would give of their rows alone, and a unit is asked with all
that it would add to it. Proof: which rows of a unit count depends on its own rows and the salt
(`discreet.data.aggregates`), so the bundles of those who stay are the same without the others; sums of groups are sums
of bundles; and what is asked and what is added up are the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.limits import AnyLimit
from discreet.core.schema import Value
from discreet.data.bounded_answers import Sums
from discreet.data.bounded_asking import Asking
from discreet.data.contributions import Admission
from discreet.data.floats_above import EXACT, floats_above

#: What is below this is added up in 64 bits.
NARROW = 1 << 62


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bundles:
    """Bundles by their units' and groups' places. Private."""

    #: What tells units apart, by columns: each unit stands once.
    ids: tuple[Sequence[Value], ...]
    units: NDArray[np.intp]
    groups: NDArray[np.intp]
    #: Their rows, themselves (1), and what is folded of their rows.
    numbers: tuple[NDArray[np.int64], ...]

    def asked(self, asking: Asking, sums: Sequence[Sums], limit: AnyLimit, admission: Admission) -> "Bundles":
        """Ask each unit, and return the bundles of those who take part."""
        told = [numbers for one in sums for numbers in self._told(one, limit)]
        stay = ~asking.leaving(self.ids, told, admission)
        if stay.all():
            return self
        own = stay[self.units]
        return Bundles(self.ids, self.units[own], self.groups[own], tuple(each[own] for each in self.numbers))

    def _told(self, one: Sums, limit: AnyLimit) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return reach and square of each unit: over its groups, of the number that it adds to each."""
        most = one.most * limit.rows_per_group
        number = np.abs(sum(self.numbers[place] * factor for place, factor in one.terms))
        size, many = len(self.ids[0]), limit.groups
        reach = added(self.units, number, size, most * many)
        squares = number if most**2 < NARROW else number.astype(object)
        return floats_above(reach), floats_above(added(self.units, squares * squares, size, most**2 * many))

    def sums(self, size: int) -> tuple[NDArray[np.intp], list[NDArray[Any]]]:
        """Return those of so many groups that somebody has, and for each number its sum in each of these."""
        some = np.flatnonzero(np.bincount(self.groups, minlength=size))
        most = [int(np.abs(each).max(initial=0)) * len(each) for each in self.numbers]
        return some, [added(self.groups, each, size, top)[some] for each, top in zip(self.numbers, most, strict=True)]


def fits(sums: Sequence[Sums], limit: AnyLimit) -> bool:
    """Whether all numbers of bundles surely fit 64 bits, and those that are made of them."""
    # No more rows of a unit count in a group, and each adds no more to a term.
    return all(one.most * limit.rows_per_group * len(one.terms) < NARROW for one in sums)


def added(places: NDArray[np.intp], numbers: NDArray[Any], size: int, most: int) -> NDArray[Any]:
    """Return exact sums of whole numbers by their places; none of the sums is above `most` in magnitude."""
    if most < EXACT:
        return np.bincount(places, weights=numbers, minlength=size)
    sums = np.zeros(size, dtype=np.int64 if most < NARROW else object)
    np.add.at(sums, places, numbers.astype(sums.dtype))
    return sums

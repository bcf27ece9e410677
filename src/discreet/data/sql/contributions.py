"""Contributions of units on engines that compute in their own SQL: see `discreet.algebra.contributions`.

One statement has a row for each unit that has a row that counts: its id, and for each aggregate sums over its groups.
Rows stay where they are; what comes to this process is one row of sums a unit, and no group.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, People, Present, Rows, Total
from discreet.algebra.contributions import Admission, Contribution, names_by_columns
from discreet.core.limits import AnyLimit
from discreet.core.schema import Value
from discreet.data.engine_rules import engine_failed
from discreet.data.sql.answers import Layout, Sums
from discreet.data.sql.dialect import Typed
from discreet.data.sql.requirements import Needs
from discreet.data.sql.rows import PassedRows
from discreet.data.sql.statement import StatementWriter

# Exact integers as float64, never below what they were: what a contribution is told in.

#: float64 holds all integers up to this.
EXACT = 1 << 53


def floats_above(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each number the least float64 that is not below it.

    They are whole and not negative: integers below 2⁶², Python's own of any size, or float64 already.
    """
    if numbers.dtype.kind == "O":
        return np.array([_above(int(number)) for number in numbers.tolist()], dtype=np.float64)
    nearest = numbers.astype(np.float64)
    if numbers.dtype.kind == "f" or numbers.max(initial=0) <= EXACT:
        return nearest
    return np.where(nearest.astype(np.int64) < numbers, np.nextafter(nearest, np.inf), nearest)


def _above(number: int) -> float:
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if int(nearest) >= number else math.nextafter(nearest, math.inf)


#: A unit adds one number in each group to these.
OF_NUMBERS = (Rows, People, Present, Total)

#: The id of a unit: its person, and its window.
Unit = tuple[Value, ...]

#: Writes reach and square, over the bundles of a unit, of a number that is made of terms: each a column times a factor.
Added = Callable[[Sums, Sequence[tuple[str, int]]], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ContributionStatement:
    """A statement about units, and how its rows are read."""

    text: str
    #: The columns that identify units.
    units: tuple[Typed, ...]
    #: For each aggregate, whether units add numbers to it.
    of_numbers: tuple[bool, ...]

    def leavers(self, rows: Sequence[Sequence[Any]], admission: Admission) -> list[Unit]:
        """Ask each unit, and return those who do not take part."""
        if not rows:
            return []
        width = len(self.units)
        units: list[Unit] = [tuple(row[:width]) for row in rows]
        sums = [whole_above(row[place] for row in rows) for place in range(width, len(rows[0]))]
        ids = list(zip(*units, strict=True))
        return [units[place] for place in np.flatnonzero(self.leaving(ids, sums, admission))]

    def leaving(
        self, ids: Sequence[Sequence[Value]], sums: Sequence[NDArray[np.float64]], admission: Admission
    ) -> NDArray[np.bool_]:
        """Ask each unit, and return whether it does not take part; ids are given by columns, and so is what is told."""
        names = names_by_columns(admission.key, ids)
        columns = iter(sums)
        contributions = tuple(
            Contribution(next(columns), next(columns)) if adds_numbers else None for adds_numbers in self.of_numbers
        )
        admitted = admission.admit(admission.accounts(names), contributions)
        if admitted.shape != (len(names),) or admitted.dtype != np.bool_:
            raise engine_failed()
        return ~admitted


def whole_above(numbers: Iterable[Any]) -> NDArray[np.float64]:
    """Return whole numbers, as engines tell them, as floats that are not below them."""
    return floats_above(np.array([int(number) for number in numbers], dtype=object))


def contribution_sql(
    aggregation: Aggregation, rows: PassedRows, writing: Callable[..., StatementWriter], added: Added
) -> ContributionStatement:
    """Return the statement that tells what each unit of some rows adds."""
    of_numbers = tuple(isinstance(aggregate, OF_NUMBERS) for aggregate in aggregation.aggregates)
    summed = tuple(aggregate for aggregate, numbers in zip(aggregation.aggregates, of_numbers, strict=True) if numbers)
    needs = Needs(rows)
    readings = [needs.read(aggregate) for aggregate in summed]
    columns = ["n", "1", *needs.folds.values()]
    sums: list[str] = []
    for reading in readings:
        if not isinstance(reading, Sums):
            raise engine_failed()
        sums += added(reading, [(f"coalesce({columns[place]}, 0)", factor) for place, factor in reading.terms])
    written = writing(replace(aggregation, aggregates=summed), needs, grouped=True, asking=True)
    return ContributionStatement(written.asking(sums), rows.units, of_numbers)


# Bundles of units that came to this process, with which each unit is asked, and of which the answer is made.
#
# A *bundle* is the rows of one unit that count in one group: how many they are, and what is folded of them. Guarantee:
# the answer of those who stay is the one that the engine would give of their rows alone, and a unit is asked with all
# that it would add to it. Proof: which rows of a unit count depends on its own rows and the salt
# (`discreet.algebra.aggregates`), so the bundles of those who stay are the same without the others; sums of groups are
# sums of bundles; and what is asked and what is added up are the same numbers.

#: Numbers below this are added up in 64 bits.
NARROW = 1 << 62


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bundles:
    """Bundles by their units' and groups' places. Private."""

    #: The ids of units, by columns: each unit stands once.
    ids: tuple[Sequence[Value], ...]
    units: NDArray[np.intp]
    groups: NDArray[np.intp]
    #: Their rows, themselves (1), and what is folded of their rows.
    numbers: tuple[NDArray[np.int64], ...]

    def select_admitted(
        self, asking: ContributionStatement, sums: Sequence[Sums], limit: AnyLimit, admission: Admission
    ) -> "Bundles":
        """Ask each unit, and return the bundles of those who take part."""
        contributions = [numbers for reading in sums for numbers in self._sum_by_unit(reading, limit)]
        stay = ~asking.leaving(self.ids, contributions, admission)
        if stay.all():
            return self
        own = stay[self.units]
        return Bundles(self.ids, self.units[own], self.groups[own], tuple(numbers[own] for numbers in self.numbers))

    def _sum_by_unit(self, reading: Sums, limit: AnyLimit) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return reach and square of each unit: over its groups, of the number that it adds to each."""
        most = reading.most * limit.rows_per_group
        number = np.abs(sum(self.numbers[place] * factor for place, factor in reading.terms))
        size, many = len(self.ids[0]), limit.groups
        reach = sum_by_place(self.units, number, size, most * many)
        squares = number if most**2 < NARROW else number.astype(object)
        return floats_above(reach), floats_above(sum_by_place(self.units, squares * squares, size, most**2 * many))

    def sums(self, size: int) -> tuple[NDArray[np.intp], list[NDArray[Any]]]:
        """Return those of so many groups that some unit has, and for each number its sum in each of these."""
        occupied = np.flatnonzero(np.bincount(self.groups, minlength=size))
        most = [int(np.abs(numbers).max(initial=0)) * len(numbers) for numbers in self.numbers]
        return occupied, [
            sum_by_place(self.groups, numbers, size, top)[occupied]
            for numbers, top in zip(self.numbers, most, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class BundleStatement:
    """A statement about bundles, whom its rows ask, and how their sums are read. Public."""

    asking: ContributionStatement
    layout: Layout
    sums: tuple[Sums, ...]
    limit: AnyLimit

    @property
    def text(self) -> str:
        """The statement."""
        return self.asking.text

    def select_admitted(self, bundles: Bundles, admission: Admission) -> Bundles:
        """Ask each unit, and return the bundles of those who take part."""
        return bundles.select_admitted(self.asking, self.sums, self.limit, admission)


def statement_of(
    aggregation: Aggregation, rows: PassedRows, writing: Callable[[Needs, Sequence[Sums]], str | None]
) -> BundleStatement | None:
    """Return the statement that an engine writes about bundles of some rows.

    None if something else than numbers is asked, or numbers too wide for 64 bits, or if the engine writes none.
    """
    aggregates, limit = aggregation.aggregates, aggregation.limit
    if not aggregates or not all(isinstance(aggregate, OF_NUMBERS) for aggregate in aggregates):
        return None
    needs = Needs(rows)
    readings = tuple(needs.read(aggregate) for aggregate in aggregates)
    sums = tuple(reading for reading in readings if isinstance(reading, Sums))
    text = writing(needs, sums) if fits(sums, limit) else None
    if text is None:
        return None
    layout = Layout(rows.keys, aggregation.public, grouped=True, readings=readings)
    return BundleStatement(ContributionStatement(text, rows.units, (True,) * len(sums)), layout, sums, limit)


def fits(sums: Sequence[Sums], limit: AnyLimit) -> bool:
    """Whether all numbers of bundles surely fit 64 bits, and those that are made of them."""
    # No more rows of a unit count in a group, and each adds no more to a term.
    return all(reading.most * limit.rows_per_group * len(reading.terms) < NARROW for reading in sums)


def sum_by_place(places: NDArray[np.intp], numbers: NDArray[Any], size: int, most: int) -> NDArray[Any]:
    """Return exact sums of whole numbers by their places; none of the sums is above `most` in magnitude."""
    if most < EXACT:
        return np.bincount(places, weights=numbers, minlength=size)
    sums = np.zeros(size, dtype=np.int64 if most < NARROW else object)
    np.add.at(sums, places, numbers.astype(sums.dtype))
    return sums

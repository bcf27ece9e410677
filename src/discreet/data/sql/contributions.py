"""Contributions of units on engines that compute in their own SQL: see `discreet.algebra.contributions`.

One statement has a row for each unit that has a row that counts: its id, and for each aggregate sums over its groups.
Rows stay where they are; what comes to this process is one row of sums a unit, and no group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.account_names import names_by_columns
from discreet.algebra.aggregates import Aggregation, People, Present, Rows, Total
from discreet.algebra.contributions import Admission, Contribution
from discreet.core.schema import Value
from discreet.data.failures import engine_failed
from discreet.data.sql.answers import Sums
from discreet.data.sql.dialect import Typed
from discreet.data.sql.floats_above import floats_above
from discreet.data.sql.requirements import Needs
from discreet.data.sql.rows import PassedRows
from discreet.data.sql.statement import StatementWriter

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
    #: What tells units apart.
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

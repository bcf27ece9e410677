"""What each unit adds, as the engines that compute in their own SQL tell it: `discreet.data.contributions`.

One statement has a row for each unit that has a row that counts: its id, and for each aggregate sums over its groups.
Rows stay where they are; what comes to this process is one row of sums a unit, and no group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.core.schema import Value
from discreet.data.account_names import name_text, names_of
from discreet.data.aggregates import Aggregation, People, Present, Rows, Total
from discreet.data.bounded_answers import Sums
from discreet.data.bounded_dialect import BoundedDialect
from discreet.data.bounded_needs import Needs
from discreet.data.bounded_rows import passed_rows
from discreet.data.bounded_sql import Writing
from discreet.data.contributions import Admission, Contribution
from discreet.data.dialects import Typed
from discreet.data.errors import engine_failed
from discreet.data.floats_above import floats_above

#: A unit adds one number in each group to these.
OF_NUMBERS = (Rows, People, Present, Total)

#: The id of a unit: its person, and its window.
Unit = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Asking:
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
        names = names_of([name_text(admission.key, unit) for unit in units])
        admitted = admission.admit(admission.accounts(names), self._contributions(rows, width))
        if admitted.shape != (len(units),) or admitted.dtype != np.bool_:
            raise engine_failed()
        return [units[place] for place in np.flatnonzero(~admitted)]

    def _contributions(self, rows: Sequence[Sequence[Any]], width: int) -> tuple[Contribution | None, ...]:
        told: list[Contribution | None] = []
        place = width
        for one in self.of_numbers:
            told.append(Contribution(_column(rows, place), _column(rows, place + 1)) if one else None)
            place += 2 * one
        return tuple(told)


def _column(rows: Iterable[Sequence[Any]], place: int) -> Any:
    return floats_above(np.array([int(row[place]) for row in rows], dtype=object))


def asking_sql(
    aggregation: Aggregation,
    table: str,
    dialect: BoundedDialect,
    writing: Callable[..., Writing],
    *,
    wide: str,
    look_up: bool,
) -> Asking:
    """Return the statement that tells what each unit adds; `wide` is the type of exact numbers of any size."""
    of_numbers = tuple(isinstance(aggregate, OF_NUMBERS) for aggregate in aggregation.aggregates)
    some = tuple(one for one, numbers in zip(aggregation.aggregates, of_numbers, strict=True) if numbers)
    needs = Needs(passed_rows(aggregation, table, dialect, look_up=look_up))
    readings = [needs.read(aggregate) for aggregate in some]
    forms = []
    for reading in readings:
        if not isinstance(reading, Sums):
            raise engine_failed()
        number = _number(reading, needs, wide)
        forms.append((f"abs({number})", f"({number}) * ({number})"))
    written = writing(replace(aggregation, aggregates=some), needs, grouped=True, asking=True)
    return Asking(written.asking(forms), needs.rows.units, of_numbers)


def _number(reading: Sums, needs: Needs, wide: str) -> str:
    """Return what a unit adds in a group, from the columns of its bundle there: rows, one person, and folds."""
    columns = ["n", "1", *needs.folds.values()]
    terms = [f"CAST(coalesce({columns[place]}, 0) AS {wide}) * ({factor})" for place, factor in reading.terms]
    return " + ".join(terms)

"""Contributions of units on DuckDB, and the rows of those who take part: see `discreet.algebra.contributions`.

The contribution of a unit in a group is the tally of the aggregate over its own rows: so the tallies themselves are
asked, each pair of a unit and a group being a group of its own.

Units that are left out are taken out of the results so far, and nothing is computed again. Guarantee: the counts are
those that would result if the others had no rows. Proof: which rows of a unit count is decided by its own rows and the
salt (`discreet.data.duckdb.bounding`), and a row alone decides its group, its value and its grid point. So the rows
that count of those who stay, with all that, are those of all units without the others', in the same order; and so are
the pairs of units and groups that have such a row. Aggregates of groups are functions of these. Other aggregates look
at all rows of a unit and at its loads: for these, whole units are taken out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregate, Distinct, Frequencies, Histogram, People, Present, Rows, Total
from discreet.algebra.contributions import Admission, Contribution
from discreet.data.duckdb.accumulators import CountTally, Tally, TotalTally
from discreet.data.duckdb.batch import EXACT, NARROW, RowBatch, Selected
from discreet.data.duckdb.bounding import NONE, BoundedRows, Pairs
from discreet.data.duckdb.connection import Holdings, ReadCursor
from discreet.data.duckdb.relations import AggregationInput
from discreet.data.engine_rules import engine_failed
from discreet.data.sql.contributions import floats_above

#: A unit adds one number in each group to these.
OF_NUMBERS = (Rows, Present, Total)
#: Rows that count decide these, and nothing else.
OF_COUNTED = (*OF_NUMBERS, People, Distinct, Frequencies, Histogram)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class UnitAdmission:
    """The admission that decides, and the account of each unit whose rows are asked about."""

    admission: Admission
    accounts: NDArray[np.int64]

    def among(self, batch: RowBatch, aggregates: Sequence[Aggregate], tallies: Sequence[Tally]) -> RowBatch:
        """Return a batch in which only those are who take part. Each unit is asked once, as it is whole in a batch."""
        if batch.placed is None or batch.placed.places is None:
            raise engine_failed()
        accounts = self.accounts[batch.placed.places]
        admitted = self.admission.admit(accounts, contributions(batch, aggregates, tallies))
        if admitted.shape != accounts.shape or admitted.dtype != np.bool_:
            raise engine_failed()  # numbers would be taken for places
        return select_admitted(
            batch, admitted, whole=not all(isinstance(aggregate, OF_COUNTED) for aggregate in aggregates)
        )


def build_admission(
    prepared: AggregationInput, holdings: Holdings, cursor: ReadCursor, admission: Admission
) -> UnitAdmission:
    """Return the admission that is asked about rows, with the accounts of all their units."""
    if prepared.owners is None or prepared.holding.units is None:
        raise engine_failed()
    accounts = holdings.numbers.of(prepared.owners, admission, cursor)
    places = prepared.holding.units.places
    return UnitAdmission(admission, accounts if places is None else accounts[places])


# --- who stays ---


def select_admitted(batch: RowBatch, admitted: NDArray[np.bool_], *, whole: bool) -> RowBatch:
    """Return a batch of those who were admitted; `whole`: rows that do not count, or loads, are looked at."""
    bounded, pairs = _pairs(batch)
    if admitted.all():
        return replace(batch, memory=_count_pairs(bounded.people, pairs.lengths, batch.size))
    own = admitted[pairs.units]
    # Marks, and not places: a unit that stays is mostly one of many in a row, and these are copied at once.
    stay = own.repeat(pairs.lengths)
    people, lengths = bounded.people[own], pairs.lengths[own]
    if whole:
        left = batch.among(admitted)
    else:
        counted = np.flatnonzero(stay) if bounded.rows is None else bounded.rows[stay]
        left = replace(batch, bounded=BoundedRows(counted, people, NONE, NONE, 0))
    return replace(left, memory=_count_pairs(people, lengths, batch.size), shared=_select_shared(batch, stay))


def _count_pairs(people: NDArray[np.intp], lengths: NDArray[np.intp], size: int) -> dict[object, Any]:
    """Return the groups of rows that count, and how many there are of each (`RowBatch.memory`): from their pairs."""
    rows = np.bincount(people, weights=lengths, minlength=size).astype(np.int64)
    return {"codes": people.repeat(lengths), "rows": rows}


def _select_shared(batch: RowBatch, stay: NDArray[np.bool_]) -> dict[object, Any]:
    """Return the known values of rows that count and stay: by columns, and grid points (`RowBatch.shared`)."""
    kept: dict[object, Any] = {}
    for key, known in batch.shared.items():
        if isinstance(key, int):
            valid, data = known
            kept[key] = None if valid is None else valid[stay], data[_select_valid(stay, valid)]
        elif isinstance(key, tuple) and isinstance(key[0], Selected):
            kept[key] = known[_select_valid(stay, batch.shared[key[0].index][0])]
    return kept


def _select_valid(stay: NDArray[np.bool_], valid: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which of the rows that have a value stay: others have no place among the values."""
    return stay if valid is None else stay[valid]


def _pairs(batch: RowBatch) -> tuple[BoundedRows, Pairs]:
    if batch.bounded is None or batch.bounded.pairs is None:
        raise engine_failed()
    return batch.bounded, batch.bounded.pairs


# --- what they add ---


def contributions(
    batch: RowBatch, aggregates: Sequence[Aggregate], tallies: Sequence[Tally]
) -> tuple[Contribution | None, ...]:
    """Return the contributions of a batch's units to each aggregate, exactly, rounded up; None if not one number."""
    _, pairs = _pairs(batch)
    if batch.placed is None:
        raise engine_failed()
    groups = np.bincount(pairs.units, minlength=batch.placed.units)
    if not groups.all():
        raise engine_failed()  # some unit would not be asked
    by_pairs = batch.by_pairs(pairs)
    return tuple(
        _contribution(aggregate, tally, by_pairs, pairs, groups)
        for aggregate, tally in zip(aggregates, tallies, strict=True)
    )


def _contribution(
    aggregate: Aggregate, tally: Tally, batch: RowBatch, pairs: Pairs, groups: NDArray[Any]
) -> Contribution | None:
    if isinstance(aggregate, People):
        counts = groups.astype(np.float64)
        return Contribution(counts, counts)
    if not isinstance(aggregate, OF_NUMBERS) or not isinstance(tally, CountTally | TotalTally):
        return None
    own = tally.of_others(batch.size, batch.rows)
    own.add(batch)
    sizes = np.abs(own.answer(None))
    most, many = int(sizes.max()), int(groups.max())
    sizes = sizes.astype(_exact_type(most**2 * many), copy=False)
    reach = _sum_by_unit(pairs.units, sizes, len(groups))
    square = _sum_by_unit(pairs.units, sizes * sizes, len(groups))
    return Contribution(floats_above(reach), floats_above(square))


def _exact_type(most: int) -> type:
    """Return the type that holds whole numbers up to this exactly."""
    return np.float64 if most < EXACT else np.int64 if most < NARROW else object


def _sum_by_unit(units: NDArray[np.intp], numbers: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the sum of each unit's numbers, in their type, which holds it. Every unit has one."""
    if numbers.dtype == np.float64:
        return np.bincount(units, weights=numbers, minlength=size)
    order = np.argsort(units, kind="stable")
    begins = np.searchsorted(units[order], np.arange(size))
    return np.asarray(np.add.reduceat(numbers[order], begins))

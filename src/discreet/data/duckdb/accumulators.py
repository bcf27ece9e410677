"""One tally for each aggregate: adds up batches of rows, exactly."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import (
    LEAST_POWER,
    MOST_POWER,
    Aggregate,
    Distinct,
    Extremes,
    Frequencies,
    Histogram,
    Load,
    People,
    PeopleAggregate,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import Expression
from discreet.core.exact import nearest_float
from discreet.data.duckdb.batch import (
    NARROW,
    RowBatch,
    Selected,
    SelectStatement,
    clamp_numbers,
    count_by,
    numbers,
    squares_by,
    sum_by,
)

#: No table has more rows.
MOST_ROWS = 1 << 36
#: Powers of two that are edges of cells.
POWERS = np.ldexp(1.0, np.arange(LEAST_POWER, MOST_POWER + 1))

Ints = NDArray[np.int64]


class Tally(Protocol):
    """Adds up one aggregate."""

    def add(self, batch: RowBatch, /) -> None:
        """Count in a batch."""
        ...

    def answer(self, codes: NDArray[np.intp] | None, /) -> NDArray[Any]:
        """Return the answer for these groups; None: all."""
        ...


def tally_of(
    aggregate: Aggregate, statement: SelectStatement, size: int, number_of: Callable[[Expression], Selected]
) -> Tally:
    """Return the tally of an aggregate, and select what it needs; `number_of` selects values that are told apart."""
    match aggregate:
        case Rows():
            return CountTally(size, lambda batch: batch.row_counts())
        case People():
            return CountTally(size, _people)
        case Present(value=value):
            present = statement.presence(value)
            return CountTally(size, lambda batch: _present(batch, present))
        case Distinct(value=value):
            return DistinctTally(size, number_of(value))
        case Total(value=value):
            return TotalTally(aggregate, statement.number(value), size)
        case Frequencies() | Histogram():
            return CellTally(aggregate, statement.number(aggregate.value), size)
        case _:
            return _tally_of_people(aggregate, statement)


def _tally_of_people(aggregate: PeopleAggregate, statement: SelectStatement) -> Tally:
    match aggregate:
        case PeopleBy():
            return CountTally(aggregate.most, lambda batch: _loads(batch, aggregate), by_group=False)
        case PeopleWhere(condition=condition):
            truth = statement.truth(condition)
            return CountTally(1, lambda batch: _people_where(batch, truth), by_group=False)
        case PeopleCut():
            return CountTally(1, _cut, by_group=False)
        case Extremes(value=value):
            selected = statement.number(value)
            return CountTally(aggregate.cells, lambda batch: _extremes(batch, selected, aggregate), by_group=False)


class CountTally:
    """Counts that are one array a batch."""

    def __init__(self, size: int, count: Callable[[RowBatch], Ints], *, by_group: bool = True) -> None:
        self._counts = np.zeros(size, dtype=np.int64)
        self._count = count
        self._by_group = by_group

    def add(self, batch: RowBatch, /) -> None:
        """Count in a batch."""
        self._counts += self._count(batch)

    def of_others(self, size: int, _rows: int, /) -> "CountTally":
        """Return an empty tally of the same for other groups."""
        return CountTally(size, self._count)

    def answer(self, codes: NDArray[np.intp] | None, /) -> NDArray[Any]:
        """Return the counts."""
        return self._counts if codes is None or not self._by_group else self._counts[codes]


def _people(batch: RowBatch) -> Ints:
    if batch.bounded is None:
        return batch.row_counts()
    return count_by(batch.bounded.people, batch.size)


def _present(batch: RowBatch, present: Selected) -> Ints:
    if batch.columns[present.index].valid is None:
        return batch.row_counts()
    return count_by(batch.values(Selected(present.index))[0], batch.size)


def _loads(batch: RowBatch, aggregate: PeopleBy) -> Ints:
    if batch.bounded is None or batch.placed is None:
        loads = np.ones(batch.rows, dtype=np.intp)
    else:
        match aggregate.load:
            case Load.GROUPS:
                loads = batch.bounded.groups
            case Load.ROWS_PER_GROUP:
                loads = batch.bounded.fullest
            case Load.ROWS:
                loads = batch.placed.counts
    return count_by(np.minimum(loads, aggregate.most) - 1, aggregate.most)


def _people_where(batch: RowBatch, truth: int) -> Ints:
    column = batch.columns[truth].data.astype(bool, copy=False)
    if batch.placed is not None and batch.placed.units:
        column = np.logical_or.reduceat(column, batch.placed.begins[:-1])
    return np.array([np.count_nonzero(column)])


def _cut(batch: RowBatch) -> Ints:
    return np.array([0 if batch.bounded is None else batch.bounded.cut])


def _extremes(batch: RowBatch, selected: Selected, aggregate: Extremes) -> Ints:
    column = batch.columns[selected.index]
    values = numbers(clamp_numbers(column.data, selected.clamp), aggregate.value.kind).astype(np.float64)
    values = values if aggregate.upper else -values
    if column.valid is not None:
        values = np.where(column.valid, values, -np.inf)
    if batch.placed is not None and batch.placed.units:
        values = np.maximum.reduceat(values, batch.placed.begins[:-1])
    values = values[values > -np.inf]
    values = values if aggregate.upper else -values
    steps = np.searchsorted(POWERS, np.abs(values), side="left")
    return count_by(len(POWERS) + np.where(values > 0, steps, -steps), aggregate.cells)


class TotalTally:
    """Sums of grid points."""

    def __init__(self, total: Total, selected: Selected, size: int, rows: int = MOST_ROWS) -> None:
        self._total = total
        self._selected = selected
        most = max(total.most, total.bounds.radius**2 if total.squared else 0)
        # Public, so that the type of an answer does not depend on how many rows there are.
        self._narrow = most * rows < NARROW
        self._sums = np.zeros(size, dtype=np.int64 if self._narrow else object)

    def of_others(self, size: int, rows: int, /) -> "TotalTally":
        """Return an empty tally of the same for other groups, of at most so many rows."""
        return TotalTally(self._total, self._selected, size, rows)

    def add(self, batch: RowBatch, /) -> None:
        """Add up a batch."""
        total, bounds = self._total, self._total.bounds
        codes, points = batch.points(self._selected, total.value.kind, bounds)
        size = len(self._sums)
        if total.centred or total.squared:
            points = points - bounds.centre
        if total.squared:
            sums = squares_by(codes, points, bounds.radius, size)
            present = batch.row_counts() if len(codes) == len(batch.row_codes()) else count_by(codes, size)
            share = bounds.radius**2 // 2
            sums = sums - (present if self._narrow else present.astype(object)) * share
        else:
            sums = sum_by(codes, points, total.most, size)
        self._sums = self._sums + (sums if self._narrow else sums.astype(object))

    def answer(self, codes: NDArray[np.intp] | None, /) -> NDArray[Any]:
        """Return the totals."""
        return self._sums if codes is None else self._sums[codes]


class CellTally:
    """Counts of cells in each group."""

    def __init__(self, aggregate: Frequencies | Histogram, selected: Selected, size: int) -> None:
        self._aggregate = aggregate
        self._selected = selected
        #: The place of the counts of each group; −1: it has none yet. Only groups that count take memory.
        self._places = np.full(size, -1, dtype=np.intp)
        self._counts = np.zeros((0, aggregate.cells), dtype=np.int64)
        self._used = 0

    def add(self, batch: RowBatch, /) -> None:
        """Count in a batch."""
        match self._aggregate:
            case Frequencies(value=value, bounds=bounds, span=span):
                codes, points = batch.points(self._selected, value.kind, bounds)
                cells = (points.astype(np.int64) - bounds.low_steps) // span
            case Histogram(value=value, edges=edges):
                codes, data = batch.values(self._selected)
                codes, cells = _between(codes, numbers(data, value.kind), [nearest_float(edge) for edge in edges])
        self._make_room(np.unique(codes[self._places[codes] < 0]))
        width = self._aggregate.cells
        counts = count_by(self._places[codes] * width + cells, self._used * width)
        self._counts[: self._used] += counts.reshape(self._used, width)

    def _make_room(self, new: NDArray[np.intp]) -> None:
        """Give groups that are new a place."""
        self._places[new] = np.arange(self._used, self._used + len(new))
        self._used += len(new)
        if self._used > len(self._counts):
            room = np.zeros((min(2 * self._used, len(self._places)), self._aggregate.cells), dtype=np.int64)
            room[: len(self._counts)] = self._counts
            self._counts = room

    def answer(self, codes: NDArray[np.intp] | None, /) -> NDArray[Any]:
        """Return one row of counts for each group."""
        places = self._places if codes is None else self._places[codes]
        counts = np.zeros((len(places), self._aggregate.cells), dtype=np.int64)
        counts[places >= 0] = self._counts[places[places >= 0]]
        return counts


def _between(codes: NDArray[np.intp], data: NDArray[Any], edges: list[float]) -> tuple[NDArray[np.intp], Ints]:
    """Return the cells between edges of what lies between them, and its groups."""
    values = data.astype(np.float64, copy=False)
    cells = np.searchsorted(np.array(edges), values, side="right") - 1
    cells[values == edges[-1]] = len(edges) - 2
    inside = (cells >= 0) & (cells < len(edges) - 1)
    return codes[inside], cells[inside]


class DistinctTally:
    """The number of different values in each group."""

    def __init__(self, size: int, selected: Selected) -> None:
        self._size = size
        self._selected = selected
        self._codes = np.zeros(0, dtype=np.intp)
        self._values = np.zeros(0, dtype=np.int64)

    def add(self, batch: RowBatch, /) -> None:
        """Remember the values of a batch, each once a group."""
        codes, data = batch.values(self._selected)
        if data.dtype.kind == "f":
            data = (data + 0.0).view(np.int64)  # −0 is 0; apart from that, equal floats have equal bits
        codes, values = np.append(self._codes, codes), np.append(self._values, data.astype(np.int64, copy=False))
        order = np.lexsort((values, codes))
        codes, values = codes[order], values[order]
        new = np.ones(len(codes), dtype=bool)
        new[1:] = (codes[1:] != codes[:-1]) | (values[1:] != values[:-1])
        self._codes, self._values = codes[new], values[new]

    def answer(self, codes: NDArray[np.intp] | None, /) -> NDArray[Any]:
        """Return the counts."""
        counts = count_by(self._codes, self._size)
        return counts if codes is None else counts[codes]

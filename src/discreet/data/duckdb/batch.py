"""Fetched rows with what counts of them: what tallies add up."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.duckdb.bounding import BoundedRows, Pairs
from discreet.data.duckdb.select import Clamp, Fetched, Selected
from discreet.data.duckdb.unit_index import Placed
from discreet.data.exact_sums import count_by
from discreet.data.failures import engine_failed
from discreet.data.sql.values import DAY

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RowBatch:
    """Some units' rows that passed the condition and the keys. `placed` is None where rows are units."""

    columns: list[Fetched]
    codes: Ints | None
    placed: Placed | None
    bounded: BoundedRows | None
    size: int
    rows: int
    #: What several tallies need, computed once; and of that, what does not depend on groups.
    memory: dict[object, Any] = field(default_factory=dict)
    shared: dict[object, Any] = field(default_factory=dict)

    def find_counted(self) -> Ints | None:
        """Return which rows count; None: all."""
        return None if self.bounded is None else self.bounded.rows

    def row_codes(self) -> Ints:
        """Return the groups of the rows that count."""
        if "codes" not in self.memory:
            codes = np.zeros(self.rows, dtype=np.intp) if self.codes is None else self.codes
            rows = self.find_counted()
            self.memory["codes"] = codes if rows is None else codes[rows]
        return self.memory["codes"]  # type: ignore[no-any-return]

    def row_counts(self) -> NDArray[np.int64]:
        """Return how many rows count in each group."""
        if "rows" not in self.memory:
            self.memory["rows"] = count_by(self.row_codes(), self.size)
        return self.memory["rows"]  # type: ignore[no-any-return]

    def values(self, selected: Selected) -> tuple[Ints, NDArray[Any]]:
        """Return the values of rows that count, and their groups; rows without a value are left out."""
        if selected.index not in self.shared:
            self.shared[selected.index] = self._values(self.columns[selected.index])
        valid, data = self.shared[selected.index]
        return self._codes_where(selected.index, valid), clamp_numbers(data, selected.clamp)

    def _values(self, column: Fetched) -> tuple[NDArray[np.bool_] | None, NDArray[Any]]:
        """Return which rows that count have a value (None: all), and the values."""
        rows = self.find_counted()
        data = column.data if rows is None else column.data[rows]
        if column.valid is None:
            return None, data
        valid = column.valid if rows is None else column.valid[rows]
        return valid, data[valid]

    def _codes_where(self, index: int, valid: NDArray[np.bool_] | None) -> Ints:
        """Return the groups of rows that count and have a value in a column."""
        if valid is None:
            return self.row_codes()
        if index not in self.memory:
            self.memory[index] = self.row_codes()[valid]
        return self.memory[index]  # type: ignore[no-any-return]

    def points(self, selected: Selected, kind: Kind, bounds: Bounds) -> tuple[Ints, NDArray[Any]]:
        """Return the grid points of rows that count and have a value, and their groups."""
        key = (selected, bounds)
        # A clamp to the same bounds would be repeated by the grid.
        codes, data = self.values(Selected(selected.index, _find_clamp(selected.clamp, bounds)))
        if key not in self.shared:
            self.shared[key] = grid_points(numbers(data, kind), kind, bounds)
        return codes, self.shared[key]

    def by_pairs(self, pairs: Pairs) -> "RowBatch":
        """Return the same rows, each pair of a unit and one of its groups a group of its own."""
        codes = np.arange(len(pairs.units)).repeat(pairs.lengths)
        return replace(self, size=len(pairs.units), memory={"codes": codes, "rows": pairs.lengths})

    def among(self, admitted: NDArray[np.bool_]) -> "RowBatch":
        """Return a batch in which no other units are: not their rows, and not their loads."""
        placed, bounded = self.placed, self.bounded
        if placed is None or bounded is None or bounded.pairs is None:
            raise engine_failed()
        stays = admitted.repeat(placed.counts)
        rows = np.flatnonzero(stays)
        return RowBatch(
            [column.at(rows) for column in self.columns],
            None if self.codes is None else self.codes[rows],
            Placed(np.append(0, np.cumsum(placed.counts[admitted])), placed.names[admitted]),
            bounded.among(admitted, stays, placed.counts),
            self.size,
            len(rows),
        )


def _find_clamp(clamp: Clamp, bounds: Bounds) -> Clamp:
    if clamp is None or (clamp[0] == nearest_float(bounds.low) and clamp[1] == nearest_float(bounds.high)):
        return None
    return clamp


def clamp_numbers(data: NDArray[Any], clamp: Clamp) -> NDArray[Any]:
    """Return numbers within bounds that are of their own kind."""
    return data if clamp is None else np.clip(data, *clamp)


def numbers(data: NDArray[Any], kind: Kind) -> NDArray[Any]:
    """Return values as what they count as: moments as days."""
    return np.asarray(data / float(DAY)) if kind is Kind.TIMESTAMP else data


def grid_points(data: NDArray[Any], kind: Kind, bounds: Bounds) -> NDArray[Any]:
    """Return the grid points of numbers, as whole float64 numbers or integers."""
    if kind in (Kind.INTEGER, Kind.DATE) and bounds.step == 1:
        return np.asarray(np.clip(data, bounds.low_steps, bounds.high_steps))
    points = np.clip(data.astype(np.float64, copy=False), nearest_float(bounds.low), nearest_float(bounds.high))
    points *= nearest_float(1 / bounds.step)
    points += 0.5
    np.floor(points, out=points)
    return np.clip(points, float(bounds.low_steps), float(bounds.high_steps), out=points)

"""Batches of fetched rows: the statement that selects them, what counts of them, and exact sums by group."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.duckdb.bounding import BoundedRows, Pairs
from discreet.data.duckdb.clustering import Placed
from discreet.data.duckdb.expressions import Scope, as_kind, compile_sql, raw_column
from discreet.data.engine_rules import engine_failed
from discreet.data.sql.dialect import DAY, ends

# Exact sums of integers by group, with float64 as the adder only where it cannot round.

#: float64 adds integers exactly below this.
EXACT = 1 << 53
#: int64 holds totals below this.
NARROW = 1 << 62
#: Squares of magnitudes below this fit into int64.
ROOT = 1 << 31
#: Larger magnitudes are squared by halves of so many bits.
HALF = 27


def count_by(codes: NDArray[np.intp], size: int) -> NDArray[np.int64]:
    """Return how often each code occurs."""
    return np.bincount(codes, minlength=size).astype(np.int64, copy=False)


def sum_by(codes: NDArray[np.intp], numbers: NDArray[Any], most: int, size: int) -> NDArray[Any]:
    """Return the sum of numbers (whole, none larger than `most`) of each code; objects where int64 is too narrow."""
    rows = max(len(numbers), 1)
    if rows * most < EXACT:
        return np.bincount(codes, weights=numbers, minlength=size).astype(np.int64)
    bits = (EXACT // rows).bit_length() - 1
    whole = numbers.astype(np.int64, copy=False)
    upper = whole >> bits  # rounds down, so that the lower bits are not negative
    lower = whole - (upper << bits)
    uppers = sum_by(codes, upper, (most >> bits) + 1, size)
    lowers = np.bincount(codes, weights=lower, minlength=size).astype(np.int64)
    if rows * most < NARROW:
        return np.asarray(uppers * (1 << bits) + lowers)
    return np.asarray(uppers.astype(object) * (1 << bits) + lowers.astype(object))


def squares_by(codes: NDArray[np.intp], numbers: NDArray[Any], most: int, size: int) -> NDArray[Any]:
    """Return the sum of squares of numbers (whole, none larger than `most`) of each code."""
    if most < ROOT:
        whole = numbers.astype(np.int64, copy=False)
        return sum_by(codes, whole * whole, most * most, size)
    whole = np.abs(numbers.astype(np.int64, copy=False))
    upper = whole >> HALF
    lower = whole - (upper << HALF)
    above, below = (most >> HALF) + 1, 1 << HALF
    parts = (
        (sum_by(codes, upper * upper, above * above, size), 2 * HALF),
        (sum_by(codes, upper * lower, above * below, size), HALF + 1),
        (sum_by(codes, lower * lower, below * below, size), 0),
    )
    return sum((part.astype(object) * (1 << shift) for part, shift in parts), np.zeros(size, dtype=object))


# One statement over the rows: what it selects, each thing once, and how fetched columns become arrays.

#: A clamp in NumPy, for columns that are fetched as they are: cheaper there than in SQL.
Clamp = tuple[Any, Any] | None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Fetched:
    """One fetched column. Where `valid` is false there is no value, whatever stands there; None: all have one."""

    data: NDArray[Any]
    valid: NDArray[np.bool_] | None

    def at(self, rows: NDArray[Any]) -> "Fetched":
        """Return some of the rows, in this order."""
        return Fetched(self.data[rows], None if self.valid is None else self.valid[rows])


@dataclass(frozen=True, slots=True)
class Selected:
    """The place of a value among the fetched columns, and the bounds to which it is still to be clamped."""

    index: int
    clamp: Clamp = None


@dataclass(frozen=True, slots=True)
class SelectStatement:
    """A SELECT over the rows of a table, in the making."""

    scope: Scope
    #: The engine's name of the rows.
    table: str = "rows"
    items: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)

    def select(self, text: str) -> int:
        """Return the place of a piece of SQL among what is selected; the same piece is selected once."""
        if text not in self.items:
            self.items.append(text)
        return self.items.index(text)

    def number(self, expression: Expression) -> Selected:
        """Select a value as a number: days since 1970, or microseconds since then; true is 1."""
        if isinstance(expression, ColumnValue) and expression.kind.numeric:
            clamp = None if expression.bounds is None else ends(expression.kind, expression.bounds)
            return Selected(self.select(raw_column(expression, self.scope)), clamp)
        return Selected(self.select(self.number_text(expression)))

    def number_text(self, expression: Expression) -> str:
        """Return the SQL of a value as a number."""
        sql = compile_sql(expression, self.scope)
        match sql.kind:
            case Kind.DATE:
                return f"({sql.text} - DATE '1970-01-01')"
            case Kind.TIMESTAMP:
                return f"epoch_us({sql.text})"
            case Kind.BOOLEAN:
                return f"CAST({sql.text} AS BIGINT)"
            case _:
                return sql.text

    def presence(self, expression: Expression) -> Selected:
        """Select something that is NULL where a value is."""
        if expression.kind is Kind.TEXT:
            return Selected(self.select(f"CASE WHEN {compile_sql(expression, self.scope).text} IS NOT NULL THEN 1 END"))
        return self.number(expression)

    def truth(self, expression: Expression) -> int:
        """Select whether a condition is true."""
        return self.select(f"coalesce({as_kind(expression, Kind.BOOLEAN, self.scope).text}, false)")

    def text(self, first: str, last: str) -> str:
        """Return the statement for rows numbered from a parameter to another, in their order."""
        columns = ", ".join([f"{item} AS i{place}" for place, item in enumerate(self.items)])
        conditions = " AND ".join([f"rowid BETWEEN ${first} AND ${last}", *self.conditions])
        return f"SELECT {columns} FROM {self.table} WHERE {conditions}"  # noqa: S608 - made of our own names


def read_column(column: Any) -> Fetched:
    """Return a column as DuckDB hands it over: a masked array where there is a NULL."""
    if isinstance(column, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(column)
        return Fetched(np.asarray(column.data), ~mask if mask.any() else None)
    return Fetched(np.asarray(column), None)


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
    #: Values that several tallies need, computed once; and those among them that do not depend on groups.
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
        """Return the number of rows that count in each group."""
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

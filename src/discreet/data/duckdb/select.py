"""One statement over the rows: what it selects, each thing once, and how fetched columns become arrays."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.core.schema import Kind
from discreet.data.duckdb.expressions import Scope, as_kind, compile_sql, raw_column
from discreet.data.sql.values import ends

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
    """Where a value is found among the fetched columns, and what it is still to be clamped to."""

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

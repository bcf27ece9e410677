"""Public tables, of which everything is known. Their rows are nobody's, so bounds and groups are read off them.

They are read once, when the table is opened. Where a table can change afterwards, on a server, nothing private rests on
what was read: values are clamped to these bounds, and rows of other groups are left out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any

from discreet.algebra.functions import LONGEST_TEXT
from discreet.algebra.row_hashes import group_order
from discreet.core import Bounds, DiscreetError, InvalidInput
from discreet.core.schema import Column, Kind, PublicRows, Schema, Value, day_number, day_of
from discreet.data.reading.table_sources import Declaration, Entering
from discreet.data.sql.dialect import DAY

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: A column with more values than this has no groups.
MOST_GROUPS = 10_000
#: The rows of a table are kept if they are at most so many, with at most so many values: groups are tuples of them.
MOST_ROWS, MOST_VALUES = 20_000, 1_000_000


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What all rows of a public table say of one column."""

    #: The least and the largest value; of moments in microseconds since 1970. None: there is none.
    low: Any
    high: Any
    #: Whether every row has a value.
    complete: bool
    #: The different values, NULL among them, in any order; None if they are no groups.
    values: Sequence[Value] | None


def has_ends(kind: Kind) -> bool:
    """Whether values of a kind lie in an interval."""
    return kind not in (Kind.TEXT, Kind.BOOLEAN)


def listed_columns(columns: Sequence[Column], rows: int) -> dict[int, Column]:
    """Return the columns whose values are kept row by row, by their places; none, if there are too many rows.

    Moments are left out: no group is made of them, but by functions that engines compute.
    """
    kept = {place: column for place, column in enumerate(columns) if column.kind is not Kind.TIMESTAMP}
    return kept if rows <= MOST_ROWS and rows * len(kept) <= MOST_VALUES else {}


def public_rows(columns: dict[int, Column], rows: Iterable[Sequence[Any]]) -> PublicRows | None:
    """Return the different rows of a public table, with how often each of them stands there; None if not read."""
    if not columns:
        return None
    different = Counter(tuple(map(_settle_value, row)) for row in rows)
    names = tuple(column.name for column in columns.values())
    return PublicRows(names, tuple(different), tuple(different.values()))


def _settle_value(value: Any) -> Value:
    """Return a value as questions see it: what is no number, or a text that is too long, is NULL."""
    missing = isinstance(value, float) and not isfinite(value)
    known: Value = None if missing or (isinstance(value, str) and len(value) > LONGEST_TEXT) else value
    return known


def public_schema(
    entering: Entering,
    columns: Sequence[Column],
    summaries: Sequence[ColumnSummary],
    rows: int,
    listed: PublicRows | None = None,
) -> Schema:
    """Return a public table's schema: what is declared of it, and in all else what its rows say."""
    if entering.filled and not rows:
        raise InvalidInput(
            f"The public table {entering.declaration.table!r} has no rows.",
            fix="check where it comes from; or leave it out of `public`",
        )
    known = tuple(
        replace(
            column,
            bounds=_bounds(column.kind, mine.low, mine.high),
            groups=_groups(mine.values),
            complete=mine.complete,
        )
        for column, mine in zip(columns, summaries, strict=True)
    )
    declaration = entering.declaration
    schema = declaration.schema(known)
    return replace(schema, columns=tuple(_clamp_groups(column, declaration) for column in schema.columns), rows=listed)


def read_public_schema(entering: Entering, columns: Sequence[Column], connection: "DuckDBPyConnection") -> Schema:
    """Return the schema of a public table whose rows `load_rows` has put into DuckDB."""
    # S608: our own name.
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608
    summaries = [
        _summarise_column(column.kind, f"c{place}", entering.rows, rows, connection)
        for place, column in enumerate(columns)
    ]
    kept = listed_columns(columns, rows)
    names = ", ".join(f"c{place}" for place in kept)
    every = f"SELECT {names} FROM {entering.rows}"  # noqa: S608 - our own names
    listed = public_rows(kept, connection.execute(every).fetchall() if kept else [])
    return public_schema(entering, columns, summaries, rows, listed)


def _summarise_column(kind: Kind, name: str, table: str, rows: int, connection: "DuckDBPyConnection") -> ColumnSummary:
    number = f"epoch_us({name})" if kind is Kind.TIMESTAMP else name
    ends = f"min({number}), max({number})" if has_ends(kind) else "NULL, NULL"
    # S608: our own names.
    ((present, low, high),) = connection.execute(f"SELECT count({name}), {ends} FROM {table}").fetchall()  # noqa: S608
    values = None
    if kind.groupable:
        few = f"SELECT DISTINCT {name} FROM {table} LIMIT {MOST_GROUPS + 1}"  # noqa: S608
        values = [value for (value,) in connection.execute(few).fetchall()]
    return ColumnSummary(low, high, present == rows, values)


def _groups(values: Sequence[Value] | None) -> tuple[Value, ...] | None:
    """Return all values of a column, in the order of groups; None if they are too many, or no groups."""
    if not values or len(values) > MOST_GROUPS:
        return None
    return tuple(sorted(values, key=lambda value: group_order((value,))))


def _bounds(kind: Kind, low: Any, high: Any) -> Bounds | None:
    """Return the interval of a column's values; None if there is none, or no grid for it."""
    if low is None:
        return None
    match kind:
        case Kind.DATE:
            first, last = day_number(low), day_number(high)
        case Kind.TIMESTAMP:
            first, last = floor(Fraction(low, DAY)), ceil(Fraction(high, DAY))
        case _:
            first, last = floor(low), ceil(high)
    try:
        return Bounds(first, max(last, first + 1)) if kind is Kind.REAL else Bounds(first, max(last, first + 1), step=1)
    except DiscreetError:
        return None  # too wide for any grid; the column is still there, without bounds


def _clamp_groups(column: Column, declaration: Declaration) -> Column:
    """Return a column whose groups are seen as its values are: within the bounds that were declared."""
    name, bounds = column.name.casefold(), column.bounds
    bounded = name in {column_name.casefold() for column_name in declaration.bounds}
    listed = name in {column_name.casefold() for column_name in declaration.groups}
    if bounds is None or column.groups is None or listed or not bounded:
        return column
    inside = {_clamp_value(value, bounds) for value in column.groups}
    return replace(column, groups=tuple(sorted(inside, key=lambda value: group_order((value,)))))


def _clamp_value(value: Value, bounds: Bounds) -> Value:
    low, high = ceil(bounds.low), floor(bounds.high)
    match value:
        case date():
            return day_of(min(max(day_number(value), low), high))
        case int():
            return min(max(value, low), high)
        case _:
            return value

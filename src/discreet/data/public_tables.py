"""What is known of a public table: everything. Its rows are nobody's, so its bounds and groups are read off them."""

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from discreet.core import Bounds, DiscreetError, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema, Value, day_number
from discreet.data.duck_dialect import DAY
from discreet.data.holdings import Holding
from discreet.data.marks import group_order

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: A column with more values than this has no groups.
MOST_GROUPS = 10_000


def public_schema(table: str, columns: tuple[Column, ...], holding: Holding) -> Schema:
    """Return a public table's schema."""
    known = tuple(_known(column, holding.columns[column.name], holding) for column in columns)
    return Schema(table=table, columns=known, unit=PrivacyUnit())


def _known(column: Column, name: str, holding: Holding) -> Column:
    connection = holding.connection
    ((present,),) = connection.execute(f"SELECT count({name}) FROM {holding.table}").fetchall()  # noqa: S608 - our names
    return Column(
        name=column.name,
        kind=column.kind,
        bounds=_bounds(column.kind, name, holding.table, connection),
        groups=_groups(column.kind, name, holding.table, connection),
        complete=present == holding.rows,
    )


def _groups(kind: Kind, name: str, table: str, connection: "DuckDBPyConnection") -> tuple[Value, ...] | None:
    """Return all values of a column, in the order of groups; None if they are too many, or no groups."""
    if not kind.groupable:
        return None
    few = f"SELECT DISTINCT {name} FROM {table} LIMIT {MOST_GROUPS + 1}"  # noqa: S608 - our own names
    values = [value for (value,) in connection.execute(few).fetchall()]
    if not values or len(values) > MOST_GROUPS:
        return None
    return tuple(sorted(values, key=lambda value: group_order((value,))))


def _bounds(kind: Kind, name: str, table: str, connection: "DuckDBPyConnection") -> Bounds | None:
    """Return the interval of a column's values; None if there is none, or no grid for it."""
    if kind in (Kind.TEXT, Kind.BOOLEAN):
        return None
    number = f"epoch_us({name})" if kind is Kind.TIMESTAMP else name
    ((low, high),) = connection.execute(f"SELECT min({number}), max({number}) FROM {table}").fetchall()  # noqa: S608
    if low is None:
        return None
    first, last = _ends(kind, low, high)
    try:
        return Bounds(first, max(last, first + 1)) if kind is Kind.REAL else Bounds(first, max(last, first + 1), step=1)
    except DiscreetError:
        return None  # too wide for any grid; the column is still there, without bounds


def _ends(kind: Kind, low: Any, high: Any) -> tuple[Any, Any]:
    match kind:
        case Kind.DATE:
            return day_number(low), day_number(high)
        case Kind.TIMESTAMP:
            return floor(Fraction(low, DAY)), ceil(Fraction(high, DAY))
        case Kind.REAL:
            return floor(low), ceil(high)
        case _:
            return low, high

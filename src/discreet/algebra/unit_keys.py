"""Keys of privacy units: the person, and with a window the stretch of time. Public; sees no row."""

from dataclasses import replace

from discreet.algebra.expressions import ColumnValue, Expression, call, column
from discreet.algebra.functions import F
from discreet.core import Period
from discreet.core.schema import Schema

TRUNCATIONS = {
    Period.DAY: F.TRUNC_DAY,
    Period.WEEK: F.TRUNC_WEEK,
    Period.MONTH: F.TRUNC_MONTH,
    Period.QUARTER: F.TRUNC_QUARTER,
    Period.YEAR: F.TRUNC_YEAR,
}


def unit_keys(schema: Schema) -> tuple[Expression, ...]:
    """Return the values that a unit's rows share, the person first; none where each row is a unit.

    Rows whose person is NULL are nobody's and left out. A window that is NULL is one like others. A unit's id is the
    tuple of these values, its name that of the tuple (`discreet.algebra.row_hashes.name_of`), and ids are in
    `group_order`.
    """
    if schema.unit.column is None:
        return ()
    person = _as_it_came(schema, schema.unit.column)
    if schema.unit.window is None:
        return (person,)
    time = _as_it_came(schema, schema.unit.window.time)
    return (person, call(TRUNCATIONS[schema.unit.window.period], time))


def _as_it_came(schema: Schema, name: str) -> ColumnValue:
    """Return a column without its bounds: a clamp would make one unit of several."""
    return replace(column(schema, name), bounds=None)

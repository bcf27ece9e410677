"""Rows of several selections as one relation: what is public about them together."""

from discreet.core import Bounds, DiscreetError
from discreet.core.schema import Column
from discreet.data.expressions import ColumnValue
from discreet.data.relations import Derived, Named, UnionAll
from discreet.query.sql_known import Known, Source
from discreet.query.sql_scope import Item, Seen


def united(parts: list[Source], known: Known) -> Source:
    """Return the rows of all parts, whose columns are of the same kinds in the same order."""
    rows = [part.seen for part in parts]
    columns = []
    for place, seen in enumerate(rows[0]):
        alike = merged_column([each[place].column for each in rows])
        columns.append(known.column(seen.name, alike))
    made = tuple(
        Derived(
            part.relation, tuple(_taken(one.column, column) for one, column in zip(part.seen, columns, strict=True))
        )
        for part in parts
    )
    named = tuple(Seen(each.name, column) for each, column in zip(rows[0], columns, strict=True))
    return Source(UnionAll(made), (Item("", named),))


def _taken(own: Column, common: Column) -> Named:
    """Return a column of one part; clamped to its own bounds, if those of all parts are others."""
    bounds = None if own.bounds == common.bounds else own.bounds
    return Named(common, ColumnValue(own.name, own.kind, bounds))


def merged_column(columns: list[Column]) -> Column:
    """Return what is public about the values of several columns together."""
    first = columns[0]
    groups = [column.groups for column in columns]
    listed = None if None in groups else tuple(dict.fromkeys(value for each in groups for value in each or ()))
    return Column(
        name=first.name,
        kind=first.kind,
        bounds=_hull([column.bounds for column in columns]),
        groups=listed,
        complete=all(column.complete for column in columns),
    )


def _hull(bounds: list[Bounds | None]) -> Bounds | None:
    known = [each for each in bounds if each is not None]
    if len(known) < len(bounds):
        return None
    if all(each == known[0] for each in known):
        return known[0]
    try:
        return Bounds(min(each.low for each in known), max(each.high for each in known), step=known[0].step)
    except DiscreetError:
        return None

"""Rows after each other: selections of columns, and unions of them with what is public about both."""

from collections.abc import Sequence
from datetime import date, datetime

from discreet.algebra.expressions import Call, ColumnValue, Expression, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import Derived, Named, Relation, UnionAll, may_be_null
from discreet.core import Bounds, DiscreetError
from discreet.core.schema import Column, Kind, Value
from discreet.query.sql.per_person import describe_column
from discreet.query.sql.scope import Item, Known, RowSource, SeenColumn

#: A value of each kind. NULLIF of it and itself is NULL, and of this kind in every text and on every engine.
SAMPLES: dict[Kind, Value] = {
    Kind.INTEGER: 0,
    Kind.REAL: 0.5,
    Kind.TEXT: "",
    Kind.BOOLEAN: False,
    Kind.DATE: date(1970, 1, 1),
    Kind.TIMESTAMP: datetime(1970, 1, 1),  # noqa: DTZ001 - timestamps are UTC
}


def build_nothing(kind: Kind) -> Expression:
    """Return NULL of a kind."""
    sample = Literal(SAMPLES[kind], kind)
    return call(F.NULLIF, sample, sample)


def is_nothing(expression: Expression) -> bool:
    """Whether an expression is NULL of a kind."""
    if not isinstance(expression, Call) or expression.function is not F.NULLIF:
        return False
    first, second = expression.arguments
    return isinstance(first, Literal) and first == second


def select_columns(
    relation: Relation, outputs: Sequence[tuple[str, Expression]], where: Expression | None, known: Known
) -> RowSource:
    """Return rows with other columns."""
    schema = known.schema(relation)
    named: list[Named] = []
    for name, expression in outputs:
        column = describe_column(known.numbers.fresh(name), expression, schema)
        # As it came: whoever names the column clamps it.
        bare = ColumnValue(expression.name, expression.kind) if isinstance(expression, ColumnValue) else expression
        named.append(Named(column, bare))
    columns = tuple(SeenColumn(name, output.column) for (name, _), output in zip(outputs, named, strict=True))
    return RowSource(Derived(relation, tuple(named), where), (Item("", columns),))


def unite_rows(parts: list[RowSource], known: Known) -> RowSource:
    """Return the rows of all parts, whose columns are of the same kinds in the same order."""
    rows = [part.seen for part in parts]
    nothing = {name for part in parts for name in _always_null(part)}
    columns = []
    for place, seen in enumerate(rows[0]):
        held = [part_columns[place].column for part_columns in rows]
        # A part that has nothing in a column says nothing about its values.
        told = [column for column in held if column.name not in nothing] or held
        alike = merge_columns(told)
        columns.append(known.column(seen.name, alike if len(told) == len(held) else may_be_null(alike)))
    relations = tuple(
        Derived(
            part.relation,
            tuple(_take_column(own.column, column) for own, column in zip(part.seen, columns, strict=True)),
        )
        for part in parts
    )
    named = tuple(SeenColumn(first.name, column) for first, column in zip(rows[0], columns, strict=True))
    return RowSource(UnionAll(relations), (Item("", named),))


def _always_null(part: RowSource) -> set[str]:
    """Return the names of the columns that are NULL in every row."""
    return {seen.column.name for seen in part.seen if _is_nothing_of(part.relation, seen.column.name)}


def _is_nothing_of(relation: Relation, name: str) -> bool:
    """Whether a column is NULL in every row: as it was written, under whatever name."""
    while isinstance(relation, Derived):
        expression = next(named.expression for named in relation.columns if named.column.name == name)
        if not isinstance(expression, ColumnValue):
            return is_nothing(expression)
        relation, name = relation.source, expression.name
    return False


def _take_column(own: Column, common: Column) -> Named:
    """Return a column of one part; clamped to its own bounds, if those of all parts are others."""
    bounds = None if own.bounds == common.bounds else own.bounds
    return Named(common, ColumnValue(own.name, own.kind, bounds))


def merge_columns(columns: list[Column]) -> Column:
    """Return what is public about the values of several columns together."""
    first = columns[0]
    groups = [column.groups for column in columns]
    listed = None if None in groups else tuple(dict.fromkeys(value for values in groups for value in values or ()))
    return Column(
        name=first.name,
        kind=first.kind,
        bounds=_hull([column.bounds for column in columns]),
        groups=listed,
        complete=all(column.complete for column in columns),
    )


def _hull(bounds: list[Bounds | None]) -> Bounds | None:
    known = [own for own in bounds if own is not None]
    if len(known) < len(bounds):
        return None
    if all(own == known[0] for own in known):
        return known[0]
    try:
        return Bounds(min(own.low for own in known), max(own.high for own in known), step=known[0].step)
    except DiscreetError:
        return None

"""The rows that a question is about, on DuckDB: those of a table as they stand, or a relation, computed and clustered.

A relation is computed into temporary tables of the question's own cursor, which go with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algebra.aggregates import (
    Aggregate,
    Aggregation,
    Key,
    People,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Rows,
    check_source,
)
from discreet.algebra.expressions import ColumnValue, Expression, NotPlain, call, columns_in, substitute_columns
from discreet.algebra.functions import F
from discreet.algebra.relations import Derived, Named, PublicJoin, Relation, Scan, UnitJoin, columns_of
from discreet.algebra.row_caps import NOTHING_KNOWN, RowFacts, public_facts, unit_keys
from discreet.core import InvalidInput
from discreet.core.schema import Column, Kind
from discreet.data.duckdb.clustering import (
    UnitColumn,
    Units,
    cluster_statements,
    read_integer_units,
    read_units,
    units_beside,
)
from discreet.data.duckdb.connection import Holding, Holdings, ReadCursor, UnitIdTable
from discreet.data.duckdb.dialect import DuckDialect
from discreet.data.duckdb.expressions import Scope, compile_sql
from discreet.data.engine_rules import engine_failed
from discreet.data.sql.dialect import Typed
from discreet.data.sql.relations import RelationSql, fan_outs_sql, relation_sql

#: The temporary tables of a question.
ASKED, OWNERS = "asked", "owners"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AggregationInput:
    """The rows that an aggregation is about, the aggregation over their columns, and where their units' ids stand."""

    aggregation: Aggregation
    holding: Holding
    owners: UnitIdTable | None


def prepare_input(aggregation: Aggregation, holdings: Holdings, cursor: ReadCursor) -> AggregationInput:
    """Return the rows that an aggregation is about."""
    if aggregation.source is None:
        need_only(holdings)
        ((only, holding),) = holdings.private.items()
        return AggregationInput(aggregation, holding, _owners(only, holdings))
    check_source(aggregation, holdings.schemas, holdings.publics)
    table, plain = flatten_source(aggregation)
    if table is not None:
        return AggregationInput(plain, holdings.private[table], _owners(table, holdings))
    return _compute_rows(aggregation, aggregation.source, holdings, cursor)


def check_aggregation(aggregation: Aggregation, holdings: Holdings) -> None:
    """Refuse an aggregation that tables cannot answer, as `prepare_input` and the pass would. No statement runs."""
    if aggregation.source is None:
        need_only(holdings)
        plain, columns = aggregation, next(iter(holdings.private.values())).columns
    else:
        check_source(aggregation, holdings.schemas, holdings.publics)
        table, plain = flatten_source(aggregation)
        columns = holdings.private[table].columns if table is not None else _name_columns(aggregation, holdings)
    where = () if plain.where is None or plain.source is not None else (plain.where,)
    for expression in (*where, *plain.computed):
        compile_sql(expression, Scope(columns))


def need_only(holdings: Holdings) -> None:
    """Refuse to guess which of several tables is asked."""
    if len(holdings.private) != 1:
        raise InvalidInput("It is not said which table is asked.", fix="pass source=Scan(table, columns)")


def _owners(table: str, holdings: Holdings) -> UnitIdTable | None:
    """Return the place of the ids of a table's units; None if rows are units."""
    holding, keys = holdings.private[table], unit_keys(holdings.schemas[table])
    if holding.units is None:
        return None
    ids = tuple(UnitColumn(compile_sql(key, Scope(holding.columns)).text, key.kind) for key in keys)
    return UnitIdTable(holding.table, ids, holding.units, kept=True)


# --- a table as it stands ---


def flatten_source(aggregation: Aggregation) -> tuple[str | None, Aggregation]:
    """Return an aggregation over a table's own columns, where its source only renames and leaves out rows."""
    try:
        renamed = _find_table(aggregation.source) if aggregation.source is not None else None
        if renamed is None:
            return None, aggregation
        table, names, conditions = renamed
        where = None if aggregation.where is None else substitute_columns(aggregation.where, names)
        conditions = conditions if where is None else (*conditions, where)
        flat = replace(
            aggregation,
            where=_all(conditions),
            keys=tuple(Key(substitute_columns(key.expression, names), key.values) for key in aggregation.keys),
            aggregates=tuple(_rename_columns(aggregate, names) for aggregate in aggregation.aggregates),
            source=None,
        )
    except NotPlain:
        return None, aggregation
    return table, flat


def _find_table(relation: Relation) -> tuple[str, dict[str, ColumnValue], tuple[Expression, ...]] | None:
    """Return a table, what its columns are called, and the conditions on its rows; None if there is more to it."""
    match relation:
        case Scan(table=table, columns=columns, whole=False):
            return table, {column.name: ColumnValue(column.name, column.kind) for column in columns}, ()
        case Derived(source=source, columns=columns, where=where):
            renamed = _find_table(source)
            if renamed is None:
                return None
            table, names, conditions = renamed
            if where is not None:
                conditions = (*conditions, substitute_columns(where, names))
            return table, dict(_plain(columns, names)), conditions
        case _:
            return None


def _plain(columns: tuple[Named, ...], names: dict[str, ColumnValue]) -> Iterator[tuple[str, ColumnValue]]:
    """Yield those columns that are others under new names."""
    for named in columns:
        if isinstance(named.expression, ColumnValue):
            column = substitute_columns(named.expression, names)
            if isinstance(column, ColumnValue):
                yield named.column.name, column


def _all(conditions: tuple[Expression, ...]) -> Expression | None:
    return call(F.AND, *conditions) if len(conditions) > 1 else next(iter(conditions), None)


def _rename_columns(aggregate: Aggregate, names: dict[str, ColumnValue]) -> Aggregate:
    match aggregate:
        case Rows() | People() | PeopleBy() | PeopleCut():
            return aggregate
        case PeopleWhere(condition=condition):
            return PeopleWhere(substitute_columns(condition, names))
        case _:
            return replace(aggregate, value=substitute_columns(aggregate.value, names))


# --- a relation ---


def _compute_rows(
    aggregation: Aggregation, source: Relation, holdings: Holdings, cursor: ReadCursor
) -> AggregationInput:
    """Compute a relation: of its rows those that pass, of its columns those that are needed."""
    dialect = DuckDialect(holdings)
    facts = _facts(source, holdings, dialect, cursor)
    sql = _write_needed(aggregation, source, dialect, facts)
    connection = next(iter(holdings.private.values())).connection
    names = {name: piece.text for name, piece in sql.columns.items()}
    leading = _leading(source)
    units, owners = None, None
    if not sql.units:
        _write(sql, (), dialect.parameters, cursor)
    elif leading is not None:
        units = _compute_beside(sql, holdings.private[leading], dialect.parameters, cursor)
        owners = _owners(leading, holdings)
    else:
        ids = tuple(UnitColumn(piece.text, piece.kind) for piece in sql.units)
        units = _compute_clustered(sql, ids, dialect.parameters, cursor)
        owners = UnitIdTable(ASKED, ids, units, kept=False)
    ((rows,),) = cursor.ask(f"SELECT count(*) FROM {ASKED}", {})  # noqa: S608 - our own name
    plain = replace(aggregation, where=None, source=None)
    return AggregationInput(plain, Holding(connection, names, rows, units, ASKED), owners)


def _write_needed(aggregation: Aggregation, source: Relation, dialect: DuckDialect, facts: RowFacts) -> RelationSql:
    """Return a relation's rows that pass, with the columns that are needed, as SQL."""
    needed = set().union(*(columns_in(expression) for expression in aggregation.computed))
    columns = tuple(_as_it_is(column) for column in columns_of(source) if column.name in needed)
    return relation_sql(Derived(source, columns, aggregation.where), dialect, aggregation.salt, facts)


def _name_columns(aggregation: Aggregation, holdings: Holdings) -> dict[str, str]:
    """Return the engine's names of a relation's columns; nothing is computed."""
    if aggregation.source is None:
        return {}
    sql = _write_needed(aggregation, aggregation.source, DuckDialect(holdings), NOTHING_KNOWN)
    return {name: piece.text for name, piece in sql.columns.items()}


def _facts(source: Relation, holdings: Holdings, dialect: DuckDialect, cursor: ReadCursor) -> RowFacts:
    """Return the number of rows that units can have. Tables were cut when they were imported."""
    fan_outs, text = fan_outs_sql(source, dialect)
    counts = dict(cursor.ask(text, dialect.parameters)) if fan_outs else {}
    return public_facts(holdings.schemas, fan_outs, counts, imported=True)


def _as_it_is(column: Column) -> Named:
    return Named(column, ColumnValue(column.name, column.kind))


def _write(sql: RelationSql, order: Sequence[Typed], parameters: dict[str, object], cursor: ReadCursor) -> None:
    """Compute the rows, in an order, beside the first column of it."""
    columns = [piece.text for piece in (*order[:1], *sql.columns.values())]
    by = f" ORDER BY {', '.join(f'{piece.text} NULLS FIRST' for piece in order)}" if order else ""
    listed = ", ".join(columns) or "1 AS nothing"
    cursor.ask(f"CREATE TEMP TABLE {ASKED} AS SELECT {listed} FROM ({sql.text}){by}", parameters)  # noqa: S608
    cursor.keep()


def _leading(relation: Relation) -> str | None:
    """Return the table whose rows a relation's rows are ordered by, if they are: a unit's are side by side then."""
    match relation:
        case Scan(table=table, whole=False):
            return table
        case Derived(source=source):
            return _leading(source)
        case PublicJoin(left=left) | UnitJoin(left=left):
            return _leading(left)
        case _:
            return None


def _compute_beside(sql: RelationSql, leading: Holding, parameters: dict[str, object], cursor: ReadCursor) -> Units:
    """Compute the rows in the order of a table's, and return whose they are: no id is compared for that, or kept."""
    if leading.units is None:
        raise engine_failed()
    _write(sql, sql.order, parameters, cursor)
    numbers = cursor.fetch(f"SELECT {sql.order[0].text} AS number FROM {ASKED}", {})["number"]  # noqa: S608
    return units_beside(np.asarray(numbers), leading.units)


def _compute_clustered(
    sql: RelationSql, ids: Sequence[UnitColumn], parameters: dict[str, object], cursor: ReadCursor
) -> Units:
    """Compute the rows, those of a unit side by side, and return whose they are."""
    columns = [piece.text for piece in (*sql.units, *sql.columns.values())]
    order = [piece.text for piece in sql.order]
    names = f"TEMP TABLE {ASKED}", f"TEMP TABLE {OWNERS}"
    rows, owners = cluster_statements(*names, f"({sql.text})", columns, ids, order)
    cursor.ask(rows, parameters)
    cursor.keep()
    if [column.kind for column in ids] == [Kind.INTEGER]:
        return read_integer_units(lambda text: cursor.fetch(text, {}), ASKED, ids[0].text)
    cursor.ask(owners, {})
    return read_units(lambda text: cursor.fetch(text, {}), OWNERS)

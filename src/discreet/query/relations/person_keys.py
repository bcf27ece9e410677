"""Keys that lead to the person: where equal keys are one person's, though the persons are not compared.

A table may lead to its person by a key of another (`discreet.core.schema.ForeignKey`), which the steward declares to be
unique. Then rows that are equal in that key are the same person's: a child and its parent, and two children of one
parent. Joins and groups of such rows name no person, and mean the same with the person in them.

**No guarantee rests on this.** What is read here only says that a question which compares keys may be read as one that
compares persons, too. The relation that is built compares them in any case (`UnitJoin`, `PerUnit`), so that each row is
one person's, whether or not the key is unique. If it is not, pairs of different people's rows are left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.algebra.relations import (
    Derived,
    First,
    JoinKind,
    MatchJoin,
    Pair,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
    columns_of,
)
from discreet.core.schema import Schema
from discreet.query.relations.schemas import table_schema


@dataclass(frozen=True, slots=True)
class PersonKey:
    """A key of some table, and the columns of a table that hold it: its own, or those that lead there. All folded."""

    table: str
    columns: tuple[str, ...]
    held_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The unchanged origin of a column: the table, which of its occurrences in the relation, and its name there."""

    table: str
    path: tuple[int, ...]
    column: str


def keys_of(table: str, schemas: Mapping[str, Schema]) -> tuple[PersonKey, ...]:
    """Return the keys that a table holds whose values are each one person's."""
    schema = table_schema(table, schemas)
    own = {
        tuple(other.casefold() for _, other in child.via.on)
        for child in schemas.values()
        if child.via is not None and child.via.parent.casefold() == table.casefold()
    }
    keys = [PersonKey(table.casefold(), columns, columns) for columns in sorted(own)]
    if schema.via is None:
        return tuple(keys)
    mine = {other.casefold(): held.casefold() for held, other in schema.via.on}
    parent = next(known for known in schemas.values() if known.table.casefold() == schema.via.parent.casefold())
    above = [key for key in keys_of(parent.table, schemas) if mine.keys() >= set(key.held_in)]
    led = [PersonKey(key.table, key.columns, tuple(mine[column] for column in key.held_in)) for key in above]
    return (*keys, *led)


def find_origin(name: str, relation: Relation | PublicScan, path: tuple[int, ...] = ()) -> Origin | None:
    """Return the origin of a column of a relation; None if it is computed, public, or comes from several tables."""
    match relation:
        case Scan(table=table):
            return Origin(table, path, name.casefold())
        case Derived(source=source, columns=named) | PerUnit(source=source, keys=named):
            expression = next((item.expression for item in named if item.column.name == name), None)
            below = find_origin(expression.name, source, path) if isinstance(expression, ColumnValue) else None
            return None if isinstance(expression, ColumnValue) and expression.bounds is not None else below
        case First(source=source):
            return find_origin(name, source, path)
        case UnitJoin(left=left, right=right, kind=kind):
            if any(column.name == name for column in columns_of(left)):
                return find_origin(name, left, (*path, 0))
            return None if kind in (JoinKind.SEMI, JoinKind.ANTI) else find_origin(name, right, (*path, 1))
        case PublicJoin(left=left):
            return find_origin(name, left, (*path, 0)) if any(c.name == name for c in columns_of(left)) else None
        case UnionAll() | MatchJoin() | PublicScan():
            return None


def compares_keys(pairs: Iterable[Pair], left: Relation, right: Relation, schemas: Mapping[str, Schema]) -> bool:
    """Whether rows that are equal in some pairs are one person's, as they are equal in a key that leads there."""
    compared = [
        (mine, theirs)
        for mine, theirs in ((_origin_of(first, left), _origin_of(second, right)) for first, second in pairs)
        if mine is not None and theirs is not None
    ]
    for mine, theirs in dict.fromkeys(((own.table, own.path), (other.table, other.path)) for own, other in compared):
        columns = {
            (own.column, other.column)
            for own, other in compared
            if (own.table, own.path) == mine and (other.table, other.path) == theirs
        }
        for key in keys_of(mine[0], schemas):
            for other_key in keys_of(theirs[0], schemas):
                same = (key.table, key.columns) == (other_key.table, other_key.columns)
                if same and set(zip(key.held_in, other_key.held_in, strict=True)) <= columns:
                    return True
    return False


def holds_key(expressions: Iterable[Expression], relation: Relation, schemas: Mapping[str, Schema]) -> bool:
    """Whether rows with the same values of some expressions are one person's: a key that leads there is among them."""
    origins = [origin for origin in (_origin_of(value, relation) for value in expressions) if origin is not None]
    for table, path in dict.fromkeys((origin.table, origin.path) for origin in origins):
        columns = {origin.column for origin in origins if (origin.table, origin.path) == (table, path)}
        if any(columns.issuperset(key.held_in) for key in keys_of(table, schemas)):
            return True
    return False


def _origin_of(expression: Expression, relation: Relation) -> Origin | None:
    if not isinstance(expression, ColumnValue) or expression.bounds is not None:
        return None
    return find_origin(expression.name, relation)

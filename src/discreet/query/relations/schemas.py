"""Schemas of relations: columns, privacy unit, names, and texts about the cap on the rows of one person."""

from collections.abc import Iterable, Mapping

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    JoinKind,
    MatchJoin,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
    columns_of,
    scans_in,
    sources_of,
)
from discreet.algebra.row_caps import MAKING
from discreet.core import InvalidInput, NotProved, Period, PrivacyUnit
from discreet.core.schema import ROWS_PER_PERSON, Kind, Schema
from discreet.query.questions import Question

#: Folds that give a value back if all values are the same, as a person's own name is.
KEEPING = (Fold.LEAST, Fold.MOST)


def schema_of(question: Question, schemas: Mapping[str, Schema]) -> Schema:
    """Return the schema that a question is planned with: that of its table, or one of its relation's columns."""
    if question.source is None:
        return table_schema(question.table, schemas)
    return relation_schema(question.source, schemas)


def table_schema(table: str, schemas: Mapping[str, Schema]) -> Schema:
    """Return the schema of a table."""
    schema = next((candidate for candidate in schemas.values() if candidate.table == table), None)
    if schema is None:
        raise InvalidInput(f"There is no table {table!r}.", fix="pass the schemas of all tables of the question")
    return schema


def relation_schema(relation: Relation, schemas: Mapping[str, Schema]) -> Schema:
    """Return the schema of a relation. Its privacy unit is that of its tables, for any relation of their rows."""
    columns, people = columns_of(relation), people_in(relation, schemas)
    return Schema(
        table=name_for(relation),
        columns=columns,
        unit=unit_of(relation, schemas),
        people=tuple(column.name for column in columns if column.name in people),
        rows_per_person=min(table_schema(table, schemas).rows_per_person for table in _private(relation)),
    )


def _private(relation: Relation) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scan.table for scan in scans_in(relation) if isinstance(scan, Scan)))


def unit_of(relation: Relation, schemas: Mapping[str, Schema]) -> PrivacyUnit:
    """Return the privacy unit of a relation: that of all of its tables, or it is refused."""
    tables = _private(relation)
    first, *others = (table_schema(table, schemas) for table in tables)
    for other in others:
        alike = other.unit.neighbours is first.unit.neighbours and _period(other) is _period(first)
        if not alike or _kinds(other) != _kinds(first):
            raise NotProved(
                "The tables have different privacy units.",
                fix="open them with persons of the same kind, the same neighbours and the same window",
            )
    return first.unit


def _period(schema: Schema) -> Period | None:
    """Return the stretch of time that is protected; each table has a column of its own for it."""
    return None if schema.unit.window is None else schema.unit.window.period


def _kinds(schema: Schema) -> list[Kind]:
    return [column.kind for column in schema.columns if schema.is_person(column.name)]


def people_in(relation: Relation, schemas: Mapping[str, Schema]) -> frozenset[str]:  # noqa: C901 - one case a kind
    """Return the columns that say whose a row is, and are never NULL."""
    match relation:
        case Scan(table=table, columns=columns):
            schema = table_schema(table, schemas)
            return frozenset(column.name for column in columns if schema.is_person(column.name))
        case Derived(source=source, columns=named):
            people = people_in(source, schemas)
            return frozenset(output.column.name for output in named if _is_one_of(output.expression, people))
        case PerUnit(source=source, keys=keys, values=values):
            people = people_in(source, schemas)
            kept = [
                aggregate.column.name
                for aggregate in values
                if aggregate.fold in KEEPING and _is_one_of(aggregate.value, people)
            ]
            return frozenset([*kept, *(key.column.name for key in keys if _is_one_of(key.expression, people))])
        case First(source=source):
            return people_in(source, schemas)
        case UnionAll(parts=parts):
            return frozenset.intersection(*(people_in(part, schemas) for part in parts))
        case UnitJoin(left=left, right=right, kind=JoinKind.INNER):
            return people_in(left, schemas) | people_in(right, schemas)
        case UnitJoin(left=left) | PublicJoin(left=left):
            return people_in(left, schemas)
        case MatchJoin():
            return frozenset()


def _is_one_of(expression: Expression | None, names: frozenset[str]) -> bool:
    return isinstance(expression, ColumnValue) and expression.name in names


def name_for(relation: Relation) -> str:
    """Return the name of a relation in place of a table's name: only a table is named like a table."""
    words, inner = words_for(relation), relation
    while isinstance(inner, Derived | First):
        inner = inner.source
    return f"rows of {words}" if isinstance(inner, Scan) and inner is not relation else words


def words_for(relation: Relation | PublicScan) -> str:
    """Return the name of a relation, the same for all names of its parts in a question."""
    match relation:
        case Scan(table=table) | PublicScan(table=table):
            return table
        case Derived(source=source) | First(source=source):
            return words_for(source)
        case PerUnit(source=source):
            return f"{words_for(source)} per person"
        case UnionAll(parts=parts):
            return " UNION ALL ".join(map(words_for, parts))
        case MatchJoin(left=left, right=right):
            return f"{words_for(left)} JOIN {words_for(right)}"
        case _:
            return f"{words_for(relation.left)} {relation.kind.value} {words_for(relation.right)}"


# Texts about the cap on the rows of one person: in a question's canonical text, and in the notes of its answer.
#
# The canonical text of a question without joins and unions under the default cap is what it was before there was one:
# the rows that count differ only for people with more rows than that. Everything else says the cap.


def cap_text(schema: Schema, sources: Iterable[Relation | None]) -> tuple[str, ...]:
    """Return the lines about the cap in the canonical text of a question about some relations: one, or none."""
    if schema.unit.column is None:
        return ()
    stated = schema.rows_per_person != ROWS_PER_PERSON or any(
        makes_rows(source) for source in sources if source is not None
    )
    return (f"rows_per_person={schema.rows_per_person}",) if stated else ()


def makes_rows(relation: Relation | PublicScan) -> bool:
    """Whether a unit may have more rows in a relation than in its tables, if nothing is cut."""
    match relation:
        case PublicScan():
            return False
        case UnionAll():
            return True
        case UnitJoin(kind=kind) | PublicJoin(kind=kind) if kind in MAKING:
            return True
        case _:
            return any(makes_rows(source) for source in sources_of(relation))


def cap_note(schema: Schema, source: Relation | None) -> str:
    """Return a sentence about the cap; whether it leaves out a row of any person is not said."""
    window = "" if schema.unit.window is None else f" in one {schema.unit.window.period.value}"
    combined = ", and as many in each join or union" if source is not None and makes_rows(source) else ""
    return f"Cap: {schema.rows_per_person:,} rows per {schema.unit.column}{window} in each table{combined}."

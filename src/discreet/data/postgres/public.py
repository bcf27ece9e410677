"""Public tables on a PostgreSQL server: nobody's rows, so that their bounds and groups are read off them, there.

They are read when the table is opened, in statements that end when those of questions would: whole columns are looked
at there, and of each no more than `MOST_GROUPS` values and one come here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.core import InvalidInput
from discreet.core.schema import Column, Kind
from discreet.data.failures import quiet_opening
from discreet.data.postgres.catalogue import Catalogue, PostgresSources, Relation, inline_rows, public_relation
from discreet.data.postgres.dialect import PostgresDialect
from discreet.data.postgres.sessions import StatementFailed
from discreet.data.reading.importing import load_separately
from discreet.data.reading.public_tables import MOST_GROUPS, ColumnSummary, has_ends, public_schema, read_public_schema
from discreet.data.reading.table_sources import Entering
from discreet.data.sql.dialect import Scanned, Typed

#: Columns of one statement: PostgreSQL takes 1664 items.
TOGETHER = 400


def read_public_relation(catalogue: Catalogue, entering: Entering) -> Relation:
    """Return a public table of the server with what is declared of it, and in all else what its rows say."""
    table = entering.declaration.table
    relation = public_relation(catalogue, str(entering.source), table, entering.declaration.kinds)
    scanned = PostgresDialect(PostgresSources({}, {table: relation})).scan_public(table, "t")
    try:
        rows, summaries = _summarise_columns(catalogue, relation.schema.columns, scanned)
    except StatementFailed as failure:
        raise InvalidInput(
            f"The public table {table!r} could not be read: {failure}.",
            fix="let the role read it; if it is large, name a view of the rows and columns that are joined",
        ) from None
    return replace(relation, schema=public_schema(entering, relation.schema.columns, summaries, rows))


def _summarise_columns(
    catalogue: Catalogue, columns: Sequence[Column], scanned: Scanned
) -> tuple[int, list[ColumnSummary]]:
    """Return the number of rows, and what they say of each column."""
    rows, facts = 0, list[tuple[Any, ...]]()
    for first in range(0, len(columns), TOGETHER):
        batch = columns[first : first + TOGETHER]
        items = ", ".join(_facts(Typed(scanned.columns[column.name], column.kind)) for column in batch)
        # S608: names are quoted, and the rest is our own.
        ((rows, *numbers),) = catalogue.ask(f"SELECT count(*), {items} FROM {scanned.text}")  # noqa: S608
        facts += zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    return rows, [
        ColumnSummary(low, high, present == rows, _values(catalogue, column, scanned))
        for column, (present, low, high) in zip(columns, facts, strict=True)
    ]


def _facts(piece: Typed) -> str:
    """Return how many values there are, the least and the largest of them."""
    number = piece.text
    if piece.kind is Kind.TIMESTAMP:
        number = PostgresDialect(PostgresSources({}, {})).number(piece)
    ends = f"min({number}), max({number})" if has_ends(piece.kind) else "NULL, NULL"
    return f"count({piece.text}), {ends}"


def _values(catalogue: Catalogue, column: Column, scanned: Scanned) -> list[Any] | None:
    if not column.kind.groupable:
        return None
    value = scanned.columns[column.name]
    few = f"SELECT DISTINCT {value} FROM {scanned.text} LIMIT {MOST_GROUPS + 1}"  # noqa: S608 - as above
    return [value for (value,) in catalogue.ask(few)]


#: Statements should stay short enough to be planned in no time.
MOST_CELLS = 100_000


def import_relation(entering: Entering) -> Relation:
    """Return the rows of a file or a frame as a public table. What they hold is read as everywhere else, by DuckDB."""
    return quiet_opening(lambda: _load_relation(entering))


def _load_relation(entering: Entering) -> Relation:
    with load_separately(entering) as (connection, imported):
        ((size,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608 - our own name
        if size * len(imported.columns) > MOST_CELLS:
            raise InvalidInput(
                f"The public table {entering.declaration.table!r} is too large to be written into statements.",
                fix="load it into the database, and pass its name there",
            )
        schema = read_public_schema(entering, imported.columns, connection)
        places = {column.name: f"c{place}" for place, column in enumerate(imported.columns)}
        names = ", ".join(places[column.name] for column in schema.columns)
        rows = connection.execute(f"SELECT {names} FROM {entering.rows}").fetchall()  # noqa: S608 - our own names
    return inline_rows(schema, rows)

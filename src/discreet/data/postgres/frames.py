"""Small public tables that are not on the server: their rows are written out in the statements that read them."""

from discreet.core import InvalidInput
from discreet.data.postgres.catalogue import Relation, written_relation
from discreet.data.reading.importing import DEFAULT, Entering, held, quiet_opening, taken_over
from discreet.data.reading.public_tables import held_schema

#: Statements should stay short enough to be planned in no time.
MOST_CELLS = 100_000


def framed_relation(entering: Entering) -> Relation:
    """Return the rows of a file or a frame as a public table. What they hold is read as everywhere else, by DuckDB."""
    return quiet_opening(lambda: _written(entering))


def _written(entering: Entering) -> Relation:
    connection, (imported,) = taken_over((entering,), None, DEFAULT)
    with connection:
        holding = held(connection, entering, imported)
        if holding.rows * len(imported.columns) > MOST_CELLS:
            raise InvalidInput(
                f"The public table {entering.declaration.table!r} is too large to be written into statements.",
                fix="load it into the database, and pass its name there",
            )
        schema = held_schema(entering, imported.columns, holding)
        names = ", ".join(holding.columns[column.name] for column in schema.columns)
        rows = connection.execute(f"SELECT {names} FROM {holding.table}").fetchall()  # noqa: S608 - our own names
    return written_relation(schema, rows)

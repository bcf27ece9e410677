"""Small public tables that are not on the server: their rows are written out in the statements that read them."""

from discreet.core import InvalidInput
from discreet.data.failures import quiet_opening
from discreet.data.postgres.catalogue import Relation, written_relation
from discreet.data.reading.importing import loaded_apart
from discreet.data.reading.public_tables import held_schema
from discreet.data.reading.table_sources import Entering

#: Statements should stay short enough to be planned in no time.
MOST_CELLS = 100_000


def framed_relation(entering: Entering) -> Relation:
    """Return the rows of a file or a frame as a public table. What they hold is read as everywhere else, by DuckDB."""
    return quiet_opening(lambda: _written(entering))


def _written(entering: Entering) -> Relation:
    with loaded_apart(entering) as (connection, imported):
        ((size,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608 - our own name
        if size * len(imported.columns) > MOST_CELLS:
            raise InvalidInput(
                f"The public table {entering.declaration.table!r} is too large to be written into statements.",
                fix="load it into the database, and pass its name there",
            )
        schema = held_schema(entering, imported.columns, connection)
        places = {column.name: f"c{place}" for place, column in enumerate(imported.columns)}
        names = ", ".join(places[column.name] for column in schema.columns)
        rows = connection.execute(f"SELECT {names} FROM {entering.rows}").fetchall()  # noqa: S608 - our own names
    return written_relation(schema, rows)

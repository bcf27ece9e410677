"""The engines that pass the contract of tables: for each, how a table is made from a schema and plain rows."""

import pyarrow as pa

from discreet.core.schema import Kind

ARROW_TYPES = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


def arrow_table(schema, rows):
    """Return plain rows as an Arrow table, in the order of the schema's columns."""
    return pa.table(
        {
            column.name: pa.array([row[column.name] for row in rows], ARROW_TYPES[column.kind])
            for column in schema.columns
        }
    )


def duck_table(schema, rows):
    """Return a table of the embedded engine."""
    from discreet.data.importing import open_table

    return open_table(
        arrow_table(schema, rows),
        table=schema.table,
        unit=schema.unit,
        bounds={column.name: column.bounds for column in schema.columns if column.bounds is not None},
        groups={column.name: column.groups for column in schema.columns if column.groups is not None},
    )


def postgres_table(schema, rows):
    """Return a table of a PostgreSQL server, which is started once."""
    from postgres_tables import postgres_table

    return postgres_table(schema, rows)


#: Whoever joins has to pass the same tests.
ENGINES = {"duckdb": duck_table, "postgres": postgres_table}
#: Of so many random worlds as others pass, an engine passes one in so many, if each takes it long.
ONE_IN = {"postgres": 6}

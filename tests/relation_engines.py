"""The engines that pass the contract of relations: for each, how tables are made from plain rows."""

from data_engines import arrow_table


def declared(schema):
    """Return what is declared of a table's columns."""
    return {
        "bounds": {column.name: column.bounds for column in schema.columns if column.bounds is not None},
        "groups": {column.name: column.groups for column in schema.columns if column.groups is not None},
    }


def duck_tables(private, public):
    """Return tables of the embedded engine: for each name a schema and rows."""
    from discreet.data.opening import open_tables
    from discreet.data.reading.table_sources import TableSource

    unit = next(iter(private.values()))[0].unit
    return open_tables(
        {
            name: TableSource(
                source=arrow_table(schema, rows),
                person=schema.unit.column,
                time=None if schema.unit.window is None else schema.unit.window.time,
                rows_per_person=schema.rows_per_person,
                **declared(schema),
            )
            for name, (schema, rows) in private.items()
        },
        unit=unit,
        public={name: arrow_table(schema, rows) for name, (schema, rows) in public.items()},
    )


def of_server(private, public):
    """Return tables of a PostgreSQL."""
    from postgres_tables import postgres_tables

    return postgres_tables(private, public)


def of_spark(private, public):
    """Return tables of a Spark."""
    from spark_tables import spark_tables

    return spark_tables(private, public)


#: Whoever joins has to pass the same tests.
RELATION_ENGINES = {"duckdb": duck_tables, "postgres": of_server, "spark": of_spark}
#: Of so many random worlds as others pass, an engine passes one in so many, if each takes it long.
RELATIONS_ONE_IN = {"spark": 20}

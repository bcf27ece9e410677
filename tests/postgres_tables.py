"""Tables of a real PostgreSQL for the contract of engines: one server for all tests of a process."""

import atexit
from contextlib import ExitStack
from functools import cache
from itertools import count

import psycopg

from discreet.core.schema import Kind
from discreet.data.engine_rules import EngineSettings
from discreet.data.postgres.catalogue import Catalogue, PostgresSources, private_relation, public_relation
from discreet.data.postgres.sessions import Sessions
from discreet.data.postgres.table import PostgresTables
from discreet.data.reading.table_sources import Declaration
from postgres_server import server

TYPES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "float8",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}
#: The column that keeps the order in which rows are given: rows of a server have none.
PLACE = "__n"
#: Tables that stay: a test has no more at a time.
KEPT = 20
NUMBERS = count(KEPT)


@cache
def running():
    """Return a server that ends with this process."""
    stack = ExitStack()
    found = stack.enter_context(server())
    atexit.register(stack.close)
    return found


class Writer:
    """One connection that fills tables, and one pool that reads them."""

    def __init__(self):
        self.connection = psycopg.connect(running().plain, autocommit=True)
        # What these tests write may be lost.
        self.connection.execute("ALTER SYSTEM SET fsync = off")
        self.connection.execute("SELECT pg_reload_conf()")
        self.connection.execute("SET client_min_messages = error; SET timezone = 'UTC'")
        self.sessions = Sessions(running().plain, EngineSettings(seconds=60))
        self.catalogue = Catalogue(self.sessions.ask, self.sessions.path())

    def fill(self, schema, rows):
        """Return the name of a new table with some rows, in their order."""
        number = next(NUMBERS)
        name = f"rows_{number}"
        columns = ", ".join(f"{quoted(column.name)} {TYPES[column.kind]}" for column in schema.columns)
        self.connection.execute(
            f"DROP TABLE IF EXISTS rows_{number - KEPT}; CREATE UNLOGGED TABLE {name} ({columns}, {PLACE} bigint)"
        )
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for place, row in enumerate(rows):
                copy.write_row([*(row[column.name] for column in schema.columns), place])
        return name


@cache
def writer():
    return Writer()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def declared(schema):
    """Return what a schema says, as it is declared."""
    return Declaration(
        table=schema.table,
        unit=schema.unit,
        bounds={column.name: column.bounds for column in schema.columns if column.bounds is not None},
        groups={column.name: column.groups for column in schema.columns if column.groups is not None},
        kinds={},
        complete=(),
        order=PLACE,
        rows_per_person=schema.rows_per_person,
    )


def private_of(schema, rows):
    return private_relation(writer().catalogue, writer().fill(schema, rows), declared(schema), (PLACE,))


def postgres_table(schema, rows):
    """Return a table of PostgreSQL."""
    return PostgresTables(writer().sessions, PostgresSources({schema.table: private_of(schema, rows)}, {}))


def postgres_tables(private, public):
    """Return tables of PostgreSQL: for each name a schema and rows."""
    return PostgresTables(
        writer().sessions,
        PostgresSources(
            {name: private_of(schema, rows) for name, (schema, rows) in private.items()},
            {
                name: public_relation(writer().catalogue, writer().fill(schema, rows), name)
                for name, (schema, rows) in public.items()
            },
        ),
    )

"""Imports tables into DuckDB: rows are loaded once, cleaned, clustered by unit, and locked in.

The engine's table `rows` has the columns c0, c1, … of the schema; rows of one unit are neighbours, in the order of the
source. `units` has the name of each unit and its number of rows, in the same order. Rows of nobody are left out. Where
several tables are opened together, these names end in a number (`discreet.data.opening`).
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.algebra.unit_keys import unit_keys
from discreet.core.schema import Schema
from discreet.data.duckdb.clustering import UnitColumn, beyond_statements, cluster_statements, read_units
from discreet.data.duckdb.expressions import Scope, compile_sql
from discreet.data.duckdb.import_files import ImportFile
from discreet.data.duckdb.imported import Holding
from discreet.data.reading.connection import connect, connect_spilling
from discreet.data.reading.importing import Imported, load_rows
from discreet.data.reading.sources import stamp_of
from discreet.data.reading.table_sources import Entering
from discreet.data.settings import EngineSettings

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def import_tables(
    entering: Sequence[Entering], store: Path | None, settings: EngineSettings
) -> tuple["DuckDBPyConnection", list[Imported]]:
    """Return an engine with the rows of some sources in it, not yet locked."""
    if store is None:
        connection = connect_spilling(":memory:", settings)
        return connection, [_import(connection, table) for table in entering]
    file = ImportFile(store, tuple(table.stamp for table in entering))
    if any(stamp_of(table.source) is None for table in entering) or not file.is_current(settings):
        with tempfile.TemporaryDirectory(dir=store.parent, prefix=".discreet-") as place:
            fresh = Path(place) / "import"
            connection = connect(str(fresh), settings, spill=place)
            file.write(connection, [_import(connection, table) for table in entering])
            connection.close()
            file.put_in_place(fresh)
    connection = connect_spilling(str(store), settings, read_only=True)
    return connection, file.read(connection)


def read_holding(connection: "DuckDBPyConnection", entering: Entering, imported: Imported) -> Holding:
    """Return what an import has left behind."""
    units, beyond = None, 0
    if entering.declaration.unit.column is not None:
        units = read_units(lambda text: connection.execute(text).fetchnumpy(), entering.units)
        ((beyond,),) = connection.execute(f"SELECT count(*) FROM {entering.beyond}").fetchall()  # noqa: S608 - our own name
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608 - our own name
    names = {column.name: f"c{place}" for place, column in enumerate(imported.columns)}
    return Holding(connection, names, rows, units, entering.rows, entering.beyond if beyond else "")


def _import(connection: "DuckDBPyConnection", entering: Entering) -> Imported:
    declaration = entering.declaration
    if declaration.unit.column is None:
        return load_rows(connection, entering, f"TABLE {entering.rows}")
    imported = load_rows(connection, entering, "TEMP TABLE staged")
    _cluster(connection, declaration.schema(imported.columns), declaration.order_in(imported.columns), entering)
    return imported


def _cluster(connection: "DuckDBPyConnection", schema: Schema, order: str | None, entering: Entering) -> None:
    """Put the rows of each unit together, in the order of the source. Rows of nobody and beyond the cap are not."""
    places = {name: f"c{place}" for place, name in enumerate(schema.names)}
    ids = [UnitColumn(compile_sql(key, Scope(places)).text, key.kind) for key in unit_keys(schema)]
    by = ("rowid",) if order is None else (places[order], "rowid")
    names, columns = (f"TABLE {entering.rows}", f"TABLE {entering.units}"), tuple(places.values())
    set_aside = beyond_statements(entering.beyond, "staged", columns, ids, by, schema.rows_per_person)
    for statement in (*set_aside, *cluster_statements(*names, "staged", columns, ids, by)):
        connection.execute(statement)
    connection.execute("DROP TABLE staged")

"""Imports tables into DuckDB: rows are loaded once, cleaned, clustered by unit, locked in, and kept in a file if asked.

The engine's table `rows` has the columns c0, c1, … of the schema; rows of one unit are neighbours, in the order of the
source. `units` has the name of each unit and its number of rows, in the same order. Rows without a person are left out.
If several tables are opened together, these names end in a number (`discreet.data.opening`). The person's column of a
table that leads to the person by a key is its last one (`discreet.data.reading.foreign_keys`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.algebra.row_caps import unit_keys
from discreet.core.private_files import PRIVATE, working_folder
from discreet.core.schema import Column, Kind, Schema
from discreet.data.duckdb.clustering import UnitColumn, beyond_statements, cluster_statements, read_units
from discreet.data.duckdb.connection import Holding
from discreet.data.duckdb.expressions import Scope, compile_sql
from discreet.data.engine_rules import EngineSettings
from discreet.data.reading.connecting import connect, connect_spilling
from discreet.data.reading.foreign_keys import children_of, key_columns, key_pairs, sort_by_parents
from discreet.data.reading.import_progress import begin_step
from discreet.data.reading.importing import Imported, Parent, lead_to_person, load_rows, parent_of
from discreet.data.reading.sources import stamp_of
from discreet.data.reading.table_sources import Entering

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# An import that is kept: a DuckDB file for its owner alone, used again while its source has not changed.

#: Counts up when an import of today could not be read tomorrow, or would be another one.
FORMAT = 7
#: Rows on their way.
STAGED = "staged"
#: Those that were led to their person by a key, until they are staged.
LED = "led"


@dataclass(frozen=True, slots=True)
class ImportFile:
    """The place of a kept import, and its origin: the state of the sources, and the columns of the privacy unit."""

    path: Path
    stamps: tuple[str, ...]

    @property
    def _made_of(self) -> str:
        return json.dumps([FORMAT, self.stamps])

    def open_current(self, settings: EngineSettings) -> "DuckDBPyConnection | None":
        """Return an engine on the import of the source as it is now, if there is one.

        What it was made of is read by the engine that is returned: another process may replace the file at any time.
        """
        if not self.path.is_file():
            return None
        try:
            connection = connect_spilling(str(self.path), settings, read_only=True)
        except Exception:  # noqa: BLE001 - in any case it is not an import of ours, and another one is made
            return None
        try:
            is_current = self._read_text(connection, "made of") == self._made_of
        except Exception:  # noqa: BLE001 - the same
            is_current = False
        if is_current:
            return connection
        connection.close()
        return None

    def make_anew(self, entering: Sequence[Entering], settings: EngineSettings) -> "DuckDBPyConnection":
        """Import the sources, put the file in its place when it is complete, and return an engine on it.

        The engine is on that very file, also if another process has put a file of its own in the place.
        """
        with working_folder(self.path.parent) as place:
            fresh = place / "import"
            with connect(str(fresh), settings, spill=str(place)) as connection:
                self.write(connection, import_tables(connection, entering))
            opened = connect_spilling(str(fresh), settings, read_only=True)
            self.put_in_place(fresh)
        return opened

    def write(self, connection: "DuckDBPyConnection", imported: Sequence[Imported]) -> None:
        """Complete an import by what it was made of, and make it durable."""
        columns = [[[column.name, column.kind.value] for column in table.columns] for table in imported]
        connection.execute("CREATE TABLE about (what VARCHAR, text VARCHAR)")
        for topic, text in (
            ("made of", self._made_of),
            ("columns", json.dumps(columns)),
            ("left out", json.dumps([dict(table.left_out) for table in imported])),
            ("spelling", json.dumps([table.spelling for table in imported])),
        ):
            connection.execute("INSERT INTO about VALUES ($what, $text)", {"what": topic, "text": text})
        connection.execute("CHECKPOINT")

    def put_in_place(self, fresh: Path) -> None:
        """Replace the file by a fresh one, at once, for its owner alone."""
        fresh.chmod(PRIVATE)
        fresh.replace(self.path)

    def read(self, connection: "DuckDBPyConnection") -> list[Imported]:
        """Return the imported facts of each source."""
        columns, left_out, spellings = (
            json.loads(self._read_text(connection, topic)) for topic in ("columns", "left out", "spelling")
        )
        return [
            Imported(tuple(Column(name=name, kind=Kind(kind)) for name, kind in mine), reasons, spelling)
            for mine, reasons, spelling in zip(columns, left_out, spellings, strict=True)
        ]

    def _read_text(self, connection: "DuckDBPyConnection", topic: str) -> str:
        ((text,),) = connection.execute("SELECT text FROM about WHERE what = $what", {"what": topic}).fetchall()
        return str(text)


def import_file(
    entering: Sequence[Entering], store: Path, settings: EngineSettings
) -> tuple["DuckDBPyConnection", list[Imported]]:
    """Return an engine on a file with the rows of some sources, not yet locked; the file is made anew if it is old."""
    file = ImportFile(store, tuple(table.stamp for table in entering))
    lasting = all(stamp_of(table.source) is not None for table in entering)
    connection = (file.open_current(settings) if lasting else None) or file.make_anew(entering, settings)
    return connection, file.read(connection)


def outline_holding(connection: "DuckDBPyConnection", entering: Entering, imported: Imported) -> Holding:
    """Return the public part of an import: the names of its columns. It has no rows."""
    names = {column.name: f"c{place}" for place, column in enumerate(imported.columns)}
    return Holding(connection, names, 0, None, entering.rows)


def read_holding(connection: "DuckDBPyConnection", entering: Entering, imported: Imported) -> Holding:
    """Return the result of an import."""
    units, beyond = None, 0
    if entering.declaration.unit.column is not None:
        units = read_units(lambda text: connection.execute(text).fetchnumpy(), entering.units)
        ((beyond,),) = connection.execute(f"SELECT count(*) FROM {entering.beyond}").fetchall()  # noqa: S608 - our own name
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {entering.rows}").fetchall()  # noqa: S608 - our own name
    outline = outline_holding(connection, entering, imported)
    return replace(outline, rows=rows, units=units, beyond=entering.beyond if beyond else "")


def import_tables(connection: "DuckDBPyConnection", entering: Sequence[Entering]) -> list[Imported]:
    """Take over the rows of sources, parents before those that lead to the person by their keys."""
    declarations = [table.declaration for table in entering]
    imported: dict[int, Imported] = {}
    parents: dict[int, Parent] = {}
    for place in sort_by_parents(declarations):
        children = children_of(place, declarations)
        below = [entering[child] for child in children]
        imported[place] = import_table(connection, entering[place], below, parents.get(place))
        parents |= dict.fromkeys(children, parent_of(entering[place], imported[place]))
    return [imported[place] for place in range(len(entering))]


def import_table(
    connection: "DuckDBPyConnection",
    entering: Entering,
    children: Sequence[Entering] = (),
    parent: Parent | None = None,
) -> Imported:
    """Take over the rows of a source; what an import that failed has left behind is dropped."""
    owners = [child.owners for child in children]
    for name in (entering.rows, entering.units, entering.beyond, STAGED, LED, *owners):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    declaration = entering.declaration
    if declaration.unit.column is None:
        return load_rows(connection, entering, f"TABLE {entering.rows}")
    imported = load_rows(connection, entering, f"TEMP TABLE {STAGED}")
    if parent is not None:
        imported = _add_person(connection, entering, imported, parent)
    schema = declaration.schema(imported.columns)
    for child in children:
        _keep_owners(connection, child, schema)
    _cluster(connection, schema, declaration.order_in(imported.columns), entering)
    return imported


def _keep_owners(connection: "DuckDBPyConnection", child: Entering, parent: Schema) -> None:
    """Keep the different pairs of key and person of a parent, of all of its rows, for one child."""
    numbers = {name: place for place, name in enumerate(parent.names)}
    keys = key_columns(child.declaration, parent)
    items = [f"c{numbers[key.name]} AS k{place}" for place, key in enumerate(keys)]
    person = f"c{numbers[str(parent.unit.column)]}"
    connection.execute(
        f"CREATE TEMP TABLE {child.owners} AS SELECT DISTINCT {', '.join(items)}, {person} AS person FROM {STAGED} "  # noqa: S608 - our own names
        f"WHERE {person} IS NOT NULL"
    )


def _add_person(connection: "DuckDBPyConnection", entering: Entering, imported: Imported, parent: Parent) -> Imported:
    """Give staged rows the person that their key leads to; rows without one are left out. Their order stays."""
    declaration = entering.declaration
    numbers = {column.name: place for place, column in enumerate(imported.columns)}
    pairs = key_pairs(declaration, imported.columns, parent.schema)
    same = " AND ".join(f"s.c{numbers[own.name]} = o.k{place}" for place, (own, _) in enumerate(pairs))
    items = ", ".join(f"s.c{place} AS c{place}" for place in numbers.values())
    led = (
        f"SELECT {items}, o.person AS c{len(numbers)} FROM {STAGED} AS s "  # noqa: S608 - our own names
        f"JOIN {entering.owners} AS o ON {same} ORDER BY s.rowid, o.person"
    )
    for statement in (
        f"CREATE TEMP TABLE {LED} AS {led}",
        f"DROP TABLE {STAGED}",
        f"ALTER TABLE {LED} RENAME TO {STAGED}",
        f"DROP TABLE {entering.owners}",
    ):
        connection.execute(statement)
    return lead_to_person(declaration, imported, parent)


def _cluster(connection: "DuckDBPyConnection", schema: Schema, order: str | None, entering: Entering) -> None:
    """Put the rows of each unit together, in the order of the source, without rows of no person or beyond the cap."""
    places = {name: f"c{place}" for place, name in enumerate(schema.names)}
    ids = [UnitColumn(compile_sql(key, Scope(places)).text, key.kind) for key in unit_keys(schema)]
    by = ("rowid",) if order is None else (places[order], "rowid")
    names, columns = (f"TABLE {entering.rows}", f"TABLE {entering.units}"), tuple(places.values())
    begin_step(connection)
    set_aside = beyond_statements(entering.beyond, STAGED, columns, ids, by, schema.rows_per_person)
    for statement in (*set_aside, *cluster_statements(*names, STAGED, columns, ids, by)):
        connection.execute(statement)
    connection.execute(f"DROP TABLE {STAGED}")

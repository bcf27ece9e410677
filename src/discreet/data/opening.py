"""Opens tables on DuckDB, PostgreSQL and Spark, and measures the SQL of an expression over all three."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.algebra.declarations import AnyBounds, AnyKind, complete_of, formats_of, kinds_of
from discreet.algebra.expressions import Expression
from discreet.core import DiscreetError, PrivacyUnit
from discreet.core.schema import ROWS_PER_PERSON, Value
from discreet.data.duckdb.deferred_import import DeferredTables, OutlinedTable
from discreet.data.duckdb.expressions import write_sql as write_duckdb
from discreet.data.duckdb.importing import import_table
from discreet.data.duckdb.table import DuckTable
from discreet.data.engine_rules import DEFAULT_SETTINGS, SPARK_SETTINGS, EngineSettings, quiet_opening
from discreet.data.postgres.expressions import write_sql as write_postgres
from discreet.data.reading.connecting import connect_spilling
from discreet.data.reading.csv_format import read_csv_format
from discreet.data.reading.duckdb_relations import check_plain, is_relation
from discreet.data.reading.importing import describe_sources
from discreet.data.reading.public_tables import read_public_schema
from discreet.data.reading.sources import compute_frame
from discreet.data.reading.table_sources import (
    Declaration,
    Entering,
    declare_public_table,
    declare_table,
    need_names,
    need_one_kind,
)
from discreet.data.spark.expressions import write_sql as write_spark
from discreet.data.sql.dialect import WriteSql, measure

if TYPE_CHECKING:
    from discreet.data.postgres.table import PostgresTables
    from discreet.data.spark.table import SparkTable


def open_table(  # noqa: PLR0913 - all but the first are named
    source: object,
    *,
    table: str,
    unit: PrivacyUnit,
    bounds: Mapping[str, AnyBounds] | None = None,
    groups: Mapping[str, Sequence[Value]] | None = None,
    kinds: Mapping[str, AnyKind] | None = None,
    complete: Iterable[str] = (),
    order: str | None = None,
    rows_per_person: int = ROWS_PER_PERSON,
    inner: str | None = None,
    store: Path | str | None = None,
    csv: object = None,
    settings: EngineSettings = DEFAULT_SETTINGS,
) -> DuckTable:
    """Return a table with the rows of a file or a frame.

    `source` is a path to a CSV, Parquet or DuckDB file (with `inner`, the table in it), a pandas, Polars or Arrow
    frame, or a relation of DuckDB that names columns of a table. Names and kinds of a file's columns are read here, and
    its rows when a question needs them. With `store`, the import is kept in a file of that name, and used again while
    the source has not changed.

    `kinds` says what columns hold ("integer", "real", "text", "boolean", "date", "timestamp"); what does not fit is
    NULL. Columns of a CSV file are texts unless their kind is declared, or their bounds or groups say what they hold
    (numbers are reals then): nothing is guessed from rows. `complete` names columns that have a value in every row.
    `order` names a column that tells the rows of one unit apart, so that which of them count where there are too many
    does not depend on how the source is sorted. Of a unit with more than `rows_per_person` rows, so many are kept:
    which ones depends on its own rows alone (`discreet.algebra.row_caps`). `csv` says how a CSV file is written
    (`CsvFormat`).
    """
    declaration = Declaration(
        table=table,
        unit=unit,
        bounds=bounds or {},
        groups=groups or {},
        kinds=kinds_of(kinds or {}),
        formats=formats_of(kinds or {}),
        csv=read_csv_format(csv),
        complete=complete_of(complete),
        order=order,
        rows_per_person=rows_per_person,
    )
    alone = Entering(source, declaration, inner)
    return quiet_opening(lambda: _open_duckdb([alone], [], None if store is None else Path(store), settings))


def open_tables(
    sources: Mapping[str, object],
    *,
    unit: PrivacyUnit,
    public: Mapping[str, object] | None = None,
    store: Path | str | None = None,
    settings: EngineSettings = DEFAULT_SETTINGS,
) -> DuckTable:
    """Return private tables, and public ones, by name. Each is a `TableSource`, or a source of which nothing is said.

    A person has one id in all private tables: their columns hold values of one kind. Rows of public tables belong to no
    person, and everything about them is public.
    """
    need_names(sources, public or {})
    private = [declare_table(name, source, unit, str(place)) for place, (name, source) in enumerate(sources.items())]
    publics = [
        declare_public_table(name, source, f"_public{place}")
        for place, (name, source) in enumerate((public or {}).items())
    ]
    return quiet_opening(lambda: _open_duckdb(private, publics, None if store is None else Path(store), settings))


def _open_duckdb(
    private: list[Entering], publics: list[Entering], store: Path | None, settings: EngineSettings
) -> DuckTable:
    """Read names and kinds, and the rows of public tables. Those of private files are read when they are needed.

    A frame, or a relation of DuckDB, is taken over at once: its owner may change it afterwards.
    """
    for table in private:
        if is_relation(table.source) and not table.declaration.never_fails:
            check_plain(table.source, table.declaration.table)
    private = [replace(table, source=compute_frame(table.source)) for table in private]
    publics = [replace(table, source=compute_frame(table.source)) for table in publics]
    connection = connect_spilling(":memory:", settings)
    described = zip(private, describe_sources(connection, private), strict=True)
    outlined = [OutlinedTable.of(table, imported) for table, imported in described]
    nobodys = [OutlinedTable.of(table, import_table(connection, table)) for table in publics]
    schemas = {table.name: table.entering.declaration.schema(table.imported.columns) for table in outlined}
    spellings = {table.name: table.imported.spelling for table in (*outlined, *nobodys)}
    need_one_kind(schemas, spellings)
    public_schemas = {
        table.name: read_public_schema(table.entering, table.imported.columns, connection) for table in nobodys
    }
    tables = DeferredTables(connection, outlined, nobodys, (schemas, public_schemas), store, settings)
    if any(table.stamp is None for table in outlined):
        tables.load()
    left_out = {table.name: table.imported.left_out for table in (*outlined, *nobodys)}
    return DuckTable(tables, settings, left_out, spellings)


def open_server(
    address: str,
    tables: Mapping[str, object],
    *,
    unit: PrivacyUnit,
    public: Mapping[str, object] | None = None,
    settings: EngineSettings = DEFAULT_SETTINGS,
) -> "PostgresTables":
    """Return tables of a PostgreSQL server: see `discreet.data.postgres.table.open_server`."""
    from discreet.data.postgres import table  # noqa: PLC0415 - psycopg is an extra

    return table.open_server(address, tables, unit=unit, public=public, settings=settings)


def open_frames(
    sources: Mapping[str, object],
    *,
    unit: PrivacyUnit,
    public: Mapping[str, object] | None = None,
    settings: EngineSettings = SPARK_SETTINGS,
) -> "SparkTable":
    """Return frames of Spark: see `discreet.data.spark.table.open_frames`."""
    from discreet.data.spark import table  # noqa: PLC0415 - PySpark is an extra

    return table.open_frames(sources, unit=unit, public=public, settings=settings)


# The length of an expression's SQL, over all engines: sessions refuse the same questions on each. Sees no row.

WRITERS: tuple[WriteSql, ...] = (write_duckdb, write_postgres, write_spark)


def measure_sql(expression: Expression) -> tuple[int, Counter[str]]:
    """Return the length of an expression's SQL, and how often it names each column: of all engines, the most."""
    longest, named = 0, Counter[str]()
    for write in WRITERS:
        try:
            length, own = measure(expression, write)
        except DiscreetError:
            continue  # that engine refuses it by itself, before it is paid
        longest = max(longest, length)
        named |= own
    return longest, named

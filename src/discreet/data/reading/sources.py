"""Sources of rows: a file (CSV, Excel, Parquet, DuckDB), or a frame in memory (pandas, Polars, Arrow, DuckDB).

The libraries of frames are never loaded here: whose frame it is, is told by the module of its type.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.algebra.names import literal, quote_name
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import closest
from discreet.data.reading.csv_files import CsvFile, is_csv, no_names
from discreet.data.reading.csv_format import CsvFormat
from discreet.data.reading.csv_lines import forget_lines, load_lines
from discreet.data.reading.duckdb_relations import compute_relation, is_relation
from discreet.data.reading.excel_files import columns_sql, forget_cells, is_excel, load_cells, read_names
from discreet.data.reading.partitions import Partitions
from discreet.data.reading.parts import different_columns, list_parts

PARQUET_MAGIC, DUCKDB_MAGIC = b"PAR1", b"DUCK"
#: The name that the source has in statements.
NAME = "source"
#: Arrow types that DuckDB fails on, and those that serve in their place.
UNREADABLE = {"halffloat": "float32", "decimal256": "decimal128 or float64"}
#: How the address of a file elsewhere begins; a path has lost one of its slashes. Drives have one letter.
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """Rows that can be selected from once they are attached: the SQL after FROM, and its parameters."""

    relation: str
    parameters: dict[str, object]
    #: Which file it is, its size and the times of its last change; None for frames.
    stamp: str | None
    #: The names of columns in the source: engines have others for some, where two differ in capitals only.
    names: tuple[str, ...]
    #: Whether columns come with types of their own; otherwise all are texts, and hold what is declared.
    typed: bool = True
    #: How texts are written, where columns have no types.
    form: CsvFormat = field(default_factory=CsvFormat)
    #: What stands in the names of folders.
    partitions: Partitions = field(default_factory=Partitions)


#: Where Spark's frames are defined, classic and Connect. PySpark is an extra, and is not imported to tell.
SPARK_FRAMES = ("pyspark.sql.dataframe", "pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe")


def is_spark_frame(source: object) -> bool:
    """Tell whether a source is a frame of Spark, classic or Connect, or of a class that derives from one."""
    return any(kind.__module__ in SPARK_FRAMES and kind.__name__ == "DataFrame" for kind in type(source).__mro__)


def attach(
    connection: Any, source: object, inner: str | None, form: CsvFormat | None = None, *, rows: bool = True
) -> Source:
    """Make a source known to a connection, or refuse what is none. `form` says how a CSV file is written.

    Without `rows`, columns are known, and no row of a file is read.
    """
    if isinstance(source, str | Path):
        return _attach_file(connection, Path(source), inner, form, rows=rows)
    _need_no_form(form)
    if inner is not None:
        raise InvalidInput("A frame has no tables inside.", fix="leave `inner` out; it names a table of a DuckDB file")
    frame: Any = compute_frame(source)
    module = type(frame).__module__.partition(".")[0]
    if module not in ("pandas", "polars", "pyarrow"):
        raise WrongType(
            f"The source is {kind_of(source)}, which cannot be opened.",
            fix="pass a path to a CSV, Excel, Parquet or DuckDB file, a pandas, Polars or Arrow frame, or a DuckDB "
            "relation",
        )
    if module == "pandas":
        # Otherwise the type of a column of objects would be that of a few of them.
        connection.execute("SET GLOBAL pandas_analyze_sample = 2147483647")
    if module == "pyarrow":
        _need_readable(frame)
    connection.register(NAME, frame)
    own = frame.column_names if module == "pyarrow" else frame.columns
    return Source(NAME, {}, None, tuple(map(str, own)))


def _need_readable(table: Any) -> None:
    """Refuse an Arrow table with a column of a type that the engine cannot read, by its type."""
    for field_of in table.schema:
        unreadable = next((name for name in UNREADABLE if name in str(field_of.type)), None)
        if unreadable is not None:
            raise InvalidInput(
                f"The column {field_of.name!r} has the Arrow type {unreadable}, which cannot be read.",
                fix=f"cast it to {UNREADABLE[unreadable]} before the table is opened, or leave it out",
            )


def compute_frame(source: object) -> Any:
    """Return a frame with its rows: a lazy one, or a relation of DuckDB, is computed, once."""
    if is_relation(source):
        return compute_relation(source)
    frame: Any = source
    lazy = type(source).__module__.partition(".")[0] == "polars" and type(source).__name__ == "LazyFrame"
    return frame.collect() if lazy else frame


def detach(connection: Any, source: Source) -> None:
    """Forget a source."""
    if source.relation == NAME:
        connection.unregister(NAME)
    elif source.relation.startswith(f"{NAME}."):
        connection.execute(f"DETACH {NAME}")
    elif not source.typed:
        forget_lines(connection)
        forget_cells(connection)


def stamp_of(source: object) -> str | None:
    """Return which file it is, its size and the times of its last change; None for what is no file.

    One of them is the time that the system itself has noted (`ctime`): an edit that keeps the size and sets the other
    time back is seen, too.
    """
    if not isinstance(source, str | Path):
        return None
    need_local(source)
    path = Path(source)
    return "\n".join(_stamp_file(part.resolve(), _folders_of(part, path)) for part in list_parts(path))


def _folders_of(part: Path, path: Path) -> str:
    """Return the folders between a table and a file, which say what stands in some columns."""
    return str(part.relative_to(path).parent) if path.is_dir() else ""


def _stamp_file(path: Path, folders: str) -> str:
    status = path.stat()
    return f"{path} {folders} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def need_local(source: str | Path) -> None:
    """Refuse the address of a file elsewhere. Its password, if it has one, is not quoted."""
    if ADDRESS.match(str(source)):
        raise InvalidInput(
            "Addresses such as s3:// and https:// are not opened: the engine reads files of this machine only.",
            fix="download the file, and pass the path of the copy (docs/decisions/remote-files.md says why)",
        )


def _need_no_form(form: CsvFormat | None) -> None:
    if form not in (None, CsvFormat()):
        raise InvalidInput(
            "csv is declared of a table that is no CSV file.", fix="leave out csv; it says how a CSV file is written"
        )


def _attach_file(connection: Any, path: Path, inner: str | None, form: CsvFormat | None, *, rows: bool) -> Source:
    stamp = stamp_of(path)
    parts = list_parts(path)
    magics = {_read_magic(part) for part in parts}
    if not is_csv(path):
        _need_no_form(form)
    if {magic[8:12] for magic in magics} == {DUCKDB_MAGIC} and len(parts) == 1:
        connection.execute(f"ATTACH {literal(str(path.absolute()))} AS {NAME} (READ_ONLY, TYPE duckdb)")
        table = f"{NAME}.{_inner_table(connection, inner)}"
        return Source(table, {}, stamp, _read_column_names(connection, table))
    if is_excel(path) and len(parts) == 1:
        return _attach_excel(connection, path, inner, stamp, rows=rows)
    if inner is not None:
        raise InvalidInput("Only DuckDB files have tables inside, and Excel files sheets.", fix="leave `inner` out")
    if {magic[:4] for magic in magics} == {PARQUET_MAGIC}:
        return _attach_parquet(connection, path, parts, stamp)
    if is_csv(path):
        lines = CsvFile.of(path, form or CsvFormat())
        if rows:
            load_lines(connection, path, lines.form, lines.cut)
        relation = lines.texts if rows else lines.no_rows
        names = lines.own_names + lines.partitions.names
        return Source(relation, {}, stamp, names, typed=False, form=lines.form, partitions=lines.partitions)
    raise InvalidInput(
        f"It cannot be told what kind of file {path.name!r} is.",
        fix="pass a CSV (.csv), Excel (.xlsx), Parquet or DuckDB file",
    )


def _attach_excel(connection: Any, path: Path, inner: str | None, stamp: str | None, *, rows: bool) -> Source:
    names = read_names(path, inner)
    if not names:
        raise no_names()
    if rows:
        load_cells(connection, path, inner, len(names))
    return Source(columns_sql(names, rows=rows), {}, stamp, names, typed=False)


def _read_magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(12)


def _attach_parquet(connection: Any, path: Path, parts: Sequence[Path], stamp: str | None) -> Source:
    """Return the rows of Parquet files whose footers name the same columns of the same types."""
    # A folder called "id=7" further up would replace a column of the file: partitions are read off the names here.
    scan = "read_parquet($path, hive_partitioning = false)"
    described = [
        connection.execute(f"DESCRIBE SELECT * FROM {scan}", {"path": [str(part)]}).fetchall()  # noqa: S608 - our own words
        for part in parts
    ]
    for part, columns in zip(parts, described, strict=True):
        if [column[:2] for column in columns] != [column[:2] for column in described[0]]:
            raise different_columns(parts[0], part)
    names = _parquet_names(connection, {"path": str(parts[0])})
    partitions = Partitions.of(path)
    if partitions.names:
        _check_partitions(partitions, names)
        scan = f"(SELECT *{partitions.select('CAST(file_index AS BIGINT)')} FROM {scan})"  # noqa: S608 - quoted there
        names += partitions.names
    return Source(scan, {"path": [str(part) for part in parts]}, stamp, names, partitions=partitions)


def _check_partitions(partitions: Partitions, names: Sequence[str]) -> None:
    """Refuse columns of files that folders name, too, or that hide the number of the file that a row is in."""
    partitions.check_apart(names)
    if any(name.casefold() == "file_index" for name in (*names, *partitions.names)):
        raise InvalidInput(
            "A table whose folders name columns has a column 'file_index', which the engine uses for their files.",
            fix="rename the column",
        )


def own_names(connection: Any, path: Path, form: CsvFormat) -> tuple[str, ...]:
    """Return the names of columns that a file has itself; none of a DuckDB file, which tells its columns apart."""
    if is_csv(path):
        return CsvFile.of(path, form).own_names
    first = list_parts(path)[0]
    parquet = _read_magic(first)[:4] == PARQUET_MAGIC
    return _parquet_names(connection, {"path": str(first)}) if parquet else ()


def _read_column_names(connection: Any, table: str) -> tuple[str, ...]:
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()  # noqa: S608 - its name is quoted
    return tuple(str(name) for name, *_ in described)


def _parquet_names(connection: Any, parameters: dict[str, object]) -> tuple[str, ...]:
    """Return the names of a file's columns: the fields of its first entry, each before the fields of its own."""
    entries = connection.execute("SELECT name, num_children FROM parquet_schema($path)", parameters).fetchall()
    names, inside = [], 0
    for name, fields in entries[1:]:
        if not inside:
            names.append(str(name))
        inside = max(inside - 1, 0) + (fields or 0)
    return tuple(names)


def _inner_table(connection: Any, inner: str | None) -> str:
    """Return the quoted name of the table inside a DuckDB file that is meant."""
    rows = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $name AND NOT internal ORDER BY ALL",
        {"name": NAME},
    ).fetchall()
    tables = {table: schema for schema, table in rows}
    if inner is None and len(tables) != 1:
        shown = ", ".join(repr(table) for table in tables) or "none"
        raise InvalidInput(f"The file has several tables, or none: {shown}.", fix='name the one you mean: inner="…"')
    chosen = next(iter(tables)) if inner is None else inner
    if chosen not in tables:
        meant = closest(chosen, tables)
        raise InvalidInput(
            f"There is no table {chosen!r} in the file.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(tables)}",
        )
    return f"{quote_name(tables[chosen])}.{quote_name(chosen)}"

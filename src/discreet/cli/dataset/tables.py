"""Reads which tables a dataset begins with (files, or tables of a database), and the kinds of their columns.

Kinds are public. A kind that is read off the rows is decided by all of them: one cell makes `integer` a `text`, and
tells so of the row that it is in. So a CSV file's kinds are those that are declared, unless the steward agrees.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from discreet.algebra.declarations import AnyKind
from discreet.cli import console
from discreet.cli.parsing import PROJECT, Arguments
from discreet.core import InvalidInput
from discreet.core.schema import Column, Kind
from discreet.gate import SERVER
from discreet.session import ledger_beside, table_name
from discreet.session.source_columns import (
    CsvFormat,
    columns_in_database,
    columns_of,
    find_csv,
    has_texts_alone,
    is_excel,
    is_several,
    list_parts,
    need_local,
)

#: How several tables are written.
BY_NAME = "--table NAME=FILE"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TablePlaces:
    """The places of private and public tables, by their names in SQL: in files, or under names in a database."""

    tables: Mapping[str, Path | str]
    public: Mapping[str, Path | str]
    address: str | None
    inner: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """What SQL calls the private tables."""
        return tuple(self.tables)

    @property
    def file(self) -> Path | None:
        """The only file, if there is one."""
        first = next(iter(self.tables.values()))
        return first if len(self.tables) == 1 and isinstance(first, Path) else None

    @property
    def files(self) -> dict[str, Path]:
        """The files of private tables."""
        return {name: place for name, place in self.tables.items() if isinstance(place, Path)}

    @property
    def project(self) -> Path:
        """The default place of the settings: beside the first file."""
        first = next(iter(self.files.values()), None)
        return Path(PROJECT) if first is None else first.with_name(PROJECT)

    def ledger(self, project: Path) -> Path:
        """Return the default place of the account: beside the only file, or beside the settings of several."""
        if self.address is not None:
            raise InvalidInput(
                "A database does not say where its ledger is, and a budget is for life.",
                fix="pass --ledger clinic.ledger: it is created there, and found again",
            )
        return project.with_suffix(".ledger") if self.file is None else ledger_beside(self.file)

    def columns(self, name: str, kinds: Mapping[str, AnyKind], csv: CsvFormat | None = None) -> tuple[Column, ...]:
        """Return the names and kinds of a table's columns, and nothing of its rows."""
        if self.address is None:
            return columns_of(self.files[name], inner=self.inner, kinds=kinds, csv=csv)
        return columns_in_database(self.address, str(self.tables[name]), kinds)

    def find_csv(self, name: str, declared: CsvFormat) -> tuple[CsvFormat, dict[str, AnyKind]]:
        """Return how a CSV file is written, and what its columns hold, off all rows; nothing of other tables."""
        file = self.files.get(name)
        if file is None or self.inner is not None or not has_texts_alone(file):
            return declared, {}
        return find_csv(file, declared)

    def public_columns(self, name: str, csv: CsvFormat | None = None) -> tuple[Column, ...]:
        """Return the columns of a public table."""
        place = self.public[name]
        if self.address is not None or isinstance(place, str):
            return columns_in_database(str(self.address), str(place))
        kinds = find_csv(place, csv or CsvFormat())[1] if has_texts_alone(place) else {}
        return columns_of(place, kinds=kinds, csv=csv)


def read_places(arguments: Arguments) -> TablePlaces:
    """Return which tables are meant."""
    typed, public, inner = arguments.table or [], arguments.public or [], arguments.inner
    addresses = [file for file in arguments.files if file.startswith(SERVER)]
    if addresses:
        _need_database(arguments, addresses)
        need_no_password(addresses[0])
        return TablePlaces(
            tables=_read_database_tables(typed),
            public=_read_database_tables(public, "--public"),
            address=addresses[0],
            inner=None,
        )
    tables = _read_files(arguments.files, typed)
    if not tables:
        raise InvalidInput("There is no table.", fix=f"pass a file, or several: {BY_NAME}, once for each")
    if inner is not None and len(tables) > 1:
        raise InvalidInput(
            "--inner applies to a single DuckDB file.", fix="leave it out, and pass files with one table each"
        )
    shared = _read_named_files([], public, "--public NAME=FILE")
    known = {name.casefold() for name in tables}
    if any(name.casefold() in known for name in shared):
        raise InvalidInput(
            "A table is private and public under one name.", fix="give the public one another: --public NAME=FILE"
        )
    _need_there([*tables.values(), *shared.values()])
    return TablePlaces(tables=tables, public=shared, address=None, inner=inner)


def _read_files(files: Sequence[str], typed: Sequence[str]) -> dict[str, Path]:
    """Return files by the names of their tables. A name without a file is that of the only one."""
    bare = [text for text in typed if "=" not in text]
    if not bare:
        return _read_named_files(files, typed, BY_NAME)
    if len(files) != 1 or len(typed) != 1:
        raise InvalidInput("--table names a table without its file.", fix=f"write {BY_NAME} for each table")
    return {bare[0]: Path(files[0])}


def _read_named_files(files: Sequence[str], typed: Sequence[str], form: str) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    pairs = [(table_name(Path(file)), file) for file in files]
    for text in typed:
        name, sign, file = text.partition("=")
        pairs.append((name.strip(), file) if sign else (table_name(Path(text)), text))
    for name, file in pairs:
        if not name or not file:
            raise InvalidInput("A table has no name, or no file.", fix=f"write {form}")
        if name.casefold() in map(str.casefold, paths):
            raise InvalidInput("Two tables have one name.", fix=f"give each its own: {form}")
        paths[name] = Path(file)
    return paths


def _read_database_tables(typed: Sequence[str], option: str = "--table") -> dict[str, Path | str]:
    """Return tables of a database by their names, which may have a schema before them."""
    tables: dict[str, Path | str] = {}
    for text in typed:
        name = text.rpartition(".")[2]
        if not name or "=" in text:
            raise InvalidInput(
                f"{option} is not the name of a table of the database.", fix=f"write {option} visits, once for each"
            )
        if name in tables:
            raise InvalidInput("Two tables have one name.", fix=f"leave one {option} out")
        tables[name] = text
    return tables


def _need_database(arguments: Arguments, addresses: Sequence[str]) -> None:
    if len(arguments.files) > 1 or len(addresses) > 1:
        raise InvalidInput("Tables are in one database, or in files.", fix="pass one address, and --table for each")
    if not arguments.table:
        raise InvalidInput("Which tables of the database are meant?", fix="pass --table visits, once for each")
    if arguments.inner is not None:
        raise InvalidInput("--inner applies to DuckDB files only.", fix="leave it out")


def need_no_password(address: str) -> None:
    """Refuse an address with a password: it would be in the settings, for all who read them."""
    parts = urlsplit(address)
    if parts.password is not None or "password" in parse_qs(parts.query, keep_blank_values=True):
        raise InvalidInput(
            "The address contains a password, which would be written to the settings.",
            fix="leave it out: PostgreSQL looks for it in the file that PGPASSFILE names, or in PGPASSWORD",
        )


def _need_there(files: Sequence[Path]) -> None:
    for file in files:
        need_local(file)
        if is_several(file):
            list_parts(file)
    if any(not file.is_file() and not is_several(file) for file in files):
        problem = "There is no file at this path." if len(files) == 1 else "There is no file at one of these paths."
        raise InvalidInput(problem, fix="pass a .csv, .tsv, .xlsx, .parquet or .duckdb file")


KINDS_OFF_ROWS = """\
With y, each column of a CSV file has the narrowest kind that all of its values fit, and the signs of numbers and days
are found likewise.
  Privacy: kinds are published without noise. One cell with a letter makes a column of numbers a text, which tells that
  there is such a cell.
  Error: none. From then on values of another kind count as missing.
With n columns are texts, which are counted and grouped by, and not summed: declare the others with --kinds age=integer,
or by bounds."""
#: Bounds that are days, and bounds that are numbers.
DAYS = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*:.*")


def are_read_off_rows(arguments: Arguments, places: TablePlaces, *, asked: bool) -> bool:
    """Whether undeclared kinds are read off the rows: as typed, or as a person answers if one is asked."""
    texts = places.inner is None and any(has_texts_alone(file) for file in places.files.values())
    if not texts or arguments.kinds_from_rows:
        return texts
    if not asked:
        return False
    console.tell(
        "A CSV file does not say what its columns hold. It can be read off all rows, for the settings, which are\n"
        "public; then a single row may decide what a column is said to hold. Otherwise all are texts, but for those\n"
        "that --kinds declares, or bounds."
    )
    return console.ask("Read it off the rows, and publish it? (y/n)", console.read_yes_no, explanation=KINDS_OFF_ROWS)


def imply_kinds(columns: Sequence[Column], places: TablePlaces, name: str, typed: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of a CSV or Excel file; texts that have bounds hold numbers or days, as in `discreet.open`."""
    file = places.files.get(name)
    if file is None or not (is_excel(file) or (places.inner is None and has_texts_alone(file))):
        return tuple(columns)
    implied = {
        column.strip().casefold(): Kind.DATE if DAYS.fullmatch(interval) else Kind.REAL
        for column, _, interval in (text.rpartition("=") for text in typed)
    }
    return tuple(
        replace(column, kind=implied.get(column.name.casefold(), Kind.TEXT)) if column.kind is Kind.TEXT else column
        for column in columns
    )

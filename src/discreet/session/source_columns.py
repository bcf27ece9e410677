"""Columns of files and tables before the privacy unit is declared: names, kinds, and the formats of files."""

from collections.abc import Mapping
from pathlib import Path

from discreet.algebra.declarations import AnyKind
from discreet.core import PrivacyUnit
from discreet.core.schema import Column
from discreet.data import TableSource, open_server, open_table
from discreet.data.reading import (
    CsvFormat,
    check_columns,
    find_format,
    is_csv,
    is_excel,
    is_several,
    list_options,
    list_parts,
    need_local,
    offer_kinds,
    read_csv_format,
)

__all__ = [
    "CsvFormat",
    "columns_in_database",
    "columns_of",
    "find_csv",
    "has_texts_alone",
    "is_excel",
    "is_several",
    "list_options",
    "list_parts",
    "need_local",
    "read_csv_format",
]


def columns_of(
    source: str | Path,
    *,
    inner: str | None = None,
    kinds: Mapping[str, AnyKind] | None = None,
    csv: CsvFormat | None = None,
) -> tuple[Column, ...]:
    """Return the columns that could be asked about, as declared. For the steward, who may read the file anyway.

    What columns of a CSV file hold is what `kinds` says, and texts where it says nothing.
    """
    if inner is None:
        check_columns(Path(source), csv)
    table = open_table(source, table="columns", unit=PrivacyUnit(), inner=inner, kinds=dict(kinds or {}), csv=csv)
    try:
        return table.schema.columns
    finally:
        table.close()


def find_csv(source: Path, declared: CsvFormat) -> tuple[CsvFormat, dict[str, AnyKind]]:
    """Return how a CSV file is written, and what its columns hold, off all rows: one may decide what is public then.

    For the steward, who may read the file anyway, and agrees to publish it.
    """
    form = find_format(source, declared)
    return form, offer_kinds(source, form)


def columns_in_database(address: str, table: str, kinds: Mapping[str, AnyKind] | None = None) -> tuple[Column, ...]:
    """Return the same of a table of a PostgreSQL database, which may have a schema before its name."""
    # No row is read here, so that nothing of the table can fail.
    source = TableSource(source=table, kinds=dict(kinds or {}), never_fails=True)
    tables = open_server(address, {"columns": source}, unit=PrivacyUnit())
    try:
        return tables.schemas["columns"].columns
    finally:
        tables.close()


def has_texts_alone(source: Path) -> bool:
    """Whether a file does not say what its columns hold, as a CSV file does not: it has to be declared."""
    return is_csv(source)

"""The columns of a table, before anybody has said who is protected: their names and kinds, and nothing of the rows."""

from collections.abc import Mapping
from pathlib import Path

from discreet.core import PrivacyUnit
from discreet.core.schema import Column, Kind
from discreet.data import TableSource, open_server, open_table
from discreet.data.reading import check_columns, is_csv, offer_kinds


def columns_of(
    source: str | Path,
    *,
    inner: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    from_rows: bool = False,
) -> tuple[Column, ...]:
    """Return the columns that could be asked about, as declared. For the steward, who may read the file anyway.

    What columns of a CSV file hold is what `kinds` says, and texts where it says nothing. With `from_rows`, the kinds
    of these others are read off all rows: then one row may decide what is public about the table.
    """
    all_kinds = dict(kinds or {})
    if inner is None:
        check_columns(Path(source))
    if from_rows and has_texts_alone(Path(source)) and inner is None:
        known = {name.casefold() for name in all_kinds}
        all_kinds |= {name: kind for name, kind in offer_kinds(Path(source)).items() if name.casefold() not in known}
    table = open_table(source, table="columns", unit=PrivacyUnit(), inner=inner, kinds=all_kinds)
    try:
        return table.schema.columns
    finally:
        table.close()


def columns_in_database(address: str, table: str, kinds: Mapping[str, Kind] | None = None) -> tuple[Column, ...]:
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

"""Excel files (.xlsx) as texts: the first row of a sheet names the columns, and nothing is guessed from other rows.

A cell becomes the text that a CSV file would have: a number its digits, a day 2024-02-29, true or false. Then kinds are
declared as of a CSV file, and what does not fit is NULL in its own row. A formula is the value that was stored with it;
an error such as #N/A, and a formula without a value, are NULL. Cells beyond the names are cut off, and rows without a
value are left out.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from discreet.algebra.names import quote_name
from discreet.core import InvalidInput
from discreet.core.schema import closest
from discreet.data.reading.csv_files import make_unique

ENDING = ".xlsx"
#: The engine's table of cells.
CELLS_TABLE = "source_cells"
#: Bytes of a file once it is unpacked: a larger one is refused by its directory, before anything is unpacked.
MOST_BYTES = 1 << 30
#: Rows that are handed to the engine at a time.
TOGETHER = 5_000
#: Whole numbers up to here are exact as Excel stores them.
EXACT = 2**53


def is_excel(path: Path) -> bool:
    """Whether a file's name says that it is an Excel file."""
    return path.name.lower().endswith(ENDING)


def read_names(path: Path, inner: str | None) -> tuple[str, ...]:
    """Return the cells of the first row of a sheet, as texts: the names of columns."""
    with _open_rows(path, inner) as rows:
        names = [text or "" for text in next(rows, [])]
    while names and not names[-1]:
        names.pop()
    return tuple(name.strip() for name in names)


def columns_sql(names: tuple[str, ...], *, rows: bool) -> str:
    """Return the SQL of all columns as texts: of the cells that are loaded, or without a row."""
    if not rows:
        columns = ", ".join(f"CAST(NULL AS VARCHAR) AS {quote_name(name)}" for name in make_unique(list(names)))
        return f"(SELECT {columns} WHERE false)"
    listed = enumerate(make_unique(list(names)), start=1)
    columns = ", ".join(f"fields[{place}] AS {quote_name(name)}" for place, name in listed)
    return f"(SELECT {columns} FROM {CELLS_TABLE})"  # noqa: S608 - names are quoted


def load_cells(connection: Any, path: Path, inner: str | None, width: int) -> None:
    """Create the table of a sheet's cells, in the order of its rows, without the one that names columns."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {CELLS_TABLE} (fields VARCHAR[])")
    insert = f"INSERT INTO {CELLS_TABLE} SELECT unnest(CAST($rows AS VARCHAR[][]))"
    with _open_rows(path, inner) as rows:
        next(rows, None)
        cut = (row[:width] for row in rows)
        filled = (row for row in cut if any(cell is not None for cell in row))
        while together := list(islice(filled, TOGETHER)):
            connection.execute(insert, {"rows": together})


def forget_cells(connection: Any) -> None:
    """Drop the table of cells."""
    connection.execute(f"DROP TABLE IF EXISTS {CELLS_TABLE}")


@contextmanager
def _open_rows(path: Path, inner: str | None) -> Iterator[Iterator[list[str | None]]]:
    """Open a sheet, and return its rows as texts. Nothing of a cell reaches a warning."""
    cells = _need_openpyxl()
    _need_small(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = cells.open_book(path)
        try:
            sheet = _choose_sheet([sheet.title for sheet in book.worksheets], inner)
            yield ([text_of(value) for value in row] for row in cells.read_values(book, sheet))
        finally:
            book.close()


def text_of(value: object) -> str | None:
    """Return the text of a cell; NULL where it has no value, or one of another kind."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) <= EXACT:
            return str(int(value))
        case int() | float():
            return repr(value)
        case str():
            return value or None
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case _:
            return None


def _need_openpyxl() -> Any:
    try:
        from discreet.data.reading import excel_cells  # noqa: PLC0415 - openpyxl is an extra
    except ImportError:
        raise InvalidInput("Excel files need openpyxl.", fix="pip install 'discreet[excel]'") from None
    return excel_cells


def _need_small(path: Path) -> None:
    """Refuse what is no .xlsx, and one that would fill the memory. No part is read for longer than its stated size."""
    try:
        with ZipFile(path) as file:
            size = sum(part.file_size for part in file.infolist())
    except BadZipFile:
        raise InvalidInput(
            f"{path.name!r} is not an Excel file (.xlsx), or has a password.",
            fix="save it as .xlsx without a password, or as CSV",
        ) from None
    if size > MOST_BYTES:
        raise InvalidInput(
            f"{path.name!r} takes more than {MOST_BYTES >> 30} GiB when it is unpacked.",
            fix="save the sheet as CSV or Parquet",
        )


def _choose_sheet(sheets: list[str], inner: str | None) -> str:
    """Return the sheet that is meant."""
    if inner is None and len(sheets) == 1:
        return sheets[0]
    if inner is None:
        shown = ", ".join(map(repr, sheets)) or "none"
        raise InvalidInput(f"The file has several sheets, or none: {shown}.", fix='name the one you mean: inner="…"')
    if inner not in sheets:
        meant = closest(inner, sheets)
        fix = f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(sheets)}"
        raise InvalidInput(f"There is no sheet {inner!r} in the file.", fix=fix)
    return inner

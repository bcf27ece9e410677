"""De-identification: writes rows with a treatment for every column, on DuckDB, for tables of any size.

Rows without names are still rows about people. What is written here is pseudonymous data, not anonymous data: no
promise goes with it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.algebra.names import literal, quote_name
from discreet.anonymity.engine import ROWS, Held, with_rows
from discreet.anonymity.treatments import Treatment, treat_column
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of

#: How files are written, by their endings.
FORMATS = {
    # Written in place: a file that is moved there afterwards would be readable by all.
    ".csv": "FORMAT csv, HEADER, USE_TMP_FILE false",
    ".parquet": "FORMAT parquet, USE_TMP_FILE false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deidentified:
    """What was written: how many rows, and the columns that are in it."""

    rows: int
    columns: tuple[str, ...]


def deidentify(
    source: object, destination: str | Path, treatments: Mapping[str, Treatment], *, gap_texts: tuple[str, ...] = ()
) -> Deidentified:
    """Write the rows of a file or frame to a new CSV or Parquet file, each column after its treatment.

    Every column needs a treatment, or it is refused: nothing passes because nobody thought of it. Rows are written
    sorted by what is told, because the order in which they came may tell who is who. Only the file's owner may read it.

    Args:
        source: a CSV, Parquet or DuckDB file, or a pandas, Polars or Arrow frame.
        destination: the new file, .csv or .parquet.
        treatments: a treatment for each column.
        gap_texts: strings that stand for missing values.

    Returns:
        The number of rows and the columns that were written.

    Raises:
        DiscreetError: if a column has no treatment, or the file exists or cannot be written.

    """
    if not isinstance(treatments, Mapping) or not all(
        isinstance(treatment, Treatment) for treatment in treatments.values()
    ):
        raise WrongType(
            "treatments is not a mapping from columns to treatments.", fix='pass {"name": Drop(), "age": Round(5)}'
        )
    place = need_new_file(destination)

    def use(engine: Held) -> Deidentified:
        engine.need(list(treatments))
        _need_all(engine, treatments)
        text, parameters, names = _statement(engine, treatments)
        with reserve_file(place):
            copy = f"COPY ({text}) TO {literal(str(place))} ({FORMATS[place.suffix.lower()]})"
            ((rows,),) = engine.connection.execute(copy, parameters).fetchall()
        return Deidentified(rows=rows, columns=names)

    return with_rows(source, use, gaps=gap_texts)


def _statement(engine: Held, treatments: Mapping[str, Treatment]) -> tuple[str, dict[str, object], tuple[str, ...]]:
    cells: dict[str, str] = {}
    parameters: dict[str, object] = {}
    for place, (name, kind) in enumerate(engine.kinds.items()):
        cell, needed = treat_column(name, kind, treatments[name], place)
        if cell is not None:
            cells[name] = cell
            parameters.update(needed)
    if not cells:
        raise InvalidInput("All columns are dropped.", fix="keep something, or write nothing")
    columns = ", ".join(f"{cell} AS {quote_name(name)}" for name, cell in cells.items())
    # S608: made of our own words and of names that are quoted.
    return f"SELECT {columns} FROM {ROWS} ORDER BY ALL", parameters, tuple(cells)  # noqa: S608


def _need_all(engine: Held, treatments: Mapping[str, Treatment]) -> None:
    lacking = [repr(name) for name in engine.kinds if name not in treatments]
    if lacking:
        raise InvalidInput(
            f"Columns without a treatment: {', '.join(lacking)}.",
            fix="give every column a treatment: Drop(), Keep() or another (--drop, --keep, …)",
        )


def need_new_file(destination: str | Path) -> Path:
    """Return where a file is to be written that is not there yet."""
    if not isinstance(destination, str | Path):
        raise WrongType(f"The destination is {kind_of(destination)}.", fix='pass a path such as "out.parquet"')
    place = Path(destination)
    if place.suffix.lower() not in FORMATS:
        raise InvalidInput("The destination is neither .csv nor .parquet.", fix='pass a path such as "out.parquet"')
    if place.exists():
        raise InvalidInput(f"The file {place.name!r} already exists.", fix="choose another path, or remove it")
    return place


@contextmanager
def reserve_file(place: Path) -> Iterator[None]:
    """Make a new file, for its owner alone, that is removed again if writing it fails."""
    try:
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise InvalidInput(f"The file {place.name!r} already exists.", fix="choose another path") from None
    except OSError:
        raise InvalidInput(f"The file {place.name!r} cannot be written.", fix="check the folder") from None
    try:
        yield
    except BaseException:
        place.unlink(missing_ok=True)
        raise

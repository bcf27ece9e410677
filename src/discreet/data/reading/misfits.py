"""Counts of values that do not fit what is declared of them. Exact and private: for the steward, who may see the rows.

A value that is not of its declared kind is NULL in every answer, and one beyond its bounds is clamped, without a word:
an analyst could be told neither. The steward of the file can be told both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.algebra.names import quote_name
from discreet.core.schema import Column, Kind
from discreet.data.engine_rules import DEFAULT_SETTINGS, quiet_opening
from discreet.data.reading.column_types import Casting
from discreet.data.reading.connecting import connect_spilling
from discreet.data.reading.csv_files import CsvFile, is_csv
from discreet.data.reading.csv_lines import count_undecodable
from discreet.data.reading.importing import open_source
from discreet.data.reading.sources import Source
from discreet.data.reading.table_sources import Entering

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Columns that are counted in one statement.
TOGETHER = 50
#: A day in microseconds.
DAY = 86_400_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnMisfits:
    """How many values of a column do not fit. Private."""

    column: Column
    #: Values that are there: not NULL, and no empty cell.
    present: int
    #: Of these, values that are not of the declared kind: NULL in every answer.
    unread: int
    #: Values of the kind that lie beyond the bounds, and are clamped; None without bounds.
    beyond: int | None
    #: Values of the kind that are in no public group; None without groups.
    ungrouped: int | None

    @property
    def any(self) -> bool:
        """Whether anything does not fit."""
        return bool(self.unread or self.beyond or self.ungrouped)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableMisfits:
    """How much of a table does not fit what is declared of it. Private."""

    table: str
    rows: int
    #: Rows whose person is missing, or not of the declared kind: they are in no answer.
    nobodys: int
    #: Lines of a CSV file that are no rows: their quotes do not match, or they are not of the encoding.
    lines_left_out: int
    columns: tuple[ColumnMisfits, ...]


def count_misfits(entering: Entering) -> TableMisfits:
    """Read all rows of a source, and count what does not fit. For the steward alone."""

    def count() -> TableMisfits:
        with (
            connect_spilling(":memory:", DEFAULT_SETTINGS) as connection,
            open_source(connection, entering, rows=True) as (source, imported, castings),
        ):
            columns = _declared_columns(entering, imported.columns)
            return _count(connection, entering, source, list(zip(columns, castings, strict=True)))

    return quiet_opening(count)


def _declared_columns(entering: Entering, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns of a source with their bounds and groups; one that a key leads to is not of the source."""
    declaration = entering.declaration
    led = () if declaration.via is None else (declaration.person_column(columns, Kind.TEXT),)
    return declaration.schema((*columns, *led)).columns[: len(columns)]


def _count(
    connection: "DuckDBPyConnection", entering: Entering, source: Source, columns: list[tuple[Column, Casting]]
) -> TableMisfits:
    person = (entering.declaration.person or "").casefold()
    identity = next((cast for column, cast in columns if column.name.casefold() == person), None)
    nobody = "0" if identity is None else f"count(*) - count({identity.text})"
    rows, nobodys = _ask(connection, f"count(*), {nobody}", source)
    asked = [(column, cast) for column, cast in columns if _may_misfit(column, cast)]
    counted = [
        found
        for first in range(0, len(asked), TOGETHER)
        for found in _count_columns(connection, source, asked[first : first + TOGETHER])
    ]
    return TableMisfits(
        table=entering.declaration.table,
        rows=rows,
        nobodys=nobodys,
        lines_left_out=_count_lost_lines(connection, entering, source),
        columns=tuple(counted),
    )


def _may_misfit(column: Column, cast: Casting) -> bool:
    """Whether some value could fail to fit: a column that is taken over as it is, undeclared, has none."""
    as_it_is = cast.text in (quote_name(column.name), f"CAST({quote_name(column.name)} AS BIGINT)")
    return not as_it_is or column.bounds is not None or column.groups is not None


def _count_columns(
    connection: "DuckDBPyConnection", source: Source, columns: Sequence[tuple[Column, Casting]]
) -> Iterator[ColumnMisfits]:
    parameters: dict[str, object] = {}
    items = []
    for place, (column, cast) in enumerate(columns):
        beyond = "0" if column.bounds is None else _count_beyond(column, cast.text)
        ungrouped = "0"
        if column.groups is not None:
            parameters[f"groups{place}"] = [value for value in column.groups if value is not None]
            ungrouped = f"count_if(NOT list_contains($groups{place}, {cast.text}))"
        own = quote_name(column.name)
        items.append(f"count({own}), count({own}) - count({cast.text}), {beyond}, {ungrouped}")
    counts = iter(_ask(connection, ", ".join(items), source, parameters))
    for column, _ in columns:
        present, unread, beyond_count, ungrouped_count = (int(next(counts)) for _ in range(4))
        yield ColumnMisfits(
            column=column,
            present=present,
            unread=unread,
            beyond=None if column.bounds is None else beyond_count,
            ungrouped=None if column.groups is None else ungrouped_count,
        )


def _count_beyond(column: Column, value: str) -> str:
    """Return SQL that counts values beyond a column's bounds; days and moments are counted in days since 1970."""
    number = value
    if column.kind is Kind.DATE:
        number = f"({value} - DATE '1970-01-01')"
    elif column.kind is Kind.TIMESTAMP:
        number = f"(epoch_us({value}) / {DAY})"
    if column.bounds is None:
        return "0"
    low, high = float(column.bounds.low), float(column.bounds.high)
    return f"count_if({number} < {low!r}::DOUBLE OR {number} > {high!r}::DOUBLE)"


def _count_lost_lines(connection: "DuckDBPyConnection", entering: Entering, source: Source) -> int:
    """Return how many lines of a CSV file are left out; empty ones and comments are not counted."""
    if source.typed or not isinstance(entering.source, str | Path) or not is_csv(Path(entering.source)):
        return 0
    path = Path(entering.source)
    lines = CsvFile.of(path, entering.declaration.csv)
    ((unmatched,),) = connection.execute(lines.count_unmatched).fetchall()
    return int(unmatched) + count_undecodable(path, lines.form)


def _ask(
    connection: "DuckDBPyConnection", items: str, source: Source, parameters: dict[str, object] | None = None
) -> tuple[Any, ...]:
    # S608: names are quoted, and values are parameters.
    text = f"SELECT {items} FROM {source.relation}"  # noqa: S608
    (row,) = connection.execute(text, {**source.parameters, **(parameters or {})}).fetchall()
    return tuple(row)

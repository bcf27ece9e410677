"""Reports of what does not fit the declarations, in exact numbers: for the steward, who may see the rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import AnyKind
from discreet.core import Bounds, DiscreetError
from discreet.core.schema import Value
from discreet.data.reading import ColumnMisfits, TableMisfits
from discreet.gate import one_line, without_frames
from discreet.session.answers.cells import TextColumn, text_table
from discreet.session.datasets import declare_tables, read_described
from discreet.session.engine import Engine
from discreet.session.rows import read_sources
from discreet.session.settings.file import read_settings
from discreet.session.settings.settings import Settings

WARNING = "Exact numbers, for the steward alone: they are private, and nothing of them was paid for."
#: Columns that are listed.
MOST = 2000


@dataclass(frozen=True, slots=True, repr=False)
class MisfitReport:
    """The numbers of values of each column that are missing or clamped in every answer as misfits. Private.

    `print(report)` shows it; its `repr`, which may be logged, shows no number.
    """

    tables: tuple[TableMisfits, ...]

    def lines(self) -> list[str]:
        """Return the report for a terminal."""
        return [WARNING, *(line for table in self.tables for line in _table_lines(table))]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"MisfitReport({[table.table for table in self.tables]!r})"


def report_misfits(  # noqa: PLR0913 - the declarations of `open_session`
    source: Any,
    *,
    person: str | Mapping[str, str | None] | None = None,
    row: bool = False,
    bounds: Mapping[str, Bounds | Sequence[Any] | Mapping[str, Any]] | None = None,
    groups: Mapping[str, Iterable[Value] | Mapping[str, Any]] | None = None,
    kinds: Mapping[str, AnyKind | Mapping[str, AnyKind]] | None = None,
    csv: Mapping[str, Any] | None = None,
    table: str | None = None,
    inner: str | None = None,
) -> MisfitReport:
    """Count values that do not fit their declared kind, bounds or groups. For the steward: the numbers are exact.

    It reads all rows, asks no ledger and pays nothing, so its result must not reach analysts. Values of another kind
    are missing in every answer, and values beyond bounds are clamped; neither is visible in an answer.

    Args:
        source: A file or a frame, several by table name, or a `discreet.toml`, which contains all other arguments.
        person: The column that identifies a person.
        row: Whether each row is a person of its own; in place of `person`.
        bounds: The bounds of columns, as in `discreet.open`.
        groups: The public values of columns.
        kinds: The kinds of columns.
        csv: How a CSV file is written.
        table: The name of the table.
        inner: The table that is meant in a DuckDB file with several, or the sheet of an Excel file.

    Returns:
        The report, to be printed.

    Raises:
        DiscreetError: The source cannot be read, or a declaration contradicts it.

    Example:
        >>> from discreet.session import report_misfits
        >>> print(report_misfits("heights.csv", row=True, kinds={"height": "real"}))  # doctest: +SKIP

    """
    try:
        if isinstance(source, str | Path) and Path(source).suffix == ".toml":
            return report_described(read_settings(source))
        sources = read_sources(source, table, inner=inner, store=None, public=None, engine=Engine())
        declarations = {
            "person": person,
            "bounds": bounds,
            "groups": groups,
            "kinds": kinds,
            "csv": csv,
            "complete": None,
            "order": None,
        }
        once = {"row": row, "window": None, "limit": None, "rows_per_person": None}
        rows, facts = declare_tables(sources, declarations, once, None)
        return MisfitReport(rows.count_misfits(facts))
    except DiscreetError as error:
        refusal = without_frames(error)
    # A frame is private: no error carries it along.
    del source
    raise refusal


def report_described(settings: Settings) -> MisfitReport:
    """Return the report of the tables that settings describe. For the steward."""
    rows, facts = read_described(settings)
    return MisfitReport(rows.count_misfits(facts))


def _table_lines(table: TableMisfits) -> list[str]:
    lines = [f"{one_line(table.table)}: {table.rows:,} rows"]
    if table.lines_left_out:
        lines.append(f"  {table.lines_left_out:,} more lines are left out: their quotes do not match, or the encoding")
    if table.nobodys:
        lines.append(f"  {table.nobodys:,} rows are in no answer: they have no person")
    misfits = [column for column in table.columns if column.any]
    if not misfits:
        return [*lines, "  all values fit what is declared of them"]
    return [*lines, *(f"  {line}" for line in text_table(_cells(misfits), MOST))]


def _cells(misfits: Sequence[ColumnMisfits]) -> list[TextColumn]:
    return [
        TextColumn("column", [one_line(found.column.name) for found in misfits]),
        TextColumn("kind", [found.column.kind.value for found in misfits]),
        TextColumn("values", [f"{found.present:,}" for found in misfits], right=True),
        TextColumn("not of the kind", [f"{found.unread:,}" for found in misfits], right=True),
        TextColumn("beyond bounds", [_number(found.beyond) for found in misfits], right=True),
        TextColumn("in no group", [_number(found.ungrouped) for found in misfits], right=True),
    ]


def _number(count: int | None) -> str:
    return "" if count is None else f"{count:,}"

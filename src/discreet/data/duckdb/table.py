"""A table on DuckDB: implements `algebra.aggregates.Table` and `algebra.contributions.PersonalTable`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Exact, Load, People, PeopleBy, PeopleCut, resolve_table
from discreet.algebra.contributions import Admission, need_accounts
from discreet.algebra.expressions import Expression
from discreet.core.limits import Limit
from discreet.core.schema import Kind, Schema
from discreet.data.duckdb.accumulators import Tally, tally_of
from discreet.data.duckdb.batch import Fetched, RowBatch, Selected, SelectStatement, read_column
from discreet.data.duckdb.bounding import Bounding
from discreet.data.duckdb.clustering import FETCHED, place_rows
from discreet.data.duckdb.connection import Holding, ReadCursor, memory_of, open_cursor
from discreet.data.duckdb.contributions import UnitAdmission, build_admission
from discreet.data.duckdb.deferred_import import DeferredTables
from discreet.data.duckdb.expressions import Scope, as_kind, write_sql
from discreet.data.duckdb.group_codes import GroupCodes, build_group_codes, number_texts
from discreet.data.duckdb.relations import check_aggregation, need_only, prepare_input
from discreet.data.engine_rules import EngineSettings, engine_failed, fail_quietly
from discreet.data.reading.import_progress import TellShare
from discreet.data.sql.dialect import check_aggregation_length
from discreet.data.unit_work import check_unit_work

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: A table is fetched in about so many spans, unless it is small.
SPANS = 12
#: Rows of a span whose numbers, of 8 bytes each, are not more than 28 MiB.
WIDEST = 7 << 19
#: The number of a row among all, of the type that its parameters have.
ROW = "rowid"


class DuckTable:
    """Private rows of one or several tables in a locked DuckDB, and public ones beside them.

    Rows of files are read at the first aggregation. Safe to be asked from several threads.
    """

    def __init__(
        self,
        tables: DeferredTables,
        settings: EngineSettings,
        left_out: Mapping[str, Mapping[str, str]] | None = None,
        spellings: Mapping[str, str] | None = None,
    ) -> None:
        self._tables = tables
        self._settings = settings
        self._left_out = {table: dict(reasons) for table, reasons in (left_out or {}).items()}
        self._spellings = dict(spellings or {})

    @property
    def _connection(self) -> "DuckDBPyConnection":
        """The locked engine with its rows."""
        self._tables.load()
        return self._tables.connection

    @property
    def schema(self) -> Schema:
        """The public facts about the only private table."""
        need_only(self._tables.outline)
        return next(iter(self._tables.outline.schemas.values()))

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The public facts about each private table."""
        return self._tables.outline.schemas

    @property
    def publics(self) -> Mapping[str, Schema]:
        """The public tables; bounds and groups are those of their rows."""
        return self._tables.outline.publics

    @property
    def left_out(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each source that are in no schema, and why."""
        return self._left_out

    @property
    def spellings(self) -> Mapping[str, str]:
        """The kinds that ids are written from, by table: see `discreet.data.reading.column_types.spelling`."""
        return self._spellings

    @fail_quietly
    def load(self) -> None:
        """Read the rows now, if they were not read before."""
        self._tables.load()

    def show_progress(self, tell: TellShare | None) -> None:
        """Tell the share of the import that is done to a function, while rows are read; to none without one."""
        self._tables.tell = tell

    @fail_quietly
    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers of a relation; of the one table that there is, if none is named."""
        asked = resolve_table(aggregation, self.schemas)
        holdings = self._tables.load()
        with np.errstate(all="ignore"), open_cursor(self._tables.connection, self._settings) as cursor:
            prepared = prepare_input(asked, holdings, cursor)
            return AggregationPass(prepared.aggregation, prepared.holding, cursor).run()

    @fail_quietly
    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of the units that take part: each unit is asked."""
        need_accounts(aggregation, self.schemas.values())
        asked = resolve_table(aggregation, self.schemas)
        holdings = self._tables.load()
        with np.errstate(all="ignore"), open_cursor(self._tables.connection, self._settings) as cursor:
            prepared = prepare_input(asked, holdings, cursor)
            asking = build_admission(prepared, holdings, cursor, admission)
            return AggregationPass(prepared.aggregation, prepared.holding, cursor, asking).run()

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before payment and by public facts alone, what `aggregate` would refuse or fail on. Reads no row."""
        asked = resolve_table(aggregation, self.schemas)
        check_aggregation(asked, self._tables.outline)
        self._tables.check_ready()
        check_aggregation_length(asked, write_sql)
        check_unit_work(asked, self.schemas, self._settings.seconds, memory_of(self._tables.connection))

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked. Reads no row."""
        need_accounts(aggregation, self.schemas.values())
        self.check(aggregation)

    def close(self) -> None:
        """Give the engine's memory and files back."""
        self._tables.close()

    def __repr__(self) -> str:
        return f"DuckTable({list(self.schemas)!r}, public={list(self.publics)!r})"


class AggregationPass:
    """One pass over the rows for one aggregation."""

    def __init__(
        self, aggregation: Aggregation, holding: Holding, cursor: ReadCursor, asking: UnitAdmission | None = None
    ) -> None:
        self._aggregates = aggregation.aggregates
        self._asking = asking
        self._holding = holding
        self._cursor = cursor
        self._statement = SelectStatement(Scope(holding.columns), holding.table)
        if aggregation.where is not None:
            self._statement.conditions.append(as_kind(aggregation.where, Kind.BOOLEAN, self._statement.scope).text)
        self._grouping = build_group_codes(aggregation, self._statement, cursor.ask)
        size = self._grouping.size
        self._tallies: list[Tally] = [
            tally_of(aggregate, self._statement, size, self._select_distinct) for aggregate in aggregation.aggregates
        ]
        self._bounding = _bounding(aggregation, self._grouping, pairs_wanted=asking is not None)
        self._row = self._select_row_numbers()
        self._public = aggregation.public
        self._counts_in = np.zeros(0 if self._public else size, dtype=bool)

    def run(self) -> Exact:
        """Return the exact answers."""
        text, parameters = self._statement.text("first", "last"), self._statement.scope.parameters
        for first, last, begin, end in self._spans() if self._grouping.size else ():
            arrays = {}
            if self._statement.items:
                arrays = self._cursor.fetch(text, {**parameters, "first": begin, "last": end - 1})
            self._add(first, last, *self._read_rows(arrays, begin, end))
        codes = None if self._public else np.flatnonzero(self._counts_in)
        groups = self._grouping.groups(np.arange(self._grouping.size) if codes is None else codes)
        return Exact(groups=groups, answers=tuple(tally.answer(codes) for tally in self._tallies))

    def _select_row_numbers(self) -> int | None:
        """Select the rows' numbers, where a condition picks some of them. All rows of a span come in their order."""
        if not self._statement.conditions:
            return None
        return self._statement.select(f"CAST({ROW} AS {'INTEGER' if self._holding.rows < 2**31 else 'BIGINT'})")

    def _select_distinct(self, value: Expression) -> Selected:
        if value.kind is Kind.TEXT:
            return number_texts(value, self._statement, self._cursor.ask)
        return self._statement.number(value)

    def _spans(self) -> list[tuple[int, int, int, int]]:
        """Return the spans of units, and of their rows, that are fetched one after another."""
        units, rows = self._holding.units, self._holding.rows
        # Finding a span takes the engine a time that grows with the table: so there are not many more in a large one.
        # But arrays of more than 32 MiB are given back to the system and asked for anew each time, which takes longer.
        together = max(FETCHED, min(rows // SPANS, WIDEST))
        if units is None:
            return [(0, 0, begin, min(begin + together, rows)) for begin in range(0, rows, together)]
        spans = units.spans(together)
        return [(first, last, int(units.begins[first]), int(units.begins[last])) for first, last in spans]

    def _read_rows(self, arrays: dict[str, Any], begin: int, end: int) -> tuple[NDArray[Any], list[Fetched]]:
        """Return the numbers of rows that pass the condition, and their columns, in the order of the table."""
        columns = [read_column(arrays[f"i{place}"]) for place in range(len(self._statement.items))]
        if self._row is None:
            rows = np.arange(begin, end)
            if any(len(column.data) != len(rows) for column in columns):
                raise engine_failed()
            return rows, columns
        rows = columns[self._row].data
        if np.any(rows[1:] <= rows[:-1]):
            order = np.argsort(rows)
            rows, columns = rows[order], [column.at(order) for column in columns]
        return rows, columns

    def _add(self, first: int, last: int, rows: NDArray[Any], columns: list[Fetched]) -> None:
        codes = self._grouping.codes(columns)
        if codes is not None and codes.min(initial=0) < 0:
            inside = np.flatnonzero(codes >= 0)
            rows, codes, columns = rows[inside], codes[inside], [column.at(inside) for column in columns]
        if not len(rows):
            return
        units = self._holding.units
        own = None if units is None else place_rows(units, first, last, rows)
        bounded = None if own is None else self._bounding.bound(own, codes)
        batch = RowBatch(columns, codes, own, bounded, self._grouping.size, len(rows))
        if self._asking is not None:
            batch = self._asking.among(batch, self._aggregates, self._tallies)
        if not self._public:
            self._counts_in[batch.row_codes()] = True
        for tally in self._tallies:
            tally.add(batch)


def _bounding(aggregation: Aggregation, grouping: GroupCodes, *, pairs_wanted: bool) -> Bounding:
    limit = aggregation.limit
    chosen = isinstance(limit, Limit) and grouping.size > limit.groups
    loads = {aggregate.load for aggregate in aggregation.aggregates if isinstance(aggregate, PeopleBy)}
    people = any(isinstance(aggregate, People) for aggregate in aggregation.aggregates)
    words = grouping.words() if chosen else None
    by_groups = bool(loads - {Load.ROWS})
    return Bounding(
        limit=limit,
        salt=aggregation.salt,
        words=words,
        runs_wanted=people or by_groups,
        loads_wanted=by_groups,
        fullest_wanted=Load.ROWS_PER_GROUP in loads,
        cut_wanted=any(isinstance(aggregate, PeopleCut) for aggregate in aggregation.aggregates),
        pairs_wanted=pairs_wanted,
    )

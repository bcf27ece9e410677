"""A table on DuckDB: implements `algebra.aggregates.Table` and `algebra.contributions.PersonalTable`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.account_names import need_accounts
from discreet.algebra.aggregates import Aggregation, Exact, Load, People, PeopleBy, PeopleCut
from discreet.algebra.contributions import Admission
from discreet.algebra.expressions import Expression
from discreet.core.limits import Limit
from discreet.core.schema import Kind, Schema
from discreet.data.duckdb.accumulators import Tally, tally_of
from discreet.data.duckdb.batch import Batch
from discreet.data.duckdb.bounding import Bounding
from discreet.data.duckdb.connection import EngineSettings, Reading, memory_of, need_connected, reading
from discreet.data.duckdb.contributions import Asking, asking_of
from discreet.data.duckdb.expressions import Scope, as_kind
from discreet.data.duckdb.group_codes import Grouping, grouping_of, numbered_texts
from discreet.data.duckdb.imported import Holding, Holdings
from discreet.data.duckdb.relations import check_asked, rows_asked
from discreet.data.duckdb.select import Fetched, Selected, Statement, fetched
from discreet.data.duckdb.unit_index import FETCHED, placed
from discreet.data.errors import engine_failed
from discreet.data.quiet import quietly
from discreet.data.unit_work import check_unit_work

#: A table is fetched in about so many spans, unless it is small.
SPANS = 12
#: Rows of a span whose numbers, of 8 bytes each, are not more than 28 MiB.
WIDEST = 7 << 19
#: The number of a row among all, of the type that its parameters have.
ROW = "rowid"


class DuckTable:
    """Private rows in a locked DuckDB. Safe to be asked from several threads."""

    def __init__(
        self, schema: Schema, holding: Holding, settings: EngineSettings, left_out: Mapping[str, str] | None = None
    ) -> None:
        self._schema = schema
        self._holding = holding
        self._settings = settings
        self._left_out = dict(left_out or {})
        self._holdings = Holdings({schema.table: schema}, {schema.table: holding}, {}, {})

    @property
    def schema(self) -> Schema:
        """What is public about it."""
        return self._schema

    @property
    def left_out(self) -> Mapping[str, str]:
        """The columns of the source that are not in the schema, and why."""
        return self._left_out

    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers. What is raised tells of no row: see `quietly`."""
        return quietly(lambda: self._aggregate(aggregation))

    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of those who take part: each unit is asked. What is raised tells of no row."""
        return quietly(lambda: self._aggregate(aggregation, admission))

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before anything is paid, what cannot be asked now. Reads no row."""
        check_tables(aggregation, self._holdings, self._settings)

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked. Reads no row."""
        check_tables(aggregation, self._holdings, self._settings, personal=True)

    def _aggregate(self, aggregation: Aggregation, admission: Admission | None = None) -> Exact:
        with reading(self._holding.connection, self._settings) as cursor:
            return answered(aggregation, self._holdings, cursor, admission)

    def close(self) -> None:
        """Give the engine's memory and files back."""
        self._holding.connection.close()

    def __repr__(self) -> str:
        return f"DuckTable({self._schema.table!r}, columns={list(self._schema.names)!r})"


def answered(
    aggregation: Aggregation, holdings: Holdings, cursor: Reading, admission: Admission | None = None
) -> Exact:
    """Return exact integers of a relation of some tables; of the one table there is, if none is named.

    With an admission, those of the units that take part.
    """
    if admission is not None:
        need_accounts(aggregation, holdings.schemas.values())
    asked = rows_asked(aggregation, holdings, cursor)
    asking = None if admission is None else asking_of(asked, holdings, cursor, admission)
    with np.errstate(all="ignore"):
        return Pass(asked.aggregation, asked.holding, cursor, asking).run()


def check_tables(
    aggregation: Aggregation, holdings: Holdings, settings: EngineSettings, *, personal: bool = False
) -> None:
    """Refuse, by public facts alone, what `answered` would refuse or fail on. Reads no row."""
    if personal:
        need_accounts(aggregation, holdings.schemas.values())
    check_asked(aggregation, holdings)
    connection = next(iter(holdings.private.values())).connection
    need_connected(connection)
    check_unit_work(aggregation, holdings.schemas, settings.seconds, memory_of(connection))


class Pass:
    """One pass over the rows for one aggregation."""

    def __init__(
        self, aggregation: Aggregation, holding: Holding, cursor: Reading, asking: Asking | None = None
    ) -> None:
        self._aggregates = aggregation.aggregates
        self._asking = asking
        self._holding = holding
        self._cursor = cursor
        self._statement = Statement(Scope(holding.columns), holding.table)
        if aggregation.where is not None:
            self._statement.conditions.append(as_kind(aggregation.where, Kind.BOOLEAN, self._statement.scope).text)
        self._grouping = grouping_of(aggregation, self._statement, cursor.ask)
        size = self._grouping.size
        self._tallies: list[Tally] = [
            tally_of(aggregate, self._statement, size, self._told_apart) for aggregate in aggregation.aggregates
        ]
        self._bounding = _bounding(aggregation, self._grouping, pairs_wanted=asking is not None)
        self._row = self._numbered()
        self._public = aggregation.public
        self._counts_in = np.zeros(0 if self._public else size, dtype=bool)

    def run(self) -> Exact:
        """Return the exact answers."""
        if self._grouping.size:
            for first, last, begin, end in self._spans():
                self._add(first, last, *self._fetch(begin, end))
        codes = None if self._public else np.flatnonzero(self._counts_in)
        groups = self._grouping.groups(np.arange(self._grouping.size) if codes is None else codes)
        return Exact(groups=groups, answers=tuple(tally.answer(codes) for tally in self._tallies))

    def _numbered(self) -> int | None:
        """Select the rows' numbers, where a condition picks some of them. All rows of a span come in their order."""
        if not self._statement.conditions:
            return None
        return self._statement.select(f"CAST({ROW} AS {'INTEGER' if self._holding.rows < 2**31 else 'BIGINT'})")

    def _told_apart(self, value: Expression) -> Selected:
        if value.kind is Kind.TEXT:
            return numbered_texts(value, self._statement, self._cursor.ask)
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

    def _fetch(self, begin: int, end: int) -> tuple[NDArray[Any], list[Fetched]]:
        """Return the numbers of rows that pass the condition, and their columns, in the order of the table."""
        statement = self._statement
        if not statement.items:
            return np.arange(begin, end), []
        parameters = {**statement.scope.parameters, "first": begin, "last": end - 1}
        found = self._cursor.fetch(statement.text("first", "last"), parameters)
        columns = [fetched(found[f"i{place}"]) for place in range(len(statement.items))]
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
        own = None if units is None else placed(units, first, last, rows)
        bounded = None if own is None else self._bounding.bound(own, codes)
        batch = Batch(columns, codes, own, bounded, self._grouping.size, len(rows))
        if self._asking is not None:
            batch = self._asking.among(batch, self._aggregates, self._tallies)
        if not self._public:
            self._counts_in[batch.counted_codes()] = True
        for tally in self._tallies:
            tally.add(batch)


def _bounding(aggregation: Aggregation, grouping: Grouping, *, pairs_wanted: bool) -> Bounding:
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

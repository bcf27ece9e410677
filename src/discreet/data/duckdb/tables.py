"""Several tables on one locked DuckDB, private and public ones: relations of them are asked like a table.

Implements `discreet.algebra.contributions.PersonalTable`.
"""

from collections.abc import Mapping

from discreet.algebra.aggregates import Aggregation, Exact
from discreet.algebra.contributions import Admission
from discreet.core.schema import Schema
from discreet.data.duckdb.connection import EngineSettings, reading
from discreet.data.duckdb.imported import Holdings
from discreet.data.duckdb.table import answered, check_tables
from discreet.data.quiet import quietly


class DuckTables:
    """Private rows of several tables in a locked DuckDB, and public ones beside them. Safe to be asked from threads."""

    def __init__(
        self,
        holdings: Holdings,
        settings: EngineSettings,
        left_out: Mapping[str, Mapping[str, str]] | None = None,
        spellings: Mapping[str, str] | None = None,
    ) -> None:
        self._holdings = holdings
        self._settings = settings
        self._left_out = {table: dict(reasons) for table, reasons in (left_out or {}).items()}
        self._spellings = dict(spellings or {})
        self._connection = next(iter(holdings.private.values())).connection

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """What is public about each private table."""
        return self._holdings.schemas

    @property
    def publics(self) -> Mapping[str, Schema]:
        """The public tables; bounds and groups are those of their rows."""
        return self._holdings.publics

    @property
    def left_out(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each source that are in no schema, and why."""
        return self._left_out

    @property
    def spellings(self) -> Mapping[str, str]:
        """What ids are written from, by table: see `discreet.data.reading.column_types.spelling`."""
        return self._spellings

    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers of a relation. What is raised tells of no row: see `quietly`."""
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
        with reading(self._connection, self._settings) as cursor:
            return answered(aggregation, self._holdings, cursor, admission)

    def close(self) -> None:
        """Give the engine's memory and files back."""
        self._connection.close()

    def __repr__(self) -> str:
        return f"DuckTables({list(self.schemas)!r}, public={list(self.publics)!r})"

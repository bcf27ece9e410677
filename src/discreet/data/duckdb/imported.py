"""Imported tables: the state that an import leaves behind in a locked engine. Private."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.schema import Schema
from discreet.data.duckdb.accounts import AccountNumbers
from discreet.data.duckdb.unit_index import Units

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Holding:
    """Rows in a locked engine: its columns, and whose rows stand where."""

    connection: "DuckDBPyConnection"
    #: The engine's name of each column.
    columns: Mapping[str, str]
    rows: int
    #: None: each row is a unit, or nobody's.
    units: Units | None
    #: The engine's name of the rows.
    table: str = "rows"
    #: The engine's name of rows that were beyond the cap; empty if there are none.
    beyond: str = ""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Holdings:
    """All tables of one engine, private and public ones, by name, and what is public about each."""

    schemas: Mapping[str, Schema]
    private: Mapping[str, Holding]
    publics: Mapping[str, Schema]
    public: Mapping[str, Holding]
    numbers: AccountNumbers = field(default_factory=AccountNumbers)

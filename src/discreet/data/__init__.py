"""Rows in, exact bounded integers out. May touch rows and engines; never randomness, mechanisms or the ledger.

`open_table` reads a file or a frame into a canonical import on DuckDB. A table's one private verb is `aggregate`: from
an `Aggregation`, which is public and says which rows, which groups and which integers, to an `Exact`, which is private.
"""

from discreet.algebra.aggregates import (
    Aggregation,
    Distinct,
    Exact,
    Extremes,
    Frequencies,
    Histogram,
    Key,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Table,
    Total,
    sensitivity_of,
)
from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, call, column
from discreet.algebra.functions import Function
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    JoinKind,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.algebra.unit_keys import unit_keys
from discreet.data.duckdb.connection import EngineSettings
from discreet.data.duckdb.table import DuckTable
from discreet.data.duckdb.tables import DuckTables
from discreet.data.errors import EngineFailed
from discreet.data.opening import TableSource, open_tables
from discreet.data.reading.importing import open_table

__all__ = [
    "Aggregation",
    "Call",
    "Case",
    "ColumnValue",
    "Derived",
    "Distinct",
    "DuckTable",
    "DuckTables",
    "EngineFailed",
    "EngineSettings",
    "Exact",
    "Expression",
    "Extremes",
    "First",
    "Fold",
    "Folded",
    "Frequencies",
    "Function",
    "Histogram",
    "InSet",
    "JoinKind",
    "Key",
    "Like",
    "Literal",
    "Load",
    "MatchJoin",
    "Named",
    "People",
    "PeopleBy",
    "PeopleCut",
    "PeopleWhere",
    "PerUnit",
    "Present",
    "PublicJoin",
    "PublicScan",
    "Relation",
    "Rows",
    "Scan",
    "Table",
    "TableSource",
    "Total",
    "UnionAll",
    "UnitJoin",
    "call",
    "column",
    "open_table",
    "open_tables",
    "sensitivity_of",
    "unit_keys",
]

"""Rows in, exact bounded integers out. May touch rows and engines; never randomness, mechanisms or the ledger.

`open_table` reads a file or a frame into a canonical import on DuckDB. A table's one private verb is `aggregate`: from
an `Aggregation`, which is public and says which rows, which groups and which integers, to an `Exact`, which is private.
"""

from discreet.data.aggregates import (
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
from discreet.data.duck_table import DuckTable
from discreet.data.duck_tables import DuckTables
from discreet.data.engines import EngineSettings
from discreet.data.errors import EngineFailed
from discreet.data.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, call, column
from discreet.data.functions import Function
from discreet.data.importing import open_table
from discreet.data.opening import TableSource, open_tables
from discreet.data.relations import (
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
from discreet.data.unit_keys import unit_keys

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

"""Rows in, exact bounded integers out. May touch rows and engines; never randomness, mechanisms or the ledger.

`open_table` and `open_tables` import files and frames into DuckDB; `open_server` and `open_frames` connect to tables of
PostgreSQL and frames of Spark. A table's one private method is `aggregate`: from an `Aggregation`, which is public and
says which rows, which groups and which integers, to an `Exact`, which is private (`discreet.algebra.aggregates`).
"""

from discreet.data.duckdb.table import DuckTable
from discreet.data.engine_rules import DEFAULT_SETTINGS, SPARK_SETTINGS, EngineFailed, EngineSettings
from discreet.data.engine_rules import quietly as quietly
from discreet.data.opening import measure_sql, open_frames, open_server, open_table, open_tables
from discreet.data.reading import TableSource

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = [
    "DEFAULT_SETTINGS",
    "SPARK_SETTINGS",
    "DuckTable",
    "EngineFailed",
    "EngineSettings",
    "TableSource",
    "measure_sql",
    "open_frames",
    "open_server",
    "open_table",
    "open_tables",
]

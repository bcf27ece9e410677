"""Reading rows: DuckDB reads files and frames, and their columns become six kinds of values."""

from discreet.data.reading.column_types import cast_as
from discreet.data.reading.connection import connect
from discreet.data.reading.csv_files import is_csv, written_kinds
from discreet.data.reading.importing import check_columns, offered_kinds
from discreet.data.reading.sources import Source, attach, detach
from discreet.data.reading.table_sources import TableSource, need_names

__all__ = [
    "Source",
    "TableSource",
    "attach",
    "cast_as",
    "check_columns",
    "connect",
    "detach",
    "is_csv",
    "need_names",
    "offered_kinds",
    "written_kinds",
]

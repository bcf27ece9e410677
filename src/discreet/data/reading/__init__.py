"""Reading rows: DuckDB reads files and frames, and their columns become six kinds of values."""

from discreet.data.reading.column_types import cast_as
from discreet.data.reading.csv_files import infer_kinds, is_csv
from discreet.data.reading.importing import check_columns, connect, offer_kinds
from discreet.data.reading.sources import Source, attach, detach, is_spark_frame
from discreet.data.reading.table_sources import TableSource, need_names

__all__ = [
    "Source",
    "TableSource",
    "attach",
    "cast_as",
    "check_columns",
    "connect",
    "detach",
    "infer_kinds",
    "is_csv",
    "is_spark_frame",
    "need_names",
    "offer_kinds",
]

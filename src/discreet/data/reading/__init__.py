"""Reading rows: DuckDB reads files and frames, and their columns become six kinds of values."""

from discreet.data.reading.column_types import cast_as
from discreet.data.reading.connecting import connect
from discreet.data.reading.csv_files import infer_kinds, is_csv
from discreet.data.reading.csv_finding import find_format, offer_kinds
from discreet.data.reading.csv_format import CsvFormat, list_options, read_csv_format
from discreet.data.reading.duckdb_relations import is_connection, relation_of
from discreet.data.reading.excel_files import is_excel
from discreet.data.reading.importing import check_columns
from discreet.data.reading.misfits import ColumnMisfits, TableMisfits, count_misfits
from discreet.data.reading.parts import is_several, list_parts
from discreet.data.reading.sources import Source, attach, detach, is_spark_frame, need_local
from discreet.data.reading.table_sources import TableSource, declare_table, need_names

__all__ = [
    "ColumnMisfits",
    "CsvFormat",
    "Source",
    "TableMisfits",
    "TableSource",
    "attach",
    "cast_as",
    "check_columns",
    "connect",
    "count_misfits",
    "declare_table",
    "detach",
    "find_format",
    "infer_kinds",
    "is_connection",
    "is_csv",
    "is_excel",
    "is_several",
    "is_spark_frame",
    "list_options",
    "list_parts",
    "need_local",
    "need_names",
    "offer_kinds",
    "read_csv_format",
    "relation_of",
]

"""Relations of somebody else's DuckDB (`duckdb.sql("…")`) as sources, and the tables of a connection.

A relation is a statement that has not run. One that computes may fail on a row, and a failure is an exact bit about
it. So a relation is taken without a promise only if nothing in it can fail: it names columns of one table of DuckDB
itself. Its text and its plan decide, and no row is read. It is taken over when it is opened, like a frame, as its owner
may change the table afterwards.
"""

import json
import re
from typing import Any

from discreet.algebra.names import quote_name
from discreet.core import InvalidInput
from discreet.data.engine_rules import DEFAULT_SETTINGS
from discreet.data.reading.connecting import connect

#: The modules in which DuckDB defines its types.
MODULES = ("duckdb", "_duckdb")
#: Columns of types that Arrow has no room for, in the type that it has: what does not fit is NULL there.
WIDE = {"HUGEINT": "DECIMAL(38, 0)", "UHUGEINT": "DECIMAL(38, 0)"}
#: What Arrow has in a form that is not read back, and would be left out anyway.
LEFT_OUT = {"BIGNUM": "BLOB", "BIT": "BLOB"}
#: The table that a plan reads, and what else is said of it.
SCAN = re.compile(r"Table:(?P<table>.*?)Type:SequentialScan(?P<rest>.*)")
#: Parts of a statement that a plain one leaves empty.
EMPTY = ("modifiers", "where_clause", "group_expressions", "group_sets", "having", "sample", "qualify")


def is_relation(source: object) -> bool:
    """Tell whether a source is a relation of DuckDB."""
    return type(source).__module__ in MODULES and type(source).__name__ == "DuckDBPyRelation"


def is_connection(source: object) -> bool:
    """Tell whether a source is a connection of DuckDB."""
    return type(source).__module__ in MODULES and type(source).__name__ == "DuckDBPyConnection"


def relation_of(connection: Any, table: str) -> Any:
    """Return a table of a connection as a relation."""
    import duckdb  # noqa: PLC0415 - slow to load, and loaded already by whoever has a connection

    try:
        return connection.table(table)
    except duckdb.CatalogException:
        raise InvalidInput(
            f"There is no table {table!r} in this connection.", fix="check the name, or pass a relation of DuckDB"
        ) from None


def check_plain(relation: Any, table: str) -> None:
    """Refuse a relation that computes something. No row is read."""
    named, read = _names_columns(relation.sql_query()), _table_of_plan(relation.explain())
    # A view is not called as the table that it reads.
    is_plain = named is not None and read is not None and read.endswith(f".{named}")
    if not is_plain:
        raise InvalidInput(
            f"The relation {table!r} is more than columns of one table: a row might make it fail, which tells of it.",
            fix="pass the result, relation.to_arrow_table(); or the path of the file that it reads; or promise that no "
            f"possible row makes it fail: never_fails=[{table!r}]",
        )


def compute_relation(relation: Any) -> Any:
    """Return the rows of a relation as an Arrow table."""
    items = [_select(name, str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]
    try:
        # Made of the relation anew: one that was read in part would give the rest.
        return relation.select(", ".join(items)).to_arrow_table()
    except ModuleNotFoundError:
        raise InvalidInput("Relations of DuckDB need pyarrow.", fix="pip install 'discreet[frames]'") from None


def _select(name: str, kind: str) -> str:
    own = quote_name(name)
    if kind in WIDE:
        return f"TRY_CAST({own} AS {WIDE[kind]}) AS {own}"
    return f"CAST(NULL AS {LEFT_OUT[kind]}) AS {own}" if kind in LEFT_OUT else own


def _names_columns(text: str) -> str | None:
    """Return the table whose columns a statement names; None if it does anything else."""
    with connect(":memory:", DEFAULT_SETTINGS) as engine:
        ((tree,),) = engine.execute("SELECT json_serialize_sql($text)", {"text": text}).fetchall()
    statements = json.loads(tree).get("statements", [])
    node = statements[0]["node"] if len(statements) == 1 else {}
    while _is_plain(node) and node["from_table"]["type"] == "SUBQUERY":
        node = node["from_table"]["subquery"]["node"]
    if not _is_plain(node) or node["from_table"]["type"] != "BASE_TABLE" or node["from_table"]["at_clause"]:
        return None
    return _bare(node["from_table"]["table_name"])


def _is_plain(node: dict[str, Any]) -> bool:
    if node.get("type") != "SELECT_NODE" or any(node[part] for part in EMPTY) or node["cte_map"]["map"]:
        return False
    return not node["from_table"].get("sample") and all(map(_is_column, node["select_list"]))


def _is_column(item: dict[str, Any]) -> bool:
    if item["class"] == "STAR":
        return not item["replace_list"] and not item["columns"] and not item["expr"]
    return bool(item["class"] == "COLUMN_REF")


def _table_of_plan(plan: str) -> str | None:
    """Return the table that a plan reads as it is, and nothing else; None if it does more, or reads another source."""
    lines = [line.strip("│ ") for line in plan.splitlines()]
    joined = "".join(line for line in lines if line)
    found = SCAN.search(joined.replace(" ", ""))
    if plan.count("┌") != 1 or "SEQ_SCAN" not in lines or found is None:
        return None
    if re.search("Filters:|SampleMethod:", found["rest"]):
        return None
    return _bare(found["table"])


def _bare(name: str) -> str:
    """Return a name without what a plan breaks into lines or adds."""
    return name.replace(" ", "").replace('"', "").casefold()

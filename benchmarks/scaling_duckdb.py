"""The question of `scaling.py` to DuckDB, in a process of its own: `python scaling_duckdb.py FOLDER`."""

import sys
import tempfile
from pathlib import Path

import duckdb
from queries_clock import run
from spark_data import HIGH, LIMIT_GROUPS, LIMIT_ROWS, LOW

from discreet.algebra.aggregates import Aggregation, Key, Present, Rows, Total
from discreet.algebra.expressions import column
from discreet.core import Limit, PrivacyUnit
from discreet.data import open_table


def load(folder: str):
    """Return a table with the rows of all files of a folder: it takes one file, so they are put together first."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "rows.parquet"
        duckdb.execute(f"copy (from '{folder}/*.parquet') to '{file}' (format parquet)")
        return open_table(
            file, table="rows", unit=PrivacyUnit(column="person"), bounds={"price": (LOW, HIGH)}, groups={}
        )


def ask(table, salt: int) -> dict:
    """Exact answers of bounded people, no noise."""
    price, shop = column(table.schema, "price"), column(table.schema, "shop")
    exact = table.aggregate(
        Aggregation(
            where=None,
            keys=(Key(shop),),
            aggregates=(Rows(), Total(price, price.bounds), Present(price)),
            limit=Limit(groups=LIMIT_GROUPS, rows_per_group=LIMIT_ROWS),
            salt=salt,
        )
    )
    return {"groups": len(exact.groups)}


if __name__ == "__main__":
    run(load, ask, sys.argv[1])

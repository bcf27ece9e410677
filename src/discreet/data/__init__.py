"""Rows in, exact bounded integers out, on DuckDB, PostgreSQL and Spark.

Still empty. The engines, `limit`, `clamp` and `aggregate` will live here. May touch rows; never randomness or the
ledger.
"""

__all__: list[str] = []

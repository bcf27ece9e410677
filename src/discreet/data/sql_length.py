"""The length of an expression's SQL, over all engines: sessions refuse the same questions on each. Sees no row."""

from collections import Counter

from discreet.algebra.expressions import Expression
from discreet.core import DiscreetError
from discreet.data.duckdb.expressions import write_sql as write_duckdb
from discreet.data.postgres.expressions import write_sql as write_postgres
from discreet.data.spark.expressions import write_sql as write_spark
from discreet.data.sql.length import WriteSql, measure

WRITERS: tuple[WriteSql, ...] = (write_duckdb, write_postgres, write_spark)


def measure_sql(expression: Expression) -> tuple[int, Counter[str]]:
    """Return the length of an expression's SQL, and how often it names each column: of all engines, the most."""
    longest, named = 0, Counter[str]()
    for write in WRITERS:
        try:
            length, own = measure(expression, write)
        except DiscreetError:
            continue  # that engine refuses it by itself, before it is paid
        longest = max(longest, length)
        named |= own
    return longest, named

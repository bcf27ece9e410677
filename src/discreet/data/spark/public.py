"""Public tables on Spark: nobody's rows, so that their bounds and groups are read off them."""

from dataclasses import replace
from typing import Any

from discreet.algebra.names import quote_name
from discreet.core.schema import Column, Value
from discreet.data.reading.importing import load_separately
from discreet.data.reading.public_tables import MOST_GROUPS, ColumnSummary, has_ends, public_schema
from discreet.data.reading.table_sources import Entering, declare_public_table
from discreet.data.spark.frames import SparkFrame, is_spark_frame, need_frame, private_frame


def public_frame(source: object, table: str, session: Any) -> SparkFrame:
    """Return a public table, ordered by its columns: a frame of Spark, or a file or another frame that is put there."""
    entering = declare_public_table(table, source)
    frame: Any = entering.source if is_spark_frame(entering.source) else _put(entering, session)
    need_frame(frame)
    spark_frame = private_frame(frame, entering.declaration)
    bare = tuple(Column(name=column.name, kind=column.kind) for column in spark_frame.schema.columns)
    rows, summaries = _summarise_columns(spark_frame)
    return replace(spark_frame, schema=public_schema(entering, bare, summaries, rows))


def _put(entering: Entering, session: Any) -> Any:
    """Return a file or a frame of somebody else's as one of Spark's. What it holds is read as everywhere, by DuckDB."""
    with load_separately(entering) as (connection, imported):
        items = ", ".join(f"c{place} AS {quote_name(column.name)}" for place, column in enumerate(imported.columns))
        rows = connection.sql(f"SELECT {items} FROM {entering.rows}")  # noqa: S608 - our own names, and quoted ones
        return _frame(rows.to_arrow_table(), session)


def _frame(rows: Any, session: Any) -> Any:
    """Return an Arrow table as a frame. One without a row has no batch, of which Connect would know the types."""
    if rows.num_rows:
        return session.createDataFrame(rows)
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - an extra, loaded by whoever made a frame

    return session.createDataFrame([], from_arrow_schema(rows.schema))


def _summarise_columns(spark_frame: SparkFrame) -> tuple[int, list[ColumnSummary]]:
    """Return the number of rows, and what they say of each column."""
    items = [f"{cast.text} AS x{place}" for place, cast in enumerate(spark_frame.castings)]
    values = spark_frame.frame.selectExpr(*items)
    aggregates = ["count(*) AS n"]
    for place, column in enumerate(spark_frame.schema.columns):
        number = f"x{place}" if has_ends(column.kind) else "NULL"
        many = f"approx_count_distinct(x{place})" if column.kind.groupable else "NULL"
        aggregates += [f"count(x{place}) AS n{place}", f"min({number}) AS a{place}", f"max({number}) AS b{place}"]
        aggregates += [f"{many} AS d{place}"]
    facts = values.selectExpr(*aggregates).toArrow().to_pylist()[0]
    return facts["n"], [
        ColumnSummary(
            facts[f"a{place}"],
            facts[f"b{place}"],
            facts[f"n{place}"] == facts["n"],
            _values(values, place, facts[f"d{place}"]),
        )
        for place in range(len(spark_frame.castings))
    ]


def _values(values: Any, place: int, about: int | None) -> list[Value] | None:
    """Return the values of a column; None if they are no groups, or far too many: about as many as that."""
    if about is None or about > 2 * MOST_GROUPS:
        return None
    distinct: list[Value] = values.select(f"x{place}").distinct().limit(MOST_GROUPS + 1).toArrow().column(0).to_pylist()
    return distinct

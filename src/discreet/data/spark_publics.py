"""Public tables on Spark: nobody's rows, so that their bounds and groups are read off them."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from discreet.core import Bounds, DiscreetError, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema, Value, day_number
from discreet.data.engines import connect
from discreet.data.importing import DEFAULT
from discreet.data.marks import group_order
from discreet.data.public_tables import MOST_GROUPS
from discreet.data.sources import attach
from discreet.data.spark_canonical import casting
from discreet.data.spark_frames import SparkFrame, columns_of, is_spark_frame, made_frame, need_frame, types_of
from discreet.data.spark_literals import DAY


def public_frame(given: object, table: str, session: Any) -> SparkFrame:
    """Return a public table, ordered by its columns: a frame of Spark, or a file or another frame that is put there."""
    frame: Any = given if is_spark_frame(given) else _put(given, session)
    need_frame(frame)
    found = {name: casting(f"f{place}", kind) for place, (name, kind) in enumerate(types_of(frame).items())}
    plain = Schema(table=table, columns=columns_of(found), unit=PrivacyUnit())
    made = made_frame(frame, plain, found, tuple(range(len(plain.columns))))
    return replace(made, schema=replace(plain, columns=_known(made)))


def _put(given: object, session: Any) -> Any:
    """Return a file or a frame of somebody else's as one of Spark's."""
    with connect(":memory:", DEFAULT) as connection:
        source = attach(connection, given, None)
        rows = connection.execute(f"SELECT * FROM {source.relation}", source.parameters)  # noqa: S608 - our own name
        return session.createDataFrame(rows.fetch_arrow_table())


def _known(made: SparkFrame) -> tuple[Column, ...]:
    """Return the columns with all that their values say."""
    items = [f"{cast.text} AS x{place}" for place, cast in enumerate(made.castings)]
    values = made.frame.selectExpr(*items)
    asked = ["count(*) AS n"]
    for place, column in enumerate(made.schema.columns):
        number = "NULL" if column.kind in (Kind.TEXT, Kind.BOOLEAN) else f"x{place}"
        many = f"approx_count_distinct(x{place})" if column.kind.groupable else "NULL"
        asked += [f"count(x{place}) AS n{place}", f"min({number}) AS a{place}", f"max({number}) AS b{place}"]
        asked += [f"{many} AS d{place}"]
    facts = values.selectExpr(*asked).toArrow().to_pylist()[0]
    return tuple(
        replace(
            column,
            bounds=_bounds(column.kind, facts[f"a{place}"], facts[f"b{place}"]),
            groups=_groups(values, place, facts),
            complete=facts[f"n{place}"] == facts["n"],
        )
        for place, column in enumerate(made.schema.columns)
    )


def _groups(values: Any, place: int, facts: Mapping[str, Any]) -> tuple[Value, ...] | None:
    """Return all values of a column, in the order of groups; None if they are too many, or no groups."""
    about = facts[f"d{place}"]
    if about is None or about > 2 * MOST_GROUPS:
        return None
    found = values.select(f"x{place}").distinct().limit(MOST_GROUPS + 1).toArrow().column(0).to_pylist()
    if not found or len(found) > MOST_GROUPS:
        return None
    return tuple(sorted(found, key=lambda value: group_order((value,))))


def _bounds(kind: Kind, low: Any, high: Any) -> Bounds | None:
    """Return the interval of a column's values; None if there is none, or no grid for it."""
    if low is None:
        return None
    match kind:
        case Kind.DATE:
            first, last = day_number(low), day_number(high)
        case Kind.TIMESTAMP:
            first, last = floor(Fraction(low, DAY)), ceil(Fraction(high, DAY))
        case _:
            first, last = floor(low), ceil(high)
    try:
        return Bounds(first, max(last, first + 1)) if kind is Kind.REAL else Bounds(first, max(last, first + 1), step=1)
    except DiscreetError:
        return None  # too wide for any grid; the column is still there, without bounds

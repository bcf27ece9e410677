"""Where Spark would say something else by itself: each trap, in a session as it comes and in one that is set oddly.

A table is opened in the first, and asked in both: settings that change after it was opened change nothing, either.
"""

import math
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Total
from discreet.algebra.expressions import Literal, call, column
from discreet.algebra.functions import F
from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.data.spark.table import open_spark
from spark_tables import frame_of, session

WIDE, ROWS = Limit(groups=1000, rows_per_group=1000), (Rows(),)
#: All that a user may have set at once, other than it comes.
ODD = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.caseSensitive": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.datetime.java8API.enabled": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.statisticalAggregate": "true",
    "spark.sql.legacy.allowHashOnMapType": "true",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true",
    "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    "spark.sql.legacy.negativeIndexInArrayInsert": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.optimizer.windowGroupLimitThreshold": "1",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.crossJoin.enabled": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
}


@pytest.fixture
def odd():
    """Set the session oddly, or some of it, until the test is over."""
    before = {}

    def change(settings=ODD):
        for name, value in settings.items():
            before.setdefault(name, session().conf.get(name))
            session().conf.set(name, value)

    yield change
    for name, value in before.items():
        session().conf.set(name, value)


def opened(columns, unit=None, **said):
    table = columns if not isinstance(columns, dict) else frame_of(pa.table(columns))
    return open_spark(table, table="t", unit=PrivacyUnit(column=unit), **said)


def of(table, name):
    return column(table.schema, name)


def answers(table, *keys, aggregates=ROWS, limit=WIDE, where=None, salt=0):
    """Return the first answer of each group, or all of them if there are several."""
    asked = Aggregation(where=where, keys=tuple(map(Key, keys)), aggregates=aggregates, limit=limit, salt=salt)
    exact = table.aggregate(asked)
    found = zip(*(answer.tolist() for answer in exact.answers), strict=True)
    return dict(zip(exact.groups, (one[0] if len(one) == 1 else one for one in found), strict=True))


def in_both(odd, ask, expected):
    """Check an answer in a session as it comes, and in one that is set oddly."""
    assert ask() == expected
    odd()
    assert ask() == expected


def test_nan_and_the_statistics_of_a_parquet_file(odd, tmp_path):
    """Of a row group with NaN, statistics may say anything; Spark itself has NaN above all numbers."""
    values = [math.nan, 1.0, 9.0, 2.0, math.nan, math.inf]
    pq.write_table(pa.table({"n": range(6), "x": values}), tmp_path / "nan.parquet", row_group_size=3)
    table = opened(session().read.parquet(str(tmp_path / "nan.parquet")))
    x = of(table, "x")
    in_both(odd, lambda: answers(table, of(table, "n"), where=call(F.GT, x, Literal.of(5.0))), {(2,): 1})


def test_row_number_below_a_limit(odd):
    """Spark has a plan of its own for row_number() <= k, which may leave rows out before all are numbered."""
    rows = {"person": [n % 3 for n in range(300)], "x": [n % 2 for n in range(300)], "n": list(range(300))}
    table = opened(rows, "person", bounds={"n": (0, 300)}, order="n")
    total = (Rows(), People(), Total(of(table, "n"), Bounds(0, 300, step=1)))

    def ask():
        return answers(table, of(table, "x"), aggregates=total, limit=Limit(groups=2, rows_per_group=4), salt=7)

    first = ask()
    assert {group: found[:2] for group, found in first.items()} == {(0,): (12, 3), (1,): (12, 3)}
    for threshold in ("-1", "1"):
        odd({"spark.sql.optimizer.windowGroupLimitThreshold": threshold})
        assert ask() == first, threshold


def test_integer_division(odd):
    """Spark's `div` rounds to zero, and its `/` of integers is no integer."""
    table = opened({"a": [7, -7, 7, -7, 5], "b": [2, 2, -2, -2, 0]})
    a, b = of(table, "a"), of(table, "b")
    expected = {(-7, -2, 3): 1, (-7, 2, -4): 1, (5, 0, None): 1, (7, -2, -4): 1, (7, 2, 3): 1}
    in_both(odd, lambda: answers(table, a, b, call(F.FLOOR_DIVIDE, a, b)), expected)


def test_bigint_overflow(odd):
    """Spark raises, or goes on from the other end, as the mode is."""
    table = opened({"x": [2**63 - 1, -(2**63), 2**63 - 1, 1]})
    x, most = of(table, "x"), 2**53
    keys = (call(F.ADD, x, x), call(F.MULTIPLY, x, x), call(F.NEGATE, x))
    expected = {(-most, most, most): 1, (2, 1, -1): 1, (most, most, -most): 2}
    in_both(odd, lambda: answers(table, *keys), expected)


def test_sums_that_do_not_fit_64_bits(odd):
    table = opened({"x": [2**53] * 3000})
    total = Total(of(table, "x"), Bounds(0, 2**53, step=1))
    in_both(odd, lambda: answers(table, aggregates=(total,)), {(): 3000 * 2**53})


def test_logarithms_of_what_has_none(odd):
    table = opened({"x": [0.0, -1.0, 1.0, -0.0, None]})
    found = call(F.FLOOR, call(F.LN, of(table, "x")))
    in_both(odd, lambda: answers(table, found), {(None,): 4, (0,): 1})


def test_divisions_by_zero(odd):
    table = opened({"x": [0.0, -0.0, 2.0]})
    found = call(F.FLOOR, call(F.DIVIDE, Literal.of(1), of(table, "x")))
    in_both(odd, lambda: answers(table, found), {(None,): 2, (0,): 1})


def test_casts_of_texts_that_are_no_numbers(odd):
    """A plain CAST raises in ANSI mode; TRY_CAST takes "1e3", " 1 " and "1.9" for integers, or not."""
    texts = ["12", "x", "", "1.9", "99999999999999999999", "1e3", "Infinity", "2024-02-30", "0x1F"]
    table = opened({"x": texts})
    x = of(table, "x")
    keys = (x, call(F.TO_INTEGER, x), call(F.TO_DATE, x), call(F.FLOOR, call(F.TO_REAL, x)))
    expected = {(text, None, None, None): 1 for text in texts}
    del expected["12", None, None, None], expected["1.9", None, None, None], expected["1e3", None, None, None]
    del expected["99999999999999999999", None, None, None]
    expected |= {("12", 12, None, 12): 1, ("1.9", None, None, 1): 1, ("1e3", None, None, 1000): 1}
    expected |= {("99999999999999999999", None, None, 2**53): 1}
    in_both(odd, lambda: answers(table, *keys), expected)


def test_the_first_day_of_the_week(odd):
    """Spark's dayofweek begins with Sunday at 1, its weekday with Monday at 0; its weeks are ISO's."""
    table = opened({"x": [date(2024, 1, 1), date(2024, 1, 7), date(2021, 1, 3)]})
    x = of(table, "x")
    expected = {(date(2021, 1, 3), 7, 53): 1, (date(2024, 1, 1), 1, 1): 1, (date(2024, 1, 7), 7, 1): 1}
    in_both(odd, lambda: answers(table, x, call(F.WEEKDAY, x), call(F.WEEK, x)), expected)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_a_time_zone_that_changes_after_a_table_was_opened(odd, zone):
    """Also in an hour that a zone does not have, and before its clocks were set by whole minutes."""
    texts = ("2024-03-10 02:30:15", "1880-01-01 23:59:59")
    pairs = ", ".join(f"(TIMESTAMP_LTZ'{text}Z', TIMESTAMP_NTZ'{text}')" for text in texts)
    table = opened(session().sql(f"SELECT * FROM VALUES {pairs} AS t(zoned, plain)"))
    keys = [call(f, of(table, name)) for name in ("zoned", "plain") for f in (F.TRUNC_DAY, F.HOUR, F.MINUTE)]
    late, early = (date(2024, 3, 10), 2, 30), (date(1880, 1, 1), 23, 59)
    since = call(F.GT, of(table, "zoned"), Literal.of(datetime(2024, 3, 10, 2, 30, 14)))  # noqa: DTZ001
    expected = {(*early, *early, False): 1, (*late, *late, True): 1}
    assert answers(table, *keys, since) == expected
    odd({**ODD, "spark.sql.session.timeZone": zone})
    assert answers(table, *keys, since) == expected


def test_texts_of_doubles(odd):
    """Ids that are reals are told apart by their texts: all bits count, and there is one zero."""
    ids = [0.1 + 0.2, 0.3, 1e21, 1e21, -0.0, 0.0, 5e-324, 2.0**53, 2.0**53 + 2]
    table = opened({"person": ids}, "person")
    one_each = Limit(groups=1, rows_per_group=1)
    in_both(odd, lambda: answers(table, aggregates=(Rows(), People()), limit=one_each), {(): (7, 7)})


def test_capitals_in_names(odd):
    table = opened({"Ward": ["a", "A"], "Größe": [1, 2]})
    in_both(odd, lambda: answers(table, of(table, "ward"), of(table, "größe")), {("A", 2): 1, ("a", 1): 1})


def test_what_is_odd_is_other_than_it_comes():
    """Or it would change nothing, whatever it said."""
    assert not [name for name, value in ODD.items() if session().conf.get(name) == value]

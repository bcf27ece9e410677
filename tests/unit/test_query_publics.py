"""What is known before a row is seen: intervals and public groups, against all that rows do."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from data_worlds import Worlds
from discreet.algebra.expressions import CLOCK_UNITS, Case, ColumnValue, Literal, call, column, columns_in
from discreet.algebra.functions import F
from discreet.core import Bounds, InvalidInput, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema, day_number
from discreet.query.relations.intervals import Interval, interval_of
from discreet.query.relations.public_values import bounds_of, never_null, public_values
from plain_engine import PlainTable
from plain_values import MICROSECONDS, microseconds_of, months_later, value_of

MOST_TRIES = 30
SEEDS = st.integers(0, 10**9)
DECEMBER = datetime(2023, 12, 30)  # noqa: DTZ001 - timestamps are UTC, without saying so
SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110, step=1)),
        Column(name="stay", kind=Kind.REAL, bounds=Bounds(0, 60)),
        Column(name="cost", kind=Kind.REAL),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B", "C")),
        Column(name="city", kind=Kind.TEXT),
        Column(name="day", kind=Kind.DATE, bounds=Bounds(19723, 19753, step=1)),
    ),
    unit=PrivacyUnit(column="patient"),
)


def first_expression(worlds, kind, depth, wanted):
    """Return the first expression of a world that is as wanted."""
    drawn = (worlds.expressions.of(kind, depth) for _ in range(MOST_TRIES))
    found = next(filter(wanted, drawn), None)
    assume(found is not None)
    return found


def of(name):
    return column(SCHEMA, name)


@given(SEEDS, st.sampled_from([Kind.INTEGER, Kind.REAL]), st.integers(1, 4))
def test_no_row_lies_outside_of_an_expressions_interval(seed, kind, depth):
    worlds = Worlds(seed)
    expression = worlds.expressions.of(kind, depth)
    interval = interval_of(expression)
    for row in PlainTable(worlds.schema, worlds.draw_rows(20)).rows:
        value = value_of(expression, row)
        if value is None:
            continue
        room = Fraction(abs(value)) / 10**9 + Fraction(1, 10**9)  # floats are rounded, intervals are not
        assert interval.low is None or value >= interval.low - room
        assert interval.high is None or value <= interval.high + room


@given(SEEDS, st.sampled_from([Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.TEXT]), st.integers(0, 3))
def test_no_row_has_a_value_that_is_not_among_the_public_ones(seed, kind, depth):
    """But for columns with declared groups, of which other values are left out on purpose, and rounding."""
    worlds = Worlds(seed)
    schema = Schema(
        table="visits",
        columns=tuple(Column(name=c.name, kind=c.kind, bounds=c.bounds) for c in worlds.schema.columns),
        unit=worlds.schema.unit,
    )

    def has_values(expression):
        values = public_values(expression, schema)
        return values is not None and not any(isinstance(v, int) and abs(v) > 2**40 for v in values)

    expression = first_expression(worlds, kind, depth, has_values)
    values = public_values(expression, schema)
    for row in PlainTable(schema, worlds.draw_rows(20)).rows:
        value = value_of(expression, row)
        assert value is None or value in values


def test_bounds_go_through_arithmetic():
    hours = bounds_of(call(F.MULTIPLY, of("stay"), Literal.of(24)), "AVG")
    assert (hours.low, hours.high) == (0, 1440)
    assert bounds_of(of("stay"), "AVG") == Bounds(0, 60)
    assert bounds_of(call(F.ADD, of("age"), Literal.of(1)), "AVG") == Bounds(1, 111, step=1)


def test_a_value_of_any_size_is_refused_and_the_column_is_named():
    with pytest.raises(InvalidInput, match=r"AVG\(cost\) needs bounds for 'cost'") as error:
        bounds_of(of("cost"), "AVG(cost)")
    assert 'bounds={"cost": (low, high)}' in error.value.fix
    with pytest.raises(InvalidInput, match="is unbounded"):
        bounds_of(call(F.DIVIDE, of("stay"), of("age")), "AVG(stay / age)")
    assert bounds_of(call(F.CLAMP, of("cost"), Literal.of(0), Literal.of(500)), "SUM").high == 500


def test_squares_are_taken_on_a_coarser_grid_where_they_would_not_fit():
    fine = bounds_of(call(F.CLAMP, of("cost"), Literal.of(0), Literal.of(10**15)), "VAR", squared=True)
    assert fine.radius <= 2**24
    assert fine.low <= 0
    assert fine.high >= 10**15


def test_functions_of_listed_values_have_listed_values():
    assert public_values(call(F.LOWER, of("ward")), SCHEMA) == ("a", "b", "c")
    assert public_values(call(F.SUBSTRING, of("ward"), Literal.of(2), Literal.of(1)), SCHEMA) == ("",)
    assert public_values(call(F.LENGTH, of("ward")), SCHEMA) == (1,)
    assert public_values(call(F.CONCAT, of("ward"), of("ward")), SCHEMA) == ("AA", "BB", "CC")
    assert public_values(call(F.CONCAT, of("ward"), of("city")), SCHEMA) is None
    unknown = call(F.LOWER, call(F.COALESCE, of("ward"), Literal.of("None")))
    assert public_values(unknown, SCHEMA) == ("a", "b", "c", "none")
    assert public_values(call(F.LOWER, of("city")), SCHEMA) is None
    either = Case(((call(F.EQ, of("ward"), Literal.of("A")), Literal.of("b ")),), of("city"))
    assert public_values(call(F.RTRIM, either), SCHEMA) is None


def test_public_groups():
    tens = call(F.MULTIPLY, call(F.FLOOR, call(F.DIVIDE, of("age"), Literal.of(10))), Literal.of(10))
    assert public_values(tens, SCHEMA) == tuple(range(0, 111, 10))
    assert public_values(of("ward"), SCHEMA) == ("A", "B", "C")
    assert public_values(of("city"), SCHEMA) is None
    assert public_values(call(F.MONTH, of("day")), SCHEMA) == tuple(range(1, 13))
    assert public_values(call(F.TRUNC_WEEK, of("day")), SCHEMA)[:2] == (date(2024, 1, 1), date(2024, 1, 8))
    assert public_values(call(F.GT, of("cost"), Literal.of(5)), SCHEMA) == (False, True)
    old = Case(((call(F.GE, of("age"), Literal.of(65)), Literal.of("old")),), Literal.of("young"))
    assert public_values(old, SCHEMA) == ("old", "young")


def test_a_value_that_is_always_there_is_known_to_be():
    assert never_null(call(F.COALESCE, of("stay"), Literal.of(0)), SCHEMA)
    assert not never_null(of("stay"), SCHEMA)
    assert never_null(Case(((call(F.IS_NULL, of("stay")), Literal.of(0)),), Literal.of(1)), SCHEMA)
    assert not never_null(Case(((call(F.IS_NULL, of("stay")), Literal.of(0)),), None), SCHEMA)


def test_arithmetic_of_complete_columns_is_complete():
    schema = replace(SCHEMA, columns=tuple(replace(c, complete=c.name in ("age", "stay")) for c in SCHEMA.columns))
    age, stay, cost = of("age"), of("stay"), of("cost")
    for whole in (
        age,
        call(F.CLAMP, call(F.NEGATE, call(F.ADD, age, stay)), Literal.of(-100), Literal.of(0)),
        call(F.ROUND, call(F.ABS, call(F.SUBTRACT, stay, call(F.MULTIPLY, age, Literal.of(2))))),
        call(F.FLOOR, call(F.LEAST, stay, call(F.CEIL, stay))),
        call(F.GREATEST, cost, age),
        Case(((call(F.GT, cost, Literal.of(0)), age),), stay),
    ):
        assert never_null(whole, schema)
    for holed in (
        cost,
        call(F.ADD, age, cost),
        call(F.DIVIDE, stay, age),
        call(F.SQRT, stay),
        call(F.NULLIF, age, age),
    ):
        assert not never_null(holed, schema)


@given(SEEDS, st.sampled_from([Kind.INTEGER, Kind.REAL]), st.integers(0, 4))
def test_what_is_never_null_is_null_in_no_row(seed, kind, depth):
    """Rows whose complete columns have values; but for what is too large for a real, which is no value."""
    worlds = Worlds(seed)
    schema = replace(worlds.schema, columns=tuple(replace(c, complete=True) for c in worlds.schema.columns))

    def is_never_null(expression):
        interval = interval_of(expression)
        return never_null(expression, schema) and interval.low is not None and interval.high is not None

    expression = first_expression(worlds, kind, depth, is_never_null)
    for row in PlainTable(schema, worlds.draw_rows(20)).rows:
        if all(row[name] is not None for name in columns_in(expression)):
            assert value_of(expression, row) is not None


def in_days(moment):
    return Fraction(microseconds_of(moment), MICROSECONDS)


@pytest.mark.parametrize("kind", [Kind.DATE, Kind.TIMESTAMP])
@pytest.mark.parametrize("months", [1, -1, -11, 12])
def test_no_day_lies_outside_of_its_interval_months_later(kind, months):
    """Moments do not keep their order: 30 January, 23:00, is later in February than 31 January, 01:00."""
    hours = 1 if kind is Kind.DATE else 3
    moments = [DECEMBER + n * timedelta(days=1) / hours for n in range(64 * hours)]
    now, later = [in_days(moment) for moment in moments], [in_days(months_later(moment, months)) for moment in moments]
    for first in range(0, len(moments), 5):
        for last in range(first + 1, len(moments), 7):
            bounded = ColumnValue("x", kind, Bounds(now[first], now[last], step=Fraction(1, 24)))
            interval = interval_of(call(F.ADD_MONTHS, bounded, Literal.of(months)))
            assert 0 <= min(later[first : last + 1]) - interval.low < 1
            assert 0 <= interval.high - max(later[first : last + 1]) <= 1


def test_days_beyond_all_years_have_an_interval_of_days():
    late = ColumnValue("x", Kind.DATE, Bounds(day_number(date(9998, 1, 1)), day_number(date(9999, 12, 31)), step=1))
    interval = interval_of(call(F.ADD_MONTHS, late, Literal.of(13)))
    assert (interval.low, interval.high) == (day_number(date(9999, 2, 1)), day_number(date.max))


def test_the_year_of_a_moment_before_1970_is_that_of_its_day():
    evening = ColumnValue("x", Kind.TIMESTAMP, Bounds(Fraction(-1, 2), Fraction(1, 2), step=Fraction(1, 2)))
    assert interval_of(call(F.YEAR, evening)).low == 1969


def test_moments_that_are_cut_to_a_unit_have_the_interval_of_their_cut_ends():
    ends = [in_days(DECEMBER) + Fraction(seconds, 86_400) for seconds in (3_723, 100_000)]
    bounded = ColumnValue("x", Kind.TIMESTAMP, Bounds(*ends, step=Fraction(1, 86_400)))
    for function, (_, seconds) in CLOCK_UNITS.items():
        interval = interval_of(call(function, bounded))
        cut = [in_days(DECEMBER) + Fraction(whole - whole % seconds, 86_400) for whole in (3_723, 100_000)]
        assert [interval.low, interval.high] == cut, function


def test_intervals_of_products_and_quotients():
    debt = call(F.CLAMP, of("cost"), Literal.of(-2), Literal.of(3))
    product = interval_of(call(F.MULTIPLY, debt, call(F.CLAMP, of("cost"), Literal.of(-5), Literal.of(4))))
    assert (product.low, product.high) == (-15, 12)
    assert not interval_of(call(F.DIVIDE, of("stay"), debt)).bounded  # it may be 0
    halves = interval_of(call(F.DIVIDE, debt, call(F.CLAMP, of("cost"), Literal.of(2), Literal.of(4))))
    assert (halves.low, halves.high) == (-1, Fraction(3, 2))


def test_moments_keep_their_time_of_day_and_days_are_whole():
    """A constant late in the evening, plus two hours, is on the next day."""
    late = Literal.of(datetime.fromisoformat("2024-01-02T23:00:00"))
    moved = call(F.ADD_SECONDS, late, Literal.of(7200))
    day = Fraction((date(2024, 1, 3) - date(1970, 1, 1)).days)
    assert interval_of(late).low == day - Fraction(1, 24)
    assert interval_of(call(F.TO_DATE, moved)) == Interval(day, day)
    assert interval_of(call(F.DAYS_BETWEEN, late, moved)) == Interval(Fraction(1), Fraction(1))

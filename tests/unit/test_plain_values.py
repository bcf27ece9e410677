"""The plain engine's values, against expectations written by hand and against DuckDB where the meaning is its own."""

from datetime import date, datetime

import pytest

from data_values import ASCII_TEXTS, DAYS, MOMENTS, REALS, WIDE_TEXTS
from discreet.algebra.expressions import Case, ColumnValue, InSet, Like, Literal, call
from discreet.algebra.functions import F
from discreet.core import Bounds
from discreet.core.schema import Kind
from plain_values import ARITHMETIC, COMPARING, LENIENT, STRICT, value_of

NULL = Literal.of(None)
LARGE = 2**53
LEAP = date(2024, 2, 29)
NOON = datetime(2024, 2, 29, 12, 34, 56, 789)  # noqa: DTZ001 - UTC


def worth(function, *values):
    """Return a function of constants."""
    return value_of(call(function, *[Literal.of(value) for value in values]), {})


EXPECTED = [
    (F.ADD, (2, 3), 5),
    (F.ADD, (2, 0.5), 2.5),
    (F.ADD, (2**63 - 1, 1), LARGE),
    (F.ADD, (LARGE, 1), LARGE),
    (F.ADD, (LARGE + 1, -1), LARGE - 1),  # the first argument is a float64 before it is added to
    (F.ADD, (1.7e308, 1.7e308), None),
    (F.SUBTRACT, (-(2**63), 1), -LARGE),
    (F.SUBTRACT, (1, 2.5), -1.5),
    (F.MULTIPLY, (3, -4), -12),
    (F.MULTIPLY, (2**40, 2**40), LARGE),
    (F.MULTIPLY, (1e200, -1e200), None),
    (F.DIVIDE, (1, 4), 0.25),
    (F.DIVIDE, (1, 0), None),
    (F.DIVIDE, (0, 0), None),
    (F.DIVIDE, (1.0, -0.0), None),
    (F.DIVIDE, (1e308, 1e-308), None),
    (F.FLOOR_DIVIDE, (7, 2), 3),
    (F.FLOOR_DIVIDE, (-7, 2), -4),
    (F.FLOOR_DIVIDE, (7.5, -2), -4),
    (F.FLOOR_DIVIDE, (7, 0), None),
    (F.FLOOR_DIVIDE, (1e308, 1e-308), LARGE),
    (F.MODULO, (7, 3), 1),
    (F.MODULO, (-7, 3), -1),
    (F.MODULO, (7, -3), 1),
    (F.MODULO, (7.5, 2), 1.5),
    (F.MODULO, (7, 0), None),
    (F.NEGATE, (5,), -5),
    (F.NEGATE, (-(2**63),), LARGE),
    (F.ABS, (-(2**63),), LARGE),
    (F.ABS, (-2.5,), 2.5),
    (F.FLOOR, (-0.5,), -1),
    (F.FLOOR, (1e300,), LARGE),
    (F.CEIL, (-0.5,), 0),
    (F.CEIL, (0.1,), 1),
    (F.ROUND, (0.5,), 1),
    (F.ROUND, (-0.5,), -1),
    (F.ROUND, (2.5,), 3),
    (F.ROUND, (0.49999999999999994,), 0),
    (F.ROUND, (4503599627370497.5,), 4503599627370498),
    (F.SQRT, (9,), 3.0),
    (F.SQRT, (-1,), None),
    (F.LN, (1,), 0.0),
    (F.LN, (0,), None),
    (F.LN, (-1.0,), None),
    (F.LOG10, (1000,), 3.0),
    (F.LOG10, (0.0,), None),
    (F.LOG10, (-10,), None),
    (F.EXP, (0,), 1.0),
    (F.EXP, (710,), None),
    (F.EXP, (-1000,), 0.0),
    (F.POWER, (2, 10), 1024.0),
    (F.POWER, (0, -1), None),
    (F.POWER, (-8, 1 / 3), None),
    (F.POWER, (0, 0), 1.0),
    (F.POWER, (10, 400), None),
    (F.CLAMP, (15, 0, 10), 10),
    (F.CLAMP, (-(2**63), -(2**63), 0), -(2**63)),
    (F.CLAMP, (1, 1.5, 2), 1.5),
    (F.CLAMP, (None, 0, 1), None),
    (F.LEAST, (3, None, 1), 1),
    (F.LEAST, ("b", "B", "é"), "B"),
    (F.LEAST, (2, 0.5), 0.5),
    (F.GREATEST, (None, 2, 1), 2),
    (F.GREATEST, (False, True), True),
    (F.GREATEST, (LEAP, datetime(2024, 2, 29)), datetime(2024, 2, 29)),  # noqa: DTZ001 - UTC
    (F.COALESCE, (None, 7, 8), 7),
    (F.COALESCE, (None, 7, 0.5), 7.0),
    (F.NULLIF, (1, 1), None),
    (F.NULLIF, (1, 2), 1),
    (F.NULLIF, (1, None), 1),
    (F.NULLIF, (None, 1), None),
    (F.EQ, (2**63 - 1, 2**63 - 2), False),
    (F.EQ, (2**53 + 1, float(2**53)), True),  # as float64
    (F.EQ, (None, None), None),
    (F.EQ, (0.0, -0.0), True),
    (F.NE, ("a", "A"), True),
    (F.LT, ("Z", "a"), True),
    (F.LT, ("\uffff", "😀"), True),  # by bytes of UTF-8, not of UTF-16
    (F.LE, (LEAP, datetime(2024, 2, 29)), True),  # noqa: DTZ001 - UTC
    (F.LT, (LEAP, NOON), True),
    (F.GT, (True, False), True),
    (F.GE, (1, None), None),
    (F.AND, (True, None), None),
    (F.AND, (False, None), False),
    (F.AND, (True, True, True), True),
    (F.OR, (True, None), True),
    (F.OR, (False, None), None),
    (F.OR, (False, False), False),
    (F.NOT, (None,), None),
    (F.NOT, (False,), True),
    (F.IS_NULL, (None,), True),
    (F.IS_NULL, ("",), False),
    (F.LOWER, ("AbC",), "abc"),
    (F.UPPER, ("AbC",), "ABC"),
    (F.TRIM, ("  a b \t ",), "a b \t"),
    (F.LENGTH, ("a😀é",), 3),
    (F.LENGTH, ("e\u0301",), 2),
    (F.LTRIM, ("  a \t ",), "a \t "),
    (F.RTRIM, (" \t a  ",), " \t a"),
    (F.RIGHT, ("a😀bc", 3), "😀bc"),
    (F.RIGHT, ("abc", 0), ""),
    (F.RIGHT, ("abc", 9), "abc"),
    (F.POSITION, ("a😀bc", "b"), 3),
    (F.POSITION, ("abc", "ca"), 0),
    (F.REPLACE, ("aaaa", "aa", "a"), "aa"),
    (F.REPLACE, ("a😀", "😀", ""), "a"),
    (F.REPLACE, ("a" * 9_999, "a", "ab"), "ab" * 5_000),
    (F.SPLIT_PART, ("a-b--c", "-", 2), "b"),
    (F.SPLIT_PART, ("a-b--c", "-", 3), ""),
    (F.SPLIT_PART, ("a-b", "-", 9), ""),
    (F.SPLIT_PART, ("aaa", "aa", 2), "a"),
    (F.SUBSTRING, ("a😀bc", 2, 2), "😀b"),
    (F.SUBSTRING, ("abc", 5, 2), ""),
    (F.SUBSTRING, ("abc", 2, 0), ""),
    (F.CONCAT, ("a", "", "b"), "ab"),
    (F.CONCAT, ("a", None), None),
    (F.YEAR, (LEAP,), 2024),
    (F.QUARTER, (LEAP,), 1),
    (F.QUARTER, (date(2024, 10, 1),), 4),
    (F.MONTH, (NOON,), 2),
    (F.WEEK, (date(2023, 1, 1),), 52),
    (F.WEEK, (date(2024, 12, 30),), 1),
    (F.DAY, (NOON,), 29),
    (F.WEEKDAY, (date(2024, 12, 30),), 1),
    (F.WEEKDAY, (date(2023, 1, 1),), 7),
    (F.DOW, (date(2023, 1, 1),), 0),
    (F.DOY, (date(2024, 12, 31),), 366),
    (F.LAST_DAY, (LEAP,), date(2024, 2, 29)),
    (F.LAST_DAY, (date.max,), date.max),
    (F.ADD_SECONDS, (date(2024, 1, 1), -1), datetime(2023, 12, 31, 23, 59, 59)),  # noqa: DTZ001 - UTC
    (F.ADD_SECONDS, (date.max, 86_400), None),
    (F.TRUNC_HOUR, (NOON,), NOON.replace(minute=0, second=0, microsecond=0)),
    (F.TRUNC_MINUTE, (NOON,), NOON.replace(second=0, microsecond=0)),
    (F.TRUNC_SECOND, (NOON,), NOON.replace(microsecond=0)),
    (F.HOUR, (NOON,), 12),
    (F.MINUTE, (NOON,), 34),
    (F.SECOND, (NOON,), 56),
    (F.TRUNC_YEAR, (NOON,), date(2024, 1, 1)),
    (F.TRUNC_QUARTER, (date(2024, 12, 30),), date(2024, 10, 1)),
    (F.TRUNC_MONTH, (LEAP,), date(2024, 2, 1)),
    (F.TRUNC_WEEK, (LEAP,), date(2024, 2, 26)),
    (F.TRUNC_WEEK, (date(1, 1, 1),), date(1, 1, 1)),
    (F.TRUNC_DAY, (NOON,), LEAP),
    (F.DAYS_BETWEEN, (LEAP, date(2024, 3, 1)), 1),
    (F.DAYS_BETWEEN, (date(2024, 3, 1), NOON), -1),
    (F.DAYS_BETWEEN, (NOON, LEAP), 0),
    (F.ADD_DAYS, (LEAP, 1), date(2024, 3, 1)),
    (F.ADD_DAYS, (NOON, -29), NOON.replace(month=1, day=31)),
    (F.ADD_DAYS, (date(9999, 12, 31), 1), None),
    (F.ADD_DAYS, (date(1, 1, 1), -1), None),
    (F.ADD_DAYS, (LEAP, -(2**63)), None),
    (F.ADD_MONTHS, (LEAP, 12), date(2025, 2, 28)),
    (F.ADD_MONTHS, (LEAP, -48), date(2020, 2, 29)),
    (F.ADD_MONTHS, (LEAP, 1), date(2024, 3, 29)),
    (F.ADD_MONTHS, (date(2023, 12, 31), 2), LEAP),
    (F.ADD_MONTHS, (date(2024, 3, 31), -1), LEAP),
    (F.ADD_MONTHS, (NOON, -12), NOON.replace(year=2023, day=28)),
    (F.ADD_MONTHS, (date(9999, 11, 30), 1), date(9999, 12, 30)),
    (F.ADD_MONTHS, (date(9999, 12, 1), 1), None),
    (F.ADD_MONTHS, (date(1, 1, 31), -1), None),
    (F.ADD_MONTHS, (LEAP, 2**63 - 1), None),
    (F.TO_INTEGER, (2.5,), 3),
    (F.TO_INTEGER, (-2.5,), -3),
    (F.TO_INTEGER, (1e300,), LARGE),
    (F.TO_INTEGER, (2**63 - 1,), LARGE),
    (F.TO_INTEGER, (" +12 ",), 12),
    (F.TO_INTEGER, ("-007",), -7),
    (F.TO_INTEGER, ("123456789012345",), 123456789012345),
    (F.TO_INTEGER, ("1234567890123456",), None),
    (F.TO_INTEGER, ("1.5",), None),
    (F.TO_INTEGER, ("",), None),
    (F.TO_INTEGER, ("１２",), None),
    (F.TO_INTEGER, (True,), 1),
    (F.TO_REAL, ("-1.5",), -1.5),
    (F.TO_REAL, (".5",), 0.5),
    (F.TO_REAL, ("1e3",), 1000.0),
    (F.TO_REAL, ("1e999",), None),
    (F.TO_REAL, ("1e1000",), None),
    (F.TO_REAL, ("nan",), None),
    (F.TO_REAL, ("inf",), None),
    (F.TO_REAL, ("1_000",), None),
    (F.TO_REAL, (2**53 + 1,), float(2**53)),
    (F.TO_TEXT, (-5,), "-5"),
    (F.TO_TEXT, (True,), "true"),
    (F.TO_TEXT, (date(33, 4, 5),), "0033-04-05"),
    (F.TO_TEXT, ("a",), "a"),
    (F.TO_DATE, ("2024-02-29",), LEAP),
    (F.TO_DATE, ("2023-02-29",), None),
    (F.TO_DATE, ("2024-2-9",), None),
    (F.TO_DATE, ("0000-01-01",), None),
    (F.TO_DATE, (NOON,), LEAP),
]


@pytest.mark.parametrize(("function", "values", "expected"), EXPECTED)
def test_a_function_means_what_is_written_by_hand(function, values, expected):
    found = worth(function, *values)
    assert (type(found), found) == (type(expected), expected)


def test_every_function_has_an_expectation_and_one_meaning():
    meanings = [set(table) for table in (ARITHMETIC, COMPARING, LENIENT, STRICT)]
    assert {function for function, _, _ in EXPECTED} == set(F) == set().union(*meanings)
    assert sum(map(len, meanings)) == len(F)


def test_null_in_is_null_out_but_for_the_few_that_are_named():
    named = {F.AND, F.OR, F.IS_NULL, F.COALESCE, F.LEAST, F.GREATEST, F.NULLIF}
    for function, values, _ in EXPECTED:
        if function not in named:
            for place in range(len(values)):
                assert worth(function, *values[:place], None, *values[place + 1 :]) is None


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("abc", "a%", True),
        ("abc", "A%", False),
        ("abc", "_b_", True),
        ("a\nb", "a%b", True),
        ("a\nb", "a_b", True),
        ("😀", "_", True),
        ("e\u0301", "_", False),
        ("", "%", True),
        ("", "_", False),
        ("a%", "a\\%", False),
        ("a\\b", "a\\%", True),
        ("abc", "[a]%", False),
        ("ab", "abc", False),
        (None, "%", None),
    ],
)
def test_like_knows_two_signs_and_no_escape(value, pattern, expected):
    assert value_of(Like(Literal.of(value), pattern), {}) is expected


def test_like_without_capitals():
    assert value_of(Like(Literal.of("ABC"), "a_C", folded=True), {}) is True


def test_case_takes_the_first_that_is_true_and_not_one_that_is_null():
    unknown = call(F.EQ, NULL, Literal.of(1))
    case = Case(((unknown, Literal.of(1)), (Literal.of(True), Literal.of(2)), (Literal.of(True), Literal.of(3))), None)
    assert value_of(case, {}) == 2
    assert value_of(Case(((unknown, Literal.of(1)),), None), {}) is None
    assert value_of(Case(((unknown, Literal.of(1)),), Literal.of(0.5)), {}) == 0.5
    mixed = value_of(Case(((Literal.of(True), Literal.of(1)),), Literal.of(0.5)), {})
    assert (type(mixed), mixed) == (float, 1.0)


def test_membership_is_equality_with_one_of_them():
    members = (Literal.of(1), Literal.of(2.5))
    assert value_of(InSet(Literal.of(1), members), {}) is True
    assert value_of(InSet(Literal.of(3), members), {}) is False
    assert value_of(InSet(Literal(None, Kind.INTEGER), members), {}) is None


def test_a_column_is_never_seen_outside_of_its_bounds():
    whole = ColumnValue("x", Kind.INTEGER, Bounds(0, 10))
    assert [value_of(whole, {"x": value}) for value in (-(2**63), 5, 2**63 - 1, None)] == [0, 5, 10, None]
    real = ColumnValue("x", Kind.REAL, Bounds(-0.3, 0.7, step=0.1))
    assert [value_of(real, {"x": value}) for value in (-1e300, 0.5, 1e300, None)] == [-0.3, 0.5, 0.7, None]
    day = ColumnValue("x", Kind.DATE, Bounds(0, 10, step=1))
    assert value_of(day, {"x": date(9999, 12, 31)}) == date(1970, 1, 11)
    moment = ColumnValue("x", Kind.TIMESTAMP, Bounds(0, 10, step=1))
    assert value_of(moment, {"x": NOON}) == datetime(1970, 1, 11)  # noqa: DTZ001 - UTC
    assert value_of(moment, {"x": datetime(1970, 1, 2, 3)}) == datetime(1970, 1, 2, 3)  # noqa: DTZ001 - UTC


FINITE = [value for value in REALS if abs(value) < float("inf")]
TEXTS = [text for text in ASCII_TEXTS + WIDE_TEXTS if "\ufeff" not in text]
#: Where the meaning is DuckDB's own: a function, DuckDB's expression, and values for its question marks.
SAME = [
    (F.ROUND, "round(?)", [(x,) for x in FINITE if abs(x) < LARGE]),
    (F.FLOOR, "floor(?)", [(x,) for x in FINITE if abs(x) < LARGE]),
    (F.CEIL, "ceil(?)", [(x,) for x in FINITE if abs(x) < LARGE]),
    (F.MODULO, "?::DOUBLE % ?::DOUBLE", [(a, b) for a in FINITE for b in FINITE if b]),
    (F.SQRT, "sqrt(?)", [(x,) for x in FINITE if x >= 0]),
    (F.LN, "ln(?)", [(x,) for x in FINITE if x > 0]),
    (F.LOG10, "log10(?)", [(x,) for x in FINITE if x > 0]),
    (F.EXP, "exp(?)", [(x,) for x in FINITE if x < 700]),
    (F.LT, "?::VARCHAR < ?::VARCHAR", [(a, b) for a in TEXTS[::3] for b in TEXTS[::2]]),
    (F.LENGTH, "length(?::VARCHAR)", [(text,) for text in TEXTS]),
    (F.SUBSTRING, "substring(?::VARCHAR, ?, ?)", [(text, s, n) for text in TEXTS for s in (1, 2) for n in (0, 1, 3)]),
    (F.TRIM, "trim(?::VARCHAR, ' ')", [(text,) for text in TEXTS]),
    (F.RIGHT, "right(?::VARCHAR, ?)", [(text, n) for text in TEXTS for n in (0, 1, 3)]),
    (F.POSITION, "strpos(?::VARCHAR, ?)", [(text, part) for text in TEXTS for part in ("a", " ", "é")]),
    (F.REPLACE, "replace(?::VARCHAR, ?, ?)", [(text, "a", "xy") for text in TEXTS]),
    (F.LOWER, "lower(?::VARCHAR)", [(text,) for text in ASCII_TEXTS]),
    (F.UPPER, "upper(?::VARCHAR)", [(text,) for text in ASCII_TEXTS]),
    (F.QUARTER, "quarter(?)", [(day,) for day in DAYS + MOMENTS]),
    (F.WEEK, "week(?)", [(day,) for day in DAYS + MOMENTS]),
    (F.WEEKDAY, "isodow(?)", [(day,) for day in DAYS + MOMENTS]),
    (F.DOW, "dayofweek(?)", [(day,) for day in DAYS + MOMENTS]),
    (F.DOY, "dayofyear(?)", [(day,) for day in DAYS + MOMENTS]),
    (F.LAST_DAY, "last_day(?)", [(day,) for day in DAYS + MOMENTS]),
    (F.TRUNC_HOUR, "date_trunc('hour', ?)", [(moment,) for moment in MOMENTS]),
    (F.SPLIT_PART, "split_part(?::VARCHAR, ?, ?)", [(text, part, 2) for text in TEXTS for part in ("a", " ", "é")]),
    (F.HOUR, "hour(?)", [(moment,) for moment in MOMENTS]),
    (F.MINUTE, "minute(?)", [(moment,) for moment in MOMENTS]),
    (F.TRUNC_WEEK, "date_trunc('week', ?)::DATE", [(day,) for day in DAYS + MOMENTS]),
    (F.TRUNC_QUARTER, "date_trunc('quarter', ?)::DATE", [(day,) for day in DAYS + MOMENTS]),
    (F.DAYS_BETWEEN, "date_diff('day', ?, ?)", [(a, b) for a in MOMENTS for b in MOMENTS]),
    (F.TO_TEXT, "?::DATE::VARCHAR", [(day,) for day in DAYS]),
]


@pytest.mark.parametrize(("function", "text", "rows"), SAME, ids=lambda value: getattr(value, "name", ""))
def test_a_function_means_what_it_means_in_duckdb(function, text, rows):
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    found = [database.execute(f"SELECT {text}", row).fetchone()[0] for row in rows]
    assert found == [worth(function, *row) for row in rows]


@pytest.mark.parametrize("folded", [False, True])
def test_like_means_what_it_means_in_duckdb(folded):
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    verb = "ILIKE" if folded else "LIKE"
    for pattern in ("%", "_", "a%", "%a", "%b%", "a_b", "_%_", "", "%%", "'%", "__", "%\n%", "A%"):
        for text in ASCII_TEXTS if folded else TEXTS:
            found = database.execute(f"SELECT ?::VARCHAR {verb} ?", (text, pattern)).fetchone()[0]
            assert found is value_of(Like(Literal.of(text), pattern, folded=folded), {})

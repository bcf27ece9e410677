"""Functions that SQL is written with mean what they mean in DuckDB, row by row, where rows have what DuckDB has."""

from datetime import date, datetime, timedelta

import pytest

from discreet.core import Bounds, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema, day_number
from discreet.query.relations.public_values import public_values
from discreet.query.sql import read_sql
from plain_values import value_of

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="pid", kind=Kind.INTEGER),
        Column(name="n", kind=Kind.INTEGER),
        Column(name="x", kind=Kind.REAL),
        Column(name="t", kind=Kind.TEXT),
        Column(name="a", kind=Kind.DATE),
        Column(name="b", kind=Kind.DATE),
        Column(name="s", kind=Kind.TIMESTAMP),
        Column(name="e", kind=Kind.TIMESTAMP),
        Column(
            name="day",
            kind=Kind.DATE,
            bounds=Bounds(day_number(date(2024, 1, 30)), day_number(date(2024, 3, 2)), step=1),
        ),
    ),
    unit=PrivacyUnit(column="pid"),
)
TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
DAYS = [
    *(date(1, 1, 1), date(99, 3, 1), date(1900, 2, 28), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29)),
    *(date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 7, 7), date(2025, 10, 6), date(9999, 12, 31)),
]
CLOCKS = [
    timedelta(0),
    timedelta(hours=9, minutes=5, seconds=7, microseconds=8),
    timedelta(hours=23, minutes=59, seconds=59),
]
TEXTS = ["", "a", "ab-c-", "  x ", "b'%_a", "Äé-ß", "😀a😀", "a\nb", "29x02x2024", "abcabc", "2024-02-29", "29.02.2024"]
#: Rows in which values of all kinds meet.
ROWS = [
    {
        "pid": place,
        "n": (None, 0, 1, -1, 7, 12, 31, 2024, 10_000)[place % 9],
        "x": (None, 0.0, 2.5, -2.5, 0.125, 1e12, -1e-9, 99.995)[place % 8],
        "t": (None, *TEXTS)[place % 13],
        "a": (None, *DAYS)[place % 13],
        "b": (*DAYS, None)[place * 5 % 13],
        "s": None if place % 11 == 5 else datetime.combine(DAYS[place % 12], datetime.min.time()) + CLOCKS[place % 3],
        "e": datetime.combine(DAYS[place * 7 % 12], datetime.min.time()) + CLOCKS[place * 2 % 3],
        "day": None,
    }
    for place in range(39)
]
#: Expressions that DuckDB reads as they stand.
DATES = [
    *(f"DATE_TRUNC('{unit}', s)" for unit in ("hour", "minute", "second")),
    *(
        f"DATE_DIFF('{unit}', {pair})"
        for unit in ("year", "quarter", "month", "day")
        for pair in ("a, b", "b, a", "s, e")
    ),
    *(f"DATE_DIFF('{unit}', {pair})" for unit in ("hour", "minute", "second") for pair in ("s, e", "a, e", "a, b")),
    *("EXTRACT(DOW FROM a)", "EXTRACT(DOY FROM s)", "DAYOFYEAR(b)", "DAYNAME(a)", "MONTHNAME(s)", "LAST_DAY(a)"),
    *("STRFTIME(a, '%Y-%m')", "STRFTIME(s, '%Y-%m-%d %H:%M:%S')", "STRFTIME(a, '%d.%m.%Y %B %a %j %% %-d/%-m')"),
    *("STRFTIME(b, '%A %b %y %u %w %V')", "STRFTIME(s, '%Y%m%d%H')", "STRFTIME(a, '%d %H:%M')", "STRFTIME(s, '%m-%d')"),
    *("WEEKOFYEAR(a)", "DAYOFMONTH(s)", "LAST_DAY(s)", "EPOCH(a)", "CAST(a AS TIMESTAMP)"),
]
#: Expressions of texts and numbers that DuckDB reads as they stand.
OTHERS = [
    *(
        "LPAD(t, 4, '0')",
        "RPAD(t, 5, 'xy')",
        "SPLIT_PART(t, '-', 1)",
        "SPLIT_PART(t, '-', 3)",
        "SPLIT_PART(t, 'bc', 2)",
    ),
    *("CONTAINS(t, 'b')", "ENDS_WITH(t, 'c-')", "SUFFIX(t, 'ab')", "REPEAT(t, 3)", "TRANSLATE(t, 'abca', 'xy')"),
    *("LCASE(LEFT(t, 1) || 'A')", "LEN(t)", "PI() * x", "RADIANS(x)", "DEGREES(x)", "STRPOS(t, 'b')", "INSTR(t, 'c')"),
]
#: What is written, and what DuckDB is asked.
WRITTEN = {
    "STRPTIME(t, '%d.%m.%Y')": "TRY_CAST(try_strptime(t, '%d.%m.%Y') AS DATE)",
    "TO_DATE(t, 'YYYY-MM-DD')": "TRY_CAST(t AS DATE)",
    "TO_DATE(t)": "TRY_CAST(t AS DATE)",
    "TO_CHAR(s, 'YYYY/MM/DD HH24:MI:SS')": "strftime(s, '%Y/%m/%d %H:%M:%S')",
    "TO_CHAR(a, 'FMDay, DD Mon YY \"Q\"Q IW')": "strftime(a, '%A, %d %b %y Q') || quarter(a) || strftime(a, ' %V')",
    "DATE_FORMAT(s, '%d.%m.%Y %H:%i:%s %M %W')": "strftime(s, '%d.%m.%Y %H:%M:%S %B %A')",
    "DATE_FORMAT(s, 'yyyy-MM-dd HH:mm:ss EEE MMMM')": "strftime(s, '%Y-%m-%d %H:%M:%S %a %B')",
    "TRUNC(x)": "trunc(x)::BIGINT",
    "TRUNC(x, 2)": "trunc(x, 2)",
    "LPAD(n, 3, '0')": "lpad(n::VARCHAR, 3, '0')",
    "LPAD(t, 3)": "lpad(t, 3, ' ')",
    "SAFE_DIVIDE(x, n)": "x / nullif(n, 0)",
    "ISNULL(t)": "t IS NULL",
    "ISNULL(n, 5)": "coalesce(n, 5)",
    "NVL2(t, 1, 2)": "CASE WHEN t IS NOT NULL THEN 1 ELSE 2 END",
    "DECODE(n, 1, 'one', NULL, 'no', 'more')": "CASE WHEN n = 1 THEN 'one' WHEN n IS NULL THEN 'no' ELSE 'more' END",
    "DECODE(n, 1, 'one', 7, 'seven')": "CASE n WHEN 1 THEN 'one' WHEN 7 THEN 'seven' END",
    "CHOOSE(n, 'a', 'b')": "CASE n WHEN 1 THEN 'a' WHEN 2 THEN 'b' END",
    "DOW(s)": "dayofweek(s)",
    "EPOCH(s)": "floor(epoch(s))::BIGINT",
    "EXTRACT(EPOCH FROM s)": "floor(epoch(s))::BIGINT",
    "s + INTERVAL 6 HOUR": "CASE WHEN s < '9999-12-31' THEN s + INTERVAL 6 HOUR END",
    "a - INTERVAL 90 SECOND": "CASE WHEN a > '0001-01-01' THEN a - INTERVAL 90 SECOND END",
    "DATEDIFF(b, a)": "date_diff('day', a, b)",
    "DATEDIFF(month, a, b)": "date_diff('month', a, b)",
    "DATE_DIFF(b, a, YEAR)": "date_diff('year', a, b)",
    "DATE_ADD(a, INTERVAL 1 MONTH)": "CASE WHEN a < '9999-12-01' THEN CAST(a + INTERVAL 1 MONTH AS DATE) END",
    "DATEADD('day', -3, a)": "CASE WHEN a > '0001-01-03' THEN a - 3 END",
    "MAKE_DATE(n, 2, 29)": "CASE WHEN n BETWEEN 1 AND 9999 THEN TRY(make_date(n, 2, 29)) END",
    "MAKE_DATE(2024, 12, n)": "CASE WHEN n BETWEEN 1 AND 31 THEN TRY(make_date(2024, 12, n)) END",
}


def expressions(texts):
    """Return what texts are read as."""
    measures = ", ".join(f"COUNT(DISTINCT {text})" for text in texts)
    return [output.term.value for output in read_sql(f"SELECT {measures} FROM visits", {"visits": SCHEMA}).outputs]


def expression(text):
    """Return what a text is read as."""
    return expressions([text])[0]


@pytest.fixture(scope="module")
def ask():
    """Return what asks DuckDB for expressions of all rows."""
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    columns = ", ".join(f"{column.name} {TYPES[column.kind]}" for column in SCHEMA.columns)
    database.execute(f"CREATE TABLE visits ({columns})")
    database.executemany(
        f"INSERT INTO visits VALUES ({', '.join('?' * len(SCHEMA.columns))})",
        [[row[column.name] for column in SCHEMA.columns] for row in ROWS],
    )
    yield lambda texts: database.execute(f"SELECT {', '.join(texts)} FROM visits ORDER BY pid").fetchall()
    database.close()


def differences(texts, found):
    """Return each expression that differs from what DuckDB found, with the first row in which it does."""
    wrong = {}
    for place, (text, read) in enumerate(zip(texts, expressions(texts), strict=True)):
        for row, given in zip(ROWS, found, strict=True):
            own = value_of(read, row)
            same = own == given[place] or (isinstance(own, float) and own == pytest.approx(given[place], rel=1e-12))
            if not same:
                wrong.setdefault(text, (row, own, given[place]))
    return wrong


def test_functions_of_days_mean_what_they_mean_in_duckdb(ask):
    assert not differences(DATES, ask(DATES))


def test_functions_of_texts_and_numbers_mean_what_they_mean_in_duckdb(ask):
    assert not differences(OTHERS, ask(OTHERS))


def test_what_duckdb_writes_otherwise_means_the_same(ask):
    assert not differences(WRITTEN, ask(WRITTEN.values()))


#: What other databases write, and what it is read as.
SPELLINGS = {
    "DATE_TRUNC(MINUTE, s)": "DATE_TRUNC('minute', s)",
    "DATE_TRUNC(s, SECOND)": "DATE_TRUNC('second', s)",
    "DATE_TRUNC(day, MONTH)": "DATE_TRUNC('month', day)",
    "DATE_DIFF(b, a, QUARTER)": "DATE_DIFF('quarter', a, b)",
    "DATEDIFF(YEAR, a, '2024-12-31')": "2024 - YEAR(a)",
    "DATEDIFF(day, a)": "DATE_DIFF('day', a, day)",
    "DATE_ADD(a, INTERVAL 7 DAY)": "a + INTERVAL 7 DAY",
    "DATE_SUB(a, INTERVAL 1 QUARTER)": "a - INTERVAL 3 MONTH",
    "DATEADD(month, -1, a)": "a - INTERVAL 1 MONTH",
    "DATE_ADD('week', 2, a)": "a + INTERVAL 14 DAY",
    "DATE_ADD(s, 3)": "s + INTERVAL 3 DAY",
    "DATE_SUB(s, 3)": "s - INTERVAL 3 DAY",
    "TRUNC(s, 'month')": "DATE_TRUNC('month', s)",
    "LOCATE('a', t)": "STRPOS(t, 'a')",
    "CHARINDEX('a', t)": "STRPOS(t, 'a')",
    "UCASE(t)": "UPPER(t)",
    "TRY_DIVIDE(x, n)": "x / n",
    "STRFTIME('%Y', a)": "STRFTIME(a, '%Y')",
    "FORMAT_DATE('%Y-%m', a)": "STRFTIME(a, '%Y-%m')",
    "TO_DATE(t, 'dd.MM.yyyy')": "TO_DATE(t, 'DD.MM.YYYY')",
}


def test_what_other_databases_write_is_read_as_well():
    wrong = [text for text, meant in SPELLINGS.items() if expression(text) != expression(meant)]
    assert not wrong


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("DOW(a)", tuple(range(7))),
        ("DAYOFYEAR(a)", tuple(range(1, 367))),
        ("DAYNAME(a)", ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")),
        ("LAST_DAY(day)", (date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31))),
        ("LAST_DAY(a)", None),
        ("STRFTIME(day, '%Y-%m')", ("2024-01", "2024-02", "2024-03")),
        ("STRFTIME(day, '%b %y')", ("Jan 24", "Feb 24", "Mar 24")),
        ("STRFTIME(a, '%Y-%m')", None),
        ("STRFTIME(CLAMP(a, '2023-12-31', '2024-01-01'), '%Y')", ("2023", "2024")),
        ("STRFTIME(DATE_TRUNC('month', day), '%m')", ("01", "02", "03")),
        ("STRFTIME(day, '%Y') || t", None),
    ],
)
def test_groups_of_days_are_public_where_they_are_few(text, values):
    assert public_values(expression(text), SCHEMA) == values

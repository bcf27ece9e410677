"""Released tables with error bars, and the exact ones: what questions about answers are tried on."""

import random
from fractions import Fraction

import duckdb

from discreet.core.schema import Kind
from discreet.query import Result, ResultColumn
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS

INNER = "SELECT ward, MONTH(day) AS m, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY 1, 2"


def read_outer(outer):
    """Return the stages of an outer question."""
    return read_sql(f"WITH q AS ({INNER}) {outer}", SCHEMAS).stages


def make_tables(seed):
    """Return a table with bars, and the exact one: its cells lie in the bars, at their ends as often as not."""
    draw = random.Random(seed)
    keys = [(ward, month) for ward in ("A", "B", None) for month in (1, 2, 3)]
    counts, stays = [], []
    for _ in keys:
        exact, error = draw.randint(0, 9), draw.randint(0, 3)
        counts.append((exact + draw.choice([-error, 0, error]), exact, error))
        exact = draw.choice([None, *[draw.randint(0, 80) / 8] * 9])
        noisy = draw.choice([None, *[(6 if exact is None else exact) + draw.choice([-2, 0, 2])] * 11])
        stays.append((noisy, exact, 2 if noisy is not None else None))

    def build(which):
        middle = [[count[which] for count in counts], [stay[which] for stay in stays]]
        bars = [[(v, e) for v, _, e in counts], [(v, e) for v, _, e in stays]]
        ends = [[[None if e is None else v + sign * e for v, e in bar] for sign in (-1, 1)] for bar in bars]
        columns = [ResultColumn(name="ward", kind=Kind.TEXT, values=tuple(key[0] for key in keys))]
        columns.append(ResultColumn(name="m", kind=Kind.INTEGER, values=tuple(key[1] for key in keys)))
        for name, kind, values, (low, high) in zip(("n", "stay"), (Kind.INTEGER, Kind.REAL), middle, ends, strict=True):
            columns.append(ResultColumn(name=name, kind=kind, values=tuple(values), low=tuple(low), high=tuple(high)))
        return Result(columns=tuple(columns), confidence=Fraction(19, 20), simultaneous=True, notes=())

    missing = {
        "ward": [False] * 9,
        "m": [False] * 9,
        "n": [False] * 9,
        "stay": [exact is None for _, exact, _ in stays],
    }
    return build(0), build(1), missing


def shown(result):
    """Return the rows of a table to nine digits."""
    return [tuple(rounded(value) for value in row.values()) for row in result.rows]


def rounded(value):
    return round(float(value), 9) if isinstance(value, int | float) and not isinstance(value, bool) else value


def load_duckdb(result):
    """Return DuckDB with a table."""
    engine = duckdb.connect()
    engine.execute("CREATE TABLE q (ward VARCHAR, m INTEGER, n INTEGER, stay DOUBLE)")
    engine.executemany("INSERT INTO q VALUES (?, ?, ?, ?)", [list(row.values()) for row in result.rows])
    return engine


def check_bars(column, right, outer):
    if column.low is None:
        return
    for low, high, value in zip(column.low, column.high, right.values, strict=True):
        if low is not None and value is not None:
            assert low - 1e-9 <= value <= high + 1e-9, (outer, column.name)

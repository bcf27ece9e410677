"""Compares an answer with next to no noise with that of DuckDB to the same text on the same rows."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
from sql_corpus_data import World

from discreet.session.answers.cells import is_measured

#: Values are counted on grids: sums and averages are off by a millionth of their range at the most.
RELATIVE, ABSOLUTE = 1e-3, 2e-2
#: Ends and quantiles are found on grids too, and between two rows of the middle every value is a median.
OF_ORDER, SLACK, DAYS = 0.3, 0.01, 400
ORDER = re.compile(r"\b(MEDIAN|MIN|MAX|QUANTILE\w*|APPROX_QUANTILE|PERCENTILE\w*|APPROX_\w+)\s*\(", re.IGNORECASE)
LIMIT = re.compile(r"\s(LIMIT|FETCH)\s[^()]*$", re.IGNORECASE)
#: Functions of ours that DuckDB does not have.
MACROS = ("CREATE MACRO clamp(x, low, high) AS CASE WHEN x IS NOT NULL THEN greatest(least(x, high), low) END",)


class Differs(Exception):
    """An answer is not that of DuckDB."""


def compare_with_duckdb(text: str, answer: Any, world: World) -> bool:
    """Raise `Differs` if an answer differs from that of DuckDB; return False if DuckDB does not take the text.

    No difference are, as the pages on SQL say: public groups that have no rows, and measured nothing; groups that are
    too small to be shown where they were selected privately; rows without a public group; and rows of equal rank where
    only so many are shown.
    """
    theirs = ask_duckdb(text, world)
    if theirs is None:
        return False
    columns = [[plain(value) for value in column.values] for column in answer.result.columns]
    ours = [tuple(row) for row in zip(*columns, strict=True)]
    measured = [is_measured(column) for column in answer.result.columns]
    if theirs and ours and len(theirs[0]) != len(ours[0]):
        raise Differs(f"{len(ours[0])} columns, DuckDB has {len(theirs[0])}")
    near = Near(measured, of_order=ORDER.search(text) is not None)
    everything = ask_duckdb(LIMIT.sub("", text), world) if LIMIT.search(text) else None
    if everything is not None:
        missing, extra = [], [row for row in ours if not take(everything, row, near)]
    else:
        extra = list(ours)
        missing = [row for row in theirs if not take(extra, row, near)]
    plans = [] if answer.plan is None else [answer.plan, *answer.plan.others]
    chosen = any(type(part).__name__ == "KeySelection" for plan in plans for part in plan.parts)
    missing = [row for row in missing if None not in row and not chosen]
    extra = [row for row in extra if not is_empty(row)]
    if missing or extra:
        raise Differs(f"only DuckDB: {missing[:3]}, only here: {extra[:3]}")
    return True


def ask_duckdb(text: str, world: World) -> list[tuple[Any, ...]] | None:
    private, public = world.frames()
    with duckdb.connect() as connection:
        connection.execute("SET default_null_order = 'nulls_last'")
        for macro in MACROS:
            connection.execute(macro)
        for name, table in {**private, **public}.items():
            connection.register(name, table)
        try:
            rows = connection.execute(text).fetchall()
        except duckdb.Error:
            return None
    return [tuple(plain(value) for value in row) for row in rows]


def plain(value: Any) -> Any:
    """Return a value as it can be compared: numbers as floats, days as moments."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float | Decimal):
        return None if math.isnan(value) else float(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - days have no zone
    return value


def take(rows: list[tuple[Any, ...]], wanted: tuple[Any, ...], near: "Near") -> bool:
    """Take the row that agrees with one out of others; False if there is none."""
    for index, row in enumerate(rows):
        if near.agree(row, wanted):
            del rows[index]
            return True
    return False


@dataclass(frozen=True, slots=True)
class Near:
    """How far off what is measured may be; groups are the same or not."""

    measured: list[bool]
    of_order: bool

    def agree(self, left: Sequence[Any], right: Sequence[Any]) -> bool:
        sizes = [abs(value) for value in (*left, *right) if isinstance(value, float)]
        slack = SLACK * max(sizes, default=0) if self.of_order else ABSOLUTE
        return all(
            self.alike(one, other, slack) if measured else one == other
            for one, other, measured in zip(left, right, self.measured, strict=True)
        )

    def alike(self, one: Any, other: Any, slack: float) -> bool:
        if isinstance(one, float) and isinstance(other, float):
            near = OF_ORDER if self.of_order else RELATIVE
            return math.isclose(one, other, rel_tol=near, abs_tol=slack)
        if isinstance(one, datetime) and isinstance(other, datetime):
            return abs(one - other) < timedelta(days=DAYS)
        return bool(one == other)


def is_empty(row: Sequence[Any]) -> bool:
    """Whether a row measured nothing: it has a 0 or NULL among its numbers, and nothing else was counted."""
    return any(value in (None, 0.0) for value in row)

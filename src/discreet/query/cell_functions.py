"""Functions of one cell of an answer: of texts, days and numbers that were released, besides those of HAVING.

They are computed here, and not by an engine, so that they mean the same for every source of rows. Results are those
that engines give for rows: texts have at most `LONGEST` letters, and days outside the years 1 to 9999 are NULL.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from discreet.algebra.expressions import Call
from discreet.algebra.functions import F
from discreet.core.schema import Kind, Value, months_later

#: The letters that a text keeps.
LONGEST = 10_000
#: Kinds that have one text in all databases.
WRITTEN_ALIKE = (Kind.BOOLEAN, Kind.TEXT, Kind.INTEGER, Kind.DATE)


def _of_day(part: Callable[[date], Any]) -> Callable[[Any], Any]:
    return lambda value: part(value) if isinstance(value, date) else None


def _quarter(day: date) -> int:
    return (day.month + 2) // 3


def _add_days(start: date, days: int) -> date | None:
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def _write(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _power(base: float, exponent: float) -> float | None:
    try:
        result = float(base) ** float(exponent)
    except (OverflowError, ZeroDivisionError):
        return None
    return result if isinstance(result, float) else None


#: Functions of values that are all there; with a NULL among them the result is NULL.
CELL_FUNCTIONS: dict[F, Callable[..., Any]] = {
    F.LOWER: lambda text: text.lower()[:LONGEST],
    F.UPPER: lambda text: text.upper()[:LONGEST],
    F.TRIM: lambda text: text.strip(" "),
    F.LTRIM: lambda text: text.lstrip(" "),
    F.RTRIM: lambda text: text.rstrip(" "),
    F.LENGTH: len,
    F.SUBSTRING: lambda text, start, length: text[start - 1 : start - 1 + length],
    F.RIGHT: lambda text, length: text[max(len(text) - length, 0) :],
    F.POSITION: lambda text, part: text.find(part) + 1,
    F.REPLACE: lambda text, old, new: text.replace(old, new)[:LONGEST],
    F.CONCAT: lambda *texts: "".join(texts)[:LONGEST],
    F.TO_TEXT: _write,
    F.TO_DATE: lambda day: day.date() if isinstance(day, datetime) else day,
    F.YEAR: _of_day(lambda day: day.year),
    F.QUARTER: _of_day(_quarter),
    F.MONTH: _of_day(lambda day: day.month),
    F.WEEK: _of_day(lambda day: day.isocalendar()[1]),
    F.DAY: _of_day(lambda day: day.day),
    F.WEEKDAY: _of_day(date.isoweekday),
    F.DOW: _of_day(lambda day: day.isoweekday() % 7),
    F.DOY: _of_day(lambda day: day.timetuple().tm_yday),
    F.TRUNC_YEAR: _of_day(lambda day: day.replace(month=1, day=1)),
    F.TRUNC_QUARTER: _of_day(lambda day: day.replace(month=3 * _quarter(day) - 2, day=1)),
    F.TRUNC_MONTH: _of_day(lambda day: day.replace(day=1)),
    F.TRUNC_WEEK: _of_day(lambda day: _add_days(day, -day.weekday())),
    F.TRUNC_DAY: _of_day(lambda day: day),
    F.DAYS_BETWEEN: lambda first, last: (last - first).days,
    F.ADD_DAYS: _add_days,
    F.ADD_MONTHS: months_later,
    F.POWER: _power,
}
#: Functions that take fewer kinds of cells than of rows: which kinds.
TAKES = {
    F.TO_TEXT: WRITTEN_ALIKE,
    F.TO_DATE: (Kind.DATE,),
    **dict.fromkeys((F.TO_INTEGER, F.TO_REAL), (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL)),
}


def takes_cells(call: Call) -> bool:
    """Whether a function is computed from cells of these kinds: a text is not read as a number or a day."""
    kinds = TAKES.get(call.function)
    return kinds is None or all(argument.kind in kinds for argument in call.arguments)

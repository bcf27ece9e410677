"""Functions of values that are there and public: of groups and constants, and of cells that were released.

Each is written once. Public values are computed only where all engines agree (`discreet.algebra.evaluation` refuses the
others); cells are computed here alone, so that a function of a cell is the same for every source of rows.
"""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from discreet.algebra.functions import LONGEST_TEXT, F, Function
from discreet.core.schema import Value


def clamp(value: Any, low: Any, high: Any) -> Any:
    """Return a value, or the end of the interval that it is beyond."""
    return min(max(value, low), high)


def add_days(start: date, days: int) -> date | None:
    """Return a later day, or NULL beyond the calendar."""
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def write_value(value: Value) -> str:
    """Return a boolean, a text, an integer or a day as a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quarter(day: date) -> int:
    return (day.month + 2) // 3


#: Functions of a day. A week may begin before the calendar: its first day is NULL then.
DAY_FUNCTIONS: dict[Function, Callable[[date], int | date | None]] = {
    F.YEAR: lambda day: day.year,
    F.QUARTER: _quarter,
    F.MONTH: lambda day: day.month,
    F.WEEK: lambda day: day.isocalendar()[1],
    F.DAY: lambda day: day.day,
    F.WEEKDAY: lambda day: day.isoweekday(),
    F.DOW: lambda day: day.isoweekday() % 7,
    F.DOY: lambda day: day.timetuple().tm_yday,
    F.TRUNC_YEAR: lambda day: day.replace(month=1, day=1),
    F.TRUNC_QUARTER: lambda day: day.replace(month=3 * _quarter(day) - 2, day=1),
    F.TRUNC_MONTH: lambda day: day.replace(day=1),
    F.TRUNC_WEEK: lambda day: add_days(day, -day.weekday()),
    F.TRUNC_DAY: lambda day: day,
}
#: Functions of a text, which is the first argument, and of other values. No text becomes too long.
TEXT_FUNCTIONS: dict[Function, Callable[..., Any]] = {
    F.LOWER: lambda text: text.lower()[:LONGEST_TEXT],
    F.UPPER: lambda text: text.upper()[:LONGEST_TEXT],
    F.TRIM: lambda text: text.strip(" "),
    F.LTRIM: lambda text: text.lstrip(" "),
    F.RTRIM: lambda text: text.rstrip(" "),
    F.LENGTH: len,
    F.SUBSTRING: lambda text, start, length: text[start - 1 : start - 1 + length],
    F.RIGHT: lambda text, length: text[max(len(text) - length, 0) :],
    F.POSITION: lambda text, part: text.find(part) + 1,
    F.REPLACE: lambda text, old, new: text.replace(old, new)[:LONGEST_TEXT],
    F.CONCAT: lambda *texts: "".join(texts)[:LONGEST_TEXT],
}

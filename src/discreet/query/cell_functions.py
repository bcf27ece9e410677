"""Functions of one cell of an answer: of texts, days and numbers that were released, besides those of HAVING.

They are computed here, and not by an engine, so that they mean the same for every source of rows. Results are those
that engines give for rows: texts are cut where they are too long, and days outside the years 1 to 9999 are NULL.
"""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from discreet.algebra import DAY_FUNCTIONS, TEXT_FUNCTIONS, add_days, write_value
from discreet.algebra.expressions import Call
from discreet.algebra.functions import F, Function
from discreet.core.schema import Kind, months_later

#: Kinds that have one text in all databases.
WRITTEN_ALIKE = (Kind.BOOLEAN, Kind.TEXT, Kind.INTEGER, Kind.DATE)


def _of_day(function: Callable[[date], Any]) -> Callable[[Any], Any]:
    return lambda value: function(value) if isinstance(value, date) else None


def _power(base: float, exponent: float) -> float | None:
    try:
        result = float(base) ** float(exponent)
    except (OverflowError, ZeroDivisionError):
        return None
    return result if isinstance(result, float) else None


#: Functions of values that are all there; with a NULL among them the result is NULL.
CELL_FUNCTIONS: dict[Function, Callable[..., Any]] = {
    **TEXT_FUNCTIONS,
    **{function: _of_day(of_day) for function, of_day in DAY_FUNCTIONS.items()},
    F.TO_TEXT: write_value,
    F.TO_DATE: lambda day: day.date() if isinstance(day, datetime) else day,
    F.DAYS_BETWEEN: lambda first, last: (last - first).days,
    F.ADD_DAYS: add_days,
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

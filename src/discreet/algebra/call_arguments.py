"""What the arguments of a function say before any row is read: the same on every engine."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from discreet.algebra.expressions import Call, Expression, Literal, is_null
from discreet.algebra.functions import F
from discreet.core import InvalidInput
from discreet.core.schema import Kind, day_number, day_of

#: Integer arithmetic ends here.
SATURATED = 2**53
#: No day of years 1 to 9999 is farther from another.
MOST_DAYS = 3_652_058
#: No month of years 1 to 9999 is farther from another.
MOST_MONTHS = 119_987
#: Engines' positions in texts are 32-bit numbers.
MOST_POSITION = 2**31 - 1

#: Functions whose names and signs all engines share.
BINARY = {F.ADD: "+", F.SUBTRACT: "-", F.MULTIPLY: "*"}
SAME = {F.LEAST: "least", F.GREATEST: "greatest", F.COALESCE: "coalesce"}
TEXTS = {F.LOWER: "lower", F.UPPER: "upper"}
TRUNCATED = {F.TRUNC_YEAR: "year", F.TRUNC_QUARTER: "quarter", F.TRUNC_MONTH: "month", F.TRUNC_WEEK: "week"}
#: Parts of a day, as DuckDB and PostgreSQL call them.
PARTS = {
    F.YEAR: "year",
    F.QUARTER: "quarter",
    F.MONTH: "month",
    F.WEEK: "week",
    F.DAY: "day",
    F.WEEKDAY: "isodow",
    F.HOUR: "hour",
    F.MINUTE: "minute",
}


def constant_of(expression: Expression) -> Literal:
    """Return a constant, also one with a sign before it."""
    match expression:
        case Literal():
            return expression
        case Call(function=F.NEGATE, arguments=(Literal(value=int() | float() as value, kind=kind),)):
            return Literal(-value, kind)
        case _:
            raise InvalidInput("A constant is needed here.", fix="write a number, such as CLAMP(x, 0, 100)")


def whole_of(expression: Expression) -> int | None:
    """Return a constant that is a whole number, or NULL."""
    value = constant_of(expression).value
    if value is not None and not isinstance(value, int):
        raise InvalidInput("A whole number is needed here.", fix="write a whole number")
    return value


def shared_kind(call: Call) -> Kind:
    """Return the kind that arguments are compared as."""
    kinds = [argument.kind for argument in call.arguments if not is_null(argument)]
    wider = (kind for kind in (Kind.REAL, Kind.TIMESTAMP) if kind in kinds)
    return next(wider, kinds[0] if kinds else Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Later:
    """So many days or months, and the first and the last day that has another so far away from it."""

    amount: int
    months: bool
    first: date
    last: date


def later(call: Call) -> Later | None:
    """Return what is added to a day; None if there is no day so far away from any, or no number."""
    amount, months = whole_of(call.arguments[1]), call.function is F.ADD_MONTHS
    if amount is None or is_null(call.arguments[0]) or abs(amount) > (MOST_MONTHS if months else MOST_DAYS):
        return None
    first, last = _month_ends(amount) if months else (day_of(day_number(end) - amount) for end in (date.min, date.max))
    return Later(amount, months, first, last)


def _month_ends(months: int) -> tuple[date, date]:
    """Return the first and the last day that is some months away from another: whole months of days."""
    first, last = max(0, -months), MOST_MONTHS - max(0, months)
    year, month = last // 12 + 1, last % 12 + 1
    return date(first // 12 + 1, first % 12 + 1, 1), date(year, month, monthrange(year, month)[1])


def ends_of_substring(call: Call) -> tuple[int, int] | None:
    """Return where a part of a text begins, and how long it is, as far as engines count; None if one is NULL."""
    start, length = (whole_of(argument) for argument in call.arguments[1:])
    if start is None or length is None:
        return None
    if start < 1 or length < 0:
        raise InvalidInput(
            "SUBSTRING starts before the text.", fix="pass a start of 1 or more, and a length of 0 or more"
        )
    return min(start, MOST_POSITION), min(length, MOST_POSITION)

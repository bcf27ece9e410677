"""Functions of days and moments that are others put together: differences by unit, names, and days of parts.

What databases disagree about is refused, with what to write instead.
"""

from collections.abc import Callable, Sequence
from datetime import date

from discreet.algebra.expressions import Case, Expression, Literal, is_null
from discreet.algebra.functions import F
from discreet.core.schema import Kind
from discreet.query.names import PARTS, TRUNCATIONS
from discreet.query.sql.row_functions.constants import with_days

Make = Callable[..., Expression]
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
#: Seconds of a day.
DAY = 86_400
EPOCH = Literal.of(date(1970, 1, 1))
#: What adds one of a unit of time, and how many of it there are in the unit.
UNITS: dict[str, tuple[F, int]] = {
    **{unit: (F.ADD_SECONDS, seconds) for unit, seconds in (("SECOND", 1), ("MINUTE", 60), ("HOUR", 3_600))},
    **{unit: (F.ADD_DAYS, days) for unit, days in (("DAY", 1), ("WEEK", 7))},
    **{unit: (F.ADD_MONTHS, months) for unit, months in (("MONTH", 1), ("QUARTER", 3), ("YEAR", 12))},
}
#: Parts of the clock, from the largest: how many of the next there are in one.
CLOCK: tuple[tuple[str, F, int], ...] = (("HOUR", F.HOUR, 24), ("MINUTE", F.MINUTE, 60), ("SECOND", F.SECOND, 60))


def find_unit(expression: Expression) -> str:
    """Return a constant text as a unit of time, in capitals and without a plural; empty if it is none."""
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        return ""
    return expression.value.upper().removesuffix("S")


def build_truncation(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return DATE_TRUNC('month', day), or with the unit last."""
    match arguments:
        case [Literal(value=str() as unit), value] | [value, Literal(value=str() as unit)] if (
            unit.upper() in TRUNCATIONS
        ):
            return make(TRUNCATIONS[unit.upper()], value)
        case _:
            return None


def build_part(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return DATE_PART('month', day)."""
    match arguments:
        case [Literal(value=str() as unit), value] if unit.upper() == "EPOCH":
            return build_epoch([value], make)
        case [Literal(value=str() as unit), value] if unit.upper() in PARTS:
            return make(PARTS[unit.upper()], value)
        case _:
            return None


def build_epoch(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return the whole seconds since 1970."""
    match arguments:
        case [value] if value.kind.temporal:
            days = make(F.MULTIPLY, make(F.DAYS_BETWEEN, EPOCH, value), Literal.of(DAY))
            return days if value.kind is Kind.DATE else make(F.ADD, days, build_seconds(value, make))
        case _:
            return None


def build_seconds(moment: Expression, make: Make) -> Expression:
    """Return the whole seconds since midnight."""
    hours, minutes, seconds = (make(part, moment) for part in (F.HOUR, F.MINUTE, F.SECOND))
    whole_minutes = make(F.ADD, make(F.MULTIPLY, hours, Literal.of(60)), minutes)
    return make(F.ADD, make(F.MULTIPLY, whole_minutes, Literal.of(60)), seconds)


def build_difference(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return how many ends of a unit lie between two days or moments: DATE_DIFF('month', from, to).

    That is what DuckDB counts, and SQL Server, Snowflake, Redshift and BigQuery: midnights, first days of months, full
    hours. Weeks begin on different days in these. With two arguments, it is the days from the second to the first, as
    in MySQL and Spark.
    """
    match arguments:
        case [Literal(value=str()) as unit, start, end] | [end, start, Literal(value=str()) as unit] if (
            find_unit(unit) in UNITS
        ):
            start, end = with_days((start, end))
            return _count_units(find_unit(unit), start, end, make)
        case [end, start] if end.kind.temporal or start.kind.temporal:
            return make(F.DAYS_BETWEEN, start, end)
        case _:
            return None


def _count_units(unit: str, start: Expression, end: Expression, make: Make) -> Expression | None:
    if not (start.kind.temporal or is_null(start)) or not (end.kind.temporal or is_null(end)):
        return None
    match unit:
        case "YEAR":
            return _subtract_parts(F.YEAR, start, end, make)
        case "QUARTER" | "MONTH":
            part, size = (F.MONTH, 12) if unit == "MONTH" else (F.QUARTER, 4)
            years = make(F.MULTIPLY, _subtract_parts(F.YEAR, start, end, make), Literal.of(size))
            return make(F.ADD, years, _subtract_parts(part, start, end, make))
        case "DAY":
            return make(F.DAYS_BETWEEN, start, end)
        case "WEEK":
            return None
        case _:
            return _count_of_clock(unit, start, end, make)


def _count_of_clock(unit: str, start: Expression, end: Expression, make: Make) -> Expression:
    """Return how many full hours, minutes or seconds lie between two moments."""
    counted = make(F.DAYS_BETWEEN, start, end)
    for name, part, size in CLOCK:
        more = _subtract_parts(part, start, end, make)
        counted = make(F.ADD, make(F.MULTIPLY, counted, Literal.of(size)), more)
        if name == unit:
            break
    return counted


def _subtract_parts(part: F, start: Expression, end: Expression, make: Make) -> Expression:
    minuend, subtrahend = _part_of(part, end, make), _part_of(part, start, make)
    return minuend if subtrahend == Literal.of(0) else make(F.SUBTRACT, minuend, subtrahend)


def _part_of(part: F, value: Expression, make: Make) -> Expression:
    """Return a part of a day or a moment. Of a constant it is one, and a day's clock stands at midnight."""
    match value:
        case Literal(value=date() as known) if part is F.QUARTER:
            return Literal.of((known.month + 2) // 3)
        case Literal(value=date() as known):
            return Literal.of(getattr(known, part.value.lower(), 0))
        case _ if value.kind is Kind.DATE and part in (F.HOUR, F.MINUTE, F.SECOND):
            return Literal.of(0)
        case _:
            return make(part, value)


def build_later(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return DATE_ADD(day, 7), in days, or DATE_ADD('month', 1, day)."""
    return _move(arguments, 1, make)


def build_earlier(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return DATE_SUB(day, 7), in days."""
    return _move(arguments, -1, make) if len(arguments) == 2 else None


def _move(arguments: Sequence[Expression], sign: int, make: Make) -> Expression | None:
    match arguments:
        case [value, Literal(value=int() as count, kind=Kind.INTEGER)] if value.kind.temporal:
            unit = "DAY"
        case [Literal(value=str()) as first, Literal(value=int() as count, kind=Kind.INTEGER), value] if (
            value.kind.temporal and find_unit(first) in UNITS
        ):
            unit = find_unit(first)
        case _:
            return None
    function, size = UNITS[unit]
    return make(function, value, Literal.of(sign * size * count)) if abs(count) < 10**8 else None


def build_day_name(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return the English name of the day of the week."""
    return name_part(F.WEEKDAY, WEEKDAYS, arguments[0], make) if len(arguments) == 1 else None


def build_month_name(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return the English name of the month."""
    return name_part(F.MONTH, MONTHS, arguments[0], make) if len(arguments) == 1 else None


def name_part(part: F, names: Sequence[str], value: Expression, make: Make) -> Expression:
    """Return the name of a part that counts from 1."""
    number = make(part, value)
    return Case(
        tuple((make(F.EQ, number, Literal.of(place)), Literal.of(name)) for place, name in enumerate(names, 1)), None
    )


def build_date(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return MAKE_DATE(year, month, day): NULL where there is no such day, as for any text that is none."""
    if len(arguments) != 3 or any(argument.kind is not Kind.INTEGER for argument in arguments):
        return None
    ends = ((1, 9999), (1, 12), (1, 31))
    inside = [
        make(test, argument, Literal.of(end))
        for argument, (low, high) in zip(arguments, ends, strict=True)
        if not isinstance(argument, Literal)
        for test, end in ((F.GE, low), (F.LE, high))
    ]
    texts = [pad(argument, width, make) for argument, width in zip(arguments, (4, 2, 2), strict=True)]
    if not inside:
        return _constant_day(arguments)
    text = join_texts([texts[0], Literal.of("-"), texts[1], Literal.of("-"), texts[2]], make)
    return Case(((make(F.AND, *inside), make(F.TO_DATE, text)),), None)


def _constant_day(parts: Sequence[Expression]) -> Expression | None:
    try:
        return Literal.of(date(*(part.value for part in parts)))  # type: ignore[union-attr, arg-type]
    except (ValueError, OverflowError):
        return None


def join_texts(texts: Sequence[Expression], make: Make) -> Expression:
    """Return texts one after another, with constants that stand side by side as one."""
    joined: list[Expression] = []
    for text in texts:
        last = joined[-1] if joined else None
        if isinstance(last, Literal) and isinstance(text, Literal):
            joined[-1] = Literal.of(f"{last.value}{text.value}")
        else:
            joined.append(text)
    return joined[0] if len(joined) == 1 else make(F.CONCAT, *joined)


def pad(number: Expression, width: int, make: Make) -> Expression:
    """Return a whole number that is not negative as a text with zeros before it."""
    if isinstance(number, Literal):
        return Literal.of(str(number.value).zfill(width))
    text = make(F.TO_TEXT, number)
    return make(F.RIGHT, make(F.CONCAT, Literal.of("0" * (width - 1)), text), Literal.of(width))


DATE_CALLS: dict[str, Callable[[Sequence[Expression], Make], Expression | None]] = {
    "DATE_TRUNC": build_truncation,
    "DATE_PART": build_part,
    "DATE_DIFF": build_difference,
    "DATEDIFF": build_difference,
    "DATE_ADD": build_later,
    "DATEADD": build_later,
    "DATE_SUB": build_earlier,
    "EPOCH": build_epoch,
    "DAYNAME": build_day_name,
    "MONTHNAME": build_month_name,
    "MAKE_DATE": build_date,
}
#: Functions whose unit may stand without quotes, if they have so many arguments.
WITH_UNITS = {"DATE_TRUNC": 2, "DATE_PART": 2, "DATE_DIFF": 3, "DATEDIFF": 3, "DATE_ADD": 3, "DATEADD": 3}
BETWEEN = (
    "write DATE_DIFF('day', from, to), or 'year', 'quarter', 'month', 'hour', 'minute', 'second'; for weeks "
    "DATE_DIFF('day', from, to) // 7, as databases begin them on different days"
)
MOVING = "write day + INTERVAL 7 DAY or day - INTERVAL 1 MONTH, with a constant"
DATE_USAGE: dict[str, str] = {
    "DATE_TRUNC": "write DATE_TRUNC('month', day), or 'year', 'quarter', 'week', 'day', 'hour', 'minute', 'second'",
    "DATE_PART": f"write DATE_PART('month', day), or one of: {', '.join((*PARTS, 'EPOCH'))}",
    "DATE_DIFF": BETWEEN,
    "DATEDIFF": BETWEEN,
    "DATE_ADD": MOVING,
    "DATEADD": MOVING,
    "DATE_SUB": MOVING + "; for what lies between two days DATE_DIFF('day', from, to)",
    "EPOCH": "write EPOCH(seen), of a date or a timestamp",
    "DAYNAME": "write DAYNAME(day)",
    "MONTHNAME": "write MONTHNAME(day)",
    "MAKE_DATE": "write MAKE_DATE(year, month, day), with three whole numbers; a constant day as DATE '2024-01-31'",
}

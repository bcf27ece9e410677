"""What one expression is worth in one row: the plain version of `discreet.algebra.functions`.

Python's integers, floats, dates and texts; one small function a concept. NULL is None.
"""

import math
import re
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import accumulate
from operator import or_

from discreet.algebra.expressions import Call, Case, ColumnValue, InSet, Like, Literal
from discreet.algebra.functions import F
from discreet.core.schema import Kind

#: Integer arithmetic ends here.
MOST = 2**53
#: A text has no more letters.
LONGEST = 10_000
DAY_ZERO = date(1970, 1, 1)
SECOND_ZERO = datetime(1970, 1, 1)  # noqa: DTZ001 - timestamps are UTC, without saying so
MICROSECONDS = 86_400_000_000


def value_of(expression, row):
    """Return the value of an expression in a row, which is a dict from names of columns to values."""
    match expression:
        case Literal(value=value, kind=kind):
            return as_kind(value, kind)
        case ColumnValue(name=name, kind=kind, bounds=bounds):
            return clamped(as_kind(row[name], kind), bounds)
        case Call():
            return value_of_call(expression, row)
        case Case():
            return value_of_case(expression, row)
        case InSet(value=value, members=members):
            return is_member(value_of(value, row), value, members)
        case Like(value=value, pattern=pattern, folded=folded):
            return fits(value_of(value, row), pattern, folded=folded)


def as_kind(value, kind):
    """Return a value as one of a wider kind: an integer as a real, a date as its midnight. Reals are finite."""
    if value is None:
        return None
    if kind is Kind.REAL:
        return finite(float(value))
    if kind is Kind.TIMESTAMP and not isinstance(value, datetime):
        return datetime.combine(value, time())
    return value


def read(value, kind):
    """Return a value as it comes out of a table: a text that is too long is none."""
    value = as_kind(value, kind)
    return None if isinstance(value, str) and len(value) > LONGEST else value


def finite(number):
    """Return a float, or NULL for what is none."""
    return number if math.isfinite(number) else None


def saturated(number):
    """Return a whole float as an integer within ±2⁵³."""
    return int(min(max(number, -MOST), MOST))


def microseconds_of(moment):
    """Return the microseconds of a timestamp since 1970-01-01."""
    return (moment - SECOND_ZERO) // timedelta(microseconds=1)


def clamped(value, bounds):
    """Return a column's value within the column's bounds."""
    if value is None or bounds is None:
        return value
    if isinstance(value, float):
        return min(max(value, float(bounds.low)), float(bounds.high))
    if isinstance(value, datetime):
        days = clip(Fraction(microseconds_of(value), MICROSECONDS), bounds)
        return SECOND_ZERO + timedelta(microseconds=int(days * MICROSECONDS))
    if isinstance(value, date):
        return DAY_ZERO + timedelta(days=whole_clip((value - DAY_ZERO).days, bounds))
    return whole_clip(value, bounds)


def clip(value, bounds):
    """Return an exact number within bounds."""
    return min(max(value, bounds.low), bounds.high)


def whole_clip(value, bounds):
    """Return an integer within bounds, which need not be integers themselves."""
    return min(max(value, math.ceil(bounds.low)), math.floor(bounds.high))


# --- CASE, IN, LIKE ---


def value_of_case(case, row):
    for condition, value in case.branches:
        if value_of(condition, row) is True:
            return as_kind(value_of(value, row), case.kind)
    return None if case.otherwise is None else as_kind(value_of(case.otherwise, row), case.kind)


def is_member(value, expression, members):
    if value is None:
        return None
    return any(comparison(value, member.value, shared_kind((expression, member))) == 0 for member in members)


def fits(value, pattern, *, folded):
    """Return whether a text fits a pattern: after each letter of the pattern, which beginnings of the text fit."""
    if value is None:
        return None
    value, pattern = (value.lower(), pattern.lower()) if folded else (value, pattern)
    fitting = [True] + [False] * len(value)
    for letter in pattern:
        if letter == "%":
            fitting = list(accumulate(fitting, or_))
        else:
            fitting = [False, *(fits and letter in ("_", own) for fits, own in zip(fitting, value, strict=False))]
    return fitting[-1]


# --- calls ---


def value_of_call(call, row):
    """Return the value of a function; NULL in, NULL out, but for a few."""
    values = [value_of(argument, row) for argument in call.arguments]
    if call.function in LENIENT:
        return LENIENT[call.function](values, call)
    if None in values:
        return None
    if call.function in COMPARING:
        return COMPARING[call.function](comparison(*values, shared_kind(call.arguments)))
    if call.function in ARITHMETIC:
        return number_of(ARITHMETIC[call.function], values, call.kind)
    return STRICT[call.function](*values)


def shared_kind(expressions):
    """Return the widest kind of values side by side; the constant NULL is of any kind."""
    kinds = {each.kind for each in expressions if not (isinstance(each, Literal) and each.value is None)}
    return next((kind for kind in (Kind.REAL, Kind.TIMESTAMP) if kind in kinds), min(kinds, key=str, default=Kind.TEXT))


def comparison(first, second, kind):
    """Return −1, 0 or 1: how two values of a shared kind stand."""
    one, other = order_of(as_kind(first, kind)), order_of(as_kind(second, kind))
    return (one > other) - (one < other)


def order_of(value):
    """Return what values are compared by; texts by their bytes."""
    return value.encode() if isinstance(value, str) else value


def number_of(function, values, kind):
    """Compute in float64; then an integer is clipped, and a real that is none is NULL."""
    try:
        result = function(*[float(value) for value in values])
    except (ZeroDivisionError, OverflowError, ValueError):
        return None  # by zero, infinite, or not a number
    if result is None or math.isnan(result):
        return None
    return saturated(result) if kind is Kind.INTEGER else finite(result)


def floor_divided(a, b):
    return whole_or_infinite(math.floor, a / b)


def whole_or_infinite(rounding, number):
    """Round a float; an infinite one stays, and is clipped later."""
    return rounding(number) if math.isfinite(number) else number


def rounded(number):
    """Return the nearest integer, halves away from zero."""
    nearest = math.floor(abs(Fraction(number)) + Fraction(1, 2))
    return nearest if number >= 0 else -nearest


COMPARING = {
    F.EQ: lambda sign: sign == 0,
    F.NE: lambda sign: sign != 0,
    F.LT: lambda sign: sign < 0,
    F.LE: lambda sign: sign <= 0,
    F.GT: lambda sign: sign > 0,
    F.GE: lambda sign: sign >= 0,
}
ARITHMETIC = {
    F.ADD: lambda a, b: a + b,
    F.SUBTRACT: lambda a, b: a - b,
    F.MULTIPLY: lambda a, b: a * b,
    F.DIVIDE: lambda a, b: a / b,
    F.FLOOR_DIVIDE: floor_divided,
    F.MODULO: math.fmod,
    F.NEGATE: lambda a: -a,
    F.ABS: abs,
    F.FLOOR: math.floor,
    F.CEIL: math.ceil,
    F.ROUND: rounded,
    F.SQRT: math.sqrt,
    F.LN: math.log,
    F.LOG10: math.log10,
    F.EXP: math.exp,
    F.POWER: math.pow,
}


# --- functions that do not take NULL for an answer ---


def all_of(values, call):
    """AND: false as soon as one is false."""
    return False if False in values else None if None in values else True


def any_of(values, call):
    """OR: true as soon as one is true."""
    return True if True in values else None if None in values else False


def first_of(values, call):
    """COALESCE."""
    return as_kind(next((value for value in values if value is not None), None), call.kind)


def extreme(choose):
    """LEAST and GREATEST, which skip NULLs."""
    return lambda values, call: choose(
        (as_kind(value, call.kind) for value in values if value is not None), key=order_of, default=None
    )


def null_if(values, call):
    """NULLIF: the first value, unless it equals the second."""
    first, second = values
    if None not in values and comparison(first, second, call.kind) == 0:
        return None
    return as_kind(first, call.kind)


def within(values, call):
    """CLAMP(value, low, high)."""
    if None in values:
        return None
    value, low, high = (as_kind(each, call.kind) for each in values)
    return min(max(value, low), high)


LENIENT = {
    F.AND: all_of,
    F.OR: any_of,
    F.IS_NULL: lambda values, call: values[0] is None,
    F.COALESCE: first_of,
    F.LEAST: extreme(min),
    F.GREATEST: extreme(max),
    F.NULLIF: null_if,
    F.CLAMP: within,
}


# --- texts, days, casts ---


def day_of(moment):
    """Return the day of a timestamp, or the day itself."""
    return moment.date() if isinstance(moment, datetime) else moment


def days_later(moment, days):
    """Return a day or a moment so many days later, or NULL outside of years 1 to 9999."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return None


def months_later(moment, months):
    """Return the same day of another month, or the last day before it that the month has; NULL beyond years 1 to 9999.

    Written by trying days one after another, unlike what it checks.
    """
    count = moment.year * 12 + moment.month - 1 + months
    for day in range(moment.day, 0, -1):
        try:
            return moment.replace(year=count // 12, month=count % 12 + 1, day=day)
        except (ValueError, OverflowError):
            continue
    return None


def last_day(moment):
    """Return the last day of a month, found by going on until the month is over, or time is."""
    day = day_of(moment)
    while day < date.max and (day + timedelta(days=1)).month == day.month:
        day += timedelta(days=1)
    return day


def seconds_later(moment, seconds):
    """Return a moment so many seconds later, or NULL outside of years 1 to 9999."""
    try:
        return as_kind(moment, Kind.TIMESTAMP) + timedelta(seconds=seconds)
    except OverflowError:
        return None


def to_integer(value):
    if isinstance(value, str):
        found = re.fullmatch(r" *([+-]?[0-9]{1,15}) *", value)
        return int(found[1]) if found else None
    return number_of(rounded, [value], Kind.INTEGER)


def to_real(value):
    if isinstance(value, str):
        found = re.fullmatch(r" *([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?) *", value)
        return finite(float(found[1])) if found else None
    return float(value)


def to_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def to_date(value):
    if not isinstance(value, str):
        return day_of(value)
    found = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", value)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None  # no such day


STRICT = {
    F.NOT: lambda a: not a,
    F.LOWER: lambda text: text.lower()[:LONGEST],
    F.UPPER: lambda text: text.upper()[:LONGEST],
    F.TRIM: lambda text: text.strip(" "),
    F.LTRIM: lambda text: text.lstrip(" "),
    F.RTRIM: lambda text: text.rstrip(" "),
    F.LENGTH: len,
    F.RIGHT: lambda text, length: text[max(len(text) - length, 0) :],
    F.POSITION: lambda text, part: text.find(part) + 1,
    F.REPLACE: lambda text, old, new: text.replace(old, new)[:LONGEST],
    F.SPLIT_PART: lambda text, part, number: dict(enumerate(text.split(part), 1)).get(number, ""),
    F.SUBSTRING: lambda text, start, length: text[start - 1 : start - 1 + length],
    F.CONCAT: lambda *texts: "".join(texts)[:LONGEST],
    F.YEAR: lambda day: day.year,
    F.QUARTER: lambda day: (day.month + 2) // 3,
    F.MONTH: lambda day: day.month,
    F.WEEK: lambda day: day.isocalendar().week,
    F.DAY: lambda day: day.day,
    F.WEEKDAY: lambda day: day.isoweekday(),
    F.DOW: lambda day: day.isoweekday() % 7,
    F.DOY: lambda day: day.timetuple().tm_yday,
    F.HOUR: lambda moment: moment.hour,
    F.MINUTE: lambda moment: moment.minute,
    F.SECOND: lambda moment: moment.second,
    F.TRUNC_YEAR: lambda day: date(day.year, 1, 1),
    F.TRUNC_QUARTER: lambda day: date(day.year, (day.month - 1) // 3 * 3 + 1, 1),
    F.TRUNC_MONTH: lambda day: date(day.year, day.month, 1),
    F.TRUNC_WEEK: lambda day: day_of(days_later(day, 1 - day.isoweekday())),
    F.TRUNC_DAY: day_of,
    F.TRUNC_HOUR: lambda moment: moment.replace(minute=0, second=0, microsecond=0),
    F.TRUNC_MINUTE: lambda moment: moment.replace(second=0, microsecond=0),
    F.TRUNC_SECOND: lambda moment: moment.replace(microsecond=0),
    F.LAST_DAY: last_day,
    F.DAYS_BETWEEN: lambda first, last: (day_of(last) - day_of(first)).days,
    F.ADD_DAYS: days_later,
    F.ADD_MONTHS: months_later,
    F.ADD_SECONDS: seconds_later,
    F.TO_INTEGER: to_integer,
    F.TO_REAL: to_real,
    F.TO_TEXT: to_text,
    F.TO_DATE: to_date,
}

"""Value ranges of expressions, known beforehand: between which numbers one lies, and which values it can take.

Intervals decide how fine the grid is and which groups are public; soundness never hangs on them, because the engine
clamps every value to the bounds that come out of here. Of dates and timestamps they count days since 1970-01-01.
"""

import math
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction

from discreet.algebra.expressions import CLOCK_UNITS, Call, Case, ColumnValue, Expression, InSet, Like, Literal, is_null
from discreet.algebra.functions import LONGEST_TEXT, F
from discreet.core.schema import Kind, day_number, day_of, months_later

#: Sums and products beyond this are as good as unbounded.
WIDEST = Fraction(2**80)
#: Arithmetic on whole numbers is clipped here.
LARGEST_WHOLE = Fraction(2**53)
#: The least step of moments, and how many of them make a day.
MICROSECOND, A_DAY = timedelta(microseconds=1), 86_400_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from low to high; None stands for a missing end."""

    low: Fraction | None = None
    high: Fraction | None = None

    @property
    def bounded(self) -> bool:
        """Whether it has both ends."""
        return self.low is not None and self.high is not None

    def hull(self, other: "Interval") -> "Interval":
        """Return the least interval that holds both."""
        return Interval(_least(self.low, other.low), _most(self.high, other.high))

    def within(self, other: "Interval") -> "Interval":
        """Return the values of this one, moved into the other."""
        low = other.low if self.low is None else _clip(self.low, other)
        high = other.high if self.high is None else _clip(self.high, other)
        return Interval(low, high)


ANY = Interval()
#: Functions whose values lie between two numbers whatever they are given.
FIXED = {
    F.QUARTER: (1, 4),
    F.MONTH: (1, 12),
    F.WEEK: (1, 53),
    F.DAY: (1, 31),
    F.WEEKDAY: (1, 7),
    F.DOW: (0, 6),
    F.DOY: (1, 366),
    F.HOUR: (0, 23),
    F.MINUTE: (0, 59),
    F.SECOND: (0, 59),
}


def interval_of(expression: Expression) -> Interval:
    """Return an interval that an expression's values lie in, as far as declared bounds tell."""
    match expression:
        case Literal(value=value):
            number = _number(value)
            return ANY if number is None else Interval(number, number)
        case ColumnValue(kind=kind, bounds=bounds):
            if bounds is not None:
                return Interval(bounds.low, bounds.high)
            return Interval(Fraction(0), Fraction(1)) if kind is Kind.BOOLEAN else ANY
        case Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
            return _hull_of([value for value in values if not is_null(value)])
        case InSet() | Like():
            return Interval(Fraction(0), Fraction(1))
        case Call(kind=Kind.BOOLEAN):
            return Interval(Fraction(0), Fraction(1))
        case Call():
            return _of_call(expression)


def _of_call(call: Call) -> Interval:
    function, arguments = call.function, call.arguments
    if function in FIXED:
        return Interval(*map(Fraction, FIXED[function]))
    if function in (F.COALESCE, F.LEAST, F.GREATEST):
        return _of_choice(function, arguments)
    parts = [interval_of(argument) for argument in arguments]
    if function is F.ADD_MONTHS:
        return _months_later(call, parts[0])
    if function is F.ADD_SECONDS:
        return _add(parts[0], _scale(parts[1], Fraction(1, 86_400)))
    rule = RULES.get(function)
    interval = rule(*parts) if rule is not None else ANY
    if call.kind is Kind.INTEGER and function not in (F.NULLIF, F.CLAMP):
        interval = _saturate(interval)
    return ANY if any(abs(end) > WIDEST for end in (interval.low, interval.high) if end is not None) else interval


def _saturate(part: Interval) -> Interval:
    """Return the part of an interval within whole numbers, which never go beyond ±2⁵³."""
    most = Interval(-LARGEST_WHOLE, LARGEST_WHOLE)
    return Interval(
        None if part.low is None else _clip(part.low, most), None if part.high is None else _clip(part.high, most)
    )


def _of_choice(function: F, arguments: tuple[Expression, ...]) -> Interval:
    """Return the hull; LEAST is never above one of its constants, GREATEST never below."""
    not_null = [argument for argument in arguments if not is_null(argument)]
    hull = _hull_of(not_null)
    constants = [interval_of(argument).low for argument in not_null if isinstance(argument, Literal)]
    known = [constant for constant in constants if constant is not None]
    if function is F.LEAST and known:
        return Interval(hull.low, min(known) if hull.high is None else min(hull.high, *known))
    if function is F.GREATEST and known:
        return Interval(max(known) if hull.low is None else max(hull.low, *known), hull.high)
    return hull


def _hull_of(expressions: list[Expression]) -> Interval:
    if not expressions:
        return ANY
    first, *others = [interval_of(expression) for expression in expressions]
    for other in others:
        first = first.hull(other)
    return first


def _add(left: Interval, right: Interval) -> Interval:
    return Interval(_sum(left.low, right.low), _sum(left.high, right.high))


def _negate(part: Interval) -> Interval:
    return Interval(None if part.high is None else -part.high, None if part.low is None else -part.low)


def _scale(part: Interval, factor: Fraction) -> Interval:
    return _multiply(part, Interval(factor, factor))


def _multiply(left: Interval, right: Interval) -> Interval:
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return ANY
    corners = [left_end * right_end for left_end in (left.low, left.high) for right_end in (right.low, right.high)]
    return Interval(min(corners), max(corners))


def _divide(left: Interval, right: Interval) -> Interval:
    if right.low is None or right.high is None or right.low <= 0 <= right.high:
        return ANY
    return _multiply(left, Interval(1 / right.high, 1 / right.low))


def _modulo(left: Interval, right: Interval) -> Interval:
    """Return an interval of remainders with the sign of the dividend."""
    between = Interval(_least(left.low, Fraction(0)), _most(left.high, Fraction(0)))
    if right.low is None or right.high is None:
        return between
    most = max(abs(right.low), abs(right.high))
    low = Fraction(0) if left.low is not None and left.low >= 0 else -most
    high = Fraction(0) if left.high is not None and left.high <= 0 else most
    return Interval(low, high).within(between)


def _abs(part: Interval) -> Interval:
    if part.low is None or part.high is None:
        return Interval(Fraction(0), None)
    least = Fraction(0) if part.low <= 0 <= part.high else min(abs(part.low), abs(part.high))
    return Interval(least, max(abs(part.low), abs(part.high)))


def _make_rounding_rule(rule: Callable[[Fraction], int]) -> Callable[[Interval], Interval]:
    def apply(part: Interval) -> Interval:
        return Interval(
            None if part.low is None else Fraction(rule(part.low)),
            None if part.high is None else Fraction(rule(part.high)),
        )

    return apply


_floor = _make_rounding_rule(math.floor)


def _half_away(number: Fraction) -> int:
    size = math.floor(abs(number) + Fraction(1, 2))
    return size if number >= 0 else -size


def _make_rising_rule(rule: Callable[[float], float], least: float | None = None) -> Callable[[Interval], Interval]:
    """Return the rule for a function that rises, worked out in floats and rounded outwards by a little."""

    def end(number: Fraction | None, direction: float) -> Fraction | None:
        if number is None or (least is not None and number < least):
            return None
        try:
            value = rule(float(number))
        except (OverflowError, ValueError):
            return None
        return Fraction(f"{value + direction * (abs(value) * 1e-12):.15g}") if math.isfinite(value) else None

    def apply(part: Interval) -> Interval:
        return Interval(end(part.low, -1), end(part.high, 1))

    return apply


def _sqrt(part: Interval) -> Interval:
    """Return an interval of roots; those of negative numbers are NULL."""
    roots = _make_rising_rule(math.sqrt, 0)(Interval(max(part.low or Fraction(0), Fraction(0)), part.high))
    return Interval(max(roots.low or Fraction(0), Fraction(0)), roots.high)


def _power(base: Interval, exponent: Interval) -> Interval:
    """Return an interval for a constant whole exponent of a bounded base, and for none else."""
    fixed = exponent.low
    if fixed is None or fixed != exponent.high or fixed.denominator != 1 or not 0 < fixed <= 64:
        return ANY
    if base.low is None or base.high is None:
        return ANY
    corners = [base.low ** int(fixed), base.high ** int(fixed)]
    if fixed % 2 == 0 and base.low <= 0 <= base.high:
        corners.append(Fraction(0))
    return Interval(min(corners), max(corners))


def _day(number: Fraction) -> date:
    """Return the day of a moment: also of one before 1970."""
    return day_of(math.floor(number))


def _months_later(call: Call, part: Interval) -> Interval:
    """Return an interval of days, which keep their order, or of moments, which need not.

    Of 30 January, 23:00, and 31 January, 01:00, the later one is earlier a month later, as both are of the last day of
    February. So an end that shares its day with others is that day's midnight.
    """
    months = call.arguments[1].value if isinstance(call.arguments[1], Literal) else None
    if not isinstance(months, int):
        return ANY
    whole = call.kind is Kind.DATE
    low = None if part.low is None else _move_end(part.low, months, None if whole else 1)
    high = None if part.high is None else _move_end(part.high, months, None if whole else -1)
    return Interval(low, high)


def _move_end(end: Fraction, months: int, inwards: int | None) -> Fraction:
    """Return an end of an interval months later; `inwards` leads to the day that may share its day with it."""
    number, into_day = math.floor(end), end - math.floor(end)
    moved = _day_number_later(number, months)
    if inwards is None:
        return Fraction(moved)
    if _day_number_later(number + inwards, months) != moved:
        return moved + into_day
    return Fraction(moved if inwards > 0 else moved + 1)


def _day_number_later(number: int, months: int) -> int:
    """Return the number of the day months later; beyond what is a day, of the first or the last that is one."""
    later = months_later(day_of(number), months)
    return day_number((date.max if months > 0 else date.min) if later is None else later)


def _year(part: Interval) -> Interval:
    return Interval(
        None if part.low is None else Fraction(_day(part.low).year),
        None if part.high is None else Fraction(_day(part.high).year),
    )


def _make_truncation_rule(rule: Callable[[date], date]) -> Callable[[Interval], Interval]:
    def apply(part: Interval) -> Interval:
        return Interval(
            None if part.low is None else Fraction(day_number(rule(_day(part.low)))),
            None if part.high is None else Fraction(day_number(rule(_day(part.high)))),
        )

    return apply


def _make_clock_rule(seconds: int) -> Callable[[Interval], Interval]:
    """Return the rule for moments that are cut to a unit of so many seconds."""
    unit = Fraction(seconds, 86_400)

    def apply(part: Interval) -> Interval:
        return Interval(
            None if part.low is None else part.low // unit * unit,
            None if part.high is None else part.high // unit * unit,
        )

    return apply


def _week(day: date) -> date:
    return day - timedelta(days=min(day.weekday(), (day - date.min).days))


def _quarter(day: date) -> date:
    return day.replace(month=day.month - (day.month - 1) % 3, day=1)


TRUNCATE: dict[F, Callable[[date], date]] = {
    F.TRUNC_YEAR: lambda day: day.replace(month=1, day=1),
    F.TRUNC_QUARTER: _quarter,
    F.TRUNC_MONTH: lambda day: day.replace(day=1),
    F.TRUNC_WEEK: _week,
    F.TRUNC_DAY: lambda day: day,
    F.LAST_DAY: lambda day: day.replace(day=monthrange(day.year, day.month)[1]),
}
RULES: dict[F, Callable[..., Interval]] = {
    F.ADD: _add,
    F.SUBTRACT: lambda left, right: _add(left, _negate(right)),
    F.MULTIPLY: _multiply,
    F.DIVIDE: _divide,
    F.FLOOR_DIVIDE: lambda left, right: _floor(_divide(left, right)),
    F.MODULO: _modulo,
    F.NEGATE: _negate,
    F.ABS: _abs,
    F.FLOOR: _floor,
    F.CEIL: _make_rounding_rule(math.ceil),
    F.ROUND: _make_rounding_rule(_half_away),
    F.TO_INTEGER: _make_rounding_rule(_half_away),
    F.TO_REAL: lambda part: part,
    F.SQRT: _sqrt,
    F.LN: _make_rising_rule(math.log, 5e-324),
    F.LOG10: _make_rising_rule(math.log10, 5e-324),
    F.EXP: _make_rising_rule(math.exp),
    F.POWER: _power,
    F.CLAMP: lambda part, low, high: part.within(Interval(low.low, high.high)),
    F.NULLIF: lambda part, _: part,
    F.LENGTH: lambda _: Interval(Fraction(0), None),
    F.POSITION: lambda *_: Interval(Fraction(0), Fraction(LONGEST_TEXT)),
    F.YEAR: _year,
    F.DAYS_BETWEEN: lambda start, end: _add(_floor(end), _negate(_floor(start))),
    F.ADD_DAYS: _add,
    F.TO_DATE: _floor,
    **{function: _make_clock_rule(seconds) for function, (_, seconds) in CLOCK_UNITS.items()},
    **{function: _make_truncation_rule(rule) for function, rule in TRUNCATE.items()},
}


def _number(value: object) -> Fraction | None:
    match value:
        case bool():
            return Fraction(int(value))
        case int() | float():
            return Fraction(repr(value))  # as people typed it
        case datetime():
            return day_number(value.date()) + Fraction((value - datetime.combine(value, time())) // MICROSECOND, A_DAY)
        case date():
            return Fraction(day_number(value))
        case _:
            return None


def _sum(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left + right


def _least(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else min(left, right)


def _most(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else max(left, right)


def _clip(number: Fraction, interval: Interval) -> Fraction:
    lifted = number if interval.low is None else max(number, interval.low)
    return lifted if interval.high is None else min(lifted, interval.high)

"""The value of an expression for public values, where every engine is certain to give the same.

Meant for constants, public tables and lists of groups; private rows stay with the engines. Values that engines may
compute differently (logarithms, powers, capitals beyond ASCII, texts as numbers) raises `NotEvaluable`. Nothing private
rests on the values: they say which groups a question has, and are public themselves.
"""

import math
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from discreet.algebra.expressions import (
    SATURATED,
    Call,
    Case,
    ColumnValue,
    Expression,
    InSet,
    Like,
    Literal,
    comparison_kind,
    is_null,
    kind_of_arguments,
)
from discreet.algebra.functions import F, Function
from discreet.algebra.like_patterns import fits_pattern
from discreet.algebra.value_functions import DAY_FUNCTIONS, TEXT_FUNCTIONS, add_days, clamp, write_value
from discreet.core import Bounds
from discreet.core.schema import Kind, Value, day_number, day_of, months_later

#: Longer texts are not looked into.
LONGEST = 1_000


class NotEvaluable(Exception):
    """The value is not certain to be the same on every engine."""


def evaluate(expression: Expression, row: Mapping[str, Value]) -> Value:
    """Return the value of an expression, given those of its columns as they came. May raise `NotEvaluable`."""
    match expression:
        case Literal(value=value, kind=kind):
            return _widen(value, kind)
        case ColumnValue(name=name, kind=kind, bounds=bounds):
            if name not in row:
                raise NotEvaluable
            return _clamp(_widen(row[name], kind), bounds)
        case Call():
            return _evaluate_call(expression, [evaluate(argument, row) for argument in expression.arguments])
        case Case(branches=branches, otherwise=otherwise, kind=kind):
            chosen = next((value for condition, value in branches if evaluate(condition, row) is True), otherwise)
            return None if chosen is None else _widen(evaluate(chosen, row), kind)
        case InSet(value=operand, members=members):
            value = evaluate(operand, row)
            return None if value is None else any(_are_equal(value, operand, member) for member in members)
        case Like(value=operand, pattern=pattern, folded=folded):
            return _fits(evaluate(operand, row), pattern, folded=folded)


def _widen(value: Value, kind: Kind) -> Value:
    """Return an integer beside reals as a real, a day beside moments as its midnight."""
    if value is None:
        return None
    if kind is Kind.REAL:
        number = float(value)  # type: ignore[arg-type]
        return number + 0.0 if math.isfinite(number) else None
    if kind is Kind.TIMESTAMP and isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    return value


def _clamp(value: Value, bounds: Bounds | None) -> Value:
    if value is None or bounds is None:
        return value
    match value:
        case float():
            return float(clamp(value, float(bounds.low), float(bounds.high)))
        case datetime():
            raise NotEvaluable
        case date():
            return day_of(_clip(day_number(value), bounds))
        case int():
            return _clip(value, bounds)
        case _:
            return value


def _clip(number: int, bounds: Bounds) -> int:
    return int(clamp(number, math.ceil(bounds.low), math.floor(bounds.high)))


def _are_equal(value: Value, operand: Expression, member: Literal) -> bool:
    kind = comparison_kind(operand.kind, member.kind)
    return _widen(value, kind) == _widen(member.value, kind)


def _fits(value: Value, pattern: str, *, folded: bool) -> bool | None:
    """Return whether a text fits a pattern of LIKE."""
    if value is None:
        return None
    text = _need_short(value)
    if folded:
        text, pattern = _need_ascii(text).lower(), _need_ascii(pattern).lower()
    return fits_pattern(text, pattern)


def _need_short(value: Value) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise NotEvaluable
    return value


def _need_ascii(text: str) -> str:
    if not text.isascii():
        raise NotEvaluable
    return text


def _evaluate_call(call: Call, values: list[Any]) -> Value:
    function = call.function
    if function in LENIENT:
        return LENIENT[function](values, call.kind)
    if function is F.NULLIF:
        equal = None not in values and _compare(values, kind_of_arguments(call)) == 0
        return None if equal else _widen(values[0], call.kind)
    if any(is_null(argument) for argument in call.arguments) or None in values:
        return None
    if function in COMPARING:
        return COMPARING[function](_compare(values, kind_of_arguments(call)))
    if function in ARITHMETIC:
        return _compute(ARITHMETIC[function], values, call.kind)
    if function not in STRICT:
        raise NotEvaluable
    return STRICT[function](*values)


def _compare(values: Sequence[Value], kind: Kind) -> int:
    """Return −1, 0 or 1: how two values of a kind stand."""
    one, other = (_order(_widen(value, kind)) for value in values)
    return int(one > other) - int(one < other)


def _order(value: Value) -> Any:
    """Return the keys that values are compared by; texts by their bytes."""
    return value.encode(errors="surrogatepass") if isinstance(value, str) else value


def _compute(function: Callable[..., float], values: Sequence[Any], kind: Kind) -> Value:
    """Compute in float64; integers are clipped, and a value that is not a number is NULL."""
    try:
        result = function(*map(float, values))
    except (ZeroDivisionError, OverflowError, ValueError):
        return None
    if kind is Kind.INTEGER:
        return None if math.isnan(result) else int(min(max(result, -SATURATED), SATURATED))
    return result + 0.0 if math.isfinite(result) else None


def _floor_divide(left: float, right: float) -> float:
    quotient = left / right
    return math.floor(quotient) if math.isfinite(quotient) else quotient


def _round(number: float) -> int:
    """Return the nearest integer, halves away from zero."""
    nearest = math.floor(abs(Fraction(number)) + Fraction(1, 2))
    return nearest if number >= 0 else -nearest


def _extreme(choose: Callable[..., Any]) -> Callable[[list[Any], Kind], Value]:
    """Return LEAST or GREATEST, which skip NULLs."""

    def find(values: list[Any], kind: Kind) -> Value:
        present = [_widen(value, kind) for value in values if value is not None]
        found: Value = choose(present, key=_order, default=None)
        return found

    return find


def _clamp_between(values: list[Any], kind: Kind) -> Value:
    if None in values:
        return None
    bounded: Value = clamp(*(_widen(each, kind) for each in values))
    return bounded


def _first_present(values: list[Any], kind: Kind) -> Value:
    return _widen(next((value for value in values if value is not None), None), kind)


def _need_day(value: Value) -> date:
    """Return a day; moments are left to the engines."""
    if not isinstance(value, date) or isinstance(value, datetime):
        raise NotEvaluable
    return value


def _of_day(function: Callable[[date], Value]) -> Callable[[Value], Value]:
    return lambda value: function(_need_day(value))


def _of_text(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return a function of texts that are short, and whose result is; other arguments are as they are."""

    def compute(text: Value, *others: Value) -> Value:
        short = [_need_short(each) if isinstance(each, str) else each for each in others]
        try:
            result = function(_need_short(text), *short)
        except TypeError:  # a value that is not a text stands where one should
            raise NotEvaluable from None
        return _need_short(result) if isinstance(result, str) else result

    return compute


def _of_ascii(function: Callable[[str], Value]) -> Callable[[Value], Value]:
    return lambda value: function(_need_ascii(_need_short(value)))


def _monday(day: date) -> Value:
    monday = DAY_FUNCTIONS[F.TRUNC_WEEK](day)
    if monday is None:
        raise NotEvaluable
    return monday


def _substring(value: Value, start: int, length: int) -> Value:
    if start < 1 or length < 0:
        raise NotEvaluable
    return _of_text(TEXT_FUNCTIONS[F.SUBSTRING])(value, start, length)


def _to_integer(value: Value) -> Value:
    if isinstance(value, str):
        raise NotEvaluable
    return _compute(_round, [value], Kind.INTEGER)


def _to_real(value: Value) -> Value:
    if isinstance(value, str):
        raise NotEvaluable
    return _widen(value, Kind.REAL)


def _to_text(value: Value) -> str:
    match value:
        case None | float() | datetime():
            raise NotEvaluable
        case _:
            return write_value(value)


def _split_part(value: Value, part: str, number: int) -> str:
    pieces = _need_short(value).split(part)
    return pieces[number - 1] if number <= len(pieces) else ""


def _last_day(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


LENIENT: dict[Function, Callable[[list[Any], Kind], Value]] = {
    F.AND: lambda values, _: False if False in values else None if None in values else True,
    F.OR: lambda values, _: True if True in values else None if None in values else False,
    F.IS_NULL: lambda values, _: values[0] is None,
    F.COALESCE: _first_present,
    F.LEAST: _extreme(min),
    F.GREATEST: _extreme(max),
    F.CLAMP: _clamp_between,
}
COMPARING: dict[Function, Callable[[int], bool]] = {
    F.EQ: lambda sign: sign == 0,
    F.NE: lambda sign: sign != 0,
    F.LT: lambda sign: sign < 0,
    F.LE: lambda sign: sign <= 0,
    F.GT: lambda sign: sign > 0,
    F.GE: lambda sign: sign >= 0,
}
ARITHMETIC: dict[Function, Callable[..., float]] = {
    F.ADD: lambda left, right: left + right,
    F.SUBTRACT: lambda left, right: left - right,
    F.MULTIPLY: lambda left, right: left * right,
    F.DIVIDE: lambda left, right: left / right,
    F.FLOOR_DIVIDE: _floor_divide,
    F.MODULO: math.fmod,
    F.NEGATE: lambda value: -value,
    F.ABS: abs,
    F.FLOOR: math.floor,
    F.CEIL: math.ceil,
    F.ROUND: _round,
}
STRICT: dict[Function, Callable[..., Value]] = {
    F.NOT: lambda value: not value,
    **{function: _of_text(of_text) for function, of_text in TEXT_FUNCTIONS.items()},
    F.LOWER: _of_ascii(TEXT_FUNCTIONS[F.LOWER]),
    F.UPPER: _of_ascii(TEXT_FUNCTIONS[F.UPPER]),
    F.SUBSTRING: _substring,
    F.SPLIT_PART: _split_part,
    **{function: _of_day(of_day) for function, of_day in DAY_FUNCTIONS.items()},
    F.TRUNC_WEEK: _of_day(_monday),
    F.LAST_DAY: _of_day(_last_day),
    F.DAYS_BETWEEN: lambda first, last: day_number(_need_day(last)) - day_number(_need_day(first)),
    F.ADD_DAYS: lambda value, days: add_days(_need_day(value), days),
    F.ADD_MONTHS: lambda value, months: months_later(_need_day(value), months),
    F.TO_INTEGER: _to_integer,
    F.TO_REAL: _to_real,
    F.TO_TEXT: _to_text,
    F.TO_DATE: _need_day,
}

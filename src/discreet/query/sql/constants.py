"""Constants: numbers, texts and days as they are written, and what is computed from them before any row is seen."""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from discreet.algebra.expressions import Expression, Literal
from discreet.algebra.functions import F
from discreet.core import InvalidInput, OutOfRange
from discreet.core.schema import Kind, months_later

#: The largest integer that all engines hold, of either sign.
LARGEST = 2**63 - 1
#: Where integer arithmetic stops; see `discreet.algebra.functions`.
CLIP = 2**53
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?", re.ASCII)
DAY_FIX = "write a day as '2024-01-31'"
MOMENT_FIX = "write a moment as '2024-01-31 08:30:00'"


def number(text: str, sign: int = 1) -> Literal:
    """Return a number as it was written, with its sign: digits alone are an integer, anything else a real."""
    if text.isdecimal() and text.isascii():
        if len(text) > 40 or int(text) > LARGEST:
            raise OutOfRange("This number is too large.", fix="write an integer below 2^63, or a real such as 1e20")
        return Literal.of(sign * int(text))
    value = float(text)
    if not math.isfinite(value) or (value == 0 and re.search("[1-9]", text.lower().split("e")[0])):
        raise OutOfRange(
            "This number does not fit a floating-point number.", fix="write one between 1e-300 and 1e300, or 0"
        )
    return Literal.of(sign * value + 0.0)  # + 0 makes 0 of −0


def day(text: str) -> Literal:
    """Return the day that a text names."""
    if DAY.fullmatch(text):
        try:
            return Literal.of(date.fromisoformat(text))
        except ValueError:
            pass
    raise InvalidInput("This text is not a date.", fix=DAY_FIX)


def moment(text: str) -> Literal:
    """Return the moment that a text names; a day is its midnight."""
    if DAY.fullmatch(text) or MOMENT.fullmatch(text):
        try:
            return Literal.of(datetime.fromisoformat(text))
        except ValueError:
            pass
    raise InvalidInput("This text is not a timestamp.", fix=MOMENT_FIX)


def with_days(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return arguments with the texts among them read as days, or as moments, if they stand beside such."""
    kinds = {argument.kind for argument in arguments}
    if not kinds & {Kind.DATE, Kind.TIMESTAMP}:
        return arguments
    read = moment if Kind.TIMESTAMP in kinds else day
    return tuple(
        read(argument.value) if isinstance(argument, Literal) and isinstance(argument.value, str) else argument
        for argument in arguments
    )


def fold(function: F, arguments: tuple[Expression, ...]) -> Literal | None:
    """Return the constant that a function of constants is, where that is plain. NULL is left to engines."""
    if function not in FOLDS or not all(
        isinstance(argument, Literal) and argument.value is not None for argument in arguments
    ):
        return None
    values = [argument.value for argument in arguments if isinstance(argument, Literal)]
    try:
        return FOLDS[function](*values)
    except (ArithmeticError, ValueError):
        return None


def _arithmetic(compute: Callable[..., float]) -> Callable[..., Literal | None]:
    def fold_numbers(*values: int | float) -> Literal | None:
        result = compute(*map(float, values))
        if not math.isfinite(result):
            return None
        if all(isinstance(value, int) for value in values):
            return Literal.of(int(min(max(result, -CLIP), CLIP)))
        return Literal.of(result + 0.0)

    return fold_numbers


def _real(compute: Callable[..., float]) -> Callable[..., Literal | None]:
    def fold_real(*values: int | float) -> Literal | None:
        result = compute(*map(float, values))
        return Literal.of(result + 0.0) if math.isfinite(result) else None  # −0.0 would be another text

    return fold_real


def _add_months(start: date, months: int) -> Literal | None:
    later = months_later(start, months)
    return None if later is None else Literal.of(later)


def _days_between(start: object, end: object) -> Literal | None:
    return Literal.of((end - start).days) if type(start) is date and type(end) is date else None


FOLDS: dict[F, Callable[..., Literal | None]] = {
    F.ADD: _arithmetic(lambda a, b: a + b),
    F.SUBTRACT: _arithmetic(lambda a, b: a - b),
    F.MULTIPLY: _arithmetic(lambda a, b: a * b),
    F.NEGATE: _arithmetic(lambda a: -a),
    F.DIVIDE: _real(lambda a, b: a / b),
    F.TO_REAL: lambda value: Literal.of(float(value)) if isinstance(value, (int, float)) else None,
    F.CONCAT: lambda *texts: Literal.of("".join(texts)),
    F.ADD_DAYS: lambda start, days: Literal.of(start + timedelta(days=days)),
    F.ADD_MONTHS: _add_months,
    F.DAYS_BETWEEN: _days_between,
}

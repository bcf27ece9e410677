"""Constants: numbers, texts and days as they are written, and what is computed from them before any row is seen."""

import math
import operator
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

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
WHOLE, DECIMAL = re.compile(r"-?\d{1,18}", re.ASCII), re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
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
    # Of a number that is not 0 the exponent is small, or the float would not be finite; of 0 it could be anything.
    exact = sign * Fraction(Decimal(text)) if value else Fraction(0)
    return Literal.of(sign * value + 0.0, exact)  # + 0 makes 0 of −0


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


def with_numbers(arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return arguments with the texts among them read as numbers, if they stand beside a number: salary > '50000'."""
    kinds = {argument.kind for argument in arguments if not isinstance(argument, Literal)}
    form = DECIMAL if Kind.REAL in kinds else WHOLE if Kind.INTEGER in kinds else None
    if form is None or not kinds <= {Kind.REAL, Kind.INTEGER}:
        return arguments
    return tuple(
        number(argument.value.removeprefix("-"), -1 if argument.value.startswith("-") else 1)
        if isinstance(argument, Literal) and isinstance(argument.value, str) and form.fullmatch(argument.value)
        else argument
        for argument in arguments
    )


def fold(function: F, arguments: tuple[Expression, ...]) -> Literal | None:
    """Return the constant that a function of constants is, where that is plain. NULL is left to engines."""
    if function not in {*ARITHMETIC, *FOLDS} or not all(
        isinstance(argument, Literal) and argument.value is not None for argument in arguments
    ):
        return None
    literals = [argument for argument in arguments if isinstance(argument, Literal)]
    try:
        if function in ARITHMETIC:
            return _compute(function, literals)
        return FOLDS[function](*(literal.value for literal in literals))
    except (ArithmeticError, ValueError):
        return None


def _compute(function: F, literals: Sequence[Literal]) -> Literal | None:
    """Return the number that arithmetic on constants gives.

    Integers are computed as engines compute with them. Numbers that were written in decimals are exact in SQL: 0.06 +
    0.01 is 0.07, and the sum of the two floating-point numbers is not the one that is nearest to that. So they are
    computed exactly and rounded once, at the end. What was made a floating-point number is computed with as such.
    """
    numbers = [_read_number(literal) for literal in literals]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    compute = ARITHMETIC[function]
    if function is not F.DIVIDE and all(isinstance(literal.value, int) for literal in literals):
        return Literal.of(int(max(min(compute(*map(float, known)), float(CLIP)), -float(CLIP))))
    exact = compute(*known)
    written = all(isinstance(literal.value, int) or literal.exact is not None for literal in literals)
    return Literal.of(float(exact) + 0.0, exact if written else None)  # −0.0 would be another text


def _read_number(literal: Literal) -> Fraction | None:
    """Return the number that a constant stands for; None for a constant that is none."""
    if literal.exact is not None:
        return literal.exact
    return Fraction(literal.value) if isinstance(literal.value, int | float) else None


def _add_months(start: date, months: int) -> Literal | None:
    later = months_later(start, months)
    return None if later is None else Literal.of(later)


def _add_seconds(start: date, seconds: int) -> Literal | None:
    midnight = start if isinstance(start, datetime) else datetime(start.year, start.month, start.day)  # noqa: DTZ001
    return Literal.of(midnight + timedelta(seconds=seconds))


def _days_between(start: object, end: object) -> Literal | None:
    return Literal.of((end - start).days) if type(start) is date and type(end) is date else None


ARITHMETIC: dict[F, Callable[..., Any]] = {
    F.ADD: operator.add,
    F.SUBTRACT: operator.sub,
    F.MULTIPLY: operator.mul,
    F.NEGATE: operator.neg,
    F.DIVIDE: operator.truediv,
}
FOLDS: dict[F, Callable[..., Literal | None]] = {
    F.TO_REAL: lambda value: Literal.of(float(value)) if isinstance(value, (int, float)) else None,
    F.CONCAT: lambda *texts: Literal.of("".join(texts)),
    F.ADD_DAYS: lambda start, days: Literal.of(start + timedelta(days=days)),
    F.ADD_MONTHS: _add_months,
    F.ADD_SECONDS: _add_seconds,
    F.DAYS_BETWEEN: _days_between,
}

"""Terms on one row of a private answer: what HAVING and ORDER BY look at. Values only, as SQL has it."""

import math
import operator
from collections.abc import Callable
from typing import Any

from discreet.algebra.functions import F
from discreet.core.schema import Value


def _divide(left: Any, right: Any) -> Any:
    return None if right == 0 else left / right


def _round(value: Any) -> Any:
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def _root(value: Any) -> Any:
    return math.sqrt(value) if value >= 0 else None


def _logarithm(value: Any) -> Any:
    return math.log(value) if value > 0 else None


#: Functions of values that are all there; with a NULL among them the result is NULL.
STRICT: dict[F, Callable[..., Any]] = {
    F.ADD: operator.add,
    F.SUBTRACT: operator.sub,
    F.MULTIPLY: operator.mul,
    F.DIVIDE: _divide,
    F.FLOOR_DIVIDE: lambda left, right: None if right == 0 else left // right,
    F.MODULO: lambda left, right: None if right == 0 else math.fmod(left, right),
    F.NEGATE: operator.neg,
    F.ABS: abs,
    F.FLOOR: math.floor,
    F.CEIL: math.ceil,
    F.ROUND: _round,
    F.TO_INTEGER: _round,
    F.TO_REAL: float,
    F.SQRT: _root,
    F.LN: _logarithm,
    F.EXP: math.exp,
    F.CLAMP: lambda value, low, high: min(max(value, low), high),
    F.EQ: operator.eq,
    F.NE: operator.ne,
    F.LT: operator.lt,
    F.LE: operator.le,
    F.GT: operator.gt,
    F.GE: operator.ge,
    F.NOT: operator.not_,
}
#: Functions that look at NULLs themselves.
LENIENT: dict[F, Callable[..., Any]] = {
    F.AND: lambda *values: False if False in values else (None if None in values else True),
    F.OR: lambda *values: True if True in values else (None if None in values else False),
    F.IS_NULL: lambda value: value is None,
    F.COALESCE: lambda *values: next((value for value in values if value is not None), None),
    F.LEAST: lambda *values: min((value for value in values if value is not None), default=None),
    F.GREATEST: lambda *values: max((value for value in values if value is not None), default=None),
}


def apply_function(function: F, values: list[Value]) -> Value:
    """Return a function of values; NULL where it has none."""
    if function in LENIENT:
        answer: Value = LENIENT[function](*values)
        return answer
    if any(value is None for value in values):
        return None
    try:
        result: Value = STRICT[function](*values)
    except (OverflowError, TypeError, ValueError):
        return None
    return result

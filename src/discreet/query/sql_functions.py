"""Functions that are written with parentheses: which of ours they mean."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from discreet.core.schema import Kind
from discreet.data.expressions import Expression, Literal
from discreet.data.functions import F
from discreet.query.refusals import QueryRefused
from discreet.query.sql_names import PARTS, PLAIN, TRUNCATIONS
from discreet.query.sql_scope import Scope

Make = Callable[..., Expression]
#: SUBSTRING without a length goes to the end; no text is longer.
TO_THE_END = 2**31 - 1
MOST_DIGITS = 12
SEVERAL = (F.LEAST, F.GREATEST, F.COALESCE)


def function_call(node: exp.Expr, arguments: Sequence[Expression], scope: Scope, make: Make) -> Expression:
    """Return a function of a row."""
    name = node.name.upper()
    if name in PLAIN:
        if PLAIN[name] in SEVERAL and len(arguments) < 2:
            raise scope.refuse(node, f"{name} takes two values or more.", f"write {name}(a, b)")
        return make(PLAIN[name], *arguments)
    if name not in CALLS:
        raise scope.refuse(node, f"{name} is not a function that can be used.", "see the list of functions")
    found = CALLS[name](arguments, make)
    if found is None:
        raise _misused(node, name, scope)
    return found


def _clamp(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [value, Literal(value=int() | float() as low), Literal(value=int() | float() as high)] if low <= high:
            return make(F.CLAMP, value, arguments[1], arguments[2])
        case _:
            return None


def _round(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [value]:
            return make(F.ROUND, value)
        case [value, Literal(value=int() as digits, kind=Kind.INTEGER)] if 0 < digits <= MOST_DIGITS:
            shift = Literal.of(10**digits)
            return make(F.DIVIDE, make(F.ROUND, make(F.MULTIPLY, value, shift)), shift)
        case _:
            return None


def _substring(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [text, Literal(value=int() as start, kind=Kind.INTEGER)] if start >= 1:
            return make(F.SUBSTRING, text, arguments[1], Literal.of(TO_THE_END))
        case [
            text,
            Literal(value=int() as start, kind=Kind.INTEGER),
            Literal(value=int() as length, kind=Kind.INTEGER),
        ] if start >= 1 and length >= 0:
            return make(F.SUBSTRING, text, arguments[1], arguments[2])
        case _:
            return None


def _date_trunc(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [Literal(value=str() as unit), value] if unit.upper() in TRUNCATIONS:
            return make(TRUNCATIONS[unit.upper()], value)
        case _:
            return None


def _date_part(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [Literal(value=str() as unit), value] if unit.upper() in PARTS:
            return make(PARTS[unit.upper()], value)
        case _:
            return None


def _date_diff(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [Literal(value=str() as unit), start, end] if unit.upper() == "DAY":
            return make(F.DAYS_BETWEEN, start, end)
        case _:
            return None


CALLS: dict[str, Callable[[Sequence[Expression], Make], Expression | None]] = {
    "CLAMP": _clamp,
    "ROUND": _round,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "DATE_TRUNC": _date_trunc,
    "DATE_PART": _date_part,
    "DATE_DIFF": _date_diff,
    "DATEDIFF": _date_diff,
}
USAGE: dict[str, str] = {
    "CLAMP": "write CLAMP(x, low, high) with numbers low ≤ high, such as CLAMP(stay, 0, 60)",
    "ROUND": f"write ROUND(x), or ROUND(x, 2) with a number of digits from 1 to {MOST_DIGITS}",
    "SUBSTRING": "write SUBSTRING(text, start, length) with numbers, the first character being 1",
    "SUBSTR": "write SUBSTRING(text, start, length) with numbers, the first character being 1",
    "DATE_TRUNC": "write DATE_TRUNC('month', day), or 'year', 'quarter', 'week', 'day'",
    "DATE_PART": f"write DATE_PART('month', day), or one of: {', '.join(PARTS)}",
    "DATE_DIFF": "write DATE_DIFF('day', from, to)",
    "DATEDIFF": "write DATE_DIFF('day', from, to)",
}


def _misused(node: exp.Expr, name: str, scope: Scope) -> QueryRefused:
    return scope.refuse(node, f"{name} is not written like this.", USAGE[name])

"""Functions that are written with parentheses: which of ours they mean."""

import math
from collections.abc import Callable, Sequence
from datetime import date

from sqlglot import exp

from discreet.algebra.expressions import Case, Expression, Literal, is_null
from discreet.algebra.functions import MOST_GROWTH, F
from discreet.core.schema import Kind
from discreet.query.names import PLAIN
from discreet.query.questions import QueryRefused
from discreet.query.sql.row_functions.constants import with_days
from discreet.query.sql.row_functions.date_formats import FORMAT_CALLS, FORMAT_USAGE
from discreet.query.sql.row_functions.date_functions import DATE_CALLS, DATE_USAGE, Make
from discreet.query.sql.row_functions.regular_expressions import PATTERN_CALLS, PATTERN_USAGE
from discreet.query.sql.row_functions.text_functions import (
    MOST_DIGITS,
    TEXT_CALLS,
    TEXT_USAGE,
    WRITTEN_ALIKE,
    write_value,
)
from discreet.query.sql.scope import SqlScope

#: SUBSTRING without a length goes to the end; no text is longer.
TO_THE_END = 2**31 - 1
#: Bins of WIDTH_BUCKET.
MOST_BINS = 9_000
SEVERAL = (F.LEAST, F.GREATEST, F.COALESCE)


def build_function_call(node: exp.Expr, arguments: Sequence[Expression], scope: SqlScope, make: Make) -> Expression:
    """Return a function of a row."""
    name = node.name.upper()
    if name in PLAIN:
        if PLAIN[name] in SEVERAL and len(arguments) < 2:
            raise scope.refuse(node, f"{name} takes two values or more.", f"write {name}(a, b)")
        return make(PLAIN[name], *arguments)
    if name not in CALLS:
        raise scope.refuse(node, f"{name} is not a supported function.", "see the list of functions")
    expression = CALLS[name](arguments, make)
    if expression is None:
        raise _refuse_arguments(node, name, scope)
    return expression


def _clamp(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [value, _, _] if value.kind.temporal:
            return _clamp_days(value, with_days(tuple(arguments)), make)
        case [value, Literal(value=int() | float() as low), Literal(value=int() | float() as high)] if low <= high:
            return make(F.CLAMP, value, arguments[1], arguments[2])
        case _:
            return None


def _clamp_days(value: Expression, arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return a day, or the first or the last one. LEAST and GREATEST skip NULL, and so NULL is looked for before."""
    match arguments:
        case [_, Literal(value=date() as first), Literal(value=date() as last)] if type(first) is type(last):
            if first > last:
                return None
            between = make(F.GREATEST, make(F.LEAST, value, arguments[2]), arguments[1])
            return Case(((make(F.NOT, make(F.IS_NULL, value)), between),), None)
        case _:
            return None


def _round(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [value]:
            return make(F.ROUND, value)
        case [value, Literal(value=int() as digits, kind=Kind.INTEGER)] if -MOST_DIGITS <= digits <= MOST_DIGITS:
            return round_to_digits(value, digits, make)
        case _:
            return None


def round_to_digits(value: Expression, digits: int, make: Make) -> Expression:
    """Return a number to some digits after the point; to none, an integer; to fewer, tens or hundreds."""
    if digits == 0:
        return make(F.ROUND, value)
    if digits < 0:
        tens = Literal.of(10**-digits)
        return make(F.MULTIPLY, make(F.ROUND, make(F.DIVIDE, value, tens)), tens)
    shift = Literal.of(10**digits)
    return make(F.DIVIDE, make(F.ROUND, make(F.MULTIPLY, value, shift)), shift)


def _width_bucket(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return the number of the bin, of several that are as wide, with 0 below the first and one more above the last."""
    match arguments:
        case [
            value,
            Literal(value=int() | float() as low),
            Literal(value=int() | float() as high),
            Literal(value=int() as bins, kind=Kind.INTEGER),
        ] if value.kind.numeric and 0 < high - low < math.inf and 1 <= bins <= MOST_BINS:
            share = make(F.DIVIDE, make(F.SUBTRACT, value, arguments[1]), Literal.of(high - low))
            place = make(F.ADD, make(F.FLOOR, make(F.MULTIPLY, share, arguments[3])), Literal.of(1))
            return make(F.CLAMP, place, Literal.of(0), Literal.of(bins + 1))
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


def _concat(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return texts one after another, where NULL is no text: as in PostgreSQL and DuckDB, unlike ||."""
    if not arguments or any(argument.kind not in WRITTEN_ALIKE for argument in arguments):
        return None
    texts = [
        argument if argument.kind is Kind.TEXT else make(F.TO_TEXT, argument)
        for argument in arguments
        if not is_null(argument)
    ]
    nothing = Literal.of("")
    filled = [text if isinstance(text, Literal) else make(F.COALESCE, text, nothing) for text in texts]
    if not filled:
        return nothing
    return filled[0] if len(filled) == 1 else make(F.CONCAT, *filled)


def _left(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [text, Literal(value=int() as length, kind=Kind.INTEGER)] if length >= 0:
            return make(F.SUBSTRING, text, Literal.of(1), arguments[1])
        case _:
            return None


def _starts_with(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [text, Literal(value=str() as start)]:
            return make(F.EQ, make(F.SUBSTRING, text, Literal.of(1), Literal.of(len(start))), arguments[1])
        case _:
            return None


def _log(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return a logarithm whose base is said. Without one, it is natural in some databases and decimal in others."""
    match arguments:
        case [Literal(value=int() | float() as base), value] if base > 0 and base != 1:
            return _logarithm(value, base, make)
        case _:
            return None


def _log2(arguments: Sequence[Expression], make: Make) -> Expression | None:
    return _logarithm(arguments[0], 2, make) if len(arguments) == 1 else None


def _logarithm(value: Expression, base: float, make: Make) -> Expression:
    if base == 10:
        return make(F.LOG10, value)
    return make(F.DIVIDE, make(F.LN, value), Literal.of(math.log(base)))


def _sign(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [value]:
            tests = ((F.GT, 1), (F.LT, -1), (F.EQ, 0))
            return Case(
                tuple((make(test, value, Literal.of(0)), Literal.of(sign)) for test, sign in tests), otherwise=None
            )
        case _:
            return None


def _right(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [text, Literal(value=int() as length, kind=Kind.INTEGER)] if length >= 0:
            return make(F.RIGHT, text, arguments[1])
        case _:
            return None


def _replace(arguments: Sequence[Expression], make: Make) -> Expression | None:
    match arguments:
        case [text, Literal(value=str() as old), Literal(value=str() as new)] if old and len(new) <= MOST_GROWTH * len(
            old
        ):
            return make(F.REPLACE, text, arguments[1], arguments[2])
        case _:
            return None


def _concat_with(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return texts with a constant between them, where NULL is left out: each has one before it, the first none."""
    match arguments:
        case [Literal(value=str() as between), *values] if values:
            parts = [write_value(value, make) for value in values if not is_null(value)]
            led = [make(F.CONCAT, arguments[0], part) for part in parts if part is not None]
            if not led:
                return Literal.of("") if not parts else None
            joined = _concat(led, make)
            return (
                None
                if joined is None or len(led) < len(parts)
                else make(F.SUBSTRING, joined, Literal.of(len(between) + 1), Literal.of(TO_THE_END))
            )
        case _:
            return None


def _if_null(arguments: Sequence[Expression], make: Make) -> Expression | None:
    return make(F.COALESCE, *arguments) if len(arguments) == 2 else None


def _if(arguments: Sequence[Expression], _make: Make) -> Expression | None:
    if len(arguments) not in (2, 3):
        return None
    condition, *values = arguments
    then, *otherwise = with_days(tuple(values))
    last = otherwise[0] if otherwise and not is_null(otherwise[0]) else None
    return Case(((condition, then),), last)


def _date(arguments: Sequence[Expression], make: Make) -> Expression | None:
    return make(F.TO_DATE, *arguments) if len(arguments) == 1 else None


CALLS: dict[str, Callable[[Sequence[Expression], Make], Expression | None]] = {
    "CLAMP": _clamp,
    "ROUND": _round,
    "WIDTH_BUCKET": _width_bucket,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "CONCAT": _concat,
    "LEFT": _left,
    "STARTS_WITH": _starts_with,
    "IFNULL": _if_null,
    "NVL": _if_null,
    "IF": _if,
    "IIF": _if,
    "DATE": _date,
    "LOG": _log,
    "LOG2": _log2,
    "SIGN": _sign,
    "RIGHT": _right,
    "REPLACE": _replace,
    "CONCAT_WS": _concat_with,
    **DATE_CALLS,
    **FORMAT_CALLS,
    **PATTERN_CALLS,
    **TEXT_CALLS,
}
USAGE: dict[str, str] = {
    "CLAMP": "write CLAMP(x, low, high) with constants low ≤ high, such as CLAMP(stay, 0, 60), or days: CLAMP(day, "
    "'2024-01-01', '2024-12-31')",
    "ROUND": f"write ROUND(x), or ROUND(x, 2) with a number of digits from −{MOST_DIGITS} to {MOST_DIGITS}",
    "SUBSTRING": "write SUBSTRING(text, start, length) with numbers, the first character being 1",
    "SUBSTR": "write SUBSTRING(text, start, length) with numbers, the first character being 1",
    "CONCAT": "put texts, whole numbers and days together; of others write CAST(ROUND(x) AS VARCHAR) or CASE … END",
    "LEFT": "write LEFT(text, 2) with a number, or SUBSTRING(text, 1, 2)",
    "STARTS_WITH": "write STARTS_WITH(text, 'A') with a constant text, or text LIKE 'A%'",
    "IFNULL": "write COALESCE(a, b)",
    "NVL": "write COALESCE(a, b)",
    "IF": "write CASE WHEN … THEN … ELSE … END",
    "IIF": "write CASE WHEN … THEN … ELSE … END",
    "DATE": "write CAST(x AS DATE), or DATE '2024-01-31' for one day",
    "LOG": "write LN(x) or LOG10(x); of another base LOG(2, x), with a constant first",
    "LOG2": "write LOG2(x)",
    "SIGN": "write SIGN(x)",
    "WIDTH_BUCKET": f"write WIDTH_BUCKET(x, 0, 60, 6) with constants: two ends, and 1 to {MOST_BINS:,} bins",
    "RIGHT": "write RIGHT(text, 2) with a number",
    "REPLACE": "write REPLACE(text, 'a', 'b') with constant texts, the first of them not empty, and the second at most "
    f"{MOST_GROWTH} times as long",
    "CONCAT_WS": "write CONCAT_WS(', ', a, b) with a constant text first, and texts, whole numbers and days after it",
    **DATE_USAGE,
    **FORMAT_USAGE,
    **PATTERN_USAGE,
    **TEXT_USAGE,
}
#: What is wrong with a function's arguments, where more can be said than that they are others.
PROBLEMS: dict[str, str] = {
    "LOG": "LOG needs a constant base before x: without one, some databases mean base 10, and others e.",
}


def _refuse_arguments(node: exp.Expr, name: str, scope: SqlScope) -> QueryRefused:
    return scope.refuse(node, PROBLEMS.get(name, f"{name} has other arguments."), USAGE[name])

"""Aggregates of a frame: count(), mean("stay") and others, and arithmetic on them.

Each is a text of SQL, read by the same rules, so that a frame asks what SQL asks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.exact import Number, exact, nearest_float

#: Stands for the column that says who is protected. No text that is read can hold it.
PERSON = "\0person"


@dataclass(frozen=True, slots=True, eq=False)
class AggregateExpression:
    """Something to ask for, as SQL. Sums, products and comparisons of such are such, too."""

    sql: str

    def __add__(self, other: object) -> "AggregateExpression":
        return _combine(self, "+", other)

    def __radd__(self, other: object) -> "AggregateExpression":
        return _combine(other, "+", self)

    def __sub__(self, other: object) -> "AggregateExpression":
        return _combine(self, "-", other)

    def __rsub__(self, other: object) -> "AggregateExpression":
        return _combine(other, "-", self)

    def __mul__(self, other: object) -> "AggregateExpression":
        return _combine(self, "*", other)

    def __rmul__(self, other: object) -> "AggregateExpression":
        return _combine(other, "*", self)

    def __truediv__(self, other: object) -> "AggregateExpression":
        return _combine(self, "/", other)

    def __rtruediv__(self, other: object) -> "AggregateExpression":
        return _combine(other, "/", self)

    def __neg__(self) -> "AggregateExpression":
        return AggregateExpression(f"-({self.sql})")

    def __lt__(self, other: object) -> "AggregateExpression":
        return _combine(self, "<", other)

    def __le__(self, other: object) -> "AggregateExpression":
        return _combine(self, "<=", other)

    def __gt__(self, other: object) -> "AggregateExpression":
        return _combine(self, ">", other)

    def __ge__(self, other: object) -> "AggregateExpression":
        return _combine(self, ">=", other)

    def __bool__(self) -> bool:
        raise WrongType(
            "An aggregate has no truth value before it is answered.",
            fix='write conditions as SQL, such as .having("COUNT(*) > 10 AND AVG(stay) < 5")',
        )


def count(value: str | None = None) -> AggregateExpression:
    """Ask for the number of rows, or of rows that have a value.

    Args:
        value: A column or an expression in SQL: rows in which it is missing do not count. All rows count, if left out.

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.count().sql
        'COUNT(*)'

    """
    return AggregateExpression("COUNT(*)" if value is None else f"COUNT({_need_balanced(value)})")


def count_people() -> AggregateExpression:
    """Ask for the number of people.

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Example:
        >>> clinic.table().agg(people=discreet.count_people()).preview(epsilon=0.5).fits
        True

    """
    return AggregateExpression(f"COUNT(DISTINCT {PERSON})")


def count_distinct(value: str) -> AggregateExpression:
    """Ask for the number of different values.

    Args:
        value: A column, or an expression in SQL such as "stay * 24".

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.count_distinct("ward").sql
        'COUNT(DISTINCT ward)'

    """
    return AggregateExpression(f"COUNT(DISTINCT {_need_balanced(value)})")


def total(value: str) -> AggregateExpression:
    """Ask for a sum.

    Values are clamped to their bounds.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.total("stay").sql
        'SUM(stay)'

    """
    return AggregateExpression(f"SUM({_need_balanced(value)})")


def mean(value: str) -> AggregateExpression:
    """Ask for an average.

    Values are clamped to their bounds.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.mean("stay").sql
        'AVG(stay)'

    """
    return AggregateExpression(f"AVG({_need_balanced(value)})")


def variance(value: str, *, population: bool = False) -> AggregateExpression:
    """Ask for the variance.

    Values are clamped to their bounds.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".
        population: Whether the rows are the whole population, and not a sample of it.

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.variance("stay").sql
        'VAR_SAMP(stay)'

    """
    return AggregateExpression(f"{'VAR_POP' if population else 'VAR_SAMP'}({_need_balanced(value)})")


def deviation(value: str, *, population: bool = False) -> AggregateExpression:
    """Ask for the standard deviation.

    Values are clamped to their bounds.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".
        population: Whether the rows are the whole population, and not a sample of it.

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.deviation("stay", population=True).sql
        'STDDEV_POP(stay)'

    """
    return AggregateExpression(f"{'STDDEV_POP' if population else 'STDDEV_SAMP'}({_need_balanced(value)})")


def median(value: str) -> AggregateExpression:
    """Ask for the median: half of all values lie below it.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.median("stay").sql
        'MEDIAN(stay)'

    """
    return AggregateExpression(f"MEDIAN({_need_balanced(value)})")


def quantile(value: str, level: Number) -> AggregateExpression:
    """Ask for a quantile: the value below which a given share of all values lie.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".
        level: The share, between 0 and 1.

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.quantile("stay", 0.9).sql
        'QUANTILE(stay, 0.9)'

    """
    return AggregateExpression(f"QUANTILE({_need_balanced(value)}, {_write_number(level, 'level')})")


def minimum(value: str) -> AggregateExpression:
    """Ask for the smallest value.

    A private minimum is an extreme quantile: a few values may lie below it.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.minimum("stay").sql
        'MIN(stay)'

    """
    return AggregateExpression(f"MIN({_need_balanced(value)})")


def maximum(value: str) -> AggregateExpression:
    """Ask for the largest value.

    A private maximum is an extreme quantile: a few values may lie above it.

    Args:
        value: A column with bounds, or an expression in SQL such as "stay * 24".

    Returns:
        An aggregate for `Frame.agg`; nothing is asked yet.

    Raises:
        WrongType: An argument is of a wrong type.

    Example:
        >>> discreet.maximum("stay").sql
        'MAX(stay)'

    """
    return AggregateExpression(f"MAX({_need_balanced(value)})")


def histogram(value: str, edges: Sequence[Number]) -> AggregateExpression:
    """Ask for the number of rows between edges."""
    return AggregateExpression(
        f"HISTOGRAM({', '.join([_need_balanced(value), *(_write_number(edge, 'edge') for edge in edges)])})"
    )


def aggregate_sql(value: object, person: str | None) -> str:
    """Return an aggregate as SQL, from a text or an `AggregateExpression`; `person` is the SQL of who is protected."""
    if isinstance(value, AggregateExpression):
        if PERSON in value.sql and person is None:
            raise InvalidInput(
                "With row=True every row is a privacy unit, so people cannot be counted apart from rows.",
                fix="use count()",
            )
        return value.sql.replace(PERSON, person or "")
    if isinstance(value, str):
        return value
    raise WrongType(
        f"This is {kind_of(value)}, not an aggregate.",
        fix='pass count(), mean("stay") or the like, or SQL such as "SUM(a) / COUNT(*)"',
    )


def _combine(left: object, sign: str, right: object) -> AggregateExpression:
    return AggregateExpression(f"({_write_operand(left)}) {sign} ({_write_operand(right)})")


def _write_operand(value: object) -> str:
    return value.sql if isinstance(value, AggregateExpression) else _write_number(value, "operand")


def _write_number(value: object, name: str) -> str:
    """Return a number as SQL, digit by digit as it was meant."""
    number = exact(value, name)
    if number.denominator == 1 and not isinstance(value, float):
        return str(number.numerator)
    near = value if isinstance(value, float) else nearest_float(number)
    if not math.isfinite(near) or (isinstance(value, (Fraction, Decimal)) and Fraction(repr(near)) != number):
        raise InvalidInput(f"{name} must be an int or a float.", fix="pass an int or a float")
    return repr(float(near))


def _need_balanced(text: object) -> str:
    """Return an expression that can stand between parentheses: it does not close them itself."""
    if not isinstance(text, str):
        raise WrongType(f"This is {kind_of(text)}, not an expression.", fix='pass SQL, such as "stay" or "stay * 24"')
    depth, quote = 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        else:
            depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if depth or quote:
        raise InvalidInput("Parentheses or quotes do not match.", fix="close what is open, and nothing else")
    return text

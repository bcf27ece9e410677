"""Expressions over other columns: names changed, or columns replaced by what they are made of. Public."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal


class NotPlain(Exception):
    """A column is not simply another one, or it is clamped to other bounds than that."""


def changed(expression: Expression, change: Callable[[ColumnValue], Expression]) -> Expression:
    """Return an expression with each of its columns changed."""
    match expression:
        case Literal():
            return expression
        case ColumnValue():
            return change(expression)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(changed(argument, change) for argument in arguments))
        case Case(branches=branches, otherwise=otherwise):
            return Case(
                tuple((changed(condition, change), changed(value, change)) for condition, value in branches),
                None if otherwise is None else changed(otherwise, change),
            )
        case InSet(value=value, members=members):
            return InSet(changed(value, change), members)
        case Like(value=value, pattern=pattern, folded=folded):
            return Like(changed(value, change), pattern, folded)


def prefixed(expression: Expression, prefix: str) -> Expression:
    """Return an expression over columns whose names begin with a prefix."""
    return changed(expression, lambda column: replace(column, name=f"{prefix}{column.name}"))


def substituted(expression: Expression, columns: Mapping[str, ColumnValue]) -> Expression:
    """Return an expression with columns replaced by the columns that they are. May raise `NotPlain`."""
    return changed(expression, lambda column: _replaced(column, columns.get(column.name)))


def _replaced(column: ColumnValue, by: ColumnValue | None) -> ColumnValue:
    if by is None or (None not in (column.bounds, by.bounds) and column.bounds != by.bounds):
        raise NotPlain
    return by if column.bounds is None else replace(by, bounds=column.bounds)

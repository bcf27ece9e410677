"""Checks expressions against the columns that they may name. Public; sees no row.

SQL and frames build trees by `call` and `column`, which refuse wrong kinds. The classes themselves are plain values, so
that a tree built by hand may claim any kind. Planners check every tree here before anything is paid for it: otherwise
the engine would refuse it, or cast it, after the payment.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from discreet.algebra.expressions import (
    Call,
    Case,
    ColumnValue,
    Expression,
    InSet,
    Like,
    Literal,
    children,
    constant_of,
    ends_of_substring,
    is_null,
    kind_of_value,
    later,
    length_of_right,
    seconds_later,
    split_of,
    texts_of,
)
from discreet.algebra.functions import F, Function, kind_of_call
from discreet.algebra.relations import (
    Derived,
    First,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnitJoin,
    columns_of,
    sources_of,
)
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Column, Kind, Schema, closest

#: Columns that an expression may name, by name.
Columns = Mapping[str, Column]


def check_expression(expression: Expression, columns: Columns) -> None:
    """Refuse an expression with unknown columns, or whose kinds are not what its parts make them."""
    match expression:
        case Literal():
            _check_literal(expression)
        case ColumnValue():
            _check_column(expression, columns)
        case Call() | Case() | InSet() | Like():
            _check_shape(expression)
            for child in children(expression):
                check_expression(child, columns)
            _check_node(expression)
        case _:
            raise WrongType(
                f"{kind_of(expression).capitalize()} stands where an expression is needed.",
                fix="build expressions of column(…), Literal.of(…) and call(…), or ask in SQL",
            )


def check_condition(expression: Expression, columns: Columns, where: str) -> None:
    """Refuse a condition that is not true or false."""
    check_expression(expression, columns)
    if expression.kind is not Kind.BOOLEAN:
        raise WrongType(
            f"The condition of {where} is {expression.kind.value}, and not true or false.", fix="write a comparison"
        )


def _check_literal(literal: Literal) -> None:
    value = literal.value
    if not isinstance(literal.kind, Kind):
        raise WrongType("The kind of a constant is not a Kind.", fix="write Literal.of(value)")
    if value is None:
        return
    if kind_of_value(value) is not literal.kind:
        raise WrongType(
            f"A constant of kind {literal.kind.value} holds {kind_of(value)}.", fix="write Literal.of(value)"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("A constant is infinite or not a number.", fix="write a finite number, or NULL")
    if isinstance(value, datetime) and value.tzinfo is not None:
        raise WrongType("A constant has a time zone.", fix="pass a moment without one, as the columns are")
    if isinstance(value, str) and any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in value):
        raise InvalidInput(
            "A constant text has a character that databases do not have (U+0000, or half of a pair).",
            fix="leave it out",
        )


def _check_column(value: ColumnValue, columns: Columns) -> None:
    known = columns.get(value.name) if isinstance(value.name, str) else None
    if known is None:
        meant = closest(value.name, columns) if isinstance(value.name, str) else None
        raise InvalidInput(
            f"There is no column {value.name!r} in these rows.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(columns)}",
        )
    if known.kind is not value.kind:
        raise WrongType(
            f"The column {known.name!r} is {known.kind.value}, and the question takes it as something else.",
            fix=f"build it by column(schema, {known.name!r})",
        )
    if known.bounds != value.bounds:
        raise InvalidInput(
            f"The question gives {known.name!r} other bounds than the ones declared.",
            fix=f"build it by column(schema, {known.name!r}), and narrow it by CLAMP",
        )


def _check_shape(node: Call | Case | InSet | Like) -> None:
    """Refuse parts that a walk over a tree cannot use."""
    match node:
        case Call(function=function, arguments=arguments):
            fits = isinstance(function, Function) and isinstance(arguments, tuple)
        case Case(branches=branches):
            fits = isinstance(branches, tuple) and bool(branches)
        case InSet(members=members):
            fits = (
                isinstance(members, tuple) and bool(members) and all(isinstance(member, Literal) for member in members)
            )
        case Like(pattern=pattern, folded=folded):
            fits = isinstance(pattern, str) and isinstance(folded, bool)
    if not fits:
        raise WrongType(
            f"A {type(node).__name__} is made of parts that it cannot be made of.",
            fix="use call(…) for functions, and tuples, constants and texts as their classes say",
        )


def _check_node(node: Call | Case | InSet | Like) -> None:
    """Refuse a node whose checked parts do not fit each other."""
    match node:
        case Call():
            _check_call(node)
        case Case(branches=branches, otherwise=otherwise, kind=kind):
            if Case(branches, otherwise).kind is not kind:
                raise WrongType("CASE is not of the kind of its values.", fix="write Case(branches, otherwise)")
        case InSet(value=value, members=members):
            if any(is_null(member) for member in members):
                raise InvalidInput("A list of constants holds NULL.", fix="leave it out, and ask IS NULL besides")
            for member in members:
                kind_of_call(F.EQ, [None if is_null(value) else value.kind, member.kind])
        case Like(value=value):
            kind_of_call(F.LOWER, [None if is_null(value) else value.kind])
            _check_literal(Literal.of(node.pattern))


#: Functions that need constants: what reads these, or refuses others.
CONSTANTS_OF: dict[Function, Callable[[Call], object]] = {
    F.SUBSTRING: ends_of_substring,
    F.RIGHT: length_of_right,
    F.POSITION: texts_of,
    F.REPLACE: texts_of,
    F.SPLIT_PART: split_of,
    F.ADD_DAYS: later,
    F.ADD_MONTHS: later,
    F.ADD_SECONDS: seconds_later,
}


def _check_call(call: Call) -> None:
    kinds = [None if is_null(argument) else argument.kind for argument in call.arguments]
    kind = kind_of_call(call.function, kinds)
    if kind is not call.kind:
        raise WrongType(
            f"{call.function.value} of these values is {kind.value}, and the question takes it as something else.",
            fix="build it by call(function, …), which finds the kind",
        )
    match call.function:
        case F.CLAMP:
            match [constant_of(argument).value for argument in call.arguments[1:]]:
                case [int() | float() as low, int() | float() as high] if low <= high:
                    pass
                case _:
                    raise InvalidInput("CLAMP needs two constants, low ≤ high.", fix="write CLAMP(x, 0, 100)")
        case function if function in CONSTANTS_OF:
            CONSTANTS_OF[function](call)
        case _:
            pass


def check_relation_expressions(  # noqa: C901 - one case a kind
    relation: Relation, schemas: Mapping[str, Schema]
) -> None:
    """Refuse a relation with an expression that its own rows cannot answer, or with tables as they were not declared.

    Public tables are checked by the engine that holds them (`discreet.algebra.aggregates`), before payment, too.
    """
    for source in sources_of(relation):
        if not isinstance(source, PublicScan):
            check_relation_expressions(source, schemas)
    match relation:
        case Scan():
            _check_scan(relation, schemas)
        case Derived(source=source, columns=named, where=where):
            _check_named(named, source)
            if where is not None:
                check_condition(where, columns_by_name(columns_of(source)), "a subquery")
        case PerUnit(source=source, keys=keys, values=values):
            _check_named(keys, source)
            _check_all((fold.value for fold in values if fold.value is not None), source)
        case First(source=source, by=by):
            _check_all((by,), source)
        case PublicJoin() | UnitJoin() | MatchJoin():
            _check_all((left for left, _ in relation.on), relation.left)
            _check_all((right for _, right in relation.on), relation.right)
        case _:
            pass


def _check_scan(scan: Scan, schemas: Mapping[str, Schema]) -> None:
    if scan.whole:
        raise InvalidInput("A question reads a table without its cap.", fix="leave out whole=True")
    schema = schemas.get(scan.table)
    if schema is None:
        raise InvalidInput(f"There is no table {scan.table!r}.", fix=f"use one of: {', '.join(schemas)}")
    declared = columns_by_name(schema.columns)
    for column in scan.columns:
        if declared.get(column.name) != column:
            raise InvalidInput(
                f"The table {scan.table!r} has no column {column.name!r} of that kind, with those bounds and groups.",
                fix="use the columns of the table's schema as they are",
            )


def _check_all(expressions: Iterable[Expression], source: Relation | PublicScan) -> None:
    columns = columns_by_name(columns_of(source))
    for expression in expressions:
        check_expression(expression, columns)


def _check_named(named: Iterable[Named], source: Relation | PublicScan) -> None:
    """Refuse computed columns. One that is handed on as it came keeps its bounds, and is clamped where it is used."""
    columns = columns_by_name(columns_of(source))
    for item in named:
        known = columns.get(item.expression.name) if isinstance(item.expression, ColumnValue) else None
        if known is None or (item.expression, item.column.bounds) != (
            ColumnValue(known.name, known.kind),
            known.bounds,
        ):
            check_expression(item.expression, columns)


def columns_by_name(columns: Iterable[Column]) -> dict[str, Column]:
    """Return columns by their names."""
    return {column.name: column for column in columns}

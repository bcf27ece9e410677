"""The typed tree of one row becomes Spark's SQL, exactly as `discreet.algebra.functions` says.

No setting of a session changes what it means: not ANSI mode, nor the time zone. No row can raise: what could is clipped
or tried. A piece is written once where it can be: Spark has no names inside of expressions, and nesting would double a
piece that is written twice at each level.
"""

import math
from collections.abc import Mapping

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, is_null
from discreet.algebra.like_patterns import Part, Pattern, Shape, java_parts, regular_expression
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.duckdb.expressions import LEAST_INTEGER, MOST_INTEGER, Sql, ends
from discreet.data.spark.literals import DAY, INFINITY, NAN, TYPES, constant, null, real, text, whole, wide

#: The SQL of columns, by their names.
Columns = Mapping[str, str]
#: A text up to this length may be written twice. Longer ones are bound by a lambda.
SHORT = 60


def compiled(expression: Expression, columns: Columns) -> Sql:
    """Return the SQL of an expression."""
    match expression:
        case Literal():
            return _literal(expression)
        case ColumnValue():
            return _column(expression, columns)
        case Call():
            from discreet.data.spark.functions import compiled_call  # noqa: PLC0415 - the two are one recursion

            return compiled_call(expression, columns)
        case Case():
            return _case(expression, columns)
        case InSet():
            return _member(expression, columns)
        case Like():
            return _like(expression, columns)


def as_kind(expression: Expression, kind: Kind, columns: Columns) -> Sql:
    """Return the SQL of an expression as one of a wider kind: an integer as a real, a day as its midnight."""
    if is_null(expression):
        return Sql(null(kind), kind, 0)
    return widened(compiled(expression, columns), kind)


def widened(piece: Sql, kind: Kind) -> Sql:
    """Return a piece as one of a wider kind."""
    if piece.kind is kind:
        return piece
    if kind is Kind.TIMESTAMP:
        return Sql(f"(unix_date({piece.text}) * {whole(DAY)})", kind)
    return Sql(f"CAST({piece.text} AS {TYPES[kind]})", kind, piece.most)


def bound_once(piece: str, form: str) -> str:
    """Return a form in which {} stands for a piece: written again if it is short, and otherwise bound to a name."""
    if len(piece) <= SHORT:
        return form.replace("{}", piece)
    name = f"v{(piece + form).count('->')}"  # no lambda inside has as many inside
    return f"get(transform(array({piece}), {name} -> {form.replace('{}', name)}), 0)"


def clipped(number: str, low: str, high: str) -> str:
    """Return a float64 between two others; NULL for NULL and for NaN.

    Spark's greatest and least skip NULL, so that it has to be something else for a while. NaN is larger than all
    numbers: so it stays where the larger one is taken, on either side of zero.
    """
    above = f"greatest(coalesce({number}, {NAN}), {low})"
    return f"nanvl(-greatest(-{above}, -{high}), {null(Kind.REAL)})"


def finite(number: str) -> str:
    """Return a float64 that is finite, or NULL."""
    return f"nullif(nullif(nanvl({number}, {null(Kind.REAL)}), {INFINITY}), -{INFINITY})"


def _literal(literal: Literal) -> Sql:
    value, most = literal.value, math.inf
    if isinstance(value, int) and literal.kind is Kind.INTEGER:
        most = float(abs(min(max(value, LEAST_INTEGER), MOST_INTEGER)))
    elif isinstance(value, int | float) and literal.kind is Kind.REAL:
        most = abs(float(value))
    return Sql(constant(value, literal.kind), literal.kind, most)


def _column(column: ColumnValue, columns: Columns) -> Sql:
    name = columns.get(column.name)
    if name is None:
        raise InvalidInput(f"There is no column {column.name!r}.", fix="use a column of the table's schema")
    if column.bounds is None:
        return Sql(name, column.kind, 2.0**63 if column.kind is Kind.INTEGER else math.inf)
    low, high = ends(column.kind, column.bounds)
    floor, ceiling = (constant(end, column.kind) for end in (low, high))
    most = float(max(abs(low), abs(high))) if column.kind.numeric else math.inf  # type: ignore[arg-type]
    form = f"(CASE WHEN {{}} < {floor} THEN {floor} WHEN {{}} > {ceiling} THEN {ceiling} ELSE {{}} END)"
    return Sql(form.replace("{}", name), column.kind, most)


def _case(case: Case, columns: Columns) -> Sql:
    branches, most = [], 0.0
    for condition, value in case.branches:
        inner = as_kind(value, case.kind, columns)
        branches.append(f"WHEN {as_kind(condition, Kind.BOOLEAN, columns).text} THEN {inner.text}")
        most = max(most, inner.most)
    if case.otherwise is not None:
        inner = as_kind(case.otherwise, case.kind, columns)
        branches.append(f"ELSE {inner.text}")
        most = max(most, inner.most)
    return Sql(f"(CASE {' '.join(branches)} END)", case.kind, most)


def _member(member: InSet, columns: Columns) -> Sql:
    value = as_kind(member.value, member.value.kind, columns)
    by_kind: dict[Kind, list[Literal]] = {}
    for literal in member.members:
        by_kind.setdefault(compared_as(value.kind, literal.kind), []).append(literal)
    tests = [_member_of(value, kind, members) for kind, members in by_kind.items()]
    # In no set at all, or unknown.
    return Sql(f"({' OR '.join(tests) or f'({value.text} IS NULL AND NULL)'})", Kind.BOOLEAN)


def _member_of(value: Sql, kind: Kind, members: list[Literal]) -> str:
    cast = widened(value, kind).text
    match kind:
        case Kind.INTEGER:
            constants = [wide(int(literal.value)) for literal in members]  # type: ignore[arg-type]
        case Kind.REAL:
            # In long lists Spark looks for the bits of a number, and those of zero are not those of −0.
            cast = f"({cast} + {real(0.0)})"
            constants = [constant(literal.value, kind) for literal in members]
        case _:
            constants = [constant(literal.value, kind) for literal in members]
    return f"({cast} IN ({', '.join(constants)}))"


def compared_as(first: Kind, second: Kind) -> Kind:
    """Return the kind that two values are compared as."""
    for wider in (Kind.REAL, Kind.TIMESTAMP):
        if wider in (first, second):
            return wider
    return first


#: A pattern as one of Spark's functions of a text and a literal.
MATCHING = {
    Shape.EQUAL: "({} = {})",
    Shape.PREFIX: "startswith({}, {})",
    Shape.SUFFIX: "endswith({}, {})",
    Shape.INSIDE: "contains({}, {})",
    Shape.OTHER: "rlike({}, {})",
}


def _like(like: Like, columns: Columns) -> Sql:
    """Return whether a text fits a pattern. Where capitals do not matter, both are made small by the engine."""
    value, pattern = as_kind(like.value, Kind.TEXT, columns).text, Pattern.of(like.pattern)
    other = pattern.shape is Shape.OTHER
    parts = java_parts(pattern) if other else [(True, pattern.literal)]
    if like.folded:
        return Sql(MATCHING[pattern.shape].format(f"lower({value})", _lowered(parts, quoted=other)), Kind.BOOLEAN)
    wanted = regular_expression(parts) if other else pattern.literal
    return Sql(MATCHING[pattern.shape].format(value, text(wanted)), Kind.BOOLEAN)


def _lowered(parts: list[Part], *, quoted: bool) -> str:
    """Return a constant in small letters: of an expression, its literals are quoted, which no small letter ends."""
    begin, end = (text("\\Q"), text("\\E")) if quoted else (text(""), text(""))
    made = [f"concat({begin}, lower({text(part)}), {end})" if literal else text(part) for literal, part in parts]
    return f"concat({', '.join(made)})"

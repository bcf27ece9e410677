"""The typed tree of one row becomes PostgreSQL's SQL, exactly as `discreet.algebra.functions` says.

No row can raise: what could is guarded by CASE. A piece that is written several times is bound to a name once it is
long, or nesting would double it at each level.
"""

import math
from collections.abc import Mapping

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, is_null
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.duckdb.expressions import LEAST_INTEGER, MOST_INTEGER, ends
from discreet.data.postgres.literals import TYPES, bare_text, constant, null, wide
from discreet.data.postgres.numbers import TINIEST, Piece, bound

#: The SQL of columns, by their names.
Columns = Mapping[str, str]


def compiled(expression: Expression, columns: Columns) -> Piece:
    """Return the SQL of an expression."""
    match expression:
        case Literal():
            return _literal(expression)
        case ColumnValue():
            return _column(expression, columns)
        case Call():
            from discreet.data.postgres.functions import compiled_call  # noqa: PLC0415 - the two are one recursion

            return compiled_call(expression, columns)
        case Case():
            return _case(expression, columns)
        case InSet():
            return _member(expression, columns)
        case Like():
            return _like(expression, columns)


def as_kind(expression: Expression, kind: Kind, columns: Columns) -> Piece:
    """Return the SQL of an expression as one of a wider kind: an integer as a real, a day as its midnight."""
    if is_null(expression):
        return Piece(f"({null(kind)})", kind, 0.0, math.inf)
    return widened(compiled(expression, columns), kind)


def widened(piece: Piece, kind: Kind) -> Piece:
    """Return a piece as one of a wider kind."""
    if piece.kind is kind:
        return piece
    return Piece(f"CAST({piece.text} AS {TYPES[kind]})", kind, piece.most, piece.least)


def _literal(literal: Literal) -> Piece:
    value, most, least = literal.value, math.inf, TINIEST
    if isinstance(value, int | float) and literal.kind.numeric:
        clipped = min(max(value, LEAST_INTEGER), MOST_INTEGER) if literal.kind is Kind.INTEGER else value
        most = abs(float(clipped))
        most, least = (most, most or math.inf) if math.isfinite(most) else (0.0, math.inf)
    return Piece(constant(value, literal.kind), literal.kind, most, least)


def _column(column: ColumnValue, columns: Columns) -> Piece:
    name = columns.get(column.name)
    if name is None:
        raise InvalidInput(f"There is no column {column.name!r}.", fix="use a column of the table's schema")
    least = 1.0 if column.kind is Kind.INTEGER else TINIEST
    if column.bounds is None:
        return Piece(name, column.kind, 2.0**63 if column.kind is Kind.INTEGER else math.inf, least)
    low, high = ends(column.kind, column.bounds)
    most = float(max(abs(low), abs(high))) if column.kind.numeric else math.inf  # type: ignore[arg-type]
    return Piece(clamped(name, constant(low, column.kind), constant(high, column.kind)), column.kind, most, least)


def clamped(text: str, low: str, high: str) -> str:
    """Return a value between two constants; NULL stays what it is."""
    return bound(f"(CASE WHEN {{x}} < {low} THEN {low} WHEN {{x}} > {high} THEN {high} ELSE {{x}} END)", x=text)


def _case(case: Case, columns: Columns) -> Piece:
    branches, values = [], []
    for condition, value in case.branches:
        values.append(as_kind(value, case.kind, columns))
        branches.append(f"WHEN {as_kind(condition, Kind.BOOLEAN, columns).text} THEN {values[-1].text}")
    if case.otherwise is not None:
        values.append(as_kind(case.otherwise, case.kind, columns))
        branches.append(f"ELSE {values[-1].text}")
    return spread(f"(CASE {' '.join(branches)} END)", case.kind, values)


def spread(text: str, kind: Kind, values: list[Piece]) -> Piece:
    """Return a piece that is one of several values."""
    return Piece(text, kind, max(value.most for value in values), min(value.least for value in values))


def _member(member: InSet, columns: Columns) -> Piece:
    value = as_kind(member.value, member.value.kind, columns)
    by_kind: dict[Kind, list[Literal]] = {}
    for literal in member.members:
        by_kind.setdefault(compared_as(value.kind, literal.kind), []).append(literal)
    tests = []
    for kind, members in by_kind.items():
        listed = ", ".join(compared_constant(literal, kind) for literal in members)
        tests.append(f"{widened(value, kind).text} IN ({listed})")
    # In no set at all, or unknown.
    return Piece(f"({' OR '.join(tests) or f'{value.text} IS NULL AND NULL'})", Kind.BOOLEAN)


def compared_constant(literal: Literal, kind: Kind) -> str:
    """Return a constant for comparisons, where an integer may be beyond what columns hold."""
    if kind is Kind.INTEGER and isinstance(literal.value, int):
        return wide(literal.value)
    return constant(literal.value, kind)


def compared_as(first: Kind, second: Kind) -> Kind:
    """Return the kind that two values are compared as."""
    for wider in (Kind.REAL, Kind.TIMESTAMP):
        if wider in (first, second):
            return wider
    return first


def _like(like: Like, columns: Columns) -> Piece:
    value = as_kind(like.value, Kind.TEXT, columns).text
    if like.folded:  # what a capital is, is the database's
        return Piece(f"(({value}) COLLATE \"default\" ILIKE {bare_text(like.pattern)} ESCAPE '')", Kind.BOOLEAN)
    return Piece(f"({value} LIKE {bare_text(like.pattern)} ESCAPE '')", Kind.BOOLEAN)

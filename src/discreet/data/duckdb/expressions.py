"""The typed tree of one row becomes DuckDB's SQL, exactly as `discreet.algebra.functions` says.

Every constant is a parameter, and columns are called c0, c1, …, so that no text of a question is ever part of a
statement. No row can raise: what could is guarded, and tried on top of it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, is_null
from discreet.algebra.like_patterns import Pattern, Shape, re2_parts, regular_expression
from discreet.core import Bounds, InvalidInput
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind, Value, day_number, day_of

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1
#: Constants beyond this are compared as if they were it: no column holds more.
WIDE = 10**37
#: A text up to this length may be written twice. Longer ones are bound by a lambda, or nesting would double them.
SHORT = 60


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL, its kind, and a magnitude that no number among its values exceeds."""

    text: str
    kind: Kind
    most: float = math.inf


@dataclass(frozen=True, slots=True)
class Scope:
    """What a statement may name: the engine's names of columns, and the parameters collected so far."""

    columns: Mapping[str, str]
    parameters: dict[str, object] = field(default_factory=dict)
    #: What was compiled before, so that the same expression is the same text with the same parameters.
    known: dict[Expression, "Sql"] = field(default_factory=dict)

    def constant(self, value: object) -> str:
        """Return the name of a new parameter."""
        name = f"k{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"


def compiled(expression: Expression, scope: Scope) -> Sql:
    """Return the SQL of an expression."""
    found = scope.known.get(expression)
    if found is None:
        found = scope.known[expression] = _compiled(expression, scope)
    return found


def _compiled(expression: Expression, scope: Scope) -> Sql:
    match expression:
        case Literal():
            return _literal(expression, scope)
        case ColumnValue():
            return _column(expression, scope)
        case Call():
            from discreet.data.duckdb.functions import compiled_call  # noqa: PLC0415 - the two are one recursion

            return compiled_call(expression, scope)
        case Case():
            return _case(expression, scope)
        case InSet():
            return _member(expression, scope)
        case Like():
            return _like(expression, scope)


def as_kind(expression: Expression, kind: Kind, scope: Scope) -> Sql:
    """Return the SQL of an expression as one of a wider kind: an integer as a real, a day as its midnight."""
    if is_null(expression):
        return Sql(f"CAST(NULL AS {TYPES[kind]})", kind, 0)
    inner = compiled(expression, scope)
    if inner.kind is kind:
        return inner
    return Sql(f"CAST({inner.text} AS {TYPES[kind]})", kind, inner.most)


def bound_once(text: str, form: str) -> str:
    """Return a form in which {} stands for a text: written again if it is short, and otherwise bound to a name."""
    if len(text) <= SHORT:
        return form.replace("{}", text)
    name = f"v{(text + form).count('lambda')}"  # no lambda inside has as many inside
    return f"list_transform([{text}], lambda {name}: {form.replace('{}', name)})[1]"


def _literal(literal: Literal, scope: Scope) -> Sql:
    value: object = literal.value
    most = math.inf
    if isinstance(value, int) and literal.kind is Kind.INTEGER:
        value = min(max(value, LEAST_INTEGER), MOST_INTEGER)
        most = float(abs(value))
    elif isinstance(value, int | float) and literal.kind is Kind.REAL:
        value = float(value)
        value, most = (value, abs(value)) if math.isfinite(value) else (None, 0.0)
    return Sql(f"CAST({scope.constant(value)} AS {TYPES[literal.kind]})", literal.kind, most)


def wide_literal(literal: Literal, scope: Scope) -> Sql:
    """Return an integer constant for comparisons, where it may be beyond what columns hold."""
    value = literal.value
    if not isinstance(value, int) or LEAST_INTEGER <= value <= MOST_INTEGER:
        return _literal(literal, scope)
    return Sql(f"CAST({scope.constant(str(min(max(value, -WIDE), WIDE)))} AS HUGEINT)", Kind.INTEGER)


def raw_column(column: ColumnValue, scope: Scope) -> str:
    """Return the engine's name of a column, whose values may lie outside of its bounds."""
    name = scope.columns.get(column.name)
    if name is None:
        raise InvalidInput(f"There is no column {column.name!r}.", fix="use a column of the table's schema")
    return name


def _column(column: ColumnValue, scope: Scope) -> Sql:
    name = raw_column(column, scope)
    if column.bounds is None:
        unbounded = {Kind.INTEGER: 2.0**63, Kind.REAL: math.inf}
        return Sql(name, column.kind, unbounded.get(column.kind, math.inf))
    low, high = ends(column.kind, column.bounds)
    kind = TYPES[column.kind]
    floor, ceiling = (f"CAST({scope.constant(end)} AS {kind})" for end in (low, high))
    most = float(max(abs(low), abs(high))) if column.kind.numeric else math.inf  # type: ignore[arg-type]
    text = f"(CASE WHEN {name} < {floor} THEN {floor} WHEN {name} > {ceiling} THEN {ceiling} ELSE {name} END)"
    return Sql(text, column.kind, most)


def ends(kind: Kind, bounds: Bounds) -> tuple[Value, Value]:
    """Return the smallest and the largest value that a column of bounds is seen to have."""
    match kind:
        case Kind.REAL:
            return nearest_float(bounds.low), nearest_float(bounds.high)
        case Kind.DATE:
            return day_of(int(bounds.low)), day_of(int(bounds.high))
        case Kind.TIMESTAMP:
            return _moment(bounds.low * 86_400_000_000), _moment(bounds.high * 86_400_000_000)
        case _:
            return (
                min(max(int(bounds.low), LEAST_INTEGER), MOST_INTEGER),
                min(max(int(bounds.high), LEAST_INTEGER), MOST_INTEGER),
            )


def _moment(microseconds: object) -> datetime:
    whole = int(microseconds)  # type: ignore[call-overload]
    days, rest = divmod(whole, 86_400_000_000)
    day = day_of(days)
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - timestamps are UTC, without saying so
    return start if day_number(day) != days else start + timedelta(microseconds=rest)


def _case(case: Case, scope: Scope) -> Sql:
    branches, most = [], 0.0
    for condition, value in case.branches:
        inner = as_kind(value, case.kind, scope)
        branches.append(f"WHEN {as_kind(condition, Kind.BOOLEAN, scope).text} THEN {inner.text}")
        most = max(most, inner.most)
    if case.otherwise is not None:
        inner = as_kind(case.otherwise, case.kind, scope)
        branches.append(f"ELSE {inner.text}")
        most = max(most, inner.most)
    return Sql(f"(CASE {' '.join(branches)} END)", case.kind, most)


#: A pattern as one of DuckDB's functions of a text and a literal.
MATCHING = {
    Shape.EQUAL: "({} = {})",
    Shape.PREFIX: "starts_with({}, {})",
    Shape.SUFFIX: "suffix({}, {})",
    Shape.INSIDE: "contains({}, {})",
    Shape.OTHER: "regexp_full_match({}, {}, 's')",
}


def _like(like: Like, scope: Scope) -> Sql:
    """Return whether a text fits a pattern. Where capitals do not matter, both are made small by the engine.

    It does so letter by letter, and a regular expression has no other capitals than those of its literals.
    """
    text, pattern = as_kind(like.value, Kind.TEXT, scope).text, Pattern.of(like.pattern)
    found = regular_expression(re2_parts(pattern)) if pattern.shape is Shape.OTHER else pattern.literal
    wanted = f"CAST({scope.constant(found)} AS VARCHAR)"
    if like.folded:
        text, wanted = f"lower({text})", f"lower({wanted})"
    return Sql(MATCHING[pattern.shape].format(text, wanted), Kind.BOOLEAN)


def _member(member: InSet, scope: Scope) -> Sql:
    value = as_kind(member.value, member.value.kind, scope)
    by_kind: dict[Kind, list[Literal]] = {}
    for literal in member.members:
        by_kind.setdefault(_compared_as(value.kind, literal.kind), []).append(literal)
    tests = [_member_of(value, kind, members, scope) for kind, members in by_kind.items()]
    if not tests:
        tests = [f"({value.text} IS NULL AND NULL)"]  # in no set at all, or unknown
    return Sql(f"({' OR '.join(tests)})", Kind.BOOLEAN)


def _member_of(value: Sql, kind: Kind, members: list[Literal], scope: Scope) -> str:
    cast = value.text if kind is value.kind else f"CAST({value.text} AS {TYPES[kind]})"
    if kind is Kind.INTEGER:
        constants = [wide_literal(literal, scope).text for literal in members]
    else:
        constants = [as_kind(literal, kind, scope).text for literal in members]
    return f"({cast} IN ({', '.join(constants)}))"


def _compared_as(first: Kind, second: Kind) -> Kind:
    """Return the kind that two values are compared as."""
    for wider in (Kind.REAL, Kind.TIMESTAMP):
        if wider in (first, second):
            return wider
    return first

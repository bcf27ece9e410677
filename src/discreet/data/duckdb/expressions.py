"""Writes expressions and functions of one row as DuckDB's SQL, exactly as `discreet.algebra.functions` says.

Every constant is a parameter, and columns are called c0, c1, …, so that no text of a question is ever part of a
statement. No row can raise: what could is guarded, and tried on top of it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.algebra.expressions import (
    BINARY,
    CLOCK_UNITS,
    MOST_DAYS,
    PARTS,
    SAME,
    SATURATED,
    TEXTS,
    TRUNCATED,
    Call,
    Case,
    ColumnValue,
    Expression,
    InSet,
    Like,
    Literal,
    comparison_kind,
    constant_of,
    ends_of_substring,
    is_null,
    kind_of_arguments,
    later,
    length_of_right,
    seconds_later,
    split_of,
    texts_of,
)
from discreet.algebra.functions import COMPARISONS, LONGEST_TEXT, Function
from discreet.algebra.like_patterns import Pattern, Shape, re2_parts, regular_expression
from discreet.algebra.work_bounds import can_grow
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.sql.dialect import LEAST_INTEGER, MOST_INTEGER, WIDE, Sql, ends

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
#: A text up to this length may be written twice. Longer ones are bound by a lambda, or nesting would double them.
SHORT = 60


@dataclass(frozen=True, slots=True)
class Scope:
    """The names in a statement: the engine's names of columns, and the parameters collected so far."""

    columns: Mapping[str, str]
    parameters: dict[str, object] = field(default_factory=dict)
    #: Compiled expressions, so that the same expression is the same text with the same parameters.
    known: dict[Expression, Sql] = field(default_factory=dict)

    def constant(self, value: object) -> str:
        """Return the name of a new parameter."""
        name = f"k{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"


def write_sql(expression: Expression, columns: Mapping[str, str]) -> str:
    """Return the text of an expression over columns: its length is bounded before payment."""
    return compile_sql(expression, Scope(columns)).text


def compile_sql(expression: Expression, scope: Scope) -> Sql:
    """Return the SQL of an expression."""
    sql = scope.known.get(expression)
    if sql is None:
        sql = scope.known[expression] = _compile_sql(expression, scope)
    return sql


def _compile_sql(expression: Expression, scope: Scope) -> Sql:
    match expression:
        case Literal():
            return _literal(expression, scope)
        case ColumnValue():
            return _column(expression, scope)
        case Call():
            return compile_call(expression, scope)
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
    inner = compile_sql(expression, scope)
    if inner.kind is kind:
        return inner
    return Sql(f"CAST({inner.text} AS {TYPES[kind]})", kind, inner.most)


def bind_once(text: str, form: str) -> str:
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
    """Return whether a text fits a pattern. If capitals do not matter, the engine makes both small.

    It does so letter by letter, and a regular expression has no other capitals than those of its literals.
    """
    text, pattern = as_kind(like.value, Kind.TEXT, scope).text, Pattern.of(like.pattern)
    pattern_text = regular_expression(re2_parts(pattern)) if pattern.shape is Shape.OTHER else pattern.literal
    wanted = f"CAST({scope.constant(pattern_text)} AS VARCHAR)"
    if like.folded:
        text, wanted = f"lower({text})", f"lower({wanted})"
    return Sql(MATCHING[pattern.shape].format(text, wanted), Kind.BOOLEAN)


def _member(member: InSet, scope: Scope) -> Sql:
    value = as_kind(member.value, member.value.kind, scope)
    by_kind: dict[Kind, list[Literal]] = {}
    for literal in member.members:
        by_kind.setdefault(comparison_kind(value.kind, literal.kind), []).append(literal)
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


F = Function
#: A result that stays below this is finite, whatever was rounded on the way.
SURELY_FINITE = 1e308

REAL_TEXT = r" *[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})? *"
INTEGER_TEXT = r" *[+-]?[0-9]{1,15} *"
DATE_TEXT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"

ROUNDING = {F.FLOOR: "floor", F.CEIL: "ceil", F.ROUND: "round"}


def compile_call(call: Call, scope: Scope) -> Sql:
    """Return the SQL of a function of other expressions."""
    for family in (_arithmetic, _logic, _alike, _days, _texts):
        sql = family(call, scope)
        if sql is not None:
            return sql
    return _cast(call, scope)


def _arithmetic(call: Call, scope: Scope) -> Sql | None:
    """Return arithmetic: in float64, and then guarded, but where nothing can be out of range."""
    function = call.function
    if function in BINARY or function in (F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO, F.POWER):
        return _of_two(call, scope)
    if function not in (*ROUNDING, F.NEGATE, F.ABS, F.SQRT, F.LN, F.LOG10, F.EXP):
        return None
    x = as_kind(call.arguments[0], Kind.REAL, scope)
    match function:
        case F.NEGATE:
            return _guard_number(f"(-{x.text})", call.kind, x.most)
        case F.ABS:
            return _guard_number(f"abs({x.text})", call.kind, x.most)
        case F.SQRT:
            return Sql(bind_once(x.text, "(CASE WHEN {} >= 0 THEN TRY(sqrt({})) END)"), Kind.REAL, max(x.most, 1))
        case F.LN | F.LOG10:
            name = function.value.lower()
            return Sql(bind_once(x.text, f"(CASE WHEN {{}} > 0 THEN TRY({name}({{}})) END)"), Kind.REAL, 1000)
        case F.EXP:
            return _guard_number(f"TRY(exp({x.text}))", Kind.REAL, math.inf)
        case _:
            return _guard_number(f"{ROUNDING[function]}({x.text})", call.kind, x.most + 1)


def _of_two(call: Call, scope: Scope) -> Sql:
    a, b = (as_kind(argument, Kind.REAL, scope) for argument in call.arguments)
    match call.function:
        case F.ADD | F.SUBTRACT:
            return _guard_number(f"({a.text} {BINARY[call.function]} {b.text})", call.kind, a.most + b.most)
        case F.MULTIPLY:
            most = a.most * b.most
            return _guard_number(f"({a.text} * {b.text})", call.kind, math.inf if math.isnan(most) else most)
        case F.POWER:
            return _guard_number(f"TRY(pow({a.text}, {b.text}))", call.kind, math.inf)
    divisor = bind_once(b.text, "(CASE WHEN {} <> 0 THEN {} END)")
    match call.function:
        case F.MODULO:
            return _guard_number(f"({a.text} % {divisor})", call.kind, a.most)
        case F.FLOOR_DIVIDE:
            return _guard_number(f"floor({a.text} / {divisor})", call.kind, math.inf)
        case _:
            return _guard_number(f"({a.text} / {divisor})", call.kind, math.inf)


def _guard_number(text: str, kind: Kind, most: float) -> Sql:
    """Return a number in float64 as what its kind may be: a clipped integer, or a finite real."""
    if kind is Kind.REAL:
        if most < SURELY_FINITE:
            return Sql(text, kind, most)
        return Sql(bind_once(text, "(CASE WHEN isfinite({}) THEN {} END)"), kind, math.inf)
    if most > SATURATED:
        end = f"{SATURATED}::DOUBLE"
        ends = f"WHEN {{}} > {end} THEN {end} WHEN {{}} < -{end} THEN -{end} ELSE {{}}"
        text = bind_once(text, f"(CASE WHEN isnan({{}}) THEN NULL {ends} END)")
    return Sql(f"TRY_CAST({text} AS BIGINT)", kind, min(most, float(SATURATED)))


def _logic(call: Call, scope: Scope) -> Sql | None:
    match call.function:
        case F.AND | F.OR:
            parts = [as_kind(argument, Kind.BOOLEAN, scope).text for argument in call.arguments]
            return Sql(f"({f' {call.function.value} '.join(parts)})", Kind.BOOLEAN)
        case F.NOT:
            return Sql(f"(NOT {as_kind(call.arguments[0], Kind.BOOLEAN, scope).text})", Kind.BOOLEAN)
        case F.IS_NULL:
            return Sql(f"({compile_sql(call.arguments[0], scope).text} IS NULL)", Kind.BOOLEAN)
        case function if function in COMPARISONS:
            first, second = (_compile_operand(argument, kind_of_arguments(call), scope) for argument in call.arguments)
            return Sql(f"({first} {function.value} {second})", Kind.BOOLEAN)
        case _:
            return None


def _compile_operand(argument: Expression, kind: Kind, scope: Scope) -> str:
    if isinstance(argument, Literal) and kind is Kind.INTEGER and not is_null(argument):
        return wide_literal(argument, scope).text
    return as_kind(argument, kind, scope).text


def _alike(call: Call, scope: Scope) -> Sql | None:
    if call.function is F.CLAMP:
        return _clamp(call, scope)
    if call.function not in SAME and call.function is not F.NULLIF:
        return None
    values = [as_kind(argument, call.kind, scope) for argument in call.arguments]
    most = max(value.most for value in values)
    if call.function in SAME:
        return Sql(f"{SAME[call.function]}({', '.join(value.text for value in values)})", call.kind, most)
    first, second = values
    form = f"(CASE WHEN {{}} = {second.text} THEN NULL ELSE {{}} END)"
    return Sql(bind_once(first.text, form), call.kind, most)


def _clamp(call: Call, scope: Scope) -> Sql:
    if any(is_null(argument) for argument in call.arguments):
        return Sql(f"CAST(NULL AS {TYPES[call.kind]})", call.kind, 0)
    low, high = (as_kind(constant_of(argument), call.kind, scope) for argument in call.arguments[1:])
    value = as_kind(call.arguments[0], call.kind, scope)
    form = f"(CASE WHEN {{}} < {low.text} THEN {low.text} WHEN {{}} > {high.text} THEN {high.text} ELSE {{}} END)"
    return Sql(bind_once(value.text, form), call.kind, max(low.most, high.most))


def _days(call: Call, scope: Scope) -> Sql | None:
    function = call.function
    if function in PARTS:
        name = {F.DOW: "dayofweek", F.DOY: "dayofyear"}.get(function, PARTS[function])
        return Sql(f"{name}({compile_sql(call.arguments[0], scope).text})", Kind.INTEGER, 9999)
    if function in TRUNCATED:
        text = f"CAST(date_trunc('{TRUNCATED[function]}', {compile_sql(call.arguments[0], scope).text}) AS DATE)"
        return Sql(text, Kind.DATE)
    if function in CLOCK_UNITS:
        moment = as_kind(call.arguments[0], Kind.TIMESTAMP, scope).text
        return Sql(f"date_trunc('{CLOCK_UNITS[function][0]}', {moment})", Kind.TIMESTAMP)
    return _days_apart(call, scope)


def _days_apart(call: Call, scope: Scope) -> Sql | None:
    """Return a day that is made of another, or how far two are apart."""
    match call.function:
        case F.TRUNC_DAY:
            return Sql(_day(call.arguments[0], scope), Kind.DATE)
        case F.LAST_DAY:
            return Sql(f"last_day({_day(call.arguments[0], scope)})", Kind.DATE)
        case F.DAYS_BETWEEN:
            first, last = (_day(argument, scope) for argument in call.arguments)
            return Sql(f"({last} - {first})", Kind.INTEGER, MOST_DAYS)
        case F.ADD_DAYS | F.ADD_MONTHS:
            return _later(call, scope)
        case F.ADD_SECONDS:
            return _seconds_later(call, scope)
        case _:
            return None


def _seconds_later(call: Call, scope: Scope) -> Sql:
    """Return a moment so many seconds later, if it is one."""
    added = seconds_later(call)
    if added is None:
        return Sql("CAST(NULL AS TIMESTAMP)", Kind.TIMESTAMP)
    inside = f"{{}} BETWEEN TIMESTAMP '{added.first}' AND TIMESTAMP '{added.last}'"
    form = f"(CASE WHEN {inside} THEN {{}} + to_seconds({added.amount}) END)"
    return Sql(bind_once(as_kind(call.arguments[0], Kind.TIMESTAMP, scope).text, form), Kind.TIMESTAMP)


def _later(call: Call, scope: Scope) -> Sql:
    """Return a day so many days or months later, if it is one."""
    added = later(call)
    if added is None:
        return Sql(f"CAST(NULL AS {TYPES[call.kind]})", call.kind)
    moved = f"CAST({{}} + to_{'months' if added.months else 'days'}({added.amount}) AS {TYPES[call.kind]})"
    inside = f"CAST({{}} AS DATE) BETWEEN DATE '{added.first}' AND DATE '{added.last}'"
    return Sql(
        bind_once(compile_sql(call.arguments[0], scope).text, f"(CASE WHEN {inside} THEN {moved} END)"), call.kind
    )


def _day(expression: Expression, scope: Scope) -> str:
    if is_null(expression):
        return "CAST(NULL AS DATE)"
    inner = compile_sql(expression, scope)
    return inner.text if inner.kind is Kind.DATE else f"CAST({inner.text} AS DATE)"


def _texts(call: Call, scope: Scope) -> Sql | None:
    function = call.function
    if function in TEXTS:  # letter by letter: DuckDB's make no text longer
        return Sql(f"{TEXTS[function]}({as_kind(call.arguments[0], Kind.TEXT, scope).text})", Kind.TEXT)
    match function:
        case F.TRIM | F.LTRIM | F.RTRIM:
            name = function.value.lower()
            return Sql(f"{name}({as_kind(call.arguments[0], Kind.TEXT, scope).text}, ' ')", Kind.TEXT)
        case F.LENGTH:
            return Sql(f"length({as_kind(call.arguments[0], Kind.TEXT, scope).text})", Kind.INTEGER, 2.0**32)
        case F.CONCAT:
            joined = _join_texts([as_kind(argument, Kind.TEXT, scope).text for argument in call.arguments])
            return Sql(f"left({joined}, {LONGEST_TEXT})" if can_grow(call) else joined, Kind.TEXT)
        case F.SUBSTRING | F.RIGHT:
            return _substring(call, scope)
        case F.POSITION | F.REPLACE | F.SPLIT_PART:
            return _search(call, scope)
        case _:
            return None


def _join_texts(texts: list[str]) -> str:
    """Return texts one after another, in pairs of pairs: DuckDB takes long to plan a long row of constants."""
    if len(texts) == 1:
        return texts[0]
    half = len(texts) // 2
    return f"({_join_texts(texts[:half])} || {_join_texts(texts[half:])})"


def _substring(call: Call, scope: Scope) -> Sql:
    whole = (length_of_right(call),) if call.function is F.RIGHT else ends_of_substring(call)
    if whole is None or None in whole:
        return Sql("CAST(NULL AS VARCHAR)", Kind.TEXT)
    text = as_kind(call.arguments[0], Kind.TEXT, scope).text
    ends = (f"CAST({scope.constant(end)} AS BIGINT)" for end in whole)
    return Sql(f"{call.function.value.lower()}({text}, {', '.join(ends)})", Kind.TEXT)


def _search(call: Call, scope: Scope) -> Sql:
    """Return the position of a constant in a text, the text with another in its place, or the text between."""
    if call.function is F.SPLIT_PART:
        part, number = split_of(call)
        inner = as_kind(call.arguments[0], Kind.TEXT, scope).text
        return Sql(f"split_part({inner}, CAST({scope.constant(part)} AS VARCHAR), {number})", Kind.TEXT)
    constants = ", ".join(f"CAST({scope.constant(text)} AS VARCHAR)" for text in texts_of(call))
    text = as_kind(call.arguments[0], Kind.TEXT, scope).text
    if call.function is F.POSITION:
        return Sql(f"strpos({text}, {constants})", Kind.INTEGER, 2.0**32)
    replaced = f"replace({text}, {constants})"
    return Sql(f"left({replaced}, {LONGEST_TEXT})" if can_grow(call) else replaced, Kind.TEXT)


def _cast(call: Call, scope: Scope) -> Sql:
    argument = call.arguments[0]
    if is_null(argument):
        return Sql(f"CAST(NULL AS {TYPES[call.kind]})", call.kind, 0)
    inner = compile_sql(argument, scope)
    match call.function, inner.kind:
        case F.TO_TEXT, _:
            return Sql(f"CAST({inner.text} AS VARCHAR)", Kind.TEXT)
        case F.TO_INTEGER, _:
            return _to_integer(inner)
        case F.TO_REAL, Kind.TEXT:
            return _guard_number(_read(inner.text, REAL_TEXT, "trim({}, ' ')", "DOUBLE"), Kind.REAL, math.inf)
        case F.TO_REAL, _:
            return as_kind(argument, Kind.REAL, scope)
        case F.TO_DATE, Kind.TEXT:
            text = _read(inner.text, DATE_TEXT, "{}", "DATE")
            return Sql(bind_once(text, "(CASE WHEN year({}) BETWEEN 1 AND 9999 THEN {} END)"), Kind.DATE)
        case _:
            return Sql(_day(argument, scope), Kind.DATE)


def _to_integer(inner: Sql) -> Sql:
    match inner.kind:
        case Kind.BOOLEAN:
            return Sql(f"CAST({inner.text} AS BIGINT)", Kind.INTEGER, 1)
        case Kind.TEXT:
            return Sql(_read(inner.text, INTEGER_TEXT, "trim({}, ' ')", "BIGINT"), Kind.INTEGER, 1e15)
        case _:
            real = inner.text if inner.kind is Kind.REAL else f"CAST({inner.text} AS DOUBLE)"
            return _guard_number(f"round({real})", Kind.INTEGER, inner.most + 1)


def _read(text: str, pattern: str, trimmed: str, kind: str) -> str:
    """Return a text as a number or a day, if it fits the pattern."""
    # The patterns are constants of this module, without quotes.
    return bind_once(text, f"(CASE WHEN regexp_full_match({{}}, '{pattern}') THEN TRY_CAST({trimmed} AS {kind}) END)")

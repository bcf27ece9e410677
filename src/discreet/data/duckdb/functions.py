"""Functions of one row as DuckDB's SQL. What each means is said in `discreet.algebra.functions`."""

import math

from discreet.algebra.call_arguments import (
    BINARY,
    MOST_DAYS,
    PARTS,
    SAME,
    SATURATED,
    TEXTS,
    TRUNCATED,
    constant_of,
    ends_of_substring,
    later,
    shared_kind,
)
from discreet.algebra.expression_costs import can_grow
from discreet.algebra.expressions import Call, Expression, Literal, is_null
from discreet.algebra.functions import COMPARISONS, LONGEST_TEXT, Function
from discreet.core.schema import Kind
from discreet.data.duckdb.expressions import TYPES, Scope, Sql, as_kind, bound_once, compiled, wide_literal

F = Function
#: A result that stays below this is finite, whatever was rounded on the way.
SURELY_FINITE = 1e308

REAL_TEXT = r" *[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})? *"
INTEGER_TEXT = r" *[+-]?[0-9]{1,15} *"
DATE_TEXT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"

ROUNDING = {F.FLOOR: "floor", F.CEIL: "ceil", F.ROUND: "round"}


def compiled_call(call: Call, scope: Scope) -> Sql:
    """Return the SQL of a function of other expressions."""
    for family in (_arithmetic, _logic, _alike, _days, _texts):
        found = family(call, scope)
        if found is not None:
            return found
    return _cast(call, scope)


def _arithmetic(call: Call, scope: Scope) -> Sql | None:
    """Return arithmetic: in float64, and then guarded, but where nothing can be out of range."""
    function = call.function
    if function in BINARY or function in (F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO, F.POWER):
        return _of_two(call, scope)
    if function not in (*ROUNDING, F.NEGATE, F.ABS, F.SQRT, F.LN, F.EXP):
        return None
    x = as_kind(call.arguments[0], Kind.REAL, scope)
    match function:
        case F.NEGATE:
            return _guarded(f"(-{x.text})", call.kind, x.most)
        case F.ABS:
            return _guarded(f"abs({x.text})", call.kind, x.most)
        case F.SQRT:
            return Sql(bound_once(x.text, "(CASE WHEN {} >= 0 THEN TRY(sqrt({})) END)"), Kind.REAL, max(x.most, 1))
        case F.LN:
            return Sql(bound_once(x.text, "(CASE WHEN {} > 0 THEN TRY(ln({})) END)"), Kind.REAL, 1000)
        case F.EXP:
            return _guarded(f"TRY(exp({x.text}))", Kind.REAL, math.inf)
        case _:
            return _guarded(f"{ROUNDING[function]}({x.text})", call.kind, x.most + 1)


def _of_two(call: Call, scope: Scope) -> Sql:
    a, b = (as_kind(argument, Kind.REAL, scope) for argument in call.arguments)
    match call.function:
        case F.ADD | F.SUBTRACT:
            return _guarded(f"({a.text} {BINARY[call.function]} {b.text})", call.kind, a.most + b.most)
        case F.MULTIPLY:
            most = a.most * b.most
            return _guarded(f"({a.text} * {b.text})", call.kind, math.inf if math.isnan(most) else most)
        case F.POWER:
            return _guarded(f"TRY(pow({a.text}, {b.text}))", call.kind, math.inf)
    divisor = bound_once(b.text, "(CASE WHEN {} <> 0 THEN {} END)")
    match call.function:
        case F.MODULO:
            return _guarded(f"({a.text} % {divisor})", call.kind, a.most)
        case F.FLOOR_DIVIDE:
            return _guarded(f"floor({a.text} / {divisor})", call.kind, math.inf)
        case _:
            return _guarded(f"({a.text} / {divisor})", call.kind, math.inf)


def _guarded(text: str, kind: Kind, most: float) -> Sql:
    """Return a number in float64 as what its kind may be: a clipped integer, or a finite real."""
    if kind is Kind.REAL:
        if most < SURELY_FINITE:
            return Sql(text, kind, most)
        return Sql(bound_once(text, "(CASE WHEN isfinite({}) THEN {} END)"), kind, math.inf)
    if most > SATURATED:
        end = f"{SATURATED}::DOUBLE"
        ends = f"WHEN {{}} > {end} THEN {end} WHEN {{}} < -{end} THEN -{end} ELSE {{}}"
        text = bound_once(text, f"(CASE WHEN isnan({{}}) THEN NULL {ends} END)")
    return Sql(f"TRY_CAST({text} AS BIGINT)", kind, min(most, float(SATURATED)))


def _logic(call: Call, scope: Scope) -> Sql | None:
    match call.function:
        case F.AND | F.OR:
            parts = [as_kind(argument, Kind.BOOLEAN, scope).text for argument in call.arguments]
            return Sql(f"({f' {call.function.value} '.join(parts)})", Kind.BOOLEAN)
        case F.NOT:
            return Sql(f"(NOT {as_kind(call.arguments[0], Kind.BOOLEAN, scope).text})", Kind.BOOLEAN)
        case F.IS_NULL:
            return Sql(f"({compiled(call.arguments[0], scope).text} IS NULL)", Kind.BOOLEAN)
        case function if function in COMPARISONS:
            first, second = (_compared(argument, shared_kind(call), scope) for argument in call.arguments)
            return Sql(f"({first} {function.value} {second})", Kind.BOOLEAN)
        case _:
            return None


def _compared(argument: Expression, kind: Kind, scope: Scope) -> str:
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
    return Sql(bound_once(first.text, form), call.kind, most)


def _clamp(call: Call, scope: Scope) -> Sql:
    if any(is_null(argument) for argument in call.arguments):
        return Sql(f"CAST(NULL AS {TYPES[call.kind]})", call.kind, 0)
    low, high = (as_kind(constant_of(argument), call.kind, scope) for argument in call.arguments[1:])
    value = as_kind(call.arguments[0], call.kind, scope)
    form = f"(CASE WHEN {{}} < {low.text} THEN {low.text} WHEN {{}} > {high.text} THEN {high.text} ELSE {{}} END)"
    return Sql(bound_once(value.text, form), call.kind, max(low.most, high.most))


def _days(call: Call, scope: Scope) -> Sql | None:
    function = call.function
    if function in PARTS:
        return Sql(f"{PARTS[function]}({compiled(call.arguments[0], scope).text})", Kind.INTEGER, 9999)
    if function in TRUNCATED:
        text = f"CAST(date_trunc('{TRUNCATED[function]}', {compiled(call.arguments[0], scope).text}) AS DATE)"
        return Sql(text, Kind.DATE)
    match function:
        case F.TRUNC_DAY:
            return Sql(_day(call.arguments[0], scope), Kind.DATE)
        case F.DAYS_BETWEEN:
            first, last = (_day(argument, scope) for argument in call.arguments)
            return Sql(f"({last} - {first})", Kind.INTEGER, MOST_DAYS)
        case F.ADD_DAYS | F.ADD_MONTHS:
            return _later(call, scope)
        case _:
            return None


def _later(call: Call, scope: Scope) -> Sql:
    """Return a day so many days or months later, if it is one."""
    added = later(call)
    if added is None:
        return Sql(f"CAST(NULL AS {TYPES[call.kind]})", call.kind)
    moved = f"CAST({{}} + to_{'months' if added.months else 'days'}({added.amount}) AS {TYPES[call.kind]})"
    inside = f"CAST({{}} AS DATE) BETWEEN DATE '{added.first}' AND DATE '{added.last}'"
    return Sql(bound_once(compiled(call.arguments[0], scope).text, f"(CASE WHEN {inside} THEN {moved} END)"), call.kind)


def _day(expression: Expression, scope: Scope) -> str:
    if is_null(expression):
        return "CAST(NULL AS DATE)"
    inner = compiled(expression, scope)
    return inner.text if inner.kind is Kind.DATE else f"CAST({inner.text} AS DATE)"


def _texts(call: Call, scope: Scope) -> Sql | None:
    function = call.function
    if function in TEXTS:  # letter by letter: DuckDB's make no text longer
        return Sql(f"{TEXTS[function]}({as_kind(call.arguments[0], Kind.TEXT, scope).text})", Kind.TEXT)
    match function:
        case F.TRIM:
            return Sql(f"trim({as_kind(call.arguments[0], Kind.TEXT, scope).text}, ' ')", Kind.TEXT)
        case F.LENGTH:
            return Sql(f"length({as_kind(call.arguments[0], Kind.TEXT, scope).text})", Kind.INTEGER, 2.0**32)
        case F.CONCAT:
            joined = _joined([as_kind(argument, Kind.TEXT, scope).text for argument in call.arguments])
            return Sql(f"left({joined}, {LONGEST_TEXT})" if can_grow(call) else joined, Kind.TEXT)
        case F.SUBSTRING:
            return _substring(call, scope)
        case _:
            return None


def _joined(texts: list[str]) -> str:
    """Return texts one after another, in pairs of pairs: DuckDB takes long to plan a long row of constants."""
    if len(texts) == 1:
        return texts[0]
    half = len(texts) // 2
    return f"({_joined(texts[:half])} || {_joined(texts[half:])})"


def _substring(call: Call, scope: Scope) -> Sql:
    found = ends_of_substring(call)
    if found is None:
        return Sql("CAST(NULL AS VARCHAR)", Kind.TEXT)
    text = as_kind(call.arguments[0], Kind.TEXT, scope).text
    ends = (f"CAST({scope.constant(end)} AS BIGINT)" for end in found)
    return Sql(f"substring({text}, {', '.join(ends)})", Kind.TEXT)


def _cast(call: Call, scope: Scope) -> Sql:
    argument = call.arguments[0]
    if is_null(argument):
        return Sql(f"CAST(NULL AS {TYPES[call.kind]})", call.kind, 0)
    inner = compiled(argument, scope)
    match call.function, inner.kind:
        case F.TO_TEXT, _:
            return Sql(f"CAST({inner.text} AS VARCHAR)", Kind.TEXT)
        case F.TO_INTEGER, _:
            return _to_integer(inner)
        case F.TO_REAL, Kind.TEXT:
            return _guarded(_read(inner.text, REAL_TEXT, "trim({}, ' ')", "DOUBLE"), Kind.REAL, math.inf)
        case F.TO_REAL, _:
            return as_kind(argument, Kind.REAL, scope)
        case F.TO_DATE, Kind.TEXT:
            text = _read(inner.text, DATE_TEXT, "{}", "DATE")
            return Sql(bound_once(text, "(CASE WHEN year({}) BETWEEN 1 AND 9999 THEN {} END)"), Kind.DATE)
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
            return _guarded(f"round({real})", Kind.INTEGER, inner.most + 1)


def _read(text: str, pattern: str, trimmed: str, kind: str) -> str:
    """Return a text as a number or a day, if it fits the pattern."""
    # The patterns are constants of this module, without quotes.
    return bound_once(text, f"(CASE WHEN regexp_full_match({{}}, '{pattern}') THEN TRY_CAST({trimmed} AS {kind}) END)")

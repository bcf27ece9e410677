"""Functions of one row as Spark's SQL. What each means is said in `discreet.algebra.functions`."""

import math

from discreet.algebra.call_arguments import (
    BINARY,
    MOST_DAYS,
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
from discreet.data.duckdb.expressions import Sql
from discreet.data.spark.expressions import Columns, as_kind, bound_once, clipped, compiled, finite
from discreet.data.spark.literals import DAY, day, null, real, text, whole, wide

F = Function
#: A result that stays below this is finite, whatever was rounded on the way.
SURELY_FINITE = 1e308
#: Days from the first one of year 1 to 1970, and those that there are.
YEAR_1 = 719_162
DAYS = "DATE'0001-01-01' AND DATE'9999-12-31'"

REAL_TEXT = r"\A *([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?) *\z"
INTEGER_TEXT = r"\A *([+-]?[0-9]{1,15}) *\z"
DATE_TEXT = r"\A((?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2})\z"

ROUNDING = {F.FLOOR: "floor", F.CEIL: "ceil", F.ROUND: "round"}
PARTS = {
    F.YEAR: "year({})",
    F.QUARTER: "quarter({})",
    F.MONTH: "month({})",
    F.WEEK: "weekofyear({})",
    F.DAY: "day({})",
    F.WEEKDAY: "(weekday({}) + 1)",  # Spark's Monday is 0
}


def compiled_call(call: Call, columns: Columns) -> Sql:
    """Return the SQL of a function of other expressions."""
    for family in (_arithmetic, _logic, _alike, _days, _texts):
        found = family(call, columns)
        if found is not None:
            return found
    return _cast(call, columns)


def _arithmetic(call: Call, columns: Columns) -> Sql | None:
    """Return arithmetic: in float64, and then guarded, but where nothing can be out of range."""
    function = call.function
    if function in BINARY or function in (F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO, F.POWER):
        return _of_two(call, columns)
    if function not in (*ROUNDING, F.NEGATE, F.ABS, F.SQRT, F.LN, F.EXP):
        return None
    x = as_kind(call.arguments[0], Kind.REAL, columns)
    match function:
        case F.NEGATE:
            return _guarded(f"(-{x.text})", call.kind, x.most)
        case F.ABS:
            return _guarded(f"abs({x.text})", call.kind, x.most)
        case F.SQRT:
            return Sql(f"nanvl(sqrt({x.text}), {null(Kind.REAL)})", Kind.REAL, max(x.most, 1))
        case F.LN:
            return Sql(f"ln({x.text})", Kind.REAL, 1000)  # NULL for what has none
        case F.EXP:
            return _guarded(f"exp({x.text})", Kind.REAL, math.inf)
        case _:
            return _rounded(ROUNDING[function], x)


def _of_two(call: Call, columns: Columns) -> Sql:
    a, b = (as_kind(argument, Kind.REAL, columns) for argument in call.arguments)
    match call.function:
        case F.ADD | F.SUBTRACT:
            return _guarded(f"({a.text} {BINARY[call.function]} {b.text})", call.kind, a.most + b.most)
        case F.MULTIPLY:
            most = a.most * b.most
            return _guarded(f"({a.text} * {b.text})", call.kind, math.inf if math.isnan(most) else most)
        case F.POWER:
            return _guarded(f"pow({a.text}, {b.text})", call.kind, math.inf)
    divisor = f"nullif({b.text}, {real(0.0)})"
    match call.function:
        case F.MODULO:
            return _guarded(f"({a.text} % {divisor})", call.kind, a.most)
        case F.FLOOR_DIVIDE:
            return _rounded("floor", Sql(f"({a.text} / {divisor})", Kind.REAL))
        case _:
            return _guarded(f"({a.text} / {divisor})", call.kind, math.inf)


def _guarded(number: str, kind: Kind, most: float) -> Sql:
    """Return a number in float64 as what its kind may be: a clipped integer, or a finite real."""
    if kind is Kind.INTEGER:
        return Sql(f"CAST({_saturated(number, most)} AS BIGINT)", kind, min(most, float(SATURATED)))
    return Sql(number if most < SURELY_FINITE else finite(number), kind, most if most < SURELY_FINITE else math.inf)


def _saturated(number: str, most: float) -> str:
    end = real(float(SATURATED))
    return number if most <= SATURATED else clipped(number, f"-{end}", end)


def _rounded(function: str, x: Sql) -> Sql:
    """Return a number in float64 as a whole one. Clipped first: in ANSI mode, Spark raises where the result is large.

    Its `round` takes halves away from zero, and the float64 for the shortest decimal that means it, which has its half
    where the float64 has.
    """
    return Sql(f"CAST({function}({_saturated(x.text, x.most)}) AS BIGINT)", Kind.INTEGER, min(x.most + 1, SATURATED))


def _logic(call: Call, columns: Columns) -> Sql | None:
    match call.function:
        case F.AND | F.OR:
            parts = [as_kind(argument, Kind.BOOLEAN, columns).text for argument in call.arguments]
            return Sql(f"({f' {call.function.value} '.join(parts)})", Kind.BOOLEAN)
        case F.NOT:
            return Sql(f"(NOT {as_kind(call.arguments[0], Kind.BOOLEAN, columns).text})", Kind.BOOLEAN)
        case F.IS_NULL:
            return Sql(f"({compiled(call.arguments[0], columns).text} IS NULL)", Kind.BOOLEAN)
        case function if function in COMPARISONS:
            first, second = (_compared(argument, shared_kind(call), columns) for argument in call.arguments)
            return Sql(f"({first} {function.value} {second})", Kind.BOOLEAN)
        case _:
            return None


def _compared(argument: Expression, kind: Kind, columns: Columns) -> str:
    if isinstance(argument, Literal) and isinstance(argument.value, int) and kind is Kind.INTEGER:
        return wide(argument.value)
    return as_kind(argument, kind, columns).text


def _alike(call: Call, columns: Columns) -> Sql | None:
    if call.function is F.CLAMP:
        return _clamp(call, columns)
    if call.function not in SAME and call.function is not F.NULLIF:
        return None
    values = [as_kind(argument, call.kind, columns) for argument in call.arguments]
    most = max(value.most for value in values)
    texts = ", ".join(value.text for value in values)
    if call.function is F.NULLIF:
        return Sql(f"nullif({texts})", call.kind, most)
    if len(values) == 1:
        return values[0]  # Spark's least and greatest take two or more
    return Sql(f"{SAME[call.function]}({texts})", call.kind, most)


def _clamp(call: Call, columns: Columns) -> Sql:
    if any(is_null(argument) for argument in call.arguments):
        return Sql(null(call.kind), call.kind, 0)
    low, high = (as_kind(constant_of(argument), call.kind, columns) for argument in call.arguments[1:])
    value = as_kind(call.arguments[0], call.kind, columns)
    most = max(low.most, high.most)
    if call.kind is Kind.REAL:
        return Sql(clipped(value.text, low.text, high.text), call.kind, most)
    form = f"(CASE WHEN {{}} < {low.text} THEN {low.text} WHEN {{}} > {high.text} THEN {high.text} ELSE {{}} END)"
    return Sql(bound_once(value.text, form), call.kind, most)


def _days(call: Call, columns: Columns) -> Sql | None:
    function = call.function
    if function in PARTS:
        return Sql(f"CAST({PARTS[function].format(_day(call.arguments[0], columns))} AS BIGINT)", Kind.INTEGER, 9999)
    if function in TRUNCATED:
        return Sql(f"trunc({_day(call.arguments[0], columns)}, '{TRUNCATED[function]}')", Kind.DATE)
    match function:
        case F.HOUR | F.MINUTE:
            return _of_clock(call, columns)
        case F.TRUNC_DAY:
            return Sql(_day(call.arguments[0], columns), Kind.DATE)
        case F.DAYS_BETWEEN:
            first, last = (_day(argument, columns) for argument in call.arguments)
            return Sql(f"CAST(datediff({last}, {first}) AS BIGINT)", Kind.INTEGER, MOST_DAYS)
        case F.ADD_DAYS | F.ADD_MONTHS:
            return _later(call, columns)
        case _:
            return None


def _later(call: Call, columns: Columns) -> Sql:
    """Return a day so many days or months later, if it is one. A moment keeps its place in the day."""
    added = later(call)
    if added is None:
        return Sql(null(call.kind), call.kind)
    inside = f"{{}} BETWEEN {day(added.first)} AND {day(added.last)}"
    form = f"(CASE WHEN {inside} THEN {'add_months' if added.months else 'date_add'}({{}}, {added.amount}) END)"
    inner = compiled(call.arguments[0], columns).text
    if call.kind is Kind.DATE:
        return Sql(bound_once(inner, form), Kind.DATE)
    moved = bound_once(_day_of_moment("{}"), form)
    moment = f"(CAST(unix_date({moved}) AS BIGINT) * {whole(DAY)} + pmod({{}}, {whole(DAY)}))"
    return Sql(bound_once(inner, moment), Kind.TIMESTAMP)


def _of_clock(call: Call, columns: Columns) -> Sql:
    """Return the hour or the minute of a moment."""
    moment = as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text
    around, unit = (DAY, DAY // 24) if call.function is F.HOUR else (DAY // 24, DAY // 1440)
    return Sql(f"(pmod({moment}, {whole(around)}) div {whole(unit)})", Kind.INTEGER, 60)


def _day(expression: Expression, columns: Columns) -> str:
    """Return a day, or that of a moment."""
    if is_null(expression):
        return null(Kind.DATE)
    inner = compiled(expression, columns)
    return inner.text if inner.kind is Kind.DATE else _day_of_moment(inner.text)


def _day_of_moment(moment: str) -> str:
    """Return the day of a moment. Counted from year 1 on, numbers are not negative, and divided round down."""
    number = f"({moment} + {whole(YEAR_1 * DAY)}) div {whole(DAY)} - {YEAR_1}"
    return f"date_from_unix_date(CAST({number} AS INT))"


def _texts(call: Call, columns: Columns) -> Sql | None:
    function = call.function
    if function in TEXTS:
        made = f"{TEXTS[function]}({as_kind(call.arguments[0], Kind.TEXT, columns).text})"
        return Sql(f"substring({made}, 1, {LONGEST_TEXT})" if can_grow(call) else made, Kind.TEXT)
    match function:
        case F.TRIM:
            return Sql(f"trim(BOTH ' ' FROM {as_kind(call.arguments[0], Kind.TEXT, columns).text})", Kind.TEXT)
        case F.LENGTH:
            inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
            return Sql(f"CAST(char_length({inner}) AS BIGINT)", Kind.INTEGER, 2.0**32)
        case F.CONCAT:
            joined = f"concat({', '.join(as_kind(argument, Kind.TEXT, columns).text for argument in call.arguments)})"
            return Sql(f"substring({joined}, 1, {LONGEST_TEXT})" if can_grow(call) else joined, Kind.TEXT)
        case F.SUBSTRING:
            return _substring(call, columns)
        case _:
            return None


def _substring(call: Call, columns: Columns) -> Sql:
    found = ends_of_substring(call)
    if found is None:
        return Sql(null(Kind.TEXT), Kind.TEXT)
    inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
    return Sql(f"substring({inner}, {found[0]}, {found[1]})", Kind.TEXT)


def _cast(call: Call, columns: Columns) -> Sql:
    argument = call.arguments[0]
    if is_null(argument):
        return Sql(null(call.kind), call.kind, 0)
    inner = compiled(argument, columns)
    match call.function, inner.kind:
        case F.TO_TEXT, _:
            return Sql(f"CAST({inner.text} AS STRING)", Kind.TEXT)
        case F.TO_INTEGER, _:
            return _to_integer(inner)
        case F.TO_REAL, Kind.TEXT:
            return _guarded(_read(inner.text, REAL_TEXT, "DOUBLE"), Kind.REAL, math.inf)
        case F.TO_REAL, _:
            return as_kind(argument, Kind.REAL, columns)
        case F.TO_DATE, Kind.TEXT:
            return Sql(_read(inner.text, DATE_TEXT, "DATE"), Kind.DATE)
        case _:
            return Sql(_day(argument, columns), Kind.DATE)


def _to_integer(inner: Sql) -> Sql:
    match inner.kind:
        case Kind.BOOLEAN:
            return Sql(f"CAST({inner.text} AS BIGINT)", Kind.INTEGER, 1)
        case Kind.TEXT:
            return Sql(_read(inner.text, INTEGER_TEXT, "BIGINT"), Kind.INTEGER, 1e15)
        case Kind.REAL:
            return _rounded("round", inner)
        case _:
            return _rounded("round", Sql(f"CAST({inner.text} AS DOUBLE)", Kind.REAL, inner.most))


def _read(piece: str, pattern: str, kind: str) -> str:
    """Return a text as a number or a day, if it fits the pattern; what does not leaves an empty text, which is none."""
    return f"try_cast(regexp_extract({piece}, {text(pattern)}, 1) AS {kind})"

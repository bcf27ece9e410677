"""Writes expressions and functions of one row as Spark's SQL, exactly as `discreet.algebra.functions` says.

No setting of a session changes what it means: not ANSI mode, nor the time zone. No row can raise: what could is clipped
or tried. A piece is written once where it can be: Spark has no names inside of expressions, and nesting would double a
piece that is written twice at each level.
"""

import math
from collections.abc import Mapping

from discreet.algebra.expressions import (
    BINARY,
    CLOCK_UNITS,
    MOST_DAYS,
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
from discreet.algebra.like_patterns import Part, Pattern, Shape, java_parts, regular_expression
from discreet.algebra.work_bounds import can_grow
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.spark.literals import INFINITY, NAN, TYPES, constant, day, null, real, text, whole, wide
from discreet.data.sql.dialect import DAY, LEAST_INTEGER, MOST_INTEGER, Sql, ends

#: The SQL of columns, by their names.
Columns = Mapping[str, str]
#: A text up to this length may be written twice. Longer ones are bound by a lambda.
SHORT = 60


def write_sql(expression: Expression, columns: Mapping[str, str]) -> str:
    """Return the text of an expression over columns: its length is bounded before payment."""
    return compile_sql(expression, columns).text


def compile_sql(expression: Expression, columns: Columns) -> Sql:
    """Return the SQL of an expression."""
    match expression:
        case Literal():
            return _literal(expression)
        case ColumnValue():
            return _column(expression, columns)
        case Call():
            return compile_call(expression, columns)
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
    return widen_piece(compile_sql(expression, columns), kind)


def widen_piece(piece: Sql, kind: Kind) -> Sql:
    """Return a piece as one of a wider kind."""
    if piece.kind is kind:
        return piece
    if kind is Kind.TIMESTAMP:
        return Sql(f"(unix_date({piece.text}) * {whole(DAY)})", kind)
    return Sql(f"CAST({piece.text} AS {TYPES[kind]})", kind, piece.most)


def bind_once(piece: str, form: str) -> str:
    """Return a form in which {} stands for a piece: written again if it is short, and otherwise bound to a name."""
    if len(piece) <= SHORT:
        return form.replace("{}", piece)
    name = f"v{(piece + form).count('->')}"  # no lambda inside has as many inside
    return f"get(transform(array({piece}), {name} -> {form.replace('{}', name)}), 0)"


def clip_real(number: str, low: str, high: str) -> str:
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
        by_kind.setdefault(comparison_kind(value.kind, literal.kind), []).append(literal)
    tests = [_member_of(value, kind, members) for kind, members in by_kind.items()]
    # In no set at all, or unknown.
    return Sql(f"({' OR '.join(tests) or f'({value.text} IS NULL AND NULL)'})", Kind.BOOLEAN)


def _member_of(value: Sql, kind: Kind, members: list[Literal]) -> str:
    cast = widen_piece(value, kind).text
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


#: A pattern as one of Spark's functions of a text and a literal.
MATCHING = {
    Shape.EQUAL: "({} = {})",
    Shape.PREFIX: "startswith({}, {})",
    Shape.SUFFIX: "endswith({}, {})",
    Shape.INSIDE: "contains({}, {})",
    Shape.OTHER: "rlike({}, {})",
}


def _like(like: Like, columns: Columns) -> Sql:
    """Return whether a text fits a pattern. If capitals do not matter, the engine makes both small."""
    value, pattern = as_kind(like.value, Kind.TEXT, columns).text, Pattern.of(like.pattern)
    other = pattern.shape is Shape.OTHER
    parts = java_parts(pattern) if other else [(True, pattern.literal)]
    if like.folded:
        return Sql(MATCHING[pattern.shape].format(f"lower({value})", _lower_parts(parts, quoted=other)), Kind.BOOLEAN)
    wanted = regular_expression(parts) if other else pattern.literal
    return Sql(MATCHING[pattern.shape].format(value, text(wanted)), Kind.BOOLEAN)


def _lower_parts(parts: list[Part], *, quoted: bool) -> str:
    """Return a constant in small letters: of an expression, its literals are quoted, which no small letter ends."""
    begin, end = (text("\\Q"), text("\\E")) if quoted else (text(""), text(""))
    pieces = [f"concat({begin}, lower({text(part)}), {end})" if literal else text(part) for literal, part in parts]
    return f"concat({', '.join(pieces)})"


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
TRIMS = {F.TRIM: "BOTH", F.LTRIM: "LEADING", F.RTRIM: "TRAILING"}
#: Parts of a moment: what they go around in, and their unit, in microseconds.
CLOCK = {F.HOUR: (DAY, DAY // 24), F.MINUTE: (DAY // 24, DAY // 1440), F.SECOND: (DAY // 1440, DAY // 86_400)}
PARTS = {
    F.YEAR: "year({})",
    F.QUARTER: "quarter({})",
    F.MONTH: "month({})",
    F.WEEK: "weekofyear({})",
    F.DAY: "day({})",
    F.WEEKDAY: "(weekday({}) + 1)",  # Spark's Monday is 0
    F.DOW: "(dayofweek({}) - 1)",  # and its Sunday 1
    F.DOY: "dayofyear({})",
}


def compile_call(call: Call, columns: Columns) -> Sql:
    """Return the SQL of a function of other expressions."""
    for family in (_arithmetic, _logic, _alike, _days, _texts):
        piece = family(call, columns)
        if piece is not None:
            return piece
    return _cast(call, columns)


def _arithmetic(call: Call, columns: Columns) -> Sql | None:
    """Return arithmetic: in float64, and then guarded, but where nothing can be out of range."""
    function = call.function
    if function in BINARY or function in (F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO, F.POWER):
        return _of_two(call, columns)
    if function not in (*ROUNDING, F.NEGATE, F.ABS, F.SQRT, F.LN, F.LOG10, F.EXP):
        return None
    x = as_kind(call.arguments[0], Kind.REAL, columns)
    match function:
        case F.NEGATE:
            return _guard_number(f"(-{x.text})", call.kind, x.most)
        case F.ABS:
            return _guard_number(f"abs({x.text})", call.kind, x.most)
        case F.SQRT:
            return Sql(f"nanvl(sqrt({x.text}), {null(Kind.REAL)})", Kind.REAL, max(x.most, 1))
        case F.LN | F.LOG10:
            return Sql(f"{function.value.lower()}({x.text})", Kind.REAL, 1000)  # NULL for what has none
        case F.EXP:
            return _guard_number(f"exp({x.text})", Kind.REAL, math.inf)
        case _:
            return _round_to_integer(ROUNDING[function], x)


def _of_two(call: Call, columns: Columns) -> Sql:
    a, b = (as_kind(argument, Kind.REAL, columns) for argument in call.arguments)
    match call.function:
        case F.ADD | F.SUBTRACT:
            return _guard_number(f"({a.text} {BINARY[call.function]} {b.text})", call.kind, a.most + b.most)
        case F.MULTIPLY:
            most = a.most * b.most
            return _guard_number(f"({a.text} * {b.text})", call.kind, math.inf if math.isnan(most) else most)
        case F.POWER:
            return _guard_number(f"pow({a.text}, {b.text})", call.kind, math.inf)
    divisor = f"nullif({b.text}, {real(0.0)})"
    match call.function:
        case F.MODULO:
            return _guard_number(f"({a.text} % {divisor})", call.kind, a.most)
        case F.FLOOR_DIVIDE:
            return _round_to_integer("floor", Sql(f"({a.text} / {divisor})", Kind.REAL))
        case _:
            return _guard_number(f"({a.text} / {divisor})", call.kind, math.inf)


def _guard_number(number: str, kind: Kind, most: float) -> Sql:
    """Return a number in float64 as what its kind may be: a clipped integer, or a finite real."""
    if kind is Kind.INTEGER:
        return Sql(f"CAST({_saturate(number, most)} AS BIGINT)", kind, min(most, float(SATURATED)))
    return Sql(number if most < SURELY_FINITE else finite(number), kind, most if most < SURELY_FINITE else math.inf)


def _saturate(number: str, most: float) -> str:
    end = real(float(SATURATED))
    return number if most <= SATURATED else clip_real(number, f"-{end}", end)


def _round_to_integer(function: str, x: Sql) -> Sql:
    """Return a number in float64 as a whole one. Clipped first: in ANSI mode, Spark raises where the result is large.

    Its `round` takes halves away from zero, and the float64 for the shortest decimal that means it, which has its half
    where the float64 has.
    """
    return Sql(f"CAST({function}({_saturate(x.text, x.most)}) AS BIGINT)", Kind.INTEGER, min(x.most + 1, SATURATED))


def _logic(call: Call, columns: Columns) -> Sql | None:
    match call.function:
        case F.AND | F.OR:
            parts = [as_kind(argument, Kind.BOOLEAN, columns).text for argument in call.arguments]
            return Sql(f"({f' {call.function.value} '.join(parts)})", Kind.BOOLEAN)
        case F.NOT:
            return Sql(f"(NOT {as_kind(call.arguments[0], Kind.BOOLEAN, columns).text})", Kind.BOOLEAN)
        case F.IS_NULL:
            return Sql(f"({compile_sql(call.arguments[0], columns).text} IS NULL)", Kind.BOOLEAN)
        case function if function in COMPARISONS:
            first, second = (
                _compile_operand(argument, kind_of_arguments(call), columns) for argument in call.arguments
            )
            return Sql(f"({first} {function.value} {second})", Kind.BOOLEAN)
        case _:
            return None


def _compile_operand(argument: Expression, kind: Kind, columns: Columns) -> str:
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
        return Sql(clip_real(value.text, low.text, high.text), call.kind, most)
    form = f"(CASE WHEN {{}} < {low.text} THEN {low.text} WHEN {{}} > {high.text} THEN {high.text} ELSE {{}} END)"
    return Sql(bind_once(value.text, form), call.kind, most)


def _days(call: Call, columns: Columns) -> Sql | None:
    function = call.function
    if function in PARTS:
        return Sql(f"CAST({PARTS[function].format(_day(call.arguments[0], columns))} AS BIGINT)", Kind.INTEGER, 9999)
    if function in TRUNCATED:
        return Sql(f"trunc({_day(call.arguments[0], columns)}, '{TRUNCATED[function]}')", Kind.DATE)
    if function in CLOCK_UNITS:
        size = whole(CLOCK_UNITS[function][1] * (DAY // 86_400))
        moment = as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text
        return Sql(bind_once(moment, f"({{}} - pmod({{}}, {size}))"), Kind.TIMESTAMP)
    return _days_apart(call, columns)


def _days_apart(call: Call, columns: Columns) -> Sql | None:
    """Return the clock of a moment, a day that is made of another, or how far two are apart."""
    match call.function:
        case F.HOUR | F.MINUTE | F.SECOND:
            return _of_clock(call, columns)
        case F.LAST_DAY:
            return Sql(f"last_day({_day(call.arguments[0], columns)})", Kind.DATE)
        case F.TRUNC_DAY:
            return Sql(_day(call.arguments[0], columns), Kind.DATE)
        case F.DAYS_BETWEEN:
            first, last = (_day(argument, columns) for argument in call.arguments)
            return Sql(f"CAST(datediff({last}, {first}) AS BIGINT)", Kind.INTEGER, MOST_DAYS)
        case F.ADD_DAYS | F.ADD_MONTHS:
            return _later(call, columns)
        case F.ADD_SECONDS:
            return _seconds_later(call, columns)
        case _:
            return None


def _seconds_later(call: Call, columns: Columns) -> Sql:
    """Return a moment so many seconds later, if it is one."""
    added = seconds_later(call)
    if added is None:
        return Sql(null(Kind.TIMESTAMP), Kind.TIMESTAMP)
    first, last = (constant(end, Kind.TIMESTAMP) for end in (added.first, added.last))
    form = f"(CASE WHEN {{}} BETWEEN {first} AND {last} THEN {{}} + {whole(added.amount * (DAY // 86_400))} END)"
    return Sql(bind_once(as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text, form), Kind.TIMESTAMP)


def _later(call: Call, columns: Columns) -> Sql:
    """Return a day so many days or months later, if it is one. A moment keeps its place in the day."""
    added = later(call)
    if added is None:
        return Sql(null(call.kind), call.kind)
    inside = f"{{}} BETWEEN {day(added.first)} AND {day(added.last)}"
    form = f"(CASE WHEN {inside} THEN {'add_months' if added.months else 'date_add'}({{}}, {added.amount}) END)"
    inner = compile_sql(call.arguments[0], columns).text
    if call.kind is Kind.DATE:
        return Sql(bind_once(inner, form), Kind.DATE)
    moved = bind_once(_day_of_moment("{}"), form)
    moment = f"(CAST(unix_date({moved}) AS BIGINT) * {whole(DAY)} + pmod({{}}, {whole(DAY)}))"
    return Sql(bind_once(inner, moment), Kind.TIMESTAMP)


def _of_clock(call: Call, columns: Columns) -> Sql:
    """Return the hour, the minute or the second of a moment."""
    moment = as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text
    around, unit = CLOCK[call.function]
    return Sql(f"(pmod({moment}, {whole(around)}) div {whole(unit)})", Kind.INTEGER, 60)


def _day(expression: Expression, columns: Columns) -> str:
    """Return a day, or that of a moment."""
    if is_null(expression):
        return null(Kind.DATE)
    inner = compile_sql(expression, columns)
    return inner.text if inner.kind is Kind.DATE else _day_of_moment(inner.text)


def _day_of_moment(moment: str) -> str:
    """Return the day of a moment. Counted from year 1 on, numbers are not negative, and divided round down."""
    number = f"({moment} + {whole(YEAR_1 * DAY)}) div {whole(DAY)} - {YEAR_1}"
    return f"date_from_unix_date(CAST({number} AS INT))"


def _texts(call: Call, columns: Columns) -> Sql | None:
    function = call.function
    if function in TEXTS:
        cased = f"{TEXTS[function]}({as_kind(call.arguments[0], Kind.TEXT, columns).text})"
        return Sql(f"substring({cased}, 1, {LONGEST_TEXT})" if can_grow(call) else cased, Kind.TEXT)
    match function:
        case F.TRIM | F.LTRIM | F.RTRIM:
            inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
            return Sql(f"trim({TRIMS[function]} ' ' FROM {inner})", Kind.TEXT)
        case F.LENGTH:
            inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
            return Sql(f"CAST(char_length({inner}) AS BIGINT)", Kind.INTEGER, 2.0**32)
        case F.CONCAT:
            joined = f"concat({', '.join(as_kind(argument, Kind.TEXT, columns).text for argument in call.arguments)})"
            return Sql(f"substring({joined}, 1, {LONGEST_TEXT})" if can_grow(call) else joined, Kind.TEXT)
        case F.SUBSTRING | F.RIGHT:
            return _substring(call, columns)
        case F.POSITION | F.REPLACE | F.SPLIT_PART:
            return _search(call, columns)
        case _:
            return None


def _substring(call: Call, columns: Columns) -> Sql:
    whole = (length_of_right(call),) if call.function is F.RIGHT else ends_of_substring(call)
    if whole is None or None in whole:
        return Sql(null(Kind.TEXT), Kind.TEXT)
    inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
    return Sql(f"{call.function.value.lower()}({inner}, {', '.join(map(str, whole))})", Kind.TEXT)


def _search(call: Call, columns: Columns) -> Sql:
    """Return the position of a constant in a text, the text with another in its place, or the text between."""
    if call.function is F.SPLIT_PART:
        part, number = split_of(call)
        piece = as_kind(call.arguments[0], Kind.TEXT, columns).text
        return Sql(f"split_part({piece}, {text(part)}, {number})", Kind.TEXT)
    constants = ", ".join(text(each) for each in texts_of(call))
    inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
    if call.function is F.POSITION:
        return Sql(f"CAST(instr({inner}, {constants}) AS BIGINT)", Kind.INTEGER, 2.0**32)
    replaced = f"replace({inner}, {constants})"
    return Sql(f"substring({replaced}, 1, {LONGEST_TEXT})" if can_grow(call) else replaced, Kind.TEXT)


def _cast(call: Call, columns: Columns) -> Sql:
    argument = call.arguments[0]
    if is_null(argument):
        return Sql(null(call.kind), call.kind, 0)
    inner = compile_sql(argument, columns)
    match call.function, inner.kind:
        case F.TO_TEXT, _:
            return Sql(f"CAST({inner.text} AS STRING)", Kind.TEXT)
        case F.TO_INTEGER, _:
            return _to_integer(inner)
        case F.TO_REAL, Kind.TEXT:
            return _guard_number(_read(inner.text, REAL_TEXT, "DOUBLE"), Kind.REAL, math.inf)
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
            return _round_to_integer("round", inner)
        case _:
            return _round_to_integer("round", Sql(f"CAST({inner.text} AS DOUBLE)", Kind.REAL, inner.most))


def _read(piece: str, pattern: str, kind: str) -> str:
    """Return a text as a number or a day, if it fits the pattern; what does not leaves an empty text, which is none."""
    return f"try_cast(regexp_extract({piece}, {text(pattern)}, 1) AS {kind})"

"""Writes expressions and functions of one row as PostgreSQL's SQL, exactly as `discreet.algebra.functions` says.

No row can raise: what could is guarded by CASE. A piece that is written several times is bound to a name once it is
long, or nesting would double it at each level.
"""

import math
from collections.abc import Mapping

from discreet.algebra.expressions import (
    BINARY,
    CLOCK_UNITS,
    MOST_DAYS,
    PARTS,
    SAME,
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
from discreet.algebra.work_bounds import can_grow
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.postgres.literals import BYTES, TYPES, bare_text, constant, day, null, wide
from discreet.data.postgres.numbers import (
    SATURATED,
    TINIEST,
    Piece,
    add_pieces,
    bind_pieces,
    date_of_text,
    divide_pieces,
    exponential,
    floor_divide,
    guard_number,
    integer_of_text,
    multiply_pieces,
    raise_to_power,
    real_of_text,
    remainder,
    round_to_integer,
)
from discreet.data.sql.dialect import LEAST_INTEGER, MOST_INTEGER, ends

#: The SQL of columns, by their names.
Columns = Mapping[str, str]


def write_sql(expression: Expression, columns: Mapping[str, str]) -> str:
    """Return the text of an expression over columns: its length is bounded before payment."""
    return compile_sql(expression, columns).text


def compile_sql(expression: Expression, columns: Columns) -> Piece:
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


def as_kind(expression: Expression, kind: Kind, columns: Columns) -> Piece:
    """Return the SQL of an expression as one of a wider kind: an integer as a real, a day as its midnight."""
    if is_null(expression):
        return Piece(f"({null(kind)})", kind, 0.0, math.inf)
    return widen_piece(compile_sql(expression, columns), kind)


def widen_piece(piece: Piece, kind: Kind) -> Piece:
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
    return Piece(clamp_value(name, constant(low, column.kind), constant(high, column.kind)), column.kind, most, least)


def clamp_value(text: str, low: str, high: str) -> str:
    """Return a value between two constants; NULL stays what it is."""
    return bind_pieces(f"(CASE WHEN {{x}} < {low} THEN {low} WHEN {{x}} > {high} THEN {high} ELSE {{x}} END)", x=text)


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
        by_kind.setdefault(comparison_kind(value.kind, literal.kind), []).append(literal)
    tests = []
    for kind, members in by_kind.items():
        listed = ", ".join(write_operand(literal, kind) for literal in members)
        tests.append(f"{widen_piece(value, kind).text} IN ({listed})")
    # In no set at all, or unknown.
    return Piece(f"({' OR '.join(tests) or f'{value.text} IS NULL AND NULL'})", Kind.BOOLEAN)


def write_operand(literal: Literal, kind: Kind) -> str:
    """Return a constant for comparisons, where an integer may be beyond what columns hold."""
    if kind is Kind.INTEGER and isinstance(literal.value, int):
        return wide(literal.value)
    return constant(literal.value, kind)


def _like(like: Like, columns: Columns) -> Piece:
    value = as_kind(like.value, Kind.TEXT, columns).text
    if like.folded:  # what a capital is, is the database's
        return Piece(f"(({value}) COLLATE \"default\" ILIKE {bare_text(like.pattern)} ESCAPE '')", Kind.BOOLEAN)
    return Piece(f"({value} LIKE {bare_text(like.pattern)} ESCAPE '')", Kind.BOOLEAN)


F = Function
ROUNDING = {F.FLOOR: "floor", F.CEIL: "ceil"}
TRIMS = {F.TRIM: "btrim", F.LTRIM: "ltrim", F.RTRIM: "rtrim"}


def compile_call(call: Call, columns: Columns) -> Piece:
    """Return the SQL of a function of other expressions."""
    for family in (_arithmetic, _logic, _alike, _days, _texts):
        piece = family(call, columns)
        if piece is not None:
            return piece
    return _cast(call, columns)


# --- numbers ---


def _arithmetic(call: Call, columns: Columns) -> Piece | None:
    """Return arithmetic: in float64, and then as its kind has it, but where integers do it exactly."""
    function = call.function
    if function in BINARY or function in (F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO, F.POWER):
        return _of_integers(call, columns) or _of_two(call, columns)
    if function not in (*ROUNDING, F.ROUND, F.NEGATE, F.ABS, F.SQRT, F.LN, F.LOG10, F.EXP):
        return None
    return _of_one(call, as_kind(call.arguments[0], Kind.REAL, columns))


def _of_one(call: Call, x: Piece) -> Piece:
    match call.function:
        case F.NEGATE:
            return guard_number(f"(-{x.text})", call.kind, x.most, x.least)
        case F.ABS:
            return guard_number(f"abs({x.text})", call.kind, x.most, x.least)
        case F.SQRT:
            root = bind_pieces("(CASE WHEN {x} >= 0 THEN sqrt({x}) END)", x=x.text)
            return Piece(root, Kind.REAL, max(x.most, 1), min(x.least, 1))
        case F.LN | F.LOG10:
            name = "ln" if call.function is F.LN else "log"
            taken = bind_pieces(f"(CASE WHEN {{x}} > 0 THEN {name}({{x}}) END)", x=x.text)
            return Piece(taken, Kind.REAL, 1000, 1e-17)
        case F.EXP:
            return Piece(exponential(x), Kind.REAL)
        case F.ROUND:
            return guard_number(round_to_integer(x.text), call.kind, x.most + 1)
        case _:
            return guard_number(f"{ROUNDING[call.function]}({x.text})", call.kind, x.most + 1)


def _of_integers(call: Call, columns: Columns) -> Piece | None:
    """Return arithmetic of integers, where float64 would be exact, too."""
    if call.kind is not Kind.INTEGER or call.function not in (*BINARY, F.MODULO):
        return None
    if any(argument.kind is not Kind.INTEGER or is_null(argument) for argument in call.arguments):
        return None
    a, b = (compile_sql(argument, columns) for argument in call.arguments)
    most = a.most * b.most if call.function is F.MULTIPLY else a.most + b.most
    if most > SATURATED:
        return None
    if call.function is F.MODULO:
        return Piece(f"({a.text} % nullif({b.text}, 0))", Kind.INTEGER, a.most, 1.0)
    return Piece(f"({a.text} {BINARY[call.function]} {b.text})", Kind.INTEGER, most, 1.0)


def _of_two(call: Call, columns: Columns) -> Piece:
    a, b = (as_kind(argument, Kind.REAL, columns) for argument in call.arguments)
    match call.function:
        case F.ADD | F.SUBTRACT:
            return guard_number(add_pieces(a, b, BINARY[call.function]), call.kind, a.most + b.most)
        case F.MULTIPLY:
            product = a.most * b.most
            return guard_number(
                multiply_pieces(a, b), call.kind, math.inf if math.isnan(product) else product, a.least * b.least
            )
        case F.POWER:
            return guard_number(raise_to_power(a, b), call.kind, math.inf)
        case F.MODULO:
            return guard_number(remainder(a, b), call.kind, a.most)
        case F.FLOOR_DIVIDE:
            return guard_number(floor_divide(a, b), call.kind, math.inf)
        case _:
            return guard_number(divide_pieces(a, b), call.kind, math.inf)


# --- conditions, and values side by side ---


def _logic(call: Call, columns: Columns) -> Piece | None:
    match call.function:
        case F.AND | F.OR:
            parts = [as_kind(argument, Kind.BOOLEAN, columns).text for argument in call.arguments]
            return Piece(f"({f' {call.function.value} '.join(parts)})", Kind.BOOLEAN)
        case F.NOT:
            return Piece(f"(NOT {as_kind(call.arguments[0], Kind.BOOLEAN, columns).text})", Kind.BOOLEAN)
        case F.IS_NULL:
            return Piece(f"({compile_sql(call.arguments[0], columns).text} IS NULL)", Kind.BOOLEAN)
        case function if function in COMPARISONS:
            kind = kind_of_arguments(call)
            first, second = (_compile_operand(argument, kind, columns) for argument in call.arguments)
            return Piece(f"({first} {function.value} {second})", Kind.BOOLEAN)
        case _:
            return None


def _compile_operand(expression: Expression, kind: Kind, columns: Columns) -> str:
    if isinstance(expression, Literal) and not is_null(expression):
        return write_operand(expression, kind)
    return as_kind(expression, kind, columns).text


def _alike(call: Call, columns: Columns) -> Piece | None:
    if call.function is F.CLAMP:
        return _clamp(call, columns)
    if call.function not in SAME and call.function is not F.NULLIF:
        return None
    values = [as_kind(argument, call.kind, columns) for argument in call.arguments]
    name = SAME.get(call.function, "nullif")
    return spread(f"{name}({', '.join(value.text for value in values)})", call.kind, values)


def _clamp(call: Call, columns: Columns) -> Piece:
    if any(is_null(argument) for argument in call.arguments):
        return Piece(f"({null(call.kind)})", call.kind, 0.0, math.inf)
    low, high = (as_kind(constant_of(argument), call.kind, columns) for argument in call.arguments[1:])
    value = as_kind(call.arguments[0], call.kind, columns)
    piece = spread(clamp_value(value.text, low.text, high.text), call.kind, [value, low, high])
    return Piece(piece.text, call.kind, max(low.most, high.most), piece.least)


# --- days ---


def _days(call: Call, columns: Columns) -> Piece | None:
    function = call.function
    if function in PARTS:
        moment = as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text
        part = f"date_part('{PARTS[function]}', {moment})"
        # The second has its microseconds behind the point.
        whole = f"floor({part})" if function is F.SECOND else part
        return Piece(f"CAST({whole} AS bigint)", Kind.INTEGER, 9999, 1.0)
    if function in TRUNCATED:
        moment = as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text
        return Piece(f"CAST(date_trunc('{TRUNCATED[function]}', {moment}) AS date)", Kind.DATE)
    if function in CLOCK_UNITS:
        moment = as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text
        return Piece(f"date_trunc('{CLOCK_UNITS[function][0]}', {moment})", Kind.TIMESTAMP)
    return _days_apart(call, columns)


def _days_apart(call: Call, columns: Columns) -> Piece | None:
    """Return a day that is made of another, or how far two are apart."""
    match call.function:
        case F.TRUNC_DAY:
            return Piece(_day(call.arguments[0], columns), Kind.DATE)
        case F.LAST_DAY:
            month = f"date_trunc('month', {as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text})"
            return Piece(f"CAST({month} + make_interval(months => 1, days => -1) AS date)", Kind.DATE)
        case F.DAYS_BETWEEN:
            first, last = (_day(argument, columns) for argument in call.arguments)
            return Piece(f"CAST({last} - {first} AS bigint)", Kind.INTEGER, MOST_DAYS, 1.0)
        case F.ADD_DAYS | F.ADD_MONTHS:
            return _later(call, columns)
        case F.ADD_SECONDS:
            return _seconds_later(call, columns)
        case _:
            return None


def _seconds_later(call: Call, columns: Columns) -> Piece:
    """Return a moment so many seconds later, if it is one."""
    added = seconds_later(call)
    if added is None:
        return Piece(f"({null(Kind.TIMESTAMP)})", Kind.TIMESTAMP)
    first, last = (constant(end, Kind.TIMESTAMP) for end in (added.first, added.last))
    days, seconds = divmod(added.amount, 86_400)
    moved = f"{{x}} + make_interval(days => {days}, secs => {seconds})"
    form = f"(CASE WHEN {{x}} BETWEEN {first} AND {last} THEN {moved} END)"
    return Piece(bind_pieces(form, x=as_kind(call.arguments[0], Kind.TIMESTAMP, columns).text), Kind.TIMESTAMP)


def _day(expression: Expression, columns: Columns) -> str:
    if is_null(expression):
        return f"({null(Kind.DATE)})"
    inner = compile_sql(expression, columns)
    return inner.text if inner.kind is Kind.DATE else f"CAST({inner.text} AS date)"


def _later(call: Call, columns: Columns) -> Piece:
    """Return a day so many days or months later, if it is one: only then is it computed."""
    added = later(call)
    if added is None:
        return Piece(f"({null(call.kind)})", call.kind)
    inside = f"CAST({{x}} AS date) BETWEEN {day(added.first)} AND {day(added.last)}"
    unit = "months" if added.months else "days"
    moved = f"CAST({{x}} + make_interval({unit} => {added.amount}) AS {TYPES[call.kind]})"
    return Piece(
        bind_pieces(f"(CASE WHEN {inside} THEN {moved} END)", x=compile_sql(call.arguments[0], columns).text), call.kind
    )


# --- texts, and casts ---


def _texts(call: Call, columns: Columns) -> Piece | None:
    function = call.function
    match function:
        case F.LOWER | F.UPPER:
            text = as_kind(call.arguments[0], Kind.TEXT, columns).text
            cased = f'({function.value.lower()}({text} COLLATE "default") {BYTES})'
            return Piece(f"left({cased}, {LONGEST_TEXT})" if can_grow(call) else cased, Kind.TEXT)
        case F.TRIM | F.LTRIM | F.RTRIM:
            return Piece(f"{TRIMS[function]}({as_kind(call.arguments[0], Kind.TEXT, columns).text}, ' ')", Kind.TEXT)
        case F.LENGTH:
            length = f"char_length({as_kind(call.arguments[0], Kind.TEXT, columns).text})"
            return Piece(f"CAST({length} AS bigint)", Kind.INTEGER, 2.0**32, 1.0)
        case F.CONCAT:
            joined = " || ".join(as_kind(argument, Kind.TEXT, columns).text for argument in call.arguments)
            return Piece(f"left({joined}, {LONGEST_TEXT})" if can_grow(call) else f"({joined})", Kind.TEXT)
        case F.SUBSTRING | F.RIGHT:
            return _substring(call, columns)
        case F.POSITION | F.REPLACE | F.SPLIT_PART:
            return _search(call, columns)
        case _:
            return None


def _substring(call: Call, columns: Columns) -> Piece:
    right = call.function is F.RIGHT
    whole = (length_of_right(call),) if right else ends_of_substring(call)
    if whole is None or None in whole:
        return Piece(f"({null(Kind.TEXT)})", Kind.TEXT)
    text = as_kind(call.arguments[0], Kind.TEXT, columns).text
    return Piece(f"{'right' if right else 'substr'}({text}, {', '.join(map(str, whole))})", Kind.TEXT)


def _search(call: Call, columns: Columns) -> Piece:
    """Return the position of a constant in a text, the text with another in its place, or the text between."""
    if call.function is F.SPLIT_PART:
        part, number = split_of(call)
        inner = as_kind(call.arguments[0], Kind.TEXT, columns).text
        return Piece(f"split_part({inner}, {constant(part, Kind.TEXT)}, {number})", Kind.TEXT)
    constants = ", ".join(constant(text, Kind.TEXT) for text in texts_of(call))
    text = as_kind(call.arguments[0], Kind.TEXT, columns).text
    if call.function is F.POSITION:
        return Piece(f"CAST(strpos({text}, {constants}) AS bigint)", Kind.INTEGER, 2.0**32, 1.0)
    replaced = f"replace({text}, {constants})"
    return Piece(f"left({replaced}, {LONGEST_TEXT})" if can_grow(call) else replaced, Kind.TEXT)


def _cast(call: Call, columns: Columns) -> Piece:
    argument = call.arguments[0]
    if is_null(argument):
        return Piece(f"({null(call.kind)})", call.kind, 0.0, math.inf)
    inner = compile_sql(argument, columns)
    if inner.kind is Kind.TEXT:
        return _read(call, inner)
    match call.function:
        case F.TO_TEXT:
            return Piece(f"(CAST({inner.text} AS text) {BYTES})", Kind.TEXT)
        case F.TO_INTEGER if inner.kind is Kind.BOOLEAN:
            return Piece(f"CAST(CAST({inner.text} AS integer) AS bigint)", Kind.INTEGER, 1, 1.0)
        case F.TO_INTEGER:
            return guard_number(round_to_integer(widen_piece(inner, Kind.REAL).text), Kind.INTEGER, inner.most + 1)
        case F.TO_REAL:
            return widen_piece(inner, Kind.REAL)
        case _:
            return Piece(_day(argument, columns), Kind.DATE)


def _read(call: Call, text: Piece) -> Piece:
    """Return the value of a text."""
    match call.function:
        case F.TO_INTEGER:
            return Piece(integer_of_text(text.text), Kind.INTEGER, 1e15, 1.0)
        case F.TO_REAL:
            return Piece(real_of_text(text.text), Kind.REAL)
        case F.TO_DATE:
            return Piece(date_of_text(text.text), Kind.DATE)
        case _:
            return text

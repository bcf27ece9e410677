"""Expressions: values computed from one row, from sqlglot's tree to ours."""

import re

from sqlglot import exp

from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal, call, is_null
from discreet.algebra.functions import ALIKE, COMPARISONS, F
from discreet.core import DiscreetError, InvalidInput, WrongType
from discreet.core.schema import Kind
from discreet.query.names import AGGREGATES, NEIGHBOURS, PARTS, RANKINGS
from discreet.query.remedies import PATH, Declare, Edit, Fix, Never
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.row_functions.constants import day, fold, moment, number, with_days, with_numbers
from discreet.query.sql.row_functions.date_functions import UNITS, WITH_UNITS, build_epoch
from discreet.query.sql.row_functions.functions import build_function_call, round_to_digits
from discreet.query.sql.row_functions.regular_expressions import MATCHING, build_matching
from discreet.query.sql.row_functions.text_functions import MOST_DIGITS
from discreet.query.sql.scope import SqlScope, strip_numbers

OPERATORS: dict[type[exp.Expr], F] = {
    exp.Mul: F.MULTIPLY,
    exp.Div: F.DIVIDE,
    exp.IntDiv: F.FLOOR_DIVIDE,
    exp.Mod: F.MODULO,
    exp.EQ: F.EQ,
    exp.NEQ: F.NE,
    exp.LT: F.LT,
    exp.LTE: F.LE,
    exp.GT: F.GT,
    exp.GTE: F.GE,
}
CONDITIONS = (
    *(exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
CHAINS: dict[type[exp.Expr], F] = {exp.And: F.AND, exp.Or: F.OR, exp.DPipe: F.CONCAT}
TYPES: dict[exp.DType, F] = {
    exp.DType.INT: F.TO_INTEGER,
    exp.DType.BIGINT: F.TO_INTEGER,
    exp.DType.SMALLINT: F.TO_INTEGER,
    exp.DType.TINYINT: F.TO_INTEGER,
    exp.DType.DOUBLE: F.TO_REAL,
    exp.DType.FLOAT: F.TO_REAL,
    exp.DType.VARCHAR: F.TO_TEXT,
    exp.DType.TEXT: F.TO_TEXT,
    exp.DType.DATE: F.TO_DATE,
}
MOMENTS = (exp.DType.TIMESTAMP, exp.DType.DATETIME)
WINDOW_OF_ROWS = "A window over private rows would show or rank the rows of people one by one."
SUM_UP_FIRST = Fix(
    "sum up first: SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM … GROUP BY ward",
    Never.ROWS,
)
#: Where the algebra, which sees no names, leaves one open.
UNNAMED = 'kinds={"…": "real"}'
#: Functions that may take an interval, and what they mean.
MOVES: dict[str, type[exp.Add | exp.Sub]] = {"DATE_ADD": exp.Add, "DATE_SUB": exp.Sub}
FARTHEST = {F.ADD_DAYS: 4_000_000, F.ADD_MONTHS: 120_000, F.ADD_SECONDS: 400_000_000_000}


def read_expression(node: exp.Expr, scope: SqlScope) -> Expression:
    """Return our tree of a node, or refuse it where it stands."""
    try:
        expression = scope.special(node, scope) if scope.special else None
        return _read_node(node, scope) if expression is None else expression
    except DiscreetError as error:
        raise scope.place_error(node, error) from None


def build_call(function: F, *arguments: Expression) -> Expression:
    """Return a function of expressions: a constant where it can be computed, and days for texts beside days."""
    if function in COMPARISONS or function in ALIKE or function is F.DAYS_BETWEEN:
        arguments = with_days(arguments)
    if function in COMPARISONS:
        arguments = with_numbers(arguments)
    if function in CHAINS.values():
        arguments = tuple(link for argument in arguments for link in split_chain(function, argument))
    try:
        built = call(function, *arguments)
    except WrongType as error:
        raise _name_text_column(error, arguments) from None
    return fold(function, arguments) or built


def _name_text_column(error: WrongType, arguments: tuple[Expression, ...]) -> WrongType:
    """Return the refusal of a text beside numbers, with the column whose kind may have been forgotten."""
    texts = [argument for argument in arguments if isinstance(argument, ColumnValue) and argument.kind is Kind.TEXT]
    if not texts or UNNAMED not in error.fix:
        return error
    real = any(argument.kind is Kind.REAL for argument in arguments)
    name, kind = strip_numbers(texts[0].name), "real" if real else "integer"
    words = error.fix.replace(UNNAMED, f'kinds={{"{name}": "{kind}"}}')
    return WrongType(error.problem, fix=Fix(words, Declare("kinds", name, kind)))


def split_chain(function: F, expression: Expression) -> tuple[Expression, ...]:
    """Return the links of a row of ANDs, ORs or ||, or the expression itself: such a row is one node."""
    if isinstance(expression, Call) and expression.function is function:
        return expression.arguments
    return (expression,)


def _read_node(node: exp.Expr, scope: SqlScope) -> Expression:
    match node:
        case exp.Column():
            return scope.column(node)
        case exp.Paren() | exp.Literal() | exp.Boolean() | exp.Null() | exp.Neg():
            return _read_plain(node, scope)
        case exp.Add() | exp.Sub():
            return _read_sum(node, scope)
        case exp.And() | exp.Or() | exp.DPipe():
            return build_call(CHAINS[type(node)], *_read_chain(node, scope))
        case _ if isinstance(node, CONDITIONS):
            return _read_condition(node, scope)
        case exp.Case() | exp.Cast() | exp.Extract() | exp.Anonymous():
            return _read_form(node, scope)
        case _ if type(node) in OPERATORS:
            return build_call(
                OPERATORS[type(node)], read_expression(node.this, scope), read_expression(node.expression, scope)
            )
        case _:
            raise _refuse_misplaced(node, scope)


def _read_plain(node: exp.Expr, scope: SqlScope) -> Expression:
    match node:
        case exp.Paren():
            return read_expression(node.this, scope)
        case exp.Neg(this=exp.Literal(is_string=False) as inner):
            return number(inner.name, -1)
        case exp.Neg():
            return build_call(F.NEGATE, read_expression(node.this, scope))
        case exp.Literal():
            return Literal.of(node.name) if node.is_string else number(node.name)
        case exp.Boolean():
            return Literal.of(bool(node.this))
        case _:
            return Literal.of(None)


def _suggest_seconds(text: str, start: int) -> str:
    """Return a fix for the difference of two columns of timestamps: its seconds."""
    words = "write DATE_DIFF('second', from, to), or 'minute', 'hour', 'day'"
    found = re.compile(rf"({PATH.pattern})\s*-\s*({PATH.pattern})\b(?!\s*['(])").match(text, start)
    if found is None:
        return words
    return Fix(words, Edit(start, found.end(), f"DATE_DIFF('second', {found[2]}, {found[1]})"))


def _read_sum(node: exp.Add | exp.Sub, scope: SqlScope) -> Expression:
    """Return a sum or difference; days may be added to a date, and a date taken from a date."""
    minus = isinstance(node, exp.Sub)
    left = read_expression(node.this, scope)
    if isinstance(node.expression, exp.Interval):
        return _add_interval(left, node, scope)
    right = read_expression(node.expression, scope)
    if minus and left.kind is right.kind is Kind.DATE:
        return build_call(F.DAYS_BETWEEN, right, left)
    if minus and left.kind.temporal and right.kind.temporal:
        raise scope.refuse(
            node,
            "The difference of timestamps would be an interval.",
            _suggest_seconds(scope.page.text, start_of(node)),
        )
    if left.kind.temporal or right.kind.temporal:
        raise scope.refuse(
            node,
            "Dates and numbers cannot be added.",
            "write day + INTERVAL 7 DAY, or DATE_DIFF('day', a, b) for the days between",
        )
    return build_call(F.SUBTRACT if minus else F.ADD, left, right)


def _add_interval(start: Expression, node: exp.Add | exp.Sub, scope: SqlScope) -> Expression:
    """Return a day some days or months later or before; of a moment, a moment."""
    if isinstance(start, Literal) and isinstance(start.value, str):
        start = moment(start.value) if len(start.value) > len("2024-01-31") else day(start.value)
    if not start.kind.temporal and not is_null(start):
        raise scope.refuse(
            node, "An interval can be added only to dates and timestamps.", "write CAST(x AS DATE) + INTERVAL 7 DAY"
        )
    function, amount = _read_interval(node.expression, scope)
    later = build_call(function, start, Literal.of(-amount if isinstance(node, exp.Sub) else amount))
    if isinstance(later, Call) and isinstance(start, Literal) and not is_null(start):
        raise scope.refuse(node, "The date is outside the years 1 to 9999.", "write a shorter interval")
    return later


def _read_interval(node: exp.Interval, scope: SqlScope) -> tuple[F, int]:
    """Return what adds an interval, and how many days or months it has."""
    unit, count = node.args.get("unit"), node.this
    text = count.name if isinstance(count, exp.Literal) else ""
    name = unit.name.upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    if name not in UNITS:
        raise scope.refuse(
            node,
            "An interval must be in seconds, minutes, hours, days, weeks, months, quarters or years.",
            "write INTERVAL 7 DAY, INTERVAL 3 MONTH, or the day itself, as in DATE '2025-01-01'",
        )
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 8:
        raise scope.refuse(node, f"An interval must be a whole number of {name.lower()}s.", f"write INTERVAL 7 {name}")
    function, size = UNITS[name]
    if abs(int(text) * size) > FARTHEST[function]:
        raise scope.refuse(node, "The interval is longer than ten thousand years.", f"write fewer {name.lower()}s")
    return function, int(text) * size


def _read_chain(node: exp.Expr, scope: SqlScope) -> list[Expression]:
    """Return the links of a row of ANDs, ORs or ||, whichever way they are put in parentheses."""
    links: list[Expression] = []
    waiting: list[exp.Expr] = [node]
    while waiting:
        link = waiting.pop()
        inner = link.unnest() if isinstance(link, exp.Paren) else link
        if type(inner) is type(node):
            waiting += [inner.expression, inner.this]
        else:
            links.append(read_expression(inner, scope))
    return links


def _read_condition(node: exp.Expr, scope: SqlScope) -> Expression:
    match node:
        case exp.Not():
            return build_call(F.NOT, read_expression(node.this, scope))
        case exp.Is():
            return _read_is(node, scope)
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            return _read_distinct(node, scope)
        case exp.In() if node.args.get("query") is not None:
            raise _refuse_misplaced(node.args["query"], scope)
        case exp.In():
            return build_in_set(
                read_expression(node.this, scope), [_read_member(member, scope) for member in node.expressions]
            )
        case exp.Between():
            value, low, high = (read_expression(node.args[name], scope) for name in ("this", "low", "high"))
            return build_call(F.AND, build_call(F.GE, value, low), build_call(F.LE, value, high))
        case exp.RegexpLike():
            return _read_match(node, scope)
        case _:
            return _read_like(node, scope)


def _read_is(node: exp.Is, scope: SqlScope) -> Expression:
    value = read_expression(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return build_call(F.IS_NULL, value)
    if value.kind is not Kind.BOOLEAN and not is_null(value):
        raise scope.refuse(node, "IS TRUE and IS FALSE are for conditions.", "write a comparison: age = 1")
    match node.expression:
        case exp.Boolean(this=True):
            return build_call(F.COALESCE, value, Literal.of(False))  # noqa: FBT003 - SQL's FALSE
        case exp.Boolean():
            return build_call(F.COALESCE, build_call(F.NOT, value), Literal.of(False))  # noqa: FBT003
        case _:
            raise scope.refuse(node, "IS compares only with NULL, TRUE or FALSE.", "write =")


def _read_distinct(node: exp.Expr, scope: SqlScope) -> Expression:
    """Return IS NOT DISTINCT FROM and IS DISTINCT FROM: comparisons that take NULL for a value, and are never NULL."""
    left, right = read_expression(node.this, scope), read_expression(node.expression, scope)
    same = isinstance(node, exp.NullSafeEQ)
    compared = build_call(F.EQ if same else F.NE, left, right)
    if isinstance(right, Literal) and not is_null(right):
        return build_call(F.COALESCE, compared, Literal.of(not same))
    neither = build_call(F.AND, build_call(F.IS_NULL, left), build_call(F.IS_NULL, right))
    return build_call(F.COALESCE, compared, neither if same else build_call(F.NOT, neither))


def _read_member(node: exp.Expr, scope: SqlScope) -> Literal:
    member = read_expression(node, scope)
    if not isinstance(member, Literal):
        raise scope.refuse(node, "IN needs constants.", "write x = y OR x = z to compare with columns")
    if member.value is None:
        raise scope.refuse(node, "NULL never matches in a list.", "write x IN (…) OR x IS NULL")
    return member


def build_in_set(value: Expression, members: list[Literal]) -> Expression:
    """Return whether a value is among constants, each of them once and all of one kind."""
    if not members:
        raise InvalidInput("IN needs constants.", fix="write x IN ('A', 'B')")
    read = [member for member in with_numbers(with_days((value, *members)))[1:] if isinstance(member, Literal)]
    for member in read:
        call(F.EQ, value, member)
    if Kind.REAL in {value.kind, *(member.kind for member in read)}:
        read = [Literal.of(float(member.value)) for member in read if isinstance(member.value, (int, float))]
    if value.kind is Kind.DATE and any(member.kind is Kind.TIMESTAMP for member in read):
        raise InvalidInput("Dates cannot be compared with timestamps here.", fix="write DATE '2024-01-31'")
    if value.kind is Kind.TIMESTAMP:
        read = [moment(str(member.value)) for member in read]
    return InSet(value, tuple(dict.fromkeys(read)))


def _read_match(node: exp.Expr, scope: SqlScope) -> Expression:
    """Return x RLIKE 'a|b'."""
    matched = build_matching([read_expression(node.this, scope), read_expression(node.expression, scope)], build_call)
    if matched is None:
        raise scope.refuse(node, "A regular expression needs a text, and a constant to match it with.", MATCHING)
    return matched


def _read_like(node: exp.Expr, scope: SqlScope) -> Expression:
    value, pattern = read_expression(node.this, scope), read_expression(node.expression, scope)
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise scope.refuse(node.expression, "LIKE needs a constant text.", "write x LIKE 'A%'")
    if value.kind is not Kind.TEXT:
        raise scope.refuse(node, f"LIKE does not take {value.kind.value} values.", "write CAST(x AS VARCHAR) LIKE …")
    test = Like(value, pattern.value, isinstance(node, exp.ILike))
    return build_call(F.NOT, test) if node.args.get("negate") else test


def _read_form(node: exp.Expr, scope: SqlScope) -> Expression:
    match node:
        case exp.Case():
            return _read_case(node, scope)
        case exp.Cast():
            return _read_cast(node, scope)
        case exp.Extract():
            return _read_extract(node, scope)
        case _ if node.name.upper() in AGGREGATES:
            raise _refuse_misplaced(node, scope)
        case _ if node.name.upper() in (*RANKINGS, *NEIGHBOURS):
            raise scope.refuse(
                node, f"{node.name.upper()} needs OVER.", f"write {node.name.upper()}(…) OVER (ORDER BY n DESC)"
            )
        case exp.Anonymous(expressions=[start, exp.Interval() as interval]) if node.name.upper() in MOVES:
            moved = MOVES[node.name.upper()](this=start.copy(), expression=interval.copy())
            return _read_sum(moved, scope)
        case _:
            return build_function_call(node, _read_arguments(node, scope), scope, build_call)


def _read_arguments(node: exp.Expr, scope: SqlScope) -> list[Expression]:
    """Return the values that a function is given. A unit of time may stand without quotes, before or behind them."""
    if node.name.upper() == "ROUND" and len(node.expressions) == 2:
        return [_read_rounded(node.expressions[0], scope), read_expression(node.expressions[1], scope)]
    nodes: list[exp.Expr] = list(node.expressions)
    unit = _find_unit(node, scope) if WITH_UNITS.get(node.name.upper()) == len(nodes) else None
    return [Literal.of(argument.name) if argument is unit else read_expression(argument, scope) for argument in nodes]


def _find_unit(node: exp.Expr, scope: SqlScope) -> exp.Expr | None:
    """Return the unit that stands first or last without quotes; of two that might be it, the one that is no column."""
    ends: list[exp.Expr] = [node.expressions[0], node.expressions[-1]]
    units = [end for end in ends if _is_unit(end)]
    known = (*UNITS, *PARTS)
    quoted = [end for end in ends if isinstance(end, exp.Literal) and end.name.upper().removesuffix("S") in known]
    if quoted or not units:
        return None
    units = [unit for unit in units if len(units) == 1 or not scope.find_columns(unit.name)]
    if len(units) != 1:
        raise scope.refuse(node, "It is not clear which of these is the unit.", "put the unit first, in quotes: 'day'")
    return units[0]


def _is_unit(node: exp.Expr) -> bool:
    """Whether a node is a name without quotes that is a unit of time."""
    return (
        isinstance(node, exp.Column)
        and not node.table
        and isinstance(node.this, exp.Identifier)
        and not node.this.args.get("quoted")
        and node.name.upper().removesuffix("S") in UNITS
    )


def _read_rounded(node: exp.Expr, scope: SqlScope) -> Expression:
    """Return what is rounded to some digits. ROUND(x::NUMERIC, 2) is how PostgreSQL wants a real to be written."""
    inner = node.unnest()
    if isinstance(inner, exp.Cast) and inner.args["to"].this is exp.DType.DECIMAL and not inner.args["to"].expressions:
        value = read_expression(inner.this, scope)
        return value if value.kind.numeric else build_call(F.TO_REAL, value)
    return read_expression(node, scope)


def _read_case(node: exp.Case, scope: SqlScope) -> Expression:
    compared = read_expression(node.this, scope) if node.this is not None else None
    branches = []
    for branch in node.args["ifs"]:
        condition = read_expression(branch.this, scope)
        condition = condition if compared is None else build_call(F.EQ, compared, condition)
        branches.append((condition, read_expression(branch.args["true"], scope)))
    default = node.args.get("default")
    otherwise = None if default is None else read_expression(default, scope)
    values = with_days((*(value for _, value in branches), *(() if otherwise is None else (otherwise,))))
    settled = tuple((condition, value) for (condition, _), value in zip(branches, values, strict=False))
    last = values[-1] if otherwise is not None and not is_null(otherwise) else None
    return Case(settled, last)


def _read_cast(node: exp.Cast, scope: SqlScope) -> Expression:
    kind = node.args["to"].this
    value = read_expression(node.this, scope)
    text = value.value if isinstance(value, Literal) and isinstance(value.value, str) else None
    if kind is exp.DType.DATE and text is not None:
        return day(text)
    if kind in MOMENTS:
        return _cast_to_moment(node, value, scope)
    if kind is exp.DType.DECIMAL:
        return _cast_to_decimal(node, value, scope)
    if kind is exp.DType.BOOLEAN and value.kind in (Kind.BOOLEAN, Kind.INTEGER):
        return value if value.kind is Kind.BOOLEAN else build_call(F.NE, value, Literal.of(0))
    sizes = node.args["to"].expressions
    if kind not in TYPES or (sizes and kind is not exp.DType.VARCHAR):
        raise scope.refuse(node, "This kind cannot be cast to.", "cast to INTEGER, DOUBLE, VARCHAR or DATE")
    return _cut_text(build_call(TYPES[kind], value), sizes, node, scope)


def _cut_text(text: Expression, sizes: list[exp.Expr], node: exp.Expr, scope: SqlScope) -> Expression:
    """Return a text that was cast to VARCHAR(5): its first letters, as standard SQL has it."""
    if not sizes:
        return text
    size = sizes[0].this.name if len(sizes) == 1 and isinstance(sizes[0], exp.DataTypeParam) else ""
    if not size.isdecimal() or not 1 <= len(size) <= 9:
        raise scope.refuse(node, "VARCHAR has one size, a whole number.", "write VARCHAR(10), or VARCHAR")
    return build_call(F.SUBSTRING, text, Literal.of(1), Literal.of(int(size)))


def _cast_to_moment(node: exp.Cast, value: Expression, scope: SqlScope) -> Expression:
    if isinstance(value, Literal) and isinstance(value.value, str):
        return moment(value.value)
    if value.kind is Kind.TIMESTAMP:
        return value
    if value.kind is not Kind.DATE:
        raise scope.refuse(
            node,
            "Only days and constant texts can be cast to TIMESTAMP.",
            'write CAST(x AS DATE), or declare kinds={"x": "timestamp"} when the table is opened',
        )
    return build_call(F.ADD_SECONDS, value, Literal.of(0))


def _cast_to_decimal(node: exp.Cast, value: Expression, scope: SqlScope) -> Expression:
    """Return a number to some digits after the point, as ROUND has it. How many stand before it is not looked at.

    Without digits, DECIMAL is another kind in every database: 3 digits, none, or as many as there are.
    """
    sizes = [
        parameter.this.name if isinstance(parameter, exp.DataTypeParam) else ""
        for parameter in node.args["to"].expressions
    ]
    if not 1 <= len(sizes) <= 2 or not all(size.isdecimal() and len(size) <= 2 for size in sizes):
        raise scope.refuse(
            node,
            "DECIMAL needs its digits; databases differ in the default.",
            "write DECIMAL(18, 2), with two digits after the point, or DOUBLE",
        )
    digits = int(sizes[1]) if len(sizes) == 2 else 0
    if digits > MOST_DIGITS:
        raise scope.refuse(
            node, f"DECIMAL has at most {MOST_DIGITS} digits after the point here.", "write DECIMAL(18, 2), or DOUBLE"
        )
    number_ = build_call(F.TO_REAL, value) if value.kind is Kind.TEXT else value
    return round_to_digits(number_, digits, build_call)


def _read_extract(node: exp.Extract, scope: SqlScope) -> Expression:
    unit = node.this.name.upper() if isinstance(node.this, (exp.Var, exp.Literal)) else ""
    if unit == "EPOCH":
        seconds = build_epoch([read_expression(node.expression, scope)], build_call)
        if seconds is not None:
            return seconds
    if unit not in PARTS:
        raise scope.refuse(node, f"EXTRACT does not know {unit or 'this'}.", f"use one of: {', '.join(PARTS)}")
    return build_call(PARTS[unit], read_expression(node.expression, scope))


def _refuse_misplaced(node: exp.Expr, scope: SqlScope) -> DiscreetError:
    match node:
        case exp.Star():
            return scope.refuse(node, "* would show rows, which are private.", "write COUNT(*), or name a column")
        case exp.Subquery() | exp.Query() | exp.Exists():
            return scope.refuse(
                node,
                "A scalar subquery is not supported here.",
                "compare rows with its number after WHERE of the question itself, or ask for the number first and "
                "write it here; put per-person sums after FROM or JOIN, or write person IN (SELECT person FROM …) or "
                "EXISTS (SELECT …) among the conditions of WHERE joined by AND",
            )
        case exp.Tuple():
            return scope.refuse(node, "A list in parentheses is not supported here.", "compare each value by itself")
        case exp.Window():
            return scope.refuse(node, WINDOW_OF_ROWS, SUM_UP_FIRST)
        case exp.Interval():
            return scope.refuse(node, "An interval cannot stand by itself.", "add it to a date: day + INTERVAL 7 DAY")
        case exp.Anonymous() | exp.Filter() | exp.WithinGroup() | exp.Distinct():
            word = node.find(exp.Anonymous)
            name = word.name.upper() if word else "DISTINCT"
            return scope.refuse(
                node,
                f"{name} cannot stand here.",
                "use aggregates after SELECT, HAVING or ORDER BY, and not inside each other",
            )
        case _:
            return scope.refuse(node, "This is not supported here.", "see the page on SQL for supported syntax")

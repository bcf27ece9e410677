"""Public facts of an expression: the grid of its values, and the groups that it can make."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import cast

from discreet.algebra import NotEvaluable, clamp, evaluate
from discreet.algebra.expressions import (
    Call,
    Case,
    ColumnValue,
    Expression,
    InSet,
    Like,
    Literal,
    children,
    columns_in,
    is_null,
)
from discreet.algebra.functions import F
from discreet.core import FINE, WIDEST, Bounds, InvalidInput
from discreet.core.schema import Kind, Schema, Value, day_of
from discreet.query.relations.intervals import TRUNCATE, Interval, interval_of
from discreet.query.remedies import Declare, Fix, Rewrite, quote_if_needed

#: More groups than this along one key are not listed beforehand.
MOST_VALUES = 10_000
#: A grid whose squares are added up has at most so many steps on either side of its middle.
MOST_SQUARED = 2**24
#: Integer functions of one value and constants: what they make of a value that is listed.
IMAGES: dict[F, Callable[..., int]] = {
    F.ADD: lambda left, right: left + right,
    F.SUBTRACT: lambda left, right: left - right,
    F.MULTIPLY: lambda left, right: left * right,
    F.NEGATE: lambda value: -value,
    F.ABS: abs,
    F.CLAMP: clamp,
}
#: Functions that have a value wherever one of their arguments has, and those that have one wherever all have.
SKIPS_NULLS = frozenset({F.COALESCE, F.LEAST, F.GREATEST})
TOTAL = frozenset({F.ADD, F.SUBTRACT, F.MULTIPLY, F.NEGATE, F.ABS, F.FLOOR, F.CEIL, F.ROUND, F.CLAMP})


def bounds_of(expression: Expression, words: str, *, squared: bool = False) -> Bounds:
    """Return the bounds and the grid of a value, or say what has to be declared."""
    if isinstance(expression, ColumnValue) and expression.bounds is not None:
        own = expression.bounds
        if not squared or own.radius <= MOST_SQUARED:
            return own
    interval = interval_of(expression)
    if interval.low is None or interval.high is None:
        raise _refuse_unbounded(expression, words)
    return _grid(interval, whole=expression.kind in (Kind.INTEGER, Kind.DATE), squared=squared)


def _grid(interval: Interval, *, whole: bool, squared: bool) -> Bounds:
    """Return bounds around an interval: steps of 1 for whole numbers, else a power of ten that is fine enough."""
    low, high = cast("Fraction", interval.low), cast("Fraction", interval.high)
    step = Fraction(1)
    widest = max(high - low, Fraction(1, 10**12))
    while not whole and widest / step < FINE:
        step /= 10
    while max(abs(low), abs(high)) / step > WIDEST / 2 or (squared and widest / 2 / step > MOST_SQUARED - 2):
        step *= 10
    first, last = low // step, -(-high // step)
    return Bounds(first * step, max(last, first + 1) * step, step=step)


def _refuse_unbounded(expression: Expression, words: str) -> InvalidInput:
    """Return the refusal of a value that may be of any size."""
    if not (expression.kind.numeric or expression.kind is Kind.DATE):
        return InvalidInput(
            f"{words} needs numbers, not {expression.kind.value}.", fix="use a numeric column or CAST(…)"
        )
    open_ends = sorted(name for name in columns_in(expression) if interval_of_column(expression, name) is None)
    if not open_ends:
        return InvalidInput(f"{words} is unbounded, although its columns have bounds.", fix=_suggest_clamp(words))
    name = open_ends[0]
    if expression.kind is Kind.DATE:
        return InvalidInput(
            f"{words} needs bounds for the dates of {name!r}.",
            fix=_suggest_clamp(words, "'2020-01-01', '2029-12-31'", "first and last day", name),
        )
    kind = _find_kind(expression, name)
    if kind is not None and kind.temporal:
        return InvalidInput(
            f"{words} is unbounded: the dates may lie any number of days apart.", fix=_suggest_clamp(words, name=name)
        )
    if kind is Kind.TEXT:
        return InvalidInput(f"{words} is unbounded: texts have no bounds.", fix=_suggest_clamp(words, name=name))
    return InvalidInput(
        f"{words} needs bounds for {name!r}.",
        fix=Fix(
            f'declare bounds={{"{name}": (low, high)}} when the dataset is opened, '
            f"write CLAMP({quote_if_needed(name)}, low, high), "
            f'or buy them with buy_bounds("{name}", epsilon=…)',
            Declare("bounds", name),
        ),
    )


def _suggest_clamp(
    words: str, ends: str = "0, 100", meant: str = "least and greatest value", name: str | None = None
) -> str:
    """Return a fix for a measure, such as AVG(LENGTH(name)): ends around what it is about.

    Of several values, as in CORR, it is the one that names a column without bounds.
    """
    function, _, rest = words.partition("(")
    values = _split_values(rest.removesuffix(")"))
    open_ones = values if len(values) == 1 else [value for value in values if name is not None and name in value]
    if not function or len(open_ones) != 1 or not open_ones[0]:
        return f"write CLAMP(…, {ends}) around it, with your own {meant}"
    held = [f"CLAMP({value}, {ends})" if value is open_ones[0] else value for value in values]
    clamped = f"{function}({', '.join(held)})"
    return Fix(f"write {clamped}, with your own {meant}", Rewrite(words, clamped))


def _split_values(text: str) -> list[str]:
    """Return the values between the commas of a call; commas inside parentheses and texts are none."""
    values, depth, quoted, begin = [], 0, False, 0
    for place, sign in enumerate(text):
        quoted ^= sign == "'"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if sign == "," and not depth and not quoted:
            values.append(text[begin:place].strip())
            begin = place + 1
    return [*values, text[begin:].strip()]


def _find_kind(expression: Expression, name: str) -> Kind | None:
    """Return the kind of a column as it stands in an expression."""
    if isinstance(expression, ColumnValue):
        return expression.kind if expression.name == name else None
    return next((kind for child in children(expression) if (kind := _find_kind(child, name)) is not None), None)


def interval_of_column(expression: Expression, name: str) -> Interval | None:
    """Return the bounds of a column as it stands in an expression; None if it has none."""
    if isinstance(expression, ColumnValue):
        if expression.name != name or expression.bounds is None:
            return None
        return Interval(expression.bounds.low, expression.bounds.high)
    intervals = [interval_of_column(child, name) for child in children(expression) if name in columns_in(child)]
    return intervals[0] if intervals else None


def public_values(expression: Expression, schema: Schema) -> tuple[Value, ...] | None:  # noqa: C901 - a case a kind
    """Return all values that an expression can take, if that is public; None if its groups have to be bought."""
    match expression:
        case ColumnValue(name=name, kind=kind, bounds=bounds):
            known = schema.find(name)
            if known is not None and known.groups is not None:
                return known.groups
            if kind is Kind.BOOLEAN:
                return (False, True)
            return list_values(expression) if bounds is not None else None
        case Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches] + ([] if otherwise is None else [otherwise])
            choices = [public_values(value, schema) for value in values if not is_null(value)]
            return _unite_values(choices)
        case Literal(value=value):
            return None if value is None else (value,)
        case Call(kind=Kind.BOOLEAN):
            return (False, True)
        case Call(function=F.COALESCE, arguments=arguments):
            return _coalesce_values(
                [public_values(argument, schema) for argument in arguments if not is_null(argument)]
            )
        case Call():
            listed = _image(expression, schema) or list_values(expression) or _list_texts(expression)
            return listed or _list_images(expression, schema)
        case _:
            return (False, True)


def _unite_values(choices: list[tuple[Value, ...] | None]) -> tuple[Value, ...] | None:
    lists = [values for values in choices if values is not None]
    if len(lists) < len(choices):
        return None
    return tuple(dict.fromkeys(value for values in lists for value in values))


def _coalesce_values(choices: list[tuple[Value, ...] | None]) -> tuple[Value, ...] | None:
    """Return the values of COALESCE: NULL is one of them only if it is one of each argument's."""
    values = _unite_values(choices)
    if values is None or all(None in (choice or ()) for choice in choices):
        return values
    return tuple(value for value in values if value is not None)


def _image(expression: Call, schema: Schema) -> tuple[Value, ...] | None:
    """Return the list of values of an integer function of one listed value and constants."""
    rule = IMAGES.get(expression.function)
    if rule is None or expression.kind is not Kind.INTEGER:
        return None
    choices = [public_values(argument, schema) for argument in expression.arguments]
    if any(values is None for values in choices):
        return None
    lists = [cast("tuple[int | None, ...]", values) for values in choices]
    many = [values for values in lists if len(values) > 1]
    if len(many) > 1:
        return None
    longest = many[0] if many else (0,)
    # One of them varies, the others are constants.
    argument_lists = ([value if len(values) > 1 else values[0] for values in lists] for value in longest)
    # NULL of a public column stays NULL: each of these functions is NULL where an argument is.
    images = {None if None in arguments else rule(*arguments) for arguments in argument_lists}
    return (*sorted(image for image in images if image is not None), *([None] if None in images else []))


def list_values(expression: Expression) -> tuple[Value, ...] | None:
    """Return whole numbers or days between two ends."""
    interval = interval_of(expression)
    if interval.low is None or interval.high is None or interval.high - interval.low >= MOST_VALUES:
        return None
    if expression.kind is Kind.INTEGER:
        return tuple(range(-(-interval.low // 1), interval.high // 1 + 1))
    if expression.kind is Kind.DATE:
        truncate = TRUNCATE.get(expression.function) if isinstance(expression, Call) else None
        first, last = day_of(int(interval.low)), day_of(int(interval.high))
        days = [first + timedelta(days=count) for count in range((last - first).days + 1)]
        return tuple(dict.fromkeys(days if truncate is None else map(truncate, days)))
    return None


def _list_texts(expression: Call) -> tuple[Value, ...] | None:
    """Return the texts that are made of a day between two ends, such as STRFTIME(day, '%Y-%m')."""
    days = _days_in(expression) if expression.kind is Kind.TEXT else set()
    if len(days) != 1:
        return None
    (day,) = days
    if day.kind is not Kind.DATE:
        return None
    name = ColumnValue("\0day", Kind.DATE)  # no column is called so
    values = list_values(day)
    made = put_names(expression, {day: name})
    try:
        texts = [evaluate(made, {name.name: value}) for value in (*values, None)] if values else []
    except NotEvaluable:
        return None
    return tuple(dict.fromkeys(text for text in texts if text is not None)) or None


def _list_images(expression: Call, schema: Schema) -> tuple[Value, ...] | None:
    """Return what a function makes of the values of its one column, where these are listed, such as UPPER(ward).

    A row with a value that is not listed counts if the function makes the same of it as of one that is.
    """
    columns = _columns_of(expression)
    if len(columns) != 1 or expression.kind not in (Kind.TEXT, Kind.INTEGER, Kind.DATE):
        return None
    (column,) = columns
    values = public_values(column, schema)
    if values is None:
        return None
    try:
        images = [evaluate(expression, {column.name: value}) for value in values]
        of_null = evaluate(expression, {column.name: None})
    except NotEvaluable:
        return None
    # NULL is listed only if the column's list has it; what a function makes of NULL is a value like others.
    return tuple(dict.fromkeys(images if of_null is None else [*images, of_null]))


def _columns_of(expression: Expression) -> set[ColumnValue]:
    """Return the columns that an expression is made of."""
    if isinstance(expression, ColumnValue):
        return {expression}
    return {column for child in children(expression) for column in _columns_of(child)}


def _days_in(expression: Expression) -> set[Expression]:
    """Return the days that an expression is made of, and the columns that are outside of these."""
    if isinstance(expression, ColumnValue) or (expression.kind is Kind.DATE and columns_in(expression)):
        return {expression}
    return {day for child in children(expression) for day in _days_in(child)}


def put_names(expression: Expression, names: Mapping[Expression, ColumnValue]) -> Expression:
    """Return an expression with names in the place of expressions that are called so."""
    if expression in names:
        return names[expression]
    match expression:
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(put_names(argument, names) for argument in arguments))
        case Case(branches=branches, otherwise=otherwise):
            pairs = tuple((put_names(condition, names), put_names(value, names)) for condition, value in branches)
            return Case(pairs, None if otherwise is None else put_names(otherwise, names))
        case InSet(value=value):
            return replace(expression, value=put_names(value, names))
        case Like(value=value):
            return replace(expression, value=put_names(value, names))
        case _:
            return expression


def never_null(expression: Expression, schema: Schema) -> bool:
    """Whether a value is there in every row, as far as was declared: then counting rows is counting values.

    Nothing private rests on it: how far a person moves a count of rows is known, whatever the values are.
    """
    match expression:
        case Literal(value=value):
            return value is not None
        case ColumnValue(name=name):
            known = schema.find(name)
            return known is not None and known.complete
        case Call(function=F.IS_NULL):
            return True
        case Call(function=function, arguments=arguments) if function in SKIPS_NULLS:
            return any(never_null(argument, schema) for argument in arguments)
        case Call(function=function, arguments=arguments) if function in TOTAL:
            return all(never_null(argument, schema) for argument in arguments)
        case Case(branches=branches, otherwise=otherwise):
            values = [value for _, value in branches]
            return otherwise is not None and all(never_null(value, schema) for value in (*values, otherwise))
        case _:
            return False

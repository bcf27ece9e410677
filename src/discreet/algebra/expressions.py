"""The small typed tree that questions are made of: what is computed from one row. Public; sees no row.

A tree is built by `call`, `column` and the classes below, which refuse what has no meaning; each node knows its kind.
How a node is computed is said once, in `discreet.algebra.functions`, for all engines. No row can make a node fail: what
has no value (a division by zero, a root of a negative number, a text that is not a number) is NULL.

Each node knows how many parts it has, counted as often as they stand in it: `x BETWEEN 1 AND 2` has x twice. A tree of
more than `MOST_PARTS` is refused where it is made, so that nothing that walks a tree can take long.

Arguments that are constants say the same on every engine, before any row is read (`constant_of`, `later`, …).
"""

from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import ClassVar

from discreet.algebra.functions import MOST_GROWTH, F, Function, kind_of_call
from discreet.core import Bounds, InvalidInput, OutOfRange, WrongType
from discreet.core.canonical_text import Record, settle
from discreet.core.schema import Kind, Schema, Value, closest, day_number, day_of

#: An expression has at most so many parts.
MOST_PARTS = 4_000
#: A pattern of LIKE has at most so many letters.
LONGEST_PATTERN = 1_000


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. Text that is compared with dates is turned into a date where the tree is built.

    Attributes:
        value: The constant, as engines see it.
        kind: Its kind.
        exact: The number that was written in decimals and is rounded in `value`: constants are computed from it.

    """

    __canonical__: ClassVar[Record] = Record("Literal", "value", "kind", unwritten=["exact"])

    value: Value
    kind: Kind
    exact: Fraction | None = field(default=None, repr=False, compare=False)

    @property
    def parts(self) -> int:
        """A constant is one part."""
        return 1

    @classmethod
    def of(cls, value: Value, exact: Fraction | None = None) -> "Literal":
        """Return a constant of the kind that Python's type says; NULL counts as text."""
        return cls(value, kind_of_value(value), exact)


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """A column of the row, clamped to its bounds if it has any."""

    __canonical__: ClassVar[Record] = Record("ColumnValue", "name", "kind", "bounds")

    name: str
    kind: Kind
    bounds: Bounds | None = None

    @property
    def parts(self) -> int:
        """A column is one part."""
        return 1


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other expressions. Made by `call`, which finds the kind."""

    __canonical__: ClassVar[Record] = Record("Call", "function", "arguments", "kind", unwritten=["parts"])

    function: Function
    arguments: tuple["Expression", ...]
    kind: Kind
    parts: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        settle(self, parts=_count_parts(self.arguments))


@dataclass(frozen=True, slots=True)
class Case:
    """The value beside the first condition that is true; otherwise the last; NULL if there is none."""

    __canonical__: ClassVar[Record] = Record("Case", "branches", "otherwise", "kind", unwritten=["parts"])

    branches: tuple[tuple["Expression", "Expression"], ...]
    otherwise: "Expression | None"
    kind: Kind = field(init=False)
    parts: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = [value for _, value in self.branches] + ([self.otherwise] if self.otherwise is not None else [])
        for condition, _ in self.branches:
            if condition.kind is not Kind.BOOLEAN:
                raise WrongType("A condition of CASE is not true or false.", fix="write a comparison after WHEN")
        settle(self, kind=common_kind([value for value in values if not is_null(value)] or values))
        settle(self, parts=_count_parts((*(condition for condition, _ in self.branches), *values)))


@dataclass(frozen=True, slots=True)
class InSet:
    """Whether a value is among constants (no NULL among them); NULL if the value is NULL."""

    __canonical__: ClassVar[Record] = Record("InSet", "value", "members", "kind", unwritten=["parts"])

    value: "Expression"
    members: tuple[Literal, ...]
    kind: Kind = field(init=False, default=Kind.BOOLEAN)
    parts: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        settle(self, parts=_count_parts((self.value,)))  # a list is one part, however long: it is looked up


@dataclass(frozen=True, slots=True)
class Like:
    """Whether a text fits a pattern: % is any text, _ any one character, and nothing escapes them."""

    __canonical__: ClassVar[Record] = Record("Like", "value", "pattern", "folded", "kind", unwritten=["parts"])

    value: "Expression"
    pattern: str
    #: Whether capitals do not matter (ILIKE).
    folded: bool = False
    kind: Kind = field(init=False, default=Kind.BOOLEAN)
    parts: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.pattern) > LONGEST_PATTERN:
            raise OutOfRange(
                f"A pattern of LIKE has more than {LONGEST_PATTERN:,} letters.", fix="match a shorter part of it"
            )
        settle(self, parts=_count_parts((self.value,)))


Expression = Literal | ColumnValue | Call | Case | InSet | Like


def _count_parts(below: Iterable["Expression"]) -> int:
    """Return the parts of a node above others, and refuse one with too many."""
    parts = 1 + sum(part.parts for part in below)
    if parts > MOST_PARTS:
        raise OutOfRange(
            f"An expression has more than {MOST_PARTS:,} parts; a part that is used twice counts twice.",
            fix="ask several shorter questions, or add the column to the table",
        )
    return parts


def call(function: Function, *arguments: Expression) -> Call:
    """Return a function of expressions, or refuse kinds that it has no meaning for."""
    kinds = [None if is_null(argument) else argument.kind for argument in arguments]
    return Call(function, tuple(arguments), kind_of_call(function, kinds))


def column(schema: Schema, name: str) -> ColumnValue:
    """Return a column of a table, or say which one was probably meant."""
    known = schema.find(name)
    if known is None:
        meant = closest(name, schema.names)
        raise InvalidInput(
            f"There is no column {name!r} in {schema.table}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(schema.names)}",
        )
    return ColumnValue(known.name, known.kind, known.bounds)


def common_kind(expressions: list[Expression]) -> Kind:
    """Return the kind that several values share; integers beside reals are reals."""
    kinds = {expression.kind for expression in expressions}
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    if kinds == {Kind.DATE, Kind.TIMESTAMP}:
        return Kind.TIMESTAMP
    if len(kinds) != 1:
        raise WrongType(
            f"These values are of different kinds: {', '.join(sorted(kind.value for kind in kinds))}.",
            fix="make them alike, for instance with CAST(… AS …)",
        )
    return kinds.pop()


def is_null(expression: Expression) -> bool:
    """Whether an expression is the constant NULL, which is of any kind."""
    return isinstance(expression, Literal) and expression.value is None


def kind_of_value(value: Value) -> Kind:
    """Return the kind of a constant."""
    match value:
        case bool():
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case float():
            return Kind.REAL
        case datetime():
            return Kind.TIMESTAMP
        case date():
            return Kind.DATE
        case str() | None:
            return Kind.TEXT
        case _:
            raise WrongType("This is not a constant.", fix="use a number, a text, a date, true or false")


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions right below one."""
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Case(branches=branches, otherwise=otherwise):
            below = tuple(part for branch in branches for part in branch)
            return below if otherwise is None else (*below, otherwise)
        case InSet(value=value, members=members):
            return (value, *members)
        case Like(value=value):
            return (value,)
        case _:
            return ()


def columns_in(expression: Expression) -> set[str]:
    """Return the names of all columns in a tree."""
    if isinstance(expression, ColumnValue):
        return {expression.name}
    return {name for child in children(expression) for name in columns_in(child)}


#: Integer arithmetic ends here.
SATURATED = 2**53
#: No day of years 1 to 9999 is farther from another.
MOST_DAYS = 3_652_058
#: No moment of years 1 to 9999 is farther from another, in whole seconds.
MOST_SECONDS = 86_400 * (MOST_DAYS + 1) - 1
#: No month of years 1 to 9999 is farther from another.
MOST_MONTHS = 119_987
#: Engines' positions in texts are 32-bit numbers.
MOST_POSITION = 2**31 - 1

#: Functions whose names and signs all engines share.
BINARY = {F.ADD: "+", F.SUBTRACT: "-", F.MULTIPLY: "*"}
SAME = {F.LEAST: "least", F.GREATEST: "greatest", F.COALESCE: "coalesce"}
TEXTS = {F.LOWER: "lower", F.UPPER: "upper"}
TRUNCATED = {F.TRUNC_YEAR: "year", F.TRUNC_QUARTER: "quarter", F.TRUNC_MONTH: "month", F.TRUNC_WEEK: "week"}
#: Units that moments are cut to, which stay moments: their names, and how many seconds they have.
CLOCK_UNITS = {F.TRUNC_HOUR: ("hour", 3_600), F.TRUNC_MINUTE: ("minute", 60), F.TRUNC_SECOND: ("second", 1)}
#: Parts of a day, as DuckDB and PostgreSQL call them.
PARTS = {
    F.YEAR: "year",
    F.QUARTER: "quarter",
    F.MONTH: "month",
    F.WEEK: "week",
    F.DAY: "day",
    F.WEEKDAY: "isodow",
    F.DOW: "dow",
    F.DOY: "doy",
    F.HOUR: "hour",
    F.MINUTE: "minute",
    F.SECOND: "second",
}


def constant_of(expression: Expression) -> Literal:
    """Return a constant, also one with a sign before it."""
    match expression:
        case Literal():
            return expression
        case Call(function=F.NEGATE, arguments=(Literal(value=int() | float() as value, kind=kind),)):
            return Literal(-value, kind)
        case _:
            raise InvalidInput("A constant is needed here.", fix="write a number, such as CLAMP(x, 0, 100)")


def whole_of(expression: Expression) -> int | None:
    """Return a constant that is a whole number, or NULL."""
    value = constant_of(expression).value
    if value is not None and not isinstance(value, int):
        raise InvalidInput("A whole number is needed here.", fix="write a whole number")
    return value


def kind_of_arguments(call: Call) -> Kind:
    """Return the kind that arguments are compared as."""
    kinds = [argument.kind for argument in call.arguments if not is_null(argument)]
    return comparison_kind(*kinds) if kinds else Kind.TEXT


def comparison_kind(*kinds: Kind) -> Kind:
    """Return the kind that values of some kinds are compared as."""
    return next((wider for wider in (Kind.REAL, Kind.TIMESTAMP) if wider in kinds), kinds[0])


@dataclass(frozen=True, slots=True)
class Later:
    """So many days or months, and the first and the last day that has another so far away from it."""

    amount: int
    months: bool
    first: date
    last: date


def later(call: Call) -> Later | None:
    """Return the addend of a day; None if there is no day so far away from any, or no number."""
    amount, months = whole_of(call.arguments[1]), call.function is F.ADD_MONTHS
    if amount is None or is_null(call.arguments[0]) or abs(amount) > (MOST_MONTHS if months else MOST_DAYS):
        return None
    first, last = _month_ends(amount) if months else (day_of(day_number(end) - amount) for end in (date.min, date.max))
    return Later(amount, months, first, last)


def _month_ends(months: int) -> tuple[date, date]:
    """Return the first and the last day that is some months away from another: whole months of days."""
    first, last = max(0, -months), MOST_MONTHS - max(0, months)
    year, month = last // 12 + 1, last % 12 + 1
    return date(first // 12 + 1, first % 12 + 1, 1), date(year, month, monthrange(year, month)[1])


@dataclass(frozen=True, slots=True)
class SecondsLater:
    """So many seconds, and the first and the last moment that has another so far away from it."""

    amount: int
    first: datetime
    last: datetime


def seconds_later(call: Call) -> SecondsLater | None:
    """Return the addend of a moment; None if there is no moment so far away from any, or no number."""
    amount = whole_of(call.arguments[1])
    if amount is None or is_null(call.arguments[0]) or abs(amount) > MOST_SECONDS:
        return None
    added = timedelta(seconds=amount)
    first = datetime.min - min(added, timedelta(0))  # noqa: DTZ901 - timestamps are UTC, without saying so
    last = datetime.max - max(added, timedelta(0))  # noqa: DTZ901
    return SecondsLater(amount, first, last)


def ends_of_substring(call: Call) -> tuple[int, int] | None:
    """Return the start and the length of a part of a text, as far as engines count; None if one is NULL."""
    start, length = (whole_of(argument) for argument in call.arguments[1:])
    if start is None or length is None:
        return None
    if start < 1 or length < 0:
        raise InvalidInput(
            "SUBSTRING starts before the text.", fix="pass a start of 1 or more, and a length of 0 or more"
        )
    return min(start, MOST_POSITION), min(length, MOST_POSITION)


def length_of_right(call: Call) -> int | None:
    """Return the number of last letters of a text that are meant, as far as engines count; None for NULL."""
    length = whole_of(call.arguments[1])
    if length is None:
        return None
    if length < 0:
        raise InvalidInput("RIGHT has a negative length.", fix="pass a length of 0 or more")
    return min(length, MOST_POSITION)


def texts_of(call: Call) -> tuple[str, ...]:
    """Return the constant texts of POSITION and REPLACE: what is looked for, and what is put in its place."""
    texts = tuple(
        argument.value
        for argument in call.arguments[1:]
        if isinstance(argument, Literal) and isinstance(argument.value, str)
    )
    if len(texts) < len(call.arguments) - 1 or not texts[0]:
        raise InvalidInput(
            f"{call.function.value} needs constant texts, and the first of them not empty.",
            fix="write STRPOS(x, 'a') or REPLACE(x, 'a', 'b')",
        )
    if len(texts) > 1 and len(texts[1]) > MOST_GROWTH * len(texts[0]):
        raise OutOfRange(
            f"REPLACE puts in a text that is more than {MOST_GROWTH} times as long as the one that it takes out.",
            fix="put in a shorter text",
        )
    return texts


def split_of(call: Call) -> tuple[str, int]:
    """Return the constant that SPLIT_PART splits a text at, and the number of the part, as far as engines count."""
    match call.arguments[1:]:
        case (Literal(value=str() as part), Literal(value=int() as number, kind=Kind.INTEGER)) if part and number >= 1:
            return part, min(number, MOST_POSITION)
        case _:
            raise InvalidInput(
                "SPLIT_PART needs a constant text that is not empty, and a constant number of at least 1.",
                fix="write SPLIT_PART(x, '-', 1)",
            )


class NotPlain(Exception):
    """A column is not simply another one, or it is clamped to other bounds than that."""


def map_children(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression with each of its direct children changed; constants of a list stay as they are."""
    match expression:
        case Literal() | ColumnValue():
            return expression
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(map(change, arguments)))
        case Case(branches=branches, otherwise=otherwise):
            return Case(
                tuple((change(condition), change(value)) for condition, value in branches),
                None if otherwise is None else change(otherwise),
            )
        case InSet(value=value, members=members):
            return InSet(change(value), members)
        case Like(value=value, pattern=pattern, folded=folded):
            return Like(change(value), pattern, folded)


def map_columns(expression: Expression, change: Callable[[ColumnValue], Expression]) -> Expression:
    """Return an expression with each of its columns changed."""
    if isinstance(expression, ColumnValue):
        return change(expression)
    return map_children(expression, lambda child: map_columns(child, change))


def prefix_columns(expression: Expression, prefix: str) -> Expression:
    """Return an expression over columns whose names begin with a prefix."""
    return map_columns(expression, lambda column: replace(column, name=f"{prefix}{column.name}"))


def substitute_columns(expression: Expression, columns: Mapping[str, ColumnValue]) -> Expression:
    """Return an expression with columns replaced by the columns that they are. May raise `NotPlain`."""
    return map_columns(expression, lambda column: _replace_column(column, columns.get(column.name)))


def _replace_column(column: ColumnValue, by: ColumnValue | None) -> ColumnValue:
    if by is None or (None not in (column.bounds, by.bounds) and column.bounds != by.bounds):
        raise NotPlain
    return by if column.bounds is None else replace(by, bounds=column.bounds)

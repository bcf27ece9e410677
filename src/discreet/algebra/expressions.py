"""The small typed tree that questions are made of: what is computed from one row. Public; sees no row.

A tree is built by `call`, `column` and the classes below, which refuse what has no meaning; each node knows its kind.
How a node is computed is said once, in `discreet.algebra.functions`, for all engines. No row can make a node fail: what
has no value (a division by zero, a root of a negative number, a text that is no number) is NULL.

Each node knows how many parts it has, counted as often as they stand in it: `x BETWEEN 1 AND 2` has x twice. A tree of
more than `MOST_PARTS` is refused where it is made, so that nothing that walks a tree can take long.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import ClassVar

from discreet.algebra.functions import Function, kind_of_call
from discreet.core import Bounds, InvalidInput, OutOfRange, WrongType
from discreet.core.canonical_text import Record
from discreet.core.frozen import settle
from discreet.core.schema import Kind, Schema, Value, closest

#: An expression has at most so many parts.
MOST_PARTS = 4_000
#: A pattern of LIKE has at most so many letters.
LONGEST_PATTERN = 1_000


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. Text that is compared with dates is turned into a date by whoever builds the tree."""

    __canonical__: ClassVar[Record] = Record("Literal", "value", "kind")

    value: Value
    kind: Kind

    @property
    def parts(self) -> int:
        """A constant is one part."""
        return 1

    @classmethod
    def of(cls, value: Value) -> "Literal":
        """Return a constant of the kind that Python's type says; NULL counts as text."""
        return cls(value, kind_of_value(value))


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
    found = schema.find(name)
    if found is None:
        meant = closest(name, schema.names)
        raise InvalidInput(
            f"There is no column {name!r} in {schema.table}.",
            fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(schema.names)}",
        )
    return ColumnValue(found.name, found.kind, found.bounds)


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
            raise WrongType("This is no constant.", fix="use a number, a text, a date, true or false")


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

"""SQL dialects: the differences between the engines' SQL, the values that they share, and how long the SQL gets.

`sql.relations` and `sql.statement` write the rest once for all.

A dialect is made for one statement: it gathers the constants of that statement as parameters (or writes them such that
nothing of a question can be taken for SQL). Its SQL never raises because of a row: an expression without a value is
NULL. Expressions mean what `discreet.algebra.functions` says.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from discreet.algebra.aggregates import Aggregation
from discreet.algebra.expressions import Expression, columns_in
from discreet.algebra.row_caps import RowFacts
from discreet.algebra.work_bounds import check_length
from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind, Value, day_number, day_of


@dataclass(frozen=True, slots=True)
class Typed:
    """A piece of SQL, and what it holds."""

    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Scanned:
    """A table as it stands in FROM: its columns by name, in canonical form (finite reals, times in UTC, no padding)."""

    #: The text after FROM: a table, or a subquery in parentheses; with its alias.
    text: str
    columns: Mapping[str, str]
    #: The sort keys of the rows of one unit, one after another: pieces for `sorting`.
    order: tuple[Typed, ...]
    #: The columns that identify units (`discreet.algebra.row_caps`); none for a public table, or where rows are units.
    units: tuple[Typed, ...]
    #: The replacement of the text in FROM that yields some of the rows, soon; empty if there is none.
    some: str = ""


class Dialect(Protocol):
    """One engine's SQL, for one statement."""

    def scan_private(self, table: str, alias: str, *, whole: bool = False) -> Scanned:
        """Return a private table under an alias; rows without a person are still in it.

        `whole`: also rows that were set aside as they were beyond the cap, on an engine that does so.

        Its order leaves no tie but of rows that are equal in all columns: see `discreet.algebra.relations`.
        """
        ...

    def scan_public(self, table: str, alias: str) -> Scanned:
        """Return a public table under an alias, ordered by its columns."""
        ...

    def value(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return an expression over columns whose SQL is given by name. `ColumnValue`s are clamped to their bounds.

        The constant NULL has the type of its kind. Equality is a plain `=` of both sides, so that joins can be hashed.
        """
        ...

    def truth(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return whether a condition is true: never NULL."""
        ...

    def number(self, piece: Typed) -> str:
        """Return a value as a number: integers as they are, days since 1970, 0 or 1, microseconds; reals as float64."""
        ...

    def point(self, piece: Typed, bounds: Bounds) -> str:
        """Return the grid point of a value as a 64-bit integer, as `Total` says; NULL for NULL."""
        ...

    def real(self, text: str) -> str:
        """Return a number as float64."""
        ...

    def wide_sum(self, text: str) -> str:
        """Return the exact sum of 64-bit integers over rows, wide enough for 2⁶³ of them; NULL over none."""
        ...

    def clip_sum(self, text: str) -> str:
        """Return a wide sum, clipped to ±2⁵³, as a 64-bit integer."""
        ...

    def divide(self, text: str, divisor: str) -> str:
        """Return a non-negative 64-bit integer, divided by a positive one and rounded down."""
        ...

    @property
    def keeps_subqueries(self) -> bool:
        """Whether a subquery that is named several times stands in the engine's plan once."""
        ...

    def define_subquery(self, name: str, text: str, *, once: bool) -> str:
        """Return the definition of a subquery after WITH; `once`: it is computed once, however often it is named."""
        ...

    def word(self, piece: Typed) -> str:
        """Return the word of a value (`discreet.algebra.row_hashes`) as a 64-bit integer; never NULL."""
        ...

    def mix(self, text: str) -> str:
        """Return `mix` of a non-negative 64-bit integer, after taking it modulo 2³²."""
        ...

    def sorting(self, piece: Typed) -> str:
        """Return the text after ORDER BY: NULL first, texts by their UTF-8 bytes, false before true."""
        ...

    def quote_name(self, name: str) -> str:
        """Return a name as an identifier."""
        ...


class BoundedDialect(Dialect, Protocol):
    """One engine's SQL, for one statement, and how many rows units have at most in its tables.

    `wide_sum` is also given wide sums to add up, and 64-bit ones.
    """

    @property
    def facts(self) -> RowFacts:
        """The largest number of rows of a unit."""
        ...

    def short_sum(self, text: str) -> str:
        """Return the exact sum of integers below 2³¹ in magnitude, over fewer than 2³² rows; NULL over none."""
        ...

    def quotient(self, text: str, divisor: int) -> str:
        """Return a non-negative 64-bit integer, divided by a constant and rounded down."""
        ...


# Values in SQL that all engines share: the range of integers, the ends of bounds, the length of a day.

LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1
#: Constants beyond this are compared as if they were it: no column holds more.
WIDE = 10**37
#: Microseconds of a day.
DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL, its kind, and a magnitude that no number among its values exceeds."""

    text: str
    kind: Kind
    most: float = math.inf


def ends(kind: Kind, bounds: Bounds) -> tuple[Value, Value]:
    """Return the smallest and the largest value that a column of bounds is seen to have."""
    match kind:
        case Kind.REAL:
            return nearest_float(bounds.low), nearest_float(bounds.high)
        case Kind.DATE:
            return day_of(int(bounds.low)), day_of(int(bounds.high))
        case Kind.TIMESTAMP:
            return _moment(bounds.low * DAY), _moment(bounds.high * DAY)
        case _:
            return (
                min(max(int(bounds.low), LEAST_INTEGER), MOST_INTEGER),
                min(max(int(bounds.high), LEAST_INTEGER), MOST_INTEGER),
            )


def _moment(microseconds: object) -> datetime:
    whole = int(microseconds)  # type: ignore[call-overload]
    days, rest = divmod(whole, DAY)
    day = day_of(days)
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - timestamps are UTC, without saying so
    return start if day_number(day) != days else start + timedelta(microseconds=rest)


# The length of the SQL that an engine would write: checked before payment. Public; sees no row.

#: A name of a column with signs that no question in SQL may hold, so that no literal looks like it; as short as the
#: names of subqueries' columns.
NAME = re.compile("\x01([0-9]{4})\x02c")
#: Writes an expression over columns in the SQL of one engine.
WriteSql = Callable[[Expression, Mapping[str, str]], str]


def measure(expression: Expression, write: WriteSql) -> tuple[int, Counter[str]]:
    """Return the length of an expression's SQL on one engine, and how often it names each column."""
    names = sorted(columns_in(expression))
    text = write(expression, {name: f"\x01{place:04}\x02c" for place, name in enumerate(names)})
    places = (int(place) for place in NAME.findall(text))
    # A literal of a question that was made by hand may look like a column that there is not.
    return len(text), Counter(names[place] for place in places if place < len(names))


def check_aggregation_length(aggregation: Aggregation, write: WriteSql) -> None:
    """Refuse an aggregation whose SQL is too long on one engine once columns of subqueries are written out.

    Aggregates are checked one by one: a batch asks for many in one pass, and each was allowed.
    """
    source = aggregation.source
    if source is None:
        return  # columns of a table are as long as their names
    where = () if aggregation.where is None else (aggregation.where,)
    shared = (*where, *(key.expression for key in aggregation.keys))
    check_length(
        source, (shared, *((value,) for value in aggregation.values)), lambda expression: measure(expression, write)
    )

"""SQL dialects: the differences between the engines' SQL.

`sql.relations` and `sql.statement` write the rest once for all.

A dialect is made for one statement: it gathers the constants of that statement as parameters (or writes them such that
nothing of a question can be taken for SQL). What it writes never raises because of a row: what has no value is NULL.
Expressions mean what `discreet.algebra.functions` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from discreet.algebra.expressions import Expression
from discreet.algebra.row_caps import RowFacts
from discreet.core import Bounds
from discreet.core.schema import Kind


@dataclass(frozen=True, slots=True)
class Typed:
    """A piece of SQL, and what it holds."""

    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Scanned:
    """A table as it stands in FROM: its columns by name, in canonical form (finite reals, times in UTC, no padding)."""

    #: What follows FROM: a table, or a subquery in parentheses; with its alias.
    text: str
    columns: Mapping[str, str]
    #: What the rows of one unit are ordered by, one after another: pieces for `sorting`.
    order: tuple[Typed, ...]
    #: What tells units apart (`discreet.algebra.unit_keys`); none for a public table, or where rows are units.
    units: tuple[Typed, ...]
    #: What stands in FROM in place of the text and yields some of the rows, soon; empty if there is no such way.
    some: str = ""


class Dialect(Protocol):
    """One engine's SQL, for one statement."""

    def scan_private(self, table: str, alias: str, *, whole: bool = False) -> Scanned:
        """Return a private table under an alias; rows of nobody are still in it.

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
        """Return what stands after ORDER BY: NULL first, texts by their UTF-8 bytes, false before true."""
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
        """How many rows units have at most."""
        ...

    def short_sum(self, text: str) -> str:
        """Return the exact sum of integers below 2³¹ in magnitude, over fewer than 2³² rows; NULL over none."""
        ...

    def quotient(self, text: str, divisor: int) -> str:
        """Return a non-negative 64-bit integer, divided by a constant and rounded down."""
        ...

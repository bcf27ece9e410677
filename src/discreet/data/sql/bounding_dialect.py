"""What bounded aggregates need of an engine's SQL, beside what `discreet.data.sql.dialect.Dialect` says."""

from typing import Protocol

from discreet.algebra.row_caps import RowFacts
from discreet.data.sql.dialect import Dialect


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

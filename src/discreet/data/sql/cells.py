"""Which cell a number is in, as SQL: a search in a tree of CASE, the same on every engine."""

import math
from collections.abc import Callable, Sequence

from discreet.algebra.aggregates import LEAST_POWER, MOST_POWER, Extremes, Histogram
from discreet.algebra.expressions import Literal
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.sql.dialect import Dialect, Typed
from discreet.data.sql.values import DAY

#: Microseconds of a day: moments count in days.
#: Powers of two that are edges of cells.
POWERS = [2.0**power for power in range(LEAST_POWER, MOST_POWER + 1)]


def real_number(piece: Typed, dialect: Dialect) -> str:
    """Return a value as the float64 that it counts as: of a moment, its days since 1970."""
    number = dialect.real(dialect.number(piece))
    return f"({number} / {_real(float(DAY), dialect)})" if piece.kind is Kind.TIMESTAMP else number


def histogram_cell(number: str, histogram: Histogram, dialect: Dialect) -> str:
    """Return the cell of a number between the edges of a histogram; NULL outside. The number is a column."""
    edges = [nearest_float(edge) for edge in histogram.edges]
    # As many cells are below as inner edges are at most the number.
    cell = _searched(edges[1:-1], lambda edge: _compared(number, "<", edge, dialect), str)
    outside = f"{_compared(number, '<', edges[0], dialect)} OR {_compared(number, '>', edges[-1], dialect)}"
    last = f"WHEN {_compared(number, '=', edges[-1], dialect)} THEN {len(edges) - 2}"
    return f"(CASE WHEN {number} IS NULL THEN NULL WHEN {outside} THEN NULL {last} ELSE {cell} END)"


def extreme_cell(number: str, extremes: Extremes, dialect: Dialect) -> str:
    """Return the cell of a number on the logarithmic grid; NULL for NULL. The number is a column."""
    middle = extremes.cells // 2
    above = _searched(POWERS, lambda edge: _compared(number, "<=", edge, dialect), lambda place: f"{middle + place}")
    below = _searched(POWERS, lambda edge: _compared(number, ">=", -edge, dialect), lambda place: f"{middle - place}")
    positive = _compared(number, ">=", 0.0, dialect)
    return f"(CASE WHEN {number} IS NULL THEN NULL WHEN {positive} THEN {above} ELSE {below} END)"


def _searched(
    edges: Sequence[float], passes: Callable[[float], str], leaf: Callable[[int], str], first: int = 0
) -> str:
    """Return a search for the place of the first edge that passes; after the last one, if none does."""
    if not edges:
        return leaf(first)
    half = len(edges) // 2
    left = _searched(edges[:half], passes, leaf, first)
    right = _searched(edges[half + 1 :], passes, leaf, first + half + 1)
    return f"(CASE WHEN {passes(edges[half])} THEN {left} ELSE {right} END)"


def _compared(number: str, how: str, edge: float, dialect: Dialect) -> str:
    """Return a comparison of a finite number with an edge, which may lie beyond what float64 holds."""
    if math.isinf(edge):
        return "1 = 1" if how == ("<" if edge > 0 else ">") else "1 = 0"
    return f"{number} {how} {_real(edge, dialect)}"


def _real(number: float, dialect: Dialect) -> str:
    return dialect.value(Literal(number, Kind.REAL), {})

"""Reach and square of what units add (`discreet.algebra.contributions`), in the numbers that Spark has.

In 64 bits where these surely hold them, in 38 digits where those do, and else in doubles that are not below them. What
a number can be at most is public: it follows from bounds and limits. So nothing can overflow, whatever the session
takes an overflow for.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.limits import AnyLimit
from discreet.data.failures import engine_failed
from discreet.data.spark.literals import real
from discreet.data.sql.answers import Sums
from discreet.data.sql.contributions import Added, whole_above
from discreet.data.sql.floats_above import floats_above
from discreet.data.sql.per_unit_sums import NARROW

#: What DECIMAL(38, 0) has no room for.
FULL = 10**38
#: A number has at most so many terms, none of them beyond what `Sums.most` says.
TERMS = 4
#: Of sums of doubles: relative margins for each number that is added, and for what was rounded before. Each step is
#: wrong by 2⁻⁵³ at most, so that they are four times as wide as need be.
STEP, BEFORE = 2.0**-51, 8


def added(limit: AnyLimit) -> Added:
    """Return what writes reach and square: exact where 38 digits surely hold them, else as doubles, not below them."""

    def told(reading: Sums, terms: Sequence[tuple[str, int]]) -> tuple[str, str]:
        most = TERMS * reading.most
        in_group, in_all = most * limit.rows_per_group, most * limit.rows
        if in_all >= FULL:
            size = _size_above(terms)
            return _sum_above(size), _sum_above(f"{size} * {size}")
        kind = "BIGINT" if in_all < NARROW else "DECIMAL(38, 0)"
        number = _number(terms, kind)
        reach = f"sum(abs({number}))"
        if in_group * in_all >= FULL:
            size = f"CAST(abs({number}) AS DOUBLE)"
            return reach, _sum_above(f"{size} * {size}")
        if in_group * in_all >= NARROW:
            number = _number(terms, "DECIMAL(38, 0)")
        return reach, f"sum(({number}) * ({number}))"

    return told


def _number(terms: Sequence[tuple[str, int]], kind: str) -> str:
    """Return the number that terms make, of a type that holds it."""
    return " + ".join(f"CAST({column} AS {kind}) * CAST('{factor}' AS {kind})" for column, factor in terms)


def _size_above(terms: Sequence[tuple[str, int]]) -> str:
    """Return a double that is not below the size of a number. Terms may cancel: the margin is of their sizes."""
    doubles = [f"CAST({column} AS DOUBLE) * {real(float(factor))}" for column, factor in terms]
    sizes = " + ".join(f"abs({one})" for one in doubles)
    return f"(abs({' + '.join(doubles)}) + ({sizes}) * {real(STEP * BEFORE)})"


def _sum_above(text: str) -> str:
    """Return a double that is not below the sum of numbers, none of which is negative."""
    return f"(sum({text}) * ({real(1.0)} + (count(*) + {BEFORE}) * {real(STEP)}))"


def read_floats(column: Any) -> NDArray[np.float64]:
    """Return reaches or squares, as Arrow has them, as floats that are not below them."""
    if column.null_count:
        raise engine_failed()  # something did not fit, and nobody may be charged less for it
    match str(column.type):
        case "double":
            return np.asarray(column.to_numpy(), dtype=np.float64)
        case "int64":
            return floats_above(column.to_numpy())
        case _:
            return whole_above(column.to_pylist())

"""Constants as Spark's SQL, such that no setting of a session changes them, and nothing in them can be taken for SQL.

A text is written as the bytes of its UTF-8: how Spark reads a text in quotes depends on the session. A moment is a
number of microseconds since 1970, in UTC: what Spark takes a timestamp for depends on the session, too.
"""

import math
from datetime import date, datetime, timedelta

from discreet.core.schema import Kind, Value
from discreet.data.sql.dialect import LEAST_INTEGER, MOST_INTEGER, WIDE

#: The type that holds a kind.
TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "BIGINT",
}
MIDNIGHT = datetime(1970, 1, 1)  # noqa: DTZ001 - timestamps are UTC, without saying so
NAN, INFINITY = "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"


def null(kind: Kind) -> str:
    """Return NULL of a kind."""
    return f"CAST(NULL AS {TYPES[kind]})"


def constant(value: Value, kind: Kind) -> str:
    """Return a constant of a kind; integers are clipped to 64 bits, and reals are finite or NULL."""
    if value is None:
        return null(kind)
    match kind:
        case Kind.INTEGER:
            return whole(min(max(int(value), LEAST_INTEGER), MOST_INTEGER))  # type: ignore[arg-type]
        case Kind.REAL:
            return real(float(value))  # type: ignore[arg-type]
        case Kind.TEXT:
            return text(str(value))
        case Kind.BOOLEAN:
            return "true" if value else "false"
        case Kind.DATE:
            return day(value)  # type: ignore[arg-type]
        case Kind.TIMESTAMP:
            return whole(microseconds(value))  # type: ignore[arg-type]


def whole(number: int) -> str:
    """Return an integer of 64 bits."""
    return f"{number}L" if number >= 0 else f"({number}L)"


def wide(number: int) -> str:
    """Return an integer for comparisons, where it may be beyond what columns hold."""
    if LEAST_INTEGER <= number <= MOST_INTEGER:
        return whole(number)
    return f"CAST('{min(max(number, -WIDE), WIDE)}' AS DECIMAL(38, 0))"


def real(number: float) -> str:
    """Return a float64, digit by digit; NULL if it is not finite. There is one zero."""
    if not math.isfinite(number):
        return null(Kind.REAL)
    return f"({number + 0.0!r}D)"


def text(value: str) -> str:
    """Return a text, as the bytes of its UTF-8."""
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def day(value: date) -> str:
    """Return a day."""
    return f"DATE'{value.year:04}-{value.month:02}-{value.day:02}'"


def microseconds(moment: date) -> int:
    """Return the microseconds from 1970 to a moment; of a day, to its midnight."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001
    return (moment - MIDNIGHT) // timedelta(microseconds=1)

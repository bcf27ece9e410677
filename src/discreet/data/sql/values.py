"""Values in SQL that all engines share: the range of integers, the ends of bounds, the length of a day."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind, Value, day_number, day_of

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

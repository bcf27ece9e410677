"""Constants as PostgreSQL's SQL, such that nothing in them can be taken for SQL, whatever the session's settings.

A text is written in letters, digits and escapes by code points alone.
"""

import math
from datetime import date, datetime

from discreet.core import InvalidInput
from discreet.core.schema import Kind, Value
from discreet.data.sql.dialect import LEAST_INTEGER, MOST_INTEGER, WIDE

#: The type that holds a kind.
TYPES = {
    Kind.INTEGER: "bigint",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp without time zone",
}
#: Texts are compared by their bytes, whatever the database's sense of the alphabet.
BYTES = 'COLLATE "C"'


def null(kind: Kind) -> str:
    """Return NULL of a kind."""
    return f"CAST(NULL AS {TYPES[kind]})" + (f" {BYTES}" if kind is Kind.TEXT else "")


def constant(value: Value, kind: Kind) -> str:
    """Return a constant of a kind; integers are clipped to 64 bits, and reals are finite or NULL."""
    if value is None:
        return f"({null(kind)})"
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
            return moment(value)  # type: ignore[arg-type]


def whole(number: int) -> str:
    """Return an integer of 64 bits."""
    return f"'{number}'::bigint"


def wide(number: int) -> str:
    """Return an integer for comparisons, where it may be beyond what columns hold."""
    if LEAST_INTEGER <= number <= MOST_INTEGER:
        return whole(number)
    return f"'{min(max(number, -WIDE), WIDE)}'::numeric"


def real(number: float) -> str:
    """Return a float64, digit by digit; NULL if it is not finite. There is one zero."""
    if not math.isfinite(number):
        return f"({null(Kind.REAL)})"
    return f"'{number + 0.0!r}'::float8"


def text(value: str) -> str:
    """Return a text."""
    return f"({bare_text(value)} {BYTES})"


def bare_text(value: str) -> str:
    """Return a text that has the collation of what it stands beside."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidInput(
            "A text has a character that PostgreSQL has not (U+0000, or half of a pair).", fix="leave it out"
        )
    return "E'" + "".join(map(_character, value)) + "'::text"


def _character(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in " -_.,:"):
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code < 1 << 16 else f"\\U{code:08X}"


def day(value: date) -> str:
    """Return a day."""
    return f"'{value.year:04}-{value.month:02}-{value.day:02}'::date"


def moment(value: date) -> str:
    """Return a moment; of a day, its midnight."""
    clock = (
        f" {value.hour:02}:{value.minute:02}:{value.second:02}.{value.microsecond:06}"
        if isinstance(value, datetime)
        else ""
    )
    return f"'{value.year:04}-{value.month:02}-{value.day:02}{clock}'::timestamp"

"""The canonical import: what each of the engine's types becomes, so that a value is one of six kinds, or NULL.

NaN and infinities are no values, and neither are days outside of years 1 to 9999. Moments are UTC. The casts stand in a
plain projection: a filter beside them could be pushed into a Parquet scan, whose statistics NaN makes wrong.
"""

from dataclasses import dataclass

from discreet.algebra.functions import LONGEST_TEXT
from discreet.algebra.names import quote_name
from discreet.core.schema import Kind

INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
REALS = {"FLOAT", "DOUBLE", "UBIGINT", "HUGEINT", "UHUGEINT"}
TEXTS = {"VARCHAR", "UUID", '"NULL"'}
MOMENTS = {"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
ZONED = "TIMESTAMP WITH TIME ZONE"

#: Kinds that values of a kind can be declared to be, beside their own.
CASTS = {
    Kind.TEXT: set(Kind),
    Kind.INTEGER: {Kind.REAL, Kind.TEXT, Kind.BOOLEAN},
    Kind.REAL: {Kind.INTEGER, Kind.TEXT},
    Kind.BOOLEAN: {Kind.INTEGER, Kind.REAL, Kind.TEXT},
    Kind.DATE: {Kind.TIMESTAMP, Kind.TEXT},
    Kind.TIMESTAMP: {Kind.DATE, Kind.TEXT},
}
#: A text with a moment and how far its clock is ahead of UTC.
OFFSET = r":[0-9.]+ ?[+-][0-9:]+\s*$"

DAYS = "DATE '0001-01-01' AND DATE '9999-12-31'"
TIMES = "TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'"


@dataclass(frozen=True, slots=True)
class Casting:
    """The kind that a column becomes, and the SQL that does it."""

    kind: Kind
    text: str


def casting(name: str, kind: str) -> Casting | None:
    """Return what a column of one of the engine's types becomes; None if it has no place here."""
    own = quote_name(name)
    if kind in INTEGERS:
        return Casting(Kind.INTEGER, f"CAST({own} AS BIGINT)")
    if kind in REALS or kind.startswith("DECIMAL("):
        return Casting(Kind.REAL, _finite(f"CAST({own} AS DOUBLE)"))
    if kind in TEXTS or kind.startswith("ENUM("):
        return Casting(Kind.TEXT, _not_too_long(f"CAST({own} AS VARCHAR)"))
    if kind == "BOOLEAN":
        return Casting(Kind.BOOLEAN, own)
    if kind == "DATE":
        return Casting(Kind.DATE, _between(own, DAYS))
    if kind in MOMENTS or kind == ZONED:
        moment = f"TRY_CAST({own} AS TIMESTAMP)"
        if kind == ZONED:
            moment = f"(CASE WHEN isfinite({own}) THEN TRY(make_timestamp(epoch_us({own}))) END)"
        return Casting(Kind.TIMESTAMP, _between(moment, TIMES))
    return None


def _not_too_long(text: str) -> str:
    """Return a text that has no more letters than a text may have, or NULL: two people's ids are never made one."""
    short = f"CASE WHEN length({text}) <= {LONGEST_TEXT} THEN {text} END"
    return f"(CASE WHEN strlen({text}) <= {4 * LONGEST_TEXT} THEN {short} END)"


def identity(name: str, kind: str, wanted: Kind | None) -> Casting | None:
    """Return what the column becomes that says who is protected: different values must stay different.

    Or two people would be one unit, and share its limit. Large whole numbers, decimals and moments do not fit their
    kinds here without loss, and become texts; so do reals, and everything that is to become a real or a moment. What is
    declared an integer is one only if it is written as one: "1.4" and "007" are nobody.
    """
    own = casting(name, kind)
    if own is None:
        return None
    exact = own.kind not in (Kind.REAL, Kind.TIMESTAMP)
    if exact and wanted in (None, own.kind):
        return own
    if wanted in (Kind.BOOLEAN, Kind.DATE):
        return None
    if wanted is Kind.INTEGER:
        number = cast_declared(name, kind, wanted)
        return None if number is None else Casting(Kind.INTEGER, _exactly(number.text, quote_name(name), own.kind))
    if kind in ("FLOAT", "DOUBLE"):
        return Casting(Kind.TEXT, f"CAST({own.text} + 0.0 AS VARCHAR)")  # −0 is 0, and what is no number is nobody
    return Casting(Kind.TEXT, f"CAST({quote_name(name)} AS VARCHAR)")


def _exactly(number: str, value: str, own: Kind) -> str:
    """Return a number where it says all of the value that it was read from."""
    back = f"CAST({number} AS VARCHAR) = {value}" if own is Kind.TEXT else f"{number} = {value}"
    return f"(CASE WHEN {back} THEN {number} END)"


def spelling(kind: str) -> str:
    """Return how ids of a type are written as texts: "1" for whole numbers, like texts; others in a way of their own.

    People have one id in all tables only if it is written in one way.
    """
    whole = kind in INTEGERS or kind in REALS - {"FLOAT", "DOUBLE"}
    if whole or kind in TEXTS or kind.startswith("ENUM(") or kind == "BOOLEAN":
        return "plain"
    return "float" if kind in ("FLOAT", "DOUBLE") else kind


def cast_declared(name: str, kind: str, wanted: Kind) -> Casting | None:
    """Return how a column becomes one of a declared kind; NULL is what does not fit. None: it has no such meaning."""
    own = casting(name, kind)
    if own is None or own.kind is wanted:
        return own
    if wanted not in CASTS[own.kind]:
        return None
    # Large numbers have more digits than a real has.
    whole = kind in REALS - {"FLOAT", "DOUBLE"} or kind.startswith("DECIMAL(")
    return Casting(wanted, cast_as(quote_name(name) if whole else own.text, wanted, own.kind))


def cast_as(value: str, wanted: Kind, own: Kind = Kind.TEXT) -> str:
    """Return SQL that makes a value one of a kind, or NULL."""
    match wanted:
        case Kind.INTEGER:
            return f"TRY_CAST({value} AS BIGINT)"
        case Kind.REAL:
            return _finite(f"TRY_CAST({value} AS DOUBLE)")
        case Kind.TEXT:
            return f"CAST({value} AS VARCHAR)"
        case Kind.BOOLEAN:
            return f"TRY_CAST({value} AS BOOLEAN)"
        case Kind.DATE:
            return _between(f"TRY_CAST({value} AS DATE)", DAYS)
        case Kind.TIMESTAMP if own is Kind.TEXT:
            zoned = f"TRY(make_timestamp(epoch_us(TRY_CAST({value} AS TIMESTAMPTZ))))"
            plain = f"TRY_CAST({value} AS TIMESTAMP)"
            moment = f"(CASE WHEN regexp_matches({value}, '{OFFSET}') THEN {zoned} ELSE {plain} END)"
            return _between(moment, TIMES)
        case Kind.TIMESTAMP:
            return _between(f"TRY_CAST({value} AS TIMESTAMP)", TIMES)


def _finite(real: str) -> str:
    # −0 becomes 0, or one person's id could have two texts.
    return f"(CASE WHEN {real} = 0 THEN 0::DOUBLE WHEN isfinite({real}) THEN {real} END)"


def _between(value: str, ends: str) -> str:
    return f"(CASE WHEN {value} BETWEEN {ends} THEN {value} END)"


def reason_left_out(kind: str) -> str:
    """Return why a column has no place in a schema."""
    short = kind.split("(", maxsplit=1)[0].split("[", maxsplit=1)[0].strip('"').lower()
    values = "lists" if kind.endswith("]") else f"values of the type {short}"
    return cannot_be_asked(values)


def cannot_be_asked(values: str) -> str:
    """Return why a column that holds something has no place in a schema."""
    return (
        f"it holds {values}, which cannot be asked about: turn it into numbers, texts or dates before opening the table"
    )

"""Column types: what each of DuckDB's becomes (one of six kinds, or NULL), and the rules that all engines share.

NaN and infinities are no values, and neither are days outside of years 1 to 9999. Moments are UTC. The casts stand in a
plain projection: a filter beside them could be pushed into a Parquet scan, whose statistics NaN makes wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.algebra.functions import LONGEST_TEXT
from discreet.algebra.names import quote_name
from discreet.core import InvalidInput
from discreet.core.schema import Column, Kind

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
        return Casting(Kind.DATE, between_ends(own, DAYS))
    if kind in MOMENTS or kind == ZONED:
        moment = f"TRY_CAST({own} AS TIMESTAMP)"
        if kind == ZONED:
            moment = f"(CASE WHEN isfinite({own}) THEN TRY(make_timestamp(epoch_us({own}))) END)"
        return Casting(Kind.TIMESTAMP, between_ends(moment, TIMES))
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
            return between_ends(f"TRY_CAST({value} AS DATE)", DAYS)
        case Kind.TIMESTAMP if own is Kind.TEXT:
            zoned = f"TRY(make_timestamp(epoch_us(TRY_CAST({value} AS TIMESTAMPTZ))))"
            plain = f"TRY_CAST({value} AS TIMESTAMP)"
            moment = f"(CASE WHEN regexp_matches({value}, '{OFFSET}') THEN {zoned} ELSE {plain} END)"
            return between_ends(moment, TIMES)
        case Kind.TIMESTAMP:
            return between_ends(f"TRY_CAST({value} AS TIMESTAMP)", TIMES)


def _finite(real: str) -> str:
    # −0 becomes 0, or one person's id could have two texts.
    return f"(CASE WHEN {real} = 0 THEN 0::DOUBLE WHEN isfinite({real}) THEN {real} END)"


def between_ends(value: str, ends: str) -> str:
    """Return SQL of a value that lies between two ends, or NULL."""
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


# Column rules that hold for all engines: a column is of its own kind, of the declared one, or a person's id.
#
# An engine says how each step is written.


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalRules:
    """How one engine writes values of one type as those of another. `own` is the column's SQL, `kind` its type."""

    #: (own, kind): what the column becomes by itself; None if it has no place here.
    casting: Callable[[str, str], Casting | None]
    #: (own, kind, made): a value as a text.
    as_text: Callable[[str, str, Casting], str]
    #: (text, wanted): what a text says.
    from_text: Callable[[str, Kind], str]
    #: (own, kind, made, wanted): a value of one kind as one of another, where neither is text.
    turned: Callable[[str, str, Casting, Kind], str]
    #: (number, own, kind, made): whether a number says all of the text or real that it was read from.
    same: Callable[[str, str, str, Casting], str]

    def identity(self, own: str, kind: str, wanted: Kind | None) -> Casting | None:
        """Return what the column becomes that says who is protected: different values must stay different.

        Or two people would be one unit, and share its limit. Decimals, reals and moments do not fit their kinds here
        without loss, or are no keys, and become texts; so does everything that is to become one of them. What is
        declared an integer is one only if it is written as one: "1.4" and "007" are nobody.
        """
        casting = self.casting(own, kind)
        if casting is None:
            return None
        if casting.kind not in (Kind.REAL, Kind.TIMESTAMP) and wanted in (None, casting.kind):
            return casting
        if wanted in (Kind.BOOLEAN, Kind.DATE):
            return None
        if wanted is Kind.INTEGER:
            number = self.cast_declared(own, kind, wanted)
            return None if number is None else Casting(Kind.INTEGER, self._exactly(number.text, own, kind, casting))
        return Casting(Kind.TEXT, self.as_text(own, kind, casting))

    def _exactly(self, number: str, own: str, kind: str, casting: Casting) -> str:
        """Return a number where it says all of the value that it was read from."""
        if casting.kind not in (Kind.TEXT, Kind.REAL):
            return number
        return f"(CASE WHEN {self.same(number, own, kind, casting)} THEN {number} END)"

    def cast_declared(self, own: str, kind: str, wanted: Kind) -> Casting | None:
        """Return how a column becomes one of a declared kind; NULL is what does not fit. None: it has no meaning."""
        casting = self.casting(own, kind)
        if casting is None or casting.kind is wanted:
            return casting
        if wanted not in CASTS[casting.kind]:
            return None
        if wanted is Kind.TEXT:
            return Casting(wanted, self.as_text(own, kind, casting))
        if casting.kind is Kind.TEXT:
            return Casting(wanted, self.from_text(casting.text, wanted))
        return Casting(wanted, self.turned(own, kind, casting, wanted))

    def column(self, name: str, own: str, kind: str, wanted: Kind | None, *, is_person: bool) -> Casting | None:
        """Return what a column becomes: as declared, or as it is."""
        if is_person:
            return self.identity(own, kind, wanted)
        return (
            self.casting(own, kind)
            if wanted is None
            else need_casting(name, wanted, self.cast_declared(own, kind, wanted))
        )


def need_casting(name: str, wanted: Kind, casting: Casting | None) -> Casting:
    """Return how a column becomes one of a declared kind; refuse a kind that it cannot be."""
    if casting is None:
        raise InvalidInput(
            f"The values of {name!r} cannot be read as {wanted.value}.",
            fix="declare the kind that it has, leave it out of `kinds`, or change the column before it is opened",
        )
    return casting


def cast_columns(castings: Mapping[str, Casting | None]) -> tuple[Column, ...]:
    """Return the columns that have a place in a schema."""
    columns = tuple(Column(name=name, kind=cast.kind) for name, cast in castings.items() if cast is not None)
    if not columns:
        raise InvalidInput("No column can be asked about.", fix="pass a table with columns of numbers, texts or dates")
    return columns

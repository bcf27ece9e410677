"""Column types of PostgreSQL, each turned into one of six kinds, or NULL.

NaN and infinities are not values, and neither are days outside of years 1 to 9999. Moments are UTC; those without a
time zone are taken as they stand. There is one zero. Texts are compared by their bytes, whatever the collation of their
column, and a char(n) has no padding.
"""

from discreet.algebra.functions import LONGEST_TEXT
from discreet.core.schema import Kind
from discreet.data.postgres.literals import BYTES, real
from discreet.data.postgres.numbers import (
    bind_pieces,
    date_of_text,
    finite_numeric,
    fitting,
    in_form,
    real_of_text,
    round_to_integer,
)
from discreet.data.reading.column_types import CanonicalRules, Casting, cannot_be_asked

INTEGERS = {"int2", "int4", "int8"}
REALS = {"float4", "float8"}
TEXTS = {"text", "varchar", "bpchar", "name", "uuid"}
#: Those that may be of any length.
LONG = {"text", "varchar", "bpchar"}
#: The type of every enumeration.
ENUM = "enum"

DAYS = "'0001-01-01'::date AND '9999-12-31'::date"
TIMES = "'0001-01-01'::timestamp AND '9999-12-31 23:59:59.999999'::timestamp"
LONG_INTEGER_TEXT = r"^\s*[+-]?[0-9]{1,18}\s*$"
MOMENT_TEXT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?"
#: The suffix of a moment with the offset of its clock from UTC.
OFFSET = r" ?(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])$"
TRUE, FALSE = "('true', 't', 'yes', 'y', '1')", "('false', 'f', 'no', 'n', '0')"


def casting(own: str, kind: str) -> Casting | None:
    """Return the kind of a column of one of the engine's types; None if it has no place here."""
    if kind in INTEGERS:
        return Casting(Kind.INTEGER, own if kind == "int8" else f"{own}::bigint")
    if kind in REALS:
        return Casting(Kind.REAL, _finite(own if kind == "float8" else f"{own}::float8"))
    if kind in TEXTS or kind == ENUM:
        text = f"({own}{'' if kind == 'text' else '::text'} {BYTES})"
        return Casting(Kind.TEXT, _not_too_long(text) if kind in LONG else text)
    if kind == "numeric":
        return Casting(Kind.REAL, finite_numeric("{x}", "{x}::float8").format(x=own))
    return _temporal(own, kind)


def _not_too_long(text: str) -> str:
    """Return a text that has no more letters than a text may have, or NULL. The bytes of a value are counted unread."""
    short = f"CASE WHEN char_length({text}) <= {LONGEST_TEXT} THEN {text} END"
    return f"(CASE WHEN octet_length({text}) <= {4 * LONGEST_TEXT} THEN {short} END)"


def _temporal(own: str, kind: str) -> Casting | None:
    match kind:
        case "bool":
            return Casting(Kind.BOOLEAN, own)
        case "date":
            return Casting(Kind.DATE, _between(own, DAYS))
        case "timestamp":
            return Casting(Kind.TIMESTAMP, _between(own, TIMES))
        case "timestamptz":
            return Casting(Kind.TIMESTAMP, _between(f"({own} AT TIME ZONE 'UTC')", TIMES))
        case _:
            return None


def _same(number: str, own: str, kind: str, cast: Casting) -> str:
    """Return whether a number says all of the text or real that it was read from."""
    if cast.kind is Kind.TEXT:
        return f"{number}::text {BYTES} = {cast.text}"
    return f"{number} = {own}" if kind == "numeric" else f"{number}::float8 = {cast.text}"


def spelling(kind: str) -> str:
    """Return how ids of a type are written as texts: see `discreet.data.reading.column_types.spelling`."""
    if kind in INTEGERS or kind in TEXTS or kind in (ENUM, "bool"):
        return "plain"
    return "float" if kind in REALS else kind


def _as_text(own: str, kind: str, cast: Casting) -> str:
    """Return a value as a text; of decimals all digits, and no zeros behind them: 1.0 and 1.00 are one number."""
    value = f"trim_scale({own})" if kind == "numeric" else cast.text
    if kind == "timestamptz":
        value = f"({own} AT TIME ZONE 'UTC')"  # also one that is not a moment here
    elif kind == "timestamp":
        value = own
    text = f"({value}::text {BYTES})"
    return _not_too_long(text) if kind == "numeric" else text


def _from_text(value: str, wanted: Kind) -> str:
    bare = f"btrim({value}, E' \\t\\n\\r\\f\\v')"
    match wanted:
        case Kind.INTEGER:
            return fitting(value, LONG_INTEGER_TEXT, f"{bare}::bigint")
        case Kind.REAL:
            return real_of_text(bare)
        case Kind.BOOLEAN:
            word = f"lower({bare})"
            return f"(CASE WHEN {word} IN {TRUE} THEN true WHEN {word} IN {FALSE} THEN false END)"
        case Kind.DATE:
            return date_of_text(bare)
        case _:
            return _moment_of_text(bare)


def _moment_of_text(text: str) -> str:
    """Return a text as a moment: its day must be one, its clock is tested by a pattern, and so is what follows it."""
    zoned = "({x}::timestamptz AT TIME ZONE 'UTC')"
    form = (
        f"(CASE WHEN {{day}} IS NULL THEN NULL WHEN {{x}} ~ '{in_form(MOMENT_TEXT)}$' THEN {{x}}::timestamp"
        f" WHEN {{x}} ~ '{in_form(MOMENT_TEXT + OFFSET)}' THEN {_between(zoned, TIMES)} END)"
    )
    return bind_pieces(form, x=text, day=date_of_text(f"left({text}, 10)"))


def _convert_kind(own: str, kind: str, cast: Casting, wanted: Kind) -> str:
    """Return a value of one kind as one of another: neither is text."""
    match cast.kind, wanted:
        case Kind.REAL, Kind.INTEGER if kind == "numeric":
            # Large decimals have more digits than a real has. NaN is larger than all numbers.
            return f"(CASE WHEN abs({own}) < 9223372036854775807 THEN round({own})::bigint END)"
        case Kind.REAL, Kind.INTEGER:
            whole = round_to_integer(cast.text)
            return bind_pieces(f"(CASE WHEN abs({{x}}) < {real(2.0**63)} THEN {{x}}::bigint END)", x=whole)
        case Kind.INTEGER, Kind.BOOLEAN:
            return f"({cast.text} <> 0)"
        case Kind.DATE, Kind.TIMESTAMP:
            return f"{cast.text}::timestamp"
        case Kind.TIMESTAMP, Kind.DATE:
            return f"{cast.text}::date"
        case Kind.BOOLEAN, Kind.INTEGER:
            return f"{cast.text}::integer::bigint"
        case Kind.BOOLEAN, _:
            return f"{cast.text}::integer::float8"
        case _:
            return f"{cast.text}::float8"


def _finite(own: str) -> str:
    # NaN is larger than infinity here. −0 becomes 0.
    return f"(CASE WHEN abs({own}) < 'infinity'::float8 THEN {own} + {real(0.0)} END)"


def _between(value: str, ends: str) -> str:
    return f"(CASE WHEN {value} BETWEEN {ends} THEN {value} END)"


def reason_left_out(kind: str) -> str:
    """Return why a column has no place in a schema."""
    content = "lists" if kind.startswith("_") else f"values of the type {kind}"
    return cannot_be_asked(content)


RULES = CanonicalRules(casting=casting, as_text=_as_text, from_text=_from_text, turned=_convert_kind, same=_same)

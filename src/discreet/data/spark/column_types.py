"""Column types of Spark, each turned into one of six kinds, or NULL.

NaN and infinities are not values, and neither are days outside of years 1 to 9999. Moments are microseconds since 1970
in UTC; those without a time zone are taken as they stand. There is one zero. Texts are compared by their bytes,
whatever the collation of their column, and a CHAR has no padding.

The expression that scrubs NaN is written such that no condition on a real can be pushed into a file's scan: the
statistics of a Parquet file may have been made without NaN, or by it.
"""

from discreet.algebra.functions import LONGEST_TEXT
from discreet.core.schema import Kind
from discreet.data.reading.column_types import CanonicalRules, Casting, cannot_be_asked
from discreet.data.spark.expressions import DAYS
from discreet.data.spark.literals import real, text, whole
from discreet.data.sql.dialect import DAY

INTEGERS = {"tinyint", "smallint", "int", "bigint"}
REALS = {"float", "double"}
#: The least and the largest moment that there is.
MOMENTS = (-62_135_596_800_000_000, 253_402_300_799_999_999)
LARGEST = real(1.7976931348623157e308)
INTEGER_TEXT = r"\A\s*([+-]?[0-9]{1,19})\s*\z"
REAL_TEXT = r"\A\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*\z"
DATE_TEXT = r"\A\s*((?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2})\s*\z"
MOMENT_TEXT = r"\A\s*((?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?"
#: A moment without a time zone, and one with how far its clock is ahead of UTC.
PLAIN_TEXT = MOMENT_TEXT + r")\s*\z"
ZONED_TEXT = MOMENT_TEXT + r" ?(?:Z|[+-][0-9]{2}:[0-9]{2}))\s*\z"


def casting(own: str, kind: str) -> Casting | None:
    """Return the kind of a column of one of the engine's types; None if it has no place here."""
    if kind in INTEGERS:
        return Casting(Kind.INTEGER, f"CAST({own} AS BIGINT)")
    if kind in REALS or kind.startswith("decimal("):
        return Casting(Kind.REAL, _finite(f"CAST({own} AS DOUBLE)"))
    if kind.startswith(("string", "varchar(", "char(")) or kind == "void":
        # Bytes that are not text could not be read here, and make every question fail that meets them.
        text_of = f"try_validate_utf8({_not_too_long(f'CAST({own} AS STRING)')})"
        return Casting(Kind.TEXT, f"rtrim({text_of})" if kind.startswith("char(") else text_of)
    return _temporal(own, kind)


def _not_too_long(value: str) -> str:
    """Return a text that has no more letters than a text may have, or NULL."""
    short = f"CASE WHEN char_length({value}) <= {LONGEST_TEXT} THEN {value} END"
    return f"(CASE WHEN octet_length({value}) <= {4 * LONGEST_TEXT} THEN {short} END)"


def _temporal(own: str, kind: str) -> Casting | None:
    match kind:
        case "boolean":
            return Casting(Kind.BOOLEAN, own)
        case "date":
            return Casting(Kind.DATE, _between(own, DAYS))
        case "timestamp":
            return Casting(Kind.TIMESTAMP, _moment(f"unix_micros({own})"))
        case "timestamp_ntz":
            return Casting(Kind.TIMESTAMP, _moment(_without_zone(own)))
        case _:
            return None


def _same(number: str, own: str, kind: str, cast: Casting) -> str:
    """Return whether a number says all of the text or real that it was read from."""
    if cast.kind is Kind.TEXT:
        return f"CAST({number} AS STRING) = {cast.text}"
    return f"{number} = {own}" if kind.startswith("decimal(") else f"CAST({number} AS DOUBLE) = {cast.text}"


def _as_text(own: str, kind: str, cast: Casting) -> str:
    """Return a value as a text. Of decimals all digits, and tried: a plain cast writes 0E-10 or not, as the mode is."""
    return f"try_cast({own if kind.startswith('decimal(') else cast.text} AS STRING)"


def _from_text(value: str, wanted: Kind) -> str:
    match wanted:
        case Kind.INTEGER:
            return _read(value, INTEGER_TEXT, "BIGINT")
        case Kind.REAL:
            return _finite(_read(value, REAL_TEXT, "DOUBLE"))
        case Kind.BOOLEAN:
            return f"try_cast({value} AS BOOLEAN)"
        case Kind.DATE:
            return _read(value, DATE_TEXT, "DATE")
        case _:
            zoned = f"unix_micros({_read(value, ZONED_TEXT, 'TIMESTAMP_LTZ')})"
            plain = _without_zone(_read(value, PLAIN_TEXT, "TIMESTAMP_NTZ"))
            return _moment(f"coalesce({zoned}, {plain})")


def _convert_kind(own: str, kind: str, cast: Casting, wanted: Kind) -> str:
    """Return a value of one kind as one of another: neither is text."""
    match cast.kind, wanted:
        case Kind.REAL, Kind.INTEGER:
            # Large decimals have more digits than a real has.
            number = own if kind.startswith("decimal(") else cast.text
            return f"try_cast(round({number}) AS BIGINT)"
        case Kind.INTEGER, Kind.BOOLEAN:
            return f"({cast.text} <> 0L)"
        case Kind.DATE, Kind.TIMESTAMP:
            return f"(unix_date({cast.text}) * {whole(DAY)})"
        case Kind.TIMESTAMP, Kind.DATE:
            return f"date_from_unix_date(CAST(({cast.text} - pmod({cast.text}, {whole(DAY)})) div {whole(DAY)} AS INT))"
        case _, Kind.INTEGER:
            return f"CAST({cast.text} AS BIGINT)"
        case _:
            return f"CAST({cast.text} AS DOUBLE)"


def _read(value: str, pattern: str, kind: str) -> str:
    """Return a text as something else, if it fits the pattern; what does not leaves an empty text, which is none."""
    return f"try_cast(regexp_extract({value}, {text(pattern)}, 1) AS {kind})"


def _finite(number: str) -> str:
    # Neither abs(x) nor x + 0 is a column, which is all that a scan of a file compares. −0 becomes 0.
    return f"(CASE WHEN abs({number}) <= {LARGEST} THEN {number} + {real(0.0)} END)"


def _between(value: str, ends: str) -> str:
    return f"(CASE WHEN {value} BETWEEN {ends} THEN {value} END)"


def _moment(number: str) -> str:
    return _between(number, f"{whole(MOMENTS[0])} AND {whole(MOMENTS[1])}")


def _without_zone(own: str) -> str:
    """Return the microseconds of a moment without a time zone. Spark's own differences take it for local time."""
    days = f"datediff(CAST({own} AS DATE), DATE'1970-01-01') * {whole(DAY)}"
    seconds = f"CAST(extract(SECOND FROM {own}) * 1000000 AS BIGINT)"
    return f"({days} + hour({own}) * {whole(DAY // 24)} + minute({own}) * {whole(DAY // 1440)} + {seconds})"


def reason_left_out(kind: str) -> str:
    """Return why a column has no place in a schema."""
    short = kind.split("<", maxsplit=1)[0].split("(", maxsplit=1)[0]
    content = "lists" if short == "array" else f"values of the type {short}"
    return cannot_be_asked(content)


RULES = CanonicalRules(casting=casting, as_text=_as_text, from_text=_from_text, turned=_convert_kind, same=_same)

"""What each of Spark's types becomes, so that a value is one of six kinds, or NULL.

NaN and infinities are no values, and neither are days outside of years 1 to 9999. Moments are microseconds since 1970
in UTC; those without a time zone are taken as they stand. There is one zero. Texts are compared by their bytes,
whatever the collation of their column, and a CHAR has no padding.

What scrubs NaN is written such that no condition on a real can be pushed into a file's scan: the statistics of a
Parquet file may have been made without NaN, or by it.
"""

from discreet.core.schema import Kind
from discreet.data.canonical import CASTS, Casting
from discreet.data.spark_calls import DAYS
from discreet.data.spark_literals import DAY, real, text, whole

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
    """Return what a column of one of the engine's types becomes; None if it has no place here."""
    if kind in INTEGERS:
        return Casting(Kind.INTEGER, f"CAST({own} AS BIGINT)")
    if kind in REALS or kind.startswith("decimal("):
        return Casting(Kind.REAL, _finite(f"CAST({own} AS DOUBLE)"))
    if kind.startswith(("string", "varchar(", "char(")) or kind == "void":
        text_of = f"CAST({own} AS STRING)"
        return Casting(Kind.TEXT, f"rtrim({text_of})" if kind.startswith("char(") else text_of)
    return _temporal(own, kind)


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


def identity(own: str, kind: str, wanted: Kind | None) -> Casting | None:
    """Return what the column becomes that says who is protected: different values must stay different.

    Or two people would be one unit, and share its limit. Decimals, reals and moments do not fit their kinds here
    without loss, or are no keys, and become texts; so does everything that is to become one of them. What is declared
    an integer is one only if it is written as one: "1.4" and "007" are nobody.
    """
    made = casting(own, kind)
    if made is None:
        return None
    if made.kind not in (Kind.REAL, Kind.TIMESTAMP) and wanted in (None, made.kind):
        return made
    if wanted in (Kind.BOOLEAN, Kind.DATE):
        return None
    if wanted is Kind.INTEGER:
        number = declared_casting(own, kind, wanted)
        return None if number is None else Casting(Kind.INTEGER, _exactly(number.text, own, kind, made))
    return Casting(Kind.TEXT, _as_text(own, kind, made))


def _exactly(number: str, own: str, kind: str, made: Casting) -> str:
    """Return a number where it says all of the value that it was read from."""
    match made.kind:
        case Kind.TEXT:
            same = f"CAST({number} AS STRING) = {made.text}"
        case Kind.REAL:
            decimal = kind.startswith("decimal(")
            same = f"{number} = {own}" if decimal else f"CAST({number} AS DOUBLE) = {made.text}"
        case _:
            return number
    return f"(CASE WHEN {same} THEN {number} END)"


def spelling(kind: str) -> str:
    """Return how ids of a type are written as texts: see `discreet.data.canonical.spelling`."""
    if kind in INTEGERS or kind == "boolean" or kind.startswith(("string", "varchar(", "char(")):
        return "plain"
    return "float" if kind in REALS else kind


def declared_casting(own: str, kind: str, wanted: Kind) -> Casting | None:
    """Return how a column becomes one of a declared kind; NULL is what does not fit. None: it has no such meaning."""
    made = casting(own, kind)
    if made is None or made.kind is wanted:
        return made
    if wanted not in CASTS[made.kind]:
        return None
    if wanted is Kind.TEXT:
        return Casting(wanted, _as_text(own, kind, made))
    if made.kind is Kind.TEXT:
        return Casting(wanted, _from_text(made.text, wanted))
    return Casting(wanted, _turned(own, kind, made, wanted))


def _as_text(own: str, kind: str, made: Casting) -> str:
    """Return a value as a text. Of decimals all digits, and tried: a plain cast writes 0E-10 or not, as the mode is."""
    return f"try_cast({own if kind.startswith('decimal(') else made.text} AS STRING)"


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


def _turned(own: str, kind: str, made: Casting, wanted: Kind) -> str:
    """Return a value of one kind as one of another: neither is text."""
    match made.kind, wanted:
        case Kind.REAL, Kind.INTEGER:
            # Large decimals have more digits than a real has.
            number = own if kind.startswith("decimal(") else made.text
            return f"try_cast(round({number}) AS BIGINT)"
        case Kind.INTEGER, Kind.BOOLEAN:
            return f"({made.text} <> 0L)"
        case Kind.DATE, Kind.TIMESTAMP:
            return f"(unix_date({made.text}) * {whole(DAY)})"
        case Kind.TIMESTAMP, Kind.DATE:
            return f"date_from_unix_date(CAST(({made.text} - pmod({made.text}, {whole(DAY)})) div {whole(DAY)} AS INT))"
        case _, Kind.INTEGER:
            return f"CAST({made.text} AS BIGINT)"
        case _:
            return f"CAST({made.text} AS DOUBLE)"


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
    what = "lists" if short == "array" else f"values of the type {short}"
    return (
        f"it holds {what}, which cannot be asked about: turn it into numbers, texts or dates before opening the table"
    )

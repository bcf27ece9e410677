"""Days and moments as texts, and texts as days: formats of strftime, MySQL, PostgreSQL and Java.

A format is cut into pieces: constant texts, and parts of a day. Parts are written with functions that every engine has:
those of a day's own text, YYYY-MM-DD, and numbers with zeros before them. A format with a piece that is not known, or
that databases write differently, is refused.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from discreet.algebra.expressions import Case, Expression, Like, Literal
from discreet.algebra.functions import F
from discreet.core.schema import Kind
from discreet.query.sql.row_functions.date_functions import MONTHS, WEEKDAYS, Make, join_texts, name_part, pad

#: A part of a day: its place and length in the day's text.
IN_DAY = {"year": (1, 4), "short year": (3, 2), "month": (6, 2), "day": (9, 2)}
#: Parts that are numbers: of which function, and to how many digits.
PADDED: dict[str, tuple[F, int]] = {
    "hour": (F.HOUR, 2),
    "minute": (F.MINUTE, 2),
    "second": (F.SECOND, 2),
    "day of year": (F.DOY, 3),
    "week": (F.WEEK, 2),
}
NUMBERS: dict[str, F] = {
    "quarter": F.QUARTER,
    "weekday": F.WEEKDAY,
    "Sunday's 0": F.DOW,
    "plain month": F.MONTH,
    "plain day": F.DAY,
    "plain hour": F.HOUR,
}
NAMES: dict[str, tuple[F, tuple[str, ...]]] = {
    "month name": (F.MONTH, MONTHS),
    "short month name": (F.MONTH, tuple(name[:3] for name in MONTHS)),
    "day name": (F.WEEKDAY, WEEKDAYS),
    "short day name": (F.WEEKDAY, tuple(name[:3] for name in WEEKDAYS)),
}
OF_CLOCK = ("hour", "minute", "second", "plain hour")

_shared = {"Y": "year", "y": "short year", "m": "month", "d": "day", "H": "hour", "S": "second", "j": "day of year"}
#: What stands behind % in strftime, and in MySQL, where some letters mean something else.
STRFTIME = {
    **_shared,
    "M": "minute",
    "B": "month name",
    "b": "short month name",
    "A": "day name",
    "a": "short day name",
    "u": "weekday",
    "w": "Sunday's 0",
    "V": "week",
    "-d": "plain day",
    "-m": "plain month",
    "-H": "plain hour",
}
MYSQL = {
    **_shared,
    "i": "minute",
    "s": "second",
    "M": "month name",
    "b": "short month name",
    "W": "day name",
    "a": "short day name",
    "w": "Sunday's 0",
    "e": "plain day",
    "c": "plain month",
    "k": "plain hour",
}
#: Words of TO_CHAR and TO_DATE, in PostgreSQL, Oracle and Snowflake. Small letters mean the same there, but `mm` are
#: minutes in Java, and so it is not known.
WORDS = {
    "YYYY": "year",
    "yyyy": "year",
    "YY": "short year",
    "MM": "month",
    "DD": "day",
    "dd": "day",
    "HH24": "hour",
    "MI": "minute",
    "SS": "second",
    "DDD": "day of year",
    "ID": "weekday",
    "IW": "week",
    "Q": "quarter",
    "FMMonth": "month name",
    "Mon": "short month name",
    "FMDay": "day name",
    "Dy": "short day name",
}
#: Letters of Java, which Spark has: a run of them is one piece.
JAVA = {
    "yyyy": "year",
    "yy": "short year",
    "MM": "month",
    "dd": "day",
    "HH": "hour",
    "mm": "minute",
    "ss": "second",
    "MMMM": "month name",
    "MMM": "short month name",
    "EEEE": "day name",
    "EEE": "short day name",
    "E": "short day name",
    "DDD": "day of year",
    "M": "plain month",
    "d": "plain day",
    "H": "plain hour",
    "Q": "quarter",
}
#: A piece of a format: a part of a day, or else a constant text.
Piece = tuple[str, bool]


def read_percents(form: str, signs: Mapping[str, str]) -> list[Piece] | None:
    """Return the pieces of a format with %; None if one of them is not known."""
    pieces: list[Piece] = []
    for sign, text in re.findall(r"%(-?[A-Za-z%])|([^%]+|%)", form):
        if sign == "%":
            pieces.append(("%", False))
        elif text and text != "%":
            pieces.append((text, False))
        elif sign in signs:
            pieces.append((signs[sign], True))
        else:
            return None
    return pieces


def read_words(form: str) -> list[Piece] | None:
    """Return the pieces of a format with words; None if one of them is not known."""
    known = "|".join(sorted(WORDS, key=len, reverse=True))
    return _read_runs(form, rf'({known})|"([^"]*)"|([^A-Za-z"]+)|(.)', WORDS)


def read_letters(form: str) -> list[Piece] | None:
    """Return the pieces of a format with letters of Java; None if one of them is not known."""
    return _read_runs(form, r"([A-Za-z])\1*|'([^']+)'|([^A-Za-z']+)|(.)", JAVA)


def _read_runs(form: str, pattern: str, known: Mapping[str, str]) -> list[Piece] | None:
    pieces: list[Piece] = []
    for found in re.finditer(pattern, form, re.DOTALL):
        if found[1]:
            if found[0] not in known:
                return None
            pieces.append((known[found[0]], True))
        elif found[4] is not None:
            return None
        else:
            pieces.append((found[2] if found[2] is not None else found[3], False))
    return pieces


def read_date_format(form: str) -> list[Piece] | None:
    """Return the pieces of DATE_FORMAT: MySQL's, which have %, or Java's, which Spark has."""
    return read_percents(form, MYSQL) if "%" in form else read_letters(form)


def read_any(form: str) -> list[Piece] | None:
    """Return the pieces of a format of texts that are read: with %, or in words."""
    return read_percents(form, STRFTIME) if "%" in form else read_words(form)


Read = Callable[[str], list[Piece] | None]


def writing(read: Read) -> Callable[[Sequence[Expression], Make], Expression | None]:
    """Return what builds the text of a day or a moment in a format, which may also stand first."""

    def build(arguments: Sequence[Expression], make: Make) -> Expression | None:
        match arguments:
            case [value, Literal(value=str() as form)] | [Literal(value=str() as form), value] if value.kind.temporal:
                pieces = read(form)
                return _write(value, pieces, make) if pieces else None
            case _:
                return None

    return build


def _write(value: Expression, pieces: list[Piece], make: Make) -> Expression | None:
    """Return the text of a day or a moment; None for a constant, which would hide that the day is NULL."""
    texts = [_write_part(value, part, make) if is_part else Literal.of(part) for part, is_part in _join_parts(pieces)]
    text = join_texts(texts, make)
    return None if isinstance(text, Literal) else text


def _join_parts(pieces: list[Piece]) -> list[Piece]:
    """Return pieces with runs of them as one that stand in a day's own text as they stand here."""
    for run, name in (("year-month-day", "date"), ("year-month", "year and month"), ("month-day", "month and day")):
        parts: list[Piece] = [piece for part in run.split("-") for piece in ((part, True), ("-", False))][:-1]
        for place in range(len(pieces) - len(parts), -1, -1):
            if pieces[place : place + len(parts)] == parts:
                pieces = [*pieces[:place], (name, True), *pieces[place + len(parts) :]]
    return pieces


def _write_part(value: Expression, part: str, make: Make) -> Expression:
    if part in OF_CLOCK and value.kind is Kind.DATE:
        return Literal.of("0" if part == "plain hour" else "00")
    if part in PADDED:
        function, width = PADDED[part]
        return pad(make(function, value), width, make)
    if part in NUMBERS:
        return make(F.TO_TEXT, make(NUMBERS[part], value))
    if part in NAMES:
        return name_part(*NAMES[part], value, make)
    text = make(F.TO_TEXT, value if value.kind is Kind.DATE else make(F.TRUNC_DAY, value))
    places = {**IN_DAY, "year and month": (1, 7), "month and day": (6, 5)}
    return text if part == "date" else make(F.SUBSTRING, text, *map(Literal.of, places[part]))


def build_read_day(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return the day that a text names in a format; NULL if it is another text, or there is no such day.

    The format has a year of four digits, a month and a day of two digits each, and signs between them.
    """
    match arguments:
        case [value]:
            return make(F.TO_DATE, value)
        case [text, Literal(value=str() as form)] if text.kind is Kind.TEXT:
            return _read_day(text, read_any(form), make)
        case _:
            return None


def _read_day(text: Expression, pieces: list[Piece] | None, make: Make) -> Expression | None:
    places: dict[str, tuple[int, int]] = {}
    pattern = ""
    for piece, is_part in pieces or []:
        if is_part and (piece in places or piece not in ("year", "month", "day")):
            return None
        if is_part:
            places[piece] = (len(pattern) + 1, IN_DAY[piece][1])
        elif set(piece) & {"%", "_"}:
            return None
        pattern += "_" * IN_DAY[piece][1] if is_part else piece
    if len(places) < 3:
        return None
    if pattern == "____-__-__" and list(places) == ["year", "month", "day"]:
        return make(F.TO_DATE, text)
    parts = [make(F.SUBSTRING, text, *map(Literal.of, places[part])) for part in ("year", "month", "day")]
    day = join_texts([parts[0], Literal.of("-"), parts[1], Literal.of("-"), parts[2]], make)
    return Case(((Like(text, pattern), make(F.TO_DATE, day)),), None)


FORMAT_CALLS: dict[str, Callable[[Sequence[Expression], Make], Expression | None]] = {
    "STRFTIME": writing(lambda form: read_percents(form, STRFTIME)),
    "FORMAT_DATE": writing(lambda form: read_percents(form, STRFTIME)),
    "TO_CHAR": writing(read_words),
    "DATE_FORMAT": writing(read_date_format),
    "STRPTIME": build_read_day,
    "TO_DATE": build_read_day,
}
READING = (
    "write TO_DATE(text, '%d.%m.%Y') or TO_DATE(text, 'DD.MM.YYYY'), with a year of four digits, and a month and a day "
    'of two; or declare kinds={"day": "date:%d.%m.%Y"} when the table is opened'
)
SIGNS = "write STRFTIME(day, '%Y-%m-%d'), of a date or a timestamp, with these: %"
FORMAT_USAGE: dict[str, str] = {
    "STRFTIME": SIGNS + " %".join(STRFTIME),
    "FORMAT_DATE": SIGNS + " %".join(STRFTIME),
    "TO_CHAR": f"write TO_CHAR(day, 'YYYY-MM-DD'), of a date or a timestamp, with these: {' '.join(WORDS)}",
    "DATE_FORMAT": "write DATE_FORMAT(day, '%Y-%m-%d') or DATE_FORMAT(day, 'yyyy-MM-dd'), with these: %"
    f"{' %'.join(MYSQL)}, or {' '.join(JAVA)}",
    "STRPTIME": READING,
    "TO_DATE": READING,
}

"""Parameters of statements: what type each has, and its value as a literal in the text.

A value is put in as one literal of its type, with blanks on both sides, in place of a piece that is known to be a
parameter: never into a text, a name or a comment. So no value can be anything but a value, whatever it holds.

Reference: PostgreSQL 17, section 53.2.3 (extended query).
"""

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from discreet.service.guarded_door import MOST_SQL
from discreet.service.postgres import values as v
from discreet.service.postgres.refusals import BAD_BINARY, BAD_TEXT, NOT_SUPPORTED, TOO_LARGE, SqlRefusal
from discreet.service.postgres.words import Piece, PieceKind, StatementText

#: Parameters of one statement, and digits of a number.
MOST_PARAMETERS, MOST_DIGITS = 1000, 400
#: Characters of a text that is read for its types; questions are no longer.
MOST_READ = 20_000
WHOLE_TYPES, REAL_TYPES = (v.INT2, v.INT4, v.INT8, v.OID), (v.FLOAT4, v.FLOAT8, v.NUMERIC)
TEXT_TYPES = (v.TEXT, v.VARCHAR, v.BPCHAR, v.NAME, v.CHAR)
#: Lists of texts are for the catalogue.
TYPES = (*WHOLE_TYPES, *REAL_TYPES, *TEXT_TYPES, v.BOOL, v.DATE, v.TIMESTAMP, v.TIMESTAMPTZ, v.TEXTS)
#: The types that casts name.
CAST_TYPES = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), v.INT8),
    **dict.fromkeys(("DOUBLE", "FLOAT"), v.FLOAT8),
    "DECIMAL": v.NUMERIC,
    "BOOLEAN": v.BOOL,
    "DATE": v.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "DATETIME"), v.TIMESTAMP),
}
#: A literal of each type, while values are not known.
BLANKS = {
    **dict.fromkeys(WHOLE_TYPES, "1"),
    **dict.fromkeys(REAL_TYPES, "1.0"),
    v.BOOL: "TRUE",
    v.DATE: "DATE '2000-01-01'",
    v.TEXTS: "ARRAY['A']",
    **dict.fromkeys((v.TIMESTAMP, v.TIMESTAMPTZ), "TIMESTAMP '2000-01-01 00:00:00'"),
}
DAY = re.compile(r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?: ?[+-][0-9]{2}(?::?[0-9]{2})?)?", re.ASCII)
MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?))?"
    r"(?: ?(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?))?",
    re.ASCII,
)
#: Names of no difference from UTC. A type without a time zone passes over others, as PostgreSQL does.
UTC = (None, "Z", "+00", "+00:00", "+0000", "-00", "-00:00")


def infer_types(statement: StatementText, declared: Sequence[int], kinds: Mapping[str, str]) -> tuple[int, ...]:
    """Return the type of each parameter: as declared; or else that of what it is compared with, or a text.

    `kinds` are those of the columns of all tables, by name.
    """
    many = statement.parameters
    if many > MOST_PARAMETERS:
        raise SqlRefusal.coded(TOO_LARGE, f"A statement has at most {MOST_PARAMETERS} parameters.", "use fewer")
    types = [declared[place] if place < len(declared) else 0 for place in range(many)]
    if any(oid in (0, v.UNKNOWN) for oid in types):
        found = _find_types(statement.text, kinds)
        types = [found.get(place + 1, v.TEXT) if oid in (0, v.UNKNOWN) else oid for place, oid in enumerate(types)]
    for oid in types:
        if oid not in TYPES:
            raise SqlRefusal.coded(
                NOT_SUPPORTED,
                "A parameter has a type that is not supported.",
                "pass numbers, texts, booleans, dates or timestamps; in place of = ANY ($1) write IN ($1, $2)",
            )
    return tuple(types)


def _find_types(text: str, kinds: Mapping[str, str]) -> dict[int, int]:
    """Return the types of parameters that follow from where they stand."""
    if len(text) > MOST_READ:
        return {}
    try:
        tree = Dialect.get_or_raise("postgres").parse(text)[0]
    except (SqlglotError, RecursionError, IndexError):
        return {}
    found: dict[int, int] = {}
    for node in tree.find_all(exp.Parameter) if tree is not None else ():
        number = node.name
        if number.isdigit() and len(number) < 6 and (oid := _type_at(node, kinds)) is not None:
            found.setdefault(int(number), oid)
    return found


def _type_at(node: exp.Expression, kinds: Mapping[str, str]) -> int | None:
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Neg):
        parent = parent.parent
    match parent:
        case exp.Any():
            return v.TEXTS
        case exp.Cast():
            return CAST_TYPES.get(getattr(parent.to.this, "name", ""), v.TEXT)
        case exp.Limit() | exp.Offset() | exp.Fetch():
            return v.INT8
        case exp.Predicate() | exp.Binary() | exp.Between() | exp.In() | exp.Coalesce():
            sides = list(parent.iter_expressions())
            columns = [column for side in sides for column in side.find_all(exp.Column)]
            known = [v.TYPES[kinds[column.name.lower()]] for column in columns if column.name.lower() in kinds]
            return known[0] if known else _type_of_literal(sides)
        case _:
            return None


def _type_of_literal(sides: Sequence[Any]) -> int | None:
    literals = [
        one for side in sides for one in side.find_all(exp.Literal) if not isinstance(one.parent, exp.Parameter)
    ]
    if any(one.is_string for one in literals):
        return v.TEXT
    counts = any(isinstance(one, exp.AggFunc) for side in sides for one in side.walk())
    return v.FLOAT8 if literals or counts else None


def fill(statement: StatementText, literals: Sequence[str], *, plain: bool = True) -> str:
    """Return the text of a statement with literals in place of its parameters.

    With `plain`, statements are refused that two readers of SQL may take apart differently.
    """
    if statement.parameters == 0:
        return statement.text
    if plain:
        _check_quotes(statement)
    parts, cast, size = list[str](), 0, len(statement.text)
    for at, piece in enumerate(statement.pieces):
        if at < cast:
            continue
        if piece.kind is not PieceKind.PARAMETER:
            parts.append(piece.text)
            continue
        place = int(piece.text[1:]) - 1
        if not 0 <= place < len(literals):
            raise SqlRefusal.coded(
                "42P02", "A parameter has no value.", "number parameters from $1 on, and pass as many values"
            )
        size += len(literals[place])
        if size > MOST_SQL:  # a text of 100,000 characters has room for a parameter of a megabyte 33,000 times
            raise SqlRefusal.coded(
                TOO_LARGE, f"The SQL is longer than {MOST_SQL} characters with its parameters.", "ask for less at once"
            )
        parts.append(f" {literals[place]} ")
        cast = _find_end_of_cast(statement.pieces, at, literals[place]) if plain else 0
    return "".join(parts)


#: Casts that clients write after parameters, and literals that are of the type already.
CASTS = (
    (("VARCHAR", "TEXT"), re.compile(r"'.*'", re.DOTALL)),
    (("INTEGER", "INT", "BIGINT", "SMALLINT"), re.compile(r"[0-9]+|\(-[0-9]+\)")),
    (("DATE",), re.compile(r"DATE '.*'")),
    (("TIMESTAMP",), re.compile(r"TIMESTAMP '.*'")),
    (("BOOLEAN",), re.compile(r"TRUE|FALSE")),
)


def _find_end_of_cast(pieces: Sequence[Piece], at: int, literal: str) -> int:
    """Return the place after a cast of a parameter to the type that its literal has; 0 without one.

    SQLAlchemy writes `ward IN ($1::VARCHAR)`, and IN takes constants.
    """
    following = [piece.text for piece in pieces[at + 1 : at + 5]]
    if following[:2] != [":", ":"] or len(following) < 3 or following[3:] == ["("]:
        return 0
    name = following[2].upper()
    return at + 4 if any(name in names and form.fullmatch(literal) for names, form in CASTS) else 0


def _check_quotes(statement: StatementText) -> None:
    """Refuse what two readers of SQL may take apart differently: then a value could come to stand within quotes."""
    for piece in statement.pieces:
        odd_sign = piece.kind is PieceKind.SIGN and piece.text in "[]`"
        nested = piece.kind is PieceKind.COMMENT and "/*" in piece.text[2:]
        if piece.kind is PieceKind.ESCAPED or odd_sign or nested:
            raise SqlRefusal.coded(
                NOT_SUPPORTED,
                "A statement with parameters has backslashes, dollars, brackets or nested comments.",
                "use plain quotes: 'text' and \"name\"",
                position=piece.start + 1,
            )


def blank_literals(oids: Sequence[int]) -> list[str]:
    """Return literals for parameters whose values are not known: only their types count."""
    return [BLANKS.get(oid, "'A'") for oid in oids]


def write_literal(content: bytes | None, oid: int, form: int) -> str:
    """Return a value of a type, as it was sent in text (0) or in binary (1), as a literal."""
    if content is None:
        return "NULL"
    text = _read_binary(content, oid) if form else _read_text(content)
    return WRITERS.get(oid, quote_text)(text)


def _write_day(text: str) -> str:
    found = DAY.fullmatch(text.strip()) or MOMENT.fullmatch(text.strip())
    return f"DATE '{_need(found)['day']}'"


def _write_moment(text: str) -> str:
    found = _need(MOMENT.fullmatch(text.strip()))
    time = found["time"] or "00:00:00"
    return f"TIMESTAMP '{found['day']} {time if time.count(':') == 2 else time + ':00'}'"


def _write_moment_in_utc(text: str) -> str:
    if _need(MOMENT.fullmatch(text.strip()))["zone"] not in UTC:
        raise refuse_value()
    return _write_moment(text)


def quote_text(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def _read_text(content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise refuse_value() from None
    if "\0" in text:
        raise refuse_value()
    return text


def refuse_value() -> SqlRefusal:
    """Return the refusal of a value that is none of its type. It does not quote the value."""
    return SqlRefusal.coded(BAD_TEXT, "The value of a parameter does not fit its type.", "pass one of the type")


def _need(found: "re.Match[str] | None") -> "re.Match[str]":
    if found is None:
        raise refuse_value()
    return found


def _write_whole(text: str) -> str:
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,30}\s*", text, re.ASCII):
        raise refuse_value()
    return _sign(str(int(text)))


def _write_real(text: str) -> str:
    try:
        number = Decimal(text.strip() if len(text) <= MOST_DIGITS else "NaN")
    except InvalidOperation:
        raise refuse_value() from None
    if not number.is_finite() or not -MOST_DIGITS < number.adjusted() < MOST_DIGITS:
        raise refuse_value()
    return _sign(f"{number:f}")


def _sign(digits: str) -> str:
    """Return a number; a negative one in parentheses, so that no sign before it makes a comment of it."""
    return f"({digits})" if digits.startswith("-") else digits


def _write_list(text: str) -> str:
    """Return a list of plain words, which is what clients send of those."""
    if not re.fullmatch(r"\{[\w \",-]*\}", text):
        raise refuse_value()
    items = [item.strip().strip('"') for item in text[1:-1].split(",")]
    return "ARRAY[" + ", ".join(quote_text(item) for item in items) + "]"


def _write_boolean(text: str) -> str:
    lowered = text.strip().lower()
    if lowered in ("t", "true", "y", "yes", "on", "1"):
        return "TRUE"
    if lowered in ("f", "false", "n", "no", "off", "0"):
        return "FALSE"
    raise refuse_value()


#: How values of types are written; those of others are texts.
WRITERS: Mapping[int, Callable[[str], str]] = {
    **dict.fromkeys(WHOLE_TYPES, _write_whole),
    **dict.fromkeys(REAL_TYPES, _write_real),
    v.BOOL: _write_boolean,
    v.TEXTS: _write_list,
    v.DATE: _write_day,
    v.TIMESTAMP: _write_moment,
    v.TIMESTAMPTZ: _write_moment_in_utc,
}


# Binary forms.


def _read_binary(content: bytes, oid: int) -> str:
    """Return the text of a value that was sent in binary."""
    reader = BINARY.get(oid, _read_text)
    try:
        return reader(content)
    except (struct.error, OverflowError, ValueError, IndexError):
        raise SqlRefusal.coded(
            BAD_BINARY, "The binary value of a parameter does not fit its type.", "pass values in text"
        ) from None


def _read_integer(size: int) -> Callable[[bytes], str]:
    def read(content: bytes) -> str:
        if len(content) != size:
            raise ValueError
        return str(int.from_bytes(content, "big", signed=True))

    return read


def _read_real(code: str) -> Callable[[bytes], str]:
    def read(content: bytes) -> str:
        (number,) = struct.unpack(code, content)
        if not math.isfinite(number):
            raise ValueError
        return repr(number)

    return read


def _read_boolean(content: bytes) -> str:
    return {b"\0": "f", b"\1": "t"}.get(content, "?")


def _read_day(content: bytes) -> str:
    (days,) = struct.unpack("!i", content)
    return str(v.DAY_ZERO + timedelta(days=days))


def _read_moment(content: bytes) -> str:
    (microseconds,) = struct.unpack("!q", content)
    return (v.TIME_ZERO + timedelta(microseconds=microseconds)).isoformat(" ")


def _read_numeric(content: bytes) -> str:
    """Return a numeric: digits to the base of 10,000, the weight of the first, a sign, and decimals to show."""
    many, weight, sign, scale = struct.unpack("!hhHH", content[:8])
    if many > MOST_DIGITS:  # the work below grows with the square of it
        raise ValueError
    digits = struct.unpack(f"!{many}H", content[8:])
    if sign not in (0, 0x4000) or abs(weight) > MOST_DIGITS or any(digit > 9999 for digit in digits) or scale > 0x3FFF:
        raise ValueError
    whole = 0
    for digit in digits:
        whole = whole * 10_000 + digit
    exponent = 4 * (weight - many + 1)
    number = Decimal((1 if sign else 0, tuple(map(int, str(whole))), exponent))  # exact, whatever the precision
    return f"{number:f}"


BINARY: Mapping[int, Callable[[bytes], str]] = {
    v.INT2: _read_integer(2),
    v.INT4: _read_integer(4),
    v.INT8: _read_integer(8),
    v.OID: _read_integer(4),
    v.FLOAT4: _read_real("!f"),
    v.FLOAT8: _read_real("!d"),
    v.NUMERIC: _read_numeric,
    v.BOOL: _read_boolean,
    v.DATE: _read_day,
    v.TIMESTAMP: _read_moment,
    v.TIMESTAMPTZ: _read_moment,
}

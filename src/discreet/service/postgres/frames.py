"""Messages of PostgreSQL's protocol 3.0: bytes made of words, and words read from bytes.

Guarantee: whatever the bytes are, reading them ends in words or in a refusal, after work in proportion to their number.
Reference: PostgreSQL 17, chapter 53 (frontend/backend protocol).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.service.postgres.refusals import ErrorWords, refuse_violation
from discreet.service.postgres.values import PgColumn

#: Requests in place of a protocol version.
CANCEL, TLS, GSS = 80877102, 80877103, 80877104
#: The major version that is spoken, and the newest minor one.
MAJOR, MINOR = 3, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    """The first message of a client: its settings, and extensions of the protocol that it names."""

    parameters: Mapping[str, str]
    minor: int
    extensions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parse:
    """A statement with a name, and the types of its parameters: 0 where the client does not say."""

    name: str
    text: str
    oids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """Values for a statement. Formats are 0 for text and 1 for binary: none, one for all, or one each."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    result_formats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What Describe and Close are about: a statement or a portal."""

    is_statement: bool
    name: str


class Body:
    """Reads the parts of a message from its beginning."""

    __slots__ = ("_at", "_content")

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        end = self._at + size
        if size < 0 or end > len(self._content):
            raise refuse_violation("A message ends early.")
        part = self._content[self._at : end]
        self._at = end
        return part

    def integer(self, size: int = 4) -> int:
        """Return a signed integer of 2 or 4 bytes."""
        return int.from_bytes(self.take(size), "big", signed=True)

    def oid(self) -> int:
        """Return an unsigned integer of 4 bytes."""
        return int.from_bytes(self.take(4), "big")

    def count(self, size: int) -> int:
        """Return how many parts of a size follow, if there is room for them."""
        many = int.from_bytes(self.take(2), "big")
        if many * size > len(self._content) - self._at:
            raise refuse_violation("A message ends early.")
        return many

    def text(self) -> str:
        """Return a text that ends with a zero byte."""
        end = self._content.find(b"\0", self._at)
        if end < 0:
            raise refuse_violation("A text in a message has no end.")
        part = self.take(end - self._at)
        self._at += 1
        return decode(part)

    def rest(self) -> bytes:
        """Return all that is left."""
        return self.take(len(self._content) - self._at)

    def finish(self) -> None:
        """Refuse what is left over."""
        if self._at != len(self._content):
            raise refuse_violation("A message has more than belongs to it.")


def decode(content: bytes) -> str:
    """Return the text that UTF-8 bytes say."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise refuse_violation("A text is not in UTF-8.") from None


# What clients say.


def read_startup(version: int, content: bytes) -> Startup:
    """Return the settings of a first message."""
    body, parameters = Body(content), dict[str, str]()
    while name := body.text():
        parameters[name] = body.text()
    body.finish()
    extensions = tuple(name for name in parameters if name.startswith("_pq_."))
    return Startup(parameters=parameters, minor=version & 0xFFFF, extensions=extensions)


def read_text(content: bytes) -> str:
    """Return the only text of a message."""
    body = Body(content)
    text = body.text()
    body.finish()
    return text


def read_parse(content: bytes) -> Parse:
    """Return a Parse message."""
    body = Body(content)
    name, text = body.text(), body.text()
    oids = tuple(body.oid() for _ in range(body.count(4)))
    body.finish()
    return Parse(name=name, text=text, oids=oids)


def read_bind(content: bytes) -> Bind:
    """Return a Bind message."""
    body = Body(content)
    portal, statement = body.text(), body.text()
    formats = tuple(body.integer(2) for _ in range(body.count(2)))
    values = tuple(_read_value(body) for _ in range(body.count(4)))
    result_formats = tuple(body.integer(2) for _ in range(body.count(2)))
    body.finish()
    if any(form not in (0, 1) for form in (*formats, *result_formats)) or len(formats) not in (0, 1, len(values)):
        raise refuse_violation("The formats of a Bind message fit to nothing.")
    return Bind(portal=portal, statement=statement, formats=formats, values=values, result_formats=result_formats)


def _read_value(body: Body) -> bytes | None:
    size = body.integer()
    return None if size == -1 else body.take(size)


def read_target(content: bytes) -> Target:
    """Return what a Describe or Close message is about."""
    body = Body(content)
    kind, name = body.take(1), body.text()
    body.finish()
    if kind not in (b"S", b"P"):
        raise refuse_violation("A message is neither about a statement nor about a portal.")
    return Target(is_statement=kind == b"S", name=name)


def read_execute(content: bytes) -> tuple[str, int]:
    """Return the portal of an Execute message, and how many rows are wanted: 0 for all."""
    body = Body(content)
    portal, most = body.text(), body.integer()
    body.finish()
    return portal, max(most, 0)


def read_sasl_choice(content: bytes) -> tuple[str, bytes]:
    """Return the mechanism that a client chose, and its first message."""
    body = Body(content)
    name, size = body.text(), body.integer()
    first = body.take(size) if size >= 0 else b""
    body.finish()
    return name, first


# What the server says.


def frame(kind: bytes, body: bytes = b"") -> bytes:
    """Return a message."""
    return kind + struct.pack("!I", len(body) + 4) + body


def zero_ended(text: str) -> bytes:
    """Return a text with a zero byte at its end, and none within."""
    return text.encode("utf-8", "backslashreplace").replace(b"\0", b"\\0") + b"\0"


def write_authentication(code: int, content: bytes = b"") -> bytes:
    """Return a step of authentication: 0 it is done, 10 to 12 SASL."""
    return frame(b"R", struct.pack("!I", code) + content)


def write_setting(name: str, value: str) -> bytes:
    """Return ParameterStatus."""
    return frame(b"S", zero_ended(name) + zero_ended(value))


def write_negotiation(extensions: Iterable[str]) -> bytes:
    """Return NegotiateProtocolVersion: the newest minor version that is spoken, and extensions that are not."""
    names = list(extensions)
    return frame(b"v", struct.pack("!II", MINOR, len(names)) + b"".join(map(zero_ended, names)))


def write_error(words: ErrorWords) -> bytes:
    """Return ErrorResponse."""
    return frame(b"E", _write_fields(words))


def write_notice(message: str, hint: str = "") -> bytes:
    """Return NoticeResponse."""
    words = ErrorWords(severity="NOTICE", sqlstate="00000", message=message, hint=hint)
    return frame(b"N", _write_fields(words))


def _write_fields(words: ErrorWords) -> bytes:
    fields = [("S", words.severity), ("V", words.severity), ("C", words.sqlstate), ("M", words.message)]
    if words.hint:
        fields.append(("H", words.hint))
    if words.position:
        fields.append(("P", str(words.position)))
    return b"".join(key.encode() + zero_ended(value) for key, value in fields) + b"\0"


def write_key(process: int, secret: int) -> bytes:
    """Return BackendKeyData, by which a client cancels."""
    return frame(b"K", struct.pack("!II", process, secret))


def write_ready(status: bytes) -> bytes:
    """Return ReadyForQuery: idle (I), in a transaction (T), or in one that has failed (E)."""
    return frame(b"Z", status)


def write_parameters(oids: Sequence[int]) -> bytes:
    """Return ParameterDescription."""
    return frame(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def write_columns(columns: Sequence[PgColumn], formats: Sequence[int] = ()) -> bytes:
    """Return RowDescription."""
    parts = [struct.pack("!H", len(columns))]
    for place, column in enumerate(columns):
        numbers = struct.pack("!IHIhiH", 0, 0, column.oid, column.size, -1, format_at(formats, place))
        parts.append(zero_ended(column.name) + numbers)
    return frame(b"T", b"".join(parts))


def write_row(cells: Sequence[bytes | None]) -> bytes:
    """Return DataRow."""
    parts = [struct.pack("!H", len(cells))]
    parts += [NULL if cell is None else struct.pack("!I", len(cell)) + cell for cell in cells]
    return frame(b"D", b"".join(parts))


def write_done(tag: str) -> bytes:
    """Return CommandComplete."""
    return frame(b"C", zero_ended(tag))


def write_copy_start(columns: int, *, binary: bool) -> bytes:
    """Return CopyOutResponse."""
    return frame(b"H", struct.pack(f"!bH{columns}H", int(binary), columns, *([int(binary)] * columns)))


#: The size of a cell that is NULL.
NULL = struct.pack("!i", -1)
PARSED, BOUND, CLOSED = frame(b"1"), frame(b"2"), frame(b"3")
NO_COLUMNS, SUSPENDED, EMPTY, COPY_END = frame(b"n"), frame(b"s"), frame(b"I"), frame(b"c")


def format_at(formats: Sequence[int], place: int) -> int:
    """Return the format of a column or a parameter: none is text, and one is that of all."""
    if not formats:
        return 0
    return formats[0] if len(formats) == 1 else formats[place]

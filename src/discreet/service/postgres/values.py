"""Values in PostgreSQL's types: what a column is told to be, and its cells in text and in binary.

Reference: PostgreSQL 17, chapter 8 (data types); binary forms are those of its functions `int8send` and kin.
"""

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from discreet.core.schema import Kind
from discreet.service.postgres.refusals import NOT_SUPPORTED, SqlRefusal

#: What a cell may hold; the catalogue has lists of texts, too.
Cell = bool | int | float | str | date | datetime | None | Sequence[str | None]

BOOL, CHAR, NAME, INT8, INT2, INT4, TEXT, OID = 16, 18, 19, 20, 21, 23, 25, 26
FLOAT4, FLOAT8, UNKNOWN, TEXTS, BPCHAR, VARCHAR = 700, 701, 705, 1009, 1042, 1043
DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 1082, 1114, 1184, 1700
#: Bytes of types that have a fixed size.
SIZES = {BOOL: 1, INT8: 8, INT2: 2, INT4: 4, OID: 4, FLOAT4: 4, FLOAT8: 8, DATE: 4, TIMESTAMP: 8}
#: The type of each kind.
TYPES: Mapping[str, int] = {
    Kind.INTEGER.value: INT8,
    Kind.REAL.value: FLOAT8,
    Kind.TEXT.value: TEXT,
    Kind.BOOLEAN.value: BOOL,
    Kind.DATE.value: DATE,
    Kind.TIMESTAMP.value: TIMESTAMP,
}
#: Where days and microseconds are counted from.
DAY_ZERO, TIME_ZERO = date(2000, 1, 1), datetime(2000, 1, 1)  # noqa: DTZ001 (timestamps here have no time zone)


@dataclass(frozen=True, slots=True)
class PgColumn:
    """A column of a result."""

    name: str
    oid: int = TEXT

    @property
    def size(self) -> int:
        """Bytes of a cell, or -1 if they differ."""
        return SIZES.get(self.oid, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A result: columns, and rows of as many cells."""

    columns: tuple[PgColumn, ...]
    rows: Sequence[Sequence[Cell]]


def fit_cell(value: Cell, oid: int) -> Cell:
    """Return a value as one of a type: an integer where a real was told becomes one."""
    if oid == FLOAT8 and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def write_text(value: Cell) -> bytes | None:
    """Return a cell in text; None for NULL."""
    match value:
        case None:
            return None
        case bool():
            return b"t" if value else b"f"
        case float():
            return _write_real(value).encode()
        case str():
            return value.encode("utf-8", "backslashreplace").replace(b"\0", b"\\0")
        case datetime():
            return value.isoformat(" ").encode()
        case int() | date():
            return str(value).encode()
        case _:
            return _write_list(value)


def _write_real(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    return text.removesuffix(".0")


def _write_list(values: Sequence[str | None]) -> bytes:
    quoted = ("NULL" if value is None else _quote_item(str(value)) for value in values)
    return b"{" + ",".join(quoted).encode("utf-8", "backslashreplace") + b"}"


def _quote_item(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def write_binary(value: Cell, oid: int) -> bytes | None:
    """Return a cell in binary; None for NULL."""
    if value is None:
        return None
    writer = BINARY.get(oid)
    try:
        if writer is not None:
            return writer(value)
    except (struct.error, OverflowError, ValueError, TypeError):
        pass
    raise SqlRefusal.coded(
        NOT_SUPPORTED,
        "A number of the answer does not fit into the binary form of its type.",
        "ask for results in text; an answer that was paid for is stored, and free",
    )


def _write_list_binary(value: Cell) -> bytes:
    items = [None if item is None else str(item).encode() for item in value]  # type: ignore[union-attr]
    head = struct.pack("!iiI", 1 if items else 0, int(None in items), TEXT)
    if not items:
        return head
    cells = (struct.pack("!i", -1) if item is None else struct.pack("!i", len(item)) + item for item in items)
    return head + struct.pack("!ii", len(items), 1) + b"".join(cells)


def _microseconds(value: datetime) -> int:
    return (value - TIME_ZERO) // timedelta(microseconds=1)


def _plain(value: Cell) -> bytes:
    return write_text(value) or b""


#: The writers of binary cells, by type.
BINARY: Mapping[int, Callable[..., bytes]] = {
    BOOL: lambda value: b"\1" if value else b"\0",
    INT8: lambda value: struct.pack("!q", value),
    INT4: lambda value: struct.pack("!i", value),
    INT2: lambda value: struct.pack("!h", value),
    OID: lambda value: struct.pack("!I", value),
    FLOAT8: lambda value: struct.pack("!d", value),
    DATE: lambda value: struct.pack("!i", (value - DAY_ZERO).days),
    TIMESTAMP: lambda value: struct.pack("!q", _microseconds(value)),
    TEXTS: _write_list_binary,
    **dict.fromkeys((TEXT, VARCHAR, NAME, BPCHAR, CHAR), _plain),
}

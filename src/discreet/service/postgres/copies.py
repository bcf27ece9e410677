"""COPY (SELECT …) TO STDOUT: a table in the formats text, csv and binary.

Reference: PostgreSQL 17, COPY, section "File Formats".
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from discreet.service.postgres.frames import NULL
from discreet.service.postgres.values import Cell, Table, write_binary, write_text

#: The head of the binary format, with its flags and the size of its extension; and its end.
SIGNATURE, TRAILER = b"PGCOPY\n\xff\r\n\0" + struct.pack("!II", 0, 0), struct.pack("!h", -1)
#: Signs that have a meaning in the text format.
ESCAPES = {b"\\": b"\\\\", b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b"\v": b"\\v"}


class CopyFormat(Enum):
    """A format of COPY."""

    TEXT = "text"
    CSV = "csv"
    BINARY = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOptions:
    """How a table is copied. Delimiter and NULL are those of the format, unless they are given."""

    form: CopyFormat = CopyFormat.TEXT
    header: bool = False
    delimiter: str | None = None
    null: str | None = None

    @property
    def separator(self) -> bytes:
        """What stands between cells."""
        default = "," if self.form is CopyFormat.CSV else "\t"
        return (self.delimiter or default).encode()

    @property
    def absent(self) -> bytes:
        """What stands for NULL."""
        default = "" if self.form is CopyFormat.CSV else "\\N"
        return (default if self.null is None else self.null).encode()


def write_copy(table: Table, options: CopyOptions) -> Iterator[bytes]:
    """Yield the contents of CopyData messages, one a row.

    The head of the binary format travels with the first row: ADBC and connectorx read no message without one.
    """
    if options.form is CopyFormat.BINARY:
        yield from _write_binary_rows(table)
        return
    write_cell = _write_csv_cell if options.form is CopyFormat.CSV else _write_text_cell
    if options.header:
        yield options.separator.join(write_cell(column.name, options) for column in table.columns) + b"\n"
    for row in table.rows:
        yield options.separator.join(write_cell(cell, options) for cell in row) + b"\n"


def _write_binary_rows(table: Table) -> Iterator[bytes]:
    head = SIGNATURE
    for row in table.rows:
        parts = [head, struct.pack("!h", len(row))]
        for cell, column in zip(row, table.columns, strict=True):
            content = write_binary(cell, column.oid)
            parts.append(NULL if content is None else struct.pack("!I", len(content)) + content)
        yield b"".join(parts)
        head = b""
    yield head + TRAILER


def _write_text_cell(value: Cell, options: CopyOptions) -> bytes:
    content = write_text(value)
    if content is None:
        return options.absent
    for sign, escape in ESCAPES.items():
        content = content.replace(sign, escape)
    return content.replace(options.separator, b"\\" + options.separator) if options.delimiter else content


def _write_csv_cell(value: Cell, options: CopyOptions) -> bytes:
    content = write_text(value)
    if content is None:
        return options.absent
    special = (options.separator, b'"', b"\r", b"\n")
    if content in (options.absent, b"\\.") or any(sign in content for sign in special):
        return b'"' + content.replace(b'"', b'""') + b'"'
    return content

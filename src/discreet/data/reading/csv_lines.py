"""The lines of a CSV file in a table of the engine. A line ends at a line feed, and nowhere else.

The engine's own CSV reader also ends lines at a carriage return, so that one cell could begin a row of another person.
Here the file is cut at the byte 0x0A, which is part of no other UTF-8 character. A carriage return before a line feed
belongs to the end of the line; any other one stays in its cell, as do vertical tabs, form feeds, NEL, U+2028 and NUL.
A line that is empty, no UTF-8, or longer than `LONGEST_LINE`, is left out, and no other line with it.
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from discreet.core import InvalidInput

#: The engine's table of lines.
LINES_TABLE = "source_lines"
#: Bytes of a first line that are read: more are no names.
LONGEST = 1 << 20
#: A longer line is left out, in bytes.
LONGEST_LINE = 2_000_000
#: Bytes that are handed to the engine at a time.
PIECE = 1 << 22


def first_line(path: Path) -> str:
    """Return the first line of a file, which names the columns."""
    with _open_file(path) as file:
        line = file.readline(LONGEST)
    text = line.decode("utf-8-sig", errors="replace").removesuffix("\n").rstrip("\r")
    if "\r" in text:
        # Names are public, and so is this; the line is not quoted, as it may be the whole file.
        raise InvalidInput(
            "The first line of the file has a carriage return within it.",
            fix="end each line by a line feed, or by a carriage return and a line feed",
        )
    return text


def load_lines(connection: Any, path: Path) -> None:
    """Create the table of a file's lines, in their order, without the first."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {LINES_TABLE} (line VARCHAR)")
    # S608: made of our own words.
    insert = (
        f"INSERT INTO {LINES_TABLE} SELECT rtrim(line, chr(13)) "  # noqa: S608
        "FROM (SELECT unnest(string_split($piece, chr(10))) AS line) "
        f"WHERE rtrim(line, chr(13)) <> '' AND strlen(line) <= {LONGEST_LINE}"
    )
    with _open_file(path) as file:
        _skip_line(file)
        for piece in _pieces(file):
            connection.execute(insert, {"piece": piece})


def forget_lines(connection: Any) -> None:
    """Drop the table of lines."""
    connection.execute(f"DROP TABLE IF EXISTS {LINES_TABLE}")


def _open_file(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb"))


def _skip_line(file: IO[bytes]) -> None:
    while (part := file.readline(LONGEST)) and not part.endswith(b"\n"):
        pass


def _pieces(file: IO[bytes]) -> Iterator[str]:
    """Return whole lines, many at a time, with line feeds between them."""
    rest = b""
    while block := file.read(PIECE):
        lines, feed, after = block.rpartition(b"\n")
        if not feed:
            rest = (rest + block)[: LONGEST_LINE + 1]  # more would be left out anyway
            continue
        yield from _decode_lines(rest + lines)
        rest = after
    if rest:
        yield from _decode_lines(rest)


def _decode_lines(lines: bytes) -> Iterator[str]:
    """Return those of some lines that are UTF-8, if there are any."""
    try:
        yield lines.decode()
    except UnicodeDecodeError:
        texts = [text for text in map(_decode_line, lines.split(b"\n")) if text is not None]
        if texts:
            yield "\n".join(texts)


def _decode_line(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None

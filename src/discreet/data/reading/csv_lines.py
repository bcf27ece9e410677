"""The lines of a CSV file in a table of the engine. A line ends at a line feed, and nowhere else.

The engine's own CSV reader also ends lines at a carriage return, so that one cell could begin a row of another person.
Here the file is cut at the byte 0x0A, which is part of no other UTF-8 character, nor of one in Windows-1252 or Latin-1;
in UTF-16, at the unit 0x000A. A carriage return before a line feed belongs to the end of the line; any other one stays
in its cell, as do vertical tabs, form feeds, NEL, U+2028 and NUL. A line that is empty, not of its encoding, a comment,
or longer than `LONGEST_LINE`, is left out, and no other line with it.

The engine is given no cell that has no column, but for a few, and no more of a cell than shows that it is too long.
Otherwise it would make millions of cells of one person's line of delimiters.
"""

import gzip
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from discreet.algebra.functions import LONGEST_TEXT
from discreet.algebra.names import literal
from discreet.core import InvalidInput
from discreet.data.reading.csv_format import CsvFormat
from discreet.data.reading.import_progress import begin_step, note_share
from discreet.data.reading.parts import list_parts

#: The engine's table of lines.
LINES_TABLE = "source_lines"
#: Bytes of a first line that are read: more are no names.
LONGEST = 1 << 20
#: A longer line is left out, in bytes.
LONGEST_LINE = 2_000_000
#: Cells beyond the columns that the engine may split a line into, before they are left out.
SPARE = 1000
#: Letters of a line that the engine is given as they are, whichever cells they are in.
LONG = 1 << 16
#: Bytes that are handed to the engine at a time.
PIECE = 1 << 22
#: The marks that files of UTF-16 begin with, and the same encoding without a mark.
MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
#: Python's names of encodings that are declared.
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "windows-1252": "cp1252", "latin-1": "latin-1"}


def first_line(path: Path, form: CsvFormat) -> str:
    """Return the line of a file that names the columns: the first that is no comment."""
    with open_bytes(path) as file:
        lines = LineReader.of(file, form)
        line = lines.read_names(file, form)
    unmarked = unmarked_encoding(line) if len(lines.feed) == 1 else None
    if unmarked is not None:
        raise InvalidInput(
            "The first line of the file has zero bytes in it, as UTF-16 has.",
            fix=f'declare how it is written: csv={{"encoding": "{unmarked}"}}',
        )
    try:
        text = line.decode(lines.codec).removeprefix("\ufeff").removesuffix("\n").rstrip("\r")
    except UnicodeDecodeError:
        # Names are public, and so is this; the line is not quoted, as it may be the whole file.
        raise InvalidInput(
            f"The first line of the file is not {form.encoding or 'utf-8'}.",
            fix='declare how it is written, such as csv={"encoding": "windows-1252"}',
        ) from None
    if "\r" in text:
        raise InvalidInput(
            "The first line of the file has a carriage return within it.",
            fix="end each line by a line feed, or by a carriage return and a line feed",
        )
    return text


@dataclass(frozen=True, slots=True)
class LineCut:
    """Cuts a line after the cells that have a column, and a cell where it is too long for a text.

    A line has the same values afterwards. One whose quotes do not match somewhere is still none.
    """

    delimiter: str
    quote: str
    cells: int

    def cut_lines(self, text: str) -> str:
        """Return some lines, those of them cut that would be much work."""
        lines = text.split("\n")
        much = [place for place, line in enumerate(lines) if len(line) > SPARE and self._is_much(line)]
        for place in much:
            lines[place] = self._cut_line(lines[place])
        return "\n".join(lines) if much else text

    def _is_much(self, line: str) -> bool:
        return len(line) > LONG or line.count(self.delimiter) >= self.cells + SPARE

    def _cut_line(self, line: str) -> str:
        bare = line.rstrip("\r")
        if not bare or len(bare.encode()) > LONGEST_LINE:
            return ""  # it is left out
        cells: Iterable[str]
        if not self.quote or self.quote not in bare:
            cells = bare.split(self.delimiter, self.cells)[: self.cells]
        else:
            # Possessive, and so without steps back: a line's signs say from left to right how it matches.
            quote, sign = re.escape(self.quote), re.escape(self.delimiter)
            cell = f"(?:{quote}(?:[^{quote}]++|{quote}{quote})*+{quote}|[^{quote}{sign}]*+){sign}"
            if not re.fullmatch(f"(?:{cell})*+", bare + self.delimiter):
                return bare[0].replace(self.quote, "") + self.quote  # no row either, and a comment if it was one
            found = islice(re.finditer(cell, bare + self.delimiter), self.cells)
            cells = (match.group()[: -len(self.delimiter)] for match in found)
        # The last delimiter keeps a line of empty cells, and a carriage return in the last cell, what they are.
        return "".join(self._cut_cell(cell) + self.delimiter for cell in cells)

    def _cut_cell(self, cell: str) -> str:
        if len(cell) <= LONGEST_TEXT:
            return cell
        if not self.quote or not cell.startswith(self.quote):
            return cell[: LONGEST_TEXT + 1]
        inside = cell[1:-1].replace(self.quote * 2, self.quote)[: LONGEST_TEXT + 1]
        return self.quote + inside.replace(self.quote, self.quote * 2) + self.quote


def unmarked_encoding(line: bytes) -> str | None:
    """Return the encoding of a first line in UTF-16 that begins with no mark; None if it is in another."""
    if b"\0" not in line:
        return None
    return "utf-16-be" if line.startswith(b"\0") else "utf-16"


def load_lines(connection: Any, path: Path, form: CsvFormat, cut: LineCut) -> None:
    """Create the table of a file's lines, in their order, without the one that names columns; parts have numbers."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {LINES_TABLE} (line VARCHAR, part INTEGER)")
    row = "rtrim(line, chr(13)) <> ''"
    if form.comment:
        row = f"{row} AND NOT starts_with(line, {literal(form.comment)})"
    # S608: made of our own words.
    insert = (
        f"INSERT INTO {LINES_TABLE} SELECT rtrim(line, chr(13)), $part "  # noqa: S608
        "FROM (SELECT unnest(string_split($piece, chr(10))) AS line) "
        f"WHERE {row} AND strlen(line) <= {LONGEST_LINE}"
    )
    parts = list_parts(path)
    sizes = [part.stat().st_size for part in parts]
    begin_step()
    for number, part in enumerate(parts):
        packed = _is_packed(part)
        with open_bytes(part) as file:
            lines = LineReader.of(file, form)
            lines.read_names(file, form)
            for piece in lines.pieces(file):
                connection.execute(insert, {"piece": cut.cut_lines(piece), "part": number})
                read = 0 if packed else file.tell()
                note_share((sum(sizes[:number]) + read) / max(sum(sizes), 1))


def forget_lines(connection: Any) -> None:
    """Drop the table of lines."""
    connection.execute(f"DROP TABLE IF EXISTS {LINES_TABLE}")


def count_undecodable(path: Path, form: CsvFormat) -> int:
    """Return how many lines of a file are left out as they are not of its encoding. For the steward."""
    count = 0
    for part in list_parts(path):
        with open_bytes(part) as file:
            lines = LineReader.of(file, form)
            lines.read_names(file, form)
            count += lines.count_undecodable(file)
    return count


def has_mark(file: IO[bytes]) -> bool:
    """Whether a file begins with a mark of UTF-16; it is read from its beginning again afterwards."""
    mark = file.read(2)
    file.seek(0)
    return mark in MARKS


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, packed or not."""
    return cast("IO[bytes]", gzip.open(path) if _is_packed(path) else path.open("rb"))


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


@dataclass(frozen=True, slots=True)
class LineReader:
    """Cuts bytes into lines of an encoding."""

    codec: str

    @classmethod
    def of(cls, file: IO[bytes], form: CsvFormat) -> "LineReader":
        """Look at the mark that a file begins with, which is no part of a row."""
        mark = MARKS.get(file.read(2))
        file.seek(0)
        if form.encoding in (None, "utf-16", "utf-16-be") and mark is not None:
            return cls(mark)
        return cls(CODECS.get(form.encoding or "utf-8", form.encoding or "utf-8"))

    @property
    def feed(self) -> bytes:
        """The bytes of a line feed."""
        return "\n".encode(self.codec)

    def read_names(self, file: IO[bytes], form: CsvFormat) -> bytes:
        """Return the first line that is no comment, or its beginning; the next one is the first row."""
        while True:
            line = self._read_line(file)
            text = line.decode(self.codec, errors="replace").removeprefix("\ufeff")
            if not line or not form.comment or not text.startswith(form.comment):
                return line

    def _read_line(self, file: IO[bytes]) -> bytes:
        """Read one line with its line feed; of a very long one, only the beginning is returned."""
        line, size, feed = b"", 0, self.feed
        while part := file.readline(LONGEST):
            if feed == b"\n\x00" and part.endswith(b"\n") and (size + len(part)) % 2:
                part += file.read(1)
            size += len(part)
            line = line if len(line) >= LONGEST else line + part
            if part.endswith(feed) and size % len(feed) == 0:
                break
        return line[: LONGEST - LONGEST % len(feed)]

    def pieces(self, file: IO[bytes]) -> Iterator[str]:
        """Return whole lines, many at a time, with line feeds between them."""
        for lines in self._blocks(file):
            yield from self._decode_lines(lines)

    def count_undecodable(self, file: IO[bytes]) -> int:
        """Return how many lines are not of the encoding."""
        return sum(self._decode_line(line) is None for lines in self._blocks(file) for line in self._split(lines))

    def _blocks(self, file: IO[bytes]) -> Iterator[bytes]:
        """Return whole lines, many at a time, as bytes."""
        rest = b""
        while block := file.read(PIECE):
            end = self._last_feed(block)
            if end < 0:
                rest = (rest + block)[: (LONGEST_LINE + 1) * len(self.feed)]  # more would be left out anyway
                continue
            yield rest + block[:end]
            rest = block[end + len(self.feed) :]
        if rest:
            yield rest

    def _last_feed(self, block: bytes) -> int:
        """Return where the last line feed of a block begins; -1 if it has none. Blocks have an even size."""
        end = block.rfind(self.feed)
        while end >= 0 and end % len(self.feed):
            end = block.rfind(self.feed, 0, end + len(self.feed) - 1)
        return end

    def _decode_lines(self, lines: bytes) -> Iterator[str]:
        """Return those of some lines that are of the encoding, if there are any."""
        try:
            yield lines.decode(self.codec)
        except UnicodeDecodeError:
            texts = [text for text in map(self._decode_line, self._split(lines)) if text is not None]
            if texts:
                yield "\n".join(texts)

    def _split(self, lines: bytes) -> list[bytes]:
        """Return lines one by one."""
        if len(self.feed) == 1:
            return lines.split(b"\n")
        # A half of a character that is not whole stays one sign, and takes no line feed with it.
        text = lines[: len(lines) - len(lines) % 2].decode(self.codec, errors="surrogatepass")
        return [line.encode(self.codec, errors="surrogatepass") for line in text.split("\n")]

    def _decode_line(self, line: bytes) -> str | None:
        try:
            return line.decode(self.codec)
        except UnicodeDecodeError:
            return None

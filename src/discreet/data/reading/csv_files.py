"""CSV files as texts: a line is a row, its first line names the columns, and nothing is guessed from rows.

So a cell can spoil its own row only. Where lines end is said in `discreet.data.reading.csv_files`. Signs between
columns are those of the first line; quotes are ", and a quote in quotes is doubled, as in RFC 4180, but a row ends
where its line ends, quotes or not: an open quote would swallow the rows of other people. A line whose quotes do not
fit, that is no UTF-8, or that has more than two million bytes, is left out; one that is too short has NULLs at its end,
and what is too much is cut off. Empty cells are NULL.
"""

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from discreet.algebra.names import literal, quote_name
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.reading.column_types import cast_as

# The lines of a CSV file in a table of the engine. A line ends at a line feed, and nowhere else.
#
# The engine's own CSV reader also ends lines at a carriage return, so that one cell could begin a row of another
# person. Here the file is cut at the byte 0x0A, which is part of no other UTF-8 character. A carriage return before a
# line feed belongs to the end of the line; any other one stays in its cell, as do vertical tabs, form feeds, NEL,
# U+2028 and NUL. A line that is empty, no UTF-8, or longer than `LONGEST_LINE`, is left out, and no other line with
# it.

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


ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
DELIMITERS = (",", ";", "\t", "|")
#: Rows that are looked at first.
FIRST = 1000
#: What a text looks like that is offered as one of a kind: more than the casts take, as 1 could also be true.
LOOKS = {
    Kind.INTEGER: r"\s*[+-]?[0-9]+\s*",
    Kind.REAL: r"(?i)\s*[+-]?([0-9]+\.?[0-9]*(e[+-]?[0-9]+)?|\.[0-9]+(e[+-]?[0-9]+)?|nan|inf|infinity)\s*",
    Kind.BOOLEAN: r"(?i)true|false",
    Kind.DATE: r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}",
    Kind.TIMESTAMP: r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:.*",
}

#: How a number is written that is not a whole one; NaN and infinities are ways to be missing.
POWER = r"e[+-]?[0-9]{1,2}"
FRACTION = rf"(?i)-?((0|[1-9][0-9]*)(\.[0-9]*({POWER})?|{POWER})|\.[0-9]+({POWER})?|inf|infinity)|nan"


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file, and what its first line says. Public."""

    path: Path
    delimiter: str
    names: tuple[str, ...]
    #: As they stand in the file: some may be the same.
    own_names: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> "CsvFile":
        """Read the first line. The sign between names is the one that makes the most of them."""
        line = first_line(path)
        split = {delimiter: _split(line, delimiter) for delimiter in DELIMITERS}
        delimiter = max(DELIMITERS, key=lambda sign: len(split[sign]))
        return cls(path, delimiter, _make_unique(split[delimiter]), tuple(split[delimiter]))

    @property
    def texts(self) -> str:
        """The SQL of all columns as texts, once the lines are loaded."""
        columns = ", ".join(
            f"nullif(fields[{place}], '') AS {quote_name(name)}" for place, name in enumerate(self.names, start=1)
        )
        # S608: made of our own words and of names that are quoted.
        fields = f"(SELECT {self._fields} AS fields FROM {LINES_TABLE})"  # noqa: S608
        return f"(SELECT {columns} FROM {fields} WHERE fields IS NOT NULL)"  # noqa: S608

    @property
    def _fields(self) -> str:
        """The SQL of a line's cells: split where it has no quotes, and otherwise read, if they fit."""
        sign = literal(self.delimiter)
        cell = f'("(?:[^"]|"")*"|[^"\\{self.delimiter}]*)\\{self.delimiter}'
        lines = f"(line || {sign})"
        inside = "replace(substr(cell, 2, length(cell) - 2), '\"\"', '\"')"
        bare = f"CASE WHEN starts_with(cell, '\"') THEN {inside} ELSE cell END"
        cells = f"list_transform(regexp_extract_all({lines}, {literal(cell)}, 1), lambda cell: {bare})"
        fits = f"regexp_full_match({lines}, {literal(f'(?:{cell})*')})"
        read = f"CASE WHEN {fits} THEN {cells} END"
        return f"CASE WHEN contains(line, '\"') THEN {read} ELSE string_split(line, {sign}) END"


def is_csv(path: Path) -> bool:
    """Whether a file's name says that it is CSV."""
    return path.name.lower().endswith(ENDINGS)


def need_header(connection: Any, path: Path) -> CsvFile:
    """Refuse a file whose first line seems to be a row. It looks at rows, and is for the steward."""
    file = CsvFile.of(path)
    looked = f"sniff_csv($path, delim = {literal(file.delimiter)}, ignore_errors = true, strict_mode = false)"
    ((named,),) = connection.execute(f"SELECT HasHeader FROM {looked}", {"path": str(path)}).fetchall()  # noqa: S608 - our own words
    if not named:
        raise no_names()
    return file


def fitting_kinds(connection: Any, path: Path) -> dict[str, Kind]:
    """Return, for each column, the narrowest kind that all its values fit, and text where there are none.

    It looks at all rows, and is for the steward, who decides what to declare.
    """
    file = need_header(connection, path)
    possible = {name: tuple(LOOKS) for name in file.names}
    load_lines(connection, path)
    # Most kinds are out of the question after a few rows, and all rows are long.
    for rows in (f"(SELECT * FROM {file.texts} LIMIT {FIRST})", file.texts):  # noqa: S608 - names are quoted
        possible = _still_possible(connection, rows, {}, possible)
    return {name: kinds[0] if kinds and len(kinds) < len(LOOKS) else Kind.TEXT for name, kinds in possible.items()}


def infer_kinds(connection: Any, rows: str, where: dict[str, object]) -> dict[str, Kind]:
    """Return what each column of texts holds, if all its cells are written so: whole numbers, else numbers, else days.

    Otherwise, and where there are no cells, it holds texts. Nothing is lost that somebody could join on: 007 is written
    as no number, and neither is one with more digits than an integer has. It looks at all rows, which must be public.
    """
    described = connection.execute(f"DESCRIBE SELECT * FROM {rows}", where).fetchall()  # noqa: S608 - our own words
    tried: tuple[Kind, ...] = (Kind.INTEGER, Kind.REAL, Kind.DATE)
    possible = {str(name): tried for name, *_ in described}
    for part in (f"(SELECT * FROM {rows} LIMIT {FIRST})", rows):  # noqa: S608 - our own words
        possible = _still_possible(connection, part, where, possible, exactly=True)
    return {name: kinds[0] if kinds and len(kinds) < len(tried) else Kind.TEXT for name, kinds in possible.items()}


def _still_possible(
    connection: Any,
    rows: str,
    where: Mapping[str, object],
    possible: dict[str, tuple[Kind, ...]],
    *,
    exactly: bool = False,
) -> dict[str, tuple[Kind, ...]]:
    """Return those kinds of each column that all values in some rows fit: all kinds, if there is none."""
    tried = [(name, kind) for name, kinds in possible.items() for kind in kinds]
    if not tried:
        return possible
    tests = ", ".join(
        f"coalesce(bool_and({_fits(quote_name(name), kind, exactly=exactly)}), true)" for name, kind in tried
    )
    (results,) = connection.execute(f"SELECT {tests} FROM {rows}", where).fetchall()  # noqa: S608 - names are quoted
    fitting = {pair for pair, fit in zip(tried, results, strict=True) if fit}
    return {name: tuple(kind for kind in kinds if (name, kind) in fitting) for name, kinds in possible.items()}


def no_names() -> InvalidInput:
    """Return the refusal of a first line that names nothing. It is not quoted: it may be a row."""
    return InvalidInput(
        "The first line of the file does not name the columns.", fix="write the names of the columns into a first line"
    )


def _fits(column: str, kind: Kind, *, exactly: bool) -> str:
    """Return SQL that says whether a value is of a kind, or even written exactly so; NULL where there is no value."""
    bare = f"trim({column})"
    whole = f"coalesce(CAST(TRY_CAST({bare} AS BIGINT) AS VARCHAR) = {bare}, false)"
    if exactly and kind.numeric:
        fits = whole if kind is Kind.INTEGER else f"({whole} OR regexp_full_match({bare}, {literal(FRACTION)}))"
        return f"CASE WHEN {column} IS NOT NULL THEN {fits} END"
    looks = f"regexp_full_match({column}, {literal(LOOKS[kind])})"
    # NaN is a real number's way to be missing.
    fits = looks if kind is Kind.REAL else f"{looks} AND {cast_as(column, kind)} IS NOT NULL"
    return f"CASE WHEN {column} IS NOT NULL THEN {fits} END"


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _make_unique(names: list[str]) -> tuple[str, ...]:
    """Return names of which no two are the same: those without one get a number, as does a second one."""
    unique: dict[str, str] = {}
    for place, name in enumerate(names):
        candidate, count = name or f"column{place}", 0
        while (candidate if not count else f"{candidate}_{count}").casefold() in unique:
            count += 1
        candidate = candidate if not count else f"{candidate}_{count}"
        unique[candidate.casefold()] = candidate
    return tuple(unique.values())

"""CSV files as texts: what a file looks like is told by its first line alone, and a cell can spoil its own row only.

Columns are named by the first line, which is public. Signs between columns are those that it has; quotes are ", and a
quote in quotes is doubled, as in RFC 4180. Nothing is guessed from rows. A row that is no text in UTF-8, or longer than
the engine takes (2 MiB), is left out; one that is too short has NULLs at its end, and what is too much is cut off.
"""

import csv
import gzip
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.canonical import cast_as

ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
DELIMITERS = (",", ";", "\t", "|")
#: Bytes of a first line that are read: more are no names.
LONGEST = 1 << 20
#: How every file is read. Threads would begin in the middle of rows, and guess where they are.
READING = (
    "quote = '\"', escape = '\"', nullstr = '', ignore_errors = true, null_padding = true, strict_mode = false, "
    "parallel = false"
)
#: What a text looks like that is offered as one of a kind: more than the casts take, as 1 could also be true.
LOOKS = {
    Kind.INTEGER: r"\s*[+-]?[0-9]+\s*",
    Kind.REAL: r"(?i)\s*[+-]?([0-9]+\.?[0-9]*(e[+-]?[0-9]+)?|\.[0-9]+(e[+-]?[0-9]+)?|nan|inf|infinity)\s*",
    Kind.BOOLEAN: r"(?i)true|false",
    Kind.DATE: r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}",
    Kind.TIMESTAMP: r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ T][0-9]{1,2}:.*",
}


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A file, and what its first line says. Public."""

    path: Path
    delimiter: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> "CsvFile":
        """Read the first line. The sign between names is the one that makes the most of them."""
        line = first_line(path)
        split = {delimiter: _split(line, delimiter) for delimiter in DELIMITERS}
        delimiter = max(DELIMITERS, key=lambda one: len(split[one]))
        return cls(path, delimiter, _told_apart(split[delimiter]))

    @property
    def texts(self) -> str:
        """The SQL of all columns as texts."""
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.names)
        return (
            f"read_csv($path, auto_detect = false, header = true, delim = {literal(self.delimiter)}, {READING}, "
            f"columns = {{{columns}}})"
        )

    def partly_texts(self, declared: Collection[str]) -> str:
        """Return the SQL of declared columns as texts, and of others as the engine guesses from all rows."""
        names = ", ".join(map(literal, self.names))
        types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.names if name.casefold() in declared)
        return (
            f"read_csv($path, sample_size = -1, header = true, delim = {literal(self.delimiter)}, {READING}, "
            f"names = [{names}], types = {{{types}}})"
        )


def is_csv(path: Path) -> bool:
    """Whether a file's name says that it is CSV."""
    return path.name.lower().endswith(ENDINGS)


def first_line(path: Path) -> str:
    """Return the first line of a file."""
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as file:
        line = file.readline(LONGEST)
    return line.decode("utf-8-sig", errors="replace").partition("\n")[0].partition("\r")[0]


def fitting_kinds(connection: Any, path: Path) -> dict[str, Kind]:
    """Return, for each column, the narrowest kind that all its values fit, and text where there are none.

    It looks at all rows, and is for the steward, who decides what to declare.
    """
    file = CsvFile.of(path)
    where = {"path": str(path)}
    looked = f"sniff_csv($path, sample_size = -1, delim = {literal(file.delimiter)}, {READING})"
    ((named,),) = connection.execute(f"SELECT HasHeader FROM {looked}", where).fetchall()  # noqa: S608 - our own words
    if not named:
        raise no_names()
    asked = ", ".join(
        f"count(*) FILTER ({_quoted(name)} IS NOT NULL)"
        + "".join(f", count(*) FILTER ({_is(_quoted(name), kind)})" for kind in LOOKS)
        for name in file.names
    )
    (found,) = connection.execute(f"SELECT {asked} FROM {file.texts}", where).fetchall()  # noqa: S608 - names are quoted
    width = len(LOOKS) + 1
    return {name: _offered(*found[place * width : (place + 1) * width]) for place, name in enumerate(file.names)}


def no_names() -> InvalidInput:
    """Return the refusal of a first line that names nothing. It is not quoted: it may be a row."""
    return InvalidInput(
        "The first line of the file does not name the columns.", fix="write the names of the columns into a first line"
    )


def _offered(present: int, *fitting: int) -> Kind:
    kinds = (kind for kind, count in zip(LOOKS, fitting, strict=True) if present and count == present)
    return next(kinds, Kind.TEXT)


def _is(column: str, kind: Kind) -> str:
    looks = f"regexp_full_match({column}, {literal(LOOKS[kind])})"
    # NaN is a real number's way to be missing.
    return looks if kind is Kind.REAL else f"{looks} AND {cast_as(column, kind)} IS NOT NULL"


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _told_apart(names: list[str]) -> tuple[str, ...]:
    """Return names of which no two are the same: those without one get a number, as does a second one."""
    found: dict[str, str] = {}
    for place, name in enumerate(names):
        one, count = name or f"column{place}", 0
        while (one if not count else f"{one}_{count}").casefold() in found:
            count += 1
        one = one if not count else f"{one}_{count}"
        found[one.casefold()] = one
    return tuple(found.values())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"

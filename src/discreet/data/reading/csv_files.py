"""CSV files as texts: a line is a row, its first line names the columns, and nothing is guessed from rows.

So a cell can spoil its own row only. Where lines end is said in `discreet.data.reading.csv_lines`, and what a steward
declares in `discreet.data.reading.csv_format`. Signs between columns are those of the first line, unless declared; a
quote in quotes is doubled, as in RFC 4180, but a row ends where its line ends, quotes or not: an open quote would
swallow the rows of other people. A line whose quotes do not fit, that is not of the encoding, or that has more than two
million bytes, is left out; one that is too short has NULLs at its end, and what is too much is cut off. Empty cells are
NULL, and so are words that are declared to be.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.algebra.names import literal, quote_name
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.reading.column_types import cast_as
from discreet.data.reading.csv_format import CsvFormat
from discreet.data.reading.csv_lines import LINES_TABLE, first_line, load_lines

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
    form: CsvFormat

    @classmethod
    def of(cls, path: Path, form: CsvFormat) -> "CsvFile":
        """Read the first line. The sign between names is as declared, or the one that makes the most of them."""
        line = first_line(path, form)
        signs = DELIMITERS if form.delimiter is None else (form.delimiter,)
        split = {delimiter: _split(line, delimiter, form.quote) for delimiter in signs}
        delimiter = max(signs, key=lambda sign: len(split[sign]))
        return cls(path, delimiter, _make_unique(split[delimiter]), tuple(split[delimiter]), form)

    @property
    def no_rows(self) -> str:
        """The SQL of the same columns without a row, for which no line has to be loaded."""
        columns = ", ".join(f"CAST(NULL AS VARCHAR) AS {quote_name(name)}" for name in self.names)
        return f"(SELECT {columns} WHERE false)"

    @property
    def texts(self) -> str:
        """The SQL of all columns as texts, once the lines are loaded."""
        columns = ", ".join(
            f"{self.form.cell(f'fields[{place}]')} AS {quote_name(name)}"
            for place, name in enumerate(self.names, start=1)
        )
        # S608: made of our own words and of names that are quoted.
        fields = f"(SELECT {self._fields} AS fields FROM {LINES_TABLE})"  # noqa: S608
        return f"(SELECT {columns} FROM {fields} WHERE fields IS NOT NULL)"  # noqa: S608

    @property
    def _fields(self) -> str:
        """The SQL of a line's cells: split where it has no quotes, and otherwise read, if they fit."""
        sign, quote = literal(self.delimiter), self.form.quote
        split = f"string_split(line, {sign})"
        if not quote:
            return split
        cell = f"({quote}(?:[^{quote}]|{quote}{quote})*{quote}|[^{quote}\\{self.delimiter}]*)\\{self.delimiter}"
        lines = f"(line || {sign})"
        inside = f"replace(substr(cell, 2, length(cell) - 2), {literal(quote * 2)}, {literal(quote)})"
        bare = f"CASE WHEN starts_with(cell, {literal(quote)}) THEN {inside} ELSE cell END"
        cells = f"list_transform(regexp_extract_all({lines}, {literal(cell)}, 1), lambda cell: {bare})"
        fits = f"regexp_full_match({lines}, {literal(f'(?:{cell})*')})"
        read = f"CASE WHEN {fits} THEN {cells} END"
        return f"CASE WHEN contains(line, {literal(quote)}) THEN {read} ELSE {split} END"


def is_csv(path: Path) -> bool:
    """Whether a file's name says that it is CSV."""
    return path.name.lower().endswith(ENDINGS)


def need_header(connection: Any, path: Path, form: CsvFormat) -> CsvFile:
    """Refuse a file whose first line seems to be a row. It looks at rows, and is for the steward."""
    file = CsvFile.of(path, form)
    if form.encoding is not None or form.comment:
        return file  # the engine's own reader would not read it as declared
    looked = f"sniff_csv($path, delim = {literal(file.delimiter)}, ignore_errors = true, strict_mode = false)"
    ((named,),) = connection.execute(f"SELECT HasHeader FROM {looked}", {"path": str(path)}).fetchall()  # noqa: S608 - our own words
    if not named:
        raise no_names()
    return file


def fitting_kinds(connection: Any, path: Path, form: CsvFormat) -> dict[str, Kind]:
    """Return, for each column, the narrowest kind that all its values fit, and text where there are none.

    It looks at all rows, and is for the steward, who decides what to declare.
    """
    file = need_header(connection, path, form)
    possible = {name: tuple(LOOKS) for name in file.names}
    load_lines(connection, path, form)
    # Most kinds are out of the question after a few rows, and all rows are long.
    for rows in (f"(SELECT * FROM {file.texts} LIMIT {FIRST})", file.texts):  # noqa: S608 - names are quoted
        possible = _still_possible(connection, rows, {}, possible, form)
    return {name: kinds[0] if kinds and len(kinds) < len(LOOKS) else Kind.TEXT for name, kinds in possible.items()}


def infer_kinds(connection: Any, rows: str, where: dict[str, object], form: CsvFormat | None = None) -> dict[str, Kind]:
    """Return what each column of texts holds, if all its cells are written so: whole numbers, else numbers, else days.

    Otherwise, and where there are no cells, it holds texts. Nothing is lost that somebody could join on: 007 is written
    as no number, and neither is one with more digits than an integer has. It looks at all rows, which must be public.
    """
    described = connection.execute(f"DESCRIBE SELECT * FROM {rows}", where).fetchall()  # noqa: S608 - our own words
    tried: tuple[Kind, ...] = (Kind.INTEGER, Kind.REAL, Kind.DATE)
    possible = {str(name): tried for name, *_ in described}
    for part in (f"(SELECT * FROM {rows} LIMIT {FIRST})", rows):  # noqa: S608 - our own words
        possible = _still_possible(connection, part, where, possible, form or CsvFormat(), exactly=True)
    return {name: kinds[0] if kinds and len(kinds) < len(tried) else Kind.TEXT for name, kinds in possible.items()}


def _still_possible(
    connection: Any,
    rows: str,
    where: Mapping[str, object],
    possible: dict[str, tuple[Kind, ...]],
    form: CsvFormat,
    *,
    exactly: bool = False,
) -> dict[str, tuple[Kind, ...]]:
    """Return those kinds of each column that all values in some rows fit: all kinds, if there is none."""
    tried = [(name, kind) for name, kinds in possible.items() for kind in kinds]
    if not tried:
        return possible
    tests = ", ".join(
        f"coalesce(bool_and({_fits(quote_name(name), kind, form, exactly=exactly)}), true)" for name, kind in tried
    )
    (results,) = connection.execute(f"SELECT {tests} FROM {rows}", where).fetchall()  # noqa: S608 - names are quoted
    fitting = {pair for pair, fit in zip(tried, results, strict=True) if fit}
    return {name: tuple(kind for kind in kinds if (name, kind) in fitting) for name, kinds in possible.items()}


def no_names() -> InvalidInput:
    """Return the refusal of a first line that names nothing. It is not quoted: it may be a row."""
    return InvalidInput(
        "The first line of the file does not name the columns.", fix="write the names of the columns into a first line"
    )


def _fits(column: str, kind: Kind, form: CsvFormat, *, exactly: bool) -> str:
    """Return SQL that says whether a value is of a kind, or even written exactly so; NULL where there is no value."""
    if kind.numeric and not form.plain_numbers:
        decimal = "false" if kind is Kind.REAL else f"contains({column}, {literal(form.decimal)})"
        return f"CASE WHEN {column} IS NOT NULL THEN {form.cast(column, kind)} IS NOT NULL AND NOT {decimal} END"
    bare = f"trim({column})"
    whole = f"coalesce(CAST(TRY_CAST({bare} AS BIGINT) AS VARCHAR) = {bare}, false)"
    if exactly and kind.numeric:
        fits = whole if kind is Kind.INTEGER else f"({whole} OR regexp_full_match({bare}, {literal(FRACTION)}))"
        return f"CASE WHEN {column} IS NOT NULL THEN {fits} END"
    looks = f"regexp_full_match({column}, {literal(LOOKS[kind])})"
    # NaN is a real number's way to be missing.
    fits = looks if kind is Kind.REAL else f"{looks} AND {cast_as(column, kind)} IS NOT NULL"
    return f"CASE WHEN {column} IS NOT NULL THEN {fits} END"


def _split(line: str, delimiter: str, quote: str) -> list[str]:
    if not quote:
        return [name.strip() for name in line.split(delimiter)]
    try:
        names = next(csv.reader([line], delimiter=delimiter, quotechar=quote), [])
        return [name.strip() for name in names]
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

"""CSV files as texts: a line is a row, its first line names the columns, and nothing is guessed from rows.

So a cell can spoil its own row only. Where lines end is said in `discreet.data.reading.csv_lines`, and what a steward
declares in `discreet.data.reading.csv_format`. Signs between columns are those of the first line, unless declared; a
quote in quotes is doubled, as in RFC 4180, but a row ends where its line ends, quotes or not: an open quote would
swallow the rows of other people. A line whose quotes do not fit, that is not of the encoding, or that has more than two
million bytes, is left out; one that is too short has NULLs at its end, and what is too much is cut off. Empty cells are
NULL, and so are words that are declared to be.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.algebra.names import literal, quote_name
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.data.reading.column_types import cast_as
from discreet.data.reading.csv_format import CsvFormat
from discreet.data.reading.csv_lines import LINES_TABLE, LineCut, first_line, forget_lines, load_lines
from discreet.data.reading.partitions import Partitions
from discreet.data.reading.parts import different_columns, has_csv_parts, list_parts

DELIMITERS = (",", ";", "\t", "|")
#: Rows that are looked at first.
FIRST, FEW = 1000, 50
#: The engine's table of cells.
TEXTS_TABLE = "source_texts"
#: Aggregates that are computed in one statement.
TOGETHER = 100
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
    #: What stands in the names of its folder, and of those of the other files.
    partitions: Partitions = field(default_factory=Partitions)

    @classmethod
    def of(cls, path: Path, form: CsvFormat) -> "CsvFile":
        """Read the first line. The sign between names is as declared, or the one that makes the most of them.

        Of several files, the first line of all has to name the same columns.
        """
        first, *others = list_parts(path)
        file = cls._of_part(first, form)
        for other in others:
            part = cls._of_part(other, form)
            if (part.delimiter, part.own_names) != (file.delimiter, file.own_names):
                raise different_columns(first, other)
        partitions = Partitions.of(path)
        partitions.check_apart(file.names)
        return replace(file, partitions=partitions)

    @classmethod
    def _of_part(cls, path: Path, form: CsvFormat) -> "CsvFile":
        line = first_line(path, form)
        signs = DELIMITERS if form.delimiter is None else (form.delimiter,)
        split = {delimiter: _split(line, delimiter, form.quote) for delimiter in signs}
        delimiter = max(signs, key=lambda sign: len(split[sign]))
        _check_names(split[delimiter], form)
        return cls(path, delimiter, make_unique(split[delimiter]), tuple(split[delimiter]), form)

    @property
    def all_names(self) -> tuple[str, ...]:
        """The columns of the file, and those in the names of folders."""
        return self.names + self.partitions.names

    @property
    def no_rows(self) -> str:
        """The SQL of the same columns without a row, for which no line has to be loaded."""
        columns = ", ".join(f"CAST(NULL AS VARCHAR) AS {quote_name(name)}" for name in self.all_names)
        return f"(SELECT {columns} WHERE false)"

    @property
    def texts(self) -> str:
        """The SQL of all columns as texts, once the lines are loaded."""
        columns = ", ".join(f"fields[{place}] AS {quote_name(name)}" for place, name in enumerate(self.names, start=1))
        # Cells are made NULL in the list: in a thousand columns, the engine would plan for as long as it reads.
        cells = f"list_transform({self._fields}, lambda field: {self.form.cell('field')})"
        # S608: made of our own words and of names that are quoted.
        fields = f"(SELECT {cells} AS fields, part FROM {LINES_TABLE})"  # noqa: S608
        return f"(SELECT {columns}{self.partitions.select('part')} FROM {fields} WHERE fields IS NOT NULL)"  # noqa: S608

    @property
    def cut(self) -> LineCut:
        """What is kept of a line that would be much work."""
        return LineCut(self.delimiter, self.form.quote, len(self.names))

    @property
    def count_unmatched(self) -> str:
        """The SQL of how many lines are left out for their quotes, once the lines are loaded."""
        return f"SELECT count(*) FROM {LINES_TABLE} WHERE {self._fields} IS NULL"  # noqa: S608 - our own words

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
    """Whether a file's name says that it is CSV, or the names of the files that a table consists of."""
    return has_csv_parts(path)


def need_header(connection: Any, path: Path, form: CsvFormat) -> CsvFile:
    """Refuse a file whose first line seems to be a row. It looks at rows, and is for the steward."""
    file = CsvFile.of(path, form)
    if form.encoding is not None or form.comment:
        return file  # the engine's own reader would not read it as declared
    # With signs that are known, the engine does not try all others: with 1,500 columns that takes seconds.
    signs = f"delim = {literal(file.delimiter)}, quote = {literal(form.quote)}, escape = {literal(form.quote)}"
    looked = f"sniff_csv($path, {signs}, ignore_errors = true, strict_mode = false)"
    ((named,),) = connection.execute(f"SELECT HasHeader FROM {looked}", {"path": str(file.path)}).fetchall()  # noqa: S608 - our own words
    if not named:
        raise no_names()
    return file


def load_texts(connection: Any, path: Path, form: CsvFormat) -> tuple[CsvFile, str]:
    """Load all cells as texts, and return the file and the table that they are in. For the steward."""
    file = need_header(connection, path, form)
    load_lines(connection, path, form, file.cut)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {TEXTS_TABLE} AS SELECT * FROM {file.texts}")  # noqa: S608 - quoted
    forget_lines(connection)
    return file, TEXTS_TABLE


def fit_kinds(
    connection: Any, names: Sequence[str], rows: str, form: CsvFormat, kinds: Sequence[Kind] = tuple(LOOKS)
) -> dict[str, Kind]:
    """Return, for each column of texts, the narrowest kind that all its values fit, and text where there are none.

    It looks at all rows, and is for the steward, who decides what to declare.
    """
    counts = compute_items(connection, [f"count({quote_name(name)})" for name in names], rows, {})
    filled = [name for name, count in zip(names, counts, strict=True) if count]
    open_kinds = _look_at_first(connection, filled, rows, form, kinds)
    found: dict[str, Kind] = {}
    while open_kinds:  # the narrowest kind of each column first: most are of it
        tried = {name: rest[:1] for name, rest in open_kinds.items()}
        fitting = _still_possible(connection, rows, {}, tried, form)
        found |= {name: fit[0] for name, fit in fitting.items() if fit}
        open_kinds = {name: rest[1:] for name, rest in open_kinds.items() if name not in found and rest[1:]}
    return {name: found.get(name, Kind.TEXT) for name in names}


def _look_at_first(
    connection: Any, names: Sequence[str], rows: str, form: CsvFormat, kinds: Sequence[Kind]
) -> dict[str, tuple[Kind, ...]]:
    """Return the kinds that a few rows do not rule out, where there are any: it is quicker than to ask for all."""
    if not names:
        return {}
    listed = ", ".join(map(quote_name, names))
    few = connection.execute(f"SELECT {listed} FROM {rows} LIMIT {FEW}").fetchall()  # noqa: S608 - names are quoted
    looks = {kind: re.compile(LOOKS[kind]) for kind in kinds if form.plain_numbers or not kind.numeric}
    possible = {
        name: tuple(
            kind
            for kind in kinds
            if kind not in looks or all(cell is None or looks[kind].fullmatch(cell) for cell in cells)
        )
        for name, cells in zip(names, zip(*few, strict=True), strict=True)
    }
    return {name: rest for name, rest in possible.items() if rest}


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
    tests = [
        f"coalesce(bool_and({_fits(quote_name(name), kind, form, exactly=exactly)}), true)" for name, kind in tried
    ]
    results = compute_items(connection, tests, rows, where)
    fitting = {pair for pair, fit in zip(tried, results, strict=True) if fit}
    return {name: tuple(kind for kind in kinds if (name, kind) in fitting) for name, kinds in possible.items()}


def compute_items(connection: Any, items: Sequence[str], rows: str, where: Mapping[str, object]) -> list[Any]:
    """Return aggregates of some rows, a hundred at a time: the engine's planning takes the square of their number."""
    results: list[Any] = []
    for first in range(0, len(items), TOGETHER):
        part = ", ".join(items[first : first + TOGETHER])
        (found,) = connection.execute(f"SELECT {part} FROM {rows}", where).fetchall()  # noqa: S608 - names are quoted
        results += found
    return results


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


def _check_names(names: list[str], form: CsvFormat) -> None:
    """Refuse a first line that is no line of names, or names that are in quotes, as long as that is not declared."""
    if not form.comment and len(names) == 1 and names[0].startswith("#"):
        raise InvalidInput(
            "The first line of the file is a comment, and not the names of the columns.",
            fix='declare how comments begin: csv={"comment": "#"}',
        )
    if names and form.quote != "'" and all(len(name) > 1 and name[0] == name[-1] == "'" for name in names):
        raise InvalidInput(
            "The names of the columns are in single quotes.", fix='declare which quotes are used: csv={"quote": "\'"}'
        )


def make_unique(names: list[str]) -> tuple[str, ...]:
    """Return names of which no two are the same: those without one get a number, as does a second one."""
    unique: dict[str, str] = {}
    for place, name in enumerate(names):
        candidate, count = name or f"column{place}", 0
        while (candidate if not count else f"{candidate}_{count}").casefold() in unique:
            count += 1
        candidate = candidate if not count else f"{candidate}_{count}"
        unique[candidate.casefold()] = candidate
    return tuple(unique.values())

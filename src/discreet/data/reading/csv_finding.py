"""Finds how a CSV file is written, off all of its rows: for the steward, who may read it, and then declares it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import AnyKind
from discreet.algebra.names import literal, quote_name
from discreet.core.schema import Kind
from discreet.data.engine_rules import DEFAULT_SETTINGS, quiet_opening
from discreet.data.reading.connecting import connect_spilling
from discreet.data.reading.csv_files import CsvFile, compute_items, fit_kinds, load_texts
from discreet.data.reading.csv_format import CsvFormat, cast_written
from discreet.data.reading.csv_lines import PIECE, has_mark, open_bytes, unmarked_encoding
from discreet.data.reading.parts import list_parts
from discreet.data.reading.sources import stamp_of

#: How numbers tend to be written, the likeliest first: the decimal sign, and that between thousands.
NUMBERS = ((".", ""), (",", ""), (",", "."), (".", ","), (",", " "), (".", "'"))
#: All signs of numbers that are written in one of these ways.
OF_NUMBERS = "[-+0-9.,' eE]+"
#: How days tend to be written.
DATES = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y")
#: Words that tend to stand for NULL.
WORDS = ("NA", "N/A", "n/a", "na", "-", "--", "NULL", "null", "None", "nan", "NaN", "#N/A", "?", "k.A.", ".")


def find_format(path: Path, declared: CsvFormat) -> CsvFormat:
    """Return how a file is written: as declared, and where nothing is declared as its rows are."""

    def find() -> CsvFormat:
        stamp_of(path)
        form = declared if declared.encoding is not None else replace(declared, encoding=_find_encoding(path))
        with connect_spilling(":memory:", DEFAULT_SETTINGS) as connection:
            return _find_signs(connection, path, form, declared)

    return quiet_opening(find)


def offer_kinds(path: Path, form: CsvFormat | None = None) -> dict[str, AnyKind]:
    """Return kinds that could be declared for the columns of a CSV file: all values fit them.

    For the steward, who may read the file anyway. It is decided by all rows.
    """

    def find() -> dict[str, AnyKind]:
        stamp_of(path)  # refuses a path that leads nowhere
        with connect_spilling(":memory:", DEFAULT_SETTINGS) as connection:
            file, rows = load_texts(connection, path, form or CsvFormat())
            kinds = fit_kinds(connection, file.all_names, rows, file.form)
            return {**kinds, **_find_dates(connection, _texts(kinds), rows)}

    return quiet_opening(find)


def _find_encoding(path: Path) -> str | None:
    """Return an encoding that all bytes fit; None for UTF-8, and where the file says it itself."""
    fits = dict.fromkeys(("utf-8", "cp1252"), True)
    for part in list_parts(path):
        with open_bytes(part) as file:
            if has_mark(file):
                return None
            unmarked = unmarked_encoding(file.readline(PIECE))
            if unmarked is not None:
                return unmarked
            file.seek(0)
            while block := file.read(PIECE):
                block += file.readline(PIECE)
                fits = {codec: fit and _fits(block, codec) for codec, fit in fits.items()}
    return None if fits["utf-8"] else "windows-1252" if fits["cp1252"] else "latin-1"


def _fits(block: bytes, codec: str) -> bool:
    try:
        block.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


def _find_signs(connection: Any, path: Path, form: CsvFormat, declared: CsvFormat) -> CsvFormat:
    """Return the signs of numbers that make the most columns numbers, and words that are NULL in columns of others."""
    trying = form if declared.null else replace(form, null=WORDS)
    file, rows = load_texts(connection, path, trying)
    kinds = fit_kinds(connection, file.names, rows, trying)
    found = _find_numbers(connection, file, rows, kinds) if declared.plain_numbers else trying
    if declared.null:
        return replace(form, decimal=found.decimal, thousands=found.thousands)
    kinds |= fit_kinds(connection, _texts(kinds), rows, found, (Kind.REAL,))
    dates = _find_dates(connection, _texts(kinds), rows)
    others = [name for name, kind in kinds.items() if kind is not Kind.TEXT or name in dates]
    found = replace(form, decimal=found.decimal, thousands=found.thousands)
    return replace(found, null=_find_words(connection, path, others, found))


def _find_numbers(connection: Any, file: CsvFile, rows: str, plain: dict[str, Kind]) -> CsvFormat:
    """Return the format in which the most columns are numbers; where several do, the first."""
    best, most = file.form, sum(kind.numeric for kind in plain.values())
    looks = [f"bool_and(regexp_full_match(trim({quote_name(name)}), {literal(OF_NUMBERS)}))" for name in _texts(plain)]
    for decimal, thousands in NUMBERS[1:] if any(compute_items(connection, looks, rows, {})) else ():
        tried = replace(file.form, decimal=decimal, thousands=thousands)
        number = sum(kind.numeric for kind in fit_kinds(connection, file.names, rows, tried, (Kind.REAL,)).values())
        if number > most:
            best, most = tried, number
    return best


def _texts(kinds: dict[str, Kind]) -> list[str]:
    return [name for name, kind in kinds.items() if kind is Kind.TEXT]


def _find_words(connection: Any, path: Path, names: list[str], form: CsvFormat) -> tuple[str, ...]:
    """Return those words for NULL that stand in some columns."""
    _, rows = load_texts(connection, path, form)
    words = ", ".join(literal(word) for word in WORDS)
    # One list of words for each column: fifteen tests of 1,500 columns would be too many aggregates.
    items = [f"list(DISTINCT trim({name})) FILTER (WHERE trim({name}) IN ({words}))" for name in map(quote_name, names)]
    there = {word for column in compute_items(connection, items, rows, {}) for word in column or ()}
    return tuple(word for word in WORDS if word in there)


def _find_dates(connection: Any, texts: list[str], rows: str) -> dict[str, AnyKind]:
    """Return those columns of texts that hold days, if all are written in one way, and could be in no other."""
    pairs = [(name, date) for name in texts for date in DATES]
    tests = [
        f"bool_and({cast_written(quote_name(name), Kind.DATE, date)} IS NOT NULL) "
        f"FILTER (WHERE {quote_name(name)} IS NOT NULL)"
        for name, date in pairs
    ]
    results = compute_items(connection, tests, rows, {})
    fitting = [pair for pair, fits in zip(pairs, results, strict=True) if fits]
    by_name: dict[str, list[str]] = {}
    for name, date in fitting:
        by_name.setdefault(name, []).append(date)
    return {name: f"date:{dates[0]}" for name, dates in by_name.items() if len(dates) == 1}

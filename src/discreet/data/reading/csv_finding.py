"""Finds how a CSV file is written, off all of its rows: for the steward, who may read it, and then declares it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import AnyKind
from discreet.algebra.names import literal, quote_name
from discreet.core.schema import Kind
from discreet.data.engine_rules import DEFAULT_SETTINGS, quiet_opening
from discreet.data.reading.connecting import connect
from discreet.data.reading.csv_files import CsvFile, fitting_kinds
from discreet.data.reading.csv_format import CsvFormat, cast_written
from discreet.data.reading.csv_lines import PIECE, has_mark, open_bytes
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
        with connect(":memory:", DEFAULT_SETTINGS) as connection:
            return _find_signs(connection, path, form, declared)

    return quiet_opening(find)


def offer_kinds(path: Path, form: CsvFormat | None = None) -> dict[str, AnyKind]:
    """Return kinds that could be declared for the columns of a CSV file: all values fit them.

    For the steward, who may read the file anyway. It is decided by all rows.
    """

    def find() -> dict[str, AnyKind]:
        stamp_of(path)  # refuses a path that leads nowhere
        with connect(":memory:", DEFAULT_SETTINGS) as connection:
            kinds = fitting_kinds(connection, path, form or CsvFormat())
            return {**kinds, **_find_dates(connection, path, kinds, form or CsvFormat())}

    return quiet_opening(find)


def _find_encoding(path: Path) -> str | None:
    """Return an encoding that all bytes fit; None for UTF-8, and where the file says it itself."""
    fits = dict.fromkeys(("utf-8", "cp1252"), True)
    with open_bytes(path) as file:
        if has_mark(file):
            return None
        while block := file.read(PIECE):
            block += file.readline(PIECE)
            for codec in [codec for codec, fit in fits.items() if fit]:
                fits[codec] = _fits(block, codec)
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
    signs = NUMBERS if declared.plain_numbers else ((form.decimal, form.thousands),)
    kinds = {signs[0]: fitting_kinds(connection, path, replace(trying, decimal=signs[0][0], thousands=signs[0][1]))}
    if len(signs) > 1 and _may_be_numbers(connection, path, kinds[signs[0]], trying):
        for decimal, thousands in signs[1:]:
            written = replace(trying, decimal=decimal, thousands=thousands)
            kinds[decimal, thousands] = fitting_kinds(connection, path, written)
    best = max(kinds, key=lambda pair: sum(kind.numeric for kind in kinds[pair].values()))
    found = replace(form, decimal=best[0], thousands=best[1])
    if declared.null:
        return found
    dates = _find_dates(connection, path, kinds[best], replace(found, null=WORDS))
    others = [name for name, kind in kinds[best].items() if kind is not Kind.TEXT or name in dates]
    return replace(found, null=_find_words(connection, path, others, found))


def _may_be_numbers(connection: Any, path: Path, kinds: dict[str, Kind], form: CsvFormat) -> bool:
    """Whether a column of texts has no signs but those of numbers. Trying all ways to write them takes long."""
    texts = [quote_name(name) for name, kind in kinds.items() if kind is Kind.TEXT]
    if not texts:
        return False
    tests = ", ".join(f"bool_and(regexp_full_match(trim({name}), {literal(OF_NUMBERS)}))" for name in texts)
    statement = f"SELECT {tests} FROM {CsvFile.of(path, form).texts}"  # noqa: S608 - names are quoted
    (results,) = connection.execute(statement).fetchall()
    return any(results)


def _find_words(connection: Any, path: Path, names: list[str], form: CsvFormat) -> tuple[str, ...]:
    """Return those words for NULL that stand in some columns, once the lines are loaded."""
    if not names:
        return ()
    file = CsvFile.of(path, form)
    anywhere = [
        f"coalesce(bool_or(trim({quote_name(name)}) = {literal(word)}), false)" for word in WORDS for name in names
    ]
    (results,) = connection.execute(f"SELECT {', '.join(anywhere)} FROM {file.texts}").fetchall()  # noqa: S608 - quoted
    size = len(names)
    return tuple(word for place, word in enumerate(WORDS) if any(results[place * size : (place + 1) * size]))


def _find_dates(connection: Any, path: Path, kinds: dict[str, Kind], form: CsvFormat) -> dict[str, AnyKind]:
    """Return those columns of texts that hold days, if all are written in one way, and could be in no other.

    The lines are loaded: kinds were found of them.
    """
    texts = [name for name, kind in kinds.items() if kind is Kind.TEXT]
    if not texts:
        return {}
    file = CsvFile.of(path, form)
    pairs = [(name, date) for name in texts for date in DATES]
    tests = [
        f"bool_and({cast_written(quote_name(name), Kind.DATE, date)} IS NOT NULL) "
        f"FILTER (WHERE {quote_name(name)} IS NOT NULL)"
        for name, date in pairs
    ]
    (results,) = connection.execute(f"SELECT {', '.join(tests)} FROM {file.texts}").fetchall()  # noqa: S608 - quoted
    fitting = [pair for pair, fits in zip(pairs, results, strict=True) if fits]
    by_name = {name: [date for own, date in fitting if own == name] for name in texts}
    return {name: f"date:{dates[0]}" for name, dates in by_name.items() if len(dates) == 1}

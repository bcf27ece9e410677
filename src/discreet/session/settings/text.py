"""Settings written as TOML that people can read, by tomlkit: a comment on each, and numbers exactly as they are meant.

Settings are read by `tomllib`. This module is imported only where settings are written, as tomlkit takes long to load.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import tomlkit
from tomlkit.items import Array, Item, Key, KeyType, SingleKey, String, StringType, Table, Trivia

from discreet.algebra.declarations import AnyKind
from discreet.core import Bounds, Neighbours
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import PERSON, ForeignKey, Value
from discreet.gate import least_by_default
from discreet.session.declared import AnyBounds
from discreet.session.engine import Engine, memory_text

if TYPE_CHECKING:
    from discreet.gate import Budget
    from discreet.session.settings.settings import Settings

#: A container of settings: the file, or a heading of it.
Container: TypeAlias = tomlkit.TOMLDocument | Table

ORDER = "The column that distinguishes the rows of one person."
COMPLETE = "Columns that have a value in every row: their averages share one count."
#: The comment on kinds that were not declared.
FROM_ROWS = (
    "Some of these kinds were read off all rows when this file was written, and the steward agreed to publish them:",
    "one row can decide such a kind, and so reveal itself. Change kinds that must not depend on rows.",
)
KINDS = (
    "The kinds of columns: integer, real, text, boolean, date or timestamp. Values that do not fit count as missing.",
    'Days in another form than 2025-01-31 need a format: "date:%d.%m.%Y".',
    "A CSV file's columns that are not here are texts, or of the kind of their bounds or groups.",
)
CSV = ("How CSV files are written. A value that is not written so counts as missing.",)
BOUNDS = (
    "Public intervals: values beyond are clamped. Declare only bounds that are known without a look at the data.",
    "A third number is the step of the grid that values are counted on. Bounds of days are dates.",
)
GROUPS = ("Public groups: all of them are shown, empty ones too. Those of other columns are bought when asked for.",)
NO_LIMIT = (
    "The contribution bound of one person: each question chooses it privately, for a tenth of its price,",
    "unless it is given: [limit] with groups = 3 and rows_per_group = 5, or with rows = 10 in all.",
)


def settings_text(settings: "Settings", folder: Path, *, kinds_from_rows: bool = False) -> str:
    """Return the file's text; paths are relative to its folder."""
    document = tomlkit.document()
    _add_head(document, settings, folder)
    _add_tables(document, settings, folder)
    _add_budget(document, settings.budget)
    _add_limit(document, settings.limit)
    if settings.kinds:
        marked = FROM_ROWS if kinds_from_rows else ()
        _add_columns(document, "kinds", (*KINDS, *marked), settings.kinds, _kind)
    if settings.csv:
        _add_columns(document, "csv", CSV, settings.csv, _option)
    _add_columns(document, "bounds", BOUNDS, settings.bounds, _interval)
    _add_columns(document, "groups", GROUPS, settings.groups, _list)
    return tomlkit.dumps(document)


def _add_head(document: tomlkit.TOMLDocument, settings: "Settings", folder: Path) -> None:
    _comment(document, "Public facts about tables, and the place of their account. Paths begin at this file's folder.")
    if not isinstance(settings.source, Mapping):  # several files stand below a heading of their own
        _add(document, "source", _place(settings.source, folder))
        _add(document, "table", _text(settings.table) if settings.table else _list(settings.tables))
    _add_unit(document, settings)
    _add(
        document,
        "ledger",
        _place(settings.ledger, folder),
        "The ledger, for life: it keeps all payments.",
    )
    _add_options(document, settings, folder)


def _add_unit(document: tomlkit.TOMLDocument, settings: "Settings") -> None:
    if settings.person is None:
        _add(document, "row", tomlkit.item(True), "Each row is a person of its own: no person has two.")  # noqa: FBT003
        return
    if isinstance(settings.person, str):
        about = "The privacy unit: all rows with the same value of this column."
        _add(document, "person", _text(settings.person), about)
    if settings.window is not None:
        about = "A person is protected within one window of time, not for life."
        _add(document, "window", _text(str(settings.window)), about)


def _add_options(document: tomlkit.TOMLDocument, settings: "Settings", folder: Path) -> None:
    if isinstance(settings.order, str):
        _add(document, "order", _text(settings.order), ORDER)
    if settings.rows_per_person is not None:
        about = "The largest number of rows of one person in a table."
        _add(document, "rows_per_person", tomlkit.item(settings.rows_per_person), about)
    if settings.never_fails:
        about = "No row makes reading these fail, though they compute."
        _add(document, "never_fails", _list(settings.never_fails), about)
    if settings.inner is not None:
        _add(document, "inner", _text(settings.inner), "The table that is meant in the file.")
    _add_copies(document, settings, folder)
    if settings.delta is not None:
        _add(document, "delta", _number(settings.delta), "The δ that one question may use to buy groups.")
    if settings.complete and not isinstance(settings.complete, Mapping):
        _add(document, "complete", _list(settings.complete), COMPLETE)
    _add_engine(document, settings.engine)


def _add_copies(document: tomlkit.TOMLDocument, settings: "Settings", folder: Path) -> None:
    if settings.store is not None:
        _add(document, "store", _place(settings.store, folder), "Where the cleaned copy of the rows is kept.")
    if not settings.cache:
        about = "The command line keeps no import of the rows."
        _add(document, "cache", tomlkit.item(False), about)  # noqa: FBT003


def _add_engine(document: tomlkit.TOMLDocument, engine: Engine) -> None:
    if engine.seconds is not None:
        _add(document, "seconds", _number(engine.seconds), "The seconds that one question may take.")
    if engine.memory is not None:
        memory = tomlkit.value(memory_text(engine.memory))
        _add(document, "memory", memory, "The memory that the engine may take.")


def _add_tables(document: tomlkit.TOMLDocument, settings: "Settings", folder: Path) -> None:
    """Add the declarations of each table by its name, below headings."""

    def place(value: Any) -> Item:
        return _place(value, folder)

    sections: list[tuple[str, str, Any, Callable[[Any], Item]]] = [
        ("source", "The tables by their names in SQL. All speak of the same people.", settings.source, place),
        ("public", "Tables without people: all of their rows are public.", settings.public, place),
        ("person", "The privacy unit: the column that names the person of a row.", settings.person, _owner),
        ("order", ORDER, settings.order, _text),
        ("complete", COMPLETE, settings.complete, _list),
    ]
    for name, about, value, write in sections:
        if isinstance(value, Mapping) and value:
            table = _heading(document, name, about)
            for inner, entry in value.items():
                _add(table, inner, write(entry))


def _add_budget(document: tomlkit.TOMLDocument, budget: "Budget") -> None:
    table = _heading(document, "budget", "The terms of a new ledger; afterwards the ledger itself counts.")
    if budget.personal:
        about = "Each person has an account of this much, and is charged for their own contribution to an answer."
        _add(table, "per", _text(budget.per), about)
    _add_amounts(table, budget)
    if budget.least not in (None, least_by_default(budget.limit)):
        _add(table, "least", _number(budget.least_price), "The least price of a question.")
    if budget.most is not None:
        _add(table, "most", _number(budget.most), "The most that one question may cost a person.")
    if budget.unit.neighbours is not Neighbours.ADD_REMOVE:
        _add(table, "neighbours", _text(budget.unit.neighbours.value))
    if budget.total is not None:
        _comment(table, "The most that all questions together may cost, beside the accounts of persons.")
        _add_amounts(_table(table, "total"), budget.total)


def _add_amounts(table: Table, budget: "Budget") -> None:
    for name in ("epsilon", "rho", "delta", "reserve"):
        value = getattr(budget, name)
        if value is not None and (value or name == "reserve"):
            _add(table, name, _number(value))


def _add_limit(document: tomlkit.TOMLDocument, limit: AnyLimit | None) -> None:
    if limit is None:
        document.add(tomlkit.nl())
        _comment(document, *NO_LIMIT)
        return
    table = _heading(document, "limit", "The contribution bound of one person.")
    if isinstance(limit, TotalLimit):
        _add(table, "rows", tomlkit.item(limit.rows))
        return
    _add(table, "groups", tomlkit.item(limit.groups))
    _add(table, "rows_per_group", tomlkit.item(limit.rows_per_group))


def _add_columns(
    document: tomlkit.TOMLDocument,
    setting: str,
    about: Iterable[str],
    values: Mapping[str, Any],
    write: Callable[[Any], Item],
) -> None:
    """Add the declarations of columns below a heading; those by tables, below one for each."""
    tables = {name: entry for name, entry in values.items() if isinstance(entry, Mapping)}
    heading = _heading(document, setting, *about, empty=len(tables) == len(values) > 0)
    for name, value in values.items():
        if name not in tables:
            _add(heading, name, write(value))
    for table, columns in tables.items():
        below = _table(heading, table)
        for name, value in columns.items():
            _add(below, name, write(value))


def _heading(document: tomlkit.TOMLDocument, name: str, *about: str, empty: bool = False) -> Table:
    """Add a heading with comments above it, after an empty line."""
    document.add(tomlkit.nl())
    _comment(document, *about)
    return _table(document, name, empty=empty)


def _table(container: Container, name: str, *, empty: bool = False) -> Table:
    """Add a heading; one that holds headings alone is not written itself."""
    table = tomlkit.table(is_super_table=empty)
    container.add(key(name), table)
    table.trivia.indent = ""  # or an empty line would part it from its comments
    return table


def _add(container: Container, name: str, value: Item, about: str = "") -> None:
    if about:
        _comment(container, about)
    container.add(key(name), value)


def _comment(container: Container, *lines: str) -> None:
    for line in lines:
        container.add(tomlkit.comment(line))


def _interval(bounds: AnyBounds) -> Array:
    if isinstance(bounds, Bounds):
        return _array(map(_number, (bounds.low, bounds.high, bounds.step)))
    return _array(tomlkit.item(end) if isinstance(end, date) else _number(end) for end in bounds)


def _kind(kind: AnyKind) -> Item:
    return _text(kind if isinstance(kind, str) else kind.value)


def _option(value: str | Sequence[str]) -> Item:
    return _text(value) if isinstance(value, str) else _list(value)


def _list(values: Iterable[Value]) -> Array:
    return _array(map(_value, values))


def _array(items: Iterable[Item]) -> Array:
    array = tomlkit.array()
    for item in items:
        array.append(item)
    return array


def _owner(owner: str | ForeignKey | None) -> Item:
    """Return the column of persons, or the key that leads there."""
    if not isinstance(owner, ForeignKey):
        return _value(owner)
    key_table, pairs = tomlkit.inline_table(), tomlkit.inline_table()
    for own, other in owner.on:
        pairs.append(key(own), _text(other))
    key_table.append("via", _text(owner.parent))
    key_table.append("on", pairs)
    if owner.column != PERSON:
        key_table.append("as", _text(owner.column))
    return key_table


def _value(value: Value) -> Item:
    if value is None:  # TOML has no word for it
        null = tomlkit.inline_table()
        null.append("null", True)
        return null
    return _text(value) if isinstance(value, str) else tomlkit.item(value)


def _number(value: Fraction) -> Item:
    """Return a number as TOML: in decimals if they say it exactly, else as a text such as "1/3"."""
    if value.denominator == 1 and abs(value) < 10**15:
        return tomlkit.item(value.numerator)
    shown = repr(float(value))
    return tomlkit.value(shown) if Fraction(shown) == value else _text(str(value))


def _text(value: str) -> String:
    """Return a text in quotes, in which signs that cannot be shown stand by their numbers."""
    return String(StringType.SLB, value, _escape_unprintable(tomlkit.string(value).as_string()[1:-1]), Trivia())


def key(name: str) -> Key:
    """Return a name, in quotes if TOML wants them."""
    plain = tomlkit.key(name)
    shown = plain.as_string()
    return plain if shown.isprintable() else SingleKey(name, KeyType.Basic, original=_escape_unprintable(shown))


def _escape_unprintable(text: str) -> str:
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in text)


def _place(place: str | Path, folder: Path) -> String:
    """Return a path as seen from a folder; an address stays as it is."""
    if isinstance(place, str):
        return _text(place)
    try:
        return _text(Path(os.path.relpath(place.absolute(), folder.absolute())).as_posix())
    except ValueError:  # another drive
        return _text(place.absolute().as_posix())

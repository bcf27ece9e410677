"""Settings as TOML that people can read: a word on each, and numbers as they are meant."""

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core import Bounds, Neighbours
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Value
from discreet.gate.ledger.budget import least_by_default
from discreet.session.declared import AnyBounds
from discreet.session.engine import Engine, memory_text

if TYPE_CHECKING:
    from discreet.gate import Budget
    from discreet.session.settings.file import Settings

#: Names that TOML takes without quotes.
BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
#: What TOML escapes by a letter; other signs that cannot be shown go by number.
LETTERS = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}

ORDER = "# What tells the rows of one person apart."
COMPLETE = "# Columns that have a value in every row: their averages share one count."


#: What is said of kinds that nobody declared.
FROM_ROWS = (
    "# Some of these kinds were read off all rows when this file was written, and the steward agreed to publish them:",
    "# one row can decide such a kind, and so tell of itself. Change what must not depend on rows.",
)


def settings_text(settings: "Settings", folder: Path, *, kinds_from_rows: bool = False) -> str:
    """Return the file's text; paths are relative to its folder."""
    parts = [
        _head(settings, folder),
        *_tables(settings, folder),
        _budget(settings),
        _limit(settings.limit),
        _kinds(settings, from_rows=kinds_from_rows),
        _bounds(settings),
        _groups(settings),
    ]
    return "\n".join(line for part in parts if part for line in (*part, ""))


def _head(settings: "Settings", folder: Path) -> list[str]:
    return [
        "# What is public about tables, and where their account is kept. Paths begin at this file's folder.",
        *_source(settings, folder),
        *_who(settings),
        "# The account, for life: what was spent is found again here.",
        f"ledger = {text(_relative(settings.ledger, folder))}",
        *_more(settings, folder),
    ]


def _source(settings: "Settings", folder: Path) -> list[str]:
    """Return where rows are; several files stand below a heading of their own."""
    if isinstance(settings.source, Mapping):
        return []
    named = text(settings.table) if settings.table else _list(settings.tables)
    return [f"source = {text(_relative(settings.source, folder))}", f"table = {named}"]


def _who(settings: "Settings") -> list[str]:
    if settings.person is None:
        return ["# Each row is somebody of their own: nobody has two.", "row = true"]
    who = ["# Who is protected: all rows with the same value of this column."]
    who = [*who, f"person = {text(settings.person)}"] if isinstance(settings.person, str) else []
    if settings.window is not None:
        who += [
            "# A person is protected within one stretch of time, not for life.",
            f"window = {text(str(settings.window))}",
        ]
    return who


def _more(settings: "Settings", folder: Path) -> list[str]:
    more = []
    if isinstance(settings.order, str):
        more += [ORDER, f"order = {text(settings.order)}"]
    if settings.rows_per_person is not None:
        more += [
            "# How many rows of one person a table holds at most.",
            f"rows_per_person = {settings.rows_per_person}",
        ]
    if settings.never_fails:
        more += [
            "# No row makes reading these fail, though they compute.",
            f"never_fails = {_list(settings.never_fails)}",
        ]
    if settings.inner is not None:
        more += ["# The table that is meant in the file.", f"inner = {text(settings.inner)}"]
    if settings.store is not None:
        more += ["# Where the cleaned copy of the rows is kept.", f"store = {text(_relative(settings.store, folder))}"]
    if settings.delta is not None:
        more += ["# The δ that one question may use to buy groups.", f"delta = {number(settings.delta)}"]
    if settings.complete and not isinstance(settings.complete, Mapping):
        more += [COMPLETE, f"complete = {_list(settings.complete)}"]
    return more + _engine(settings.engine)


def _engine(engine: Engine) -> list[str]:
    lines = []
    if engine.seconds is not None:
        lines += ["# The seconds that one question may take.", f"seconds = {number(engine.seconds)}"]
    if engine.memory is not None:
        lines += ["# The memory that the engine may take.", f"memory = {memory_text(engine.memory)}"]
    return lines


def _tables(settings: "Settings", folder: Path) -> list[list[str]]:
    """Return what is said for each table by its name, below headings."""

    def place(value: Any) -> str:
        return text(_relative(value, folder))

    return [
        _below("source", "# The tables by their names in SQL. All speak of the same people.", settings.source, place),
        _below("public", "# Tables that are nobody's: everybody may know all of their rows.", settings.public, place),
        _below("person", "# Who is protected: the column that says whose a row is.", settings.person, _value),
        _below("order", ORDER, settings.order, text),
        _below("complete", COMPLETE, settings.complete, _list),
    ]


def _below(what: str, about: str, given: Any, write: Callable[[Any], str]) -> list[str]:
    """Return a heading with a line for each name; nothing for what is said otherwise."""
    if not isinstance(given, Mapping) or not given:
        return []
    return [about, f"[{what}]", *(f"{key(name)} = {write(one)}" for name, one in given.items())]


def _columns(what: str, given: Mapping[str, Any], write: Callable[[Any], str]) -> list[str]:
    """Return what is said of columns below a heading; what is said by tables, below one for each."""
    tables = {name: said for name, said in given.items() if isinstance(said, Mapping)}
    plain = [f"{key(name)} = {write(one)}" for name, one in given.items() if name not in tables]
    below = [line for table, said in tables.items() for line in _columns(f"{what}.{key(table)}", said, write)]
    return [*([f"[{what}]", *plain] if plain or not tables else []), *below]


def _budget(settings: "Settings") -> list[str]:
    budget = settings.budget
    lines = ["# What the ledger begins with; afterwards it is the ledger that counts.", "[budget]"]
    if budget.personal:
        lines += ["# Each person has an account of this much, and pays for what an answer takes from them."]
        lines += [f"per = {text(budget.per)}"]
    lines += _amounts(budget)
    if budget.least not in (None, least_by_default(budget.limit)):
        lines += ["# The least price of a question.", f"least = {number(budget.least_price)}"]
    if budget.most is not None:
        lines += ["# The most that one question may cost anybody.", f"most = {number(budget.most)}"]
    if budget.unit.neighbours is not Neighbours.ADD_REMOVE:
        lines.append(f"neighbours = {text(budget.unit.neighbours.value)}")
    if budget.total is not None:
        lines += ["# What all questions together may cost, beside the accounts of persons.", "[budget.total]"]
        lines += _amounts(budget.total)
    return lines


def _amounts(budget: "Budget") -> list[str]:
    values = {name: getattr(budget, name) for name in ("epsilon", "rho", "delta", "reserve")}
    return [
        f"{name} = {number(value)}"
        for name, value in values.items()
        if value is not None and (value or name == "reserve")
    ]


def _limit(limit: AnyLimit | None) -> list[str]:
    if limit is None:
        return [
            "# How much of an answer one person may touch: each question chooses privately, for a tenth of its price,",
            "# unless it is given: [limit] with groups = 3 and rows_per_group = 5, or with rows = 10 in all.",
        ]
    lines = ["# How much of an answer one person may touch.", "[limit]"]
    if isinstance(limit, TotalLimit):
        return [*lines, f"rows = {limit.rows}"]
    return [*lines, f"groups = {limit.groups}", f"rows_per_group = {limit.rows_per_group}"]


def _kinds(settings: "Settings", *, from_rows: bool) -> list[str]:
    if not settings.kinds:
        return []
    about = (
        "# What columns hold: integer, real, text, boolean, date or timestamp. What does not fit counts as missing.",
        "# A CSV file's columns that are not here are texts, or what their bounds or groups are.",
    )
    marked = FROM_ROWS if from_rows else ()
    return [*about, *marked, *_columns("kinds", settings.kinds, lambda kind: text(kind.value))]


def _bounds(settings: "Settings") -> list[str]:
    about = (
        "# Public intervals: values beyond are clamped. Declare what is known without a look at the data.",
        "# A third number is the step of the grid that values are counted on. Bounds of days are dates.",
    )
    return [*about, *_columns("bounds", settings.bounds, _interval)]


def _interval(bounds: AnyBounds) -> str:
    if isinstance(bounds, Bounds):
        return f"[{number(bounds.low)}, {number(bounds.high)}, {number(bounds.step)}]"
    return f"[{', '.join(end.isoformat() if isinstance(end, date) else number(end) for end in bounds)}]"


def _groups(settings: "Settings") -> list[str]:
    about = "# Public groups: all of them are shown, empty ones too. Those of other columns are bought when asked for."
    return [about, *_columns("groups", settings.groups, _list)]


def _list(values: Iterable[Value]) -> str:
    return f"[{', '.join(map(_value, values))}]"


def _value(value: Value) -> str:
    match value:
        case None:
            return "{null = true}"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case date():
            return value.isoformat()
        case str():
            return text(value)


def number(value: Fraction) -> str:
    """Return a number as TOML: in decimals if they say it exactly, else as a text such as "1/3"."""
    if value.denominator == 1 and abs(value) < 10**15:
        return str(value.numerator)
    shown = repr(float(value))
    if Fraction(shown) != value:
        return text(str(value))
    return shown


def text(value: str) -> str:
    """Return a text in quotes."""
    return f'"{"".join(LETTERS.get(sign, sign if sign.isprintable() else _by_number(sign)) for sign in value)}"'


def _by_number(sign: str) -> str:
    return f"\\U{ord(sign):08x}"


def key(name: str) -> str:
    """Return a name, in quotes if TOML wants them."""
    return name if name and set(name) <= BARE else text(name)


def _relative(place: str | Path, folder: Path) -> str:
    """Return a path as seen from a folder; an address stays as it is."""
    if isinstance(place, str):
        return place
    try:
        return Path(os.path.relpath(place.absolute(), folder.absolute())).as_posix()
    except ValueError:  # another drive
        return place.absolute().as_posix()

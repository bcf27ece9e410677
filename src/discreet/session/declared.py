"""Declarations of a table, from the steward's arguments to checked values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.algebra.declarations import AnyKind, complete_of, kinds_as_written, moment_of
from discreet.algebra.row_caps import rows_per_person_of
from discreet.core import Bounds, DiscreetError, InvalidInput, Limit, PrivacyUnit, Window, WrongType, whole
from discreet.core.errors import kind_of
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import KEY_FIX, PERSON, ROWS_PER_PERSON, ForeignKey, Value
from discreet.data.reading import CsvFormat, read_csv_format

#: More public groups than this in one column are a mistake: no reader looks at that many.
MOST_GROUPS = 100_000


#: The ends of an interval, or bounds on a chosen grid.
AnyBounds = Bounds | tuple[Fraction, Fraction] | tuple[date, date]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTable:
    """The privacy unit, and the public facts about the columns. Checked, but not yet against the table."""

    person: str | None
    bounds: Mapping[str, AnyBounds] = field(default_factory=dict)
    groups: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    limit: AnyLimit | None = None
    #: With formats of days behind some of them, as in "date:%d.%m.%Y".
    kinds: Mapping[str, AnyKind] = field(default_factory=dict)
    csv: CsvFormat = field(default_factory=CsvFormat)
    complete: tuple[str, ...] = ()
    window: Window | None = None
    order: str | None = None
    rows_per_person: int = ROWS_PER_PERSON
    never_fails: bool = False
    #: How rows lead to the person, if no column of the table says whose they are.
    via: ForeignKey | None = None

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit, unless the budget names another."""
        return PrivacyUnit(column=self.person, window=self.window)


def read_declaration(  # noqa: PLR0913 - all are named
    *,
    person: object,
    row: object,
    bounds: object,
    groups: object,
    limit: object,
    kinds: object = None,
    csv: object = None,
    complete: object = None,
    window: object = None,
    order: object = None,
    rows_per_person: object = None,
) -> DeclaredTable:
    """Return the declarations, checked."""
    owner = read_person(person, row=row)
    via = owner if isinstance(owner, ForeignKey) else None
    who = column_of(owner)
    pairs = _read_by_column(bounds, "bounds", 'bounds={"stay": (0, 60)}', who)
    lists = _read_by_column(groups, "groups", 'groups={"ward": ["A", "B", "C"]}', who)
    return DeclaredTable(
        person=who,
        bounds={name: read_bounds(name, pair) for name, pair in pairs.items()},
        groups={name: read_groups(name, values) for name, values in lists.items()},
        limit=_limit_for(who, limit),
        kinds={} if kinds is None else kinds_as_written(kinds),
        csv=read_csv_format(csv),
        complete=() if complete is None else complete_of(complete),
        window=read_window(window, who),
        order=_read_order(order),
        rows_per_person=_read_rows(who, rows_per_person),
        via=via,
    )


def read_never_fails(promised: object, tables: Iterable[str]) -> frozenset[str]:
    """Return the tables, by folded names, of which it is promised that no row makes reading them fail."""
    if promised is None:
        return frozenset()
    if isinstance(promised, str) or not isinstance(promised, Iterable):
        raise WrongType(f"never_fails is {kind_of(promised)}, not a list of tables.", fix='pass never_fails=["visits"]')
    known = {name.casefold(): name for name in tables}
    named = tuple(promised)
    if not all(isinstance(table, str) and table.casefold() in known for table in named):
        raise InvalidInput(
            "never_fails names an unknown private table.",
            fix=f"name some of {', '.join(known.values())}, as they are called in SQL",
        )
    return frozenset(table.casefold() for table in named)


def column_of(owner: str | ForeignKey | None) -> str | None:
    """Return the name of the column of persons."""
    return owner.column if isinstance(owner, ForeignKey) else owner


def read_person(person: object, *, row: object = False) -> str | ForeignKey | None:
    """Return the column of persons, or the key that leads there; None if each row is a person of its own."""
    if (person is None) == (not flag(row, "row")):
        problem = "Neither person nor row is" if person is None else "Both person and row are"
        raise InvalidInput(
            f"The privacy unit is unclear: {problem} given.",
            fix='pass person="patient_id", the column that names the person of a row; '
            "or row=True, if every person has at most one row",
        )
    if isinstance(person, ForeignKey):
        return person
    if isinstance(person, Mapping):
        return _read_key(person)
    if person is not None and not isinstance(person, str):
        raise WrongType(f"person is {kind_of(person)}, not a name.", fix='pass a column\'s name: person="patient_id"')
    if person is not None and not person.strip():
        raise InvalidInput("person is empty.", fix='pass a column\'s name: person="patient_id", or row=True')
    return person


def _read_key(person: Mapping[Any, Any]) -> ForeignKey:
    """Return the key that leads to the person, as it is declared: {"via": "orders", "on": {"order_id": "id"}}."""
    on = person.get("on")
    pairs = on if isinstance(on, Mapping) else {name: name for name in ([on] if isinstance(on, str) else on or ())}
    names = (person.get("via"), person.get("as", PERSON), *pairs, *pairs.values())
    if not set(person) <= {"via", "on", "as"} or not pairs or not all(isinstance(name, str) for name in names):
        raise InvalidInput("A person is neither a column's name nor a key that leads to the person.", fix=KEY_FIX)
    return ForeignKey(parent=person["via"], on=tuple(pairs.items()), column=person.get("as", PERSON))


def read_window(window: object, person: str | None) -> Window | None:
    """Return the stretch of time within which a person is protected; None: for life."""
    if window is None:
        return None
    if person is None:
        raise InvalidInput("A window needs a person.", fix='name the person: person="patient_id"')
    if isinstance(window, Window):
        return window
    if not isinstance(window, str):
        raise WrongType(f"window is {kind_of(window)}, not a text.", fix='pass window="month of day"')
    return Window.of(window)


def _read_rows(person: str | None, rows_per_person: object) -> int:
    """Return the cap on the rows of one person."""
    if rows_per_person is None:
        return ROWS_PER_PERSON
    if person is None:
        raise InvalidInput(
            "rows_per_person has no meaning with row=True: every unit has exactly one row.",
            fix='leave out rows_per_person; or name the column of persons: person="patient_id"',
        )
    return rows_per_person_of(rows_per_person)


def _read_order(order: object) -> str | None:
    if order is not None and not isinstance(order, str):
        raise WrongType(f"order is {kind_of(order)}, not a name.", fix='pass a column\'s name: order="visit_id"')
    return order


def read_kind(name: str, kind: object) -> AnyKind:
    """Return the kind of one column, by its name; with a format of days behind it, if there is one."""
    return kinds_as_written({name: kind})[name]


def read_bounds(name: str, pair: object) -> AnyBounds:
    """Return the bounds of one column: two numbers, two days or moments, or Bounds with a chosen grid.

    Days and moments may be texts, such as "2024-12-31" or "2024-12-31 18:00"; moments are in UTC. On which grid numbers
    are counted otherwise is decided when the kind of the column is known.
    """
    if isinstance(pair, Bounds):
        return (pair.low, pair.high) if has_default_step(pair) else pair
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) not in (2, 3):
        raise WrongType(
            f"The bounds of {name!r} are not a pair.", fix=f'pass bounds={{"{name}": (low, high)}}, such as (0, 60)'
        )
    low, high, *step = [_end(name, end) for end in pair]
    if isinstance(low, date) and isinstance(high, date) and not step:
        return _days(name, low, high)
    try:
        chosen = Bounds(low, high, step=step[0] if step else None)
    except DiscreetError as error:
        days = '; or two days, such as ("2024-01-01", "2024-12-31")' if isinstance(low, str | date) else ""
        raise type(error)(f"The bounds of {name!r}: {error.problem}", fix=f"{error.fix}{days}") from None
    return chosen if step else (chosen.low, chosen.high)


def _end(name: str, end: object) -> Any:
    """Return one end, or the step: what is written as a day or a moment is one."""
    try:
        return moment_of(end)
    except DiscreetError as error:
        raise type(error)(f"The bounds of {name!r}: {error.problem}", fix=error.fix) from None


def _days(name: str, low: date, high: date) -> tuple[date, date]:
    if _midnight(low) >= _midnight(high):
        raise InvalidInput(
            f"The bounds of {name!r}: the first day is not before the last.", fix="pass the earlier day first"
        )
    return low, high


def _midnight(day: date) -> datetime:
    """Return a day as the moment at which it begins; a moment as it is."""
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)  # noqa: DTZ001 - UTC as in tables


def has_default_step(bounds: Bounds) -> bool:
    """Whether the grid is the one that bounds get by default."""
    try:
        return Bounds(bounds.low, bounds.high) == bounds
    except InvalidInput:
        return False  # no power of ten divides these


def read_groups(name: str, values: object) -> tuple[Value, ...]:
    """Return the public groups of one column, each once, in their order."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise WrongType(
            f"The groups of {name!r} are {kind_of(values)}, not a list.",
            fix=f'pass groups={{"{name}": ["A", "B"]}}: all values that may be shown',
        )
    groups = tuple(values)
    if not groups:
        raise InvalidInput(
            f"The list of groups of {name!r} is empty.",
            fix="list the values that may be shown; or leave the column out, and questions use partition selection",
        )
    if len(groups) > MOST_GROUPS:
        raise InvalidInput(
            f"The list of groups of {name!r} is longer than {MOST_GROUPS:,}.", fix="declare coarser groups"
        )
    for value in groups:
        if value is not None and not isinstance(value, bool | int | float | str | date):
            raise WrongType(
                f"A group of {name!r} is {kind_of(value)}.", fix="list numbers, texts, dates, True, False or None"
            )
    # Python thinks that True == 1, SQL does not.
    if len({(type(value), value) for value in groups}) < len(groups):
        raise InvalidInput(f"A group of {name!r} is listed twice.", fix="list every value once")
    return groups


def read_limit(limit: object) -> AnyLimit | None:
    """Return a limit: as it is, a number of rows in all, or a dictionary with the words of either kind."""
    match limit:
        case None | Limit() | TotalLimit():
            return limit
        case Mapping() if set(limit) == {"rows"}:
            return TotalLimit(whole(limit["rows"], "limit"))
        case Mapping() if limit and set(limit) <= {"groups", "rows_per_group"}:
            return Limit(**{str(name): number for name, number in limit.items()})
        case int() if not isinstance(limit, bool):
            return TotalLimit(whole(limit, "limit"))
        case _:
            raise WrongType(
                f"limit is {kind_of(limit)}, not a contribution bound.",
                fix="pass Limit(groups=3, rows_per_group=5); or limit=10, for 10 rows per person in all; "
                "or leave it out, and each question chooses one privately",
            )


def _limit_for(person: str | None, limit: object) -> AnyLimit | None:
    bound = read_limit(limit)
    if person is not None:
        return bound
    if bound is not None and bound.rows != 1:
        raise InvalidInput(
            "With row=True every unit has exactly one row, so there is nothing to limit.",
            fix='leave out limit; or name the column of persons: person="patient_id"',
        )
    return Limit(groups=1, rows_per_group=1)


def _read_by_column(mapping: object, argument: str, example: str, person: str | None) -> dict[str, object]:
    """Return a dictionary by columns."""
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise WrongType(f"{argument} is {kind_of(mapping)}, not a dictionary by columns.", fix=f"pass {example}")
    for name in mapping:
        if not isinstance(name, str):
            raise WrongType(f"A name in {argument} is {kind_of(name)}, not a text.", fix=f"pass {example}")
    folded = {name.casefold() for name in mapping}
    if person is not None and person.casefold() in folded:
        raise InvalidInput(
            f"{person!r} names the privacy unit and takes no {argument}.", fix=f"leave it out of {argument}"
        )
    if len(folded) < len(mapping):
        raise InvalidInput(f"{argument} names a column twice (capitals do not count).", fix="name it once")
    return dict(mapping)

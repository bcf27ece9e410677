"""Schemas: the public facts about a table, which are its columns, kinds, bounds, groups and privacy unit."""

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import ClassVar, TypeVar

from discreet.core.bounds import Bounds
from discreet.core.canonical_text import Choices, Record
from discreet.core.errors import InvalidInput
from discreet.core.units import PrivacyUnit

#: A value of a cell, or of a group; None is SQL's NULL.
Value = int | float | str | bool | date | datetime | None
#: A day, or a moment.
Day = TypeVar("Day", bound=date)


#: The number of rows of one privacy unit in a table, unless another cap is declared; and the largest cap there is.
ROWS_PER_PERSON, MOST_ROWS_PER_PERSON = 10_000, 100_000_000

#: The day that days are counted from.
EPOCH = date(1970, 1, 1).toordinal()


class Kind(Enum):
    """The kind of the values of a column or an expression."""

    __canonical__ = Choices(
        "Kind",
        {
            "integer": "INTEGER: 'integer'",
            "real": "REAL: 'real'",
            "text": "TEXT: 'text'",
            "boolean": "BOOLEAN: 'boolean'",
            "date": "DATE: 'date'",
            "timestamp": "TIMESTAMP: 'timestamp'",
        },
    )

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def numeric(self) -> bool:
        """Whether one can count with it."""
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def groupable(self) -> bool:
        """Whether rows can be grouped by it: of reals and moments, nearly every row has its own."""
        return self not in (Kind.REAL, Kind.TIMESTAMP)

    @property
    def temporal(self) -> bool:
        """Whether it is a point in time."""
        return self in (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. Bounds of dates and timestamps count days since 1970-01-01.

    A column with bounds is never seen outside of them: wherever it stands in a question, it is clamped first. A
    *complete* column is said to have a value in every row: rows are counted in place of its values. No promise rests on
    that being true.
    """

    __canonical__: ClassVar[Record] = Record("Column", "name", "kind", "bounds", "groups", "complete")

    name: str
    kind: Kind
    bounds: Bounds | None = None
    groups: tuple[Value, ...] | None = None
    complete: bool = False


#: The name of the person's column in a table that has none of its own, and leads to the person by a key.
PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """The way from rows of a table to their person: a key of another private table, whose rows have persons.

    A row belongs to each person who has a parent row with the same key, once for each such person: to one, if the key
    is unique, which the steward declares. Whether it belongs to a person depends on that person's own parent rows
    alone, so that taking one person's parent rows away takes away that person's rows here and no others, unique key or
    not. Rows without a parent belong to no person.

    Args:
        parent: The table that the key belongs to.
        on: Pairs of columns that are equal: one of the table's own, and one of the parent's key.
        column: The name of the column, in the table that leads to the person, that says who that is.

    Raises:
        InvalidInput: There is no pair, or a name is empty.

    """

    parent: str
    on: tuple[tuple[str, str], ...]
    column: str = PERSON

    def __post_init__(self) -> None:
        names = (self.parent, self.column, *(name for pair in self.on for name in pair))
        if not self.on or not all(name.strip() for name in names):
            raise InvalidInput("A key that leads to the person names no table or no column.", fix=KEY_FIX)

    def __str__(self) -> str:
        pairs = " and ".join(f"{own} = {other}" for own, other in self.on)
        return f"{self.column} by {self.parent} on {pairs}"


#: How a key that leads to the person is declared.
KEY_FIX = 'pass person={…, "items": {"via": "orders", "on": {"order_id": "id"}}}'


@dataclass(frozen=True, slots=True)
class PublicRows:
    """The different rows of a public table: names of columns, values as they came, and how often each is there."""

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One table. The unit's column, if there is one, is among the columns.

    Rows that are made of those of tables (`discreet.algebra.relations`) have a schema, too. There the person may be in
    no column, or in several: `people` names them. None: the unit's own column.

    `rows_per_person` is the public cap on the rows of one privacy unit (`discreet.algebra.row_caps`).
    `rows` are those of a public table, if they are few; of any other table there are none. `via` says how rows lead to
    the person, where the person's column is not the table's own.
    """

    table: str
    columns: tuple[Column, ...]
    unit: PrivacyUnit
    people: tuple[str, ...] | None = None
    rows_per_person: int = ROWS_PER_PERSON
    rows: PublicRows | None = field(default=None, repr=False, compare=False)
    via: ForeignKey | None = None

    def __post_init__(self) -> None:
        folded = [column.name.casefold() for column in self.columns]
        if len(set(folded)) < len(folded):
            raise InvalidInput(
                "Two columns have the same name, but for capitals.", fix="rename one of them before the table is opened"
            )
        missing = self.unit.column is not None and self.find(self.unit.column) is None
        if self.people is None and missing:
            raise InvalidInput(
                f"There is no column {self.unit.column!r} to name the privacy unit.",
                fix=f"pass one of: {', '.join(self.names)}",
            )
        window = None if self.people is not None else self.unit.window
        time = None if window is None else self.find(window.time)
        if window is not None and (time is None or not time.kind.temporal):
            raise InvalidInput(
                f"There is no column {window.time!r} of dates or times that a window could be of.",
                fix='name a column of dates; a CSV file\'s are texts until they are declared: kinds={"day": "date"}',
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    def find(self, name: str) -> Column | None:
        """Return the column of a name; capitals do not matter, as in SQL."""
        return next((column for column in self.columns if column.name.casefold() == name.casefold()), None)

    def is_person(self, name: str) -> bool:
        """Whether a column names the privacy unit."""
        return name.casefold() in {person.casefold() for person in self.person_names}

    @property
    def person_names(self) -> tuple[str, ...]:
        """The columns that name the privacy unit: one, or none; of a relation, perhaps several."""
        if self.people is not None:
            return self.people
        return () if self.unit.column is None else (self.unit.column,)


def day_number(day: date) -> int:
    """Return the days from 1970-01-01 to a day."""
    return day.toordinal() - EPOCH


def day_of(number: int) -> date:
    """Return the day of a number of days since 1970-01-01; the first or the last day that there is, if it is beyond."""
    return date.fromordinal(min(max(number + EPOCH, date.min.toordinal()), date.max.toordinal()))


def months_later(day: Day, months: int) -> Day | None:
    """Return the day so many months later, at the same hour: the last of its month, if that has no such day.

    None outside of years 1 to 9999.
    """
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    if not date.min.year <= year <= date.max.year:
        return None
    return day.replace(year=year, month=month + 1, day=min(day.day, monthrange(year, month + 1)[1]))


def closest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the name that was probably meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for errors, and slow to load

    folded = {known.casefold(): known for known in names}
    matches = get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[matches[0]] if matches else None

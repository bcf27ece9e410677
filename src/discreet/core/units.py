"""Whose presence is hidden, and which two tables are neighbours."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from discreet.core.canonical_text import Choices, Record
from discreet.core.errors import InvalidInput, WrongType


class Neighbours(Enum):
    """Which two tables a guarantee makes hard to tell apart."""

    __canonical__ = Choices(
        "Neighbours",
        {
            "add/remove": "ADD_REMOVE: 'add/remove'",
            "replace": "REPLACE: 'replace'",
        },
    )

    ADD_REMOVE = "add/remove"
    """One table has all the rows of one unit more than the other. The size of the table is hidden too."""

    REPLACE = "replace"
    """Both have the same number of units, and one unit's rows differ. The size of the table is public."""


def need_neighbours(value: object) -> Neighbours:
    """Return `value` if it is one of the two relations; a word in its place would be read as neither."""
    if not isinstance(value, Neighbours):
        raise WrongType(
            "neighbours is not one of the two relations.", fix="pass Neighbours.ADD_REMOVE or Neighbours.REPLACE"
        )
    return value


#: The relations as ledgers have them written: in a budget, and in the text of a filter.
NEIGHBOUR_WORDS = {Neighbours.ADD_REMOVE: "add_remove", Neighbours.REPLACE: "replace"}


class Period(Enum):
    """A stretch of the calendar. Weeks begin on Monday."""

    __canonical__ = Choices(
        "Period",
        {
            "day": "DAY: 'day'",
            "week": "WEEK: 'week'",
            "month": "MONTH: 'month'",
            "quarter": "QUARTER: 'quarter'",
            "year": "YEAR: 'year'",
        },
    )

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of time within which a person's rows are hidden: a period of the calendar, of a column of times.

    Rows without a time are in one window together.
    """

    __canonical__: ClassVar[Record] = Record("Window", "period", "time")

    period: Period
    time: str

    def __post_init__(self) -> None:
        if not isinstance(self.period, Period):
            raise WrongType("period is not a Period.", fix="pass Period.MONTH or the like")
        if not isinstance(self.time, str) or not self.time.strip():
            raise InvalidInput(
                "A window names no column of times.", fix='write "month of day", or Window(period=…, time="day")'
            )

    @classmethod
    def of(cls, text: str) -> "Window":
        """Return the window that a text such as "month of day" says: a period, and a column of dates or times."""
        period, _, time = text.partition(" of ")
        if period.strip() not in {one.value for one in Period}:
            raise InvalidInput(
                "The window does not begin with a period.",
                fix='write "month of day": day, week, month, quarter or year, of a column of dates or times',
            )
        return cls(period=Period(period.strip()), time=time.strip())

    def __str__(self) -> str:
        return f"{self.period.value} of {self.time}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyUnit:
    """Whose presence is hidden: one row, or all rows that share one value of `column`, of a `window` or for life.

    With a window the promise is for each person's rows of one month, say. What many months together tell about a person
    is not hidden: the losses of all windows in which that person has rows add up.
    """

    __canonical__: ClassVar[Record] = Record("PrivacyUnit", "column", "neighbours", "window")

    column: str | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    window: Window | None = None

    def __post_init__(self) -> None:
        if self.column is not None and not isinstance(self.column, str):
            raise WrongType("column is not a name.", fix='pass the column\'s name, such as column="patient_id"')
        if self.column is not None and not self.column.strip():
            raise InvalidInput(
                "column is empty.", fix="name the column that identifies a person, or pass None for rows"
            )
        need_neighbours(self.neighbours)
        if self.window is not None and not isinstance(self.window, Window):
            raise WrongType("window is not a Window.", fix='pass Window(period=Period.MONTH, time="day")')
        if self.window is not None and self.column is None:
            raise InvalidInput(
                "A window is of a person's rows.", fix="name the person's column, or leave the window out"
            )

    def __str__(self) -> str:
        who = "one row" if self.column is None else f"all rows of one {self.column}"
        if self.window is not None:
            who = f"{who} in one {self.window}"
        what = "added or removed" if self.neighbours is Neighbours.ADD_REMOVE else "replaced by others"
        return f"{who}, {what}"

"""Privacy units and adjacency: whose presence is hidden, and which two tables are neighbours."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from discreet.core.canonical_text import Choices, Record
from discreet.core.errors import InvalidInput, WrongType


class Neighbours(Enum):
    """The neighbour relation: which two tables a guarantee makes hard to distinguish."""

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
    """A window of time within which a person's rows are hidden: a period of the calendar, by a column of times.

    Rows without a time are in one window together.

    Args:
        period: The period: `Period.DAY`, `WEEK`, `MONTH`, `QUARTER` or `YEAR`.
        time: The column of dates or times that says in which period a row lies.

    Raises:
        WrongType: The period is not a `Period`.
        InvalidInput: The column has no name.

    Example:
        >>> print(discreet.Window(period=discreet.Period.MONTH, time="day"))
        month of day

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
        """Return the window that a text describes.

        Args:
            text: A period and a column of dates or times, such as "month of day".

        Returns:
            The window.

        Raises:
            InvalidInput: The text does not begin with a period, or names no column.

        Example:
            >>> discreet.Window.of("week of admitted").period
            <Period.WEEK: 'week'>

        """
        period, _, time = text.partition(" of ")
        if period.strip() not in {known.value for known in Period}:
            raise InvalidInput(
                "The window does not begin with a period.",
                fix='write "month of day": day, week, month, quarter or year, of a column of dates or times',
            )
        return cls(period=Period(period.strip()), time=time.strip())

    def __str__(self) -> str:
        return f"{self.period.value} of {self.time}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyUnit:
    """The privacy unit: one row, or all rows that share one value of a column, for life or within a window of time.

    With a window the guarantee is for each person's rows of one month, for example. The combined information of many
    months about a person is not hidden: the losses of all windows in which that person has rows add up.

    Args:
        column: The column whose value all rows of one person share; None protects single rows.
        neighbours: The neighbour relation: whether a unit is added or removed, or replaced by another.
        window: The window of time within which a person's rows are protected together; None is for life.

    Raises:
        WrongType: An argument is of a wrong type.
        InvalidInput: The column's name is empty, or a window is given without a column.

    Example:
        >>> print(discreet.PrivacyUnit(column="patient_id"))
        all rows of one patient_id, added or removed

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
                "A window needs a column of persons.", fix="name the person's column, or leave the window out"
            )

    def __str__(self) -> str:
        who = "one row" if self.column is None else f"all rows of one {self.column}"
        if self.window is not None:
            who = f"{who} in one {self.window}"
        change = "added or removed" if self.neighbours is Neighbours.ADD_REMOVE else "replaced by others"
        return f"{who}, {change}"

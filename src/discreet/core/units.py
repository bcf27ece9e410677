"""Whose presence is hidden, and which two tables are neighbours."""

from dataclasses import dataclass
from enum import Enum

from discreet.core.errors import InvalidInput, WrongType


class Neighbours(Enum):
    """Which two tables a guarantee makes hard to tell apart."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyUnit:
    """Whose presence is hidden: one row, or all rows that share one value of `column`."""

    column: str | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        if self.column is not None and not isinstance(self.column, str):
            raise WrongType("column is not a name.", fix='pass the column\'s name, such as column="patient_id"')
        if self.column is not None and not self.column.strip():
            raise InvalidInput(
                "column is empty.", fix="name the column that identifies a person, or pass None for rows"
            )
        need_neighbours(self.neighbours)

    def __str__(self) -> str:
        who = "one row" if self.column is None else f"all rows of one {self.column}"
        what = "added or removed" if self.neighbours is Neighbours.ADD_REMOVE else "replaced by others"
        return f"{who}, {what}"

"""Contribution bounds: how many rows and groups of an answer one privacy unit may touch."""

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.canonical_text import Record, settle
from discreet.core.errors import WrongType, kind_of
from discreet.core.exact import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The contribution bound of one privacy unit: how many groups it may touch, and with how many rows each.

    Rows beyond the bound do not count. A larger bound drops fewer rows and needs more noise.

    Args:
        groups: The number of groups of an answer in which the rows of one unit count.
        rows_per_group: The number of rows of one unit that count in each of these groups.

    Raises:
        InvalidInput: A number is not a whole number above zero.

    Example:
        >>> discreet.Limit(groups=3, rows_per_group=5).rows
        15

    """

    __canonical__: ClassVar[Record] = Record("Limit", "groups", "rows_per_group")

    groups: int = 1
    rows_per_group: int = 1

    def __post_init__(self) -> None:
        # Python integers, as NumPy's would wrap when they are multiplied.
        settle(
            self,
            groups=whole(self.groups, "groups"),
            rows_per_group=whole(self.rows_per_group, "rows_per_group"),
        )

    @property
    def rows(self) -> int:
        """The number of rows that one unit may have in all groups together."""
        return self.groups * self.rows_per_group

    def __str__(self) -> str:
        if self.groups == 1:
            return f"at most {_many(self.rows_per_group, 'row')} a unit"
        return f"at most {_many(self.groups, 'group')} a unit, and {_many(self.rows_per_group, 'row')} in each"


@dataclass(frozen=True, slots=True)
class TotalLimit:
    """A contribution bound of all rows of one privacy unit, however they are spread over groups.

    Args:
        rows: The number of rows of one unit that count in an answer.

    Raises:
        InvalidInput: The number is not a whole number above zero.

    Example:
        >>> print(discreet.TotalLimit(5))
        at most 5 rows a unit

    """

    __canonical__: ClassVar[Record] = Record("TotalLimit", "rows")

    rows: int

    def __post_init__(self) -> None:
        settle(self, rows=whole(self.rows, "rows"))

    @property
    def groups(self) -> int:
        """The number of groups that one unit may touch: as many as it has rows."""
        return self.rows

    @property
    def rows_per_group(self) -> int:
        """The number of rows that one unit may have in one group: all of them."""
        return self.rows

    def __str__(self) -> str:
        return f"at most {_many(self.rows, 'row')} a unit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """A bound for joins of people with each other, on other columns than the person's.

    Args:
        rows: The number of rows of one privacy unit, on each side of the join, that are matched.
        matches: The number of rows of the other side that each of them is matched with.

    Raises:
        InvalidInput: A number is not a whole number above zero.

    Example:
        >>> print(discreet.Matches(rows=2, matches=3))
        at most 2 rows a unit, and 3 matches for each

    """

    rows: int
    matches: int

    def __post_init__(self) -> None:
        settle(self, rows=whole(self.rows, "rows"), matches=whole(self.matches, "matches"))

    def __str__(self) -> str:
        return f"at most {_many(self.rows, 'row')} a unit, and {_many(self.matches, 'match')} for each"


#: Either way to say how much of an answer one unit may touch.
AnyLimit = Limit | TotalLimit


def need_limit(value: object) -> Limit:
    """Return `value` if it is a Limit; a bare number would not say of what."""
    if not isinstance(value, Limit):
        raise WrongType(f"limit is {kind_of(value)}, not a Limit.", fix="pass Limit(groups=…, rows_per_group=…)")
    return value


def _many(count: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{'' if count == 1 else plural}"

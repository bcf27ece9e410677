"""Grouping sets: the cells of ROLLUP, CUBE and GROUPING SETS over public groups, added up from the finest ones.

All sets are counted in one pass over the rows, by all keys. What a set without some of the keys says of a cell is the
sum over the finest cells behind it, of the same rows; so exact tables agree with each other. They are released as one
vector, whose sensitivity is that of `discreet.algebra.aggregates.sensitivity_of_sets`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, OutOfRange
from discreet.core.schema import Value
from discreet.query.planning.measurements import Part, is_additive
from discreet.query.questions import MOST_SETS, Question

#: The keys of one set, by their places among a question's groups, in rising order.
Keys = tuple[int, ...]
Group = tuple[Value, ...]
#: Sets times the finest groups.
MOST_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class SetCells:
    """The rows of an answer with grouping sets: one for each cell of each set, set by set.

    Attributes:
        groups: The keys' values, NULL for keys that are not in the set.
        sets: The set that each row is of.
        places: For each set the row of each finest cell.

    """

    groups: tuple[Group, ...]
    sets: tuple[Keys, ...]
    places: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, finest: Sequence[Group], sets: Sequence[Keys]) -> "SetCells":
        """Return the cells of sets: of each, all combinations of its keys that a finest cell has, in their order."""
        groups: list[Group] = []
        of_rows: list[Keys] = []
        places: list[NDArray[np.int64]] = []
        for keys in sets:
            found: dict[Group, int] = {}
            projected = [tuple(value if at in keys else None for at, value in enumerate(group)) for group in finest]
            # NULL is a value of a key that is in the set, and stands for all values of one that is not.
            rows = [found.setdefault(group, len(groups) + len(found)) for group in projected]
            groups += found
            of_rows += [keys] * len(found)
            places.append(np.array(rows, np.int64))
        return cls(tuple(groups), tuple(of_rows), tuple(places))

    def add_up(self, exact: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of all sets' cells, from those of the finest cells."""
        sums = np.zeros(len(self.groups), dtype=exact.dtype)
        for places in self.places:
            np.add.at(sums, places, exact)
        return sums


def check_sets(question: Question, parts: Sequence[Part], cells: int | None) -> None:
    """Refuse what cannot be added up over groups, before anything is paid."""
    sets = question.sets
    if sets is None:
        return
    known = set(range(len(question.groups)))
    if (
        not sets
        or len(set(sets)) < len(sets)
        or any(not set(keys) <= known or sorted(keys) != [*keys] for keys in sets)
    ):
        raise InvalidInput(
            "Grouping sets must be different, and name the question's groups.", fix="list each set once, in order"
        )
    if len(sets) > MOST_SETS:
        raise OutOfRange(f"There are {len(sets)} grouping sets, more than {MOST_SETS}.", fix="use fewer keys or sets")
    if cells is None:
        raise InvalidInput(
            "ROLLUP, CUBE and GROUPING SETS need public groups.",
            fix='declare them when the dataset is opened, as in groups={"ward": ["A", "B"]}, or ask with each GROUP BY '
            "by itself",
        )
    if cells * len(sets) > MOST_CELLS:
        raise OutOfRange(
            f"{len(sets)} grouping sets of {cells:,} public groups are too many.", fix="use fewer keys or sets"
        )
    if not all(is_additive(part) for part in parts):
        raise InvalidInput(
            "Only COUNT, SUM, AVG, variances and correlations can be told by several grouping sets: people, different "
            "values and quantiles do not add up over groups.",
            fix="ask with each GROUP BY by itself, or for all of them in session.batch([…])",
        )

"""From the rows of a bounded statement to exact answers: shared by the engines that compute in their own SQL.

A row is (part, keys of the group …, cell, sums …). Part 0 has one row for each group, with its sums. Any other part has
counts of cells, in the first sum: of each group, or (without a group) of units.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Exact
from discreet.algebra.row_hashes import group_order
from discreet.core.schema import Value
from discreet.data.sql.rows import GroupKey

#: No table has more rows.
MOST_ROWS = 1 << 36


@dataclass(frozen=True, slots=True)
class Sums:
    """An answer for each group: sums, by their places, times constants, added up."""

    terms: tuple[tuple[int, int], ...]
    #: The largest magnitude that one row adds to the answer or to any of its terms. Public.
    most: int = 1


@dataclass(frozen=True, slots=True)
class CountedCells:
    """Counts of cells: of each group, or of units over all groups."""

    part: int
    cells: int
    by_group: bool
    #: Whether there is but one cell, and no axis for it.
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Nothing:
    """Counts that are zero, whatever the rows."""

    cells: int


ReadingRule = Sums | CountedCells | Nothing


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of the rows of a statement. Public."""

    keys: tuple[GroupKey, ...]
    #: Whether the groups are known beforehand.
    public: bool
    #: Whether rows have columns for the keys.
    grouped: bool
    readings: tuple[ReadingRule, ...]

    def read_answers(self, rows: Iterable[Sequence[Any]]) -> Exact:
        """Return the answers."""
        width = len(self.keys) if self.grouped else 0
        sums: dict[tuple[Any, ...], Sequence[Any]] = {}
        cells: dict[int, list[tuple[tuple[Any, ...], int, int]]] = {}
        for row in rows:
            part, key = int(row[0]), tuple(row[1 : 1 + width])
            if part == 0:
                sums[key] = row[2 + width :]
            else:
                cells.setdefault(part, []).append((key, int(row[1 + width]), int(row[2 + width])))
        places, groups = self._groups(sums)
        answers = tuple(self._answer(reading, places, len(groups), sums, cells) for reading in self.readings)
        return Exact(groups=groups, answers=answers)

    def _groups(
        self, sums: dict[tuple[Any, ...], Sequence[Any]]
    ) -> tuple[dict[tuple[Any, ...], int], tuple[tuple[Value, ...], ...]]:
        """Return the place of each group by its columns, and the groups in their order."""
        if self.public:
            values = [key.values or () for key in self.keys]
            sizes = [len(listed) for listed in values]
            steps = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
            places = {key: sum(int(code) * step for code, step in zip(key, steps, strict=True)) for key in sums}
            return places, tuple(product(*values))
        read = {
            key: tuple(group_key.read(cell) for group_key, cell in zip(self.keys, key, strict=True)) for key in sums
        }
        ordered = sorted(sums, key=lambda key: group_order(read[key]))
        return {key: place for place, key in enumerate(ordered)}, tuple(read[key] for key in ordered)

    def _answer(
        self,
        reading: ReadingRule,
        places: dict[tuple[Any, ...], int],
        groups: int,
        sums: dict[tuple[Any, ...], Sequence[Any]],
        cells: dict[int, list[tuple[tuple[Any, ...], int, int]]],
    ) -> NDArray[Any]:
        match reading:
            case Sums(terms=terms, most=most):
                # Public, so that the type of an answer does not depend on how many rows there are.
                answer: NDArray[Any] = np.zeros(groups, dtype=np.int64 if most * MOST_ROWS < 2**63 else object)
                for key, place in places.items():
                    answer[place] = sum(int(sums[key][column] or 0) * factor for column, factor in terms)
                return answer
            case CountedCells(part=part, cells=count, by_group=by_group, flat=flat):
                answer = np.zeros((groups if by_group else 1, count), dtype=np.int64)
                for key, cell, number in cells.get(part, []):
                    answer[places[key] if by_group else 0, cell] = number
                return answer[:, 0] if flat else answer if by_group else answer[0]
            case Nothing(cells=count):
                return np.zeros(count, dtype=np.int64)

"""Generalisation hierarchies: what each value of a column becomes, level by level, up to one label for all."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, WrongType, whole
from discreet.core.canonical_text import settle
from discreet.core.errors import kind_of

#: The label that says nothing.
ANY = "*"
#: More levels, or more values, are a mistake and not a hierarchy.
MOST_LEVELS, MOST_LEAVES = 64, 1_000_000


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Hierarchy:
    """Values of a column, each with its ever more general labels.

    `levels[0]` are the values themselves; `levels[i][j]` is what value j becomes at level i; the last level has one
    label. Values that share a label share all labels above it: so a table that is generalised further has classes that
    are unions of those before, which is what the search of a lattice rests on. Values stand in the order of the tree:
    whatever a label covers is in one piece.
    """

    levels: tuple[tuple[str, ...], ...]

    def __init__(self, paths: Iterable[Sequence[str]]) -> None:
        rows = _need_rows([tuple(path) for path in paths])
        if len({row[-1] for row in rows}) > 1:
            rows = [(*row, ANY) for row in rows]
        _need_nested(rows)
        settle(self, levels=tuple(zip(*_in_tree_order(rows), strict=True)))

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.leaves)} values, {self.height} levels above them)"

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values that are not generalised."""
        return self.levels[0]

    @property
    def height(self) -> int:
        """The number of times that a value can be generalised."""
        return len(self.levels) - 1

    def labels(self, level: int) -> tuple[str, ...]:
        """Return the labels of a level, each once, in the order of the tree."""
        return tuple(dict.fromkeys(self.levels[whole(level, "level", least=0, most=self.height)]))

    def codes(self, level: int) -> NDArray[np.int64]:
        """Return the number of each value's label at a level, among `labels(level)`."""
        number = {label: code for code, label in enumerate(self.labels(level))}
        return np.array([number[label] for label in self.levels[level]], dtype=np.int64)

    def labels_of(self, value: object) -> tuple[str, ...]:
        """Return all labels of a value, from itself to the top; none if it has no place."""
        text = text_of(value)
        if text not in self.leaves:
            return ()
        return tuple(level[self.leaves.index(text)] for level in self.levels)

    def places(self, values: Iterable[object], column: str) -> NDArray[np.int64]:
        """Return the places of values among the leaves, by their texts; those that are not there are not quoted."""
        number = {leaf: place for place, leaf in enumerate(self.leaves)}
        places = [number.get(text_of(value), -1) for value in values]
        lacking = places.count(-1)
        if lacking:
            raise InvalidInput(
                f"The hierarchy of {column!r} has no place for {lacking} of its values.",
                fix="add a line for each value of the column, spelt as in the table",
            )
        return np.array(places, dtype=np.int64)

    @classmethod
    def flat(cls, values: Iterable[object]) -> "Hierarchy":
        """Return the hierarchy that knows a value or nothing."""
        return cls([(text_of(value), ANY) for value in values])

    @classmethod
    def intervals(cls, low: int, high: int, *, widths: Sequence[int]) -> "Hierarchy":
        """Return whole numbers from `low` to `high` in ever wider intervals, each width a multiple of the last."""
        first = whole(low, "low", least=None)
        last = whole(high, "high", least=first, most=first + MOST_LEAVES)
        steps = [whole(width, "width") for width in widths]
        if any(wide % narrow for narrow, wide in pairwise(steps)):
            raise InvalidInput(
                "A width is not a multiple of the one before.",
                fix="pass widths such as (5, 10, 20), so that intervals are only ever joined",
            )
        return cls([(str(number), *(_interval(number, width) for width in steps)) for number in range(first, last + 1)])

    @classmethod
    def prefixes(cls, values: Iterable[str], *, keep: Sequence[int]) -> "Hierarchy":
        """Return texts of which ever fewer signs are kept, such as postcodes: `13053`, `130**`, `*`."""
        signs = [whole(number, "keep", least=1) for number in keep]
        if any(fewer >= more for more, fewer in pairwise(signs)):
            raise InvalidInput(
                "Each level must keep fewer characters than the level before.", fix="pass keep such as (4, 3, 2)"
            )
        return cls([(text, *(text[:length] + ANY * len(text[length:]) for length in signs)) for text in values])


def text_of(value: object) -> str:
    """Return a value as hierarchies spell it: 39.0 and 39 are the same value."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def read_hierarchy(path: str | Path, *, delimiter: str = ";") -> Hierarchy:
    """Read a hierarchy from a file with one line per value, more general from left to right, in the format of ARX.

    Args:
        path: the file.
        delimiter: the separator of cells.

    Returns:
        The hierarchy.

    Raises:
        DiscreetError: if the file does not exist or is not a hierarchy.

    """
    place = Path(path)
    if not place.is_file():
        raise InvalidInput(f"The file {place.name!r} does not exist.", fix="check the path to the hierarchy")
    with place.open(encoding="utf-8-sig", newline="") as file:
        try:
            return Hierarchy([[cell.strip() for cell in row] for row in csv.reader(file, delimiter=delimiter) if row])
        except (csv.Error, UnicodeDecodeError):
            raise InvalidInput(
                f"The file {place.name!r} is not a table of text.",
                fix="write UTF-8, one value per line, cells separated by ;",
            ) from None


def need_hierarchies(hierarchies: object) -> dict[str, Hierarchy]:
    """Return hierarchies by column."""
    if not isinstance(hierarchies, Mapping):
        raise WrongType(
            f"hierarchies is {kind_of(hierarchies)}, not a mapping.", fix='pass {"age": Hierarchy.intervals(0, 99, …)}'
        )
    for hierarchy in hierarchies.values():
        if not isinstance(hierarchy, Hierarchy):
            raise WrongType(
                f"A hierarchy is {kind_of(hierarchy)}.", fix="make it a Hierarchy, or read it: read_hierarchy"
            )
    return dict(hierarchies)


def _interval(number: int, width: int) -> str:
    low = number // width * width
    return f"{low}-{low + width - 1}"


def _need_rows(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if not rows or not rows[0]:
        raise InvalidInput("A hierarchy has no values.", fix="give it a line for each value of the column")
    if any(not isinstance(cell, str) for row in rows for cell in row):
        raise WrongType("A label of a hierarchy is not a string.", fix="write values and labels as strings")
    if len({len(row) for row in rows}) > 1:
        raise InvalidInput("The lines of a hierarchy differ in length.", fix="give every value a label at every level")
    if len(rows[0]) > MOST_LEVELS or len(rows) > MOST_LEAVES:
        raise InvalidInput("A hierarchy has too many levels or values.", fix=f"keep to {MOST_LEVELS} levels")
    if len({row[0] for row in rows}) < len(rows):
        raise InvalidInput("A value occurs twice in a hierarchy.", fix="give every value one line")
    return rows


def _need_nested(rows: list[tuple[str, ...]]) -> None:
    for level in range(len(rows[0]) - 1):
        above: dict[str, str] = {}
        if any(above.setdefault(row[level], row[level + 1]) != row[level + 1] for row in rows):
            raise InvalidInput(
                f"Two values share a label at level {level} but not at level {level + 1}.",
                fix="only ever join labels from one level to the next",
            )


def _in_tree_order(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return lines sorted from the top of the tree down; within a label as they came."""
    rank: dict[tuple[int, str], int] = {}
    for row in rows:
        for level, label in enumerate(row):
            rank.setdefault((level, label), len(rank))
    return sorted(rows, key=lambda row: [rank[level, row[level]] for level in range(len(row) - 1, -1, -1)])

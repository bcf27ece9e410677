"""Microdata: rows about people, column by column, with each value as a small integer. Private: never shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.hierarchies import Hierarchy, need_hierarchies
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import closest

#: Codes and classes are counted so that exact products of counts fit 64 bits.
MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Attribute:
    """One column. `values[codes[i]]` is what row i holds; codes are in the order of the values.

    A *measured* attribute is one of numbers or points in time: its values lie on a line, and generalise to intervals.
    Of others the order is that of their hierarchy, or of their texts, and they generalise to sets.
    """

    name: str
    codes: NDArray[np.int64]
    values: NDArray[Any]
    measured: bool
    hierarchy: Hierarchy | None = None

    @property
    def domain(self) -> int:
        """The number of values that occur."""
        return len(self.values)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.codes, minlength=self.domain)

    @property
    def positions(self) -> NDArray[np.float64]:
        """The places of the values on a line: as they are if measured, else one after the other."""
        if not self.measured:
            return np.arange(self.domain, dtype=np.float64)
        plain = self.values.astype(np.int64) if self.values.dtype.kind == "M" else self.values
        return plain.astype(np.float64)

    def take(self, rows: NDArray[Any]) -> "Attribute":
        """Return the attribute of some rows. Its values stay, even those that occur no more."""
        return replace(self, codes=self.codes[rows])

    @classmethod
    def of(cls, name: str, cells: Iterable[object], hierarchy: Hierarchy | None = None) -> "Attribute":
        """Return a column of cells; every one must have a value."""
        array = _cells(name, cells)
        measured = array.dtype.kind in "iufM"
        values, codes = np.unique(array, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int64)
        return order_values(cls(name, codes, values, measured, hierarchy))


def order_values(attribute: Attribute) -> Attribute:
    """Return an attribute whose values are known to its hierarchy, and stand in its order unless they are measured."""
    if attribute.hierarchy is None:
        return attribute
    places = attribute.hierarchy.places(attribute.values.tolist(), attribute.name)
    if attribute.measured:
        return attribute
    order = np.argsort(places)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return replace(attribute, codes=ranks[attribute.codes], values=attribute.values[order])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Microdata:
    """Rows about people, in memory, as columns of codes.

    These are private rows. Their holder has everything: this room has no door, because its results carry no guarantee
    that a door could keep.
    """

    attributes: Mapping[str, Attribute]
    rows: int
    #: Rows that were left out because they lack a value; they are in the source all the same.
    left_out: int = 0

    def __repr__(self) -> str:
        return f"Microdata(columns={list(self.attributes)})"

    @classmethod
    def of(
        cls, columns: Mapping[str, Iterable[object]], *, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> "Microdata":
        """Return rows that are given as columns: {"age": [34, 51], "ward": ["A", "B"]}."""
        known = need_hierarchies(hierarchies or {})
        if not isinstance(columns, Mapping):
            raise WrongType(f"The columns are {kind_of(columns)}.", fix='pass them by name: {"age": [34, 51]}')
        _need_columns(tuple(columns), known)
        return cls.from_attributes(Attribute.of(name, cells, known.get(name)) for name, cells in columns.items())

    @classmethod
    def from_attributes(cls, attributes: Iterable[Attribute]) -> "Microdata":
        """Return rows that are made of attributes."""
        by_name = {attribute.name: attribute for attribute in attributes}
        lengths = {len(attribute.codes) for attribute in by_name.values()}
        if len(lengths) != 1:
            raise InvalidInput(
                "There are no columns, or they are not of one length.", fix="give every row a cell in every column"
            )
        rows = lengths.pop()
        if not 0 < rows <= MOST_ROWS:
            raise InvalidInput("There are no rows, or more than 2^31.", fix="pass the rows that are to be looked at")
        return cls(by_name, rows)

    def attribute(self, name: str) -> Attribute:
        """Return a column."""
        if not isinstance(name, str):
            raise WrongType(f"The name of a column is {kind_of(name)}, not a string.", fix="pass it as a string")
        if name not in self.attributes:
            meant = closest(name, self.attributes)
            fix = f"did you mean {meant!r}?" if meant else f"name one of: {', '.join(self.attributes)}"
            raise InvalidInput(f"There is no column {name!r}.", fix=fix)
        return self.attributes[name]

    def pick(self, names: Sequence[str], argument: str) -> tuple[Attribute, ...]:
        """Return several columns, each once."""
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise WrongType(
                f"{argument} is {kind_of(names)}, not a list of names.", fix=f'pass {argument}=["age", "postcode"]'
            )
        if not names or len(set(names)) < len(names):
            raise InvalidInput(f"{argument} is empty, or names a column twice.", fix="name each column once")
        return tuple(self.attribute(name) for name in names)

    def take(self, rows: NDArray[Any]) -> "Microdata":
        """Return some of the rows."""
        return Microdata.from_attributes(attribute.take(rows) for attribute in self.attributes.values())


def _need_columns(names: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> None:
    strange = [name for name in hierarchies if name not in names]
    if strange:
        raise InvalidInput(
            f"There is a hierarchy for {strange[0]!r}, which is not a column.", fix=f"columns are: {', '.join(names)}"
        )


def _cells(name: str, cells: Iterable[object]) -> NDArray[Any]:
    """Return cells as an array of numbers, points in time or texts, without a missing one."""
    array = cells if isinstance(cells, np.ndarray) else _array(list(cells))
    if array.ndim != 1:
        raise WrongType(f"Column {name!r} is not a plain list of cells.", fix="pass one value per row")
    missing = _missing(array)
    if missing.any():
        raise InvalidInput(
            f"Column {name!r} has missing or infinite values.",
            fix="leave those rows out, or replace such values",
        )
    if array.dtype.kind in "iufM":
        return array
    return np.array([str(cell) for cell in array.tolist()], dtype=object)


def _array(cells: list[object]) -> NDArray[Any]:
    """Return a list as an array in which what differs still does: of texts and large numbers, each as it is."""
    array = np.asarray(cells)
    if array.dtype.kind not in "fSU" or array.ndim != 1:
        return array
    if array.dtype.kind == "f" and all(a == b or b != b for a, b in zip(cells, array.tolist(), strict=True)):  # noqa: PLR0124
        return array
    same = np.empty(len(cells), dtype=object)
    same[:] = cells
    return same


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    match array.dtype.kind:
        case "M":
            return np.asarray(np.isnat(array))
        case "f":
            return np.asarray(~np.isfinite(array))  # an infinite number has no place on a line
        case "O":
            return np.array([cell is None or cell != cell for cell in array], dtype=np.bool_)  # noqa: PLR0124 - NaN is not
        case _:
            return np.zeros(len(array), dtype=np.bool_)

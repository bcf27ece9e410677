"""Finite classes of hypotheses, public and enumerated: thresholds, conjunctions, decision lists, or your own list.

A class counts the rows that each hypothesis labels wrongly. Its labels of a row depend on that row alone, so
one row moves every count by 0 or 1, all in the same direction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, OutOfRange, exact, whole
from discreet.core.canonical_text import OwnText, Record
from discreet.learn.features import Floats, Integers

#: Hypotheses that a class may have.
MOST = 5_000_000
#: Variables of conjunctions, and of decision lists.
MOST_VARIABLES, MOST_LISTED = 14, 5

Truths = NDArray[np.bool_]


class FiniteClass(Protocol):
    """A public, finite class of hypotheses about rows."""

    @property
    def size(self) -> int:
        """The number of hypotheses."""
        ...

    def mistakes(self, values: Floats, labels: Truths) -> Integers:
        """Return of every hypothesis how many rows it labels wrongly."""
        ...

    def predict(self, index: int, values: Floats) -> Truths:
        """Return the labels of one hypothesis for every row."""
        ...

    def describe(self, index: int) -> str:
        """Return one hypothesis in words."""
        ...


@dataclass(frozen=True, slots=True, init=False)
class Thresholds:
    """Hypotheses "the first column is at least t", for every t of a public list; with `both`, also "is below t".

    Args:
        cuts: the public thresholds.
        both: whether hypotheses in the other direction belong to the class as well.

    Raises:
        DiscreetError: if there are no thresholds.

    """

    __canonical__: ClassVar[Record] = Record("Thresholds", "cuts", "both")

    cuts: tuple[float, ...]
    both: bool

    def __init__(self, cuts: Any, *, both: bool = False) -> None:
        ordered = tuple(sorted({float(exact(cut, "a cut")) for cut in cuts}))
        if not ordered:
            raise InvalidInput("There are no thresholds.", fix="pass the public points at which to cut")
        object.__setattr__(self, "cuts", ordered)
        object.__setattr__(self, "both", bool(both))

    @property
    def size(self) -> int:
        """The number of hypotheses."""
        return len(self.cuts) * (2 if self.both else 1)

    def mistakes(self, values: Floats, labels: Truths) -> Integers:
        """Return of every cut how many rows lie on the wrong side."""
        # Row x is at or above the first `place` cuts; a missing value is below all of them.
        place = np.searchsorted(np.array(self.cuts), np.nan_to_num(values[:, 0], nan=-np.inf), side="right")
        above = [np.bincount(place[labels == truth], minlength=len(self.cuts) + 1) for truth in (False, True)]
        # Cut k says yes of rows whose place is above k: false ones among them, and true ones among the others.
        wrong = above[0][::-1].cumsum()[::-1][1:] + above[1].cumsum()[:-1]
        return np.concatenate([wrong, len(labels) - wrong]) if self.both else np.asarray(wrong)

    def predict(self, index: int, values: Floats) -> Truths:
        """Return the labels of one hypothesis for every row."""
        above = np.nan_to_num(values[:, 0], nan=-np.inf) >= self.cuts[index % len(self.cuts)]
        return np.asarray(above if index < len(self.cuts) else ~above)

    def describe(self, index: int) -> str:
        """Return one hypothesis in words."""
        return f"x {'≥' if index < len(self.cuts) else '<'} {self.cuts[index % len(self.cuts)]:g}"


@dataclass(frozen=True, slots=True)
class Conjunctions:
    """All conjunctions of literals over d columns of truth values: each as it is, negated, or not asked; 3^d of them.

    Hypothesis number i, written in base 3 with the first column's digit first, asks for 0, 1 or (2) nothing.

    Args:
        columns: the number d of columns of truth values.

    Raises:
        DiscreetError: if the class would have too many hypotheses.

    """

    __canonical__: ClassVar[Record] = Record("Conjunctions", "columns")

    columns: int

    def __post_init__(self) -> None:
        whole(self.columns, "columns", most=MOST_VARIABLES)

    @property
    def size(self) -> int:
        """The number of hypotheses."""
        return int(3**self.columns)

    def mistakes(self, values: Floats, labels: Truths) -> Integers:
        """Return of every conjunction its mistakes, all at once: d sums over a table of 3^d, whatever the rows."""
        count = cells(values, labels, self.columns)
        # Saying yes where a row is false is a mistake; where it is true, one less.
        table = (count[0] - count[1]).reshape((2,) * self.columns)
        for axis in range(self.columns):
            table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
        return np.asarray(table.ravel() + count[1].sum())

    def predict(self, index: int, values: Floats) -> Truths:
        """Return the labels of one conjunction for every row."""
        digits = np.array(self._digits(index))
        return np.asarray(((digits == 2) | (truths(values, self.columns) == digits)).all(axis=1))

    def describe(self, index: int) -> str:
        """Return one conjunction in words."""
        parts = [f"{'' if digit else 'not '}x{at}" for at, digit in enumerate(self._digits(index)) if digit < 2]
        return " and ".join(parts) or "always"

    def _digits(self, index: int) -> list[int]:
        return [index // 3 ** (self.columns - 1 - at) % 3 for at in range(self.columns)]


@dataclass(frozen=True, slots=True)
class DecisionLists:
    """All functions of d columns of truth values that a list "if literal then label, else …, else label" computes.

    Args:
        columns: the number d of columns of truth values.

    Raises:
        DiscreetError: if the class would have too many hypotheses.

    """

    __canonical__: ClassVar[Record] = Record("DecisionLists", "columns")

    columns: int

    def __post_init__(self) -> None:
        whole(self.columns, "columns", most=MOST_LISTED)

    @property
    def size(self) -> int:
        """The number of different functions."""
        return len(list_functions(self.columns)[0])

    def mistakes(self, values: Floats, labels: Truths) -> Integers:
        """Return of every function how many rows it labels wrongly."""
        count = cells(values, labels, self.columns)
        answers = list_functions(self.columns)[0].astype(np.int64)
        return np.asarray(answers @ (count[0] - count[1]) + count[1].sum())

    def predict(self, index: int, values: Floats) -> Truths:
        """Return the labels of one function for every row."""
        return np.asarray(list_functions(self.columns)[0][index][places(values, self.columns)])

    def describe(self, index: int) -> str:
        """Return one of the lists that compute a function, in words."""
        return list_functions(self.columns)[1][index]


def _names_listed(hypotheses: "Hypotheses") -> str:
    """Return the names of one's own hypotheses; part of canonical texts, and so for life."""
    return f"Hypotheses({', '.join(name for name, _ in hypotheses.functions)})"


@dataclass(frozen=True)
class Hypotheses:
    """A class of your own functions from rows to truth values, each with a name.

    Their author is responsible that their label of a row depends on that row alone. A row on which a
    function fails has the label no.

    Args:
        functions: pairs of a name and a function from a matrix of rows to one truth value per row.

    Raises:
        DiscreetError: if there are no hypotheses.

    """

    __canonical__: ClassVar[OwnText] = OwnText("Hypotheses", _names_listed)

    functions: tuple[tuple[str, Callable[[Floats], Any]], ...]

    def __post_init__(self) -> None:
        if not self.functions:
            raise InvalidInput("There are no hypotheses.", fix="pass at least one name and function")

    @cached_property
    def size(self) -> int:
        """The number of hypotheses."""
        return len(self.functions)

    def mistakes(self, values: Floats, labels: Truths) -> Integers:
        """Return of every hypothesis how many rows it labels wrongly."""
        return np.array([(self.predict(at, values) != labels).sum() for at in range(self.size)], np.int64)

    def predict(self, index: int, values: Floats) -> Truths:
        """Return the labels of one hypothesis for every row."""
        says = self.functions[index][1]
        answers = _answers(says, values)
        if answers is None:  # row by row: one that makes the function fail changes what is said of no other
            by_row = [_answers(says, values[at : at + 1]) for at in range(len(values))]
            answers = np.array([answer is not None and bool(answer[0]) for answer in by_row], np.bool_)
        return answers

    def describe(self, index: int) -> str:
        """Return the name of a hypothesis."""
        return self.functions[index][0]

    def __repr__(self) -> str:
        return _names_listed(self)


def _answers(says: Callable[[Floats], Any], values: Floats) -> Truths | None:
    """Return the labels of a function for rows; None if it raises an error, or does not give one label to each."""
    try:
        answers = np.asarray(says(values), np.bool_)
    except Exception:  # noqa: BLE001 - whatever it is may depend on a row
        return None
    return answers if answers.shape == (len(values),) else None


def truths(values: Floats, columns: int) -> Truths:
    """Return columns as truth values: whatever is above 0 is true, and so a missing value is false."""
    if values.shape[1] != columns:
        raise InvalidInput(f"The hypotheses need {columns} columns.", fix="pass as many")
    return np.asarray(values > 0)


def places(values: Floats, columns: int) -> Integers:
    """Return rows of truth values as numbers, the first column's digit first."""
    return np.asarray(truths(values, columns) @ (1 << np.arange(columns)[::-1]), np.int64)


def cells(values: Floats, labels: Truths, columns: int) -> Integers:
    """Return how often every row of truth values occurs with label false, and with true."""
    place = places(values, columns)
    return np.stack([np.bincount(place[labels == truth], minlength=1 << columns) for truth in (False, True)])


@lru_cache(maxsize=4)
def list_functions(columns: int) -> tuple[Truths, tuple[str, ...]]:
    """Return the table of every function that some list computes, and that list in words; each function once."""
    words_by_function = _find_lists(columns, frozenset(range(columns)))
    tables = np.array(list(words_by_function), np.uint64)[:, None] >> np.arange(
        1 << columns, dtype=np.uint64
    ) & np.uint64(1)
    return tables.astype(np.bool_), tuple(words_by_function.values())


@lru_cache(maxsize=64)
def _find_lists(columns: int, left: frozenset[int]) -> dict[int, str]:
    """Return the lists that ask for columns of a set: a rule on one of them, before a list that asks for the others.

    A function is a whole number whose bit i is what it says of row number i.
    """
    every = (1 << (1 << columns)) - 1
    words_by_function = {0: "0", every: "1"}
    for at in sorted(left):
        true = sum(1 << row for row in range(1 << columns) if row >> (columns - 1 - at) & 1)
        for rest, words in _find_lists(columns, left - {at}).items():
            for digit, label in product((0, 1), repeat=2):
                where = true if digit else every ^ true
                function = (where * label) | (rest & ~where)
                words_by_function.setdefault(function, f"if {'' if digit else 'not '}x{at} then {label}, else {words}")
    return words_by_function


def need_size(hypotheses: FiniteClass) -> int:
    """Return the size of a class that is small enough to be gone through."""
    if not 1 <= hypotheses.size <= MOST:
        raise OutOfRange(f"The class has more than {MOST} hypotheses.", fix="choose a smaller class")
    return int(hypotheses.size)

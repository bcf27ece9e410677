"""Rows in, bounded whole numbers out: what of a row depends on that row, on public bounds, and on nothing else.

A sum's sensitivity is the most that one row adds only if no other row's summand changes when that row comes or goes.
Floats break that in silence: a product of matrices may round row 7 differently in a table of 100 rows than in one of
101. So here every operation on rows is either done value by value (+, −, ·, /, √, which IEEE 754 rounds to nearest,
whatever stands beside) or is a sum of whole numbers below 2⁵³, which floats add exactly and in any order.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, OutOfRange, WrongType
from discreet.core.errors import kind_of
from discreet.core.frozen import settle

#: A value at the end of its bounds is this many steps from their middle, or from zero.
BITS = 12
STEPS = 1 << BITS
#: Whole numbers up to here are floats, and so are their sums.
EXACT = 1 << 53
#: Columns that a model may have.
MOST_COLUMNS = 100_000

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False)
class Features:
    """The public bounds of every column, and how values become whole numbers of at most `STEPS`.

    With `centred`, a column's middle becomes 0 and its bounds ±`STEPS`; without, 0 stays 0, so that a row of mostly
    zeros stays short, and the bound that is farther from 0 becomes ±`STEPS`.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    centred: bool

    def __init__(self, bounds: object, columns: int, *, centred: bool) -> None:
        low, high = _ends(bounds, columns)
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise InvalidInput("A lower bound is not below its upper bound.", fix="pass bounds=(low, high), low first")
        settle(self, low=low, high=high, centred=centred)

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.low)

    @property
    def origin(self) -> Floats:
        """What becomes 0, by column."""
        ends = np.array([self.low, self.high])
        return ends[0] / 2 + ends[1] / 2 if self.centred else np.zeros(self.columns)

    @property
    def scale(self) -> Floats:
        """What becomes `STEPS`, as a distance from the origin."""
        ends = np.array([self.low, self.high])
        return np.asarray(np.abs(ends - self.origin).max(axis=0))

    def clamped(self, values: Floats) -> Floats:
        """Return values within their bounds; a missing value (NaN) becomes the middle of its bounds."""
        low, high = np.array(self.low), np.array(self.high)
        filled = np.where(np.isnan(values), low / 2 + high / 2, values)
        return np.clip(filled, low, high)

    def scaled(self, values: Floats) -> Floats:
        """Return values as multiples of the scale, from −1 to 1."""
        return np.clip((self.clamped(values) - self.origin) / self.scale, -1, 1)

    def steps(self, values: Floats) -> Integers:
        """Return rows of whole numbers between ±`STEPS`, rounded towards zero."""
        return np.trunc(self.scaled(values) * STEPS).astype(np.int64)


def with_constant(rows: Integers) -> Integers:
    """Return rows with a last column of `STEPS`: the intercept's feature, and in products what counts rows."""
    return np.hstack([rows, np.full((len(rows), 1), STEPS, np.int64)])


def squares(rows: Integers) -> Integers:
    """Return the exact squared norm of every row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows), np.int64)


def shortened(rows: Integers, square: int | Integers) -> Integers:
    """Return rows whose squared norm is at most `square`: longer ones are scaled down, and rounded towards zero.

    A row that is still too long, as a factor that was rounded up might leave it, becomes zero.
    """
    long = squares(rows)
    factor = np.minimum(np.sqrt(np.asarray(square, np.float64) / np.maximum(long, 1)), 1.0)
    fitted = np.where((long > square)[:, None], np.trunc(rows * factor[:, None]), rows).astype(np.int64)
    fitted[squares(fitted) > square] = 0
    return fitted


def as_floats(rows: Integers) -> Floats:
    """Return whole numbers as the floats that they are, for products that are exact below 2⁵³."""
    return rows.astype(np.float64)


def exact_products(left: Floats, right: Floats, most: int) -> Integers:
    """Return leftᵀ·right of whole numbers, exactly. No row's part of any of these sums may exceed `most`."""
    if len(left) * most >= EXACT:
        raise too_many()
    return np.asarray(left.T @ right).astype(np.int64)


def exact_margins(rows: Floats, weights: Floats) -> Integers:
    """Return rows·weights of whole numbers, exactly; weights, which are public, are held where no sum exceeds 2⁵³."""
    room = EXACT // (2 * STEPS * max(rows.shape[1], 1))
    return np.asarray(rows @ np.clip(np.rint(weights), -room, room)).astype(np.int64)


def too_many() -> OutOfRange:
    """Return the error for more rows than sums can hold: hundreds of millions."""
    return OutOfRange("There are more rows than exact sums can hold.", fix="fit on a part of them, chosen at random")


def read_matrix(values: object, name: str = "X") -> Floats:
    """Return a table of numbers as floats; what is refused depends on types and shape alone."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise WrongType(f"{name} is a sparse matrix.", fix=f"pass {name}.toarray(): sparse data is not supported")
    table = read_array(values, name)
    if table.ndim != 2:
        raise InvalidInput(
            f"{name} has {table.ndim} dimensions. Expected 2D array, got {table.ndim}D array instead.",
            fix="Reshape your data: one row a unit, one column a feature, such as array.reshape(-1, 1)",
        )
    if not 1 <= table.shape[1] <= MOST_COLUMNS:
        raise InvalidInput(
            f"0 feature(s) (shape={table.shape}) while a minimum of 1 is required."
            if not table.shape[1]
            else f"{name} has more than {MOST_COLUMNS} columns.",
            fix="pass one column a feature",
        )
    return table


def read_array(values: object, name: str) -> Floats:
    """Return an array of floats of any shape."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise InvalidInput(f"{name} is complex. Complex data not supported.", fix="pass real numbers")
    if array.dtype.kind in "USMmV":
        # Not the dtype: that of texts has the length of the longest one.
        raise WrongType(f"{name} is an array of texts or times, not of numbers.", fix="encode it by public categories")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    # Outside of the handler: what could not be read would be quoted by the error that is handled.
    raise WrongType(f"{name} holds what is not a number.", fix="argument must be a string or a number: encode it")


def read_labels(values: object) -> NDArray[Any]:
    """Return one label a row."""
    need_target(values)
    labels = np.asarray(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidInput(f"y has {labels.ndim} dimensions, not one.", fix="pass one label a row")
    return labels


def need_target(values: object) -> None:
    """Refuse a fit without labels or targets."""
    if values is None:
        raise InvalidInput(
            "This estimator requires y to be passed, but the target y is None.", fix="pass one label or target a row"
        )


def class_indices(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """Return each label's place among the public classes, and −1 for a label that is none of them."""
    same = labels[:, None] == classes[None, :]
    return np.where(same.any(axis=1), same.argmax(axis=1), -1).astype(np.int64)


def read_classes(classes: object) -> NDArray[Any]:
    """Return the public classes, sorted; they are declared and not read off the labels."""
    if classes is None:
        raise InvalidInput(
            "The classes are not declared.", fix="pass classes=[…], all labels that there can be: public"
        )
    if not isinstance(classes, list | tuple | np.ndarray | range):
        raise WrongType(f"classes is {kind_of(classes)}, not a list.", fix='pass classes=["no", "yes"]')
    found = np.unique(np.asarray(classes))
    if len(found) < 2:
        raise InvalidInput("There is one class, or none.", fix="declare two classes or more")
    return found


def _ends(bounds: object, columns: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if bounds is None:
        raise InvalidInput("The bounds of the features are not declared.", fix="pass bounds=(low, high): public")
    if not isinstance(bounds, list | tuple | np.ndarray) or len(bounds) != 2:
        raise WrongType("bounds is not a pair.", fix="pass bounds=(low, high), numbers or one array each")
    ends = []
    for end in bounds:
        array = read_array(end, "bounds")
        if array.ndim > 1 or (array.ndim == 1 and len(array) != columns):
            raise InvalidInput(
                f"bounds are not of {columns} features.", fix="pass two numbers, or two arrays of one number a feature"
            )
        if not all(math.isfinite(one) and abs(one) <= 1e100 for one in array.ravel().tolist()):
            raise InvalidInput("A bound is not a finite number.", fix="pass finite bounds")
        ends.append(tuple(np.broadcast_to(array, (columns,)).tolist()))
    return ends[0], ends[1]

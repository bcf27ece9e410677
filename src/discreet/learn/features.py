"""Features: rows become bounded whole numbers that depend on the row and on public bounds alone.

A sum's sensitivity is the most that one row adds only if no other row's summand changes when that row comes or goes.
Floats break that in silence: a product of matrices may round row 7 differently in a table of 100 rows than in one of
101. So here every operation on rows is either done value by value (+, −, ·, /, √, which IEEE 754 rounds to nearest,
whatever stands beside) or is a sum of whole numbers below 2⁵³, which floats add exactly and in any order.
"""

import math
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, WrongType
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import kind_of

#: A value at the end of its bounds is this many steps from their middle, or from zero.
BITS = 12
STEPS = 1 << BITS
#: Whole numbers up to here are floats, and so are their sums.
EXACT = 1 << 53
#: Bounds are at most this far from zero, and at least that far apart: their squares are floats.
FARTHEST, NARROWEST = 1e100, 1e-100
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

    __canonical__: ClassVar[Record] = Record("Features", "low", "high", "centred")

    low: tuple[float, ...]
    high: tuple[float, ...]
    centred: bool

    def __init__(self, bounds: object, columns: int, *, centred: bool, name: str = "bounds") -> None:
        low, high = _ends(bounds, columns, name)
        if not all(b - a >= NARROWEST for a, b in zip(low, high, strict=True)):
            raise InvalidInput("A lower bound is not below its upper bound.", fix=f"pass {name}=(low, high), low first")
        settle(self, low=low, high=high, centred=centred)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.low)

    def check_columns(self, rows: object) -> None:
        """Refuse rows of another shape than the declared columns, before anything is paid. Looks at no value."""
        shape: tuple[int, ...] = getattr(rows, "shape", ())
        if len(shape) != 2 or shape[1] != self.columns:
            raise InvalidInput(
                f"The rows are not a matrix of {self.columns} columns, as many as bounds were declared for.",
                fix=f"pass a two-dimensional array with {self.columns} columns, or declare bounds for the others",
            )

    @property
    def origin(self) -> Floats:
        """The values that become 0, by column."""
        ends = np.array([self.low, self.high])
        return ends[0] / 2 + ends[1] / 2 if self.centred else np.zeros(self.columns)

    @property
    def scale(self) -> Floats:
        """The distance from the origin that becomes `STEPS`."""
        ends = np.array([self.low, self.high])
        return np.asarray(np.abs(ends - self.origin).max(axis=0))

    def clamp_values(self, values: Floats) -> Floats:
        """Return values within their bounds; a missing value (NaN) becomes the middle of its bounds."""
        low, high = np.array(self.low), np.array(self.high)
        filled = np.where(np.isnan(values), low / 2 + high / 2, values)
        return np.clip(filled, low, high)

    def scale_values(self, values: Floats) -> Floats:
        """Return values as multiples of the scale, from −1 to 1."""
        return np.clip((self.clamp_values(values) - self.origin) / self.scale, -1, 1)

    def steps(self, values: Floats) -> Integers:
        """Return rows of whole numbers between ±`STEPS`, rounded towards zero."""
        return np.trunc(self.scale_values(values) * STEPS).astype(np.int64)


def with_constant(rows: Integers) -> Integers:
    """Return rows with a last column of `STEPS`: the intercept's feature, and in products what counts rows."""
    return np.hstack([rows, np.full((len(rows), 1), STEPS, np.int64)])


def squares(rows: Integers) -> Integers:
    """Return the exact squared norm of every row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows), np.int64)


def shorten_rows(rows: Integers, square: int | Integers) -> Integers:
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
    """Return leftᵀ·right of whole numbers, exactly. No row's part of any of these sums may exceed `most`.

    Rows are taken in pieces whose sums stay below 2⁵³, and pieces are added as whole numbers: however many rows there
    are, nothing is refused, as that would tell their number.
    """
    piece = max((EXACT - 1) // most, 1)
    total = np.zeros((left.shape[1], right.shape[1]), np.int64)
    for at in range(0, len(left), piece):
        total += (left[at : at + piece].T @ right[at : at + piece]).astype(np.int64)
    return total


def exact_margins(rows: Floats, weights: Floats) -> Integers:
    """Return rows·weights of whole numbers, exactly; weights, which are public, are held where no sum exceeds 2⁵³."""
    room = EXACT // (2 * STEPS * max(rows.shape[1], 1))
    return np.asarray(rows @ np.clip(np.rint(weights), -room, room)).astype(np.int64)


def read_matrix(values: object, name: str = "X") -> Floats:
    """Return a table of numbers as floats; what is refused depends on types and shape alone."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise WrongType(f"{name} is a sparse matrix.", fix=f"pass {name}.toarray(): sparse data is not supported")
    table = read_array(values, name)
    if table.ndim != 2:
        raise InvalidInput(
            f"{name} has {table.ndim} dimensions. Expected 2D array, got {table.ndim}D array instead.",
            fix="Reshape your data: one row per unit, one column per feature, such as array.reshape(-1, 1)",
        )
    if not table.shape[1]:
        raise InvalidInput(f"{name} has no columns, 0 feature(s).", fix="pass one column per feature")
    if table.shape[1] > MOST_COLUMNS:
        raise InvalidInput(f"{name} has more than {MOST_COLUMNS} columns.", fix="pass fewer: noise grows with them")
    return table


def read_array(values: object, name: str) -> Floats:
    """Return an array of floats of any shape; a missing value is NaN, and one beyond all floats is infinite.

    Refusals depend on the dtype of an array and on nothing else: a cell of an object array, or of a list, that
    is not a number is a missing value. An error would reveal that some row has such a cell.
    """
    array = read_cells(values) if isinstance(values, list | tuple) else np.asarray(values)
    if array.dtype.kind == "c":
        raise InvalidInput(f"{name} is complex. Complex data not supported.", fix="pass real numbers")
    if array.dtype.kind in "USMmV":
        # Not the dtype: that of texts has the length of the longest one.
        raise WrongType(
            f"{name} is an array of strings or times, not of numbers.", fix="encode it by public categories"
        )
    if array.dtype.kind == "O":
        return np.array([_float(cell) for cell in array.ravel()], np.float64).reshape(array.shape)
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


def read_cells(values: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return a list, or a list of rows, as an array of numbers; if some cell is none, as an array of objects.

    A list has no dtype and no shape of its own. If a few rows have another length than most, each of them becomes a
    row of missing values, so that it changes no other row.
    """
    try:
        array = np.asarray(values)
    except Exception:  # noqa: BLE001 - what kind of error it is depends on a cell
        array = np.empty(0, object)
    if array.dtype.kind in "biuf" and len(array) == len(values):
        return array
    lengths = Counter(len(row) for row in values if _is_row(row))
    if not lengths:
        return _objects(values)
    width = max(lengths, key=lambda length: (lengths[length], length))
    missing = [None] * width
    rows = [_objects(row if _is_row(row) and len(row) == width else missing) for row in values]
    return np.stack(rows)


def _is_row(row: object) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1)


def _objects(cells: Sequence[Any]) -> NDArray[Any]:
    """Return cells in an array of one axis, whatever they are."""
    array = np.empty(len(cells), object)
    for at, cell in enumerate(cells):
        array[at] = cell
    return array


def _float(value: Any) -> float:
    """Return one value as a float: NaN if it is not a number, and infinite if it is beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        pass
    except Exception:  # noqa: BLE001 - of a cell's own kind; to hand it on would tell of the cell
        return math.nan
    try:
        return math.inf if value > 0 else -math.inf
    except Exception:  # noqa: BLE001 - same
        return math.nan


def read_labels(values: object) -> NDArray[Any]:
    """Return one label or target a row; a single column will do.

    What is in a list stays what it is: as an array, a single text would turn the labels of all other rows into texts,
    and a single pair would leave none of them.
    """
    if values is None:
        raise InvalidInput(
            "This estimator requires y to be passed, but the target y is None.", fix="pass one label or target per row"
        )
    if isinstance(values, list | tuple):
        return _objects([label[0] if _is_row(label) and len(label) == 1 else label for label in values])
    labels = np.asarray(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", _conversion(), stacklevel=3)
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InvalidInput(f"y has {labels.ndim} dimensions, not one.", fix="pass one label or target per row")
    return labels


def _conversion() -> type[Warning]:
    """Return the kind of warning for labels in a column; where scikit-learn is in use, the one that it knows."""
    if "sklearn" not in sys.modules:
        return UserWarning
    kind: type[Warning] = import_module("sklearn.exceptions").DataConversionWarning
    return kind


def class_indices(labels: NDArray[Any], classes: NDArray[Any]) -> Integers:
    """Return each label's place among the public classes, and −1 for a label that is none of them."""
    if labels.dtype == object:
        places = {label: at for at, label in enumerate(classes.tolist())}
        return np.array([_place(places, label) for label in labels], np.int64)
    same = labels[:, None] == classes[None, :]
    return np.where(same.any(axis=1), same.argmax(axis=1), -1).astype(np.int64)


def _place(places: dict[Any, int], label: Any) -> int:
    try:
        return places.get(label, -1)
    except Exception:  # noqa: BLE001 - a list, say, which is not a class, or any error of a label's own code
        return -1


def read_classes(classes: object) -> NDArray[Any]:
    """Return the public classes, sorted; they are declared and not read off the labels."""
    if classes is None:
        raise InvalidInput("The classes are not declared.", fix="pass classes=[…], all possible labels: public")
    if not isinstance(classes, list | tuple | np.ndarray | range):
        raise WrongType(f"classes is {kind_of(classes)}, not a list.", fix='pass classes=["no", "yes"]')
    if len({isinstance(label, str) for label in classes}) > 1:
        raise InvalidInput("Some classes are strings and some are not.", fix="declare classes of one kind")
    distinct = np.unique(np.asarray(classes))
    if len(distinct) < 2:
        raise InvalidInput("There is only one class, or none.", fix="declare two classes or more")
    return distinct


def _ends(bounds: object, columns: int, name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if bounds is None:
        raise InvalidInput(
            f"{name} are not declared.", fix=f"pass {name}=(low, high): a public value, not taken from the rows"
        )
    if not isinstance(bounds, list | tuple | np.ndarray) or len(bounds) != 2:
        raise WrongType(f"{name} is not a pair.", fix=f"pass {name}=(low, high), numbers or one array each")
    ends = []
    for end in bounds:
        array = read_array(end, name)
        if array.ndim > 1 or (array.ndim == 1 and len(array) != columns):
            raise InvalidInput(
                f"{name} are not of {columns} features.",
                fix="pass two numbers, or two arrays with one number per feature",
            )
        if not all(math.isfinite(number) and abs(number) <= FARTHEST for number in array.ravel().tolist()):
            raise InvalidInput(f"One of {name} is not a finite number.", fix=f"pass finite {name}")
        ends.append(tuple(np.broadcast_to(array, (columns,)).tolist()))
    return ends[0], ends[1]

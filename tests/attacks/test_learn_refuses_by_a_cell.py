"""Attack: learn from an error, for nothing, that some row of an object array or a list holds an odd cell.

`fit` used to refuse an object array with a cell that is not a number, and a list with a text in it: before anything was
paid, so that whoever saw the error knew of the cell. What is refused may depend on types, shapes and dtypes only.
"""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from discreet.core import DiscreetError
from discreet.learn import PCA, GaussianNB, KMeans, LogisticRegression, Ridge, StandardScaler
from discreet.learn.features import read_array, read_labels, read_matrix


class Rude:
    """A cell whose own code raises errors of its own kind."""

    def __float__(self):
        raise LookupError("Ada Lovelace")

    def __hash__(self):
        raise RuntimeError("Ada Lovelace")


ODD = ["secret", b"secret", {"foo": "bar"}, [1, 2], date(1852, 11, 27), 1j, Rude(), object(), Decimal("sNaN"), "", None]
MODELS = [
    StandardScaler(bounds=(0, 1)),
    PCA(bounds=(0, 1)),
    KMeans(2, bounds=(0, 1)),
    Ridge(bounds=(0, 1), target_bounds=(0, 1)),
    GaussianNB(bounds=(0, 1), classes=[0, 1]),
    LogisticRegression(bounds=(0, 1), classes=[0, 1], steps=2),
]


def tables(cell):
    """Return the same rows as an array of objects and as a list, with the cell in one of them."""
    array = np.full((20, 2), 0.5, object)
    array[7, 1] = cell
    rows = [[0.5, 0.5] for _ in range(20)]
    rows[7][1] = cell
    return array, rows


def refusal(model, values, labels):
    """Return what is said, if anything is."""
    try:
        model.fit(values, labels)
    except Exception as error:  # noqa: BLE001 - any error is an answer
        return f"{type(error).__name__} {error}"
    return None


@pytest.mark.parametrize("cell", ODD, ids=lambda cell: type(cell).__name__)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_no_cell_of_a_table_is_refused(model, cell):
    labels = [0, 1] * 10
    assert [refusal(model, values, labels) for values in tables(cell)] == [None, None]


@pytest.mark.parametrize("cell", ODD, ids=lambda cell: type(cell).__name__)
@pytest.mark.parametrize("model", MODELS[3:], ids=lambda model: type(model).__name__)
def test_no_label_is_refused(model, cell):
    labels = [0, 1] * 10
    labels[7] = cell
    array = np.empty(20, object)
    array[:] = [0, 1] * 10
    array[7] = cell
    assert [refusal(model, np.full((20, 2), 0.5), given) for given in (labels, array)] == [None, None]


@pytest.mark.parametrize("cell", ODD, ids=lambda cell: type(cell).__name__)
def test_an_odd_cell_changes_no_other_cell(cell):
    for table in tables(cell):
        values = read_matrix(table)
        assert np.isnan(values[7, 1])
        assert (np.delete(values.ravel(), 15) == 0.5).all()


@pytest.mark.parametrize("row", [[], [1], [1, 2, 3], 5, "ab", None, [[1, 2], [3, 4]]], ids=repr)
def test_a_row_of_another_length_changes_no_other_row(row):
    values = read_matrix([[0.5, 0.25], [0.5, 0.25], [0.5, 0.25], row])
    assert values.shape == (4, 2)
    assert (values[:3] == [0.5, 0.25]).all()
    assert np.isnan(values[3]).all()


@pytest.mark.parametrize("label", [[1, 2], [], [[1]], "x"], ids=repr)
def test_a_label_of_another_length_changes_no_other_label(label):
    """As an array, a column of labels with a pair among them would be a row of lists, and nobody in a class."""
    labels = read_labels([[0], [1], [1], label])
    assert labels[:3].tolist() == [0, 1, 1]
    assert read_array(labels, "y")[:3].tolist() == [0, 1, 1]


@pytest.mark.parametrize("array", [np.array([["1"]]), np.array([[1j]]), np.array([["2020-01-01"]], "M8[D]")])
def test_what_is_refused_is_a_dtype(array):
    with pytest.raises(DiscreetError):
        read_matrix(array)
    with pytest.raises(DiscreetError):
        read_matrix(array[:0])

"""Units, bounds, limits: values that are checked at birth and frozen after."""

import dataclasses
import pickle
from fractions import Fraction

import pytest

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    Pure,
    Repeated,
)
from discreet.core import Bounds, InvalidInput, Limit, Neighbours, OutOfRange, PrivacyUnit, Sensitivity, WrongType

VALUES = [
    Bounds(0, 100),
    Limit(groups=3),
    PrivacyUnit(column="patient_id"),
    Sensitivity.box(l0=2, linf=3),
    Pure(1),
    BoundedRange(0.5),
    Approximate(1, 1e-9),
    Concentrated(0.1),
    DiscreteGaussianNoise(10, Sensitivity.box(l0=1, linf=1)),
    Composed([Pure(1), Concentrated(0.1)]),
    Repeated(Pure(0.1), 10),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_frozen_hashable_and_survives_pickling(value):
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, 1)
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(pickle.loads(pickle.dumps(value))) == hash(value)


def test_a_unit_says_in_words_who_is_protected():
    assert str(PrivacyUnit()) == "one row, added or removed"
    unit = PrivacyUnit(column="patient_id", neighbours=Neighbours.REPLACE)
    assert str(unit) == "all rows of one patient_id, replaced by others"


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [
        (0, 100, Fraction(1, 10**4)),
        (0, 1, Fraction(1, 10**6)),
        (0, 10**9, 1),
        (0.25, 7, Fraction(1, 10**6)),
        (0, 1e17, 100),
    ],
)
def test_bounds_choose_a_grid_that_holds_both_ends(low, high, step):
    assert Bounds(low, high).step == step


def test_bounds_know_their_middle_and_their_farthest_points():
    bounds = Bounds(-3, 8, step=1)
    assert (bounds.low_steps, bounds.high_steps, bounds.largest) == (-3, 8, 8)
    assert (bounds.centre, bounds.radius) == (2, 6)
    assert [bounds.snap(v) for v in (-100, -3, 0.5, 7.49, 8, 1e9)] == [-3, -3, 1, 7, 8, 8]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((1, 1), InvalidInput),
        ((2, 1), InvalidInput),
        ((0, float("nan")), InvalidInput),
        ((0, float("inf")), InvalidInput),
        (("0", 1), WrongType),
        ((Fraction(1, 3), 1), InvalidInput),
        ((None, 1), WrongType),
        ((0, 1e150), OutOfRange),
    ],
)
def test_wrong_bounds_are_refused_with_a_fix(arguments, error):
    with pytest.raises(error) as caught:
        Bounds(*arguments)
    assert caught.value.fix


def test_a_grid_that_misses_an_end_or_is_too_fine_is_refused():
    with pytest.raises(InvalidInput, match="do not lie on the grid"):
        Bounds(0, 1, step=0.3)
    with pytest.raises(OutOfRange, match="2\\^53"):
        Bounds(0, 1, step=1e-20)
    with pytest.raises(InvalidInput):
        Bounds(0, 1, step=0)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3", None])
def test_wrong_limits_are_refused(wrong):
    with pytest.raises((InvalidInput, WrongType)):
        Limit(groups=wrong)
    with pytest.raises((InvalidInput, WrongType)):
        Limit(rows_per_group=wrong)


@pytest.mark.parametrize("column", ["", "  ", 7, b"id"])
def test_wrong_units_are_refused(column):
    with pytest.raises((InvalidInput, WrongType)):
        PrivacyUnit(column=column)
    with pytest.raises(WrongType):
        PrivacyUnit(neighbours="replace")


def test_a_sensitivity_that_contradicts_itself_is_refused():
    with pytest.raises(InvalidInput, match="contradict"):
        Sensitivity(l0=1, linf=5, l1=2, l2_squared=25)
    with pytest.raises(InvalidInput, match="contradict"):
        Sensitivity(l0=1, linf=1, l1=9, l2_squared=9)

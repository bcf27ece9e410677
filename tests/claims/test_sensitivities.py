"""Sensitivities are values: over all small tables, neighbours move by no more than stated, and by as much."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core import (
    Bounds,
    Limit,
    Neighbours,
    Sensitivity,
    bounded_sum,
    bounded_sums,
    counting_queries,
    counting_query,
    histogram,
)
from discreet.mechanisms import centred_sum, grid_l1, grid_l2, to_grid
from universe import pairs

BOUNDS = Bounds(-3, 5, step=1)
SHIFTED = Bounds(2, 5, step=1)
RELATIONS = list(Neighbours)
ROWS = [(group, value) for group in range(3) for value in (-9, -3, 0, 2, 5, 9)]


def clamp(value, bounds):
    return bounds.snap(value)


def count(table):
    return [sum(value >= 2 for _, value in table)]


def counts(table):
    return [sum(value >= limit for _, value in table) for limit in (-3, 0, 2, 5)]


def by_group(table):
    return [sum(group == g for group, _ in table) for g in range(3)]


def total(bounds):
    return lambda table: [sum(clamp(value, bounds) for _, value in table)]


def totals(bounds):
    return lambda table: [sum(clamp(value, bounds) for group, value in table if group == g) for g in range(3)]


def filtered(bounds):
    return lambda table: [sum(clamp(value, bounds) for group, value in table if group)]


def centred(bounds):
    return lambda table: [sum(clamp(value, bounds) - bounds.centre for _, value in table)]


def norms(difference):
    moved = [abs(d) for d in difference]
    return sum(d > 0 for d in moved), max(moved), sum(moved), sum(d * d for d in moved)


CASES = [
    ("a counting query", count, lambda relation: counting_query()),
    ("four counting queries", counts, lambda relation: counting_queries(4)),
    ("a histogram", by_group, lambda relation: histogram(neighbours=relation)),
    ("a filtered sum", filtered(BOUNDS), lambda relation: bounded_sum(BOUNDS, neighbours=relation)),
    ("a filtered sum away from zero", filtered(SHIFTED), lambda relation: bounded_sum(SHIFTED, neighbours=relation)),
    ("sums by group", totals(BOUNDS), lambda relation: bounded_sums(BOUNDS, neighbours=relation)),
    ("a centred sum", centred(BOUNDS), lambda relation: centred_sum(BOUNDS, neighbours=relation)),
]


@pytest.mark.parametrize("relation", RELATIONS, ids=str)
@pytest.mark.parametrize(("name", "query", "stated"), CASES, ids=[case[0] for case in CASES])
def test_neighbours_move_an_answer_by_at_most_its_sensitivity_and_as_much(name, query, stated, relation):
    sensitivity = stated(relation)
    most = (0, 0, 0, 0)
    for table, other in pairs(ROWS, 2, relation):
        moved = norms(np.subtract(query(table), query(other)).tolist())
        most = tuple(map(max, most, moved))
    claimed = (sensitivity.l0, sensitivity.linf, sensitivity.l1, sensitivity.l2_squared)
    assert all(m <= c for m, c in zip(most, claimed, strict=True))
    # linf is always attained. Sums by group that change sign cannot move both groups to the extreme at once.
    assert most[1] == sensitivity.linf or name == "sums by group"
    if name in ("a counting query", "a histogram", "four counting queries"):
        assert most == claimed


def test_a_histogram_has_sensitivity_one_and_two():
    assert histogram().l1 == 1
    assert histogram(neighbours=Neighbours.REPLACE).l1 == 2


@given(st.integers(1, 30), st.integers(1, 30))
def test_every_kind_of_sensitivity_is_consistent(a, b):
    for made in (Sensitivity.box(l0=a, linf=b), Sensitivity.l1_ball(a), Sensitivity.l2_ball(a * b)):
        assert made.linf <= made.l1 <= made.l0 * made.linf
        assert made.linf**2 <= made.l2_squared <= made.l1**2


@given(
    st.lists(
        st.tuples(st.fractions(-50, 50, max_denominator=97), st.fractions(-3, 3, max_denominator=89)),
        min_size=1,
        max_size=5,
    ).filter(lambda some: any(moved for _, moved in some))
)
def test_rounding_to_the_grid_moves_real_vectors_by_at_most_the_grids_sensitivity(coordinates):
    bounds = Bounds(-60, 60, step=Fraction(1, 3))
    left = [float(x) for x, _ in coordinates]
    right = [float(x) + float(d) for x, d in coordinates]
    exact = [abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True)]
    moved = norms((to_grid(left, bounds) - to_grid(right, bounds)).tolist())
    l1 = grid_l1(sum(exact), bounds, size=len(exact))
    assert moved[1] <= l1.linf
    assert moved[2] <= l1.l1
    assert moved[3] <= l1.l2_squared
    square = sum(d * d for d in exact)
    root = Fraction(float(square) ** 0.5) * (1 + Fraction(1, 10**9))
    l2 = grid_l2(root, bounds, size=len(exact))
    assert moved[1] <= l2.linf
    assert moved[2] <= l2.l1
    assert moved[3] <= l2.l2_squared


@given(st.floats(-200, 200), st.sampled_from([Fraction(1, 3), Fraction(1, 8), Fraction(1, 10), Fraction(1)]))
def test_a_value_goes_to_the_exact_nearest_grid_point(value, step):
    bounds = Bounds(-100, 100, step=step)
    expected = bounds.nearest(min(max(Fraction(repr(value)), bounds.low), bounds.high))
    assert int(to_grid(value, bounds)) == expected


def test_halves_go_up_from_either_side():
    """Half-to-even would take −0.5 and 0.5, one step apart, to the same point, and 0.5 and 1.5 two apart."""
    bounds = Bounds(-10, 10, step=1)
    assert to_grid([-1.5, -0.5, 0.5, 1.5, 2.5], bounds).tolist() == [-1, 0, 1, 2, 3]
    tenths = Bounds(-10, 10, step=Fraction(1, 10))
    # The floats 0.15 and 0.35 lie below the numbers typed, and 0.45 above: what was typed counts.
    assert to_grid([0.15, 0.25, 0.35, 0.45], tenths).tolist() == [2, 3, 4, 5]


def test_typed_decimals_a_distance_apart_land_no_farther_apart_than_stated():
    bounds = Bounds(0, 100, step=Fraction(1, 10))
    stated = grid_l1(Fraction(1, 10), bounds).linf
    typed = np.array([float(f"{k / 20:.2f}") for k in range(1990)])
    moved = np.abs(to_grid(typed[2:], bounds) - to_grid(typed[:-2], bounds))
    assert moved.max() == 1 <= stated


def test_what_is_not_a_number_is_the_middle_and_what_is_beyond_the_ends():
    bounds = Bounds(0, 10, step=1)
    assert to_grid([float("nan"), float("inf"), float("-inf"), 1e300, -3], bounds).tolist() == [5, 10, 0, 10, 0]
    assert to_grid(np.array([2**63, 2**53 + 1], np.uint64), Bounds(0, 2**53, step=1)).tolist() == [2**53, 2**53]


def test_rows_of_all_groups_move_an_answer_that_is_not_by_group():
    limit = Limit(groups=5, rows_per_group=2)
    assert counting_query(limit=limit).linf == 10
    assert counting_queries(3, limit=limit).linf == 10
    assert bounded_sum(Bounds(0, 7, step=1), limit=limit).linf == 70
    assert centred_sum(Bounds(0, 8, step=1), limit=limit).linf == 40
    assert histogram(limit=limit) == Sensitivity.box(l0=5, linf=2)
    assert bounded_sums(Bounds(0, 7, step=1), limit=limit) == Sensitivity.box(l0=5, linf=14)


def test_narrow_numpy_integers_do_not_wrap_in_a_sensitivity():
    limit = Limit(rows_per_group=np.uint8(200))
    assert bounded_sum(Bounds(0, 100, step=1), limit=limit).linf == 20_000
    assert Sensitivity.box(l0=np.uint8(200), linf=np.uint8(200)).l2_squared == 200**3
    assert type(Sensitivity.l1_ball(np.int8(3)).l1) is int

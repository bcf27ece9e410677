"""Rules for δ: far below one in the number of people, decided in integers."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from discreet.accounting.interpretation import MOST_PEOPLE, advised_delta, need_delta
from discreet.core import InvalidInput, Neighbours, OutOfRange, WrongType, exact
from universe import pairs

PEOPLE = st.one_of(st.integers(2, 1000), st.integers(2, MOST_PEOPLE))


def total_variation(one, other):
    return sum(max(Fraction(0), one[row] - other[row]) for row in one)


def one_row_at_random(table):
    return Counter({row: Fraction(count, len(table)) for row, count in Counter(table).items()})


def test_publishing_one_row_at_random_satisfies_a_delta_of_one_in_n_and_that_delta_is_refused():
    for table, other in pairs([(0,), (1,), (2,)], 4, Neighbours.REPLACE):
        if table:
            assert total_variation(one_row_at_random(table), one_row_at_random(other)) <= Fraction(1, len(table))
    for people in (2, 3, 10, 1000, 10**9):
        with pytest.raises(InvalidInput, match="publish rows outright"):
            need_delta(Fraction(1, people), people)


@given(PEOPLE)
def test_the_advice_is_the_largest_float_that_is_accepted(people):
    advice = advised_delta(people)
    assert need_delta(advice, people) == exact(advice, "delta")
    assert need_delta(Fraction(advice), people) == Fraction(advice)
    above = math.nextafter(advice, 1)
    with pytest.raises(InvalidInput):
        need_delta(max(Fraction(above), exact(above, "delta")), people)


@given(PEOPLE)
def test_the_advice_is_one_in_n_to_the_power_1_1(people):
    with mp.workdps(60):
        wanted = mp.mpf(people) ** (-mp.mpf(11) / 10)
        assert wanted * (1 - mp.mpf(2) ** -51) <= mp.mpf(advised_delta(people)) <= wanted


@given(st.integers(2, 60))
def test_the_border_is_exact(root):
    """For n = m^10 the border is the fraction m^−11, and 10^−90 beside it is on the other side."""
    people, border = root**10, Fraction(1, root**11)
    assert need_delta(border, people) == border
    assert need_delta(border - Fraction(1, 10**90), people) < border
    with pytest.raises(InvalidInput):
        need_delta(border + Fraction(1, 10**90), people)


@pytest.mark.parametrize("people", [1, 2, 1000, MOST_PEOPLE])
def test_no_delta_is_always_fine(people):
    assert need_delta(0, people) == 0


def test_a_delta_means_what_was_typed():
    assert need_delta(1e-9, 10**6) == Fraction(1, 10**9)


def test_one_person_alone_counts_as_two():
    """Or the rule would allow every δ below 1."""
    assert advised_delta(1) == advised_delta(2) < 1 / 2
    with pytest.raises(InvalidInput):
        need_delta(0.9, 1)


@given(PEOPLE, PEOPLE)
def test_an_upper_bound_on_the_number_of_people_is_the_safe_side(one, other):
    few, many = sorted((one, other))
    assert need_delta(advised_delta(many), few)


@given(PEOPLE, st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000))
def test_a_refusal_says_how_many_are_exposed_and_offers_a_delta_that_is_accepted(people, share):
    delta = Fraction(advised_delta(people)) * (1 - share) + share  # anywhere between the advice and 1
    with pytest.raises(InvalidInput) as caught:
        need_delta(delta, people)
    assert f"exposes {float(people * delta):.3g} of them on average" in caught.value.problem
    offered = float(caught.value.fix.split("delta=")[1].split()[0])
    assert need_delta(offered, people)
    assert offered >= advised_delta(people) * 0.9  # two digits, rounded down


@pytest.mark.parametrize(
    ("delta", "people", "error"),
    [
        (1, 1000, InvalidInput),
        (-1e-9, 1000, InvalidInput),
        (math.nan, 1000, InvalidInput),
        ("tiny", 1000, WrongType),
        (True, 1000, WrongType),
        (1e-9, 0, InvalidInput),
        (1e-9, -5, InvalidInput),
        (1e-9, 1000.0, WrongType),
        (1e-9, True, WrongType),
        (1e-9, MOST_PEOPLE + 1, OutOfRange),
    ],
)
def test_what_is_no_delta_or_no_number_of_people_is_refused_with_a_way_out(delta, people, error):
    with pytest.raises(error) as caught:
        need_delta(delta, people)
    assert caught.value.fix

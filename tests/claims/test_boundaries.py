"""Totals at their exact boundaries: a δ that is just the mass of all failures, and nothing to spare."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    Approximate,
    Composed,
    DominatingPair,
    GaussianNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Repeated,
    Subsampled,
    bracket,
    delta,
    epsilon,
    optimal_epsilon,
)
from discreet.accounting.conversions import failure_masses

TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)
#: Tells for certain in one direction with a probability of 1/10, in the other with 1/5.
LEANING = DominatingPair((TENTH, 1 - TENTH, 0), (0, 1 - FIFTH, FIFTH))
TURNED = DominatingPair(LEANING.absent, LEANING.present)

BOUNDARIES = {
    "unequal promises": (Composed([Approximate(1, TENTH), Approximate(2, FIFTH)]), Fraction(28, 100), 3.0),
    "one promise": (Approximate(1, TENTH), TENTH, 1.0),
    "a promise twice": (Repeated(Approximate(1, TENTH), 2), Fraction(19, 100), 2.0),
    "a promise and a pure one": (Composed([Approximate(1, TENTH), Pure(2)]), TENTH, 3.0),
    "disjoint parts": (Parallel([Approximate(1, TENTH), Approximate(2, FIFTH)]), FIFTH, 2.0),
    "disjoint parts, twice": (Repeated(Parallel([Approximate(1, FIFTH), Pure(2)]), 2), Fraction(36, 100), 4.0),
    "leaning opposite ways": (Composed([LEANING, TURNED]), Fraction(28, 100), 2 * math.log(9 / 8)),
    "a lot": (Subsampled(Approximate(1, TENTH), Fraction(1, 2)), TENTH / 2, math.log((1 + math.e) / 2)),
}


def test_the_two_directions_have_failure_masses_of_their_own():
    assert failure_masses(LEANING)[1:] == (TENTH, FIFTH)
    assert failure_masses(TURNED)[1:] == (FIFTH, TENTH)


@pytest.mark.parametrize("name", BOUNDARIES)
def test_at_the_mass_of_all_failures_epsilon_is_the_sum_and_below_it_infinite(name):
    loss, mass, sum_of_all = BOUNDARIES[name]
    assert epsilon(loss, mass) == pytest.approx(sum_of_all, rel=1e-12)
    assert epsilon(loss, mass) >= sum_of_all * (1 - 1e-15)
    assert epsilon(loss, mass - Fraction(1, 10**12)) == math.inf
    assert epsilon(loss, 0) == math.inf
    assert Fraction(delta(loss, Fraction(sum_of_all) + 1)) <= mass * (1 + Fraction(1, 10**15))
    assert bracket(loss, mass).upper <= sum_of_all * (1 + 1e-12)


def test_what_has_no_largest_loss_stays_infinite_at_its_failures():
    loss = Composed([Approximate(1, TENTH), GaussianNoise(1)])
    assert epsilon(loss, TENTH) == math.inf
    assert epsilon(loss, TENTH + Fraction(1, 10**6)) < 30


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 40)), min_size=1, max_size=4), st.integers(1, 3))
def test_equal_promises_have_the_boundary_of_the_optimal_theorem(parts, times):
    (eps, hundredths), *_ = parts
    once = Fraction(eps, 4), Fraction(hundredths, 100)
    mass = 1 - (1 - once[1]) ** times
    assume(mass < 1)
    assert epsilon(Repeated(Approximate(*once), times), mass) == optimal_epsilon(*once, times, mass) == times * once[0]


def outcomes(size):
    weights = st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any)
    return weights.map(lambda counts: [Fraction(count, sum(counts)) for count in counts])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.builds(DominatingPair, outcomes(3), outcomes(3)), min_size=1, max_size=3))
def test_at_the_boundary_the_promise_is_kept_by_every_event(parts):
    """All outcomes one by one, both directions, exactly."""
    histories = list(product(*(zip(part.present, part.absent, strict=True) for part in parts)))
    pairs = [(math.prod(p for p, _ in each), math.prod(q for _, q in each)) for each in histories]
    masses = [sum(one[side] for one in pairs if not one[1 - side]) for side in (0, 1)]
    assume(max(masses) < 1)
    stated = epsilon(Composed(parts), max(masses))
    assert math.isfinite(stated)
    factor = Fraction(math.exp(stated)) * (1 + Fraction(1, 10**12))
    for side in (0, 1):
        assert sum(max(one[side] - factor * one[1 - side], 0) for one in pairs) <= max(masses)


def test_nothing_costs_nothing_at_every_boundary():
    for loss in (Composed([]), Parallel([]), RandomisedResponse(Fraction(1, 2)), Repeated(Composed([]), 5)):
        assert epsilon(loss, 0) == epsilon(loss, TENTH) == delta(loss, 0) == 0

"""No strategy beats a stated total: parts, their order and their lots are chosen by all earlier answers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussianNoise,
    DominatingPair,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Repeated,
    Subsampled,
    bracket,
    delta,
    epsilon,
)
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.continuous_noise import GaussianPair, laplace_pair
from discreet.accounting.pld.lattice import outwards
from discreet.accounting.pld.maximum import MaximumPair
from discreet.accounting.pld.subsampled import PoissonPair
from discreet.core import Sensitivity
from strategies_on_parts import best_delta, fixed_totals, outcomes_of

#: Floats of the pairs, relatively.
FLOATS = Fraction(1, 10**9)
FACTORS = [Fraction(3, 2), Fraction(6)]


def distributions(size):
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any)
    return weights.map(lambda counts: [Fraction(count, sum(counts)) for count in counts])


LEAVES = st.one_of(
    st.builds(DominatingPair, distributions(2), distributions(2)),
    st.integers(5, 9).map(lambda tenths: RandomisedResponse(Fraction(tenths, 10))),
)
RATES = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
PAIR = st.lists(LEAVES, min_size=2, max_size=2).map(Parallel)
#: What can be chosen: one leaf, or two of them, in a part; lots of parts; parts of parts.
PARTS = st.one_of(LEAVES, st.lists(LEAVES, min_size=2, max_size=2).map(Composed))
CUTS = st.lists(PARTS, min_size=1, max_size=3).map(Parallel)
OPEN = st.one_of(
    CUTS,
    st.builds(Subsampled, PAIR, RATES),
    st.lists(st.one_of(LEAVES, PAIR), min_size=2, max_size=2).map(Parallel),
)
TOTALS = st.one_of(
    st.builds(lambda leaf, cut: Composed([leaf, cut]), LEAVES, OPEN),
    st.builds(Repeated, st.lists(LEAVES, min_size=2, max_size=3).map(Parallel), st.just(2)),
    st.builds(lambda cut, leaf: Parallel([Composed([leaf, cut]), leaf]), CUTS, LEAVES),
    st.builds(Group, PAIR, st.just(2)),
    st.builds(lambda leaf, cut, rate: Subsampled(Composed([leaf, cut]), rate), LEAVES, PAIR, RATES),
    st.builds(Repeated, st.builds(Subsampled, PAIR, RATES), st.just(2)),
)

HINT = DominatingPair((Fraction(1, 10), Fraction(9, 10)), (Fraction(1, 30), Fraction(29, 30)))
SLIP = DominatingPair((Fraction(2, 75), Fraction(73, 75), 0), (0, Fraction(73, 75), Fraction(2, 75)))


def never_beaten(loss):
    for factor in FACTORS:
        eps = Fraction(math.log(factor)) if factor > 1 else Fraction(0)
        assert Fraction(delta(loss, eps)) >= best_delta(loss, factor) * (1 - FLOATS) - FLOATS**2
    stated = epsilon(loss, Fraction(1, 10))
    if stated < 40:
        assert best_delta(loss, Fraction(math.exp(stated))) <= Fraction(1, 10) * (1 + FLOATS) + FLOATS


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TOTALS)
@example(Composed([HINT, Parallel([SLIP, RandomisedResponse(Fraction(4, 5))])]))
@example(Repeated(Parallel([HINT, SLIP, RandomisedResponse(Fraction(4, 5))]), 3))
@example(Composed([HINT, Parallel([Composed([SLIP, HINT]), RandomisedResponse(Fraction(4, 5))])]))
@example(Repeated(Subsampled(Parallel([SLIP, RandomisedResponse(Fraction(9, 10))]), Fraction(1, 2)), 2))
@example(Subsampled(Composed([HINT, Parallel([SLIP, RandomisedResponse(Fraction(4, 5))])]), Fraction(1, 2)))
def test_adaptive_choice_of_the_part_never_beats_the_stated_total(loss):
    never_beaten(loss)


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TOTALS)
def test_adaptive_choice_of_the_part_never_beats_any_of_many_stated_totals(loss):
    never_beaten(loss)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(LEAVES, st.lists(LEAVES, min_size=2, max_size=3))
def test_with_one_leaf_in_a_part_the_total_is_that_of_the_best_strategy(leaf, parts):
    """In one direction it is attained; the worse of both is stated."""
    loss = Composed([leaf, Parallel(parts)])
    for factor in (Fraction(3, 2), Fraction(6)):
        truth = best_delta(loss, factor)
        eased = best_delta(loss, factor * Fraction(999, 1000))
        assert delta(loss, Fraction(math.log(factor))) <= float(eased) * (1 + 1e-3) + 1e-9 or truth == eased


CHOICES = {
    "two noises": ([LaplaceNoise(1), GaussianNoise(1)], 1),
    "promises": ([Pure(1), Approximate(Fraction(1, 2), Fraction(1, 1000)), BoundedRange(Fraction(3, 2))], 4),
    "lots": ([Subsampled(GaussianNoise(1), 0.1), Subsampled(LaplaceNoise(1), 0.2)], 50),
    "a lot of a cut": ([Subsampled(Parallel([GaussianNoise(1), LaplaceNoise(1)]), 0.1)], 20),
    "many": ([GaussianNoise(2), LaplaceNoise(3)], 1000),
    "integers": ([DiscreteGaussianNoise(9, Sensitivity.box(l0=3, linf=2)), LaplaceNoise(2)], 5),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_costs_at_least_each_part_and_at_most_all_of_them(name):
    parts, times = CHOICES[name]
    chosen = Composed([Repeated(Parallel(parts), times), RandomisedResponse(0.6)])
    fixed = [Composed([Repeated(part, times), RandomisedResponse(0.6)]) for part in parts]
    every = Composed([Repeated(Composed(parts), times), RandomisedResponse(0.6)])
    for allowed in (1e-2, 1e-6, 1e-12):
        stated = epsilon(chosen, allowed)
        assert max(epsilon(one, allowed) for one in fixed) <= stated * (1 + 1e-3)
        assert stated <= epsilon(every, allowed) * (1 + 1e-3)
        assert math.isinf(stated) or delta(chosen, stated) <= allowed * (1 + 1e-2)


def test_a_part_that_another_one_dominates_adds_nothing():
    small = [GaussianNoise(2), GaussianNoise(4), GaussianNoise(3)]
    assert epsilon(Composed([Parallel(small), Pure(1)]), 1e-6) == epsilon(Composed([small[0], Pure(1)]), 1e-6)
    within = [Repeated(LaplaceNoise(9), 7), Repeated(LaplaceNoise(9), 3)]
    assert epsilon(Composed([Parallel(within), Pure(1)]), 1e-6) == epsilon(Composed([within[0], Pure(1)]), 1e-6)


def test_a_bracket_of_a_choice_holds_the_fixed_parts():
    loss = Composed([Parallel([LaplaceNoise(2), GaussianNoise(1)]), RandomisedResponse(0.9)])
    found = bracket(loss, 1e-5)
    fixed = max(epsilon(one, 1e-5) for one in fixed_totals(loss))
    assert found.lower <= fixed * (1 + 1e-3)
    assert fixed <= found.upper * (1 + 1e-3)


# The pair itself.

PAIRS = {
    "noises": (laplace_pair(2.0), GaussianPair(1.25)),
    "lots": (PoissonPair(GaussianPair(1.0), 0.1), PoissonPair(laplace_pair(1.0), 0.3)),
    "lists": (
        Atoms(np.array([0.1, 0.9]), np.array([1 / 30, 29 / 30]), symmetric=False),
        Atoms(np.array([0.02, 0.98, 0.0]), np.array([0.0, 0.95, 0.05]), symmetric=False),
    ),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_the_maximum_lies_above_every_part_and_on_the_largest_at_grid_points(name, turned):
    pairs, step = PAIRS[name], 0.01
    edges = step * np.arange(-2000, 2001, dtype=float)
    found = [pair.cells(edges) for pair in (*pairs, MaximumPair(pairs))]
    turned = turned and not MaximumPair(pairs).symmetric  # symmetric pairs are never turned
    *parts, largest = (outwards(cells.mirror() if turned else cells, 0) for cells in found)
    levels = step * np.arange(-2000, 2001)

    def curve(lattice, eps):
        above = levels > eps
        return float(lattice.masses[above] @ -np.expm1(eps - levels[above])) + lattice.beyond

    for eps in (*levels[::97].tolist(), -0.123, 0.456, 3.14159):
        heights = [curve(part, eps) for part in parts]
        assert curve(largest, eps) >= max(heights) * (1 - 1e-12)
        if round(eps / step, 6).is_integer():
            assert curve(largest, eps) <= max(heights) * (1 + 1e-8) + 1e-15


def test_outcomes_are_those_of_the_mechanism():
    assert sum(p for p, _ in outcomes_of(RandomisedResponse(Fraction(1, 2), 4))) == 1

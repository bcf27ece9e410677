"""Laws that every kind of loss obeys: a kind without an example here, or without a law, fails.

Equal means equal: two ways of writing the same releases down give the same floats and the same fractions. Where two
different numbers are compared ("never costs more"), both may be off by what the accountant's grid costs.
"""

import copy
import math
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations, product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    Group,
    Guarantee,
    LaplaceNoise,
    Parallel,
    PrivacyLoss,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    approximate_of,
    bracket,
    concentrated_of,
    delta,
    epsilon,
    guarantee,
    neighbours_of,
    renyi_of,
)
from discreet.accounting.conversions import group_loss
from discreet.core import InvalidInput, Neighbours, NotProved, Sensitivity, exp_up
from loss_strategies import SANE, losses

#: What two numbers may differ by that are both within the accountant's grid: it may cost 4e-4 of ε
#: (`numeric.ACCURACY`), and bisections for groups stop at 1e-4.
GRID = 1e-3
#: δ moves by far more than ε does, relatively: θ·ε times as much, where the tilt θ is up to a few hundred here.
GRID_OF_DELTA = 0.05
#: A δ is compared down to here, and an ε down to there.
FLOOR, LEVEL = 1e-13, 1e-7

HALF = Fraction(1, 2)
WITHOUT = Sampling.WITHOUT_REPLACEMENT
ONE, TWO, BALL = Sensitivity.box(l0=1, linf=1), Sensitivity.box(l0=2, linf=1), Sensitivity.l2_ball(3)
ORDERS = tuple(Fraction(order) for order in ("1.1", "2", "3.5", "16"))
LOPSIDED = DominatingPair(
    [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)], [Fraction(2, 10), Fraction(7, 10), Fraction(1, 10)]
)
TELLING = DominatingPair([HALF, HALF - Fraction(1, 10**8), Fraction(1, 10**8)], [Fraction(1, 3), Fraction(2, 3), 0])

#: For every kind, families of losses of which each costs at least as much as the next.
FAMILIES = {
    Pure: [[Pure(2), Pure(0.5), Pure(0.01)]],
    BoundedRange: [[BoundedRange(2), BoundedRange(0.5), BoundedRange(0.01)]],
    Approximate: [
        [Approximate(1, 1e-4), Approximate(0.5, 1e-4), Approximate(0.5, 1e-7)],
    ],
    Concentrated: [
        [Concentrated(1), Concentrated(0.1), Concentrated(0.001)],
        [Concentrated(0.1, 1e-4), Concentrated(0.1, 1e-7), Concentrated(0.1)],
    ],
    Renyi: [
        [Renyi([(2, 0.5), (8, 1.5)]), Renyi([(2, 0.1), (8, 0.5)]), Renyi([(2, 0.1), (8, 0.3), (64, 0.4)])],
    ],
    GaussianDP: [[GaussianDP(2), GaussianDP(0.5), GaussianDP(0.01)]],
    LaplaceNoise: [[LaplaceNoise(0.5), LaplaceNoise(2), LaplaceNoise(8, 3), LaplaceNoise(100)]],
    GaussianNoise: [[GaussianNoise(0.5), GaussianNoise(2), GaussianNoise(8, 3), GaussianNoise(100)]],
    DiscreteLaplaceNoise: [
        [DiscreteLaplaceNoise(1, 2), DiscreteLaplaceNoise(2, 2), DiscreteLaplaceNoise(9, 2), DiscreteLaplaceNoise(9)],
    ],
    DiscreteGaussianNoise: [
        [DiscreteGaussianNoise(1, TWO), DiscreteGaussianNoise(9, TWO), DiscreteGaussianNoise(9, ONE)],
        [DiscreteGaussianNoise(4, BALL), DiscreteGaussianNoise(400, BALL)],
    ],
    RandomisedResponse: [
        [RandomisedResponse(0.9), RandomisedResponse(0.75), RandomisedResponse(0.51), RandomisedResponse(0.5)],
        [RandomisedResponse(0.9, 5), RandomisedResponse(0.5, 5), RandomisedResponse(0.2, 5)],
    ],
    DominatingPair: [
        [LOPSIDED, DominatingPair([Fraction(4, 10), Fraction(6, 10)], [Fraction(9, 10), Fraction(1, 10)])],
        [TELLING, DominatingPair([HALF, HALF], [Fraction(1, 3), Fraction(2, 3)])],
    ],
    Composed: [
        [
            Composed([LaplaceNoise(2), RandomisedResponse(0.75), GaussianNoise(3)]),
            Composed([LaplaceNoise(4), RandomisedResponse(0.75), GaussianNoise(3)]),
            Composed([RandomisedResponse(0.75), GaussianNoise(5)]),
            Composed([]),
        ],
        [Composed([Concentrated(0.1), Pure(0.2)]), Composed([Concentrated(0.1), Pure(0.1)])],
    ],
    Repeated: [
        [Repeated(LaplaceNoise(4), 20), Repeated(LaplaceNoise(4), 10), Repeated(LaplaceNoise(8), 10)],
        [Repeated(RandomisedResponse(0.75), 3), Repeated(RandomisedResponse(0.6), 3)],
    ],
    Parallel: [
        [
            Parallel([Pure(1), LaplaceNoise(2)]),
            Parallel([Pure(0.5), LaplaceNoise(2)]),
            Parallel([Pure(0.1)]),
            Parallel([]),
        ],
    ],
    Group: [
        [Group(Approximate(0.1, 1e-7), 3), Group(Approximate(0.05, 1e-7), 3)],
        [Group(Concentrated(0.1), 4), Group(Concentrated(0.1), 2), Group(Concentrated(0.01), 2)],
        [Group(Composed([LaplaceNoise(5), RandomisedResponse(0.6)]), 2), Group(LaplaceNoise(5), 2)],
        [Group(Subsampled(GaussianNoise(2), 0.1), 2), Subsampled(GaussianNoise(2), 0.1)],
    ],
    Subsampled: [
        [Subsampled(GaussianNoise(1), 0.2), Subsampled(GaussianNoise(1), 0.02), Subsampled(GaussianNoise(3), 0.02)],
        [Subsampled(RandomisedResponse(0.9, 3), 0.5), Subsampled(RandomisedResponse(0.9, 3), 0.05)],
        [Subsampled(LaplaceNoise(1), 0.3, WITHOUT), Subsampled(LaplaceNoise(2), 0.3, WITHOUT)],
        [Subsampled(Approximate(1, 1e-6), 0.3), Subsampled(Approximate(1, 1e-6), 0.1)],
    ],
    Shuffled: [
        [Shuffled(Pure(2), 100), Shuffled(Pure(2), 1000), Shuffled(Pure(1), 1000)],
        [Shuffled(RandomisedResponse(0.75, 4), 50), Shuffled(RandomisedResponse(0.5, 4), 50)],
    ],
}
EXAMPLES = [family[0] for families in FAMILIES.values() for family in families]
#: What is composed with each example; it has a pair, and holds for either kind of neighbours.
OTHER = LaplaceNoise(3)


def shown(loss):
    return repr(loss).replace("Fraction", "")[:60]


every = pytest.mark.parametrize("loss", EXAMPLES, ids=shown)


def test_every_kind_of_the_union_has_its_examples():
    assert set(FAMILIES) == set(get_args(PrivacyLoss))
    for kind, families in FAMILIES.items():
        assert all(isinstance(family[0], kind) for family in families)
        assert all(len(family) >= 2 for family in families)


@cache
def costs(loss):
    """Return all that is said about a loss."""
    return {
        "epsilon at 0": epsilon(loss, 0),
        "epsilon": epsilon(loss, 1e-5),
        "delta": delta(loss, HALF),
        "pair": approximate_of(loss),
        "rho": concentrated_of(loss),
        "divergences": renyi_of(loss, ORDERS),
    }


# Repeating.


@every
@pytest.mark.parametrize("times", [2, 10])
def test_repeating_costs_the_same_as_writing_it_out(loss, times):
    assert costs(Repeated(loss, times)) == costs(Composed([loss] * times))


@every
def test_repeating_a_repetition_multiplies(loss):
    assert costs(Repeated(Repeated(loss, 2), 3)) == costs(Repeated(loss, 6))


@pytest.mark.parametrize("truth", [Fraction(1, 2) + Fraction(1, 10), Fraction(3, 4), Fraction(99, 100)])
@pytest.mark.parametrize("categories", [2, 7])
def test_ten_randomised_responses_are_not_billed_as_one(truth, categories):
    one, ten = RandomisedResponse(truth, categories), Repeated(RandomisedResponse(truth, categories), 10)
    assert approximate_of(ten) == tuple(10 * part for part in approximate_of(one))
    assert concentrated_of(ten) == tuple(10 * part for part in concentrated_of(one))
    assert renyi_of(ten, ORDERS).values == tuple(10 * value for value in renyi_of(one, ORDERS).values)
    assert epsilon(ten, 1e-6) > 3 * epsilon(one, 1e-6)
    assert delta(ten, 0) > 1.5 * delta(one, 0) or delta(one, 0) > 0.6


@every
@pytest.mark.parametrize("times", [2, 10])
def test_repeating_multiplies_the_pair_rho_and_divergences(loss, times):
    pair, rho, curve = approximate_of(loss), concentrated_of(loss), renyi_of(loss, ORDERS)
    many = Repeated(loss, times)
    assert approximate_of(many) == (None if pair is None else (times * pair[0], times * pair[1]))
    assert concentrated_of(many) == (None if rho is None else (times * rho[0], times * rho[1]))
    assert renyi_of(many, ORDERS).values == tuple(None if value is None else times * value for value in curve.values)
    assert renyi_of(many, ORDERS).delta == times * curve.delta


# Order, nothing, nesting.


@every
def test_the_order_of_parts_does_not_matter(loss):
    parts = [loss, OTHER, GaussianNoise(4)]
    first = costs(Composed(parts))
    for order in list(permutations(parts))[1::3]:
        assert costs(Composed(order)) == first


@pytest.mark.parametrize("kind", [Composed, Parallel])
def test_the_order_of_many_parts_does_not_matter(kind):
    parts = [RandomisedResponse(0.6), LaplaceNoise(3), Pure(0.3), BoundedRange(0.4), DiscreteLaplaceNoise(3, 2)]
    first = costs(kind(parts))
    assert costs(kind(parts[::-1])) == costs(kind(parts[2:] + parts[:2])) == first


@every
def test_composing_with_nothing_changes_nothing(loss):
    first = costs(loss)
    nothing = Composed([])
    for same in (
        Composed([loss]),
        Repeated(loss, 1),
        Composed([loss, nothing]),
        Composed([nothing, Repeated(nothing, 5), loss]),
        Composed([Composed([Composed([loss])])]),
    ):
        assert costs(same) == first


@every
def test_a_group_of_one_is_itself(loss):
    assert costs(Group(loss, 1)) == costs(loss)
    assert costs(Group(Group(loss, 1), 1)) == costs(loss)


@every
def test_the_only_part_of_a_table_costs_what_it_costs(loss):
    if neighbours_of(loss) is not Neighbours.REPLACE:
        assert costs(Parallel([loss])) == costs(loss)
        assert costs(Parallel([loss, loss])) == costs(loss)


@every
def test_a_lot_that_is_the_whole_table_costs_what_the_table_costs(loss):
    if neighbours_of(loss) is not Neighbours.REPLACE:
        assert costs(Subsampled(loss, 1)) == costs(loss)
    if neighbours_of(loss) is not Neighbours.ADD_REMOVE:
        assert costs(Subsampled(loss, 1, WITHOUT)) == costs(loss)


@every
def test_nested_and_flat_trees_agree(loss):
    flat = Composed([loss, OTHER, OTHER, loss, OTHER, OTHER, Pure(0.1)])
    nested = Composed([Repeated(Composed([loss, Repeated(OTHER, 2)]), 2), Composed([Pure(0.1)])])
    assert costs(flat) == costs(nested)


def test_nothing_costs_nothing():
    free = [Composed([]), Repeated(Composed([]), 7), Parallel([]), Group(Composed([]), 3), Group(Parallel([]), 2)]
    free += [RandomisedResponse(0.5), RandomisedResponse(0.25, 4), DominatingPair([HALF, HALF], [HALF, HALF])]
    free += [Group(loss, 2) for loss in free] + [Repeated(loss, 5) for loss in free] + [Composed(free)]
    free += [Subsampled(loss, 0.5) for loss in free] + [Shuffled(RandomisedResponse(0.5), 10)]
    for loss in free:
        assert epsilon(loss, 0) == epsilon(loss, 1e-9) == delta(loss, 0) == 0
        assert bracket(loss, 1e-6).upper == 0
        assert approximate_of(loss) == concentrated_of(loss) == (0, 0)
        bound = renyi_of(loss, ORDERS)
        assert all(value is not None and value < 1e-9 for value in bound.values)
        assert bound.delta == 0


@settings(max_examples=25)
@given(losses(SANE), st.integers(2, 3))
def test_any_tree_repeated_costs_the_same_as_written_out(loss, times):
    repeated, listed = Repeated(loss, times), Composed([loss, Composed([loss] * (times - 1)), Composed([])])
    assert approximate_of(repeated) == approximate_of(listed)
    assert concentrated_of(repeated) == concentrated_of(listed)
    assert renyi_of(repeated, ORDERS) == renyi_of(listed, ORDERS)
    assert epsilon(repeated, 1e-5) == epsilon(listed, 1e-5)


# More and less.


def test_more_releases_never_cost_less():
    for loss in EXAMPLES:
        more = Composed([loss, OTHER])
        least = max(epsilon(loss, 1e-6), epsilon(OTHER, 1e-6))
        assert epsilon(more, 1e-6) >= least * (1 - GRID)
        assert delta(more, HALF) >= delta(loss, HALF) * (1 - GRID_OF_DELTA)
        assert all(
            more_of >= less_of
            for more_of, less_of in zip(approximate_of(more) or (), approximate_of(loss) or (), strict=True)
        )


def test_gaussians_beside_others_add_up_to_one():
    """Their μ² add up (Dong, Roth, Su 2022, Corollary 3.3), also where a Laplace noise stands between them."""
    one = Composed([GaussianNoise(1), LaplaceNoise(2)])
    many = Composed([GaussianNoise(5, 3), LaplaceNoise(2), GaussianDP(Fraction(4, 5))])
    assert costs(one) == costs(many)
    assert epsilon(one, 1e-6) > epsilon(Composed([GaussianNoise(Fraction(5, 4)), LaplaceNoise(2)]), 1e-6) * (1 + GRID)


@every
def test_each_further_repetition_costs_more(loss):
    many = [epsilon(Repeated(loss, times), 1e-4) for times in (1, 2, 5)]
    assert all(more >= less * (1 - GRID) for less, more in pairwise(many))


@pytest.mark.parametrize(
    "family", [family for families in FAMILIES.values() for family in families], ids=lambda f: shown(f[0])
)
def test_more_noise_never_costs_more(family):
    """Also after composition, which sees the whole curve and not one point of it."""
    for more, less in pairwise(family):
        assert epsilon(less, 1e-12) <= epsilon(more, 1e-12) * (1 + GRID) + LEVEL
        assert delta(less, 0) <= delta(more, 0) * (1 + GRID_OF_DELTA) + FLOOR
        assert epsilon(Repeated(less, 3), 1e-3) <= epsilon(Repeated(more, 3), 1e-3) * (1 + GRID) + LEVEL
        assert delta(Repeated(less, 3), 1) <= delta(Repeated(more, 3), 1) * (1 + GRID_OF_DELTA) + FLOOR
        pairs = zip(renyi_of(less, ORDERS).values, renyi_of(more, ORDERS).values, strict=True)
        if renyi_of(less, ORDERS).delta == renyi_of(more, ORDERS).delta:
            assert all(
                b is None or (a is not None and a <= b * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9))
                for a, b in pairs
            )


# Groups.


@pytest.mark.parametrize("size", [2, 3, 10])
def test_groups_follow_the_textbook(size):
    """Pure: kε; approximate: kε and at most k·e^((k−1)ε)·δ; zCDP: k²ρ. The design's three laws."""
    each, unlucky = Fraction(1, 7), Fraction(1, 10**12)
    assert approximate_of(Group(Pure(each), size)) == (size * each, 0)
    assert approximate_of(Group(LaplaceNoise(7), size)) == (size * each, 0)
    stated = approximate_of(Group(Approximate(each, unlucky), size))
    assert stated[0] == size * each
    assert size * unlucky < stated[1] <= size * exp_up((size - 1) * each) * unlucky
    assert stated[1] >= unlucky * sum(
        Fraction(math.exp(step * each)) * (1 - Fraction(1, 10**12)) for step in range(size)
    )
    assert concentrated_of(Group(Concentrated(each), size)) == (size**2 * each, 0)
    assert concentrated_of(Group(GaussianNoise(3), size)) == (Fraction(size**2, 18), 0)
    assert epsilon(Group(GaussianDP(each), size), 1e-6) == epsilon(GaussianDP(size * each), 1e-6)
    assert epsilon(Group(Pure(each), size), 1e-6) == epsilon(Pure(size * each), 1e-6)
    assert epsilon(Group(BoundedRange(each), size), 1e-6) <= epsilon(BoundedRange(size * each), 1e-6)
    assert epsilon(Group(Concentrated(each), size), 1e-6) == epsilon(Concentrated(size**2 * each), 1e-6)
    assert epsilon(Group(DiscreteLaplaceNoise(7), size), 1e-6) == epsilon(DiscreteLaplaceNoise(7, size), 1e-6)


@every
def test_a_larger_group_never_costs_less_and_a_group_of_groups_is_a_group(loss):
    many = [epsilon(Group(loss, size), 1e-4) for size in (1, 3)]
    assert all(more >= less * (1 - GRID) for less, more in pairwise(many))
    assert concentrated_of(Group(Group(loss, 2), 2)) == concentrated_of(Group(loss, 4))
    once, twice = approximate_of(Group(loss, 4)), approximate_of(Group(Group(loss, 2), 2))
    if once is not None and not once[1]:
        assert once == twice


def test_a_group_that_may_spread_over_disjoint_parts_is_not_billed_as_one_part():
    parts = [Pure(0.5), Pure(0.2)]
    assert epsilon(Group(Parallel(parts), 2), 0) == 1
    assert epsilon(Group(Parallel(parts), 2), 1e-6) > epsilon(Parallel(parts), 1e-6)
    assert group_loss(Parallel([GaussianNoise(1)]), 2) == Concentrated(2)


# Disjoint parts.


@pytest.mark.parametrize("allowed", [0, 1e-3, 1e-9])
def test_disjoint_parts_cost_the_worst_of_them(allowed):
    parts = [
        Pure(HALF),
        LaplaceNoise(3),
        GaussianNoise(20),
        RandomisedResponse(0.6),
        Composed([]),
        Approximate(0.1, 1e-4),
    ]
    for some in (parts[:2], parts[:4], parts):
        alone = [epsilon(part, allowed) for part in some]
        together = epsilon(Parallel(some), allowed)
        assert max(alone) * (1 - GRID) <= together <= max(alone) * (1 + GRID)


def test_each_person_is_in_one_part_of_each_partition():
    """Two partitions, one after the other: a person pays one part of either, and the worst choice counts."""
    first, second = [LaplaceNoise(2), GaussianNoise(1)], [RandomisedResponse(0.9), LaplaceNoise(9)]
    both = epsilon(Composed([Parallel(first), Parallel(second)]), 1e-5)
    worst = max(epsilon(Composed(way), 1e-5) for way in product(first, second))
    assert worst * (1 - GRID) <= both <= worst * (1 + GRID)


def test_many_disjoint_parts_cost_the_worst_of_them():
    parts = [GaussianNoise(Fraction(100 + step, 100)) for step in range(40)]
    assert epsilon(Parallel(parts), 1e-6) <= epsilon(parts[0], 1e-6) * (1 + GRID)


# Lots and reports.


@pytest.mark.parametrize(
    "part",
    [
        GaussianNoise(1),
        LaplaceNoise(1),
        RandomisedResponse(0.8, 3),
        Pure(1),
        BoundedRange(1),
        Approximate(1, 1e-6),
        DiscreteLaplaceNoise(2, 3),
        DiscreteGaussianNoise(4, ONE),
        Concentrated(0.3),
        Renyi([(2, 0.3), (16, 2)]),
        LOPSIDED,
        Composed([LaplaceNoise(4), RandomisedResponse(0.6)]),
    ],
    ids=shown,
)
@pytest.mark.parametrize("sampling", Sampling)
def test_a_smaller_lot_never_costs_more(part, sampling):
    if part is LOPSIDED and sampling is WITHOUT:
        return  # for add/remove only
    rates = (1, 0.9, 0.3, 0.01)
    many = [epsilon(Subsampled(part, rate, sampling), 1e-6) for rate in rates]
    assert all(less <= more * (1 + GRID) + LEVEL for more, less in pairwise(many))
    many = [delta(Subsampled(part, rate, sampling), Fraction(1, 5)) for rate in rates]
    assert all(less <= more * (1 + GRID_OF_DELTA) + FLOOR for more, less in pairwise(many))


@pytest.mark.parametrize("sampling", Sampling)
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(10**20 - 1, 10**20), 0.9999999999999999])
def test_sampling_a_promise_multiplies_delta_and_shrinks_epsilon(rate, sampling):
    """(ln(1 + q(e^ε − 1)), qδ): Balle, Barthe, Gaboardi 2018, Theorems 8 and 9."""
    loss = Subsampled(Approximate(1, 1e-6), rate, sampling)
    stated, share = approximate_of(loss), Fraction(repr(rate)) if isinstance(rate, float) else rate
    true = math.log1p(share * math.expm1(1))
    assert true <= stated[0] <= true * (1 + 1e-12)
    assert stated[1] == share / 10**6
    assert true * (1 - GRID) <= epsilon(loss, share / 10**6) <= true * (1 + GRID)


def test_lots_without_replacement_are_not_billed_as_poisson():
    part = GaussianNoise(1)
    assert Subsampled(part, 0.1) != Subsampled(part, 0.1, WITHOUT)
    poisson, fixed = (Repeated(Subsampled(part, 0.1, sampling), 50) for sampling in Sampling)
    # For a symmetric pair one release costs the same where ε ≥ 0; many do not, as their curves differ below 0.
    assert epsilon(poisson, 1e-5) < epsilon(fixed, 1e-5) * (1 - GRID)


@pytest.mark.parametrize("part", [Pure(2), RandomisedResponse(0.9), RandomisedResponse(0.6, 5)], ids=shown)
def test_shuffling_never_costs_more_than_the_report_and_falls_with_the_crowd(part):
    crowds = [Shuffled(part, people) for people in (1, 10, 100, 10_000)]
    many = [epsilon(crowd, 1e-6) for crowd in crowds]
    assert many[0] <= epsilon(part, 1e-6) * (1 + GRID)
    assert all(less <= more * (1 + GRID) for more, less in pairwise(many))
    assert many[-1] < many[0] / 5
    assert all(approximate_of(crowd) == approximate_of(part) for crowd in crowds)
    assert all(epsilon(crowd, 0) == epsilon(part, 0) for crowd in crowds)


# Neighbours.

ADD, SWAP = Neighbours.ADD_REMOVE, Neighbours.REPLACE
TIED = {
    Subsampled(Pure(1), 0.5): ADD,
    Parallel([Pure(1)]): ADD,
    LOPSIDED: ADD,
    Subsampled(Pure(1), 0.5, WITHOUT): SWAP,
    Shuffled(Pure(1), 10): SWAP,
}


@every
def test_leaves_hold_for_whichever_neighbours_were_meant_unless_their_two_sides_differ(loss):
    if isinstance(loss, DominatingPair):
        # One side is the table with the person: it is no replaced person.
        assert neighbours_of(loss) is ADD
        assert neighbours_of(DominatingPair([HALF, HALF], [HALF, HALF])) is None
    elif not isinstance(loss, Subsampled | Parallel | Shuffled | Composed | Repeated | Group):
        assert neighbours_of(loss) is None


@pytest.mark.parametrize("loss", TIED, ids=shown)
def test_a_tie_to_neighbours_is_passed_on(loss):
    relation = TIED[loss]
    assert neighbours_of(loss) is relation
    for whole in (
        Composed([Pure(1), loss]),
        Repeated(loss, 2),
        Group(loss, 2),
        Composed([Repeated(Group(loss, 2), 2)]),
    ):
        assert neighbours_of(whole) is relation


@pytest.mark.parametrize(("one", "other"), [(a, b) for a in TIED for b in TIED if TIED[a] is not TIED[b]], ids=shown)
def test_losses_for_different_neighbours_are_not_put_together(one, other):
    for make in (
        lambda: Composed([one, other]),
        lambda: Composed([Pure(1), Repeated(one, 2), Composed([Group(other, 3)])]),
        lambda: Parallel([one, other]),
    ):
        with pytest.raises(InvalidInput, match="different neighbours"):
            make()


@pytest.mark.parametrize("loss", [loss for loss, relation in TIED.items() if relation is SWAP], ids=shown)
def test_what_holds_for_replaced_people_is_neither_parallel_nor_sampled_by_coins(loss):
    for make in (lambda: Parallel([loss]), lambda: Subsampled(loss, 0.5)):
        with pytest.raises(InvalidInput, match="different neighbours"):
            make()


@pytest.mark.parametrize("loss", [loss for loss, relation in TIED.items() if relation is ADD], ids=shown)
def test_what_holds_for_added_people_is_not_sampled_without_replacement(loss):
    with pytest.raises(InvalidInput, match="different neighbours"):
        Subsampled(loss, 0.5, WITHOUT)


def test_only_purely_private_reports_are_shuffled():
    for part in (Approximate(1, 1e-9), GaussianNoise(1), Repeated(Pure(1), 2), Shuffled(Pure(1), 5), LaplaceNoise(1)):
        with pytest.raises(NotProved):
            Shuffled(part, 10)


# Values, and the sentence.


@every
def test_a_loss_is_a_value(loss):
    """Equal losses are equal and hash alike, so that equal parts are counted together; none can be changed."""
    again = copy.deepcopy(loss)
    assert again == loss
    assert hash(again) == hash(loss)
    assert len({loss, again}) == 1
    with pytest.raises(FrozenInstanceError):
        setattr(loss, fields(loss)[0].name, None)


@every
def test_the_sentence_is_the_cost_at_a_delta(loss):
    assert guarantee(loss, 1e-6, people=1000) == Guarantee(epsilon(loss, 1e-6), 1e-6)
    assert guarantee(loss) == Guarantee(epsilon(loss, 0), 0.0)


@pytest.mark.parametrize(("allowed", "people"), [(1e-3, 1000), (1e-6, 10**6), (0.5, 1), (Fraction(1, 100), 66)])
def test_a_delta_that_is_not_far_below_one_in_n_is_refused_with_the_reason(allowed, people):
    with pytest.raises(InvalidInput, match="not far below 1/n"):
        guarantee(Pure(1), allowed, people=people)
    assert guarantee(Pure(1), 0, people=people) == Guarantee(1.0, 0.0)
    assert guarantee(GaussianNoise(1), 1e-9, people=people).delta == 1e-9


def test_the_advised_delta_is_not_refused():
    for people in (2, 65, 1000, 10**9):
        assert guarantee(Pure(1), people**-1.1001, people=people)
        with pytest.raises(InvalidInput):
            guarantee(Pure(1), people**-1.0999, people=people)

"""Rényi divergences of losses: against integrals and sums in many digits, and what they imply for (ε, δ)."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
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
    LaplaceNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Renyi,
    RenyiBound,
    RenyiFilter,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    delta,
    epsilon,
    renyi_of,
)
from discreet.accounting.conversions import concentrated_delta, concentrated_epsilon, order_delta, order_epsilon
from discreet.accounting.renyi import ORDERS, renyi_delta, renyi_epsilon
from discreet.core import Sensitivity

mp = mpmath.MPContext()
mp.dps = 40

#: Sums in 40 digits, and integrals by quadrature that is given up to 30 digits, are off by this, relatively.
SUMMED, INTEGRATED = mp.mpf(10) ** -32, mp.mpf(10) ** -24
#: A closed form in doubles is this accurate: its slack is 1e-13 of terms up to (α − 1)·ε + 1, over α − 1.
CLOSED = 1e-9
#: Sums over powers carry a slack of 1e-11 for each order.
SAMPLED = 1e-6

#: The least double: below it a δ of 0 is what can be said in this room; what is published adds it.
TINIEST = 5e-324

SOME = tuple(Fraction(order) for order in ("1.01", "1.5", "2", "3", "7.25", "32", "1000"))
WITHOUT = Sampling.WITHOUT_REPLACEMENT


def real(number):
    return mp.mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else mp.mpf(number)


def divergence(outcomes, order):
    """Return the divergence of order α of a list of (P, Q), in the worse direction."""
    alpha = real(order)
    sides = (outcomes, [(q, p) for p, q in outcomes])
    return max(mp.log(mp.fsum(p**alpha * q ** (1 - alpha) for p, q in side)) / (alpha - 1) for side in sides)


def stick(outcomes, eps):
    growth = mp.exp(real(eps))
    return max(mp.fsum(max(a - growth * b, 0) for a, b in ((x[i], x[1 - i]) for x in outcomes)) for i in (0, 1))


def holds(loss, truth, closeness, orders=SOME, error=SUMMED):
    """Check every stated divergence from below, strictly, and from above."""
    bound = renyi_of(loss, orders)
    assert bound.delta == 0
    for order, value in zip(orders, bound.values, strict=True):
        true = truth(order)
        assert true * (1 - error) <= real(value) <= true * (1 + closeness) + closeness


# Closed forms.


@pytest.mark.parametrize("reach", [Fraction(1, 50), Fraction(1), Fraction(6)])
def test_laplace_noise_has_the_divergence_that_integration_finds(reach):
    r = real(reach)

    def truth(order):
        alpha = real(order)
        # Densities e^−|x|/2 and e^−|x−r|/2; the integrand is smooth between the two kinks.
        inner = mp.quad(lambda x: mp.exp(-alpha * x - (1 - alpha) * (r - x)) / 2, [0, r])
        left, right = mp.exp(-(1 - alpha) * r) / 2, mp.exp(-alpha * r) / 2
        return mp.log(left + inner + right) / (alpha - 1)

    holds(LaplaceNoise(2, 2 * reach), truth, CLOSED, error=INTEGRATED)


@pytest.mark.parametrize("eps", [Fraction(1, 1000), Fraction(1, 2), Fraction(3), Fraction(60)])
def test_a_pure_loss_has_the_divergence_of_randomised_response(eps):
    odds = mp.exp(real(eps))
    outcomes = [(odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))]
    holds(Pure(eps), lambda order: divergence(outcomes, order), CLOSED)
    assert renyi_of(Approximate(eps, 1e-6), SOME).delta == Fraction(1, 10**6)
    values = zip(renyi_of(Approximate(eps, 1e-6), SOME).values, SOME, strict=True)
    assert all(real(value) >= divergence(outcomes, order) * (1 - SUMMED) for value, order in values)


@pytest.mark.parametrize(("truth", "categories"), [(Fraction(51, 100), 2), (Fraction(3, 4), 2), (Fraction(9, 10), 6)])
def test_randomised_response_has_the_divergence_of_its_sum(truth, categories):
    lie = (1 - real(truth)) / (categories - 1)
    outcomes = [(real(truth), lie), (lie, real(truth)), *[(lie, lie)] * (categories - 2)]
    holds(RandomisedResponse(truth, categories), lambda order: divergence(outcomes, order), CLOSED)


@pytest.mark.parametrize(("scale", "shift"), [(Fraction(1, 3), 2), (Fraction(2), 1), (Fraction(20), 7)])
def test_discrete_laplace_noise_has_the_divergence_of_its_sum(scale, shift):
    fall = mp.exp(-1 / real(scale))
    peak = (1 - fall) / (1 + fall)
    ends = [(fall**shift / (1 + fall), 1 / (1 + fall)), (1 / (1 + fall), fall**shift / (1 + fall))]
    inner = [(peak * fall ** (shift - x), peak * fall**x) for x in range(1, shift)]
    holds(DiscreteLaplaceNoise(scale, shift), lambda order: divergence([*ends, *inner], order), CLOSED)


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9)])
def test_discrete_gaussian_noise_never_diverges_more_than_the_ideal_one(variance):
    """Canonne, Kamath, Steinke 2020, Theorem 14: αΔ²/2σ². The sum runs over all that α moves the bulk to."""
    orders = tuple(Fraction(order) for order in ("1.01", "2", "7.25", "32"))
    weight = {x: mp.exp(-(x**2) / (2 * real(variance))) for x in range(-150, 152)}
    total = mp.fsum(weight.values())
    outcomes = [(weight[x - 1] / total, weight[x] / total) for x in range(-149, 152)]
    one = Sensitivity.box(l0=1, linf=1)
    bound = renyi_of(DiscreteGaussianNoise(variance, one), orders)
    for order, value in zip(orders, bound.values, strict=True):
        assert divergence(outcomes, order) * (1 - SUMMED) <= real(value)
        assert value == order / (2 * variance)


@pytest.mark.parametrize(
    ("loss", "rho"),
    [
        (GaussianNoise(3), Fraction(1, 18)),
        (GaussianNoise(3, 2), Fraction(4, 18)),
        (GaussianDP(0.5), Fraction(1, 8)),
        (Concentrated(0.3), Fraction(3, 10)),
        (Concentrated(0.3, 1e-6), Fraction(3, 10)),
        (DiscreteGaussianNoise(4, Sensitivity.box(l0=3, linf=2)), Fraction(12, 8)),
        (Group(GaussianNoise(3), 5), Fraction(25, 18)),
        (Repeated(GaussianNoise(3), 5), Fraction(5, 18)),
    ],
)
def test_gaussian_losses_diverge_by_rho_at_each_order_exactly(loss, rho):
    assert renyi_of(loss, SOME).values == tuple(order * rho for order in SOME)


@pytest.mark.parametrize("eps", [Fraction(1, 10), Fraction(2)])
def test_bounded_range_covers_the_divergence_of_each_of_its_mechanisms(eps):
    """Two outcomes with losses t and t − ε, for every t (Dong, Durfee, Rogers 2020)."""
    bound = renyi_of(BoundedRange(eps), SOME)
    for step in range(1, 40):
        top = real(eps) * step / 40
        chance = (1 - mp.exp(top - real(eps))) / (1 - mp.exp(-real(eps)))
        outcomes = [(chance, chance * mp.exp(-top)), (1 - chance, (1 - chance) * mp.exp(real(eps) - top))]
        for order, value in zip(SOME, bound.values, strict=True):
            assert real(value) >= divergence(outcomes, order) * (1 - SUMMED)
    assert all(value <= min(order * eps**2 / 8, eps) for order, value in zip(SOME, bound.values, strict=True))


def test_a_listed_pair_has_the_divergence_of_the_worse_direction():
    present, absent = (
        [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)],
        [Fraction(5, 10), Fraction(4, 10), Fraction(1, 10)],
    )
    outcomes = [(real(p), real(q)) for p, q in zip(present, absent, strict=True)]
    holds(DominatingPair(present, absent), lambda order: divergence(outcomes, order), CLOSED)
    assert renyi_of(DominatingPair(present, absent), SOME) == renyi_of(DominatingPair(absent, present), SOME)


def test_outcomes_that_tell_for_certain_are_left_out_and_counted_as_delta():
    """P = (1−δ)P′ + δP″: the shared outcomes diverge by what is stated, the others have a mass of at most δ."""
    sure = Fraction(1, 10**6)
    loss = DominatingPair(
        [Fraction(3, 4) - sure, Fraction(1, 4), sure, 0], [Fraction(1, 4), Fraction(3, 4) - 2 * sure, 0, 2 * sure]
    )
    bound = renyi_of(loss, SOME)
    assert 2 * sure <= bound.delta <= 2 * sure * (1 + Fraction(1, 10**9))
    shared = [(p, q) for p, q in zip(loss.present, loss.absent, strict=True) if p and q]
    scales = [sum(side) for side in zip(*shared, strict=True)]
    outcomes = [(real(p / scales[0]), real(q / scales[1])) for p, q in shared]
    for order, value in zip(SOME, bound.values, strict=True):
        assert (
            divergence(outcomes, order) * (1 - SUMMED)
            <= real(value)
            <= divergence(outcomes, order) * (1 + mp.mpf(10) ** -3)
        )


# Curves.


def test_a_curve_is_read_at_the_next_listed_order_and_promises_nothing_beyond():
    loss = Renyi([(8, 0.5), (2, 0.1)])
    orders = tuple(Fraction(order) for order in ("1.01", "2", "2.001", "8", "8.001"))
    assert renyi_of(loss, orders).values == (*[Fraction(1, 10)] * 2, *[Fraction(1, 2)] * 2, None)
    assert renyi_of(Repeated(loss, 3), orders).values == (*[Fraction(3, 10)] * 2, *[Fraction(3, 2)] * 2, None)


def test_divergences_of_releases_add_up_and_of_disjoint_parts_the_worst_counts():
    parts = [Pure(0.5), GaussianNoise(2), RandomisedResponse(0.6), Concentrated(0.1, 1e-7), Approximate(0.1, 1e-8)]
    bounds = [renyi_of(part, SOME) for part in parts]
    columns = list(zip(*(bound.values for bound in bounds), strict=True))
    deltas = [bound.delta for bound in bounds]
    assert renyi_of(Composed(parts), SOME) == RenyiBound(tuple(map(sum, columns)), sum(deltas))
    assert renyi_of(Parallel(parts), SOME) == RenyiBound(tuple(map(max, columns)), max(deltas))


@pytest.mark.parametrize(
    "loss",
    [
        LaplaceNoise(1),
        Pure(0.3),
        RandomisedResponse(0.9, 3),
        BoundedRange(2),
        DiscreteLaplaceNoise(3, 4),
        Subsampled(GaussianNoise(1), 0.1),
        Subsampled(LaplaceNoise(1), 0.5),
        Shuffled(Pure(1), 100),
        Composed([GaussianNoise(2), LaplaceNoise(1)]),
    ],
)
def test_divergences_grow_with_the_order(loss):
    values = renyi_of(loss, SOME).values
    assert all(low <= high * (1 + Fraction(1, 10**8)) + Fraction(1, 10**8) for low, high in pairwise(values))


def test_extreme_orders_and_losses_give_bounds():
    orders = (1 + Fraction(1, 10**6), Fraction(10**5))
    for loss in (
        Pure(300),
        LaplaceNoise(0.01),
        RandomisedResponse(1 - Fraction(1, 10**30)),
        DiscreteLaplaceNoise(Fraction(1, 300)),
    ):
        reach = epsilon(loss, 0)
        for value in renyi_of(loss, orders).values:
            assert 0 < value <= Fraction(reach) * (1 + Fraction(1, 10**9))
    for loss in (Pure(1e-9), LaplaceNoise(1e9), RandomisedResponse(Fraction(1, 2) + Fraction(1, 10**12))):
        for order, value in zip(orders, renyi_of(loss, orders).values, strict=True):
            assert value <= order * Fraction(epsilon(loss, 0)) ** 2


# Sampling.


@pytest.mark.parametrize(
    ("sigma", "rate"), [(1, Fraction(1, 100)), (Fraction(1, 2), Fraction(1, 10)), (3, Fraction(1, 2))]
)
def test_sampled_gaussian_noise_has_the_divergence_that_integration_finds_at_whole_orders(sigma, rate):
    """Both directions: removing a person is the worse one (Mironov, Talwar, Zhang 2019, Theorem 5), and is stated."""
    loss, orders = Subsampled(GaussianNoise(sigma), rate), (Fraction(2), Fraction(3), Fraction(8), Fraction(32))
    removed, added = (sampled_divergence(sigma, rate, orders, added=added) for added in (False, True))
    for stated, true, other in zip(renyi_of(loss, orders).values, removed, added, strict=True):
        assert other <= true
        assert true * (1 - INTEGRATED) <= real(stated) <= true * (1 + SAMPLED) + SAMPLED


#: Between whole orders and at them, near 1 and far from it.
FRACTIONAL = tuple(Fraction(order) for order in ("1.0001", "1.01", "1.5", "2", "2.5", "7.25", "32"))
#: Terms of the quadrature are off by 1e-8.
QUADRATURE = 1e-7


@pytest.mark.parametrize(
    ("sigma", "rate"),
    [
        (Fraction(2, 5), Fraction(1, 100)),
        (1, Fraction(1, 100)),
        (2, Fraction(1, 3)),
        (1, Fraction(1, 10**6)),
        (20, Fraction(1, 1000)),
        (Fraction(1, 5), Fraction(1, 1000)),
        (3, Fraction(99, 100)),
    ],
)
def test_sampled_gaussian_noise_has_the_divergence_that_integration_finds_at_every_order(sigma, rate):
    """Both directions: adding a person never diverges by more (Mironov, Talwar, Zhang 2019, Theorem 5)."""
    stated = renyi_of(Subsampled(GaussianNoise(sigma), rate), FRACTIONAL).values
    removed, added = (sampled_divergence(sigma, rate, FRACTIONAL, added=added) for added in (False, True))
    for value, true, other in zip(stated, removed, added, strict=True):
        assert other <= true * (1 + INTEGRATED)
        assert true <= real(value) <= true * (1 + QUADRATURE)


def test_several_gaussians_on_one_lot_are_one():
    lots = Subsampled(Composed([GaussianNoise(3), Repeated(GaussianNoise(6), 12)]), Fraction(1, 10))
    one = Subsampled(GaussianNoise(Fraction(3, 2)), Fraction(1, 10))
    both = zip(renyi_of(lots, FRACTIONAL).values, renyi_of(one, FRACTIONAL).values, strict=True)
    assert all(abs(a / b - 1) < QUADRATURE for a, b in both)


@pytest.mark.parametrize(
    ("reach", "rate"), [(1, Fraction(1, 100)), (Fraction(1, 10), Fraction(1, 2)), (4, Fraction(1, 9))]
)
def test_sampled_laplace_noise_has_the_divergence_that_integration_finds_at_every_order(reach, rate):
    """By the loss under Q: ends of mass 1/2 at −r and e^−r/2 at r, density e^(−(ℓ+r)/2)/4 in between."""
    r, q = real(reach), real(rate)

    def moment(power):
        def value(level):
            return (1 - q + q * mp.exp(level)) ** power

        inside = mp.quad(lambda level: value(level) * mp.exp(-(level + r) / 2) / 4, [-r, 0, r])
        return inside + value(-r) / 2 + value(r) * mp.exp(-r) / 2

    for order, stated in zip(
        FRACTIONAL, renyi_of(Subsampled(LaplaceNoise(1, reach), rate), FRACTIONAL).values, strict=True
    ):
        truths = [mp.log(moment(power)) / (real(order) - 1) for power in (real(order), 1 - real(order))]
        assert max(truths) * (1 - INTEGRATED) <= real(stated) <= max(truths) * (1 + mp.mpf(10) ** -3)


def test_filters_charge_lots_of_gaussian_noise_what_renyi_divergences_allow():
    """At σ = 0.4, a rate of 1 % and a thousand steps: 60.5 when divergences were drawn between whole orders."""
    run, small = Repeated(Subsampled(GaussianNoise(Fraction(2, 5)), Fraction(1, 100)), 1000), Fraction(1, 10**5)
    order = Fraction("1.58")
    assert epsilon(Renyi([(order, renyi_of(run, (order,)).values[0])]), small) < 31.6
    assert renyi_epsilon(run, small) < 31.9
    assert RenyiFilter(32, small, reserve=0, orders=[order]).fits(run)
    assert not RenyiFilter(31, small, reserve=0, orders=[order]).fits(run)
    assert RenyiFilter(40, small).fits(run)
    assert 27 < epsilon(run, small) < 27.8


def test_a_curve_is_used_at_the_orders_that_it_lists():
    loss = Renyi([(Fraction("1.58"), 13)])
    assert renyi_epsilon(loss, Fraction(1, 10**5)) == order_epsilon(Fraction("1.58"), Fraction(13), Fraction(1, 10**5))


def test_between_whole_orders_the_divergence_of_a_sampled_batch_is_never_understated():
    """Batches are interpolated between whole orders."""
    part = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]
    both = [(real(p * a), real(q * b)) for p, q in part for a, b in part]
    rate = mp.mpf(1) / 10
    mixed = [(rate * p + (1 - rate) * q, q) for p, q in both]
    stated = renyi_of(Subsampled(Repeated(RandomisedResponse(0.75), 2), 0.1), FRACTIONAL).values
    for order, value in zip(FRACTIONAL, stated, strict=True):
        assert real(value) >= divergence(mixed, order) * (1 - SUMMED)


def sampled_divergence(sigma, rate, orders, *, added):
    """Return the divergence of the mixture from noise without the person, or `added`, the other way round.

    By the trapezium rule, which errs by e^(−2πH/h) where the integrand is analytic up to a height of H, here πσ², and
    does not grow much below that: with a step h of σ²/16, or σ/16, far beyond all digits.
    """
    q, s = real(rate), real(sigma)
    step = min(s, s**2) / 16

    def moment(power):
        # M^power moves the bulk of the noise to anywhere between 0 and the power.
        first, last = (int(mp.floor(end / step)) for end in (-14 * s, max(0, power) + 14 * s))
        nodes = [k * step for k in range(first, last + 1)]
        return step * mp.fsum(mp.npdf(x, 0, s) * (1 - q + q * mp.exp((2 * x - 1) / (2 * s**2))) ** power for x in nodes)

    return [mp.log(moment(1 - real(a) if added else real(a))) / (real(a) - 1) for a in orders]


@pytest.mark.parametrize(
    ("part", "outcomes"),
    [
        (RandomisedResponse(0.75), [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]),
        (
            RandomisedResponse(0.5, 4),
            [(HALF := Fraction(1, 2), Fraction(1, 6)), (Fraction(1, 6), HALF), (Fraction(1, 3),) * 2],
        ),
    ],
)
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)])
def test_sampled_responses_have_the_divergence_of_their_sum(part, outcomes, rate):
    mixed = [(real(rate * p + (1 - rate) * q), real(q)) for p, q in outcomes]
    whole = tuple(Fraction(order) for order in (2, 3, 9, 64))
    holds(Subsampled(part, rate), lambda order: divergence(mixed, order), SAMPLED, whole)
    between = tuple(Fraction(order) for order in ("1.01", "1.7", "2.5", "20.3"))
    holds(Subsampled(part, rate), lambda order: divergence(mixed, order), SAMPLED, between)


@pytest.mark.parametrize("sampling", Sampling)
@pytest.mark.parametrize(
    "part",
    [
        GaussianNoise(1),
        Renyi([(2, 0.3), (16, 2)]),
        Approximate(1, 1e-6),
        Composed([LaplaceNoise(1), Concentrated(0.1)]),
        BoundedRange(1),
    ],
)
def test_sampling_never_raises_a_divergence(part, sampling):
    """Divergences are quasi-convex; so a lot never diverges by more than the whole table."""
    whole, lot = renyi_of(part, SOME), renyi_of(Subsampled(part, 0.3, sampling), SOME)
    assert lot.delta <= whole.delta
    for most, value in zip(whole.values, lot.values, strict=True):
        assert most is None or value <= most


# To (ε, δ).


def distributions(size):
    weights = st.lists(st.integers(1, 50), min_size=size, max_size=size)
    return weights.map(lambda counts: [Fraction(count, sum(counts)) for count in counts])


@settings(max_examples=60)
@given(distributions(4), distributions(4), st.sampled_from(ORDERS[::4]))
def test_what_one_divergence_implies_is_never_below_the_truth(present, absent, order):
    """For any two distributions, and any order (Canonne, Kamath, Steinke 2020, Proposition 12)."""
    outcomes = [(real(p), real(q)) for p, q in zip(present, absent, strict=True)]
    value = Fraction(int(divergence(outcomes, order) * 10**15) + 1, 10**15)
    for eps in (Fraction(0), Fraction(1, 3), Fraction(2)):
        assert order_delta(order, value, eps) >= stick(outcomes, eps)
    for allowed in (Fraction(1, 10), Fraction(1, 10**9)):
        assert stick(outcomes, Fraction(order_epsilon(order, value, allowed))) <= real(allowed)


@pytest.mark.parametrize("order", [Fraction(2), Fraction(5), Fraction(64)])
def test_some_mechanism_comes_close_to_what_one_divergence_implies(order):
    """Two outcomes, chosen so that one of them makes up the divergence: within a factor of two in δ."""
    alpha, eps = real(order), mp.mpf(3)
    target = stated = mp.mpf(0)
    for power in range(2, 80):
        rare = mp.exp(-mp.mpf(power) / 4)
        outcomes = [
            (rare, rare * mp.exp(-eps) * (1 - 1 / alpha)),
            (1 - rare, 1 - rare * mp.exp(-eps) * (1 - 1 / alpha)),
        ]
        value = mp.log(mp.fsum(p**alpha * q ** (1 - alpha) for p, q in outcomes)) / (alpha - 1)
        bound = order_delta(order, Fraction(int(value * 10**15) + 1, 10**15), Fraction(3))
        true = mp.fsum(max(p - mp.exp(eps) * q, 0) for p, q in outcomes)
        if true / bound > target:
            target, stated = true / bound, bound
    assert target > 0.5
    assert stated < 1


@pytest.mark.parametrize("order", [Fraction("1.01"), Fraction(2), Fraction(1000)])
def test_the_conversion_is_its_formula_rounded_up(order):
    """δ = e^((α−1)(D−ε))·(1 − 1/α)^α/(α − 1)."""
    alpha = real(order)
    for value, eps in [(Fraction(1, 2), Fraction(2)), (Fraction(3), Fraction(1)), (Fraction(1, 100), Fraction(0))]:
        true = min(mp.exp((alpha - 1) * real(value - eps)) * (1 - 1 / alpha) ** alpha / (alpha - 1), 1)
        assert true <= order_delta(order, value, eps) + TINIEST <= true * (1 + mp.mpf(10) ** -6) + 2 * TINIEST
    for allowed in (Fraction(1, 10**5), Fraction(1, 10**80)):
        true = real(Fraction(1, 2)) + (mp.log(1 - 1 / alpha) * (alpha - 1) - mp.log(alpha) - mp.log(real(allowed))) / (
            alpha - 1
        )
        stated = order_epsilon(order, Fraction(1, 2), allowed)
        assert max(true, 0) <= stated <= max(true, 0) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2), Fraction(20)])
def test_all_orders_together_are_no_worse_than_the_listed_ones(rho):
    loss = Concentrated(rho)
    for allowed in (Fraction(1, 100), Fraction(1, 10**9), Fraction(1, 10**40)):
        assert concentrated_epsilon(rho, allowed) <= renyi_epsilon(loss, allowed) * (1 + 1e-9)
        assert epsilon(loss, allowed) == min(concentrated_epsilon(rho, allowed), renyi_epsilon(loss, allowed))
    for eps in (Fraction(1, 10), Fraction(5)):
        assert concentrated_delta(rho, eps) <= renyi_delta(loss, eps) * (1 + 1e-9)


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(2)])
def test_the_failures_of_approximate_zcdp_come_off_delta_once(rho):
    failed, exactly = Fraction(1, 10**6), Concentrated(rho)
    loss = Concentrated(rho, failed)
    assert epsilon(loss, failed) == epsilon(loss, failed / 2) == math.inf
    for allowed in (failed * 2, Fraction(1, 10**3)):
        # As much as without failures at what is left of δ; the two searches differ by rounding.
        assert epsilon(loss, allowed) == pytest.approx(epsilon(exactly, allowed - failed), rel=CLOSED)
        assert epsilon(loss, allowed) > epsilon(exactly, allowed)
    for eps in (Fraction(1, 10), Fraction(3), Fraction(50)):
        assert delta(loss, eps) >= delta(exactly, eps) + float(failed) * (1 - CLOSED)
        assert delta(loss, eps) <= (delta(exactly, eps) + float(failed)) * (1 + CLOSED)


@pytest.mark.parametrize(
    "loss",
    [
        Repeated(LaplaceNoise(5), 20),
        Repeated(RandomisedResponse(0.6), 20),
        Repeated(Subsampled(GaussianNoise(1), 0.02), 200),
        GaussianNoise(1),
        Repeated(Approximate(0.1, 1e-8), 10),
    ],
)
def test_divergences_are_never_kinder_than_the_loss_distribution(loss):
    """Both are bounds; the distribution is the tight one, up to its grid of 4e-4."""
    for allowed in (Fraction(1, 1000), Fraction(1, 10**6)):
        assert renyi_epsilon(loss, allowed) >= epsilon(loss, allowed) * (1 - 1e-3)
    assert renyi_epsilon(Repeated(Approximate(0.1, 1e-8), 10), Fraction(1, 10**8)) == math.inf

"""Losses and what they promise: laws first, then known values."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    Pure,
    Repeated,
    approximate_of,
    bracket,
    calibrate_concentrated,
    calibrate_gaussian,
    concentrated_of,
    delta,
    epsilon,
    guarantee,
)
from discreet.core import DiscreetError, Sensitivity

#: What the numeric accountant may be off by, relative to ε.
ACCURACY = 1e-3
SMALL = st.fractions(Fraction(1, 1000), Fraction(3), max_denominator=1000)
LEAVES = st.one_of(
    SMALL.map(Pure),
    SMALL.map(BoundedRange),
    SMALL.map(Concentrated),
    st.tuples(SMALL, st.fractions(Fraction(1, 10**12), Fraction(1, 10**6))).map(lambda pair: Approximate(*pair)),
    st.tuples(SMALL, st.integers(1, 5)).map(
        lambda pair: DiscreteGaussianNoise(100 * pair[0], Sensitivity.box(l0=pair[1], linf=1))
    ),
)


@given(LEAVES, st.integers(1, 12))
def test_repeating_costs_the_same_as_writing_it_out(loss, times):
    listed, repeated = Composed([loss] * times), Repeated(loss, times)
    assert approximate_of(listed) == approximate_of(repeated)
    assert concentrated_of(listed) == concentrated_of(repeated)
    assert epsilon(listed, 1e-5) == epsilon(repeated, 1e-5)


@given(LEAVES, LEAVES)
def test_order_does_not_matter(one, other):
    assert epsilon(Composed([one, other]), 1e-5) == epsilon(Composed([other, one]), 1e-5)


@given(LEAVES)
def test_composing_with_nothing_changes_nothing(loss):
    assert concentrated_of(Composed([loss, Composed([])])) == concentrated_of(loss)
    assert approximate_of(Composed([Composed([]), loss])) == approximate_of(loss)


def test_nothing_costs_nothing():
    assert epsilon(Composed([]), 0) == 0
    assert delta(Composed([]), 0) == 0


@given(LEAVES, LEAVES)
def test_more_releases_never_cost_less(one, other):
    """By what is proved of one alone: its upper bound may be looser than that of both, for bounded range."""
    assert epsilon(Composed([one, other]), 1e-5) >= bracket(Composed([one]), 1e-5).lower * (1 - ACCURACY)


@given(st.tuples(LEAVES, SMALL).filter(lambda pair: 1e-90 < delta(*pair) < 0.9))
def test_epsilon_and_delta_tell_the_same_curve(pair):
    """Near δ = 1 a curve may be so flat that the accuracy of δ leaves ε open."""
    loss, eps = pair
    assert epsilon(loss, delta(loss, eps)) <= float(eps) * (1 + 1e-6) + 1e-6


@given(LEAVES, SMALL, SMALL)
def test_delta_falls_as_epsilon_grows(loss, one, other):
    low, high = sorted((one, other))
    assert delta(loss, high) <= delta(loss, low) * (1 + 1e-9)


def test_a_pure_loss_promises_its_epsilon_at_any_delta():
    assert epsilon(Pure(0.1), 0) == 0.1
    assert 0.1 * (1 - 1e-6) < epsilon(Pure(0.1), 1e-9) <= 0.1
    assert delta(Pure(1), 1) == 0
    assert epsilon(Repeated(Pure(0.1), 10), 0) == 1
    assert epsilon(Approximate(1, 1e-9), 0) == math.inf
    assert epsilon(Approximate(1, 1e-9), 1e-9) == 1


def test_many_small_losses_are_cheaper_together_than_their_sum():
    assert epsilon(Repeated(Pure(0.01), 1000), 1e-9) < 2.5


def test_the_conversion_from_zcdp_is_the_best_over_all_orders():
    """Against a dense scan of the formula of Canonne, Kamath, Steinke 2020, Proposition 12."""
    for rho, allowed in [(0.5, 1e-6), (0.01, 1e-9), (10, 1e-12), (1e-6, 1e-5)]:
        scan = min(
            a * rho + (math.log(1 / allowed) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1)
            for a in (1 + 10 ** (k / 400) for k in range(-1600, 3200))
        )
        stated = epsilon(Concentrated(rho), allowed)
        assert scan * (1 - 1e-4) <= stated <= max(scan, 0) * (1 + 1e-4) + 1e-9
        if stated > 0:
            assert delta(Concentrated(rho), stated) == pytest.approx(allowed, rel=1e-3)


def test_the_classic_conversion_from_zcdp_is_never_beaten_by_it():
    """Bun, Steinke 2016, Proposition 1.3: ε = ρ + 2√(ρ·ln(1/δ))."""
    for rho, allowed in [(0.5, 1e-6), (0.01, 1e-9), (10, 1e-12)]:
        assert epsilon(Concentrated(rho), allowed) < rho + 2 * math.sqrt(rho * math.log(1 / allowed))


@given(SMALL, st.sampled_from([1e-5, 1e-9]))
def test_calibration_ends_on_the_safe_side(eps, allowed):
    rho = calibrate_concentrated(eps, allowed)
    assert epsilon(Concentrated(rho), allowed) <= eps
    assert epsilon(Concentrated(rho * Fraction(101, 100)), allowed) > float(eps)


def test_a_guarantee_reads_as_a_sentence():
    assert str(guarantee(Pure(0.5))) == "ε = 0.5"
    assert str(guarantee(Pure(1.0000004))) == "ε = 1.00001"  # a text, too, is rounded against us
    assert str(guarantee(Approximate(1, 1e-9))) == "ε = ∞"
    assert str(guarantee(Approximate(0.5, 1e-9), 1e-9)) == "ε = 0.5 at δ = 1e-09"


@pytest.mark.parametrize(
    "call",
    [
        lambda: Pure(0),
        lambda: Pure(-1),
        lambda: Pure(True),
        lambda: Pure("1"),
        lambda: Pure(float("nan")),
        lambda: Approximate(1, 0),
        lambda: Approximate(1, 1),
        lambda: Approximate(1, 2),
        lambda: Concentrated(0),
        lambda: BoundedRange(None),
        lambda: Repeated(Pure(1), 0),
        lambda: Repeated(Pure(1), 1.5),
        lambda: Repeated(1, 2),
        lambda: Composed(Pure(1)),
        lambda: Composed([1]),
        lambda: DiscreteGaussianNoise(1, 1),
        lambda: DiscreteGaussianNoise(0, Sensitivity.box(l0=1, linf=1)),
        lambda: epsilon(1, 1e-9),
        lambda: epsilon(Pure(1), 1),
        lambda: epsilon(Pure(1), -1),
        lambda: epsilon(Pure(1), float("nan")),
        lambda: delta(Pure(1), -1),
        lambda: delta("Pure", 1),
        lambda: calibrate_concentrated(0, 1e-9),
        lambda: calibrate_concentrated(1, 0),
        lambda: calibrate_concentrated(1e-60, 1e-90),
        lambda: calibrate_gaussian(1e-60, 1e-90, Sensitivity.box(l0=1, linf=1)),
    ],
)
def test_wrong_calls_are_refused_with_a_fix(call):
    with pytest.raises(DiscreetError) as caught:
        call()
    assert caught.value.fix


def test_tails_of_the_smallest_floats_are_not_trusted():
    """Checked with 60 digits: 0.10385…; subnormal exponentials would say 0.0927."""
    assert delta(DiscreteGaussianNoise(4, Sensitivity.box(l0=1, linf=75)), Fraction("740.62")) >= 0.10385


@pytest.mark.parametrize("variance", [Fraction(1, 10**90), Fraction(1), Fraction(10**6), Fraction(10**90)])
@pytest.mark.parametrize("eps", [Fraction(1, 10**30), Fraction(1), Fraction(10**20), Fraction(10**90)])
@pytest.mark.parametrize(("l0", "linf"), [(1, 1), (1, 10**30), (10**9, 10**9)])
def test_extreme_numbers_give_a_bound_and_no_traceback(variance, eps, l0, linf):
    loss = DiscreteGaussianNoise(variance, Sensitivity.box(l0=l0, linf=linf))
    stated = delta(loss, eps)
    assert 0 <= stated <= 1
    # Far out on either side the answer is plain: the shift in deviations, against ε in the same measure.
    shift = math.sqrt(l0) * linf / math.sqrt(variance)
    if float(eps) > shift**2 / 2 + 45 * shift and shift > 1e-200:
        assert stated < 1e-100
    if float(eps) < shift**2 / 2 - 45 * shift:
        assert stated > 0.99
    assert epsilon(loss, 1e-9) >= 0

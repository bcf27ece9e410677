"""Calibration: what is found fits its target, a little less noise does not, and known answers are found."""

import math
from fractions import Fraction

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
    GaussianDP,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Shuffled,
    Subsampled,
    approximate_of,
    calibrate_concentrated,
    calibrate_gaussian,
    concentrated_of,
    delta,
    epsilon,
    largest_share,
    least_noise,
    most_times,
    optimal_epsilon,
)
from discreet.accounting.gaussian_curves import gaussian_delta
from discreet.core import InvalidInput, NotProved, OutOfRange, Sensitivity

mp = mpmath.MPContext()
mp.dps = 40

#: Searches know their answer to 1e-4 (`calibrate.CLOSE`). The cost falls with the noise as fast as the noise grows, or
#: faster, and grids cost 4e-4 of ε: so one part in a thousand less, and again as much for the grid, must show.
LITTLE = Fraction(999, 1000)
GRID = 1e-3

ONE = Sensitivity.box(l0=1, linf=1)

#: A family of losses that cost less with a larger parameter, and a target.
NOISES = {
    "Laplace": (LaplaceNoise, 1, 0),
    "Laplace, at a δ": (LaplaceNoise, Fraction(1, 3), Fraction(1, 100)),
    "ten Laplaces": (lambda scale: Repeated(LaplaceNoise(scale), 10), Fraction(1, 2), 0),
    "a hundred Laplaces": (lambda scale: Repeated(LaplaceNoise(scale), 100), 1, Fraction(1, 10**6)),
    "Gaussian": (GaussianNoise, 1, Fraction(1, 10**6)),
    "Gaussian, tiny ε": (GaussianNoise, Fraction(1, 10**4), Fraction(1, 10**9)),
    "Gaussian, large ε": (GaussianNoise, 50, Fraction(1, 10**9)),
    "Gaussians": (lambda sigma: Repeated(GaussianNoise(sigma), 50), 2, Fraction(1, 10**9)),
    "discrete Laplace": (lambda scale: DiscreteLaplaceNoise(scale, 3), Fraction(3, 7), 0),
    "discrete Gaussian": (lambda v: DiscreteGaussianNoise(v, ONE), 1, Fraction(1, 10**6)),
    "sampled Gaussian": (lambda s: Repeated(Subsampled(GaussianNoise(s), 0.01), 1000), 2, Fraction(1, 10**6)),
    "a batch": (
        lambda scale: Composed([LaplaceNoise(scale), GaussianNoise(2 * scale), Pure(0.1)]),
        1,
        Fraction(1, 10**6),
    ),
    "a group": (lambda scale: Group(LaplaceNoise(scale), 4), 1, 0),
    "disjoint parts": (lambda scale: Parallel([LaplaceNoise(scale), GaussianNoise(scale)]), 1, Fraction(1, 10**6)),
}


@pytest.mark.parametrize("name", NOISES)
def test_the_least_noise_fits_and_a_little_less_does_not(name):
    make, target, allowed = NOISES[name]
    found = least_noise(make, target, allowed)
    assert epsilon(make(found), allowed) <= target if allowed else approximate_of(make(found))[0] <= target
    assert delta(make(found), target) <= float(allowed) * (1 + 0.05)
    assert epsilon(make(found * LITTLE), allowed) > target * (1 - Fraction(GRID))
    assert epsilon(make(found * LITTLE**3), allowed) > target


@pytest.mark.parametrize(
    ("make", "rho", "answer"),
    [
        (GaussianNoise, 2, Fraction(1, 2)),
        (GaussianNoise, Fraction(1, 50), Fraction(5)),
        (lambda sigma: Repeated(GaussianNoise(sigma), 4), 2, Fraction(1)),
        (lambda variance: DiscreteGaussianNoise(variance, ONE), Fraction(1, 8), Fraction(4)),
        (LaplaceNoise, Fraction(1, 32), Fraction(4)),
    ],
)
def test_the_least_noise_for_a_rho_is_the_closed_form(make, rho, answer):
    """1/2σ² of each release, and ε²/2 of a pure one; the search may end one part in ten thousand above."""
    found = least_noise(make, rho=rho)
    assert concentrated_of(make(found))[0] <= rho
    assert answer <= found <= answer * (1 + Fraction(2, 10**4))


def test_pure_targets_are_reached_exactly():
    assert least_noise(lambda scale: Repeated(LaplaceNoise(scale), 10), 1) == 10
    assert least_noise(LaplaceNoise, 0.1) == 10
    assert least_noise(lambda scale: DiscreteLaplaceNoise(scale, 7), 0.5) == 14
    assert least_noise(lambda scale: Composed([LaplaceNoise(scale), Pure(0.75)]), 1) == 4
    assert largest_share(lambda each: Repeated(Pure(each), 8), 1) == Fraction(1, 8)
    assert largest_share(Pure, 3) == 3
    assert largest_share(lambda rho: Repeated(Concentrated(rho), 4), rho=1) == Fraction(1, 4)


def test_gaussian_noise_is_the_inverse_of_its_curve():
    """Balle, Wang 2018, Theorem 8, solved in 40 digits."""
    for target, allowed in ((1, "1e-6"), (0.1, "1e-9"), (8, "1e-5")):

        def off(sigma, target=target, allowed=allowed):
            mu = 1 / sigma
            level = mp.ncdf(mu / 2 - target / mu) - mp.exp(target) * mp.ncdf(-mu / 2 - target / mu)
            return mp.log(level) - mp.log(mp.mpf(allowed))

        true = mp.findroot(off, mp.sqrt(2 * mp.log(1 / mp.mpf(allowed))) / target, tol=1e-20)
        found = least_noise(GaussianNoise, target, Fraction(allowed))
        assert true <= mp.mpf(found.numerator) / found.denominator <= true * (1 + mp.mpf("2e-4"))
        mu = largest_share(GaussianDP, target, Fraction(allowed))
        assert 1 / true * (1 - mp.mpf("2e-4")) <= mp.mpf(mu.numerator) / mu.denominator <= 1 / true


@pytest.mark.parametrize(
    ("make", "target", "allowed"),
    [
        (lambda each: Repeated(Pure(each), 10), 1, Fraction(1, 10**9)),
        (lambda each: Repeated(BoundedRange(each), 30), 2, Fraction(1, 10**6)),
        (lambda each: Repeated(Approximate(each, Fraction(1, 10**9)), 20), 1, Fraction(1, 10**6)),
        (Concentrated, 1, Fraction(1, 10**6)),
        (lambda rate: Repeated(Subsampled(GaussianNoise(1), min(rate, 1)), 1000), 2, Fraction(1, 10**6)),
        (lambda size: Shuffled(Pure(size), 100), Fraction(1, 2), Fraction(1, 10**6)),
    ],
    ids=["sparse vectors", "choices", "approximate", "zCDP", "lots", "reports"],
)
def test_the_largest_share_fits_and_a_little_more_does_not(make, target, allowed):
    found = largest_share(make, target, allowed)
    assert epsilon(make(found), allowed) <= target
    assert epsilon(make(found / LITTLE**3), allowed) > target


def test_many_equal_shares_are_those_of_optimal_composition():
    found = largest_share(lambda each: Repeated(Pure(each), 10), 1, 1e-9)
    assert optimal_epsilon(found, 0, 10, 1e-9) <= 1
    assert optimal_epsilon(found / LITTLE**2, 0, 10, 1e-9) > 1


TIMES = {
    "pure": (Pure(0.1), 1, 0),
    "pure, at a δ": (Pure(0.1), 1, Fraction(1, 10**6)),
    "Laplace": (LaplaceNoise(20), 2, Fraction(1, 10**5)),
    "Gaussian": (GaussianNoise(30), 1, Fraction(1, 10**6)),
    "responses": (RandomisedResponse(0.6), 5, Fraction(1, 10**6)),
    "lots": (Subsampled(GaussianNoise(1), 0.01), 2, Fraction(1, 10**5)),
    "zCDP": (Concentrated(0.001), 1, Fraction(1, 10**6)),
    "approximate": (Approximate(0.1, Fraction(1, 10**7)), 3, Fraction(1, 10**5)),
    "a curve": (Renyi([(2, 0.001), (16, 0.01), (64, 0.05)]), 1, Fraction(1, 10**5)),
}


@pytest.mark.parametrize("name", TIMES)
def test_the_most_times_fit_and_once_more_does_not(name):
    part, target, allowed = TIMES[name]
    times = most_times(part, target, allowed)
    assert times > 1
    assert epsilon(Repeated(part, times), allowed) <= target
    # Grids of neighbouring counts differ: what is one more must not fit, or be within the grid's cost.
    assert epsilon(Repeated(part, times + 1), allowed) > target * (1 - Fraction(GRID))


def test_known_numbers_of_times():
    assert most_times(Pure(0.1), 1) == 10
    assert most_times(Pure(Fraction(1, 3)), 1) == 3
    assert most_times(LaplaceNoise(100), 1) == 100
    assert most_times(Composed([Pure(0.1), Pure(0.2)]), 1) == 3
    assert most_times(Concentrated(0.1), rho=1) == 10
    assert most_times(GaussianNoise(5), rho=1) == 50
    assert most_times(Pure(2), 1) == most_times(GaussianNoise(1), 1) == most_times(Approximate(0.1, 0.1), 1, 0.01) == 0
    assert most_times(Pure(0.1), 1 - Fraction(1, 10**30)) == 9
    # Compositions of Gaussians are Gaussian: σ²·μ² of them, with μ the largest that fits (Dong, Roth, Su 2022).
    mu = largest_share(GaussianDP, 1, Fraction(1, 10**6))
    assert abs(most_times(GaussianNoise(30), 1, Fraction(1, 10**6)) - 900 * mu**2) <= 1


@settings(max_examples=30)
@given(
    st.fractions(Fraction(1, 100), Fraction(20), max_denominator=100),
    st.sampled_from([Fraction(1, 100), Fraction(1, 10**12)]),
)
def test_rho_is_the_largest_that_implies_the_target(target, allowed):
    rho = calibrate_concentrated(target, allowed)
    assert epsilon(Concentrated(rho), allowed) <= target
    assert epsilon(Concentrated(rho * (1 + Fraction(1, 10**6))), allowed) > target


@pytest.mark.parametrize("sensitivity", [ONE, Sensitivity.box(l0=3, linf=2), Sensitivity.l2_ball(5)])
@pytest.mark.parametrize(
    ("target", "allowed"), [(Fraction(1, 2), Fraction(1, 10**6)), (Fraction(6), Fraction(1, 10**9))]
)
def test_the_least_variance_fits_and_a_little_less_does_not(sensitivity, target, allowed):
    variance = calibrate_gaussian(target, allowed, sensitivity)
    loss = DiscreteGaussianNoise(variance, sensitivity)
    assert epsilon(loss, allowed) <= target
    assert delta(loss, target) <= float(allowed) * (1 + 1e-6)  # another search, which ends on its own safe side
    assert gaussian_delta(variance * LITTLE, sensitivity, target) > allowed
    assert variance <= concentrated_variance(target, allowed, sensitivity)


def concentrated_variance(target, allowed, sensitivity):
    """Return the variance that zCDP alone would ask for."""
    return sensitivity.l2_squared / (2 * calibrate_concentrated(target, allowed))


def test_targets_out_of_reach_are_refused_and_not_guessed():
    for call in (
        lambda: least_noise(lambda scale: Composed([LaplaceNoise(scale), Pure(2)]), 1),
        lambda: least_noise(GaussianNoise, 1),
        lambda: least_noise(lambda _: Pure(1), 2),
        lambda: largest_share(lambda _: Pure(1), 2),
        lambda: largest_share(lambda _: Pure(3), 2),
        lambda: largest_share(Pure, 1e-80),
        lambda: most_times(Composed([]), 1),
        lambda: most_times(Pure(1e-12), 1),
    ):
        with pytest.raises(OutOfRange):
            call()


def test_a_target_in_rho_asks_for_losses_that_have_one():
    for part in (Renyi([(2, 0.1)]), Approximate(0.1, 1e-9), Concentrated(0.1, 1e-9)):
        with pytest.raises(NotProved):
            most_times(part, rho=1)
    with pytest.raises(InvalidInput):
        least_noise(GaussianNoise, rho=1, delta=1e-6)


def test_small_and_large_answers_are_found():
    assert Fraction(1, 10**6) <= least_noise(LaplaceNoise, 10**6) <= Fraction(10002, 10**10)
    assert 10**9 <= least_noise(LaplaceNoise, Fraction(1, 10**9)) <= 10**9 * Fraction(10002, 10000)
    assert approximate_of(LaplaceNoise(least_noise(LaplaceNoise, Fraction(1, 3))))[0] <= Fraction(1, 3)
    assert math.isclose(least_noise(LaplaceNoise, Fraction(1, 3)), 3, rel_tol=1.1e-4)
    assert most_times(Pure(Fraction(1, 10**8)), 1) == 10**8

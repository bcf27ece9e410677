"""The curve of Gaussian noise in closed form: its bounds are proofs at any μ and δ, and hardly apart."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.accounting import (
    Composed,
    GaussianDP,
    GaussianNoise,
    Group,
    Parallel,
    Repeated,
    Subsampled,
    bracket,
    delta,
    epsilon,
)
from discreet.accounting import gaussian_curves as gaussian_curve
from discreet.accounting.gaussian_curves import curve_delta, curve_epsilon
from discreet.accounting.pld.dominating_pairs import gaussian_mu

#: What a bound may cost: so much of ε, or of δ where ε hangs on the last digits of δ.
CLOSE = Fraction(1, 10**10)
#: Most faint, most vast: what is worked out at all (see `gaussian_curve.FAINT` and `VAST`), in powers of ten.
EXTREMES = (-99.9, 150.0)


def true_delta(square, at):
    """Return δ at μ² and ε from the definition, in as many digits as the differences in it lose, and sixty more."""
    size = abs(math.log10(square)) + abs(math.log10(at) if at else 0)
    with mpmath.workdps(60 + int(2 * size) + 170):
        m, e = mpmath.sqrt(rational(square)), rational(at)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def rational(number):
    exactly = Fraction(number)
    return mpmath.mpf(exactly.numerator) / exactly.denominator


def drawn(seed, count):
    """Yield μ² and δ, log-uniform: from end to end, near what people ask for, near δ(0), and with δ near 1."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield square_of(rng.uniform(*EXTREMES)), 10 ** rng.uniform(-323.3, 0)
        yield square_of(rng.uniform(-6, 6)), 10 ** rng.uniform(-100, 0)
        yield square_of(rng.uniform(-2, 2)), 10 ** rng.uniform(-12, 0)
        yield square_of(rng.uniform(-2, 8)), 1 - 10 ** rng.uniform(-6, 0)
        least = rng.uniform(-99.9, 0.5)
        yield square_of(least), math.erf(10**least / math.sqrt(8)) * (1 - 10 ** rng.uniform(-15, 0))


def square_of(power):
    """Return the square of a power of ten, but for some digits that floats do not have."""
    return Fraction(10**power) ** 2 * Fraction(3 * 10**17 + 1, 3 * 10**17)


def assert_encloses(square, allowed):
    """Assert that the bounds enclose the least ε at δ, and that CLOSE less, or more, would not."""
    low, high = curve_epsilon(square, Fraction(allowed))
    assert 0 <= low <= high < math.inf
    with mpmath.workdps(60):
        goal = rational(allowed)
        assert true_delta(square, high) <= goal
        assert low == 0 or true_delta(square, low) >= goal
        assert high == 0 or true_delta(square, Fraction(high) * (1 - CLOSE)) >= goal * (1 - rational(CLOSE))
        assert true_delta(square, Fraction(low) * (1 + CLOSE)) <= goal * (1 + rational(CLOSE))


def test_epsilon_is_enclosed_from_the_faintest_to_the_most_vast():
    for square, allowed in drawn(20240611, 80):
        assert_encloses(square, allowed)


@pytest.mark.parametrize("allowed", [5e-324, 1e-323, 2.3e-308, 1e-100, 1e-5, 0.3, 0.5, 0.999999])
@pytest.mark.parametrize("mu", [1e-99, 1e-9, 0.1, 1.0, 2.0, 2.001, 8.0, 76.0, 1e8, 1e16, 1e17, 1e20, 1e150])
def test_epsilon_is_enclosed_where_the_formulas_change(mu, allowed):
    assert_encloses(Fraction(mu) ** 2, allowed)


def test_delta_is_enclosed_on_both_sides_of_every_change_of_formula():
    """ε/μ around 2 and around FAR, μ/2 around 1/16 and around ε/μ/16, and a around −1."""
    for centre in (0.0, 0.5, 1.999, 2.0, 4.9, 5.0, 5.1, 30.0):
        around = (1e-6 + centre / 16.01, 1e-6 + centre / 15.99, centre + 0.99, centre + 1.01)
        for half in (1e-6, 0.0624, 0.0626, 0.1249, 0.1251, *around):
            square, at = Fraction(2 * half) ** 2, Fraction(centre) * Fraction(2 * half)
            low, high = curve_delta(square, at)
            with mpmath.workdps(60):
                assert low <= true_delta(square, at) <= high
            assert high - low <= 1e-10 * high


@pytest.mark.parametrize("power", [8.1, 12.3, 15.6, 16.2, 16.9, 17.4, 18.3, 19.1, 20.2, 25.7])
def test_of_digits_that_floats_do_not_have_nothing_is_concluded(power):
    """A huge μ²/2 and ε differ in just those."""
    for part in range(-8, 9, 2):
        square = Fraction(10.0**power) ** 2 * (1 + Fraction(part, 2**55))
        for units in range(-16, 17):
            at = Fraction(float(square / 2) * (1 + units * 2.0**-52))
            low, high = curve_delta(square, at)
            with mpmath.workdps(60):
                assert low <= true_delta(square, at) <= high


@pytest.mark.parametrize("guess", [(0.0, 1e-9), (1e-3, 1e-20), (1e6, 1.0), (math.inf, 1.0), (math.nan, math.nan)])
def test_a_poor_guess_costs_time_and_not_the_proof(monkeypatch, guess):
    monkeypatch.setattr(gaussian_curve, "_guess", lambda _mu, _goal: guess)
    for mu, allowed in ((1e-5, 1e-9), (0.6, 1e-5), (20.0, 1e-30), (3.0, 0.8)):
        square = Fraction(mu) ** 2
        low, high = curve_epsilon(square, Fraction(allowed))
        with mpmath.workdps(60):
            assert true_delta(square, high) <= rational(allowed)
            assert low == 0 or true_delta(square, low) >= rational(allowed)


def test_the_bisection_is_close_when_the_guess_is_none(monkeypatch):
    monkeypatch.setattr(gaussian_curve, "_guess", lambda _mu, _goal: (math.nan, math.nan))
    for square, allowed in drawn(7, 4):
        _, high = curve_epsilon(square, Fraction(allowed))
        with mpmath.workdps(60):
            assert true_delta(square, high) <= rational(allowed)
            less = Fraction(high) * (1 - CLOSE)
            assert high == 0 or true_delta(square, less) >= rational(allowed) * (1 - rational(CLOSE))


def test_the_guess_is_good_enough_to_be_tried_at_once(monkeypatch):
    """Where it were not, every answer would be bisected for, which takes twenty times as long."""
    monkeypatch.setattr(gaussian_curve, "_bisect_epsilon", lambda _mu, _goal: pytest.fail("bisected"))
    for square, allowed in drawn(8, 200):
        curve_epsilon(square, Fraction(allowed))


def test_beyond_the_range_nothing_is_promised():
    assert curve_epsilon(Fraction(1, 10**400), Fraction(1, 10**100)) == (0.0, 0.0)
    assert curve_epsilon(Fraction(1, 10**400), Fraction(1, 10**120)) == (0.0, math.inf)
    assert curve_epsilon(Fraction(10**400), Fraction(1, 2)) == (0.0, math.inf)
    assert curve_delta(Fraction(10**400), Fraction(1)) == (0.0, 1.0)
    assert curve_delta(Fraction(1), Fraction(10**400)) == (0.0, 5e-324)


def test_what_epsilon_says_delta_agrees_with():
    for sigma, times, allowed in ((50, 1000, 1e-5), (1, 1, 1e-30), (0.1, 3, 0.5), (1000, 1, 1e-4)):
        loss = Repeated(GaussianNoise(sigma), times)
        assert delta(loss, epsilon(loss, allowed)) <= allowed


GAUSSIANS = [
    (GaussianNoise(2), Fraction(1, 4)),
    (GaussianDP(Fraction(1, 3)), Fraction(1, 9)),
    (Repeated(GaussianNoise(50), 1000), Fraction(2, 5)),
    (Composed([GaussianNoise(2), GaussianNoise(2), GaussianDP(1), Composed([])]), Fraction(3, 2)),
    (Repeated(Composed([GaussianNoise(2), Repeated(GaussianDP(1), 2)]), 3), Fraction(27, 4)),
    (Group(Repeated(GaussianNoise(1, 2), 5), 3), Fraction(180)),
    (Group(GaussianDP(1), 1), Fraction(1)),
    (Subsampled(GaussianNoise(1), 1), Fraction(1)),
    (Parallel([GaussianNoise(1), GaussianNoise(1)]), Fraction(1)),
]


@pytest.mark.parametrize(("loss", "square"), GAUSSIANS)
def test_gaussians_are_one_gaussian_however_they_are_written(loss, square):
    assert gaussian_mu(loss) == square
    low, high = curve_epsilon(square, Fraction(1, 10**6))
    assert epsilon(loss, 1e-6) == high
    assert (bracket(loss, 1e-6).lower, bracket(loss, 1e-6).upper) == (low, high)
    assert delta(loss, 1) == curve_delta(square, Fraction(1))[1]
    assert math.isinf(epsilon(loss, 0))


@pytest.mark.parametrize(
    "loss",
    [
        Composed([]),
        Parallel([]),
        Subsampled(GaussianNoise(1), 0.5),
        Parallel([GaussianNoise(1), GaussianNoise(2)]),
        Group(Parallel([GaussianNoise(1)]), 2),
    ],
)
def test_what_is_no_single_gaussian_is_not_taken_for_one(loss):
    assert gaussian_mu(loss) is None

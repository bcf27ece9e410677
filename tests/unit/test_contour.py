"""The oracle of the numeric accountant is itself checked: against closed forms, other lines and other quadratures."""

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from contour import (
    NotDecaying,
    bounded_range,
    checked_delta,
    composed,
    gaussian,
    laplace,
    laplace_delta,
    lattice_delta,
    pure,
    randomised_response,
    randomised_response_delta,
    saddle,
    subsampled_epsilon,
    subsampled_gaussian,
    subsampled_laplace,
    true_delta,
    true_epsilon,
)

#: Digits of the integral along a line: rounding of K, grown by the number of repetitions.
LINE = 1e-9


def balle_wang(mu, epsilon):
    """Return δ of the Gaussian mechanism (Balle, Wang 2018, Theorem 8)."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("sigma", "times", "epsilon"), [(50, 1000, 1.0), (1, 1, 1.0), (1, 1, 8.0), (0.5, 100, 284.0)])
def test_the_gaussian_has_its_closed_form(sigma, times, epsilon):
    found = checked_delta(composed([(gaussian(sigma), times)]), epsilon)
    assert found == pytest.approx(balle_wang(math.sqrt(times) / sigma, epsilon), rel=LINE)


@pytest.mark.parametrize("scale", [0.5, 1, 10])
def test_one_laplace_has_its_closed_form(scale):
    """Balle, Barthe, Gaboardi 2020, Theorem 3."""
    assert laplace_delta(scale, 1, 0.5 / scale) == pytest.approx(-math.expm1(-0.25 / scale), rel=1e-12)


@pytest.mark.parametrize(("scale", "times", "epsilon"), [(1, 60, 15.0), (2, 100, 15.0)])
def test_the_line_and_the_residues_agree_on_laplace(scale, times, epsilon):
    assert checked_delta(composed([(laplace(scale), times)]), epsilon) == pytest.approx(
        laplace_delta(scale, times, epsilon), rel=LINE
    )


def test_few_laplaces_are_too_rough_for_the_line_and_it_says_so(monkeypatch):
    monkeypatch.setattr("contour.MOST_NODES", 5_000)
    with pytest.raises(NotDecaying):
        true_delta(laplace(1.0), 0.5)


def test_randomised_response_is_a_binomial_sum():
    truth, times, epsilon = 0.6, 40, 2.0
    level = math.log(0.6 / 0.4)
    yes = np.arange(times + 1)
    losses = (2 * yes - times) * level
    odds = stats.binom.pmf(yes, times, truth) * np.maximum(0, 1 - np.exp(epsilon - losses))
    assert randomised_response_delta(truth, 2, times, epsilon) == pytest.approx(odds.sum(), rel=1e-12)


def test_a_lattice_mixed_with_a_gaussian_is_the_average_over_the_lattice():
    """δ of both = E over the lattice's loss l of δ_gauss(ε − l)."""
    truth, times, epsilon, mu = 0.6, 10, 2.0, 0.7
    level = math.log(0.6 / 0.4)
    masses = [(stats.binom.pmf(yes, times, truth), (2 * yes - times) * level) for yes in range(times + 1)]
    direct = sum(mass * balle_wang(mu, epsilon - loss) for mass, loss in masses)
    both = composed([(randomised_response(truth), times), (gaussian(1 / mu), 1)])
    assert checked_delta(both, epsilon) == pytest.approx(direct, rel=LINE)


def test_a_lattice_keeps_the_mass_of_the_middle():
    assert lattice_delta({1: 0.5, 0: 0.3, -1: 0.2}, 1.0, 1, 0.0) == pytest.approx(0.5 * -math.expm1(-1), rel=1e-14)


def test_bounded_range_and_pure_have_the_moments_of_their_losses():
    epsilon, order = 0.7, 1.5 + 2j
    weight = integrate.quad(lambda x: math.exp(x / 2), -epsilon, epsilon)[0]
    mean = integrate.quad(lambda x: np.exp(x / 2 + order * x), -epsilon, epsilon, complex_func=True)[0] / weight
    assert np.exp(bounded_range(epsilon)(np.array([order])))[0] == pytest.approx(mean, rel=1e-12)
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    mean = truth * np.exp(order * epsilon) + (1 - truth) * np.exp(-order * epsilon)
    assert np.exp(pure(epsilon)(np.array([order])))[0] == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(("sigma", "rate", "order"), [(1, 0.01, 3 + 5j), (0.3, 0.01, 0.1 + 3j), (2, 0.3, 20 - 4j)])
def test_the_moments_of_the_subsampled_gaussian_agree_with_another_quadrature(sigma, rate, order, added):
    power = -order if added else 1 + order
    with mpmath.workdps(30):

        def integrand(x):
            odds = mpmath.exp((2 * x - 1) / (2 * mpmath.mpf(sigma) ** 2))
            return mpmath.npdf(x, 0, sigma) * (1 - rate + rate * odds) ** mpmath.mpc(power)

        panels = list(range(-int(10 * sigma + 3), int(10 * sigma + 25)))
        other = complex(mpmath.log(mpmath.quad(integrand, panels)))
    found = subsampled_gaussian(sigma, rate, added=added)(np.array([order]))[0]
    assert abs(found - other) <= 1e-13 * max(1, abs(other))


@pytest.mark.parametrize("added", [False, True])
def test_a_finer_quadrature_changes_nothing(added):
    moments = subsampled_gaussian(0.8, 0.02, added=added)
    orders = 3 + 1j * np.linspace(0, 40, 9)
    assert np.max(np.abs(moments(orders) - moments(orders, fineness=1.37))) <= 1e-14


@pytest.mark.parametrize("added", [False, True])
def test_two_lines_agree_on_the_subsampled_gaussian(added):
    moments = composed([(subsampled_gaussian(1, 0.01, added=added), 10_000)])
    theta = saddle(moments, 6.0)
    assert true_delta(moments, 6.0, theta) == pytest.approx(true_delta(moments, 6.0, theta * 1.3), rel=LINE)


@pytest.mark.parametrize("added", [False, True])
def test_the_moments_of_the_subsampled_laplace_agree_with_another_quadrature(added):
    scale, rate, order = 0.7, 0.2, 2 + 9j
    power = -order if added else 1 + order

    def integrand(x):
        odds = math.exp((abs(x) - abs(x - 1)) / scale)
        return math.exp(-abs(x) / scale) / (2 * scale) * (1 - rate + rate * odds) ** power

    kwargs = {"complex_func": True, "epsabs": 1e-13, "epsrel": 1e-13}
    other = sum(integrate.quad(integrand, a, b, **kwargs)[0] for a, b in ((-40, 0), (0, 1), (1, 41)))
    found = subsampled_laplace(scale, rate, added=added)(np.array([order]))[0]
    assert found == pytest.approx(np.log(other), rel=1e-10)


def test_sampling_everybody_is_the_plain_mechanism():
    almost = composed([(subsampled_gaussian(2, 1 - 1e-12), 10)])
    assert true_epsilon(almost, 1e-6) == pytest.approx(true_epsilon(composed([(gaussian(2), 10)]), 1e-6), rel=1e-8)


@pytest.mark.parametrize(
    ("sigma", "rate", "times", "delta", "low", "high"),
    [
        (1, 0.01, 10_000, 1e-5, 6.1857, 6.18775),
        (1, 0.001, 100_000, 1e-12, 2.8, 2.95),
        (0.3, 0.01, 10_000, 1e-5, 296.75, 296.85),
        (1, 0.2, 500, 1e-5, 38.165, 38.175),
    ],
)
def test_well_known_runs_lie_where_others_bracketed_them(sigma, rate, times, delta, low, high):
    assert low <= subsampled_epsilon(sigma, rate, times, delta) <= high

"""The Gaussian mechanism: the exact curve, the three calibrations, its error and its distribution."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.accounting import Concentrated, DiscreteGaussianNoise, concentrated_of, delta, epsilon
from discreet.accounting.gaussian_curves import tail
from discreet.core import NotProved, Sensitivity, counting_query, histogram
from discreet.mechanisms import Gaussian
from scripted import Seeded

BOXES = [Sensitivity.box(l0=k, linf=c) for k, c in [(1, 1), (1, 3), (2, 1), (3, 1), (2, 2)]]
VARIANCES = [Fraction(1, 2), Fraction(1), Fraction(5), Fraction(40)]


def masses(variance):
    """Return the discrete Gaussian's probabilities on −reach … reach."""
    reach = math.ceil(12 * math.sqrt(variance)) + 4
    points = np.arange(-reach, reach + 1)
    weights = np.exp(-(points**2) / (2 * float(variance)))
    return reach, weights / weights.sum()


def true_delta(variance, shift, eps):
    """Return δ for a shift vector by summing over all outputs: Σ max(0, P(y − shift) − e^ε·P(y))."""
    _, mass = masses(variance)
    left = right = np.ones(())
    for d in shift:
        wide = np.zeros(len(mass) + 2 * abs(d))
        here, there = wide.copy(), wide.copy()
        here[abs(d) : abs(d) + len(mass)] = mass
        start = abs(d) + d
        there[start : start + len(mass)] = mass
        left, right = np.multiply.outer(left, there), np.multiply.outer(right, here)
    return float(np.maximum(left - math.exp(eps) * right, 0).sum())


def shifts(box):
    """Yield the integer vectors that the sensitivity allows, up to symmetry."""
    for vector in product(range(box.linf + 1), repeat=box.l0):
        if any(vector) and tuple(sorted(vector)) == vector:
            yield vector


@pytest.mark.parametrize("box", BOXES, ids=lambda box: f"{box.l0}x{box.linf}")
@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_the_stated_delta_covers_every_shift_and_is_tight(box, variance):
    if box.l0 == 3 and variance > 10:
        variance = Fraction(10)  # three dimensions are summed over all outputs
    for eps in (Fraction(1, 10), Fraction(1), Fraction(3)):
        stated = delta(DiscreteGaussianNoise(variance, box), eps)
        worst = max(true_delta(variance, shift, float(eps)) for shift in shifts(box))
        assert stated >= worst * (1 - 1e-9) - 1e-30  # the reference ends 12 deviations out
        # The comparison of a sum of draws with one draw (Kairouz, Liu, Steinke) is loose for tiny variances.
        if worst > 1e-12 and (box.l0 == 1 or variance >= 5):
            assert stated <= 1.01 * worst


def test_a_larger_shift_never_has_a_smaller_delta():
    for variance in (Fraction(1), Fraction(7)):
        for eps in (0.1, 1.0):
            curve = [true_delta(variance, (d,), eps) for d in range(1, 8)]
            assert curve == sorted(curve)


@pytest.mark.parametrize("variance", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_sum_of_draws_is_as_near_to_one_draw_as_the_theorem_says(variance, count):
    """Kairouz, Liu, Steinke 2021, Theorem 1, which the vector case rests on."""
    reach, mass = masses(Fraction(variance))
    total = mass
    for _ in range(count - 1):
        total = np.convolve(total, mass)
    points = np.arange(-count * reach, count * reach + 1)
    one = np.exp(-(points**2) / (2 * count * variance))
    one /= one.sum()
    kept = one > 1e-14
    slip = 10 * sum(math.exp(-2 * math.pi**2 * variance * j / (j + 1)) for j in range(1, count))
    assert np.abs(np.log(total[kept] / one[kept])).max() <= slip + 1e-9


@pytest.mark.parametrize("width", [0.3, 1.0, 30.0, 999.0, 1001.0, 5000.0])
def test_tails_lie_within_their_bounds(width):
    points = np.arange(-int(13 * width) - 5, int(13 * width) + 6)
    weights = np.exp(-((points / width) ** 2) / 2)
    for start in [-int(2 * width), 0, 1, int(width / 2) + 1, int(width) + 2, int(4 * width), int(7 * width)]:
        true = math.fsum(weights[points >= start]) / math.fsum(weights)
        low, high = tail(width, start)
        assert low * (1 - 1e-9) <= true <= high * (1 + 1e-9)
        assert high - low <= 1e-5 * true + 1e-299 or width > 1000
        assert high - low <= 1e-4 * max(true, 1e-12)


def test_the_cost_in_zcdp_is_the_theorem():
    mechanism = Gaussian.for_rho(Fraction(1, 8), histogram())
    assert mechanism.variance == 4
    assert concentrated_of(mechanism.cost) == (Fraction(1, 8), 0)


@pytest.mark.parametrize("eps", [0.1, 0.5, 1, 4])
@pytest.mark.parametrize("allowed", [1e-5, 1e-9])
@pytest.mark.parametrize("box", BOXES, ids=lambda box: f"{box.l0}x{box.linf}")
def test_exact_calibration_meets_its_target_with_less_noise_than_zcdp(eps, allowed, box):
    mechanism = Gaussian.for_epsilon_delta(eps, allowed, box)
    assert epsilon(mechanism.cost, allowed) <= eps
    assert delta(mechanism.cost, eps) <= allowed
    assert epsilon(Concentrated(concentrated_of(mechanism.cost)[0]), allowed) >= eps * (1 - 1e-9)
    # One part in a thousand less variance would not do.
    less = DiscreteGaussianNoise(mechanism.variance * Fraction(999, 1000), box)
    assert delta(less, eps) > allowed * 0.999


def test_the_classic_calibration_is_the_textbooks_and_wider_than_the_exact_one():
    mechanism = Gaussian.classic(0.5, 1e-6, counting_query())
    assert mechanism.deviation == pytest.approx(math.sqrt(2 * math.log(1.25e6)) / 0.5, rel=1e-12)
    assert delta(mechanism.cost, 0.5) <= 1e-6
    assert Gaussian.for_epsilon_delta(0.5, 1e-6, counting_query()).deviation < mechanism.deviation


@pytest.mark.parametrize("eps", [1, 1.0, 2, 10])
def test_the_classic_calibration_is_refused_where_its_theorem_does_not_hold(eps):
    with pytest.raises(NotProved, match="below 1"):
        Gaussian.classic(eps, 1e-6, counting_query())


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1), Fraction(50), Fraction(10**6)], ids=str)
def test_the_stated_probabilities_add_up(variance):
    mechanism = Gaussian(variance=variance, sensitivity=counting_query())
    reach = math.ceil(13 * math.sqrt(variance)) + 3
    chances = {z: mechanism.pmf(z) for z in range(-reach, reach + 1)}
    assert math.fsum(chances.values()) == pytest.approx(1, abs=1e-9)
    for distance in (1, int(2 * mechanism.deviation) + 1):
        outside = math.fsum(p for z, p in chances.items() if abs(z) >= distance)
        assert mechanism.tail(distance) == pytest.approx(outside, rel=1e-5)
    spread = math.sqrt(math.fsum(p * z * z for z, p in chances.items()))
    assert spread <= mechanism.deviation * (1 + 1e-9)


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(9), Fraction(10**4), Fraction(10**12)], ids=str)
@pytest.mark.parametrize("size", [1, 1000])
def test_the_stated_error_is_the_least_that_holds_for_all_coordinates_at_once(variance, size):
    mechanism = Gaussian(variance=variance, sensitivity=counting_query())
    for confidence in (0.5, 0.95, 0.999):
        error = mechanism.error(confidence, size=size)
        assert (1 - mechanism.tail(error + 1)) ** size >= confidence * (1 - 1e-9)
        slip = 1 + int(error * 1e-6)
        if error >= slip:
            assert (1 - mechanism.tail(error + 1 - slip)) ** size < confidence


def test_measured_errors_sit_on_the_stated_ones():
    mechanism = Gaussian(variance=10**6, sensitivity=counting_query())
    noise = mechanism.perturb(np.zeros((100_000, 10), np.int64), entropy=Seeded(8))
    worst = np.abs(noise).max(axis=1)
    for confidence in (0.5, 0.9, 0.95, 0.99):
        share = np.mean(worst <= mechanism.error(confidence, size=10))
        assert abs(share - confidence) < 0.007  # four deviations of a share, and one grid step

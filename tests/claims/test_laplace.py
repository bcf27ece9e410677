"""The Laplace mechanism: its guarantee, its error and its distribution."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.accounting import Pure, epsilon
from discreet.core import Neighbours, Sensitivity, counting_queries, counting_query, histogram
from discreet.mechanisms import Laplace, Truncated
from scripted import Seeded
from universe import pairs

ROWS = [(group, value) for group in range(2) for value in range(3)]
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(3)]


def log_pmf(mechanism, noise):
    return math.log(mechanism.pmf(noise))


@pytest.mark.parametrize("eps", EPSILONS, ids=str)
@pytest.mark.parametrize("relation", list(Neighbours), ids=str)
def test_no_output_tells_neighbouring_histograms_apart_by_more_than_epsilon(eps, relation):
    """Over all tables, all neighbours and all outputs near them; and some output attains it."""
    mechanism = Laplace.for_epsilon(eps, histogram(neighbours=relation))
    worst = 0.0
    answers = {
        (tuple(sum(g == k for g, _ in t) for k in range(2)), tuple(sum(g == k for g, _ in o) for k in range(2)))
        for t, o in pairs(ROWS, 3, relation)
    }
    for (a, b), output in product(answers, product(range(-2, 6), repeat=2)):
        ratio = sum(
            log_pmf(mechanism, y - x1) - log_pmf(mechanism, y - x2) for y, x1, x2 in zip(output, a, b, strict=True)
        )
        worst = max(worst, abs(ratio))
    assert worst <= eps * (1 + 1e-12)
    assert worst >= 0.99 * eps


@pytest.mark.parametrize("eps", EPSILONS, ids=str)
def test_no_output_of_a_truncated_count_tells_more_than_epsilon(eps):
    mechanism = Truncated(Laplace.for_epsilon(eps, counting_query()), low=0, high=6)
    worst = 0.0
    for answer in range(6):
        chances = [[mechanism.probability(y, a) for y in range(7)] for a in (answer, answer + 1)]
        assert all(abs(math.fsum(row) - 1) < 1e-12 for row in chances)
        worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(*chances, strict=True)))
    assert 0.99 * eps <= worst <= eps * (1 + 1e-12)


def test_the_cost_is_sensitivity_over_scale_exactly():
    assert Laplace(scale=10, sensitivity=counting_queries(3)).cost == Pure(Fraction(3, 10))
    assert Laplace.for_epsilon(0.1, counting_query()).scale == 10
    assert epsilon(Laplace.for_epsilon(0.1, counting_query()).cost, 0) == 0.1


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(20), Fraction(1000)], ids=str)
def test_the_stated_probabilities_add_up(scale):
    mechanism = Laplace(scale=scale, sensitivity=counting_query())
    reach = int(60 * scale) + 60
    chances = [mechanism.pmf(z) for z in range(-reach, reach + 1)]
    assert math.fsum(chances) == pytest.approx(1, abs=1e-12)
    for distance in (1, 2, int(3 * scale) + 1):
        outside = math.fsum(p for z, p in zip(range(-reach, reach + 1), chances, strict=True) if abs(z) >= distance)
        assert mechanism.tail(distance) == pytest.approx(outside, rel=1e-9)
    variance = math.fsum(p * z * z for z, p in zip(range(-reach, reach + 1), chances, strict=True))
    assert mechanism.deviation == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(100), Fraction(10**9)], ids=str)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_stated_error_is_the_least_that_holds_for_all_coordinates_at_once(scale, confidence, size):
    mechanism = Laplace(scale=scale, sensitivity=counting_query())
    error = mechanism.error(confidence, size=size)
    # Beyond 2⁵³/1000 the float formula for the quantile is allowed a few steps in 10¹².
    slip = 1 + int(error * 1e-11)
    assert (1 - mechanism.tail(error + 1)) ** size >= confidence * (1 - 1e-12)
    if error > slip:
        assert (1 - mechanism.tail(error + 1 - slip)) ** size < confidence * (1 + 1e-9)


def test_measured_errors_sit_on_the_stated_ones():
    """100,000 releases of a vector of 10: the share within the stated error is the confidence, and hardly more."""
    mechanism = Laplace.for_epsilon(0.001, counting_query())
    noise = mechanism.perturb(np.zeros((100_000, 10), np.int64), entropy=Seeded(7))
    worst = np.abs(noise).max(axis=1)
    for confidence in (0.5, 0.9, 0.95, 0.99):
        share = np.mean(worst <= mechanism.error(confidence, size=10))
        assert abs(share - confidence) < 0.007  # four deviations of a share, and one grid step


def test_a_confidence_hardly_below_one_has_an_error_too():
    mechanism = Laplace(scale=10, sensitivity=counting_query())
    assert mechanism.error(1 - Fraction(1, 10**20)) == pytest.approx(10 * 20 * math.log(10), abs=10)


def test_integers_of_any_size_stay_exact():
    mechanism = Laplace.for_epsilon(1, counting_query())
    huge = 10**40
    assert abs(mechanism.perturb(huge) - huge) < 10**6
    array = mechanism.perturb(np.array([huge, -huge], object))
    assert array.dtype == object
    assert abs(array[0] - huge) < 10**6


def test_answers_at_the_end_of_64_bits_do_not_wrap():
    """No error either: it would tell that the answer is large. Clamping moves no two answers apart."""
    mechanism = Laplace(scale=2**40, sensitivity=Sensitivity.box(l0=1, linf=1))
    top, bottom = np.full(64, 2**63 - 1), np.full(64, -(2**63))
    for answer in (top, top.astype(np.uint64), top.tolist(), [10**30] * 64):
        noisy = mechanism.perturb(answer)
        assert noisy.dtype == np.int64
        assert noisy.min() > 2**61
    for answer in (bottom, bottom.tolist(), [-(10**30)] * 64):
        assert mechanism.perturb(answer).max() < -(2**61)


def test_noise_too_wide_for_64_bits_comes_as_python_integers():
    noisy = Laplace(scale=2**80, sensitivity=counting_query()).perturb([1, 2, 3])
    assert noisy.dtype == object
    assert max(abs(value) for value in noisy) > 2**64


def test_an_answer_is_never_changed_in_place():
    answer = np.arange(5)
    Laplace.for_epsilon(1, counting_query()).perturb(answer)
    assert answer.tolist() == [0, 1, 2, 3, 4]


def test_shapes_are_kept():
    mechanism = Laplace.for_epsilon(1, counting_query())
    assert mechanism.perturb(np.zeros((3, 4), int)).shape == (3, 4)
    assert mechanism.perturb(np.zeros((0,), int)).shape == (0,)
    assert isinstance(mechanism.perturb(3), int)
    assert isinstance(mechanism.perturb(np.int32(3)), int)

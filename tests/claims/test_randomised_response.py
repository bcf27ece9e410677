"""Randomised response: its guarantee, its named classic, its estimates."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from coins import chance
from discreet.core import exp_minus
from discreet.mechanisms import RandomisedResponse
from scripted import Scripted, Seeded

EPSILONS = [0.01, 0.1, 1, 3, 20]


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("categories", [2, 3, 10])
def test_no_report_tells_two_people_apart_by_more_than_epsilon(eps, categories):
    """Exactly: the largest ratio of two rational probabilities is at most e^ε, and nearly attains it."""
    mechanism = RandomisedResponse.for_epsilon(eps, categories=categories)
    ratio = mechanism.truth / mechanism.lie
    low, high = exp_minus(Fraction(str(eps)), 200)
    assert ratio * high <= 1 << 200
    assert ratio * low >= (1 << 200) * (1 - Fraction(1, 10**15))
    matrix = mechanism.probabilities()
    worst = max(abs(math.log(p / q)) for column in matrix.T for p in column for q in column)
    assert 0.99 * eps <= worst <= eps * (1 + 1e-9)
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("eps", EPSILONS)
def test_the_cost_is_what_was_asked_for(eps):
    assert RandomisedResponse.for_epsilon(eps).cost.epsilon == Fraction(str(eps))


def test_the_fair_coin_tells_the_truth_three_times_in_four_and_costs_ln_3():
    mechanism = RandomisedResponse.fair_coin()
    assert mechanism.truth == Fraction(3, 4)
    assert mechanism.lie == Fraction(1, 4)
    assert math.log(3) <= float(mechanism.cost.epsilon) <= math.log(3) + 2e-15


def test_a_report_is_true_with_exactly_the_stated_probability():
    mechanism = RandomisedResponse.for_epsilon(1)
    walked = chance(lambda stream: mechanism.perturb(1, entropy=stream) == 1)
    assert abs(walked - mechanism.truth) <= Fraction(1, 1 << 63)


def test_a_lie_is_any_other_category_equally_often():
    mechanism = RandomisedResponse.for_epsilon(1, categories=5)
    for true in range(5):
        lies = [mechanism.perturb(true, entropy=Scripted([(1 << 64) - 1, place << 62])) for place in range(4)]
        assert sorted([*lies, true]) == list(range(5))


@pytest.mark.parametrize("categories", [2, 4])
def test_reports_follow_the_stated_matrix(categories):
    mechanism = RandomisedResponse.for_epsilon(0.7, categories=categories)
    stream = Seeded(21)
    for true, row in enumerate(mechanism.probabilities()):
        reports = mechanism.perturb(np.full(50_000, true), entropy=stream)
        counts = np.bincount(reports, minlength=categories)
        assert stats.chisquare(counts, row * 50_000).pvalue > 1e-4


@pytest.mark.parametrize("categories", [2, 5])
def test_estimates_are_unbiased_and_their_deviation_is_the_stated_one(categories):
    mechanism = RandomisedResponse.for_epsilon(1, categories=categories)
    truth = np.arange(categories) * 300 + 200
    people = np.repeat(np.arange(categories), truth)
    stream = Seeded(22)
    runs = []
    for _ in range(1500):
        made = mechanism.estimate(counts=np.bincount(mechanism.perturb(people, entropy=stream), minlength=categories))
        runs.append(made.counts)
    errors = np.array(runs) - truth
    stated = made.deviation
    assert np.all(np.abs(errors.mean(axis=0)) < 4.5 * stated / math.sqrt(1500))
    assert np.all(errors.std(axis=0) < stated * 1.06)
    if categories == 2:
        assert np.all(errors.std(axis=0) > stated * 0.94)  # both kinds of people have the same variance
    assert np.mean(np.abs(errors).max(axis=1) <= made.error) >= 0.95


def test_an_impossible_category_is_reported_like_category_zero_and_never_by_an_error():
    mechanism = RandomisedResponse.fair_coin()
    for wrong in (-1, 2, 10**40):
        assert mechanism.perturb(wrong, entropy=Scripted([0, 0])) == 0
        assert mechanism.perturb([wrong], entropy=Scripted([0, 0])).tolist() == [0]


def test_enormous_epsilon_still_leaves_a_chance_to_lie():
    mechanism = RandomisedResponse.for_epsilon(200)
    assert mechanism.truth < 1
    assert mechanism.cost.epsilon == 200

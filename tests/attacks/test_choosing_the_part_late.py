"""The attack: cut the table into parts only after earlier answers, so that each branch has the part that suits it.

A total of parallel parts that takes the worst *fixed* part does not cover this adversary.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import (
    Composed,
    DominatingPair,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    RandomisedResponse,
    delta,
    epsilon,
)
from strategies_on_parts import best_delta, fixed_totals

#: The three mechanisms of the page on adaptive sessions.
HINT = DominatingPair((Fraction(1, 10), Fraction(9, 10)), (Fraction(1, 30), Fraction(29, 30)))
SLIP = DominatingPair((Fraction(2, 75), Fraction(73, 75), 0), (0, Fraction(73, 75), Fraction(2, 75)))
COIN = RandomisedResponse(Fraction(4, 5))


def adversary_wins(total, stated_delta, factor):
    """Play every strategy against a total, and tell whether one is told apart better than stated."""
    return best_delta(total, factor) > Fraction(stated_delta)


def test_the_part_of_the_table_may_be_chosen_after_the_hint():
    total = Composed([HINT, Parallel([SLIP, COIN])])
    before = max(delta(one, math.log(8)) for one in fixed_totals(total))  # the total as it used to be stated
    assert before == pytest.approx(0.02667, abs=1e-5)
    assert adversary_wins(total, before, Fraction(8))
    stated = delta(total, math.log(8))
    assert not adversary_wins(total, stated * (1 + 1e-12), Fraction(8))
    assert stated == pytest.approx(0.05067, abs=1e-5)


def test_the_epsilon_of_a_total_holds_against_a_part_chosen_late():
    total = Composed([HINT, Parallel([SLIP, COIN])])
    for allowed in (0.03, 0.04, 0.06):
        before = max(epsilon(one, allowed) for one in fixed_totals(total))
        assert adversary_wins(total, allowed, Fraction(math.exp(before)) * Fraction(999, 1000))
        assert not adversary_wins(
            total, allowed, Fraction(math.exp(epsilon(total, allowed))) * (1 + Fraction(1, 10**9))
        )
    before = max(epsilon(one, 0.03) for one in fixed_totals(total))
    assert adversary_wins(total, 0.03, Fraction(math.exp(before)))


def gaussian_delta(mu, eps):
    below = 0.5 * math.erfc((eps / mu - mu / 2) / math.sqrt(2))
    return below - math.exp(eps) * 0.5 * math.erfc((eps / mu + mu / 2) / math.sqrt(2))


def laplace_delta(reach, eps):
    if abs(eps) >= reach:
        return max(0.0, 1 - math.exp(eps))
    return 1 - math.exp((eps - reach) / 2)


def test_noise_that_is_chosen_after_an_answer_costs_what_integration_finds():
    """First N(1, 1) against N(0, 1), then at each answer whichever noise tells more there."""
    reach, mu = 2.0, 1.25
    total = Composed([GaussianNoise(1), Parallel([LaplaceNoise(Fraction(1, 2)), GaussianNoise(Fraction(4, 5))])])
    answers = np.arange(-10, 12, 0.002)
    weights = 0.002 * np.exp(-((answers - 1) ** 2) / 2) / math.sqrt(2 * math.pi)
    left = (3 - (answers - 0.5)).tolist()
    truth = float(weights @ [max(laplace_delta(reach, eps), gaussian_delta(mu, eps)) for eps in left])
    assert truth == pytest.approx(0.0946, abs=1e-4)
    before = max(delta(one, 3) for one in fixed_totals(total))
    assert before == pytest.approx(0.0777, abs=1e-4)
    assert truth * (1 - 1e-5) <= delta(total, 3) <= truth * 1.001

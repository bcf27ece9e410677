"""What an ε means: no attacker beats the stated odds, and one attacker reaches them."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from discreet.accounting.interpretation import TELLING, advantage, posterior, power
from discreet.core import InvalidInput, WrongType, exact, exp_down, log_up

#: A result is the float after the bound at worst, and the bound takes e^ε within a factor of 1 + 2⁻⁶⁰.
ONE_FLOAT = Fraction(1, 2**51)
#: Differences of near numbers inherit the error of e^ε in full.
NEARLY_NOTHING = Fraction(1, 2**58)
EPSILONS = st.fractions(Fraction(0), Fraction(40), max_denominator=1000)
DELTAS = st.one_of(st.just(Fraction(0)), st.fractions(Fraction(1, 10**9), Fraction(9, 10), max_denominator=10**9))
PRIORS = st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6)
RATES = st.fractions(Fraction(0), Fraction(1), max_denominator=10**6)

#: Every distribution over three outcomes in fifths.
FIFTHS = [tuple(Fraction(part, 5) for part in (a, b, 5 - a - b)) for a, b in product(range(6), repeat=2) if a + b <= 5]


def said(result):
    """Return the number that a float says: its text, as everywhere."""
    return exact(result, "result")


def least_delta(present, absent, epsilon):
    """Return the least δ of a pair of distributions at ε, both ways, from above."""
    factor = exp_down(epsilon)
    forth = sum(max(Fraction(0), p - factor * q) for p, q in zip(present, absent, strict=True))
    back = sum(max(Fraction(0), q - factor * p) for p, q in zip(present, absent, strict=True))
    return max(forth, back)


def worst_pair(epsilon, delta):
    """Return the pair that tells the truth with probability δ and otherwise gives a randomised response."""
    lie = (1 - delta) / (1 + max(1, exp_down(epsilon)))  # from below, so that the pair keeps the promise
    truth = 1 - delta - lie
    return (delta, truth, lie, Fraction(0)), (Fraction(0), lie, truth, delta)


def belief(prior, present, absent):
    return prior * present / (prior * present + (1 - prior) * absent)


def average_belief(prior, epsilon, present, absent):
    """Return the average, where `present` is the truth, of the larger of the belief and the bound for δ = 0."""
    most = belief(prior, exp_down(epsilon), 1)
    return sum(p * max(most, belief(prior, p, q)) for p, q in zip(present, absent, strict=True) if p)


PROMISES = [
    (present, absent, epsilon, least_delta(present, absent, epsilon))
    for epsilon in (Fraction(1, 10), Fraction(1))
    for present, absent in product(FIFTHS, repeat=2)
    if least_delta(present, absent, epsilon) < 1
]


def test_no_test_beats_the_stated_power_or_advantage():
    """Every test on every small pair of distributions, at the δ which that pair has."""
    for present, absent, epsilon, delta in PROMISES:
        most = said(advantage(epsilon, delta))
        for accused in product((False, True), repeat=3):
            found = sum(p for p, chosen in zip(present, accused, strict=True) if chosen)
            alarms = sum(q for q, chosen in zip(absent, accused, strict=True) if chosen)
            assert found <= said(power(alarms, epsilon, delta))
            assert found - alarms <= most


@pytest.mark.parametrize("prior", [Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)])
def test_no_belief_beats_the_stated_one_on_average(prior):
    for present, absent, epsilon, delta in PROMISES:
        stated = said(posterior(prior, epsilon, delta))
        assert average_belief(prior, epsilon, present, absent) <= stated
        assert average_belief(1 - prior, epsilon, absent, present) <= said(posterior(1 - prior, epsilon, delta))


@pytest.mark.parametrize("prior", [Fraction(1, 100), Fraction(1, 2)])
def test_a_belief_far_beyond_the_pure_bound_is_as_rare_as_stated(prior):
    for present, absent, epsilon, delta in PROMISES:
        most = belief(prior, exp_down(epsilon), 1)
        for beyond in (Fraction(1, 100), Fraction(1, 10)):
            pairs = zip(present, absent, strict=True)
            often = sum(p for p, q in pairs if p and belief(prior, p, q) >= most + beyond)
            assert often <= (1 - most) * delta / beyond


@given(PRIORS, EPSILONS)
def test_without_delta_no_output_at_all_moves_a_belief_further(prior, epsilon):
    present, absent = worst_pair(epsilon, Fraction(0))
    top = max(belief(prior, p, q) for p, q in zip(present, absent, strict=True) if p)
    assert top <= said(posterior(prior, epsilon)) <= top * (1 + ONE_FLOAT)


@given(PRIORS, EPSILONS, DELTAS)
def test_telling_the_truth_with_probability_delta_reaches_the_stated_belief(prior, epsilon, delta):
    reached = average_belief(prior, epsilon, *worst_pair(epsilon, delta))
    assert said(posterior(prior, epsilon, delta)) <= reached * (1 + ONE_FLOAT)


@given(EPSILONS, DELTAS)
def test_telling_the_truth_with_probability_delta_reaches_the_stated_power(epsilon, delta):
    present, absent = worst_pair(epsilon, delta)
    for first in (1, 2, 3, 4):
        found, alarms = sum(present[:first]), sum(absent[:first])
        assert found <= said(power(alarms, epsilon, delta)) <= found * (1 + ONE_FLOAT)
    best = sum(present[:2]) - sum(absent[:2])
    assert best <= said(advantage(epsilon, delta)) <= best * (1 + ONE_FLOAT) + NEARLY_NOTHING


@given(PRIORS, RATES, EPSILONS, DELTAS)
def test_results_are_rounded_up_by_a_float_and_no_more(prior, rate, epsilon, delta):
    """Against 60 digits. What is 0 but for the bound on e^ε may be 2⁻⁶⁰."""
    with mp.workdps(60):
        f, p, d, e = (mp.mpf(x.numerator) / x.denominator for x in (rate, prior, delta, epsilon))
        factor = mp.exp(e)
        pure = p * factor / (p * factor + 1 - p)
        for stated, truth in (
            (posterior(prior, epsilon, delta), pure + (1 - pure) * d),
            (power(rate, epsilon, delta), min(mp.mpf(1), factor * f + d, 1 - (1 - d - f) / factor)),
            (advantage(epsilon, delta), (factor - 1 + 2 * d) / (factor + 1)),
        ):
            text = mp.mpf(said(stated).numerator) / said(stated).denominator
            assert truth * (1 - mp.mpf(10) ** -50) <= text <= truth * (1 + mp.mpf(2) ** -51) + mp.mpf(2) ** -60


@given(PRIORS, EPSILONS, EPSILONS, DELTAS, DELTAS)
def test_a_weaker_promise_never_states_less(prior, one, other, small, large):
    (low, high), (less, more) = sorted((one, other)), sorted((small, large))
    assert posterior(prior, low, less) <= posterior(prior, high, more)
    assert power(prior, low, less) <= power(prior, high, more)
    assert advantage(low, less) <= advantage(high, more)


@given(RATES, RATES, EPSILONS, DELTAS)
def test_more_false_alarms_never_find_fewer_people(one, other, epsilon, delta):
    low, high = sorted((one, other))
    assert power(low, epsilon, delta) <= power(high, epsilon, delta)
    assert said(power(low, epsilon, delta)) - low <= said(advantage(epsilon, delta)) + ONE_FLOAT


@given(PRIORS, RATES)
def test_a_promise_that_tells_nothing_leaves_every_number_alone(prior, rate):
    assert prior <= said(posterior(prior, 0)) <= prior * (1 + ONE_FLOAT)
    assert rate <= said(power(rate, 0)) <= rate * (1 + ONE_FLOAT)
    assert advantage(0) == 0


@given(PRIORS, EPSILONS, EPSILONS)
def test_two_releases_move_a_belief_as_one_at_the_sum(prior, one, other):
    middle = posterior(prior, one)
    if middle < 1:
        twice, once = posterior(middle, other), posterior(prior, one + other)
        assert once <= twice * (1 + 4 * float(ONE_FLOAT))
        assert 1 - twice == pytest.approx(1 - once, rel=1e-6, abs=1e-9)


def test_the_coin_toss_of_surveys_is_right_three_times_in_four():
    """Warner 1965: a yes is three times as likely from one kind of person as from the other."""
    ln3 = log_up(Fraction(3))
    for stated, known in (
        (posterior(0.5, ln3), 3 / 4),
        (posterior(0.1, ln3), 1 / 4),
        (power(0.25, ln3), 3 / 4),
        (power(0.05, ln3), 15 / 100),
        (advantage(ln3), 1 / 2),
    ):
        assert known <= stated < known + 1e-14  # the logarithm is rounded up by 10⁻¹⁵


def test_a_hair_above_a_round_number_is_not_rounded_down_to_it():
    """At an ε 10⁻⁴⁰ above ln 3 the bounds are just above 3/4 and 1/2: e^ε must be taken from above, too."""
    with mp.workdps(60):
        hair = Fraction(int(mp.ceil(mp.log(3) * mp.mpf(10) ** 40)), 10**40)
    assert posterior(0.5, hair) == power(0.25, hair) == math.nextafter(0.75, 1)
    assert advantage(hair) == math.nextafter(0.5, 1)


def test_an_absurd_epsilon_is_answered_at_once():
    for epsilon in (TELLING, TELLING + 1, 10**50):
        assert posterior(1e-90, epsilon) == 1
        assert power(1e-90, epsilon, 1e-6) == 1
        assert power(0, epsilon, 1e-6) == 1e-6
        assert power(0, epsilon) == 0
        assert advantage(epsilon) == 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: posterior(0, 1), InvalidInput),
        (lambda: posterior(1, 1), InvalidInput),
        (lambda: posterior(0.5, -1), InvalidInput),
        (lambda: posterior(0.5, 1, 1), InvalidInput),
        (lambda: posterior(0.5, 1, -0.1), InvalidInput),
        (lambda: posterior(0.5, math.inf), InvalidInput),
        (lambda: posterior(0.5, math.nan), InvalidInput),
        (lambda: posterior("half", 1), WrongType),
        (lambda: power(-0.1, 1), InvalidInput),
        (lambda: power(1.1, 1), InvalidInput),
        (lambda: power(0.1, None), WrongType),
        (lambda: power(0.1, 1, 2), InvalidInput),
        (lambda: advantage(-1), InvalidInput),
        (lambda: advantage(True), WrongType),
        (lambda: advantage(1, 1), InvalidInput),
    ],
)
def test_what_is_no_promise_is_refused_with_a_way_out(call, error):
    with pytest.raises(error) as caught:
        call()
    assert caught.value.fix

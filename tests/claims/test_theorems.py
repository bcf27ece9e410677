"""The classical composition theorems and group privacy, against enumeration, textbook and published numbers."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from scipy.stats import binom

from discreet.accounting.composition import (
    MOST_TIMES,
    advanced_composition,
    advanced_composition_sharp,
    basic_composition,
    group_privacy,
    group_privacy_sharp,
    optimal_composition,
    optimal_delta,
    optimal_delta_unequal,
    optimal_epsilon,
)
from discreet.accounting.conversions import survival
from discreet.accounting.guarantees import Guarantee
from discreet.core import DiscreetError, OutOfRange

#: Rounding up to a double moves a number by one unit in the last place, and its text perhaps by another.
ULP = 2.0**-51
#: `exp_up` is accurate to 2⁻⁶⁰ and logarithms to 1e-15; both are rounded up before the last rounding.
CLOSED_FORM = 1e-13

#: How far the sums of the tests themselves may be off.
KNOWN = mpf(2) ** -700

EPSILONS = st.fractions(Fraction(1, 1000), Fraction(3), max_denominator=1000)
DELTAS = st.sampled_from([0, 1e-9, 1e-4, 0.01])
TIMES = st.integers(1, 60)
SMALL_SLACKS = st.sampled_from([1e-12, 1e-6, 0.01])
SLACKS = SMALL_SLACKS | st.just(0.3)


@pytest.fixture(autouse=True)
def many_digits():
    """More digits than any cancellation below eats."""
    with mpmath.workprec(800):
        yield


def real(number):
    fraction = Fraction(number) if not isinstance(number, float) else Fraction(repr(number))
    return mpf(fraction.numerator) / fraction.denominator


def enumerated(parts, target):
    """Return δ at a target by listing what tellers may say: all, or an answer by randomised response."""
    outcomes = [(mpf(1), mpf(1))]
    for epsilon, delta in parts:
        truth, tell = 1 / (1 + mpmath.exp(-real(epsilon))), real(delta)
        answers = [(truth, 1 - truth), (1 - truth, truth)]
        said = [(p * (1 - tell), q * (1 - tell)) for p, q in answers] + [(tell, mpf(0)), (mpf(0), tell)]
        outcomes = [(p * p2, q * q2) for (p, q), (p2, q2) in product(outcomes, said)]
    bar = mpmath.exp(real(target))
    return sum(max(p - bar * q, mpf(0)) for p, q in outcomes)


def at_knot(epsilon, delta, times, i):
    """Return δ at ε·(k − 2i) by the formula of Kairouz, Oh, Viswanath 2015, Theorem 3.3."""
    e, k = real(epsilon), times
    total = sum(math.comb(k, j) * (mpmath.exp((k - j) * e) - mpmath.exp((k - 2 * i + j) * e)) for j in range(i))
    quiet = (1 - real(delta)) ** k
    return 1 - quiet + quiet * total / (1 + mpmath.exp(e)) ** k


def just_above(stated, truth, tolerance=ULP, known=KNOWN):
    """Tell whether a float, read as its text, is the truth rounded up; the truth is known to 200 digits and `known`."""
    return truth * (1 - mpf(10) ** -200) - known <= real(stated) <= truth * (1 + tolerance) + known


# The sum.


def test_the_sum_of_promises_is_exact_as_typed():
    assert basic_composition([(0.1, 1e-10)] * 10) == Guarantee(1.0, 1e-9)
    assert basic_composition([(1, 0), (0.5, 1e-6), (0, 0)]) == Guarantee(1.5, 1e-6)
    assert basic_composition([]) == Guarantee(0.0, 0.0)
    assert basic_composition([(1, 0.6), (1, 0.6)]) == Guarantee(2.0, 1.0)


# Advanced composition.


@pytest.mark.parametrize("epsilon", [1e-30, 1e-6, 0.1, 1, 20])
@pytest.mark.parametrize("slack", [1e-100, 1e-9, 0.5])
@pytest.mark.parametrize("times", [1, 1000])
def test_the_advanced_bounds_are_their_formulas_rounded_up(epsilon, slack, times):
    e, root = real(epsilon), mpmath.sqrt(2 * times * mpmath.log(1 / real(slack)))
    stated = advanced_composition(epsilon, 1e-12, times, slack)
    assert just_above(stated.epsilon, e * root + times * e * mpmath.expm1(e), CLOSED_FORM)
    assert just_above(stated.delta, times * real(1e-12) + real(slack))
    sharp = advanced_composition_sharp(epsilon, 1e-12, times, slack)
    assert just_above(sharp.epsilon, min(times * e, e * root + times * e * mpmath.tanh(e / 2)), CLOSED_FORM)
    assert just_above(sharp.delta, 1 - (1 - real(1e-12)) ** times * (1 - real(slack)))


def test_a_lifetime_in_ten_thousand_databases():
    """Dwork, Roth 2014, Example 3.7: ε₀ = 1/801 each, for a total of 1 but for e^−32.

    The book drops the second term: by its own Theorem 3.20 it is 1.0144. The total of 1 is true all the same.
    """
    slack = 1.2664e-14  # e^−32, rounded down
    each = Fraction(1, 801)
    assert advanced_composition(each, 0, 10_000, slack).epsilon == pytest.approx(1.01435, abs=1e-5)
    assert 800 / 801 < advanced_composition_sharp(each, 0, 10_000, slack).epsilon < 1.0066
    assert optimal_epsilon(each, 0, 10_000, slack) == pytest.approx(0.89047, abs=1e-5)


@given(st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100), st.integers(1, 10**5), SMALL_SLACKS)
def test_the_rule_of_thumb_of_the_textbook_keeps_its_promise(total, times, slack):
    """Dwork, Roth 2014, Corollary 3.21: ε = ε′/(2√(2k·ln(1/δ′))) each suffices for ε′ < 1; where δ′ is small."""
    each = float(total) / (2 * math.sqrt(2 * times * math.log(1 / slack)))
    assert advanced_composition(each, 0, times, slack).epsilon <= float(total)


def test_an_epsilon_beyond_all_doubles_is_infinite_and_not_an_error():
    assert advanced_composition(1e6, 0, 3, 1e-9) == Guarantee(math.inf, 1e-9)
    assert advanced_composition_sharp(1e6, 0, 3, 1e-9) == Guarantee(3e6, 1e-9)


# The optimum for equal parts.


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize("delta", [0, 1e-6, 0.1])
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1, 9])
def test_the_optimum_is_what_enumeration_of_all_outcomes_says(epsilon, delta, times):
    for share in [0, 0.1, 0.25, 0.5, 0.6, 0.99, 1, 1.5]:
        target = Fraction(repr(epsilon)) * times * Fraction(repr(share))
        truth = enumerated([(epsilon, delta)] * times, target)
        assert just_above(optimal_delta(epsilon, delta, times, target), truth)


@pytest.mark.parametrize(("epsilon", "times"), [(0.01, 200), (0.5, 200), (2, 77), (30, 50), (1e-20, 101)])
@pytest.mark.parametrize("delta", [0, 1e-15])
def test_the_optimum_is_the_paper_s_formula_at_every_knot(epsilon, delta, times):
    for i in range(0, times // 2 + 1, 9):
        target = Fraction(repr(epsilon)) * (times - 2 * i)
        assert just_above(optimal_delta(epsilon, delta, times, target), at_knot(epsilon, delta, times, i))


def test_a_delta_near_the_least_double_is_as_accurate_as_any():
    for i in [1, 2, 3, 40]:
        truth = at_knot(0.01, 0, 1000, i)
        assert 1e-308 < truth < 1e-200
        assert just_above(optimal_delta(0.01, 0, 1000, Fraction(1000 - 2 * i, 100)), truth, known=0)


def test_between_knots_the_curve_is_a_straight_line_in_e_to_the_epsilon():
    low, high = at_knot(0.2, 0, 30, 6), at_knot(0.2, 0, 30, 5)
    left, right = mpmath.exp(real(0.2) * 18), mpmath.exp(real(0.2) * 20)
    for step in range(1, 20):
        target = Fraction(18, 5) + Fraction(step, 50)
        weight = (mpmath.exp(real(target)) - left) / (right - left)
        assert just_above(optimal_delta(0.2, 0, 30, target), low + weight * (high - low))


def test_no_weight_is_lost_with_a_million_parts():
    """Against binomial tails of SciPy, whose own accuracy is what the tolerance allows for."""
    epsilon, times = 0.001, 10**6
    truth = 1 / (1 + math.exp(-epsilon))
    for target in [0, 0.5, 2, 5, 10, 20]:
        reach = math.ceil((times - target / epsilon) / 2) - 1
        expected = binom.cdf(reach, times, 1 - truth) - math.exp(target) * binom.cdf(reach, times, truth)
        assert optimal_delta(epsilon, 0, times, target) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=60)
@given(EPSILONS, DELTAS, TIMES, st.sampled_from([1e-90, 1e-12, 1e-5, 0.02, 0.5]))
def test_the_least_epsilon_keeps_its_delta_and_a_little_less_does_not(epsilon, delta, times, allowed):
    least = optimal_epsilon(epsilon, delta, times, allowed)
    if math.isinf(least):
        assert 1 - survival(Fraction(repr(delta)), times) > Fraction(repr(allowed))
        return
    assert optimal_delta(epsilon, delta, times, least) <= allowed * (1 + ULP)
    if least > 0:
        assert optimal_delta(epsilon, delta, times, least * (1 - 1e-9)) > allowed * (1 - ULP)


@given(EPSILONS, DELTAS)
def test_one_promise_is_itself(epsilon, delta):
    assert optimal_delta(epsilon, delta, 1, epsilon) == delta
    assert optimal_composition(epsilon, delta, 1, delta).delta == delta
    assert Fraction(repr(optimal_epsilon(epsilon, delta, 1, delta))) - epsilon < Fraction(1, 10**12)


@given(EPSILONS, DELTAS, TIMES, SLACKS)
def test_no_theorem_beats_the_optimum(epsilon, delta, times, slack):
    basic = basic_composition([(epsilon, delta)] * times)
    assert optimal_epsilon(epsilon, delta, times, basic.delta) <= basic.epsilon
    for theorem in (advanced_composition, advanced_composition_sharp):
        stated = theorem(epsilon, delta, times, slack)
        if stated.delta < 1:
            assert optimal_epsilon(epsilon, delta, times, stated.delta) <= stated.epsilon
    textbook = advanced_composition(epsilon, delta, times, slack)
    sharp = advanced_composition_sharp(epsilon, delta, times, slack)
    assert sharp.epsilon <= textbook.epsilon
    assert sharp.delta <= textbook.delta


@given(EPSILONS, DELTAS, st.integers(1, 40), SLACKS)
def test_one_more_part_never_costs_less(epsilon, delta, times, allowed):
    assert optimal_epsilon(epsilon, delta, times + 1, allowed) >= optimal_epsilon(epsilon, delta, times, allowed)
    assert optimal_delta(epsilon, delta, times + 1, 1) >= optimal_delta(epsilon, delta, times, 1)


@pytest.mark.parametrize(
    ("epsilon", "delta", "times", "total_delta", "published"),
    [(1, 0, 30, 0, 30), (1, 0.001, 30, 0.06, 22), (1, 0.001, 30, 0.1, 20), (0.25, 0, 50, 0.01, 5)],
)
def test_values_that_another_accountant_publishes_are_the_knots_above_ours(
    epsilon, delta, times, total_delta, published
):
    """dp_accounting states the theorem at its knots, which lie 2ε apart (the tests of its accountant, 2022)."""
    ours = optimal_epsilon(epsilon, delta, times, total_delta)
    assert published - 2 * epsilon < ours <= published


@pytest.mark.parametrize(("delta", "times", "total_delta"), [(0.2, 1, 0.1), (0.01, 30, 0.26), (1e-9, 10**6, 1e-4)])
def test_a_total_delta_below_what_the_parts_give_away_is_not_reached_at_any_epsilon(delta, times, total_delta):
    assert optimal_composition(1, delta, times, total_delta) == Guarantee(math.inf, total_delta)


def test_extreme_promises_are_bounds_and_not_errors():
    assert optimal_epsilon(0, 0.1, 2, 0.19) == 0
    assert optimal_delta(0, 0.1, 2, 0) == 0.19
    assert optimal_epsilon(1e6, 0, 100, 1e-9) == 1e8
    assert optimal_delta(1e100, 0, 100, 1) == 1.0
    assert optimal_epsilon(1e-90, 0, 100, 1e-89) == 0
    assert 2.7e-89 < optimal_epsilon(1e-90, 0, 100, 1e-92) < 2.8e-89
    assert 0 < optimal_delta(0.001, 0, 10**6, 900) <= 5e-324
    assert optimal_delta(1, 0.5, 10**6, 1) == 1.0


# The optimum for unequal parts.


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [(1, 0)],
        [(0.5, 1e-6), (1, 0)],
        [(0.1, 0), (0.2, 0.01), (0.3, 0)],
        [(0.5, 0), (0.5, 0.001), (1, 0), (2, 1e-9)],
        [(1e-30, 0), (3e-30, 0), (0, 0.1)],
        [(20, 0), (1, 0.25), (7, 0)],
    ],
)
def test_the_unequal_optimum_is_what_enumeration_of_all_outcomes_says(parts):
    total = sum(Fraction(repr(epsilon)) for epsilon, _ in parts)
    for share in [0, 0.2, 0.5, 0.9, 1, 2]:
        target = total * Fraction(repr(share))
        assert just_above(optimal_delta_unequal(parts, target), enumerated(parts, target))


@given(EPSILONS, DELTAS, st.integers(1, 25), st.fractions(0, Fraction(5), max_denominator=50))
def test_equal_parts_are_a_case_of_unequal_ones(epsilon, delta, times, target):
    unequal = optimal_delta_unequal([(epsilon, delta)] * times, target)
    assert unequal == pytest.approx(optimal_delta(epsilon, delta, times, target), rel=ULP, abs=5e-324)


@settings(max_examples=30)
@given(st.lists(st.tuples(EPSILONS, DELTAS), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_the_parts_does_not_matter(parts, chance):
    other = list(parts)
    chance.shuffle(other)
    assert optimal_delta_unequal(parts, 0.5) == optimal_delta_unequal(other, 0.5)


def test_thirty_different_parts_and_hundreds_on_one_grid_are_enumerated():
    assert 0 < optimal_delta_unequal([(Fraction(1, 10 + i), 0) for i in range(30)], 1) < 1e-4
    grid = [(Fraction(1 + i % 4, 100), 0) for i in range(200)]
    assert 0 < optimal_delta_unequal(grid, 1) < 1


@pytest.mark.parametrize(
    "parts",
    [
        [(Fraction(1, 10 + i), 0) for i in range(40)],
        [(0.1, 0)] * 401,
        [(600, 0), (600, 0)],
        [(Fraction(1, 2**300 + i), 0) for i in range(1, 30)],
    ],
)
def test_what_is_too_much_to_enumerate_is_refused_with_the_numeric_way(parts):
    with pytest.raises(OutOfRange) as caught:
        optimal_delta_unequal(parts, 0)
    assert "numerically" in caught.value.fix


# Groups.


@given(EPSILONS, DELTAS)
def test_a_group_of_one_is_a_person(epsilon, delta):
    for law in (group_privacy, group_privacy_sharp):
        alone = law(epsilon, delta, 1)
        assert alone.delta == pytest.approx(delta, rel=ULP)
        assert alone.epsilon == basic_composition([(epsilon, 0)]).epsilon


@pytest.mark.parametrize("epsilon", [1e-60, 0.001, 0.5, 2])
@pytest.mark.parametrize("size", [2, 3, 10])
def test_group_bounds_are_their_formulas_rounded_up(epsilon, size):
    e, d = real(epsilon), real(1e-30)
    textbook, sharp = group_privacy(epsilon, 1e-30, size), group_privacy_sharp(epsilon, 1e-30, size)
    assert textbook.epsilon == sharp.epsilon
    assert just_above(textbook.epsilon, size * e)
    assert just_above(textbook.delta, size * mpmath.exp((size - 1) * e) * d)
    assert just_above(sharp.delta, sum(mpmath.exp(i * e) for i in range(size)) * d)
    assert sharp.delta <= textbook.delta


def test_some_mechanism_reaches_the_sharper_group_bound():
    """A yes that each further person makes as much likelier as (ε, δ) allows."""
    epsilon, delta, size = mpf(1) / 2, mpf(1) / 10**4, 4
    yes = [mpf(1) / 10**3]
    for _ in range(size):
        yes.append(mpmath.exp(epsilon) * yes[-1] + delta)
    slack = mpf(10) ** -200
    for fewer, more in pairwise(yes):
        for one, other in [(fewer, more), (more, fewer)]:
            assert one <= mpmath.exp(epsilon) * other + delta + slack
            assert 1 - one <= mpmath.exp(epsilon) * (1 - other) + delta + slack
    needed = yes[-1] - mpmath.exp(size * epsilon) * yes[0]
    assert just_above(group_privacy_sharp(0.5, 1e-4, size).delta, needed)


def test_a_large_group_is_promised_nothing_by_delta_and_all_by_pure_epsilon():
    assert group_privacy(1, 1e-9, 1000) == group_privacy_sharp(1, 1e-9, 1000) == Guarantee(1000.0, 1.0)
    assert group_privacy(1, 0, 10**6) == group_privacy_sharp(1, 0, 10**6) == Guarantee(1e6, 0.0)
    assert group_privacy(0, 1e-9, 1000) == group_privacy_sharp(0, 1e-9, 1000) == Guarantee(0.0, 1e-6)


# What they share.


@given(st.fractions(Fraction(1, 10**9), Fraction(1, 2)), st.integers(1, 10**6))
def test_the_chance_that_no_part_gives_all_away_is_never_overstated(delta, times):
    truth = mpmath.exp(times * mpmath.log1p(-real(delta)))
    stated = survival(delta, times)
    assert truth - mpf(2) ** -700 <= real(stated) <= truth * (1 + mpf(2) ** -700)


@pytest.mark.parametrize(
    "call",
    [
        lambda: basic_composition([(-1, 0)]),
        lambda: basic_composition([(1, 1)]),
        lambda: basic_composition([(1, -0.1)]),
        lambda: basic_composition([(math.nan, 0)]),
        lambda: basic_composition([1, 2]),
        lambda: basic_composition([(1, 0, 0)]),
        lambda: basic_composition(3),
        lambda: basic_composition(["10"]),
        lambda: basic_composition([("1", "0")]),
        lambda: advanced_composition(1, 0, 10, 0),
        lambda: advanced_composition(1, 0, 10, 1),
        lambda: advanced_composition(1, 0, 2.5, 0.1),
        lambda: advanced_composition_sharp(1, 0, 0, 0.1),
        lambda: advanced_composition_sharp(True, 0, 1, 0.1),
        lambda: optimal_delta(1, 0, 10, -1),
        lambda: optimal_delta(1, 0, 0, 1),
        lambda: optimal_delta(1, 0, MOST_TIMES + 1, 1),
        lambda: optimal_delta(1, 0, 10, math.inf),
        lambda: optimal_epsilon(1, 0, 10, 1),
        lambda: optimal_epsilon(1, 0, 10, -1e-9),
        lambda: optimal_epsilon(1, 2, 10, 0.1),
        lambda: optimal_composition(1, 0, "10", 0.1),
        lambda: optimal_delta_unequal([(1, 0), 1], 1),
        lambda: optimal_delta_unequal([(1, 0)], -1),
        lambda: group_privacy(1, 0, 0),
        lambda: group_privacy_sharp(1, 0, 1.0),
    ],
)
def test_bad_input_is_refused_with_a_fix(call):
    with pytest.raises(DiscreetError) as caught:
        call()
    assert caught.value.fix

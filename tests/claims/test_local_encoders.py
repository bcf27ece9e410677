"""Every encoder's exact output distribution: walked through the real code, and never farther apart than e^ε."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core import Bounds, exp_down, exp_minus, exp_up
from discreet.local import (
    Hadamard,
    KaryResponse,
    LocalHashing,
    NumberResponse,
    PrefixTree,
    Rappor,
    SubsetSelection,
    Survey,
    Unary,
    VectorResponse,
    pack,
    report_bytes,
    unpack,
)
from discreet.local.device.categories import odds_below, root_below
from local_walk import distribution, worst_ratio

EPSILONS = [Fraction(1, 1000), Fraction(1, 2), 1, 2, 5]
#: How near to e^ε the factor comes: odds are rounded to 64 bits, their roots to 100.
TIGHT = 1 - Fraction(1, 1 << 50)
CATEGORICAL = {
    **{f"k-ary {domain}": (KaryResponse, {"domain": domain}) for domain in (2, 3, 5)},
    **{f"optimal unary {domain}": (Unary.optimal, {"domain": domain}) for domain in (2, 4)},
    "symmetric unary": (Unary.symmetric, {"domain": 3}),
    **{
        f"hashing {domain} into {buckets}": (LocalHashing, {"domain": domain, "buckets": buckets})
        for domain, buckets in ((3, 2), (5, 3), (6, 4), (10, 3), (9, 8), (5, 5))
    },
    **{f"Hadamard {domain}": (Hadamard, {"domain": domain}) for domain in (2, 3, 6)},
    **{f"subset {domain}": (SubsetSelection, {"domain": domain}) for domain in (2, 3, 6)},
}
CASES = [(name, epsilon) for name in CATEGORICAL for epsilon in EPSILONS]


def made(name, epsilon):
    kind, words = CATEGORICAL[name]
    return kind(epsilon=epsilon, **words)


def within(ratio, epsilon):
    """Whether a factor is at most e^ε, by a rational number that is provably below it, and hardly less."""
    return exp_up(Fraction(epsilon)) * TIGHT <= ratio <= exp_down(Fraction(epsilon))


@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_no_report_tells_two_categories_apart_by_more_than_e_to_epsilon(name, epsilon):
    encoder = made(name, epsilon)
    walked = [distribution(lambda coins, value=value: encoder.encode(value, coins)) for value in range(encoder.domain)]
    assert all(sum(one.values()) == 1 for one in walked)
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), epsilon)


@pytest.mark.parametrize(("name", "epsilon"), CASES)
def test_the_stated_probabilities_are_those_that_are_drawn(name, epsilon):
    encoder = made(name, epsilon)
    for value in range(encoder.domain):
        walked = distribution(lambda coins, value=value: encoder.encode(value, coins))
        assert all(0 <= report < encoder.outputs for report in walked)
        assert walked == {report: encoder.probability(report, value) for report in walked}


@pytest.mark.parametrize("name", CATEGORICAL)
def test_a_report_supports_its_own_and_any_other_category_as_often_as_stated(name):
    """And so estimates are unbiased: exactly, for every pair of categories, hashing included."""
    encoder = made(name, 1)
    for value in range(encoder.domain):
        walked = distribution(lambda coins, value=value: encoder.encode(value, coins))
        for other in range(encoder.domain):
            support = sum(mass for report, mass in walked.items() if encoder.supports(report, other))
            assert support == (encoder.kept if other == value else encoder.others)


@pytest.mark.parametrize("name", CATEGORICAL)
@pytest.mark.parametrize("wrong", [-1, 10**40])
def test_an_impossible_category_is_reported_like_category_zero_and_never_by_an_error(name, wrong):
    encoder = made(name, 1)
    walked, zero = (distribution(lambda coins, value=value: encoder.encode(value, coins)) for value in (wrong, 0))
    assert walked == zero


@pytest.mark.parametrize("name", CATEGORICAL)
def test_a_packed_report_is_as_short_as_can_be_and_comes_back(name):
    encoder = made(name, 1)
    for report in range(encoder.outputs):
        data = pack(encoder, report)
        assert len(data) == report_bytes(encoder) == max(1, -(-(encoder.outputs - 1).bit_length() // 8))
        assert unpack(encoder, data) == report


@given(
    name=st.sampled_from(
        ["k-ary 5", "optimal unary 4", "symmetric unary", "hashing 5 into 3", "hashing 6 into 4", "subset 6"]
    ),
    epsilon=st.one_of(
        st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6),
        st.integers(1, 99).map(lambda digits: Fraction(1, 10**digits)),
    ),
)
@settings(max_examples=60)
def test_whatever_the_epsilon_no_report_is_more_likely_than_by_a_factor_of_e_to_it(name, epsilon):
    """By the stated probabilities, which are those that are drawn; down to where e^ε is hardly above 1."""
    encoder = made(name, epsilon)
    ratio = max(
        encoder.probability(report, first) / encoder.probability(report, second)
        for report in range(encoder.outputs)
        for first in range(encoder.domain)
        for second in range(encoder.domain)
        if encoder.probability(report, second)
    )
    bits = 1024
    assert ratio > 1
    assert ratio * exp_minus(epsilon, bits)[1] <= 1 << bits


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**99), Fraction(1, 10**25), Fraction(1, 10**6), 1, 20])
def test_odds_are_above_one_and_at_most_e_to_epsilon(epsilon):
    odds, bits = odds_below(Fraction(epsilon)), 1024
    assert odds > 1
    assert odds * exp_minus(Fraction(epsilon), bits)[1] <= 1 << bits
    assert 1 < root_below(odds) ** 2 <= odds


# RAPPOR: a permanent answer, and reports about it.


@pytest.fixture
def rappor():
    return Rappor.for_epsilon(domain=3, epsilon=2, once=Fraction(1, 2))


def test_a_permanent_answer_costs_what_is_stated_for_ever(rappor):
    walked = [distribution(lambda coins, value=value: rappor.permanent(value, coins)) for value in range(3)]
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), 2)


@pytest.mark.parametrize("times", [1, 2])
def test_reports_of_one_permanent_answer_never_cost_more_than_it_does(times):
    encoder = Rappor.for_epsilon(domain=2, epsilon=1, once=Fraction(1, 2))

    def reports(value, coins):
        kept = encoder.permanent(value, coins)
        return tuple(encoder.instant(kept, coins) for _ in range(times))

    walked = [distribution(lambda coins, value=value: reports(value, coins)) for value in range(2)]
    ratio = worst_ratio(*walked)
    assert exp_up(Fraction(1, 2)) * TIGHT <= ratio <= exp_down(Fraction(1))
    assert (ratio > exp_up(Fraction(1, 2))) == (times == 2)


def test_one_report_of_rappor_costs_what_is_stated_for_once(rappor):
    walked = [distribution(lambda coins, value=value: rappor.encode(value, coins)) for value in range(3)]
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), Fraction(1, 2))
    assert rappor.once <= Fraction(1, 2) + Fraction(1, 10**15)
    for value, each in enumerate(walked):
        assert each == {report: rappor.probability(report, value) for report in each}


@pytest.mark.parametrize(("ever", "once"), [(Fraction(1, 3), Fraction(1, 7)), (Fraction(2, 3), Fraction(1, 3))])
def test_rappor_states_no_more_than_was_asked_for(ever, once):
    encoder = Rappor.for_epsilon(domain=4, epsilon=ever, once=once)
    assert ever - Fraction(1, 10**14) < encoder.epsilon <= ever
    assert once - Fraction(1, 10**14) < encoder.once <= once


def test_rappor_as_its_paper_states_it_costs_what_its_paper_states():
    """Of f = 1/2, p = 1/2, q = 3/4: e^ε = 9 for ever; once by q* and p*."""
    paper = Rappor(domain=2, flip=Fraction(1, 4), low=Fraction(1, 2), high=Fraction(3, 4))
    walked = [distribution(lambda coins, value=value: paper.permanent(value, coins)) for value in range(2)]
    assert worst_ratio(*walked) == 9 <= exp_down(paper.epsilon)
    high, low = Fraction(11, 16), Fraction(9, 16)
    once = [distribution(lambda coins, value=value: paper.encode(value, coins)) for value in range(2)]
    assert worst_ratio(*once) == high * (1 - low) / (low * (1 - high)) <= exp_down(paper.once)


# Numbers and vectors.

NUMBERS = {"duchi": NumberResponse.duchi, "piecewise": NumberResponse.piecewise, "hybrid": NumberResponse.hybrid}
VALUES = [-3, Fraction(1, 7), 2]  # from bound to bound, and not on a place


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 4])
def test_no_report_tells_two_numbers_apart_by_more_than_e_to_epsilon(name, epsilon):
    encoder = NUMBERS[name](bounds=Bounds(-3, 2), epsilon=epsilon)
    walked = [distribution(lambda coins, value=value: encoder.encode(value, coins)) for value in VALUES]
    assert all(sum(one.values()) == 1 for one in walked)
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), epsilon)
    assert walked[1] == {report: encoder.probability(report, VALUES[1]) for report in walked[1]}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 4])
def test_a_decoded_number_is_right_on_average_and_varies_by_no_more_than_stated(name, epsilon):
    encoder = NUMBERS[name](bounds=Bounds(-3, 2), epsilon=epsilon)
    variances = []
    for value in [-3, -2, Fraction(-1, 2), 0, Fraction(1, 7), 2]:
        chances = {report: encoder.probability(report, value) for report in range(encoder.outputs)}
        mean = sum(mass * encoder.decode(report) for report, mass in chances.items())
        assert abs(mean - value) <= Fraction(5, 1 << 33)  # half a step of the grid
        variances.append(sum(mass * encoder.decode(report) ** 2 for report, mass in chances.items()) - mean**2)
    assert encoder.variance * Fraction(99, 100) < max(variances) <= encoder.variance


def test_hybrid_varies_less_than_either_of_its_parts():
    for epsilon in (Fraction(3, 4), 1, 2, 4):
        duchi, piecewise, hybrid = (make(bounds=Bounds(-1, 1), epsilon=epsilon).variance for make in NUMBERS.values())
        assert hybrid < min(duchi, piecewise)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
def test_what_is_no_number_or_out_of_bounds_is_reported_like_a_number_within(value):
    encoder = NumberResponse.duchi(bounds=Bounds(0, 10), epsilon=1)
    like = 10 if value > 0 else 0 if value < 0 else 5
    walked, same = (distribution(lambda coins, each=each: encoder.encode(each, coins)) for each in (value, like))
    assert walked == same


@pytest.mark.parametrize(("size", "epsilon", "told"), [(2, Fraction(1, 2), 1), (3, Fraction(1, 2), 1)])
def test_no_report_tells_two_vectors_apart_by_more_than_e_to_epsilon(size, epsilon, told):
    encoder = VectorResponse(size=size, bounds=Bounds(-1, 1), epsilon=epsilon)
    assert encoder.told == told
    vectors = [[1] * size, [-1] * size, [Fraction(1, 3)] * size]
    walked = [distribution(lambda coins, vector=vector: encoder.encode(vector, coins)) for vector in vectors]
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), epsilon)


def test_a_vector_pays_for_each_coordinate_that_it_tells():
    encoder = VectorResponse(size=8, bounds=Bounds(-1, 1), epsilon=6)
    assert encoder.told == 2
    assert encoder.each.epsilon * encoder.told == 6
    report = encoder.encode([0.5] * 8)
    assert len({coordinate for coordinate, _ in encoder.parts(report)}) == 2
    assert 0 <= report < encoder.outputs


def test_no_report_tells_two_vectors_apart_by_more_than_epsilon_where_several_coordinates_are_told(monkeypatch):
    """With few levels, so that all pairs of reports can be walked: the code is the same."""
    monkeypatch.setattr("discreet.local.device.numbers.LEVELS", 6)
    monkeypatch.setattr("discreet.local.device.numbers.NEAR", 1)
    encoder = VectorResponse(size=3, bounds=Bounds(-1, 1), epsilon=5)
    assert encoder.told == 2
    vectors = [[1, 1, -1], [-1, -1, 1], [0, Fraction(1, 3), 1]]
    walked = [distribution(lambda coins, vector=vector: encoder.encode(vector, coins)) for vector in vectors]
    assert all(sum(one.values()) == 1 for one in walked)
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), 5)


# Texts and surveys.


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 1, 2])
def test_no_report_tells_two_texts_apart_by_more_than_e_to_epsilon(monkeypatch, epsilon):
    """With an alphabet of two bytes, so that all can be walked: the code is the same."""
    monkeypatch.setattr("discreet.local.device.prefixes.BYTE", 2)
    tree = PrefixTree(length=2, epsilon=epsilon)
    texts = [b"\0", b"\0\1", b"\1\0", b"\1\1\1"]
    walked = [distribution(lambda coins, text=text: tree.encode(text, coins)) for text in texts]
    assert all(sum(one.values()) == 1 for one in walked)
    assert all(report < tree.outputs for report in walked[0])
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), epsilon)
    for one in walked:
        levels = [sum(mass for report, mass in one.items() if tree.part(report)[0] == level) for level in (0, 1)]
        assert levels == [Fraction(1, 2)] * 2  # how long a prefix is told does not depend on the text


def test_no_report_of_all_bytes_tells_two_letters_apart_by_more_than_e_to_epsilon():
    tree = PrefixTree(length=1, epsilon=1)
    walked = [distribution(lambda coins, text=text: tree.encode(text, coins)) for text in ("a", "b", "")]
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), 1)


@pytest.mark.parametrize("ways", [1, 2, 3])
def test_no_report_tells_two_people_apart_by_more_than_e_to_epsilon(ways):
    survey = Survey(attributes={"a": 2, "b": 3, "c": 2}, epsilon=1, ways=ways)
    people = [{"a": 0, "b": 0, "c": 0}, {"a": 1, "b": 2, "c": 1}, {"a": 1, "b": 1}, {}]
    walked = [distribution(lambda coins, person=person: survey.encode(person, coins)) for person in people]
    assert within(max(worst_ratio(*pair) for pair in combinations(walked, 2)), 1)
    for one in walked:
        shares = [sum(mass for report, mass in one.items() if survey.part(report)[0] == each) for each in range(3)]
        many = len(survey.marginals)
        assert shares[:many] == [Fraction(1, many)] * many  # which marginal is told does not depend on the person

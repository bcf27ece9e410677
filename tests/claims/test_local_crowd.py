"""A crowd at once reports with the same probabilities as one device after another, and errors are those of theory."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.core import Bounds
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
    encode_all,
    encode_survey,
    encode_texts,
    estimate,
    instant_all,
    variance_of,
)
from discreet.local.server.packed import pack_sets, unpack_sets
from scripted import Seeded

SMALL = {
    "k-ary": KaryResponse(domain=5, epsilon=1),
    "optimal unary": Unary.optimal(domain=4, epsilon=1),
    "symmetric unary": Unary.symmetric(domain=4, epsilon=1),
    "subset": SubsetSelection(domain=6, epsilon=1),
    "subset of one": SubsetSelection(domain=5, epsilon=3),
    "rappor": Rappor.for_epsilon(domain=4, epsilon=2, once=1),
    "Hadamard": Hadamard(domain=6, epsilon=1),
    "hashing into 2": LocalHashing(domain=5, epsilon=1, buckets=2),
    "hashing into 3": LocalHashing(domain=5, epsilon=1, buckets=3),
    "hashing into 4": LocalHashing(domain=10, epsilon=1, buckets=4),
}
#: A false alarm of one test in 10⁴; seeds are fixed, so that what passes keeps passing.
ALPHA = 1e-4
PEOPLE = 40_000


def numbers(encoder, rows):
    """Return the reports of a crowd as devices would send them."""
    match encoder:
        case LocalHashing():
            seed = sum(rows[:, place].astype(int) * encoder.buckets**place for place in range(encoder.digits))
            return (seed * encoder.buckets + rows[:, -1]).tolist()
        case Unary() | SubsetSelection() | Rappor():
            return unpack_sets(rows)
        case _:
            return rows.tolist()


def fits(reports, chances):
    """Whether reports are drawn with these chances, by a chi-square test; and that nothing impossible is among them."""
    counts = np.bincount(reports, minlength=len(chances))
    possible = np.array([chance > 0 for chance in chances])
    assert not counts[~possible].any()
    expected = np.array([float(chance) for chance in chances]) * len(reports)
    return stats.chisquare(counts[possible], expected[possible]).pvalue > ALPHA


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("value", [0, 3])
def test_a_crowd_reports_with_the_probabilities_of_one_device(name, value):
    encoder = SMALL[name]
    rows = encode_all(encoder, np.full(PEOPLE, value), entropy=Seeded(11 + value))
    chances = [encoder.probability(report, value) for report in range(encoder.outputs)]
    assert sum(chances) == 1
    assert fits(numbers(encoder, rows), chances)


@pytest.mark.parametrize("name", ["duchi", "piecewise", "hybrid"])
def test_a_crowd_tells_numbers_with_the_probabilities_of_one_device(name):
    encoder = getattr(NumberResponse, name)(bounds=Bounds(0, 10), epsilon=2)
    rows = encode_all(encoder, np.full(200_000, 3.3), entropy=Seeded(5))
    chances = [encoder.probability(report, 3.3) for report in range(encoder.outputs)]
    assert fits(rows, chances)


def test_a_crowd_tells_each_coordinate_equally_often_and_never_twice():
    encoder = VectorResponse(size=5, bounds=Bounds(-1, 1), epsilon=6)
    rows = encode_all(encoder, np.full((PEOPLE, 5), 0.25), entropy=Seeded(8))
    coordinates = rows // encoder.each.outputs
    assert np.all(coordinates[:, 0] < coordinates[:, 1])
    pairs = coordinates[:, 0] * 5 + coordinates[:, 1]
    chances = [Fraction(1, 10) if pair // 5 < pair % 5 else Fraction(0) for pair in range(25)]
    assert fits(pairs, chances)
    told = rows[:, 0] % encoder.each.outputs
    assert fits(told, [encoder.each.probability(report, 0.25) for report in range(encoder.each.outputs)])


def test_instant_reports_of_a_crowd_are_those_of_one_device():
    encoder = Rappor.for_epsilon(domain=3, epsilon=2, once=1)
    kept = pack_sets([0b101] * PEOPLE, 3)
    chances = []
    for report in range(8):
        bits = [(encoder.high if 0b101 >> place & 1 else encoder.low, report >> place & 1) for place in range(3)]
        chances.append(np.prod([float(chance if bit else 1 - chance) for chance, bit in bits]))
    assert fits(unpack_sets(instant_all(encoder, kept, entropy=Seeded(4))), chances)


def test_a_crowd_of_texts_reports_with_the_probabilities_of_one_device():
    tree = PrefixTree(length=2, epsilon=Fraction(11, 10))
    rows = encode_texts(tree, ["ab"] * PEOPLE, entropy=Seeded(3))
    assert stats.binomtest(len(rows[0]), PEOPLE, 0.5).pvalue > ALPHA
    for level, encoder in enumerate(tree.levels):
        category = tree.category(b"ab"[: level + 1])
        support = sum(encoder.supports(report, category) for report in numbers(encoder, rows[level]))
        assert stats.binomtest(support, len(rows[level]), float(encoder.kept)).pvalue > ALPHA
        other = tree.category(b"xy"[: level + 1])
        support = sum(encoder.supports(report, other) for report in numbers(encoder, rows[level]))
        assert stats.binomtest(support, len(rows[level]), float(encoder.others)).pvalue > ALPHA


def test_a_crowd_of_a_survey_reports_with_the_probabilities_of_one_device():
    survey = Survey(attributes={"a": 2, "b": 3, "c": 2}, epsilon=1)
    person = {"a": 1, "b": 2, "c": 0}
    rows = encode_survey(survey, {name: np.full(PEOPLE, value) for name, value in person.items()}, entropy=Seeded(31))
    assert fits(np.repeat(range(3), [len(rows[number]) for number in range(3)]), [Fraction(1, 3)] * 3)
    for number, encoder in enumerate(survey.encoders):
        cell = survey.cell(number, person)
        chances = [encoder.probability(report, cell) for report in range(encoder.outputs)]
        assert fits(numbers(encoder, rows[number]), chances)


#: n·Var of an estimated share, by theory: domain 1024, ε = 1.
THEORY = {
    "optimal unary": (Unary.optimal(domain=1024, epsilon=1), 3.68, 40),
    "hashing": (LocalHashing(domain=1024, epsilon=1), 3.69, 60),
    "Hadamard": (Hadamard(domain=1024, epsilon=1), 4.68, 60),
    "subset": (SubsetSelection(domain=1024, epsilon=1), 3.67, 30),
    "k-ary": (KaryResponse(domain=1024, epsilon=1), 348, 60),
}


@pytest.mark.parametrize("name", THEORY)
def test_the_mean_squared_error_is_that_of_theory_within_three_per_cent(name):
    """Seed 100; 1024 categories and so many runs of 10,000 people: 3 % are about four standard deviations."""
    encoder, stated, runs = THEORY[name]
    theory = variance_of(encoder, Fraction(1, 1024))
    assert abs(theory - stated) < 0.005 * stated
    people, stream = 10_000, Seeded(100)
    values = np.arange(people) % 1024
    truth = np.bincount(values, minlength=1024)
    squares = [
        np.mean((estimate(encoder, encode_all(encoder, values, entropy=stream)).counts - truth) ** 2) / people
        for _ in range(runs)
    ]
    assert abs(np.mean(squares) / theory - 1) < 0.03


def test_a_value_that_is_no_number_lies_in_the_middle_of_the_bounds():
    encoder = NumberResponse.duchi(bounds=Bounds(10, 30), epsilon=1)
    missing, middle, low = (
        encode_all(encoder, np.full(500, value), entropy=Seeded(3)) for value in (np.nan, 20.0, 10.0)
    )
    assert missing.tolist() == middle.tolist()
    assert missing.tolist() != low.tolist()

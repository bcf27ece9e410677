"""Exactness of single draws and coins, shown by walking the coins of the real code."""

from fractions import Fraction

import numpy as np
import pytest

from coins import SPARE, chance, exponential, threshold
from discreet import noise
from discreet.core import exp_minus
from discreet.noise import sampling as direct
from scripted import Scripted

TOLERANCE = Fraction(1, 10**12)
SCALES = [Fraction(1, 50), Fraction(1, 2), Fraction(1), Fraction(22, 7), Fraction(1000), Fraction(2**24)]
HIGH, LOW = (1 << 64) - 1, 0
#: A uniform number so near to one that every geometric draw of a moderate scale is 0, and surely so.
NEAR_ONE = HIGH - (1 << 50)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_geometric_draw_reaches_k_for_exactly_the_words_below_exp(scale):
    """P(G ≥ k) = e^−k/scale: the words on either side of the bound fall on either side of k."""
    for k in [1, 2, 3, 10, int(scale), int(scale) + 1, int(5 * scale) + 1, int(20 * scale) + 1]:
        low, high = exp_minus(k / scale, 64)
        if low < 8 or k == 0:
            continue  # beyond 64 bits; the next test has those
        assert direct._geometric(scale, Scripted([low - 2, *SPARE])) >= k
        assert direct._geometric(scale, Scripted([high + 2, *SPARE])) < k


def test_a_geometric_draw_on_the_edge_is_decided_by_further_bits():
    scale = Fraction(3)
    bound = exp_minus(1 / scale, 128)[0]
    word, rest = bound >> 64, bound & HIGH
    assert direct._geometric(scale, Scripted([word, rest - 3, *SPARE])) == 1
    assert direct._geometric(scale, Scripted([word, rest + 6, *SPARE])) == 0


def test_a_geometric_draw_far_out_is_decided_by_further_bits():
    """A word of zeros is a uniform number below 2⁻⁶⁴: 45 scales out at the least."""
    value = direct._geometric(Fraction(10), Scripted([0, 1 << 63, *SPARE]))
    assert value == 450  # −10·ln(2⁻⁶⁵) = 450.5
    value = direct._geometric(Fraction(10), Scripted([0, 0, 1 << 63, *SPARE]))
    assert value == 894  # −10·ln(2⁻¹²⁹) = 894.1


@pytest.mark.parametrize("scale", [Fraction(2**25), Fraction(10**12, 7), Fraction(10**30)], ids=str)
def test_the_low_bits_of_wide_draws_are_taken_with_the_exact_probability(scale):
    bits = int(scale).bit_length() - direct.KEPT_BITS
    words = -(-bits // 64)
    for low in [0, 1, (1 << bits) // 2, (1 << bits) - 1]:
        place = low << (64 * words - bits)
        pieces = [(place >> (64 * i)) & HIGH for i in range(words)]

        def run(stream, low=low):
            # The second try is sure to be taken: its low bits are 5.
            return direct._wide_geometric(scale, stream) % (1 << bits) == low

        retry = [(5 << (64 * words - bits)) >> (64 * i) & HIGH for i in range(words)]
        before = (1 << 63, *pieces)
        taken = [run(Scripted([*before, word, *retry, 0, *SPARE])) for word in (0, (1 << 64) - (1 << 46) - 1)]
        assert taken == [True, True]
        share = chance_with(run, before, [*retry, 0])
        assert abs(share - exponential(low / scale)) < TOLERANCE


def chance_with(run, before, after):
    return Fraction(threshold(lambda word: run(Scripted([*before, word, *after, *SPARE]))), 1 << 64)


def test_zero_is_drawn_as_often_as_the_shape_says_and_not_twice():
    """Minus zero starts again: plus and minus k are equally likely, and zero has one way only."""
    zero = NEAR_ONE
    one = exp_minus(Fraction(1, 2), 64)[0] - 5  # just below e^−1/2: G = 1 at scale 2
    assert direct._laplace(Fraction(2), Scripted([zero, 0])) == 0
    assert direct._laplace(Fraction(2), Scripted([one, 0])) == 1
    assert direct._laplace(Fraction(2), Scripted([one, 1])) == -1
    assert direct._laplace(Fraction(2), Scripted([zero, 1, one, 0])) == 1


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(1), Fraction(37, 5), Fraction(10**6)], ids=str)
def test_laplace_times_acceptance_is_the_gaussian(variance):
    width = direct.math.isqrt(int(variance)) + 1
    spread = max(1, int(variance) ** 0.5)

    def ratio(x):
        """Return P(x) up to a constant: the Laplace proposal times the walked chance of taking it."""
        place = exp_minus(Fraction(x, width), 64)[0] - 5 if x else NEAR_ONE

        def run(stream):
            return direct._gaussian(variance, stream) == x

        share = chance_until(run, (place, 0))
        return exponential(Fraction(x, width)) * share

    base = ratio(0)
    for x in [1, 2, int(spread), int(2 * spread)]:
        expected = exponential(x * x / (2 * variance))
        assert abs(ratio(x) / base / expected - 1) < TOLERANCE


def chance_until(run, before):
    """Return the chance that a proposal is taken at once: after it the script ends, which counts as not taken."""

    def taken(word):
        try:
            return run(Scripted([*before, word]))
        except IndexError:
            return False

    return Fraction(threshold(taken), 1 << 64)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(3, 4), Fraction(1, 10**30), Fraction(10**20 - 1, 10**20)])
def test_a_coin_comes_up_with_exactly_its_probability(p):
    share = chance(lambda stream: noise.bernoulli(p, entropy=stream))
    assert abs(share - p) <= Fraction(1, 1 << 64)


def test_a_coin_on_the_edge_is_decided_by_further_bits():
    third = (1 << 64) // 3
    assert noise.bernoulli(Fraction(1, 3), entropy=Scripted([third, 0])) is True
    assert noise.bernoulli(Fraction(1, 3), entropy=Scripted([third, HIGH])) is False


def test_sure_coins_are_sure():
    for word in (LOW, HIGH):
        assert noise.bernoulli(1, entropy=Scripted([word])) is True
        assert noise.bernoulli(0, entropy=Scripted([word, *SPARE])) is False
        assert noise.bernoulli_exp(0, entropy=Scripted([word, *SPARE])) is True


@pytest.mark.parametrize("x", [Fraction(1, 10**9), Fraction(1), Fraction(7, 3), Fraction(40)])
def test_an_exponential_coin_comes_up_with_exactly_its_probability(x):
    share = chance(lambda stream: noise.bernoulli_exp(x, entropy=stream))
    assert abs(share - exponential(x)) <= Fraction(1, 1 << 63)


@pytest.mark.parametrize("bound", [2, 3, 10, 255, 256, 257])
def test_every_number_below_a_bound_has_the_same_number_of_words(bound):
    bits = (bound - 1).bit_length()
    words = [place << (64 - bits) for place in range(1 << bits)]
    taken = [noise.below(bound, 1, entropy=Scripted([word, 0])) for word in words if word >> (64 - bits) < bound]
    assert sorted(int(value[0]) for value in taken) == list(range(bound))
    for word in words:
        if word >> (64 - bits) >= bound:
            stream = Scripted([word, 0])
            assert noise.below(bound, 1, entropy=stream)[0] == 0
            assert stream.left == 0  # the first word was thrown away


def test_numbers_below_a_bound_of_many_bits_are_uniform():
    bound = 3 << 200
    values = [noise.below(bound) for _ in range(2000)]
    assert all(0 <= value < bound for value in values)
    assert abs(np.mean([value / bound for value in values]) - 0.5) < 0.05
    assert noise.below(1 << 70, 5).dtype == object
    assert noise.below(1, 3, entropy=Scripted([])).tolist() == [0, 0, 0]
    assert noise.below(1 << 63, 5).dtype == np.int64


def test_a_choice_by_integer_weights_is_exact():
    weights = [3, 0, 5, 1 << 70]
    total = sum(weights)
    bits = (total - 1).bit_length()
    for place, expected in [(0, 0), (2, 0), (3, 2), (7, 2), (8, 3), (total - 1, 3)]:
        whole = place << (128 - bits)
        stream = Scripted([whole & HIGH, whole >> 64, *SPARE])
        assert noise.choose(weights, entropy=stream) == expected


def test_a_choice_by_scores_takes_each_candidate_with_the_exact_probability():
    """Weights are upper bounds; what is walked is the chance that a picked candidate is taken."""
    for scores in (np.array([0, 3, 7]), np.array([0.25, -3.5, 7.0]), np.array([10**30, 0, 10**30 - 4], object)):
        choice = noise.ExpChoice(scores, Fraction(1, 3))
        weights = [int(w) for w in choice._weights(0)]
        masses = [
            weight * chance(lambda stream, i=i, w=weight, choice=choice: choice._takes(i, w, stream))
            for i, weight in enumerate(weights)
        ]
        best = int(np.argmax([float(s) for s in scores]))
        for score, mass in zip(scores.tolist(), masses, strict=True):
            gap = Fraction(scores.tolist()[best]) - Fraction(score)
            assert abs(mass / masses[best] - exponential(gap / 3)) < TOLERANCE


def test_a_candidate_with_hardly_a_chance_is_picked_by_its_weight_and_then_not_taken():
    """Every weight is at least 1, but e^−1000 is not: without the second decision it would come up once in 2³⁷."""
    choice = noise.ExpChoice(np.array([0, -1000]), 1)
    first, last = (int(weight) for weight in choice._weights(0))
    assert last == 1
    bits = (first + last - 1).bit_length()
    pick_last, pick_first = first << (64 - bits), 0
    stream = Scripted([pick_last, 1 << 40, pick_first, 1 << 40, *SPARE])
    assert choice.draw(stream) == 0
    assert stream.left == len(SPARE)


@pytest.mark.parametrize(
    "scores",
    [np.array([0, -3]), np.array([0.5, -2.5]), np.array([10**30, 10**30 - 3], object), np.array([5, -(2**62)])],
    ids=lambda scores: str(scores.dtype),
)
def test_each_coin_of_a_toss_comes_up_with_the_exact_probability(scores):
    """By the first 32 bits, and by further ones at their edge."""
    rate = Fraction(1, 3)
    gap = Fraction(scores[0].item() if scores.dtype != object else scores[0])
    gap -= Fraction(scores[1].item() if scores.dtype != object else scores[1])

    def up(word, *rest):
        return 1 in noise.toss_exp(scores, rate, entropy=Scripted([0, word, *rest, *SPARE])).tolist()

    edge = threshold(lambda word: up(word, HIGH), bits=32)
    further = threshold(lambda word: up(edge, word))
    walked = Fraction(edge, 1 << 32) + Fraction(further, 1 << 96)
    assert abs(walked - exponential(rate * gap)) < Fraction(1, 1 << 90)
    assert 0 in noise.toss_exp(scores, rate, entropy=Scripted([(1 << 32) - 1, 0, *SPARE])).tolist()


def test_many_choices_at_once_are_those_of_one_at_a_time():
    weights = [3, 0, 5, 8]
    places = [0, 2, 3, 7, 8, 15]
    words = [place << 60 for place in places]
    assert noise.choose(weights, 6, entropy=Scripted(words)).tolist() == [0, 0, 2, 2, 3, 3]
    assert [noise.choose(np.array(weights), entropy=Scripted([word])) for word in words] == [0, 0, 2, 2, 3, 3]
    wide = noise.choose([1 << 80, 1 << 80], (500, 4))
    assert wide.shape == (500, 4)
    assert 800 < wide.sum() < 1200  # nine deviations of 2000 fair coins
    counts = np.bincount(noise.choose_exp(np.array([0, 1]), Fraction(1), 2000), minlength=2)
    assert abs(counts[1] / 2000 - 0.7311) < 0.09  # nine deviations

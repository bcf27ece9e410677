"""The best k, chosen by score: no neighbour is told apart by more than ε, and draws are what is stated."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.accounting import BoundedRange, Pure, Repeated, approximate_of, concentrated_of
from discreet.mechanisms.selection.choice import ExponentialMechanism, NoiseKind, ReportNoisyMax, largest
from discreet.mechanisms.selection.top_k import TopK, TopKMethod
from scripted import Scripted, Seeded

#: What the float sums behind `probability` may be off by, relatively.
PRECISE = 1e-12
#: A privacy loss is a difference of two logarithms of those.
ROUNDING = 1 + 1e-9
#: A fixed stream either passes for ever or never; one honest stream in ten thousand would fail.
ALPHA = 1e-4

METHODS = pytest.mark.parametrize("method", list(TopKMethod))
MONOTONE = pytest.mark.parametrize("monotone", [False, True])


def odds(mechanism, scores):
    """Return the chance of every ordered outcome."""
    outcomes = itertools.permutations(range(len(scores)), mechanism.k)
    return np.array([mechanism.probability(np.array(scores), outcome) for outcome in outcomes])


def worst_loss(mechanism, candidates, top, ways):
    every = itertools.product(range(top + 1), repeat=candidates)
    memory = {}

    def logs(scores):
        lowest = min(scores)  # only differences matter
        key = tuple(score - lowest for score in scores)
        if key not in memory:
            memory[key] = np.log(odds(mechanism, key))
        return memory[key]

    return max(
        float(np.abs(logs(scores) - logs(tuple(map(sum, zip(scores, moves, strict=True))))).max())
        for scores, moves in itertools.product(every, itertools.product(ways, repeat=candidates))
    )


# What is stated is what is drawn from.


@METHODS
@pytest.mark.parametrize("scores", [(0, 1, 3), (2, 2, 2), (4, 0, 4, 1)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_chances_of_all_outcomes_add_up_to_one(method, scores, k):
    assert odds(TopK(k=k, epsilon=2, method=method), scores).sum() == pytest.approx(1, rel=PRECISE)


@pytest.mark.parametrize("scores", [(0, 1, 3), (2, 2, 2), (4, 0, 4)])
def test_one_shot_states_the_chances_of_all_noise_triples(scores):
    mechanism = TopK(k=2, epsilon=6, method=TopKMethod.ONE_SHOT)
    rate, reach = 1.5, np.arange(-45, 46)  # e^(−1.5·45) is 5·10⁻³⁰
    density = math.tanh(rate / 2) * np.exp(-rate * np.abs(reach))
    noisy = np.stack(np.meshgrid(*(score + reach for score in scores), indexing="ij")).reshape(3, -1)
    joint = (density[:, None, None] * density[None, :, None] * density[None, None, :]).ravel()
    order = np.argsort(-noisy, axis=0, kind="stable")
    for first, second in itertools.permutations(range(3), 2):
        expected = joint[(order[0] == first) & (order[1] == second)].sum()
        assert mechanism.probability(scores, (first, second)) == pytest.approx(expected, rel=PRECISE)


def test_peeling_states_one_round_of_the_exponential_mechanism_after_another():
    mechanism, once = TopK(k=2, epsilon=3, sensitivity=2), ExponentialMechanism(epsilon=1.5, sensitivity=2)
    first, second = once.probabilities([5, 1, 4])[2], once.probabilities([5, 1])[0]
    assert mechanism.probability([5, 1, 4], (2, 0)) == pytest.approx(first * second, rel=PRECISE)


@METHODS
def test_the_best_one_is_chosen_as_by_a_single_selection(method):
    single = ReportNoisyMax(epsilon=1, noise=NoiseKind.GUMBEL if method is TopKMethod.PEELING else NoiseKind.LAPLACE)
    top = TopK(k=1, epsilon=1, method=method)
    assert odds(top, (3, 0, 2)) == pytest.approx(single.probabilities([3, 0, 2]), rel=PRECISE)
    assert approximate_of(top.cost) == approximate_of(single.cost)


# Privacy.


@METHODS
@MONOTONE
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 3])
def test_no_top_two_exceed_their_epsilon_on_any_neighbouring_scores(method, monotone, epsilon):
    mechanism = TopK(k=2, epsilon=epsilon, monotone=monotone, method=method)
    assert worst_loss(mechanism, 3, 3, (0, 1) if monotone else (-1, 0, 1)) <= epsilon * ROUNDING


@METHODS
def test_no_top_two_of_four_exceed_their_epsilon(method):
    assert worst_loss(TopK(k=2, epsilon=1, method=method), 4, 1, (-1, 0, 1)) <= ROUNDING


@METHODS
@MONOTONE
def test_the_loss_comes_within_a_hundredth_of_epsilon(method, monotone):
    """Three rivals far ahead: two laggards win only by their own noise, each of which the neighbour shifts in full."""
    mechanism = TopK(k=2, epsilon=1, monotone=monotone, method=method)
    loss = laggards_loss(mechanism, [1, 1, 80, 80, 80] if monotone else [1, 1, 79, 79, 79])
    assert 0.99 <= loss <= ROUNDING


@METHODS
def test_claiming_monotone_scores_that_are_not_would_be_caught(method):
    assert laggards_loss(TopK(k=2, epsilon=1, monotone=True, method=method), [1, 1, 79, 79, 79]) > 1.9


def laggards_loss(mechanism, neighbour):
    return math.log(mechanism.probability(neighbour, (0, 1)) / mechanism.probability([0, 0, 80, 80, 80], (0, 1)))


def test_the_costs_are_those_of_the_rounds_and_of_the_noise():
    assert TopK(k=4, epsilon=2).cost == Repeated(BoundedRange(Fraction(1, 2)), 4)
    assert concentrated_of(TopK(k=4, epsilon=2).cost)[0] == Fraction(4, 8 * 4)
    assert TopK(k=4, epsilon=2, method=TopKMethod.ONE_SHOT).cost == Pure(2)


# Draws.


@METHODS
@pytest.mark.parametrize(
    "scores", [np.array([3, 0, 2, 3]), np.array([1.5, 0.25, 3.0]), [0.1, Fraction(7, 3), 3]], ids=str
)
def test_choices_are_distributed_as_stated(method, scores):
    mechanism, stream, draws = TopK(k=2, epsilon=2, method=method), Seeded(21), 3000
    seen = Counter(mechanism.choose(scores, entropy=stream) for _ in range(draws))
    outcomes = list(itertools.permutations(range(len(scores)), 2))
    stated = np.array([mechanism.probability(scores, outcome) for outcome in outcomes])
    assert stats.chisquare([seen[outcome] for outcome in outcomes], draws * stated).pvalue > ALPHA


def test_all_candidates_can_be_ranked():
    for method in TopKMethod:
        assert sorted(TopK(k=5, epsilon=1, method=method).choose([4, 2, 2, 9, 0], entropy=Seeded(1))) == [*range(5)]


def test_ties_of_noisy_scores_go_to_the_lower_index():
    naught, two = int(0.9 * 2**64), int(math.exp(-0.6) * 2**64)  # noise of scale 4: −4·ln U, rounded down
    plus = 0
    mechanism = TopK(k=2, epsilon=1, method=TopKMethod.ONE_SHOT)
    assert mechanism.choose([5, 3, 5, 5], entropy=Scripted([naught, plus] * 4)) == (0, 2)
    lifted = [naught, plus, two, plus, naught, plus, naught, plus]
    assert mechanism.choose([5, 3, 5, 5], entropy=Scripted(lifted)) == (0, 1)


@pytest.mark.parametrize("kind", [np.int64, object])
def test_the_largest_are_found_as_by_sorting(kind):
    for seed in range(40):
        values = (Seeded(seed).words(30) % np.uint64(1 + seed)).astype(np.int64).astype(kind)
        order = sorted(range(30), key=lambda index: (-values[index], index))
        for k in (1, 2, 7, 29, 30):
            assert largest(values, k) == tuple(order[:k])


@METHODS
def test_the_best_of_a_million_are_found_when_they_stand_out(method):
    scores = np.zeros(1_000_000, np.int64)
    best = (999_999, 3, 77_777, 500_000)
    scores[list(best)] = [4000, 3000, 2000, 1000]
    for values in (scores, scores.astype(np.float64)):
        assert TopK(k=4, epsilon=1, method=method).choose(values) == best


@METHODS
def test_scores_beyond_all_floats_and_words_are_told_apart(method):
    mechanism = TopK(k=2, epsilon=1, method=method)
    for scores in (
        np.array([-(2**62), 2**62, 0]),
        np.array([-1e308, 1e308, 0.0]),
        np.array([-(10**90), 10**90, 0], object),
    ):
        assert mechanism.choose(scores, entropy=Seeded(5)) == (1, 2)


def test_noise_wider_than_64_bits_is_added_all_the_same():
    mechanism = TopK(k=2, epsilon=1e-16, method=TopKMethod.ONE_SHOT)
    seen = Counter(mechanism.choose([0, 10**17, -(10**17)], entropy=Seeded(seed)) for seed in range(60))
    assert seen[1, 0] > 30
    assert len(seen) > 1


# Error.


@METHODS
@MONOTONE
def test_the_error_is_exceeded_at_most_as_often_as_stated(method, monotone):
    """Two good candidates and three bad ones, just beyond the bound: the bad ones come in rarely enough."""
    mechanism = TopK(k=2, epsilon=4, monotone=monotone, method=method)
    for confidence in (0.5, 0.9, 0.99):
        bound = mechanism.error(confidence, candidates=5)
        assert bad_comes_in(mechanism, math.floor(bound) + 1) <= (1 - confidence) * ROUNDING
    assert bad_comes_in(mechanism, math.ceil(bound / 2)) > 0.01


def bad_comes_in(mechanism, gap):
    scores = [gap, gap, 0, 0, 0]
    return 1 - mechanism.probability(scores, (0, 1)) - mechanism.probability(scores, (1, 0))

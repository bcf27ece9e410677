"""One of several, chosen by score: no neighbour is told apart by more than ε, and draws are what is stated."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import BoundedRange, Pure, concentrated_of
from discreet.core import exp_minus
from discreet.mechanisms.selection.choice import ExponentialMechanism, NoiseKind, PermuteAndFlip, ReportNoisyMax
from discreet.mechanisms.selection.scores import read_scores
from discreet.noise import ExpChoice
from discreet.noise.choice import WEIGHT_BITS
from scripted import Scripted, Seeded

#: What the float sums behind `probabilities` may be off by, relatively.
PRECISE = 1e-12
#: A privacy loss is a difference of two logarithms of those.
ROUNDING = 1 + 1e-9

BOTH_WAYS = (-1, 0, 1)


def laplace_max(**terms):
    return ReportNoisyMax(noise=NoiseKind.LAPLACE, **terms)


KINDS = pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip, laplace_max])
MONOTONE = pytest.mark.parametrize("monotone", [False, True])
EPSILONS = pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 4])


def losses(mechanism, scores, moves, unit=1):
    """Return the privacy loss of each candidate, between scores and scores with moves, in units."""
    before = mechanism.probabilities([unit * score for score in scores])
    after = mechanism.probabilities([unit * (score + move) for score, move in zip(scores, moves, strict=True)])
    return np.log(before) - np.log(after)


def all_neighbours(candidates, top, monotone):
    """Yield every score vector with entries 0…top, and every move of it; removing a unit is adding it elsewhere."""
    ways = (0, 1) if monotone else BOTH_WAYS
    return itertools.product(
        itertools.product(range(top + 1), repeat=candidates), itertools.product(ways, repeat=candidates)
    )


def worst_loss(mechanism, pairs):
    memory = {}

    def logs(scores):
        if scores not in memory:
            memory[scores] = np.log(mechanism.probabilities(np.array(scores)))
        return memory[scores]

    return max(
        float(np.abs(logs(scores) - logs(tuple(map(sum, zip(scores, moves, strict=True))))).max())
        for scores, moves in pairs
    )


# What is stated is what is drawn from: `probabilities` against other ways to compute them.


def decimal_exp(exponent):
    with localcontext() as context:
        context.prec = 40
        return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()


@pytest.mark.parametrize("scores", [(0, 1, 3, 3), (5, -40, 5, 4), (0, 0, 0, 0), (-700, 0, 1, 2)])
def test_the_exponential_mechanism_states_e_to_the_scores(scores):
    mechanism = ExponentialMechanism(epsilon=Fraction(3, 2))
    weights = [decimal_exp(Fraction(3, 4) * score) for score in scores]
    expected = [float(weight / sum(weights)) for weight in weights]
    assert mechanism.probabilities(np.array(scores)) == pytest.approx(expected, rel=PRECISE)


@pytest.mark.parametrize("scores", [(0, 1, 3, 3), (5, -40, 5, 4), (0, 0, 0, 0), (-700, 0, 1, 2)])
def test_permute_and_flip_states_the_chances_of_visiting_candidates_in_random_order(scores):
    mechanism = PermuteAndFlip(epsilon=Fraction(3, 2))
    coins = [decimal_exp(Fraction(3, 4) * (score - max(scores))) for score in scores]
    orders = list(itertools.permutations(range(len(scores))))
    expected = []
    for winner in range(len(scores)):
        visits = [order[: order.index(winner)] for order in orders]
        met = sum(math.prod((1 - coins[other] for other in visit), start=Decimal(1)) for visit in visits)
        expected.append(float(coins[winner] * met / len(orders)))
    assert mechanism.probabilities(list(scores)) == pytest.approx(expected, rel=PRECISE)


def test_permute_and_flip_states_chances_that_add_up_for_thousands_of_candidates():
    for size in (2, 17, 4000):
        scores = np.cumsum(Seeded(1).words(size) % np.uint64(7)).astype(np.int64) / 1000.0
        assert PermuteAndFlip(epsilon=1).probabilities(scores).sum() == pytest.approx(1, rel=PRECISE)
    level = PermuteAndFlip(epsilon=1).probabilities(np.zeros(3000))
    assert level == pytest.approx(np.full(3000, 1 / 3000), rel=PRECISE)


@pytest.mark.parametrize("scores", [(0, 1, 3), (2, 2, 2), (4, 0, 4)])
def test_the_noisy_maximum_states_the_chances_of_all_noise_triples(scores):
    mechanism = laplace_max(epsilon=3)
    rate, reach = 1.5, np.arange(-45, 46)  # e^(−1.5·45) is 5·10⁻³⁰
    density = math.tanh(rate / 2) * np.exp(-rate * np.abs(reach))
    noisy = np.stack(np.meshgrid(*(score + reach for score in scores), indexing="ij"))
    joint = density[:, None, None] * density[None, :, None] * density[None, None, :]
    expected = np.bincount(noisy.argmax(axis=0).ravel(), weights=joint.ravel())
    assert mechanism.probabilities(scores) == pytest.approx(expected, rel=PRECISE)


# Privacy.


@KINDS
@MONOTONE
@EPSILONS
def test_no_selection_exceeds_its_epsilon_on_any_neighbouring_scores(kind, monotone, epsilon):
    mechanism = kind(epsilon=epsilon, monotone=monotone)
    assert worst_loss(mechanism, all_neighbours(3, 3, monotone)) <= epsilon * ROUNDING


@KINDS
def test_no_selection_exceeds_its_epsilon_on_four_candidates(kind):
    assert worst_loss(kind(epsilon=1), all_neighbours(4, 2, monotone=False)) <= ROUNDING


@KINDS
def test_no_selection_exceeds_its_epsilon_when_a_person_joins_or_leaves_a_count(kind):
    """Every table of up to three people, each of whom may have any of three things; one person more or less."""
    mechanism = kind(epsilon=1, monotone=True)
    people = list(itertools.product((0, 1), repeat=3))
    tables = (table for size in range(4) for table in itertools.combinations_with_replacement(people, size))
    counts = {tuple(map(sum, zip(*table, strict=True))) or (0, 0, 0) for table in tables}
    assert worst_loss(mechanism, itertools.product(counts, people)) <= ROUNDING


@KINDS
def test_claiming_monotone_scores_that_are_not_would_be_caught(kind):
    assert worst_loss(kind(epsilon=1, monotone=True), all_neighbours(3, 3, monotone=False)) > 1.5


@KINDS
@MONOTONE
def test_the_loss_comes_within_a_hundredth_of_epsilon(kind, monotone):
    """The rest far ahead, two of them: then the last can win only by its own noise or chance."""
    mechanism = kind(epsilon=1, sensitivity=2, monotone=monotone)
    moves = (2, 0, 0) if monotone else (2, -2, -2)
    worst = np.abs(losses(mechanism, (0, 60, 60), moves)).max()
    assert 0.99 <= worst <= ROUNDING


@KINDS
def test_a_rational_sensitivity_is_taken_exactly(kind):
    mechanism = kind(epsilon=1, sensitivity=0.3)
    worst = max(
        np.abs(losses(mechanism, scores, moves, unit=Fraction(3, 10))).max()
        for scores in [(0, 1, 2), (0, 40, 40)]
        for moves in itertools.product(BOTH_WAYS, repeat=3)
    )
    assert 0.99 <= worst <= ROUNDING


@MONOTONE
@EPSILONS
def test_the_exponential_mechanism_has_range_epsilon_exactly(monotone, epsilon):
    mechanism = ExponentialMechanism(epsilon=epsilon, monotone=monotone)
    ranges = [np.ptp(losses(mechanism, scores, moves)) for scores, moves in all_neighbours(3, 2, monotone)]
    assert max(ranges) == pytest.approx(float(epsilon), rel=1e-9)
    assert mechanism.cost == BoundedRange(epsilon)
    assert concentrated_of(mechanism.cost)[0] == Fraction(epsilon) ** 2 / 8


def test_permute_and_flip_does_not_have_range_epsilon_so_none_is_claimed():
    mechanism = PermuteAndFlip(epsilon=1)
    assert np.ptp(losses(mechanism, (0, 3, 4), (-1, 1, -1))) > 1.6
    assert mechanism.cost == Pure(1)


@pytest.mark.parametrize("sensitivity", [0.75, 1, 1.25])
def test_noise_on_a_grid_is_private_for_scores_that_are_not_on_it(sensitivity):
    """Quarters, rounded to ones: the grid is public, so all neighbours share it, and Δ is rounded up."""
    scores, moves = np.arange(0, 2, 0.25).tolist(), np.arange(-sensitivity, sensitivity + 0.25, 0.25).tolist()
    pairs = itertools.product(itertools.product(scores, repeat=2), itertools.product(moves, repeat=2))
    mechanism = laplace_max(epsilon=1, sensitivity=sensitivity, step=1)
    assert worst_loss(mechanism, pairs) <= ROUNDING


def test_the_grid_never_depends_on_the_scores():
    thirds, halves = [Fraction(1, 2), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]
    mechanism = laplace_max(epsilon=1, sensitivity=Fraction(1, 6))
    assert mechanism.step == Fraction(1, 6)
    assert read_scores(thirds).unit != read_scores(halves).unit
    assert read_scores(thirds).snap(mechanism.step).tolist() == [3, 2]
    assert read_scores(halves).snap(mechanism.step).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("noise", "twin"), [(NoiseKind.GUMBEL, ExponentialMechanism), (NoiseKind.EXPONENTIAL, PermuteAndFlip)]
)
def test_noise_that_equals_another_mechanism_is_that_mechanism(noise, twin):
    one, other = ReportNoisyMax(epsilon=1, sensitivity=2, noise=noise), twin(epsilon=1, sensitivity=2)
    assert one.cost == other.cost
    assert one.probabilities([1, 5, 4]).tolist() == other.probabilities([1, 5, 4]).tolist()
    assert one.error(0.9, candidates=7, optimal=2) == other.error(0.9, candidates=7, optimal=2)
    assert [one.choose([1, 5, 4], entropy=Seeded(3)) for _ in range(50)] == [
        other.choose([1, 5, 4], entropy=Seeded(3)) for _ in range(50)
    ]


# Exact decisions, word by word.


def test_the_exponential_mechanism_decides_at_the_exact_boundaries():
    """Candidates 1 and 0 points: a place below the weights' sum, then a coin that undoes the rounding of the weight."""
    mechanism, scores = ExponentialMechanism(epsilon=1), np.array([1, 0])
    heavy, light = (int(weight) for weight in ExpChoice(scores, Fraction(1, 2))._weights(0))
    shift = 64 - (heavy + light - 1).bit_length()
    limit = (exp_minus(Fraction(1, 2), 200)[0] << (64 + WEIGHT_BITS)) // (light << 200)

    def choice(*words):
        stream = Scripted([*words, 0])
        chosen = mechanism.choose(scores, entropy=stream)
        assert stream.left == 1
        return chosen

    assert choice(heavy - 1 << shift, 0) == 0
    assert choice(heavy << shift, 0) == 1
    assert choice(heavy + light - 1 << shift, limit - 1) == 1
    assert choice(heavy + light << shift, 0, 0) == 0  # beyond the sum: drawn anew
    assert choice(heavy << shift, limit + 1, 0, 0) == 0  # not taken: drawn anew
    # On the limit itself the next 64 bits decide.
    assert choice(heavy << shift, limit, 0) == 1
    assert choice(heavy << shift, limit, 2**64 - 1, 0, 0) == 0


def test_permute_and_flip_decides_at_the_exact_boundaries():
    """Scores 1 and 0 at rate 1/2: the second coin has the chance e^−1/2, the first always comes up."""
    mechanism = PermuteAndFlip(epsilon=1)
    limit, rest = divmod(exp_minus(Fraction(1, 2), 160)[0] >> 64, 1 << 64)
    second, first = 1 << 63, 0  # which of two heads

    def choice(*words):
        stream = Scripted(words)
        chosen = mechanism.choose([1, 0], entropy=stream)
        assert stream.left == 0
        return chosen

    assert choice(2**32 - 2, limit - 1, second) == 1
    assert choice(2**32 - 2, limit - 1, first) == 0
    assert choice(0, limit + 1) == 0
    assert choice(0, limit, rest - 1, second) == 1
    assert choice(0, limit, rest + 1) == 0


def test_the_lowest_index_wins_ties_of_noisy_scores():
    naught, two = int(0.9 * 2**64), int(math.exp(-1.25) * 2**64)  # noise of scale 2: −2·ln U, rounded down
    plus = 0
    mechanism = laplace_max(epsilon=1)
    assert mechanism.choose([3, 5, 5], entropy=Scripted([naught, plus] * 3)) == 1
    assert mechanism.choose([3, 5, 5], entropy=Scripted([two, plus, naught, plus, naught, plus])) == 0


def test_a_coin_whose_exponent_is_no_float_is_decided_all_the_same():
    far_apart = np.array([1e308, -1e308])
    assert PermuteAndFlip(epsilon=1e70).choose(far_apart, entropy=Scripted([5, 0, 7])) == 0


def test_typed_scores_a_sensitivity_apart_land_one_step_apart():
    """The floats 0.15 and 0.35 lie below the numbers typed and 0.45 above; read in binary, some pairs would be two."""
    mechanism = ReportNoisyMax(epsilon=1, sensitivity=0.1, noise=NoiseKind.LAPLACE)
    worst = 0.0
    for k in range(400):
        low, high = float(f"{k / 20:.2f}"), float(f"{k / 20 + 0.1:.2f}")
        here = mechanism.probabilities(np.array([low, 15.05]))
        there = mechanism.probabilities(np.array([high, 14.95]))
        worst = max(worst, float(np.abs(np.log(here / there)).max()))
    assert worst <= 1 + 1e-9

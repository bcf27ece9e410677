"""One of several, chosen by score: no neighbour is told apart by more than ε, and draws are what is stated."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scripted import Scripted, Seeded

from discreet.accounting import BoundedRange, Pure, concentrated_of
from discreet.core import exp_minus
from discreet.mechanisms.scores import read_scores
from discreet.mechanisms.selection import ExponentialMechanism, Noise, PermuteAndFlip, ReportNoisyMax
from discreet.noise import ExpChoice
from discreet.noise.choice import WEIGHT_BITS

#: What the float sums behind `probabilities` may be off by, relatively.
PRECISE = 1e-12
#: A privacy loss is a difference of two logarithms of those.
ROUNDING = 1 + 1e-9
#: A fixed stream either passes for ever or never; one honest stream in ten thousand would fail.
ALPHA = 1e-4

BOTH_WAYS = (-1, 0, 1)


def laplace_max(**terms):
    return ReportNoisyMax(noise=Noise.LAPLACE, **terms)


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


def test_noise_on_a_grid_is_private_for_scores_that_are_not_on_it():
    """Quarters, rounded to ones, moved by up to one: the grid is public, so all neighbours share it."""
    mechanism = laplace_max(epsilon=1)
    quarters = [Fraction(n, 4) for n in range(9)]
    moves = [Fraction(n, 4) for n in range(-4, 5)]
    worst = max(
        np.abs(losses(mechanism, scores, pair)).max()
        for scores in itertools.product(quarters, repeat=2)
        for pair in itertools.product(moves, repeat=2)
    )
    assert worst <= ROUNDING


def test_the_grid_never_depends_on_the_scores():
    thirds, halves = [Fraction(1, 2), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]
    mechanism = laplace_max(epsilon=1, sensitivity=Fraction(1, 6))
    assert mechanism.step == Fraction(1, 6)
    assert read_scores(thirds).unit != read_scores(halves).unit
    assert read_scores(thirds).snap(mechanism.step).tolist() == [3, 2]
    assert read_scores(halves).snap(mechanism.step).tolist() == [3, 3]


@pytest.mark.parametrize(("noise", "twin"), [(Noise.GUMBEL, ExponentialMechanism), (Noise.EXPONENTIAL, PermuteAndFlip)])
def test_noise_that_equals_another_mechanism_is_that_mechanism(noise, twin):
    one, other = ReportNoisyMax(epsilon=1, sensitivity=2, noise=noise), twin(epsilon=1, sensitivity=2)
    assert one.cost == other.cost
    assert one.probabilities([1, 5, 4]).tolist() == other.probabilities([1, 5, 4]).tolist()
    assert one.error(0.9, 7, 2) == other.error(0.9, 7, 2)
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


# Draws.


def chi_square(mechanism, scores, draws, seed):
    stream = Seeded(seed)
    seen = np.bincount([mechanism.choose(scores, entropy=stream) for _ in range(draws)], minlength=len(scores))
    return stats.chisquare(seen, draws * mechanism.probabilities(scores)).pvalue


@KINDS
@pytest.mark.parametrize(
    ("scores", "draws"),
    [
        (np.array([3, 0, 2, 3, -1]), 20_000),
        (np.array([0.75, -1.5, 2.0, 0.3]), 4_000),
        ([0.1, Fraction(4, 3), Decimal("2.5"), 2, -1.25], 4_000),
        (np.array([2**70, 2**70 + 1, 2**70 - 2], object), 4_000),
        (np.array([7, 9, 8], np.uint8), 4_000),
    ],
    ids=["integers", "floats", "list", "objects", "bytes"],
)
def test_choices_are_distributed_as_stated(kind, scores, draws):
    if kind is laplace_max and max(scores) > 2**62:
        pytest.skip("a grid ends at 2⁶² steps; see the test of clamping")
    assert chi_square(kind(epsilon=1), scores, draws, seed=11) > ALPHA


@KINDS
def test_scores_beyond_all_floats_and_words_are_told_apart(kind):
    mechanism = kind(epsilon=1)
    for scores in (
        np.array([-(2**62), 2**62, 0]),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([-1e308, 1e308, 0.0]),
        np.array([-(10**90), 10**90, 0], object),
        np.array([0, 2**64 - 1, 1], np.uint64),
    ):
        assert mechanism.choose(scores, entropy=Seeded(5)) == 1
    for mechanism in (ExponentialMechanism(epsilon=1), PermuteAndFlip(epsilon=1)):
        assert mechanism.probabilities(np.array([-1e308, 1e308, 1e308])).tolist() == [0, 0.5, 0.5]


def test_a_grid_clamps_scores_at_its_ends():
    assert read_scores([10**90, -(10**90), 3]).snap(Fraction(1)).tolist() == [2**62, -(2**62), 3]
    assert read_scores(np.array([1e300, -1e300, 2.5])).snap(Fraction(1)).tolist() == [2**62, -(2**62), 3]
    assert read_scores(np.array([2**63 - 1, -(2**63)])).snap(Fraction(1)).tolist() == [2**62, -(2**62)]


@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 10), Fraction(3, 7), Fraction(1, 8), Fraction(10**9)])
def test_rounding_to_the_grid_is_exact(step):
    """Floats around every half step, big and small, against fractions."""
    halves = [float((Fraction(n) + Fraction(1, 2)) * step) for n in (-3, -1, 0, 1, 10, 10**6 + 1, 2**52)]
    near = [math.nextafter(value, way) for value in halves for way in (-math.inf, math.inf)]
    floats = np.array([*halves, *near, 5e-324, -5e-324, 0.0, 2.0**61, -(2.0**61) + 512])
    whole = np.array([0, -1, 7, 2**40 + 1, -(2**60), 2**62])
    for scores in (floats, whole, whole.tolist(), [0.05, -0.05, Fraction(1, 3), Decimal("1e-40")]):
        exact = read_scores(scores)
        for value, snapped in zip(exact.values.tolist(), exact.snap(step).tolist(), strict=True):
            expected = math.floor(Fraction(value) * exact.unit / step + Fraction(1, 2))
            assert snapped == max(-(2**62), min(2**62, expected))


MILLION = np.repeat([30, 20, 10, 0], [2, 300, 40_000, 959_698])


@KINDS
def test_a_million_candidates_are_chosen_from_by_level(kind):
    mechanism, stream, draws = kind(epsilon=1, monotone=kind is laplace_max), Seeded(8), 300
    if kind is laplace_max:
        stated = laplace_level_odds()
    else:
        odds = mechanism.probabilities(MILLION)
        stated = [odds[level == MILLION].sum() for level in (30, 20, 10, 0)]
    seen = [MILLION[mechanism.choose(MILLION, entropy=stream)] for _ in range(draws)]
    counts = [seen.count(level) for level in (30, 20, 10, 0)]
    assert stats.chisquare(counts, draws * np.array(stated) / sum(stated)).pvalue > ALPHA


def laplace_level_odds():
    """Return how likely each level holds the maximum; levels come in the order of their indices, so ties go up."""
    places = np.arange(-50, 120)
    lower = np.exp(np.minimum(places[:, None] - [30, 20, 10, 0], 0)) / (1 + math.exp(-1))
    upper = 1 - np.exp(-(np.maximum(places[:, None] - [30, 20, 10, 0], 0) + 1.0)) / (1 + math.exp(-1))
    below = np.where(places[:, None] < [30, 20, 10, 0], lower, upper) ** [2, 300, 40_000, 959_698]
    odds = []
    for level in range(4):
        reached = below[1:, level] - below[:-1, level]
        others = [below[:-1, i] if i < level else below[1:, i] for i in range(4) if i != level]
        odds.append((reached * math.prod(others)).sum())
    return odds


# Error.


def tail(mechanism, scores, distance):
    """Return how likely the chosen score is more than `distance` below the best."""
    odds = mechanism.probabilities(scores)
    return odds[max(scores) - np.array(scores, float) > distance].sum()


@KINDS
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_the_error_is_exceeded_at_most_as_often_as_stated(kind, confidence):
    mechanism = kind(epsilon=1, sensitivity=2)
    for optimal, others in itertools.product((1, 3), (1, 6, 40)):
        bound = mechanism.error(confidence, optimal + others, optimal)
        for gap in {1, math.ceil(bound) - 1, math.ceil(bound), math.floor(bound) + 1, math.floor(bound) + 2} - {0}:
            for scores in ([gap] * optimal + [0] * others, [0] * others + [gap] * optimal):
                assert tail(mechanism, scores, bound) <= (1 - confidence) * ROUNDING


def test_the_exponential_mechanism_errs_as_often_as_stated_in_the_worst_case():
    mechanism = ExponentialMechanism(epsilon=1)
    bound = mechanism.error(0.95, 11)
    assert mechanism.probabilities([bound, *[0] * 10])[1:].sum() == pytest.approx(0.05, rel=1e-9)
    assert bound <= 2 * (math.log(11) + math.log(20))  # Dwork, Roth 2014, Theorem 3.11


@KINDS
def test_the_error_is_not_twice_what_is_drawn(kind):
    """Eleven candidates, ten of them as far below the best as they are chosen one time in ten."""
    mechanism = kind(epsilon=1)
    bound = mechanism.error(0.9, 11)
    assert tail(mechanism, [math.ceil(bound / 2), *[0] * 10], 0) > 0.1
    scores, stream = np.array([math.ceil(bound) + 1, *[0] * 10]), Seeded(9)
    far = sum(mechanism.choose(scores, entropy=stream) != 0 for _ in range(3000))
    assert stats.binomtest(far, 3000, 0.1, alternative="greater").pvalue > ALPHA


def test_permute_and_flip_is_never_farther_off_than_the_exponential_mechanism():
    flip, exponential = PermuteAndFlip(epsilon=1), ExponentialMechanism(epsilon=1)
    for scores in itertools.product(range(0, 9, 2), repeat=4):
        for distance in range(8):
            assert tail(flip, scores, distance) <= tail(exponential, scores, distance) * ROUNDING
    for confidence, candidates, optimal in itertools.product((0.1, 0.5, 0.99), (1, 2, 50), (1, 2, 50)):
        if optimal <= candidates:
            bound = exponential.error(confidence, candidates, optimal)
            assert flip.error(confidence, candidates, optimal) <= bound


def test_nothing_can_be_wrong_when_all_candidates_are_best():
    for mechanism in (ExponentialMechanism(epsilon=1), PermuteAndFlip(epsilon=1), laplace_max(epsilon=1)):
        assert mechanism.error(0.99, 1) == 0
        assert mechanism.error(0.99, 5, 5) == 0

"""Draws of one of several by score: distributed as stated, as far off as stated, for scores of any kind and number."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.mechanisms.selection.choice import ExponentialMechanism, NoiseKind, PermuteAndFlip, ReportNoisyMax
from discreet.mechanisms.selection.odds import laplace_gap
from discreet.mechanisms.selection.scores import read_scores
from scripted import Seeded

#: What the float sums behind `probabilities` may be off by, relatively.
PRECISE = 1e-12
#: A bound that is met exactly may be missed by rounding.
ROUNDING = 1 + 1e-9
#: A fixed stream either passes for ever or never; one honest stream in ten thousand would fail.
ALPHA = 1e-4


def laplace_max(**terms):
    return ReportNoisyMax(noise=NoiseKind.LAPLACE, **terms)


KINDS = pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip, laplace_max])


def chi_square(mechanism, scores, draws, seed):
    stream = Seeded(seed)
    seen = np.bincount([mechanism.choose(scores, entropy=stream) for _ in range(draws)], minlength=len(scores))
    return stats.chisquare(seen, draws * mechanism.probabilities(scores)).pvalue


@KINDS
@pytest.mark.parametrize(
    ("scores", "draws"),
    [
        (np.array([3, 0, 2, 3, -1]), 10_000),
        (np.array([0.75, -1.5, 2.0, 0.3]), 2_000),
        ([0.1, Fraction(4, 3), Decimal("2.5"), 2, -1.25], 2_000),
        (np.array([7, 9, 8], np.uint8), 2_000),
    ],
    ids=["integers", "floats", "list", "bytes"],
)
def test_choices_are_distributed_as_stated(kind, scores, draws):
    assert chi_square(kind(epsilon=1), scores, draws, seed=11) > ALPHA


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_choices_by_scores_beyond_64_bits_are_distributed_as_stated(kind):
    whole = np.array([2**70, 2**70 + 1, 2**70 - 2], object)
    fine = [Fraction(1, 3**50), 1 + Fraction(1, 7**40), Decimal("0.5")]
    for scores in (whole, fine):
        assert chi_square(kind(epsilon=1), scores, 3_000, seed=12) > ALPHA


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
        assert mechanism.probabilities(np.array([-1e308, 1e308, 1e308])) == pytest.approx([0, 0.5, 0.5], rel=PRECISE)


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
            meant = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
            expected = math.floor(meant * exact.unit / step + Fraction(1, 2))
            assert snapped == max(-(2**62), min(2**62, expected))


LEVELS, SIZES = np.array([30, 20, 10, 0]), np.array([2, 300, 40_000, 959_698])
MILLION = np.repeat(LEVELS, SIZES)


@KINDS
def test_a_million_candidates_are_chosen_from_by_level(kind):
    mechanism, stream, draws = kind(epsilon=1), Seeded(8), 150
    if kind is laplace_max:
        stated = laplace_level_odds(scale=2)
    else:
        stated = np.add.reduceat(mechanism.probabilities(MILLION), np.cumsum(SIZES) - SIZES)
    seen = [MILLION[mechanism.choose(MILLION, entropy=stream)] for _ in range(draws)]
    assert stats.chisquare([seen.count(level) for level in LEVELS], draws * stated).pvalue > ALPHA


def laplace_level_odds(scale):
    """Return how likely each level holds the noisy maximum; better levels have lower indices, so ties go to them."""
    noise, q = np.arange(-100, 250)[:, None] - LEVELS, math.exp(-1 / scale)
    upper, lower = 1 - q ** (np.maximum(noise, 0) + 1) / (1 + q), q ** np.maximum(-noise, 0) / (1 + q)
    all_below = np.where(noise < 0, lower, upper) ** SIZES
    reached = np.diff(all_below, axis=0)
    better = np.cumprod(np.insert(all_below[:-1, :-1], 0, 1, axis=1), axis=1)
    worse = np.cumprod(np.insert(all_below[1:, :0:-1], 0, 1, axis=1), axis=1)[:, ::-1]
    return (reached * better * worse).sum(axis=0)


# Error.


def tail(mechanism, scores, distance):
    """Return how likely the chosen score is more than `distance` below the best."""
    return mechanism.probabilities(scores)[max(scores) - np.array(scores, float) > distance].sum()


@KINDS
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_the_error_is_exceeded_at_most_as_often_as_stated(kind, confidence):
    mechanism = kind(epsilon=1, sensitivity=2)
    for optimal, others in itertools.product((1, 3), (1, 6, 40)):
        bound = mechanism.error(confidence, candidates=optimal + others, optimal=optimal)
        for gap in {1, math.ceil(bound), math.floor(bound) + 1, math.floor(bound) + 2} - {0}:
            for scores in ([gap] * optimal + [0] * others, [0] * others + [gap] * optimal):
                assert tail(mechanism, scores, bound) <= (1 - confidence) * ROUNDING


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(19, 2)])
@pytest.mark.parametrize("pairs", [1, 7, 1000])
@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(1, 100)])
def test_the_gap_is_the_least_that_two_noises_exceed_rarely_enough(scale, pairs, chance):
    noise = np.arange(-400, 401)  # e^(−400/9.5) is 5·10⁻¹⁹
    density = math.tanh(1 / (2 * scale)) * np.exp(-np.abs(noise) / float(scale))
    at_least = np.cumsum(np.convolve(density, density)[::-1])[::-1][800:]  # from a difference of 0 on
    gap = laplace_gap(pairs, chance, scale)
    assert pairs * at_least[gap] <= chance
    assert gap == 0 or pairs * at_least[gap - 1] > chance


def test_the_exponential_mechanism_errs_as_often_as_stated_in_the_worst_case():
    mechanism = ExponentialMechanism(epsilon=1)
    bound = mechanism.error(0.95, candidates=11)
    assert mechanism.probabilities([bound, *[0] * 10])[1:].sum() == pytest.approx(0.05, rel=1e-9)
    assert bound <= 2 * (math.log(11) + math.log(20))  # Dwork, Roth 2014, Theorem 3.11


@KINDS
def test_the_error_is_not_twice_what_is_drawn(kind):
    """Eleven candidates, ten of them as far below the best as they are chosen one time in ten."""
    mechanism = kind(epsilon=1)
    bound = mechanism.error(0.9, candidates=11)
    assert tail(mechanism, [math.ceil(bound / 2), *[0] * 10], 0) > 0.1
    scores, stream = np.array([math.ceil(bound) + 1, *[0] * 10]), Seeded(9)
    far = sum(mechanism.choose(scores, entropy=stream) != 0 for _ in range(3000))
    assert stats.binomtest(far, 3000, 0.1, alternative="greater").pvalue > ALPHA


def test_permute_and_flip_is_never_farther_off_than_the_exponential_mechanism():
    flip, exponential = PermuteAndFlip(epsilon=1), ExponentialMechanism(epsilon=1)
    for scores in itertools.combinations_with_replacement(range(0, 11, 2), 4):
        for distance in range(0, 10, 2):
            assert tail(flip, scores, distance) <= tail(exponential, scores, distance) * ROUNDING
    for confidence, candidates, optimal in itertools.product((0.1, 0.5, 0.99), (1, 2, 50), (1, 2, 50)):
        if optimal <= candidates:
            bound = exponential.error(confidence, candidates=candidates, optimal=optimal)
            assert flip.error(confidence, candidates=candidates, optimal=optimal) <= bound


def test_nothing_can_be_wrong_when_all_candidates_are_best():
    for mechanism in (ExponentialMechanism(epsilon=1), PermuteAndFlip(epsilon=1), laplace_max(epsilon=1)):
        assert mechanism.error(0.99, candidates=1) == 0
        assert mechanism.error(0.99, candidates=5, optimal=5) == 0

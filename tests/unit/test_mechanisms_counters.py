"""Counters: a count that is refreshed at every step, one price for all steps, an error that hardly grows."""

import math
from fractions import Fraction
from itertools import combinations, pairwise, product
from random import Random

import numpy as np
import pytest

from discreet.accounting import Concentrated, Pure
from discreet.core import DiscreetError, InvalidInput, Limit, Neighbours, OutOfRange, WrongType
from discreet.core.limits import TotalLimit
from discreet.mechanisms import Laplace
from discreet.mechanisms.counters import FactorisationCounter, TreeCounter, best_counter
from discreet.mechanisms.counters.factorisation import GRID, coefficients
from discreet.mechanisms.counters.readings import gaussian_factor, laplace_growth, laplace_radius

LIMITS = [
    TotalLimit(1),
    TotalLimit(2),
    Limit(groups=1, rows_per_group=2),
    Limit(groups=2),
    Limit(groups=3, rows_per_group=2),
]
HORIZONS = [1, 2, 3, 4]


def counters(steps, **options):
    return [
        TreeCounter(steps=steps, epsilon=Fraction(1, 2), **options),
        TreeCounter(steps=steps, rho=Fraction(1, 8), **options),
        FactorisationCounter(steps=steps, rho=Fraction(1, 8), **options),
    ]


def of(counter):
    return f"{type(counter).__name__} {'epsilon' if isinstance(counter.cost, Pure) else 'rho'}"


def exactly(counter, stream):
    """Return all that is measured of a stream, without noise."""
    return [one for step in range(counter.steps) for one in counter.exact(step, stream[: step + 1])]


def released(counter, stream):
    return [counter.measure(step, stream[: step + 1]) for step in range(len(stream))]


def loss(counter, one, other):
    """Return what all releases together tell between two measured streams: Σ|change|/scale, or Σ change²/2σ²."""
    changes = [abs(a - b) for a, b in zip(one, other, strict=True)]
    if isinstance(counter.noise, Laplace):
        return sum(changes) / counter.noise.scale
    return sum(change**2 for change in changes) / (2 * counter.noise.variance)


def price(counter):
    return counter.cost.epsilon if isinstance(counter.cost, Pure) else counter.cost.rho


def units(steps, limit):
    """Return all that one unit can add to a stream."""
    for added in product(range(limit.rows_per_group + 1), repeat=steps):
        if sum(each > 0 for each in added) <= limit.groups and sum(added) <= limit.rows:
            yield added


# What is promised.


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("steps", HORIZONS)
def test_no_two_neighbouring_streams_are_told_apart_by_more_than_the_cost(steps, limit):
    """Every stream that a unit can add; and, where a unit is replaced, every pair of them. The bound is met."""
    everybody = [5, 0, 7, 2][:steps]
    streams = [[a + b for a, b in zip(everybody, added, strict=True)] for added in units(steps, limit)]
    for counter in counters(steps, limit=limit):
        before, *after = [exactly(counter, stream) for stream in (everybody, *streams)]
        assert max(loss(counter, before, each) for each in after) == price(counter)
    for counter in counters(steps, limit=limit, neighbours=Neighbours.REPLACE):
        measured = [exactly(counter, stream) for stream in streams]
        assert max(loss(counter, one, other) for one, other in combinations(measured, 2)) <= price(counter)


@pytest.mark.parametrize("steps", [5, 6, 7, 8])
def test_the_first_steps_are_the_worst_of_all_subsets(steps):
    for groups in (2, 3, 4):
        for counter in counters(steps, limit=Limit(groups=groups)):
            chosen = [added for added in product((0, 1), repeat=steps) if sum(added) == groups]
            before = exactly(counter, [0] * steps)
            losses = [loss(counter, before, exactly(counter, list(added))) for added in chosen]
            assert max(losses) == losses[chosen.index((1,) * groups + (0,) * (steps - groups))] == price(counter)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_every_norm_of_the_sensitivity_holds(limit, neighbours):
    for counter in counters(4, limit=limit, neighbours=neighbours):
        streams = [exactly(counter, list(added)) for added in units(4, limit)]
        others = streams if neighbours is Neighbours.REPLACE else [[0] * len(streams[0])]
        claimed = counter.sensitivity
        for one, other in product(streams, others):
            moves = [abs(a - b) for a, b in zip(one, other, strict=True)]
            assert sum(move > 0 for move in moves) <= claimed.l0
            assert max(moves) <= claimed.linf
            assert sum(moves) <= claimed.l1
            assert sum(move**2 for move in moves) <= claimed.l2_squared


def test_the_cost_is_what_was_asked_for():
    assert TreeCounter(steps=365, epsilon=0.5, limit=TotalLimit(3)).cost == Pure(Fraction(1, 2))
    assert TreeCounter(steps=365, rho=0.1, limit=Limit(groups=7)).cost == Concentrated(Fraction(1, 10))
    assert FactorisationCounter(steps=365, rho=0.1, limit=Limit(groups=7)).cost == Concentrated(Fraction(1, 10))


def test_a_node_is_released_once_when_it_is_over():
    counter, stream = TreeCounter(steps=7, epsilon=1), [1, 10, 100, 1000, 10**4, 10**5, 10**6]
    sums = [counter.exact(step, stream[: step + 1]) for step in range(7)]
    assert sums == [[1], [10, 11], [100], [1000, 1100, 1111], [10**4], [10**5, 11 * 10**4], [10**6]]


def test_noise_is_drawn_anew_for_every_measurement():
    for counter in counters(8):
        draws = np.array([[one for step in released(counter, [0] * 8) for one in step] for _ in range(250)])
        seen = np.corrcoef(draws.T) - np.eye(draws.shape[1])
        assert np.abs(seen).max() < 0.35  # 5.5/√250
        assert draws.std(axis=0) == pytest.approx(counter.noise.deviation, rel=0.4)  # 5.6·√(5/4·250), Laplace


# The factor.


def test_the_factor_is_the_square_root_on_a_grid_and_never_grows():
    c = coefficients(2000)
    for k in (0, 1, 2, 10, 500, 1999):
        assert abs(c[k] - GRID * Fraction(math.comb(2 * k, k), 4**k)) <= Fraction(1, 2)
    assert c[0] == GRID
    assert all(a >= b > 0 for a, b in pairwise(c))


def test_the_factorisation_has_the_error_of_the_papers():
    """Σ f(k)² / √(2ρ), f(k) = binom(2k, k)/4ᵏ, which is about (ln T)/π + 1.07: Henzinger, Upadhyay, Upadhyay 2023."""
    for steps in (16, 365, 2048):
        squares = sum(float(Fraction(math.comb(2 * k, k), 4**k)) ** 2 for k in range(steps))
        assert FactorisationCounter(steps=steps, rho=0.5).deviation() == pytest.approx(squares, rel=1e-3)
        assert squares == pytest.approx(math.log(steps) / math.pi + 1.066, abs=0.01)


# What is read off.


@pytest.mark.parametrize("counter", counters(100), ids=of)
def test_without_noise_all_estimates_are_exact(counter):
    stream = [Random(7).randrange(10**6) for _ in range(77)]
    known = [counter.exact(step, stream[: step + 1]) for step in range(77)]
    assert counter.estimate(known).values == pytest.approx(np.cumsum(stream), rel=1e-11)
    spans = [(0, 1), (3, 4), (5, 70), (64, 77), (13, 14), (0, 77)]
    exact = [sum(stream[begin:end]) for begin, end in spans]
    assert counter.estimate(known, spans=spans).values == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("counter", counters(24, limit=TotalLimit(2)), ids=of)
def test_the_deviation_is_that_of_what_is_drawn(counter):
    ends = [(0, 1), (0, 16), (0, 23), (10, 20)]
    values = np.array([counter.estimate(released(counter, [3] * 24), spans=ends).values for _ in range(200)])
    for place, at in ((0, 1), (1, 16), (2, 23)):
        assert values[:, place].std() == pytest.approx(counter.deviation(at), rel=0.4)  # 5·√(5/4·200), Laplace
    assert np.abs(values.mean(axis=0) - [3, 48, 69, 30]).max() < 5 * counter.deviation() / math.sqrt(200)


@pytest.mark.parametrize("counter", counters(20), ids=of)
def test_errors_cover_as_often_as_they_say(counter):
    """200 streams of 20 steps. A count of its own may err in 1 of 10; all counts of a stream together in 1 of 10."""
    alone, together = covered(counter, 200)
    least = 0.9 - 5 * 0.3 / math.sqrt(200)
    assert alone.min() > least
    assert together > least
    assert alone.mean() < 0.995  # and they are not idle talk


@pytest.mark.slow
@pytest.mark.parametrize("counter", counters(100, limit=TotalLimit(2)), ids=of)
def test_errors_of_long_streams_cover_as_often_as_they_say(counter):
    alone, together = covered(counter, 400)
    least = 0.9 - 5 * 0.3 / math.sqrt(400)
    assert alone.min() > least
    assert together > least


def covered(counter, times):
    """Return how often the errors of 9 in 10 hold: of each count so far, and of all days together."""
    alone, together, steps = [], 0, counter.steps
    exact, days = np.arange(1, steps + 1) * 4, [(step, step + 1) for step in range(steps)]
    for _ in range(times):
        known = released(counter, [4] * steps)
        found = counter.estimate(known, confidence=0.9)
        alone.append(np.abs(found.values - exact) <= found.errors)
        each = counter.estimate(known, spans=days, confidence=0.9, together=True)
        together += np.all(np.abs(each.values - 4) <= each.errors)
    return np.mean(alone, axis=0), together / times


def test_a_single_day_of_a_tree_has_the_error_of_its_own_noise():
    for counter in counters(16)[:2]:
        found = counter.estimate(released(counter, [0] * 3), spans=[(1, 2)])
        assert found.errors[0] == pytest.approx(counter.noise.error(0.95), rel=1e-6)


def test_gaussian_sums_are_bounded_by_little_more_than_a_normal_quantile():
    assert gaussian_factor(Fraction(10**8), 1000, 0.05) == pytest.approx(19600, rel=0.005)
    assert gaussian_factor(Fraction(40), 1000, 0.05) <= math.sqrt(40) * math.sqrt(2 * math.log(40))


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(2), Fraction(30)])
def test_gaussian_sums_are_bounded_by_what_they_are(variance):
    """The sum of three, convolved exactly, with weights 1, 1 and 1/2."""
    values = np.arange(-60, 61)
    weights = np.exp(-(values**2) / (2 * float(variance)))
    one = weights / weights.sum()
    two = np.convolve(one, one)
    totals = np.abs(np.add.outer(np.arange(-120, 121), values / 2))
    chances = np.outer(two, one)
    for risk in (0.5, 0.1, 0.01, 1e-6):
        bound = gaussian_factor(variance, 3, risk) * 1.5
        assert chances[totals > bound].sum() <= risk


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(9)])
def test_laplace_sums_are_bounded_by_what_they_are(scale):
    values = np.arange(-150, 151)
    weights = np.exp(-np.abs(values) / float(scale))
    one = weights / weights.sum()
    totals = np.abs(np.add.outer(values, values / 2))
    chances = np.outer(one, one)
    growth = laplace_growth(scale, np.array([1, 0.5])).sum(axis=0)
    for risk in (0.5, 0.1, 0.01, 1e-6):
        assert chances[totals > laplace_radius(scale, growth, risk)].sum() <= risk


# How the error grows.


def test_the_error_grows_with_a_power_of_the_logarithm():
    lengths = [2**power for power in range(6, 13)]
    for make, power in (
        (lambda n: TreeCounter(steps=n, epsilon=1), 2.0),
        (lambda n: TreeCounter(steps=n, rho=0.1), 1.6),
    ):
        errors = [make(steps).error() for steps in lengths]
        grown = [error / math.log2(steps) ** power for error, steps in zip(errors, lengths, strict=True)]
        assert all(later <= earlier * 1.03 for earlier, later in pairwise(grown))
    errors = [FactorisationCounter(steps=steps, rho=0.1).error() for steps in lengths]
    assert all(later - earlier < 4.0 for earlier, later in pairwise(errors))
    # Noise on each day alone, added up, would be 8 times as much for 64 times the days.
    assert errors[-1] < 2.2 * errors[0]


def test_the_factorisation_beats_the_tree_by_the_known_constant():
    """Deviations are about (log₂ T)/√2 and (ln T)/π times 1/√(2ρ): their ratio tends to π/(√2·ln 2), about 3.2."""
    ratios = [
        TreeCounter(steps=steps, rho=0.1).deviation() / FactorisationCounter(steps=steps, rho=0.1).deviation()
        for steps in (2**6, 2**9, 2**12)
    ]
    assert 2.0 < ratios[0] < ratios[1] < ratios[2] < math.pi / (math.sqrt(2) * math.log(2))


def test_the_better_counter_is_taken():
    assert isinstance(best_counter(365, epsilon=1), TreeCounter)
    assert isinstance(best_counter(365, rho=0.1), FactorisationCounter)
    for steps, limit in product((1, 2, 30), LIMITS):
        best = best_counter(steps, rho=0.1, limit=limit)
        assert best.error() == min(counter.error() for counter in counters_of(steps, limit))


def counters_of(steps, limit):
    return TreeCounter(steps=steps, rho=0.1, limit=limit), FactorisationCounter(steps=steps, rho=0.1, limit=limit)


def test_more_steps_and_more_rows_make_the_error_larger():
    for make in (best_counter, lambda steps, rho, limit: TreeCounter(steps=steps, epsilon=rho, limit=limit)):
        assert make(64, rho=0.1, limit=TotalLimit(1)).error() < make(365, rho=0.1, limit=TotalLimit(1)).error()
        assert make(64, rho=0.1, limit=TotalLimit(1)).error() < make(64, rho=0.1, limit=TotalLimit(2)).error()
        assert make(64, rho=0.1, limit=Limit(groups=4)).error() <= make(64, rho=0.1, limit=TotalLimit(4)).error()


def test_the_error_at_all_steps_is_no_smaller_than_at_any():
    for counter in counters(37):
        assert counter.error(0.9) >= max(counter.error(0.9, at=at) for at in range(1, 38))


# Wrong calls.


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"steps": 0, "rho": 1}, InvalidInput),
        ({"steps": 2**14 + 1, "rho": 1}, OutOfRange),
        ({"steps": 3, "rho": 0}, InvalidInput),
        ({"steps": 3, "rho": 1, "limit": 3}, WrongType),
        ({"steps": 3, "rho": 1, "neighbours": "replace"}, WrongType),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, error):
    for make in (TreeCounter, FactorisationCounter):
        with pytest.raises(error):
            make(**wrong)


def test_one_price_is_needed():
    for make in (lambda **price: TreeCounter(steps=3, **price), lambda **price: best_counter(3, **price)):
        for wrong in ({}, {"epsilon": 1, "rho": 1}):
            with pytest.raises(InvalidInput, match="One price"):
                make(**wrong)


@pytest.mark.parametrize("counter", counters(4), ids=of)
def test_steps_and_counts_belong_together(counter):
    for step, counts in ((0, []), (1, [1]), (1, [1, 2, 3]), (4, [1] * 5), (-1, [])):
        with pytest.raises(DiscreetError):
            counter.measure(step, counts)
    with pytest.raises(WrongType):
        counter.measure(0, [0.5])
    known = released(counter, [1, 2, 3])
    for wrong in ([], [*known, *known], [known[0], []], "abc"):
        with pytest.raises(DiscreetError):
            counter.estimate(wrong)
    for wrong in ([], [(0, 4)], [(1, 1)], [(2, 1)]):
        with pytest.raises(DiscreetError):
            counter.estimate(known, spans=wrong)


def test_counts_beyond_64_bits_are_counted_exactly():
    counter = FactorisationCounter(steps=3, rho=10)
    stream = np.array([2**61, 1, 5])
    found = counter.estimate(released(counter, stream))
    assert found.values[2] == pytest.approx(2**61 + 6, rel=1e-9)

"""The numeric accountant: its bounds enclose the truth, whatever grid, tilt and window were chosen."""

import dataclasses
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contour
from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    DominatingPair,
    GaussianNoise,
    LaplaceNoise,
    RandomisedResponse,
    Repeated,
    Sampling,
    Subsampled,
    bracket,
    bracket_delta,
    delta,
    epsilon,
    loss_distribution,
    optimal_delta,
)
from discreet.accounting.gaussian_curves import curve_delta, curve_epsilon
from discreet.accounting.pld import numeric
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.continuous_noise import GaussianPair, laplace_pair, range_pair
from discreet.accounting.pld.convolution import RepeatedLattice, SumWindow, convolve
from discreet.accounting.pld.grid_choice import PairBatch, Sketch
from discreet.accounting.pld.lattice import Lattice, inwards, outwards
from discreet.accounting.pld.numeric import delta_above, delta_below, epsilon_above, epsilon_below, grid_of
from discreet.accounting.pld.subsampled import FixedSizePair, PoissonPair

#: How much of ε the default grid may cost (see `numeric.ACCURACY`), with room.
LOOSE = 1e-3
#: How far losses may drift when they are rounded inwards (see `lattice.CLOSE`), for one release.
DRIFT = 1e-9
#: Accuracy of the oracle.
ORACLE = 1e-8

SAMPLED = [  # σ, rate, times, δ: two workloads, the hard cases of the literature, and δ where doubles end
    (1.0, 0.01, 10_000, 1e-5),
    (1.1, 256 / 60000, 14_062, 1e-5),
    (1.0, 0.001, 100_000, 1e-12),
    (0.3, 0.01, 10_000, 1e-5),
    (1.0, 0.2, 500, 1e-5),
    (1.0, 0.01, 10_000, 1e-30),
    (2.0, 0.05, 50, 1e-40),
]


@pytest.mark.parametrize(("sigma", "rate", "times", "allowed"), SAMPLED)
def test_sampled_gaussians_are_bracketed_around_the_truth(sigma, rate, times, allowed):
    true = contour.subsampled_epsilon(sigma, rate, times, allowed)
    loss = Repeated(Subsampled(GaussianNoise(sigma), rate), times)
    found = bracket(loss, allowed)
    assert found.lower <= true * (1 + ORACLE)
    assert true * (1 - ORACLE) <= found.upper <= epsilon(loss, allowed) <= true * (1 + LOOSE)
    assert found.upper - found.lower <= 2e-3 * true


def test_a_million_steps_at_a_tiny_rate_stay_within_memory_and_near_the_truth():
    true = contour.subsampled_epsilon(0.5, 1e-5, 10**6, 1e-8)
    assert true <= epsilon(Repeated(Subsampled(GaussianNoise(0.5), 1e-5), 10**6), 1e-8) <= true * (1 + LOOSE)


@pytest.mark.parametrize(("rate", "times", "allowed"), [(1e-5, 10**6, 1e-8), (1e-4, 10**5, 1e-7)])
def test_rare_samples_are_bracketed_around_the_truth(rate, times, allowed):
    """Nearly all of each loss lies within a step of the grid, and nothing is lost by that in a million releases."""
    true = contour.subsampled_epsilon(0.5, rate, times, allowed)
    found = bracket(Repeated(Subsampled(GaussianNoise(0.5), rate), times), allowed)
    assert found.lower <= true * (1 + ORACLE)
    assert true * (1 - ORACLE) <= found.upper
    assert found.upper - found.lower <= 1e-3 * true


@pytest.mark.parametrize(
    ("sigma", "rate", "times", "allowed"),
    [(0.5, 1e-5, 10**5, 1e-8), (1.0, 1e-4, 10**5, 1e-6), (2.0, 1e-5, 10**6, 1e-8)],
)
def test_brackets_of_rare_samples_are_narrow(sigma, rate, times, allowed):
    batch = PairBatch(((PoissonPair(GaussianPair(1 / sigma), rate), times),))
    low, high = epsilon_below(batch, allowed, 1e-6), epsilon_above(batch, allowed, 1e-6)
    assert 0.995 * high <= low <= high


def test_an_offset_of_the_grid_never_lifts_a_lower_bound_above_the_truth():
    parts = [(0.5, 1e-3, 10**5), (1.0, 1e-4, 1000)]
    batch = PairBatch(tuple((PoissonPair(GaussianPair(1 / sigma), rate), times) for sigma, rate, times in parts))
    true = contour.worst_epsilon(
        [
            contour.composed([(contour.subsampled_gaussian(s, q, added=added), times) for s, q, times in parts])
            for added in (False, True)
        ],
        1e-6,
    )
    assert 0.999 * true <= epsilon_below(batch, 1e-6, 1e-5) <= true * (1 + ORACLE)


def test_a_mix_of_all_kinds_is_bracketed_around_the_truth():
    truth = 0.525
    loss = Composed(
        [
            Repeated(LaplaceNoise(20), 250),
            Repeated(GaussianNoise(60), 250),
            Repeated(BoundedRange(0.1), 250),
            Repeated(RandomisedResponse(truth), 250),
        ]
    )
    moments = contour.composed(
        [
            (contour.laplace(20), 250),
            (contour.gaussian(60), 250),
            (contour.bounded_range(0.1), 250),
            (contour.randomised_response(truth), 250),
        ]
    )
    true = contour.true_epsilon(moments, 1e-5)
    found = bracket(loss, 1e-5)
    assert found.lower <= true * (1 + ORACLE)
    assert true * (1 - ORACLE) <= found.upper <= true * (1 + LOOSE)
    assert found.upper - found.lower <= 1e-3 * true


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize(
    ("sigma", "rate", "times", "allowed"),
    [
        (0.7, 0.02, 400, 1e-3),
        (1.3, 0.3, 30, 1e-9),
        (2.5, 0.1, 1000, 1e-6),
        (0.9, 0.005, 5000, 1e-7),
        (4.0, 0.5, 60, 1e-14),
    ],
)
def test_the_promised_epsilon_keeps_delta_in_both_directions(sigma, rate, times, allowed, added):
    promised = epsilon(Repeated(Subsampled(GaussianNoise(sigma), rate), times), allowed)
    moments = contour.composed([(contour.subsampled_gaussian(sigma, rate, added=added), times)])
    assert contour.true_delta(moments, promised) <= allowed * (1 + 1e-6)


# Finite pairs, where everything can be summed exactly.

WEIGHTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=4).filter(
    lambda pairs: any(p for p, _ in pairs) and any(q for _, q in pairs)
)


def exact_delta(present, absent, times, power):
    """Return the hockey-stick divergence at e^ε = power of a product, by listing all of its outcomes."""
    total = Fraction(0)
    for outcome in itertools.product(range(len(present)), repeat=times):
        p, q = math.prod(present[i] for i in outcome), math.prod(absent[i] for i in outcome)
        total += max(Fraction(0), p - power * q)
    return total


@given(WEIGHTS, st.integers(1, 4), st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(4)]))
@settings(max_examples=25, deadline=None)
def test_finite_pairs_enclose_their_exact_divergence(pairs, times, power):
    present = [Fraction(p, sum(a for a, _ in pairs)) for p, _ in pairs]
    absent = [Fraction(q, sum(b for _, b in pairs)) for _, q in pairs]
    true = max(exact_delta(present, absent, times, power), exact_delta(absent, present, times, power))
    at = float(mpmath.log(mpmath.mpf(power.numerator) / power.denominator))
    loss = Repeated(DominatingPair(present, absent), times)
    found = bracket_delta(loss, at)
    assert found.lower <= float(true) * (1 + 1e-9) + 1e-15
    assert found.upper >= float(true) * (1 - 1e-9)
    assert delta(loss, at) <= float(true) * 1.01 + 1e-9


def test_the_worse_of_both_directions_counts():
    """Telling that a person is absent is easier here than telling that they are present."""
    present, absent = [Fraction(1, 1001), Fraction(1000, 1001)], [Fraction(40, 43), Fraction(3, 43)]
    for times, power in ((1, 400), (2, 10_000)):
        there, back = exact_delta(present, absent, times, power), exact_delta(absent, present, times, power)
        assert back > 2 * there
        stated = delta(Repeated(DominatingPair(present, absent), times), math.log(power))
        assert float(back) * (1 - 1e-9) <= stated <= float(back) * 1.01


@pytest.mark.parametrize("failing", [0.3, 0.6, 0.9, 0.999])
def test_what_tells_for_certain_counts_in_full(failing):
    assert delta(Approximate(1, failing), 1) == failing
    assert delta(Repeated(Approximate(1, failing), 2), 1) >= optimal_delta(1, failing, 2, 1) * (1 - 1e-9)


# Cells against sixty digits.


def gaussian_cells(mu, low, high):
    """Return excess and deficit of a cell by the closed form, with enough digits for all of the cancellation."""
    with mpmath.workdps(120):
        start, end = mpmath.mpf(low) / mu + mpmath.mpf(mu) / 2, mpmath.mpf(high) / mu + mpmath.mpf(mu) / 2

        def between(a, b):
            # On the side where tails are small, or the digits of 1 would drown those of the tail.
            near, far = (-b, -a) if a + b < 0 else (a, b)
            return (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.erfc(far / mpmath.sqrt(2))) / 2

        present, absent = between(start - mu, end - mu), between(start, end)
        return present - mpmath.exp(low) * absent, mpmath.exp(high) * absent - present


@pytest.mark.parametrize("mu", [0.001, 0.05, 1.0, 3.0, 12.0])
def test_cells_of_gaussian_noise_are_as_accurate_as_they_say_even_far_out(mu):
    reach = min(25 * mu, 80.0)
    for count in (3, 40, 2001):
        edges = np.linspace(-reach, reach, count)
        cells = GaussianPair(mu).cells(edges)
        for i in {0, count // 3, count // 2, count - 3, count - 2}:
            excess, deficit = gaussian_cells(mu, float(edges[i]), float(edges[i + 1]))
            # What differs by less than the roundings of the edges, which the closed form magnifies, is equal.
            room = float(cells.error[i]) * 1.01 + 1e-13 * float(excess + deficit)
            assert abs(float(excess) - cells.excess[i]) <= room
            assert abs(float(deficit) - cells.deficit[i]) <= room


PAIRS = [
    GaussianPair(0.3),
    GaussianPair(2.0),
    laplace_pair(0.1),
    laplace_pair(3.0),
    range_pair(0.5),
    PoissonPair(GaussianPair(1.0), 0.01),
    PoissonPair(laplace_pair(1.0), 0.3),
    FixedSizePair(GaussianPair(1.0), 0.05),
    Atoms(np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.35, 0.45]), symmetric=False),
    PoissonPair(Atoms(np.array([0.75, 0.25]), np.array([0.25, 0.75]), symmetric=True), 0.1),
]


def lattice_delta(lattice: Lattice, step, at):
    levels = step * (lattice.first + np.arange(len(lattice.masses)))
    return float((lattice.masses * -np.expm1(-np.maximum(levels - at, 0))).sum()) + lattice.beyond


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: repr(pair)[:40])
@pytest.mark.parametrize("step", [0.5, 0.013])
def test_rounding_outwards_lies_above_and_inwards_below_for_every_epsilon(pair, step):
    """Against the same pair on a grid sixty-four times as fine, whose two roundings enclose the truth closely."""
    cells, first = grid_of(pair, step, 1e-12)
    fine_cells, fine_first = grid_of(pair, step / 64, 1e-14)
    for coarse, fine in ((cells, fine_cells), (cells.mirror(), fine_cells.mirror())):
        start = first if coarse is cells else -(first + len(cells.edges) - 1)
        fine_start = fine_first if fine is fine_cells else -(fine_first + len(fine_cells.edges) - 1)
        above, below = outwards(coarse, start), inwards(coarse, start)
        high, low = outwards(fine, fine_start), inwards(fine, fine_start)
        for at in np.linspace(-2.0, 3.0, 41):
            assert lattice_delta(above, step, at) >= lattice_delta(low, step / 64, at + DRIFT) * (1 - 1e-12)
            assert lattice_delta(below, step, at + DRIFT) <= lattice_delta(high, step / 64, at) * (1 + 1e-12)
            assert lattice_delta(below, step, at) <= lattice_delta(above, step, at)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: repr(pair)[:40])
def test_no_mass_is_lost_on_the_grid(pair):
    cells, first = grid_of(pair, 0.01, 1e-9)
    for one, start in ((cells, first), (cells.mirror(), -(first + len(cells.edges) - 1))):
        lattice = outwards(one, start)
        assert 1 - 1e-12 <= lattice.masses.sum() + lattice.beyond <= 1 + 1e-8


# The transform.


def exact_power(masses, times):
    result = [mpmath.mpf(1)]
    for _ in range(times):
        result = [
            mpmath.fsum(result[j] * masses[i - j] for j in range(len(result)) if 0 <= i - j < len(masses))
            for i in range(len(result) + len(masses) - 1)
        ]
    return result


@given(
    st.lists(st.floats(1e-12, 1), min_size=2, max_size=6),
    st.integers(1, 12),
    st.floats(0.05, 6),
    st.integers(-3, 3),
)
@settings(max_examples=50, deadline=None)
def test_the_error_of_the_tilted_transform_is_within_its_bound(weights, times, tilt, first):
    """Every mass of the sum, also those 1e-60 below the largest, against fifty digits."""
    with mpmath.workdps(50):
        step = 0.7
        masses = np.array(weights) / sum(weights)
        size = 2 * ((times * len(masses)) // 2 + 2)
        window = SumWindow(first * times, size, step, tilt, (0.5, 0.5))
        total = convolve([RepeatedLattice(Lattice(first, masses, 0.0), times)], window)
        true = exact_power([mpmath.mpf(float(mass)) for mass in masses], times)
        for i, mass in enumerate(true):
            level = step * (first * times + i)
            tilted = mass * mpmath.exp(tilt * mpmath.mpf(level) - mpmath.mpf(total.log_scale))
            assert abs(total.masses[i] - tilted) <= total.error + 1e-12 * float(tilted)


def test_masses_outside_of_the_window_are_bounded():
    masses = np.array([0.2, 0.5, 0.3])
    window = SumWindow(-10, 20, 1.0, 0.3, (0.4, 0.4))
    total = convolve([RepeatedLattice(Lattice(-1, masses, 0.0), 100)], window)
    whole = convolve(
        [RepeatedLattice(Lattice(-1, masses, 0.0), 100)], dataclasses.replace(window, first=-100, size=256)
    )
    assert total.below >= whole.masses[:90].sum()
    assert total.above >= whole.masses[110:].sum()


@pytest.mark.parametrize("tilt", [0.05, 0.3, 1.0])
@pytest.mark.parametrize(("first", "size"), [(-30, 60), (-10, 20), (0, 16), (4, 8), (10, 64)])
def test_what_is_wrapped_into_a_window_is_never_taken_for_delta(tilt, first, size):
    """From above it may only add, from below it is taken off, however short the window is."""
    part = RepeatedLattice(Lattice(-1, np.array([0.2, 0.5, 0.3]), 0.0), 100)
    total = convolve([part], SumWindow(first, size, 0.5, tilt, (0.4, 0.4)))
    whole = convolve([part], SumWindow(-100, 256, 0.5, tilt, (0.4, 0.4)))
    for at in np.linspace(0.0, 20.0, 41).tolist():
        true = numeric._delta_at(whole, at, +1)
        assert numeric._delta_at(whole, at, -1) >= true * (1 - 1e-6) - 1e-9
        assert numeric._delta_at(total, at, -1) <= true <= numeric._delta_at(total, at, +1) * (1 + 1e-9)
        assert numeric._last_above(total, true) <= at * (1 + 1e-9) + 1e-9
        assert numeric._first_below(total, true) >= at * (1 - 1e-6) - 1e-6


BATCHES = [
    (PairBatch(((PoissonPair(GaussianPair(1.0), 0.02), 300),)), 1e-6),
    (PairBatch(((laplace_pair(0.1), 200), (GaussianPair(0.1), 5))), 1e-4),
    (PairBatch(((PAIRS[8], 12),)), 1e-3),
]


@pytest.mark.parametrize(("batch", "allowed"), BATCHES)
@pytest.mark.parametrize("wrong", [0.05, 0.5, 3.0, 20.0])
def test_a_bad_guess_loosens_a_bound_but_never_breaks_it(batch, allowed, wrong, monkeypatch):
    """Grid, tilt and window come from a rough sketch; here the sketch is made to lie."""
    low, high = epsilon_below(batch, allowed, 1e-6), epsilon_above(batch, allowed, 1e-6)
    honest = Sketch.cumulant
    monkeypatch.setattr(Sketch, "cumulant", lambda self, tilts: wrong * honest(self, tilts))
    monkeypatch.setattr(Sketch, "width", lambda self, tilt: 1.0 / wrong)
    assert epsilon_above(batch, allowed) >= low
    assert epsilon_below(batch, allowed) <= high
    assert delta_above(batch, (low + high) / 2) >= allowed * 0.99
    assert delta_below(batch, (low + high) / 2) <= allowed * 1.01


@pytest.mark.parametrize("harmless", [0, 1])
def test_a_direction_that_is_guessed_to_be_harmless_is_not_left_out_of_an_upper_bound(harmless, monkeypatch):
    """A lower bound may do without a direction; an upper bound without the worse one would be no bound."""
    batch, allowed = PairBatch(((PoissonPair(GaussianPair(1.0), 0.1), 10),)), 1e-5
    low = epsilon_below(batch, allowed)
    honest, direction = Sketch.aim_at_delta, itertools.count()

    def lie(sketch, sought):
        aim = honest(sketch, sought)
        return dataclasses.replace(aim, epsilon=aim.epsilon / 100) if next(direction) == harmless else aim

    monkeypatch.setattr(Sketch, "aim_at_delta", lie)
    assert epsilon_above(batch, allowed) >= low


def test_a_number_that_is_none_counts_as_too_much():
    masses = np.array([0.5, math.nan])
    total = dataclasses.replace(
        convolve([RepeatedLattice(Lattice(0, np.array([0.5, 0.5]), 0.0), 1)], SumWindow(0, 2, 1.0, 0.1, (1.0, 1.0))),
        masses=masses,
    )
    assert math.isinf(numeric._first_below(total, 0.1))
    assert numeric._delta_at(total, 0.0, +1) == 1.0


# Closed forms.


@pytest.mark.parametrize("mu", ["0.0001", "0.01", "0.3", "1", "3", "20", "100"])
def test_the_curve_of_gaussian_noise_encloses_sixty_digits(mu):
    with mpmath.workdps(60):
        number = mpmath.mpf(mu)
        for at in ("0", "0.00001", "0.001", "0.1", "1", "5", "30", "100", "1000", "5000"):
            e = mpmath.mpf(at)
            low, high = curve_delta(Fraction(mu) ** 2, Fraction(at))
            true = mpmath.ncdf(number / 2 - e / number) - mpmath.exp(e) * mpmath.ncdf(-number / 2 - e / number)
            if true > 1e-300:
                assert low <= true <= high
                assert high - low <= 1e-10 * true
            else:
                assert high <= 1e-290


def test_gaussians_compose_to_a_gaussian():
    """T releases of noise σ are one of noise σ/√T; the numeric accountant agrees with the closed form."""
    low, high = curve_epsilon(Fraction(400), Fraction(1, 10**5))
    assert low <= epsilon(Repeated(GaussianNoise(0.5), 100), 1e-5) <= high
    assert high - low < 1e-6
    numerically = epsilon_above(PairBatch(((GaussianPair(2.0), 100),)), 1e-5)
    assert high * (1 - 1e-12) <= numerically <= high * (1 + LOOSE)


def test_laplace_noise_composes_as_summed_exactly():
    for times, at in ((1, 0.05), (10, 0.7), (50, 2.0)):
        true = contour.laplace_delta(10.0, times, at)
        found = bracket_delta(Repeated(LaplaceNoise(10), times), at)
        assert found.lower <= true * (1 + 1e-9)
        assert true * (1 - 1e-9) <= found.upper <= true * (1 + 1e-2)


def test_lots_without_replacement_cost_as_the_theorem_says():
    """Balle, Barthe, Gaboardi 2018, Theorem 9: δ′(ln(1 + q(e^ε − 1))) = q·δ(ε)."""
    rate = 0.05
    loss = Subsampled(GaussianNoise(1), rate, Sampling.WITHOUT_REPLACEMENT)
    for at in (0.5, 1.0, 3.0):
        sampled = math.log1p(rate * math.expm1(at))
        true = rate * curve_delta(Fraction(1), Fraction(at))[1]
        assert true * (1 - 1e-9) <= delta(loss, sampled) <= true * (1 + 1e-2)


# The random variable itself.


def test_the_loss_distribution_shows_the_privacy_loss():
    shown = loss_distribution(Repeated(GaussianNoise(2), 4))
    # N(μ²/2, μ²) with μ² = 4/4.
    assert shown.mean == pytest.approx(0.5, abs=5e-3)
    assert shown.deviation == pytest.approx(1.0, abs=5e-3)
    assert sum(shown.probabilities) + shown.beyond == pytest.approx(1, abs=1e-9)
    assert shown.delta(1.0) == pytest.approx(delta(GaussianNoise(1), 1), rel=2e-2)
    assert shown.tail(1.0) > shown.delta(1.0)


def test_the_loss_distribution_of_a_sampled_release_has_two_directions():
    loss = Repeated(Subsampled(GaussianNoise(1), 0.1), 20)
    there, back = loss_distribution(loss), loss_distribution(loss, reverse=True)
    at = epsilon(loss, 1e-4)
    assert max(there.delta(at), back.delta(at)) == pytest.approx(1e-4, rel=0.1)
    assert there.delta(at) != pytest.approx(back.delta(at), rel=0.1)

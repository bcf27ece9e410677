"""The dominating pairs of discrete noise: their masses, their curves, and what blocks of outcomes do to both."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from discreet.accounting.gaussian_curves import gaussian_delta
from discreet.accounting.losses import DiscreteLaplaceNoise
from discreet.accounting.pld.cells import UNIT
from discreet.accounting.pld.discrete_noise import (
    MOST,
    ROUNDINGS,
    _choose_integers,
    _discrete_gauss,
    discrete_gaussian_atoms,
    discrete_laplace_atoms,
)
from discreet.core import InvalidInput, Sensitivity, WrongType

mp = mpmath.MPContext()
mp.prec = 160

#: Masses are right to some 1e-15, and δ is a thousandth of the masses that it is the difference of.
EVALUATION = 1e-12
#: Masses below this are left out.
LEAST = 1e-300
LAPLACE = [(Fraction(1), 1), (Fraction(2, 3), 2), (Fraction(5), 7), (Fraction(100, 7), 60), (Fraction(1, 4), 9)]
GAUSSIAN = [(Fraction(1, 3), 1), (Fraction(1), 1), (Fraction(7, 3), 4), (Fraction(40), 1), (Fraction(900), 50)]
LAPLACE_BLOCKS = [(Fraction(100), 1000), (Fraction(50), 1001), (Fraction(500), 12345), (Fraction(7, 2), 2000)]
GAUSSIAN_BLOCKS = [(120, 1, 2**11), (121, 2, 2**11), (400, 1000, 2**12), (333, 250, 2**11)]


def rational(number):
    return mp.mpf(number.numerator) / number.denominator


def laplace(scale, shift, **options):
    return discrete_laplace_atoms(DiscreteLaplaceNoise(scale, shift), **options)


class Truth:
    """P and Q over a run of integers, and their sums from each integer on."""

    def __init__(self, weights, shift):
        reach = len(weights) - 1
        total = weights[0] + 2 * mp.fsum(weights[1:])
        self.first = shift - reach
        points = range(self.first, reach + 1)
        self.present = [weights[abs(x - shift)] / total for x in points]
        self.absent = [weights[abs(x)] / total for x in points]
        self.present_from, self.absent_from = suffixes(self.present), suffixes(self.absent)

    def delta(self, eps):
        """Return Σ max(0, P − e^ε·Q): the ratio rises, so it is over a half-line, found by bisection."""
        growth = mp.exp(eps)
        low, high = 0, len(self.present)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.present[middle] <= growth * self.absent[middle] else (low, middle)
        return self.present_from[low] - growth * self.absent_from[low]

    def listed(self, first, count):
        """Return the masses of so many integers from `first` on, without those that are too small to be listed."""
        start = first - self.first
        pairs = zip(self.present[start : start + count], self.absent[start : start + count], strict=True)
        return without_small(pairs)


def suffixes(masses):
    sums = [mp.mpf(0)]
    for mass in reversed(masses):
        sums.append(sums[-1] + mass)
    return sums[::-1]


def without_small(pairs):
    return [(p if p > LEAST else 0, q if q > LEAST else 0) for p, q in pairs if max(p, q) > LEAST]


def laplace_truth(scale, shift):
    """Return the masses out to where e^−60 is left."""
    weights, factor = [mp.mpf(1)], mp.exp(-1 / rational(scale))
    for _ in range(math.ceil(60 * scale) + shift):
        weights.append(weights[-1] * factor)
    return Truth(weights, shift)


def gaussian_truth(variance, shift):
    """Return the masses out to 19 widths, where 1e-79 is left."""
    weights, rate = [mp.mpf(1)], 1 / (2 * rational(variance))
    step, growth = mp.exp(-rate), mp.exp(-2 * rate)
    for _ in range(math.ceil(19 * math.sqrt(variance)) + 2 + shift):
        weights.append(weights[-1] * step)
        step *= growth
    return Truth(weights, shift)


def curve(atoms, eps):
    """Return δ of listed masses; its own rounding is that of the differences."""
    gaps = atoms.present - float(mp.exp(eps)) * atoms.absent
    return math.fsum(gaps[gaps > 0].tolist())


def right(atoms, pairs):
    """Check the masses, one by one, to the roundings that are allowed for."""
    assert len(atoms.present) == len(atoms.absent) == len(pairs)
    for masses, expected in zip((atoms.present, atoms.absent), zip(*pairs, strict=True), strict=True):
        for mass, true in zip(masses.tolist(), expected, strict=True):
            assert abs(mass - true) <= ROUNDINGS * UNIT * true


def laplace_losses(scale, shift):
    return [rational((2 * Fraction(k, 11) - 1) * shift / scale) for k in range(11)]


def gaussian_losses(variance, shift):
    """Return (deviations, loss) from 6 below the mean loss to 11.5 above it, where δ is 1e-30."""
    width = math.sqrt(variance)
    return [(k, shift * (shift / 2 + k * width) / float(variance)) for k in np.linspace(-6, 11.5, 8).tolist()]


# The pair itself, where all outcomes are listed.


@pytest.mark.parametrize(("scale", "shift"), LAPLACE)
def test_the_curve_of_discrete_laplace_noise_is_the_true_one(scale, shift):
    atoms, truth = laplace(scale, shift), laplace_truth(scale, shift)
    for eps in laplace_losses(scale, shift):
        assert abs(curve(atoms, eps) / truth.delta(eps) - 1) < EVALUATION
    assert curve(atoms, rational(shift / scale) + EVALUATION) == 0
    assert atoms.lost_present == 0


@pytest.mark.parametrize(("variance", "shift"), GAUSSIAN)
def test_the_curve_of_discrete_gaussian_noise_is_the_true_one(variance, shift):
    atoms, truth = discrete_gaussian_atoms(variance, shift), gaussian_truth(variance, shift)
    for _, eps in gaussian_losses(variance, shift):
        assert abs(curve(atoms, eps) / truth.delta(eps) - 1) < EVALUATION


@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(1, 3), Fraction(10), Fraction(10**6), Fraction(10**9)])
@pytest.mark.parametrize("shift", [1, 2, 5, 1000])
def test_every_mass_of_discrete_laplace_noise_is_right_to_its_roundings(scale, shift):
    q = mp.exp(-1 / rational(scale))
    inner = [(1 - q) / (1 + q) * q**x for x in range(1, shift)]
    low, high = q**shift / (1 + q), 1 / (1 + q)
    right(laplace(scale, shift), without_small([(low, high), *zip(inner[::-1], inner, strict=True), (high, low)]))


@pytest.mark.parametrize(("variance", "shift"), [(Fraction(1, 9), 2), *GAUSSIAN, (Fraction(123457, 91), 700)])
def test_every_mass_of_discrete_gaussian_noise_is_right_to_its_roundings(variance, shift):
    kept = _choose_integers(variance, shift, MOST)
    assert kept.size == 1
    right(discrete_gaussian_atoms(variance, shift), gaussian_truth(variance, shift).listed(kept.first, kept.count + 1))


@pytest.mark.parametrize(
    ("variance", "shift"), [(Fraction(1000**2), 1), (Fraction(1, 2), 1), (Fraction(10**60), 10**30)]
)
def test_the_slack_covers_losses_that_are_found_from_logarithms_of_masses(variance, shift):
    atoms, kept = discrete_gaussian_atoms(variance, shift), _choose_integers(variance, shift, MOST)
    for index in range(0, kept.count + 1, max(1, kept.count // 500)):
        true = shift * (2 * (kept.first + index * kept.size) - shift) / (2 * variance)
        # What `Atoms.cells` allows for, less the relative error of the mass itself.
        allowed = 3 * atoms.slack + 8 * UNIT * (1 + abs(float(true)))
        assert abs(Fraction(float(atoms.levels[index])) - true) <= allowed


@pytest.mark.parametrize("shift", [1, 3])
def test_the_largest_shift_dominates_every_smaller_one(shift):
    for smaller in range(1, shift + 1):
        for variance in (Fraction(1, 2), Fraction(6)):
            truth, atoms = gaussian_truth(variance, smaller), discrete_gaussian_atoms(variance, shift)
            assert all(truth.delta(eps) <= curve(atoms, eps) * (1 + EVALUATION) for eps in (-2, -0.5, 0, 0.5, 2, 6))
        truth, atoms = laplace_truth(Fraction(3), smaller), laplace(3, shift)
        assert all(truth.delta(eps) <= curve(atoms, eps) * (1 + EVALUATION) for eps in (-0.5, -0.1, 0, 0.1, 0.3))


# Blocks of outcomes.


@pytest.mark.parametrize(("scale", "shift"), LAPLACE_BLOCKS)
def test_blocks_of_laplace_outcomes_bracket_the_curve(scale, shift):
    truth = laplace_truth(scale, shift)
    outer, inner = (laplace(scale, shift, most=512, inwards=inwards) for inwards in (False, True))
    assert len(outer.present) < 300
    for eps in laplace_losses(scale, shift):
        true = truth.delta(eps)
        assert true * (1 - EVALUATION) <= curve(outer, eps)
        assert curve(inner, eps) <= true * (1 + EVALUATION)
        if shift < 100 * scale:  # else a block is worth a loss above 1, and the bound is loose
            assert curve(outer, eps) <= 1.001 * true
            assert curve(inner, eps) >= 0.999 * true


@pytest.mark.parametrize(("width", "shift", "most"), GAUSSIAN_BLOCKS)
def test_blocks_of_gaussian_outcomes_bracket_the_curve(width, shift, most):
    variance = Fraction(width**2) + Fraction(1, 7)
    truth, size = gaussian_truth(variance, shift), _choose_integers(variance, shift, most).size
    assert size > 1
    outer, inner = (discrete_gaussian_atoms(variance, shift, most=most, inwards=inwards) for inwards in (False, True))
    for deviations, eps in gaussian_losses(variance, shift):
        # A block spreads an outcome with a variance of at most size²/4 and size²/6 on average; it multiplies δ so:
        cost = math.exp((size / width) ** 2 / 6 * (abs(deviations) + shift / width + 2) ** 2)
        assert truth.delta(eps) * (1 - 10 * EVALUATION) <= curve(outer, eps) <= cost * truth.delta(eps)
        assert truth.delta(eps) / cost <= curve(inner, eps) <= truth.delta(eps) * (1 + 10 * EVALUATION)


def test_an_outward_curve_touches_the_true_one_at_every_kept_loss():
    """Connect the dots: the true curve is sampled there, and in between it is a chord."""
    variance, shift, most = Fraction(120**2), 37, 2**11
    kept, truth = _choose_integers(variance, shift, most), gaussian_truth(variance, shift)
    atoms = discrete_gaussian_atoms(variance, shift, most=most)
    for index in range(kept.count // 3, kept.count * 5 // 6, 29):
        eps = rational(shift * (2 * (kept.first + index * kept.size) - shift) / (2 * variance))
        assert abs(curve(atoms, eps) / truth.delta(eps) - 1) < 10 * EVALUATION
    scale, shift = Fraction(100), 1000
    atoms, truth = laplace(scale, shift, most=512), laplace_truth(scale, shift)
    for kept in (0, 4, 496, 504, 996):  # four apart from both ends on
        eps = rational((2 * kept - shift) / scale)
        assert abs(curve(atoms, eps) / truth.delta(eps) - 1) < EVALUATION


@pytest.mark.parametrize(("scale", "shift"), [(Fraction(10**6), 10**7), (Fraction(10**9), 10**9 + 7), (10**28, 10**30)])
def test_huge_laplace_shifts_touch_the_true_curve(scale, shift):
    """At a kept loss, δ is the difference of two geometric tails."""
    outer, inner = (laplace(scale, shift, inwards=inwards) for inwards in (False, True))
    size = -(-shift // 2**16)
    q = mp.exp(-1 / rational(Fraction(scale)))
    assert 2**15 < len(outer.present) <= 2**16 + 2
    for index in (3, 10_000, 30_000):
        at = index * size
        eps = (2 * at - shift) / rational(Fraction(scale))
        # P[x ≤ at] = q^(s−at)/(1+q) for at < s, and Q[x > at] = q^(at+1)/(1+q) for at ≥ 0.
        true = 1 - q ** (shift - at) / (1 + q) - mp.exp(eps) * q ** (at + 1) / (1 + q)
        assert abs(curve(outer, eps) / true - 1) < 1e-11  # a block is a 65,536th of the range
        assert 0.999 * true < curve(inner, eps) <= true * (1 + 1e-11)


def test_masses_near_the_least_keep_their_digits_under_a_tiny_peak():
    scale, shift = Fraction(10**20), 680 * 10**20
    size = -(-shift // 2**16)
    masses = laplace(scale, shift).absent
    q = mp.exp(-1 / rational(scale))
    for index in (10, 30_000, 65_000):
        x = index * size if index < 2**15 else shift - (65_535 - index) * size
        true = (1 - q) / (1 + q) * q**x * (1 + 2 * q * (1 - q ** (size - 1)) / ((1 - q) * (1 + q**size)))
        assert abs(masses[index] / true - 1) <= ROUNDINGS * UNIT


@pytest.mark.parametrize(("width", "shift"), [(2000, 1), (2000, 9000), (10**5, 10**5), (10**5, 3 * 10**6)])
@pytest.mark.parametrize("inwards", [False, True])
def test_sums_over_blocks_are_right_to_their_roundings(width, shift, inwards):
    variance = Fraction(width**2) + Fraction(1, 3)
    kept, rate = _choose_integers(variance, shift, MOST), 1 / (2 * rational(variance))
    masses = by_loss(discrete_gaussian_atoms(variance, shift, inwards=inwards))
    for x in middle_of(kept):
        terms = (
            mp.exp(-((x + j - shift) ** 2) * rate) * (1 if inwards else share(j, kept.size, shift * rate))
            for j in reach(kept.size, inwards=inwards)
        )
        true = mp.fsum(terms) / mp.sqrt(mp.pi / rate)
        assert abs(masses(shift * (2 * x - shift) * rate) / true - 1) <= ROUNDINGS * UNIT


@pytest.mark.parametrize("shift", [10**29, 10**31])
def test_sums_over_countless_integers_are_integrals(shift):
    variance = Fraction(10**60) + Fraction(1, 3)
    kept, rate = _choose_integers(variance, shift, MOST), 1 / (2 * rational(variance))
    masses = by_loss(discrete_gaussian_atoms(variance, shift))
    for x in middle_of(kept):

        def spread(u, x=x):
            return mp.exp(-((x + u * kept.size - shift) ** 2) * rate) * share(u, 1, shift * kept.size * rate)

        true = kept.size * mp.quad(spread, [-1, 0, 1], method="gauss-legendre") / mp.sqrt(mp.pi / rate)
        assert abs(masses(shift * (2 * x - shift) * rate) / true - 1) <= ROUNDINGS * UNIT


def middle_of(kept):
    """Return nine kept integers of the middle two thirds; further out, masses may be too small to be listed."""
    return [kept.first + index * kept.size for index in range(kept.count // 6, kept.count * 5 // 6, kept.count // 12)]


def by_loss(atoms):
    """Return a function from a loss to the P-mass nearest to it."""
    levels = atoms.levels
    return lambda loss: atoms.present[np.abs(levels - float(loss)).argmin()]


def reach(size, *, inwards):
    return range(-(size // 2), size // 2 + 1) if inwards else range(1 - size, size)


def share(distance, size, rate):
    """Return the share of P-mass that goes to a kept loss from `distance` steps of 2·rate: what keeps P and Q."""
    if distance <= 0:
        return mp.expm1(-2 * rate * (size + distance)) / mp.expm1(-2 * rate * size)
    return mp.expm1(2 * rate * (size - distance)) / mp.expm1(2 * rate * size)


@pytest.mark.parametrize("points", [9, 10, 17, 1000])
def test_eight_nodes_sum_polynomials_over_any_number_of_points(points):
    nodes, weights = _discrete_gauss(points)
    for power in range(16):
        true = sum(Fraction(2 * j - points - 1, points) ** power for j in range(1, points + 1))
        assert abs(float(weights @ nodes**power) - float(true)) < 1e-14 * points


# Known curves and laws.


def gaussian_curve(mu, eps):
    """Return the curve of continuous noise: Balle, Wang 2018, Theorem 8."""
    return mp.ncdf(mu / 2 - eps / mu) - mp.exp(eps) * mp.ncdf(-mu / 2 - eps / mu)


@pytest.mark.parametrize("width", [10**6, 10**12, 10**30])
@pytest.mark.parametrize("mu", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_wide_noise_has_the_curve_of_the_continuous_gaussian(width, mu):
    outer, inner = (
        discrete_gaussian_atoms(Fraction(width**2), int(mu * width), inwards=side) for side in (False, True)
    )
    for deviations in (-3, 0, 1, 4, 7, 11):
        eps = rational(mu * mu / 2 + mu * deviations)
        true = gaussian_curve(rational(mu), eps)
        # Continuous and discrete noise differ by 1/width² or so; blocks cost what is allowed here.
        near = 1e-6 if deviations <= 1 else 3e-5
        assert true * (1 - 1e-10) <= curve(outer, eps) <= true * (1 + near)
        assert true * (1 - 2 * near) <= curve(inner, eps) <= true * (1 + 1e-10)


@pytest.mark.parametrize(("variance", "shift"), [(Fraction(4), 1), (Fraction(300), 20), (Fraction(10**4), 5)])
def test_the_curve_agrees_with_the_two_tails_of_one_discrete_gaussian(variance, shift):
    atoms = discrete_gaussian_atoms(variance, shift)
    for eps in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(2)):
        stated = gaussian_delta(variance, Sensitivity.box(l0=1, linf=shift), eps)
        ours = float(curve(atoms, rational(eps)))
        assert ours * (1 - EVALUATION) <= stated <= ours + 1e-10  # its tails are bracketed to 1e-11


@pytest.mark.parametrize("inwards", [False, True])
def test_both_distributions_sum_to_one_and_mirror_each_other(inwards):
    lists = [
        *(laplace(scale, shift, inwards=inwards) for scale, shift in [*LAPLACE, (Fraction(10**5), 10**6), (9, 10**12)]),
        *(
            discrete_gaussian_atoms(v, c, inwards=inwards)
            for v, c in [*GAUSSIAN, (Fraction(10**9), 7), (10**60, 10**30)]
        ),
    ]
    for atoms in lists:
        assert atoms.symmetric
        for masses, lost in ((atoms.present, atoms.lost_present), (atoms.absent, atoms.lost_absent)):
            assert abs(math.fsum(masses.tolist()) - 1) <= atoms.slack + lost
            assert not np.any((masses > 0) & (masses < LEAST))
        assert np.array_equal(np.sort(atoms.present), np.sort(atoms.absent))


def test_more_noise_and_a_smaller_shift_never_cost_more():
    for eps in (-1.0, 0.0, 0.5, 3.0):
        gaussians = [
            curve(discrete_gaussian_atoms(Fraction(v), 100), eps) for v in (2000, 9000, 40000, 10**6, 2 * 10**7)
        ]
        shifts = [curve(discrete_gaussian_atoms(Fraction(10**7), c), eps) for c in (10**4, 3000, 2000, 1000, 1)]
        laplaces = [curve(laplace(scale, 200_000), eps) for scale in (10**4, 5 * 10**4, 10**5, 10**6)]
        for falling in (gaussians, shifts, laplaces):
            assert all(more >= less for more, less in pairwise(falling))


# The far ends.


def test_tiny_noise_has_finite_and_huge_losses():
    atoms = discrete_gaussian_atoms(Fraction(1, 1000), 1)
    finite = np.isfinite(atoms.levels)
    assert atoms.levels[finite] == pytest.approx([-500, 500], rel=1e-14)
    assert atoms.present[finite][1] == 1
    assert atoms.present[~finite].max() < 1e-200


def test_noise_that_hides_nothing_tells_for_certain():
    for atoms in (discrete_gaussian_atoms(Fraction(1, 10**6), 1), laplace(Fraction(1, 1000), 5)):
        assert sorted(atoms.levels.tolist()) == [-math.inf, math.inf]
        assert 0 < atoms.lost_present < 1e-100


def test_what_is_out_of_reach_is_counted_as_lost():
    for variance in (Fraction(1, 3), Fraction(5), Fraction(1000)):
        atoms, kept = discrete_gaussian_atoms(variance, 1), _choose_integers(variance, 1, MOST)
        truth = gaussian_truth(variance, 1)
        start = kept.first - truth.first
        beyond = mp.fsum(truth.present[:start]) + truth.present_from[start + kept.count + 1]
        assert beyond <= atoms.lost_present <= 1e-60


@pytest.mark.parametrize(
    ("variance", "shift", "error"),
    [(0, 1, InvalidInput), (1, 0, InvalidInput), (1, 1.5, WrongType), ("1", 1, WrongType)],
)
def test_noise_without_a_variance_or_a_shift_is_refused(variance, shift, error):
    with pytest.raises(error):
        discrete_gaussian_atoms(variance, shift)

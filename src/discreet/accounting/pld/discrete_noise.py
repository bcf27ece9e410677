"""Dominating pairs of discrete Gaussian and discrete Laplace noise on one integer that moves by c.

Gaussian: P(x) ∝ e^(−(x−c)²/2σ²) stands against Q(x) ∝ e^(−x²/2σ²); the loss of x is c·(2x − c)/2σ². That the largest
shift dominates all others is proved below, for both noises, and so is how outcomes are put together into blocks.

*Blocks.* Every K-th integer e keeps its loss. With r = 1/2σ² we have √(PQ) ∝ e^(−(x − c/2)²·r), and so outwards the
mass at e becomes its own, of P and of Q, times

    1 + 2·Σ over 0 < j < K of τ(j/K)·e^(−j²·r)·cosh(z·j/K),    z = (e − c/2)·K/σ²,
    τ(u) = sinh((1 − u)·h/2)/sinh(h/2),    h = c·K/σ², the loss from one kept integer to the next.

Inwards, e takes all integers up to (K − 1)/2 away (K is odd): P(e) is multiplied by the same sum with j ≤ (K − 1)/2,
τ = 1 and z = (e − c)·K/σ², and Q is the mirror image. The sum is a power series in z² whose terms are all positive,

    Σ over m of z^2m/(2m)! · Σ over j of τ(j/K)·e^(−j²·r)·(j/K)^2m,

and each inner sum, over 10^30 integers if need be, is found from 8 nodes: the Gauss quadrature of the *discrete*
uniform measure, exact for polynomials of degree 15. Its orthogonal polynomials are Chebyshev's of a discrete variable;
for n points 2/n apart their recurrence has the coefficients k²·(1 − k²/n²)/(4k² − 1) (Szegő 1939, Section 2.8).

*Remainders.* The range is at most (50 + 2·16.8)σ long and has at least 3/5·2^15 blocks, so K ≤ 0.0043σ, h ≤ 0.22,
K²r ≤ 1e-5, and |z| ≤ 0.19 where masses are above 1e-300. To leave out the powers of z from 16 on takes less than
z^16/16!·cosh z < 2^−80 of the sum. Quadrature: the summand is entire in v = 2u − 1, and for |v| ≤ 16, where |u| and
|1 − u| are at most 8.5, it is at most M = 8.5·cosh(4.25h)·e^(73·K²r)·cosh(8.5z) < 33. Its Taylor coefficients are at
most M·16^−k and the nodes sum the first 16 powers exactly, so that n points are off by at most 2n·M·16^−16·16/15. The
sum is at least n/2·e^(−K²r)·(h/2)/sinh(h/2), so this is below 2^−53 of it. Both are far below what `ROUNDINGS` allows.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.accounting.losses import DiscreteLaplaceNoise
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.cells import UNIT, Floats
from discreet.core import positive, whole
from discreet.core.exact import nearest_float

# The dominating pair of discrete Laplace noise, and what it shares with the discrete Gaussian's.
#
# Theorem. Let p be a log-concave and symmetric distribution on the integers, such as either noise. Then p shifted by s
# against p dominates p shifted by d against p for every |d| ≤ s, in both orders.
# Proof. Let 0 ≤ d ≤ s. As p is log-concave, p(x − d)/p(x) rises with x, so that for every ε, of either sign, the best
# event is a half-line, and δ_d(ε) = max over t of P[X ≥ t − d] − e^ε·P[X ≥ t], which grows with d. Reflecting all
# outcomes turns the shift −d into d; reflecting them in d/2 swaps the two distributions of a pair. ∎
# Reference: Zhu, Dong, Wang 2022, Definition 7 (dominating pairs).
#
# *Blocks.* Where there are too many outcomes, only every K-th keeps its loss. For a bound from above ("outwards"), an
# outcome x of loss L between two kept losses a < b is split over them so that its P- and its Q-mass are kept. This is
# connect-the-dots on a grid of our own, see `cells`. In terms of N = √(PQ) the split reads
#
#     to a: N(x)·sinh((b − L)/2)/sinh((b − a)/2),        to b: N(x)·sinh((L − a)/2)/sinh((b − a)/2),
#
# each with the loss of where it goes, P = N·e^(loss/2) and Q = N·e^(−loss/2): so P(x)·(1 − e^(a−L))/(1 − e^(a−b)) of
# the P-mass goes to b and the rest to a. All terms are positive, so nothing cancels. For a bound from below
# ("inwards"), outcomes are merged, which is post-processing.
#
# *Laplace.* With q = e^(−1/t), P(x) ∝ q^|x − s| and Q(x) ∝ q^|x|, all x ≤ 0 have the loss −s/t and all x ≥ s the loss
# s/t. In between the loss is (2x − s)/t and N is constant, so a block of K steps adds to each of its ends its mass
# times
#
#     Σ over 0 < j < K of sinh(j/t)/sinh(K/t) = q·(1 − q^(K−1)) / ((1 − q)·(1 + q^K)).

#: Shifts beyond this are cut into half as many blocks.
MOST_LAPLACE = 2**17
#: Masses below this are left out, and counted as lost: further down doubles lose digits.
LEAST = 1e-300
#: e^−GONE is below LEAST.
GONE = 700.0
#: Exponents are split into multiples of 1/QUANTUM, which doubles add without rounding up to 2^13, and a small rest.
QUANTUM = 2**40
#: The error of a mass, in roundings: two exponentials and a sum of a few products, each off by a few.
ROUNDINGS = 48


def discrete_laplace_atoms(loss: DiscreteLaplaceNoise, *, inwards: bool = False, most: int = MOST_LAPLACE) -> Atoms:
    """Return discrete Laplace noise shifted by its sensitivity against itself.

    Guarantee: for shifts up to `most`, the pair itself, to the stated accuracy. Beyond, a pair that dominates it, or if
    `inwards` one that it dominates. Losses above about 690 count as infinite, as doubles cannot tell.
    Reference: Ghosh, Roughgarden, Sundararajan 2012 (the noise); the curve and the blocks are ours, see above.
    """
    shift, rate = loss.sensitivity, 1 / loss.scale
    size = 1 if shift <= most else -(-2 * shift // most)
    # The kept masses lie symmetrically: `size` apart from both ends on, and the block in the middle takes the rest.
    count = shift if size == 1 else 2 * -(-shift // (2 * size)) - 1
    middle = shift - (count - 1) * size
    index = np.arange(count + 1.0)
    powers = falling((size * rate, index), ((middle - size) * rate, np.asarray(index > count // 2, float)))
    peak = math.tanh(nearest_float(rate) / 2)  # (1 − q)/(1 + q), the mass of 0
    # Weights first: with the peak they are at most 1, while a power times the peak may be too small for a double.
    absent = powers * (peak * _weights(rate, size, middle, count, inwards=inwards))
    if not inwards or size == 1:
        return drop_faint_masses(absent[::-1], absent)
    inner = powers[:-1] * (peak * _inner(rate, size))
    inner[count // 2] = powers[count // 2] * (peak * _inner(rate, middle))
    return drop_faint_masses(np.append(absent[::-1], inner[::-1]), np.append(absent, inner))


def _weights(rate: Fraction, size: int, middle: int, count: int, *, inwards: bool) -> Floats:
    """Return how much lands on each kept outcome, in units of its own mass; the ends hold a half-line each."""
    regular, odd = (0.0, 0.0) if inwards else (_spread(rate, size), _spread(rate, middle))
    weights = np.full(count + 1, 1 + 2 * regular)
    if size > 1:
        weights[count // 2 : count // 2 + 2] = 1 + regular + odd
    weights[[0, -1]] = regular - 1 / math.expm1(-nearest_float(rate))
    return weights


def _inner(rate: Fraction, length: int) -> float:
    """Return Σ q^j over 0 < j < length: the Q-mass inside a block, in units of its lower end's."""
    step = nearest_float(rate)
    return math.exp(-step) * math.expm1(-nearest_float((length - 1) * rate)) / math.expm1(-step)


def _spread(rate: Fraction, length: int) -> float:
    return _inner(rate, length) / (1 + math.exp(-nearest_float(length * rate)))


def falling(*terms: tuple[Fraction, Floats]) -> Floats:
    """Return e^−(Σ number·steps) to a few roundings, for integer steps; tiny where it is below `LEAST`.

    An exponent of some hundreds that is rounded to a double spoils two or three digits. Here its coarse part is summed
    without rounding, and the rest is at most 2^−41·Σ|steps|.
    """
    coarse = np.zeros_like(terms[0][1])
    fine = coarse.copy()
    for number, steps in terms:
        if number:
            high = nearest_float(Fraction(round(number * QUANTUM), QUANTUM))
            coarse += high * steps
            fine += nearest_float(number - Fraction(high)) * steps
    # If the rest is beyond 1, the coarse part is beyond GONE.
    return np.asarray(np.exp(-np.minimum(coarse, GONE)) * np.exp(-np.clip(fine, -1.0, 1.0)))


def drop_faint_masses(present: Floats, absent: Floats, lost: float = 0.0) -> Atoms:
    """Return the atoms without the least masses.

    `Atoms` finds losses as differences of logarithms, so a loss is off by up to 2·UNIT·(|ln P| + |ln Q|), at most
    2·UNIT·(|loss| + 2·depth) if the larger mass is e^−depth. It allows for 4·slack + 8·UNIT·(1 + |loss|), so the depth
    is added to the slack. The dropped mass is below LEAST up to rounding, and counted twice over.
    """
    small, faint = present < LEAST, absent < LEAST
    kept = ~(small & faint)
    shown = np.where(small, 0.0, present)[kept], np.where(faint, 0.0, absent)[kept]
    depth = -math.log(float(np.maximum(*shown).min()))
    return Atoms(
        *shown,
        symmetric=True,
        slack=UNIT * (ROUNDINGS + max(depth, 0.0)),
        lost_present=lost + 2 * LEAST * int(small.sum()),
        lost_absent=lost + 2 * LEAST * int(faint.sum()),
    )


#: Ranges of more integers than this are cut into about half as many blocks.
MOST = 2**16
#: Integers x with x² > FAR·σ² are left out, 16.7 widths away.
FAR = 280
#: The mass left out at both ends: twice e^(−FAR/2) = 1.6e-61 at most. For integers m ≥ 0, P[X ≥ m] ≤ e^(−m²/2σ²), as
#: (m + y)² ≥ m² + y² for y ≥ 0, and the sum of e^(−y²/2σ²) over y ≥ 0 is less than that over all integers.
LOST = 1e-60
#: Beyond a shift of so many widths the two sides count as told apart for certain; e^(−25²/2) = 2e-136 of either errs.
APART, ERRS = 50, 1e-135
NODES = 8
#: Powers of z² that are summed.
POWERS = 8


@dataclass(frozen=True, slots=True)
class KeptIntegers:
    """The integers that keep their loss: first + i·size for i up to count, symmetric about half the shift."""

    variance: Fraction
    shift: int
    size: int
    count: int

    @property
    def first(self) -> int:
        """The least of them."""
        return (self.shift - self.count * self.size) // 2

    @property
    def curvature(self) -> Fraction:
        """K²/2σ²: how much the exponent grows over the first block."""
        return self.size**2 / (2 * self.variance)


def discrete_gaussian_atoms(variance: Fraction, shift: int, *, inwards: bool = False, most: int = MOST) -> Atoms:
    """Return discrete Gaussian noise shifted by `shift` against itself.

    Guarantee: if there are up to `most` integers within reach, the pair itself, to the stated accuracy; what is out of
    reach is counted as lost. If there are more, a pair that dominates it, or with `inwards` one that it dominates.
    Losses above about 690 count as infinite, as doubles cannot tell.
    Reference: Canonne, Kamath, Steinke 2020, Definition 1 and Theorem 7; the blocks are ours, see above.
    """
    variance, shift = positive(variance, "variance"), whole(shift, "shift")
    if shift**2 > APART**2 * variance:
        sure = np.array([0.0, 1.0])
        return Atoms(sure, sure[::-1], symmetric=True, lost_present=ERRS, lost_absent=ERRS)
    integers = _choose_integers(variance, shift, most)
    # In steps from the kept integer nearest to the shift, so that the exponent has almost no linear part.
    home = (shift - integers.first + integers.size // 2) // integers.size
    offset = integers.first + home * integers.size - shift
    index = np.arange(-home, integers.count + 1.0 - home)
    present = falling(
        (integers.curvature, index * index),
        (offset * integers.size / variance, index),
        (offset**2 / (2 * variance), np.ones_like(index)),
    )
    # Weights first, as they are at most 1 together: a power over the whole sum may be too small for a double.
    weights = np.full_like(index, 1 / _whole_sum(nearest_float(variance)))
    if integers.size > 1:
        centre = nearest_float(Fraction(-offset, integers.size)) if inwards else integers.count / 2 - home
        weights *= _block_sums(integers, index - centre, inwards=inwards)
    present *= weights
    return drop_faint_masses(present, present[::-1], LOST)


def _choose_integers(variance: Fraction, shift: int, most: int) -> KeptIntegers:
    span = shift + 2 * (math.isqrt(math.ceil(FAR * variance)) + 1)
    # An odd size, and a count of the shift's parity: else no grid of integers is symmetric about half the shift.
    size = 1 if span <= most else -(-2 * span // most) | 1
    count = -(-span // size)
    return KeptIntegers(variance, shift, size, count + (count - shift) % 2)


def _block_sums(integers: KeptIntegers, index: Floats, *, inwards: bool) -> Floats:
    """Return the mass of each kept integer with its share of the blocks, in units of its own; `index` is z·σ²/K²."""
    curvature = nearest_float(integers.curvature)
    points = (integers.size - 1) // 2 if inwards else integers.size - 1
    nodes, weights = _discrete_gauss(points)
    at = ((points + 1) / integers.size + points / integers.size * nodes) / 2
    weights = weights * np.exp(-curvature * at**2)
    if not inwards:
        half = nearest_float(integers.shift * integers.size / integers.variance) / 2
        weights *= np.sinh((1 - at) * half) / math.sinh(half)
    square = (2 * curvature * index) ** 2
    total = np.zeros_like(index)
    for power in reversed(range(0, 2 * POWERS, 2)):
        total *= square
        total += 2 * float(weights @ at**power) / math.factorial(power)
    return 1 + total


def _discrete_gauss(points: int) -> tuple[Floats, Floats]:
    """Return nodes in (−1, 1) and weights that sum polynomials over the points (2j − n − 1)/n, j = 1 … n = `points`.

    Reference: Golub, Welsch 1969.
    """
    if points <= NODES:
        return (2 * np.arange(1.0, points + 1) - points - 1) / points, np.ones(points)
    order = np.arange(1.0, NODES)
    beside = np.sqrt(order**2 * (1 - (order / points) ** 2) / (4 * order**2 - 1))
    nodes, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    weights = vectors[0] ** 2
    return nodes, weights * (points / weights.sum())


def _whole_sum(variance: float) -> float:
    """Return Σ e^(−x²/2σ²) over all integers, by Poisson summation where that is the faster series."""
    if variance < 1:
        return 1 + 2 * math.fsum(math.exp(-(x**2) / (2 * variance)) for x in range(1, 10))
    waves = math.fsum(math.exp(-2 * math.pi**2 * variance * k**2) for k in range(1, 3))
    return math.sqrt(2 * math.pi * variance) * (1 + 2 * waves)

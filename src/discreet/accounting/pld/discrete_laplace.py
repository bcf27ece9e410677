"""The dominating pair of discrete Laplace noise, and what it shares with the discrete Gaussian's.

Theorem. Let p be a log-concave and symmetric distribution on the integers, such as either noise. Then p shifted by s
against p dominates p shifted by d against p for every |d| ≤ s, in both orders.
Proof. Let 0 ≤ d ≤ s. As p is log-concave, p(x − d)/p(x) rises with x, so that for every ε, of either sign, the best
event is a half-line, and δ_d(ε) = max over t of P[X ≥ t − d] − e^ε·P[X ≥ t], which grows with d. Reflecting all
outcomes turns the shift −d into d; reflecting them in d/2 swaps the two distributions of a pair. ∎
Reference: Zhu, Dong, Wang 2022, Definition 7 (dominating pairs).

*Blocks.* Where there are too many outcomes, only every K-th keeps its loss. For a bound from above ("outwards"), an
outcome x of loss L between two kept losses a < b is split over them so that its P- and its Q-mass are kept. This is
connect-the-dots on a grid of our own, see `cells`. In terms of N = √(PQ) the split reads

    to a: N(x)·sinh((b − L)/2)/sinh((b − a)/2),        to b: N(x)·sinh((L − a)/2)/sinh((b − a)/2),

each with the loss of where it goes, P = N·e^(loss/2) and Q = N·e^(−loss/2): so P(x)·(1 − e^(a−L))/(1 − e^(a−b)) of the
P-mass goes to b and the rest to a. All terms are positive, so nothing cancels. For a bound from below ("inwards"),
outcomes are merged, which is post-processing.

*Laplace.* With q = e^(−1/t), P(x) ∝ q^|x − s| and Q(x) ∝ q^|x|, all x ≤ 0 have the loss −s/t and all x ≥ s the loss
s/t. In between the loss is (2x − s)/t and N is constant, so a block of K steps adds to each of its ends its mass times

    Σ over 0 < j < K of sinh(j/t)/sinh(K/t) = q·(1 − q^(K−1)) / ((1 − q)·(1 + q^K)).
"""

import math
from fractions import Fraction

import numpy as np

from discreet.accounting.losses import DiscreteLaplaceNoise
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.cells import UNIT, Floats
from discreet.core.exact import nearest_float

#: Shifts beyond this are cut into half as many blocks.
MOST = 2**17
#: Masses below this are left out, and counted as lost: further down doubles lose digits.
LEAST = 1e-300
#: e^−GONE is below LEAST.
GONE = 700.0
#: Exponents are split into multiples of 1/QUANTUM, which doubles add without rounding up to 2^13, and a small rest.
QUANTUM = 2**40
#: How many roundings a mass may be off: two exponentials and a sum of a few products, each off by a few.
ROUNDINGS = 48


def discrete_laplace_atoms(loss: DiscreteLaplaceNoise, *, inwards: bool = False, most: int = MOST) -> Atoms:
    """Return discrete Laplace noise shifted by its sensitivity against itself.

    Guarantee: for shifts up to `most`, the pair itself, to the stated accuracy. Beyond, a pair that dominates it, or if
    `inwards` one that it dominates. Losses above about 690 count as infinite, as doubles cannot tell.
    Reference: Ghosh, Roughgarden, Sundararajan 2012 (the noise); the curve and the blocks are ours, see above.
    """
    shift, rate = loss.sensitivity, 1 / loss.scale
    size = 1 if shift <= most else -(-2 * shift // most)
    # What is kept lies symmetrically: `size` apart from both ends on, and the block in the middle takes what is left.
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
    # Where the rest is beyond 1, the coarse part is beyond GONE.
    return np.asarray(np.exp(-np.minimum(coarse, GONE)) * np.exp(-np.clip(fine, -1.0, 1.0)))


def drop_faint_masses(present: Floats, absent: Floats, lost: float = 0.0) -> Atoms:
    """Return the atoms without the least masses.

    `Atoms` finds losses as differences of logarithms, so a loss is off by up to 2·UNIT·(|ln P| + |ln Q|), at most
    2·UNIT·(|loss| + 2·depth) if the larger mass is e^−depth. It allows for 4·slack + 8·UNIT·(1 + |loss|), so the depth
    is added to the slack. What is dropped is below LEAST up to rounding, and counted twice over.
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

"""Gaussian noise on integer sums that costs exactly what ideal Gaussian noise costs.

*Theorem.* Let s be a vector of integers and Y ideal Gaussian noise. Then s + round(Y) = round(s + Y): who adds the
rounded noise hands out the ideal Gaussian mechanism, post-processed. So every loss that is proved for `GaussianNoise`
of this σ, on its own, in Poisson lots, composed, holds for the integers, in any dimension and on any grid; a discrete
Gaussian has the same zCDP, and in lots no numeric curve that is proved for vectors.

*The draw.* With the proposal y from the discrete Gaussian of variance v = σ² + σ/2 and w uniform in [−1/2, 1/2), accept
y with probability e^−E for

    E(y, w) = (y + w)²/2σ² − y²/2v + 1/4σ.

E is never negative: over real y its least value is −w²/2(v − σ²) + 1/4σ = (1/4 − w²)/σ. What is accepted has P(y)
proportional to the integral of e^(−x²/2σ²) from y − 1/2 to y + 1/2, which is the law of round(Y); of all draws about
1 − 1/2σ are. Over all w, E is at most y²/4σv + |y|/2σ² + 1/8σ² + 1/4σ, a sum of small positive terms, and
e^−E ≥ 1 − E: a uniform word well below that is accepted by floats, and the few others are decided by integers.
Reference: Karney 2016 (rejection with lazily drawn reals); Canonne, Kamath, Steinke 2020 (the proposal).
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, exp_minus, positive
from discreet.noise import Entropy, gaussian

#: Narrower noise has no grid to speak of; wider noise would not fit in 64 bits with room for a sum.
NARROWEST, WIDEST = Fraction(1), Fraction(1 << 46)
#: More than floats can be off where they accept a draw: a few roundings of numbers of at most 1.
SLACK = 1e-9
#: Bits that both random numbers of a close decision gain until it is decided.
STRIDE = 64

Integers = NDArray[np.int64]


def rounded_gaussian(sigma: Fraction, size: int, entropy: Entropy) -> Integers:
    """Draw N(0, σ²) rounded to the nearest integers.

    Guarantee: the distribution is exact, so that what it is added to costs `GaussianNoise(sigma, sensitivity)`.
    """
    width = positive(sigma, "sigma")
    if not NARROWEST <= width <= WIDEST:
        raise InvalidInput(
            "The noise is narrower than a step of the grid, or too wide for 64 bits.",
            fix="choose more steps for the clipping bound, such as steps=2**20, or fewer",
        )
    drawn = np.empty(size, np.int64)
    left = np.arange(size)
    while len(left):
        proposed = gaussian(width * width + width / 2, len(left), entropy=entropy)
        taken = _accepted(width, proposed, entropy)
        drawn[left[taken]] = proposed[taken]
        left = left[~taken]
    return drawn


def _accepted(sigma: Fraction, proposed: Integers, entropy: Entropy) -> NDArray[np.bool_]:
    """Tell which of the proposed integers are kept: most by one comparison, some by floats, the rest by integers."""
    words = entropy.words(len(proposed))
    farthest = np.array([max(proposed.max(), -proposed.min())])
    kept: NDArray[np.bool_] = words < np.uint64(max(_surely(sigma, farthest)[0], 0.0) * 2.0**63) * np.uint64(2)
    close = np.flatnonzero(~kept)
    kept[close] = words[close] * 2.0**-64 < _surely(sigma, proposed[close])
    for which in close[~kept[close]]:
        kept[which] = _decide(sigma, int(proposed[which]), int(words[which]), entropy)
    return kept


def _surely(sigma: Fraction, proposed: Integers) -> NDArray[np.float64]:
    """Return a chance with which an integer is kept for certain, whatever w is: at most 1 − E, in floats."""
    width, away = float(sigma), np.abs(proposed.astype(np.float64))
    wider = float(sigma * sigma + sigma / 2)
    most = away * away / (4 * width * wider) + away / (2 * width * width) + 1 / (8 * width * width) + 1 / (4 * width)
    return np.asarray(1 - SLACK - most * (1 + SLACK))


def _decide(sigma: Fraction, y: int, word: int, entropy: Any) -> bool:
    """Decide whether U < e^−E(y, w), for U that begins with a word, and a fresh w; bits are drawn until it is sure."""
    place, bits = entropy.bits(STRIDE), STRIDE
    while True:
        least, most = _exponents(sigma, y, Fraction(place, 1 << bits) - Fraction(1, 2), Fraction(1, 1 << bits))
        if word + 1 <= exp_minus(most, bits)[0]:
            return True
        if word >= exp_minus(least, bits)[1]:
            return False
        word, place = word << STRIDE | entropy.bits(STRIDE), place << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def _exponents(sigma: Fraction, y: int, low: Fraction, length: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest E(y, w) for w from `low` on, so long."""
    ends = sorted([(y + low) ** 2, (y + low + length) ** 2])
    least = Fraction(0) if y + low < 0 < y + low + length else ends[0]
    rest = 1 / (4 * sigma) - y * y / (2 * sigma * sigma + sigma)
    return max(least / (2 * sigma * sigma) + rest, Fraction(0)), ends[1] / (2 * sigma * sigma) + rest

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
e^−E ≥ 1 − E: a uniform word well below that is accepted. For the others w is drawn, and E is worked out in floats, as
y²/4σv + (yw + w²/2)/σ² + 1/4σ; where these are too close to tell, by integers.
Reference: Karney 2016 (rejection with lazily drawn reals); Canonne, Kamath, Steinke 2020 (the proposal).
"""

from collections.abc import Sequence
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, exp_minus, positive
from discreet.noise import Entropy, gaussian

#: Narrower noise has no grid to speak of; wider noise would not fit in 64 bits with room for a sum.
NARROWEST, WIDEST = Fraction(1), Fraction(1 << 46)
#: More than floats can be off where they accept a draw: a few roundings of numbers of at most 1.
SLACK = 1e-9
#: Draws that are made at a time: each time has a price of its own, and so has memory.
AT_ONCE = (1 << 19) - 64
#: Draws beyond those that are wanted, in case that some are not kept.
SPARE = 8
#: Bits that both random numbers of a close decision gain until it is decided.
STRIDE = 64

Integers = NDArray[np.int64]


def rounded_gaussian(sigma: Fraction, size: int, entropy: Entropy) -> Integers:
    """Draw N(0, σ²) rounded to the nearest integers.

    Guarantee: the distribution is exact, so that what it is added to costs `GaussianNoise(sigma, sensitivity)`.
    """
    drawn = np.zeros(size, np.int64)
    add_rounded_gaussian([drawn], sigma, entropy)
    return drawn


def add_rounded_gaussian(answers: Sequence[Integers], sigma: Fraction, entropy: Entropy) -> None:
    """Add N(0, σ²), rounded to the nearest integers, to each number of some arrays, in place."""
    width = positive(sigma, "sigma")
    if not NARROWEST <= width <= WIDEST:
        raise InvalidInput(
            "The noise is narrower than a step of the grid, or too wide for 64 bits.",
            fix="choose more steps for the clipping bound, such as steps=2**20, or fewer",
        )
    left, drawn = sum(map(len, answers)), np.empty(0, np.int64)
    for answer in answers:
        done = 0
        while done < len(answer):
            if not len(drawn):
                drawn = _some(width, left, entropy)
            size = min(len(drawn), len(answer) - done)
            answer[done : done + size] += drawn[:size]
            drawn, done, left = drawn[size:], done + size, left - size


def _some(sigma: Fraction, wanted: int, entropy: Entropy) -> Integers:
    """Draw some of the integers that are wanted, perhaps none."""
    # About one in 2σ is not kept: a few more are drawn at once, because one alone is as dear as many.
    wanted = min(wanted, AT_ONCE)
    count = wanted + wanted // int(sigma) + SPARE
    proposed = gaussian(sigma * sigma + sigma / 2, count, entropy=entropy)
    lost = _rejected(sigma, proposed, entropy)
    if not len(lost):
        return proposed[:wanted]
    gaps, spare = lost[lost < wanted], np.setdiff1d(np.arange(wanted, count), lost)[: len(lost)]
    if len(gaps) > len(spare):
        return np.delete(proposed, lost)[:wanted]
    proposed[gaps] = proposed[spare[: len(gaps)]]
    return proposed[:wanted]


def _rejected(sigma: Fraction, proposed: Integers, entropy: Entropy) -> NDArray[np.intp]:
    """Return the places of proposed integers that are not kept: nearly all are kept by one comparison of 8 bits."""
    count = len(proposed)
    words = entropy.words(-(-count // 8)).view(np.uint8)[:count]
    farthest = np.array([max(proposed.max(), -proposed.min())])
    surely = np.uint8(max(_surely(sigma, farthest)[0], 0.0) * (1 << 8))  # rounded down, and below 2⁸
    close = np.flatnonzero(words >= surely)
    longer = words[close].astype(np.uint64) << np.uint64(56) | entropy.words(len(close)) >> np.uint64(8)
    kept = longer * 2.0**-64 < _surely(sigma, proposed[close])
    unsure = zip(close[~kept], longer[~kept], strict=True)
    lost = [place for place, word in unsure if not _decide(sigma, int(proposed[place]), int(word), entropy)]
    return np.array(lost, np.intp)


def _surely(sigma: Fraction, proposed: Integers) -> NDArray[np.float64]:
    """Return a chance with which an integer is kept for certain, whatever w is: at most 1 − E, in floats."""
    width, away = float(sigma), np.abs(proposed.astype(np.float64))
    wider = float(sigma * sigma + sigma / 2)
    most = away * away / (4 * width * wider) + away / (2 * width * width) + 1 / (8 * width * width) + 1 / (4 * width)
    return np.asarray(1 - SLACK - most * (1 + SLACK))


def _decide(sigma: Fraction, y: int, word: int, entropy: Any) -> bool:
    """Decide whether U < e^−E(y, w), for U that begins with a word, and a fresh w; bits are drawn until it is sure."""
    place, bits = entropy.bits(STRIDE), STRIDE
    chance, here = _chance(float(sigma), float(y), place * 2.0**-64 - 0.5), word * 2.0**-64
    if abs(here - chance) > SLACK:
        return here < chance
    while True:
        least, most = _exponents(sigma, y, Fraction(place, 1 << bits) - Fraction(1, 2), Fraction(1, 1 << bits))
        if word + 1 <= exp_minus(most, bits)[0]:
            return True
        if word >= exp_minus(least, bits)[1]:
            return False
        word, place = word << STRIDE | entropy.bits(STRIDE), place << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def _chance(sigma: float, y: float, w: float) -> float:
    """Return e^−E(y, w), to far below the slack: as a sum of small terms, of which none cancels."""
    return exp(
        -(y * y / (4 * sigma * (sigma * sigma + sigma / 2)) + (y * w + w * w / 2) / (sigma * sigma) + 1 / (4 * sigma))
    )


def _exponents(sigma: Fraction, y: int, low: Fraction, length: Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest E(y, w) for w from `low` on, so long."""
    ends = sorted([(y + low) ** 2, (y + low + length) ** 2])
    least = Fraction(0) if y + low < 0 < y + low + length else ends[0]
    rest = 1 / (4 * sigma) - y * y / (2 * sigma * sigma + sigma)
    return max(least / (2 * sigma * sigma) + rest, Fraction(0)), ends[1] / (2 * sigma * sigma) + rest

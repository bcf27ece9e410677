"""Optimal probabilities of showing a group, by its number of people, as exact binary fractions."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.core import OutOfRange, exp_minus
from discreet.core.exact import nearest_float
from discreet.noise import Entropy
from discreet.noise.decide import below_ratio

#: A longer table would take more than a second to build.
LONGEST = 1 << 20
WORD_BITS = 64
TOP_WORD = np.uint64((1 << WORD_BITS) - 1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeepTable:
    """A group of n people is kept with probability weights[n]/2^bits, and surely from len(weights) people on."""

    bits: int
    weights: tuple[int, ...]
    words: NDArray[np.uint64]
    """The first 64 bits of every probability, and all ones for what is sure."""

    def chance(self, people: int) -> Fraction:
        """Return the exact probability that a group of so many people is kept."""
        if people >= len(self.weights):
            return Fraction(1)
        return Fraction(self.weights[max(people, 0)], 1 << self.bits)

    def least(self, chance: Fraction) -> int:
        """Return the least number of people who are kept with at least this probability."""
        return bisect_left(self.weights, chance * (1 << self.bits))

    def draw(self, counts: NDArray[np.int64], entropy: Entropy) -> NDArray[np.bool_]:
        """Toss one coin for every group. A word decides, and further bits where it equals the first 64 of a chance."""
        place = np.clip(counts, 0, len(self.weights))
        words = entropy.words(counts.size).reshape(counts.shape)
        limits = self.words[place]
        kept: NDArray[np.bool_] = words < limits
        for at in zip(*np.nonzero(words == limits), strict=True):
            kept[at] = below_ratio(entropy, int(words[at]), WORD_BITS, self.chance(int(place[at])))
        return kept


@lru_cache(maxsize=32)
def keep_table(epsilon: Fraction, delta: Fraction) -> KeepTable:
    """Return the largest probabilities p₀ = 0, p₁, p₂, … that (ε, δ) allows, rounded down to binary fractions.

    Neighbours differ by one person in a group, and of the four inequalities of a coin two can fail if p grows: pₙ₊₁ ≤
    e^ε·pₙ + δ and 1 − pₙ ≤ e^ε·(1 − pₙ₊₁) + δ. Each pₙ₊₁ is the largest that both allow for the pₙ that stands in the
    table; e^−ε is bracketed by integers, what is added is rounded down and what is taken off is rounded up. So both
    hold exactly. The precision is 64 bits beyond δ, so that a step is lost to rounding nowhere.
    """
    if _length(epsilon, delta) > LONGEST:
        raise OutOfRange(
            f"The table of the optimal rule would have more than {LONGEST:,} rows.",
            fix="pass a larger epsilon or delta, fewer groups, or use LaplaceThreshold, which needs no table",
        )
    bits = WORD_BITS * (1 + -(-(delta.denominator // delta.numerator).bit_length() // WORD_BITS))
    unit = 1 << bits
    shrink = exp_minus(epsilon, bits)[1]  # at least 2^bits·e^−ε
    grow = unit * unit // shrink  # at most 2^bits·e^ε
    step = delta.numerator * unit // delta.denominator
    weights, weight = [0], 0
    while True:
        rest = max(0, unit - weight - step)
        weight = min((weight * grow >> bits) + step, unit + (-rest * shrink >> bits))
        if weight >= unit:
            break
        weights.append(weight)
    words = np.empty(len(weights) + 1, np.uint64)
    words[:-1] = [value >> (bits - WORD_BITS) for value in weights]
    words[-1] = TOP_WORD
    return KeepTable(bits, tuple(weights), words)


def _length(epsilon: Fraction, delta: Fraction) -> float:
    """Return about how many people are kept surely: twice as many as with probability 1/2."""
    rate = nearest_float(epsilon)
    odds = math.tanh(min(rate, 700.0) / 2) / nearest_float(delta)
    return 2 * math.log1p(odds) / rate

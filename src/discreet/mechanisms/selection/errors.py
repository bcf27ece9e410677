"""Utility bounds of selection: how far from the best a choice may be, for all scores, rounded up."""

import math
from fractions import Fraction

from discreet.core import Number, log_up, probability, round_up, whole

#: Far above the float error of a logarithm of a tail, far below what anyone would notice in an error bound.
SLACK = 1e-9


def read_question(confidence: Number, candidates: int, optimal: int, k: int = 1) -> tuple[Fraction, int, int]:
    """Return the probability left to fail with, how many candidates are known to be best, and how many are not."""
    chance = 1 - probability(confidence, "confidence")
    every = whole(candidates, "candidates", least=k)
    best = max(k, whole(optimal, "optimal", most=every))
    return chance, best, every - best


def exponential_error(rate: Fraction, odds: Fraction) -> float:
    """Return the g at which odds·e^−rate·g is 1, or 0 if it never is."""
    return round_up(log_up(odds) / rate) if odds > 1 else 0.0


def laplace_gap(pairs: int, chance: Fraction, scale: Fraction) -> int:
    """Return the least g such that among `pairs` pairs of noises one is g or more above the other, at most so likely.

    The difference D of two discrete Laplace noises has P[D ≥ g] = q^g·((g + 1)(1 − q) + q + 2q²/(1 + q))/(1 + q)²,
    where q = e^−1/scale: P[D = d] is the sum over z of both densities, of which d + 1 terms equal q^d up to the
    common factor and the rest is geometric. The pairs are joined by the union bound.
    """
    if not pairs:
        return 0
    rate = 1 / float(scale)
    q, rest = math.exp(-rate), -math.expm1(-rate)
    allowed = math.log(chance.numerator) - math.log(chance.denominator) - math.log(pairs) - SLACK

    def enough(gap: int) -> bool:
        bracket = (gap + 1) * rest + q + 2 * q * q / (1 + q)
        return -gap * rate + math.log(bracket) - 2 * math.log1p(q) <= allowed

    low, high = -1, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

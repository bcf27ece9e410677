"""Odds and errors of selection: the probability of each outcome, and how far from the best a choice may be.

Sums of positive terms only, so nothing cancels; small probabilities are as precise as large ones, down to the least
float. Nothing here decides a draw.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.core import Number, OutOfRange, log_up, probability, round_up, whole

#: Nodes of each panel below. A panel's integrand is bounded by 1 on the ellipse of parameter 4 around the panel, so
#: that 24 nodes are off by less than 4⁻⁴⁸·8.
NODES = 24
#: Noise beyond this many scales has probability below 10⁻¹⁷ of what is counted.
FAR = 40
#: Cells (candidates times grid points) that a sum over the grid may have; more would take minutes.
MOST_CELLS = 1 << 27
#: Cells held in memory at a time.
PIECE = 1 << 20

Floats = NDArray[np.float64]
Steps = NDArray[np.int64]


def exponential_odds(exponents: Floats) -> Floats:
    """Return e^−aᵢ/Σ e^−aⱼ, for exponents whose least is 0."""
    weights: Floats = np.exp(-exponents)
    odds: Floats = weights / weights.sum()
    return odds


def flip_odds(exponents: Floats) -> Floats:
    """Return the probabilities of taking one of the coins that came up, coin i having the chance pᵢ = e^−aᵢ.

    Coin i is taken with probability pᵢ·E[1/(1 + others up)] = pᵢ·∫₀¹ Π_{j≠i} (1 − pⱼu) du. The product falls like
    e^−u·Σp, so the interval is cut at 1, 1/2, 1/4, … down to 1/n, and each panel has its own Gauss–Legendre nodes.
    """
    levels, inverse, counts = np.unique(np.exp(-exponents), return_inverse=True, return_counts=True)
    integral = np.zeros(len(levels))
    for point, weight in _nodes(len(exponents)):
        misses = np.log1p(-point * levels)
        integral += weight * np.exp(misses @ counts - misses)
    odds: Floats = (levels * integral)[inverse]
    return odds


def _nodes(candidates: int) -> Iterator[tuple[float, float]]:
    """Yield the points and weights of all panels between 0 and 1."""
    points, weights = _panel()
    high = 1.0
    for low in [*(0.5**k for k in range(1, candidates.bit_length() + 1)), 0.0]:
        half = (high - low) / 2
        yield from zip(low + half * (points + 1), half * weights, strict=True)
        high = low


@cache
def _panel() -> tuple[Floats, Floats]:
    points, weights = np.polynomial.legendre.leggauss(NODES)
    return points, weights


def laplace_max_odds(steps: Steps, scale: Fraction) -> Floats:
    """Return how likely each candidate's noisy score is the largest, the lowest index winning ties.

    Candidate i wins at v if its noisy score is v, all candidates before it are below v, and none after it above.
    """
    gaps, places = _grid(steps, scale)
    rate = 1 / float(scale)
    odds = np.zeros(len(gaps))
    width = max(1, PIECE // len(gaps))
    for start in range(0, len(places), width):
        noise = places[start : start + width] + gaps[:, None]
        chance = _log_chance(noise, rate)
        chance[1:] += np.cumsum(_log_at_most(noise[:-1] - 1, rate), axis=0)
        chance[:-1] += np.cumsum(_log_at_most(noise[:0:-1], rate), axis=0)[::-1]
        odds += np.exp(chance).sum(axis=1)
    return odds


def laplace_order_odds(steps: Steps, scale: Fraction, winners: tuple[int, ...]) -> float:
    """Return how likely the winners have the largest noisy scores, in this order, the lower index first among equals.

    Sums over the noisy score of the last winner, then of the one before, and so on upwards.
    """
    gaps, places = _grid(steps, scale)
    rate = 1 / float(scale)
    last = winners[-1]
    chance = _log_chance(places + gaps[last], rate)
    for loser in sorted(set(range(len(gaps))) - set(winners)):
        chance += _log_at_most(places + gaps[loser] - (loser < last), rate)
    odds = np.exp(chance)
    for better, worse in zip(winners[-2::-1], winners[:0:-1], strict=True):
        beaten = np.cumsum(odds)
        if better > worse:
            beaten = np.concatenate([[0.0], beaten[:-1]])
        odds = np.exp(_log_chance(places + gaps[better], rate)) * beaten
    return float(odds.sum())


def _grid(steps: Steps, scale: Fraction) -> tuple[Steps, Steps]:
    """Return how far each candidate is below the best, and all places where a maximum may lie, counted from there."""
    best = int(steps.max())
    spread, reach = best - int(steps.min()), math.ceil(FAR * scale)
    if len(steps) * (spread + 2 * reach + 1) > MOST_CELLS:
        raise OutOfRange(
            "The scores and the noise are spread too widely to add up every case.",
            fix="use a coarser step; choose and error have no such limit",
        )
    return best - steps, np.arange(-spread - reach, reach + 1)


def _log_chance(noise: Steps, rate: float) -> Floats:
    """Return ln P[Z = z] for discrete Laplace noise: tanh(rate/2)·e^−rate·|z|."""
    return math.log(math.tanh(rate / 2)) - rate * np.abs(noise)


def _log_at_most(noise: Steps, rate: float) -> Floats:
    """Return ln P[Z ≤ z] for discrete Laplace noise; P[Z ≥ k] is q^k/(1 + q) for k > 0 and q = e^−rate."""
    upper = np.log1p(-np.exp(-rate * (np.maximum(noise, 0) + 1.0)) / (1 + math.exp(-rate)))
    lower = rate * np.minimum(noise, 0.0) - math.log1p(math.exp(-rate))
    return np.where(noise < 0, lower, upper)


# Utility bounds of selection: how far from the best a choice may be, for all scores, rounded up.

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

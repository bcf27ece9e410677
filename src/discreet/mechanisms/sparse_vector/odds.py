"""The exact odds of the sparse vector technique: how likely a row of answers is, and how far off they may be.

Everything here is public arithmetic on the mechanism's parameters and on numbers that the caller makes up.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, OutOfRange, WrongType, probability, whole
from discreet.core.errors import kind_of

Floats = NDArray[np.float64]

#: The sum over the threshold's noise may run over so many points: about a second, and 32 MB an array.
MOST_POINTS = 1 << 22
#: The rest of the sum is smaller than its terms so far by e to this power.
LEFT_OUT = 40
#: Float error of the closed forms below, with room to spare.
SLACK = 1e-9
#: e to this power is below the least float.
FAINT = Fraction(-800)


def need_integers(values: object, name: str) -> list[int]:
    """Return a list of whole numbers."""
    if not isinstance(values, (list, tuple, np.ndarray)):
        raise WrongType(f"{name} is {kind_of(values)}, not a list.", fix=f"pass {name} as a list of ints")
    return [whole(value, f"an entry of {name}", least=None) for value in values]


def need_pattern(pattern: object) -> list[bool]:
    """Return a list of truths; 1 and 0 are counts, not answers."""
    if not isinstance(pattern, (list, tuple, np.ndarray)) or not all(isinstance(x, (bool, np.bool_)) for x in pattern):
        raise WrongType("pattern is not a list of True and False.", fix="pass the answers, such as [False, True]")
    return [bool(answer) for answer in pattern]


def need_outputs(outputs: object) -> list[int | None]:
    """Return a list of whole numbers and None."""
    if not isinstance(outputs, (list, tuple)):
        raise WrongType("outputs is not a list.", fix="pass what ask returned, such as [None, 104]")
    return [value if value is None else whole(value, "an entry of outputs", least=None) for value in outputs]


def pattern_probability(
    gaps: list[int], pattern: list[bool], *, positives: int, threshold_scale: Fraction, query_scale: Fraction
) -> float:
    """Return the probability that the first answers are `pattern`, for queries at `gaps` from the threshold.

    The sum over ρ of P(ρ)·∏ P(gap + ν ≥ ρ or not). The terms that it leaves out: to the right of 0 and of every gap
    P(ρ) falls by e^−1/t a step, factors of positive answers fall too, and factors of negative ones lie between 1/2 and
    1. So m steps on, all further terms together are below 2ⁿ·(1 + t)·e^−m/t times the first of them. The left side is
    its mirror image.
    """
    if len(pattern) > len(gaps):
        raise InvalidInput("pattern is longer than the list of answers.", fix="pass one exact answer for each output")
    if sum(pattern) > positives or (sum(pattern) == positives and not pattern[-1]):
        return 0.0  # the stream ends with its last positive answer
    width = float(threshold_scale)
    margin = math.ceil(width * (LEFT_OUT + len(pattern) + math.log1p(width))) + 1
    first, last = min([0, *gaps]) - margin, max([0, *gaps]) + margin
    if last - first > MOST_POINTS:
        raise OutOfRange(
            "The sum over the threshold's noise has too many terms.",
            fix="count in coarser steps, or pass answers nearer to the threshold",
        )
    noise = np.arange(first, last + 1)
    chances: Floats = math.tanh(1 / (2 * width)) * np.exp(-np.abs(noise) / width)
    for gap, above in zip(gaps, pattern, strict=False):
        needed = noise - gap
        # ν is symmetric: P(ν < a) = P(ν ≥ 1 − a).
        chances = chances * at_least(needed if above else 1 - needed, query_scale)
    return float(chances.sum())


def at_least(bound: NDArray[Any], scale: Fraction) -> Floats:
    """Return P(ν ≥ bound) for discrete Laplace noise: q^bound/(1 + q) from 0 on, with q = e^−1/scale."""
    width, ratio = float(scale), math.exp(max(-1 / scale, FAINT))
    right = np.exp(-np.maximum(bound, 0) / width) / (1 + ratio)
    left = 1 - np.exp(-np.maximum(1 - bound, 0) / width) / (1 + ratio)
    chances: Floats = np.where(bound >= 0, right, left)
    return chances


def comparison_error(*, confidence: Number, queries: int, threshold_scale: Fraction, query_scale: Fraction) -> int:
    """Return an α such that, with the given probability, all comparisons are right up to α.

    A query below threshold − α is answered wrongly if ν − ρ ≥ α + 1, one above threshold + α if ρ − ν ≥ α + 2. The
    analyst may have learned about ρ from earlier answers, so each query may be on the worse side of it: given ρ, a
    query fails with probability at most P(ν ≥ α + 1 − |ρ|), and one of k fails with at most k times that, or 1.
    The mean of this over ρ has a closed form (see `_failure`), which is inverted by bisection.
    """
    allowed = float(1 - probability(confidence, "confidence")) / (1 + SLACK)
    count = whole(queries, "queries", most=10**15)

    def fails(reach: int) -> bool:
        return _failure(reach, count, threshold_scale, query_scale) > allowed

    high = 1
    while fails(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high - 1


def _failure(reach: int, queries: int, threshold_scale: Fraction, query_scale: Fraction) -> float:
    """Return the mean over ρ of min(1, k·P(ν ≥ reach − |ρ|)), at most.

    With b the least distance at which k·P(ν ≥ b) ≤ 1 and r = reach − b: P(|ρ| > r), plus, for |ρ| = 0, …, r, the
    terms P(|ρ|)·k·e^−(reach − |ρ|)/s/(1 + e^−1/s), a geometric sum. Any other b would give a larger bound, but a
    true one, so that its rounding does no harm.
    """
    p, q = _exp(-1 / query_scale), _exp(-1 / threshold_scale)
    distance = max(0, math.ceil(query_scale * Fraction(math.log(queries / (1 + p)))))
    radius = reach - distance
    if radius < 0:
        return 1.0
    outside = 2 * _exp(-(radius + 1) / threshold_scale) / (1 + q)
    centre = _exp(-reach / query_scale)
    fall = 1 / threshold_scale - 1 / query_scale
    peak = 1 if fall > 0 else radius  # where the largest of the terms 1, …, r is
    slopes = _exp(-peak / threshold_scale - (reach - peak) / query_scale) * _geometric_sum(abs(fall), radius)
    weight = queries / (1 + p) * math.tanh(float(1 / (2 * threshold_scale)))
    return outside + weight * (centre + 2 * slopes)


def _geometric_sum(fall: Fraction, terms: int) -> float:
    """Return 1 + e^−fall + e^−2·fall + …, of so many terms."""
    if terms == 0 or fall == 0:
        return float(terms)
    return math.expm1(max(-fall * terms, FAINT)) / math.expm1(max(-fall, FAINT))


def _exp(exponent: Fraction) -> float:
    return math.exp(max(exponent, FAINT))

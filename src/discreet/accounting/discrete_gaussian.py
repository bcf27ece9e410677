"""The exact privacy curve of discrete Gaussian noise.

Theorem. Let Y have k independent discrete Gaussian coordinates of variance σ², and let the answers of neighbours
differ in at most k coordinates, by at most c each. Then the mechanism is (ε, δ)-differentially private with

    δ = max over integers t of P[S ≥ t − kc] − e^ε·P[S ≥ t],      S the sum of the k coordinates,

and the maximum is where t − kc is the least integer above εσ²/c − kc/2.

Proof. One coordinate, shifts d ≤ c: likelihood ratios of shifted copies are monotone, so that for every ε (of either
sign) the best event is a half-line, and δ_d(ε) = max_t P[Y ≥ t − d] − e^ε·P[Y ≥ t] grows with d. So the pair (Y + c, Y)
dominates (Y + d, Y) in the sense of Zhu, Dong, Wang 2022 (Definition 7), products of dominating pairs dominate
products (their Theorem 10), and shifting all k coordinates by c is the worst case. There the log-likelihood ratio is
c·S/σ² + kc²/2σ² in terms of S before the shift, monotone in S alone; half-lines of S are again the best events. For
k = 1 this is Canonne, Kamath, Steinke 2020, Theorem 7.

For k > 1, S is compared with one discrete Gaussian W of variance kσ²: their probabilities differ by a factor within
e^±τ with τ = 10·Σ_{j<k} e^(−2π²σ²·j/(j+1)) if σ ≥ 1/2 (Kairouz, Liu, Steinke 2021, Theorem 1), which is negligible
unless σ is tiny. Floats are bracketed: what is added is rounded up, what is subtracted is rounded down.
"""

import math
from fractions import Fraction

import numpy as np

from discreet.core import Sensitivity, round_up

#: Relative accuracy of float sums of exponentials with exponents below 800.
SLACK = 1e-11
#: From this width on, sums are bracketed by integrals.
WIDE = 1000.0
#: So many widths out, exponentials come near the least floats, which are not accurate; tails are below 1e-290.
FAR = 37
#: Terms of τ that are added one by one.
TERMS = 64


def gaussian_delta(variance: Fraction, sensitivity: Sensitivity, epsilon: Fraction) -> float:
    """Return a δ at ε ≥ 0 for noise of a variance, rounded up; 1 where nothing is proved."""
    count, shift = sensitivity.l0, sensitivity.linf
    slip = _slip(count, variance)
    if math.isinf(slip):
        return 1.0
    start = math.floor(epsilon * variance / shift - Fraction(count * shift, 2)) + 1
    width = math.sqrt(count * variance)
    gained = tail(width, start)[1] * math.exp(slip)
    matched = _scale_exp(float(epsilon) * (1 - 2.0**-52) - slip, tail(width, start + count * shift)[0])
    return min(1.0, max(0.0, (gained - matched) * (1 + SLACK) + gained * SLACK))


def gaussian_epsilon(variance: Fraction, sensitivity: Sensitivity, delta: Fraction) -> float:
    """Return an ε at δ > 0, rounded up by bisection that ends on the safe side; infinite where nothing is proved."""
    target = float(delta) * (1 - 2.0**-52)

    def fits(epsilon: float) -> bool:
        return gaussian_delta(variance, sensitivity, Fraction(epsilon)) <= target

    high = 1.0
    while not fits(high):
        high *= 2
        if high > 1e9:
            return math.inf
    low = 0.0
    if fits(low):
        return 0.0
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def tail(width: float, start: int) -> tuple[float, float]:
    """Return bounds on P[Y ≥ start] for a discrete Gaussian Y of variance width²."""
    if start <= 0:
        low, high = tail(width, 1 - start)
        return 1 - high, 1 - low
    return _sum_tail(width, start) if width <= WIDE else _integrate_tail(width, start)


def _sum_tail(width: float, start: int) -> tuple[float, float]:
    if start > FAR * width:
        return 0.0, 1e-290
    # Where the exponent has grown by 60, what is left is below e^−60 of the whole.
    last = math.ceil(math.sqrt(start**2 + 120 * width**2)) + 2
    part = float(np.exp(-((np.arange(start, last) / width) ** 2) / 2).sum())
    whole = 1 + 2 * float(np.exp(-((np.arange(1, math.ceil(11 * width) + 2) / width) ** 2) / 2).sum())
    return part / whole * (1 - SLACK), part / whole * (1 + SLACK) + 1e-300


def _integrate_tail(width: float, start: int) -> tuple[float, float]:
    """Bracket the sum by its midpoint integral I = ∫ f from start − 1/2 on, f = e^(−y²/2σ²), in units of the whole.

    The midpoint rule errs by at most ∫|f″|/8 (its Peano kernel on a cell is (1/2 − |y|)²/2). Beyond σ, f is convex: the
    sum is at most I, and at least I less |f′(start − 1/2)|/8. Elsewhere ∫|f″| ≤ 4·max|f′| = 4·e^(−1/2)/σ. The whole is
    σ√2π up to a factor 1 + 2e^(−2π²σ²), which differs from 1 by less than 1e-300 here.
    """
    if start > FAR * width:
        return 0.0, 1e-290
    edge = start - 0.5
    integral = math.erfc(edge / (width * math.sqrt(2))) / 2
    norm = width * math.sqrt(2 * math.pi)
    if edge >= width:
        slope = edge / width**2 * math.exp(-((edge / width) ** 2) / 2) / norm
        return max(0.0, integral * (1 - SLACK) - slope / 8), integral * (1 + SLACK) + 1e-300
    error = 4 * math.exp(-0.5) / width / 8 / norm * (1 + SLACK)
    return integral * (1 - SLACK) - error, integral * (1 + SLACK) + error


def _slip(count: int, variance: Fraction) -> float:
    """Return τ, rounded up: how far the sum of `count` draws is from one of their joint variance."""
    if count == 1:
        return 0.0
    if variance < Fraction(1, 4):
        return math.inf
    rate = 2 * math.pi**2 * float(variance)
    listed = range(1, min(count, TERMS))
    total = sum(math.exp(-rate * j / (j + 1)) for j in listed)
    total += (count - 1 - len(listed)) * math.exp(-rate * TERMS / (TERMS + 1))
    slip = 10 * total * (1 + SLACK)
    return slip if slip < 1 else math.inf


def _scale_exp(exponent: float, factor: float) -> float:
    """Return e^exponent·factor, rounded down, where the first may overflow and the second underflow."""
    if factor <= 0:
        return 0.0
    return math.exp(min(exponent + math.log(factor), 0.0)) * (1 - SLACK * (1 + abs(exponent) / 100))


def solve_variance(epsilon: Fraction, delta: Fraction, sensitivity: Sensitivity, enough: Fraction) -> Fraction:
    """Return a variance, at most `enough`, that reaches (ε, δ) by the exact curve; to within one part in 10⁹.

    Reference: Balle, Wang 2018 (the continuous case).
    """
    target = float(delta) * (1 - 2.0**-52)
    low, high = Fraction(0), enough
    while high - low > high / 10**9:
        middle = Fraction(round_up((low + high) / 2))
        if gaussian_delta(middle, sensitivity, epsilon) <= target:
            high = middle
        else:
            low = middle
    return high

"""Privacy curves of Gaussian noise: the exact one of discrete noise, and the closed form of real noise.

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
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from discreet.core import Sensitivity, round_up
from discreet.core.exact import nearest_float

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
    # After the exponent has grown by 60, the rest is below e^−60 of the whole.
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


# The privacy curve of Gaussian noise in closed form: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ).
#
# Compositions of Gaussians are Gaussian, with μ² the sum of all μ². Reference: Balle, Wang 2018, Theorem 8; Dong,
# Roth, Su 2022, Corollary 3.3.
#
# With a = ε/μ − μ/2, b = a + μ the curve is δ = φ(a)·(m(a) − m(b)), m(x) = Φ(−x)/φ(x) the ratio of Mills, which falls:
# because e^ε·φ(b) = φ(a). If the two are close, the difference is summed from positive terms, see `_fall`.
#
# The error of ln δ by errors of μ and ε: ∂δ/∂μ = φ(a) and ∂δ/∂ε = −φ(a)·m(b), so that ln δ moves by μ/(m(a) − m(b)) for
# each unit of ln μ, and by ε·m(b)/(m(a) − m(b)) for each of ln ε. Above −1, 1/m is convex with a slope between 0.37
# and 1, and 1/m(x) ≤ |x| + 1. Hence m(a) − m(b) ≥ 0.37·μ·m(a)·m(b) for a ≥ −1, and as ε/μ ≤ b both are at most 2.7·(1
# + |a|)·(1 + b). For a < −1 we have μ > 2, δ > 2/3 and μ·m(b) ≤ 2, so that they are at most μ·e^(−a²/2) and
# 2·(ε/μ)·e^(−a²/2).

#: Relative accuracy of what is computed below, with room; exponents add their own size in roundings.
CURVE_SLACK = 1e-12
#: Roundings of μ (1.5 units), of ε and ε/μ (1 each) and of a² (1.5): 2.7·3.5 + 1.5 units of 2⁻⁵³ are 1.3e-15.
DRIFT = 2e-15
#: A μ outside of this range, and noise so many widths out, are not worked out.
FAINT, VAST, CERTAIN = 1e-100, 1e153, 1e4
#: Beyond this Mills' ratio is taken from its continued fraction.
FAR_ON_CURVE = 5.0
#: Newton's method needs some five rounds; this many where δ is near 1.
ROUNDS = 64
ROOT, LOG_ROOT = math.sqrt(2 * math.pi), math.log(2 * math.pi) / 2


def curve_delta(mu_squared: Fraction, epsilon: Fraction) -> tuple[float, float]:
    """Return bounds on δ at ε."""
    low, high = _log_bounds(math.sqrt(nearest_float(mu_squared)), nearest_float(epsilon))
    # Exponentials are off by some units, and below e^−700 floats lose digits.
    below = math.exp(low) * (1 - 1e-15) if low > -700 else 0.0
    return below, min(1.0, math.exp(min(high, 0.0)) * (1 + 1e-15) + 5e-324)


def curve_epsilon(mu_squared: Fraction, delta: Fraction) -> tuple[float, float]:
    """Return bounds on the least ε at δ > 0.

    Guessed by Newton's method, then tried: nothing is returned whose δ was not bounded. As δ falls with ε, an ε with a
    δ at or below the target is an upper bound, and one with a δ above it a lower bound.
    """
    mu = math.sqrt(nearest_float(mu_squared))
    under, over = _log_of(delta)
    if _log_bounds(mu, 0.0)[1] <= under:
        return 0.0, 0.0
    if not FAINT <= mu < VAST:
        return 0.0, math.inf
    guess, width = _guess(mu, under)
    high = next((candidate for candidate in _away(guess, width) if _log_bounds(mu, candidate)[1] <= under), math.inf)
    if math.isinf(high):
        high = _bisect_epsilon(mu, under)
    return next(
        (candidate for candidate in _away(high, -4 * width) if candidate > 0 and _log_bounds(mu, candidate)[0] > over),
        0.0,
    ), high


def _log_of(delta: Fraction) -> tuple[float, float]:
    """Return bounds on ln δ."""
    near = nearest_float(delta)
    if near > 1e-290:
        log = math.log(near)
        off = 1e-15 * (1 - log)
    else:  # there floats lose digits, and integers do not; but their logarithms may be larger than the difference
        log = math.log(delta.numerator) - math.log(delta.denominator)
        off = 1e-12 * -log
    return log - off, log + off


def _away(start: float, width: float) -> Iterator[float]:
    """Yield a number, and others farther and farther away from it."""
    for k in range(10):
        yield start + width * (4**k - 1) / 3


def _bisect_epsilon(mu: float, goal: float) -> float:
    """Return an ε with ln δ at most at the goal, and hardly more than needed; infinite if there is none."""
    low, high = 0.0, 1.0
    while not _log_bounds(mu, high)[1] <= goal:
        low, high = high, 2 * high
        if math.isinf(high):
            return math.inf
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _log_bounds(mu, middle)[1] <= goal else (middle, high)
    return high


def _guess(mu: float, goal: float) -> tuple[float, float]:
    """Return an ε with ln δ a little below the goal, and how much it may be off. Nothing rests on it.

    By Newton's method for a, with d ln δ/da = −μ·m(b)/(m(a) − m(b)) = −μ·m(b)·φ(a)/δ. δ is the mean of max(0, 1 −
    e^(ε−L)) for a Gaussian L. Both this function of L and the density are log-concave, and so ln δ is concave (Prékopa
    1973): a tangent meets the goal where ln δ is at or below it, and every round comes closer from there.
    """
    half = mu / 2
    # At most this, as δ ≤ Φ(−a) ≤ e^(−a²/2)/2 and δ ≤ φ(a)·μ for a ≥ 0. Then closer: δ ≈ φ(a)·μ·m(a)·m(b), and m(x) is
    # about 1/(1 + x).
    edge = math.sqrt(2 * max(0.0, math.log(min(0.5, mu / ROOT)) - goal))
    edge = math.sqrt(2 * max(0.0, math.log(mu / (1 + edge) / (1 + edge + mu)) - LOG_ROOT - goal))
    slope = 1.0
    for _ in range(ROUNDS):
        log = _log_delta(edge, edge + half, half)
        slope = mu * _mills(edge + mu) * math.exp(-edge * edge / 2 - log) / ROOT
        step = (log - goal) / slope
        edge = max(edge + step, -half)
        if abs(step) < 1e-8 * (1 + abs(edge)):
            break
    room = min(_off(edge, edge + half, half, goal), 1.0) / slope
    guess = mu * (edge + 2 * room + half)
    return guess, mu * room + 4e-15 * guess


def _log_bounds(mu: float, epsilon: float) -> tuple[float, float]:
    """Return bounds on ln δ, for a μ and an ε that are off by a rounding."""
    if not mu < VAST:
        return -math.inf, 0.0
    if mu < FAINT:
        return -math.inf, math.log(FAINT / 2)  # δ ≤ μ/√2π
    centre, half = epsilon / mu, mu / 2
    edge = centre - half
    if edge > CERTAIN and DRIFT * (1 + centre + mu) <= edge / 2:
        return -math.inf, -(CERTAIN**2) / 8  # a is above CERTAIN/2, and δ ≤ Φ(−a)
    log = _log_delta(edge, centre, half)
    off = _off(edge, centre, half, log)
    return log - off, log + off


def _off(edge: float, centre: float, half: float, log: float) -> float:
    """Return by how much ln δ is off, if it is this at what became of μ and ε."""
    drift = DRIFT * (1 + centre + 2 * half)  # more than a is off by
    near = -edge - drift
    if near > 1:
        # a < −1 all along the way, so that ln δ moves by at most e^(−near²/2) times what μ and 2ε/μ do. It was computed
        # from 1 − δ < |ln δ|, which is off by less than CURVE_SLACK of itself, until it underflows.
        return CURVE_SLACK * abs(log) + drift * math.exp(-near * near / 2) + 1e-300
    return CURVE_SLACK * (1 + abs(log) / 100) + drift * (1 + abs(edge) + drift)  # the slope grows with a, too


def _log_delta(edge: float, centre: float, half: float) -> float:
    """Return ln δ for a = c − h and b = c + h, with c = ε/μ and h = μ/2."""
    if edge < -1:
        # δ is of order 1, and 1 − δ = Φ(a) + e^ε·Φ(−b) = Φ(a) + φ(a)·m(b) < 1/3 has no small differences.
        tail = math.exp(-edge * edge / 2) / ROOT * _mills(centre + half)
        return math.log1p(-math.erfc(-edge / math.sqrt(2)) / 2 - tail)
    return math.log(_fall(edge, centre, half)) - edge * edge / 2 - LOG_ROOT


def _mills(x: float) -> float:
    """Return m(x) = Φ(−x)/φ(x) for x ≥ −1."""
    if x < FAR_ON_CURVE:
        return math.erfc(x / math.sqrt(2)) / 2 * math.exp(x * x / 2) * ROOT
    # Convergents lie on alternate sides; the 30th and 31st agree to 1e-18 at FAR_ON_CURVE, and better beyond.
    value = x
    for k in range(30, 0, -1):
        value = x + k / value
    return 1 / value


def _fall(edge: float, centre: float, half: float) -> float:
    """Return m(c − h) − m(c + h) for c − h ≥ −1.

    As m(x) = ∫ e^(−xt − t²/2) dt over t > 0, its derivatives of odd order are negative, and Taylor's series around c,
    2·(h·J₁ + h³·J₃ + …) with Jₖ = ∫ tᵏ/k!·e^(−ct − t²/2) dt, has positive terms only. By parts, Jₖ₋₁ = c·Jₖ +
    (k+1)·Jₖ₊₁. If h is not small, the plain difference loses a factor of 50 at most.
    """
    if centre < 2:
        return _fall_near(centre, half) if half < 1 / 16 else _mills(edge) - _mills(centre + half)
    return _fall_far(centre, half) if half <= centre / 16 else _mills(edge) - _mills(centre + half)


def _fall_near(centre: float, half: float) -> float:
    """Return the sum up to J₉, upwards from J₀ = m(c).

    Jₖ₊₂ ≤ Jₖ/(k+2), so that h¹¹·J₁₁ is less than 1e-16 of h·J₁. Roundings grow upwards, but h² outweighs that.
    """
    square = half * half
    before = _mills(centre)
    here = 1 - centre * before  # at least 0.15
    total, power = here, 1.0
    for k in (2, 4, 6, 8):
        before = (before - centre * here) / k
        here = (here - centre * before) / (k + 1)
        power *= square
        total += power * here
    return 2 * half * total


def _fall_far(centre: float, half: float) -> float:
    """Return the sum by the ratios rₖ = Jₖ/Jₖ₋₁ = 1/(c + (k+1)·rₖ₊₁), downwards from one that is hardly off.

    An error shrinks by the factor 1 − c·rₖ in each step, and what is left out of the sum is below 256^(−n/2): with so
    many steps both are below 1e-16.
    """
    square = half * half
    last = 15 + 2 * int(135 / (centre * centre))
    ratio, total = 2 / (centre + math.sqrt(centre * centre + 4 * (last + 2))), 1.0
    for k in range(last, 1, -2):
        upper = 1 / (centre + (k + 1) * ratio)
        ratio = 1 / (centre + k * upper)
        total = 1 + square * ratio * upper * total
    first = 1 / (centre + 2 * ratio)
    return 2 * half * first * total / (centre + first)  # J₀ = 1/(c + r₁)

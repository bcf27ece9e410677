"""The privacy curve of Gaussian noise in closed form: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ).

Compositions of Gaussians are Gaussian, with μ² the sum of all μ². Reference: Balle, Wang 2018, Theorem 8; Dong, Roth,
Su 2022, Corollary 3.3.

With a = ε/μ − μ/2, b = a + μ the curve is δ = φ(a)·(m(a) − m(b)), m(x) = Φ(−x)/φ(x) the ratio of Mills, which falls:
because e^ε·φ(b) = φ(a). Where the two are close the difference is summed from positive terms, see `_fall`.

How far ln δ is off when μ and ε are: ∂δ/∂μ = φ(a) and ∂δ/∂ε = −φ(a)·m(b), so that ln δ moves by μ/(m(a) − m(b)) for
each unit of ln μ, and by ε·m(b)/(m(a) − m(b)) for each of ln ε. Above −1, 1/m is convex with a slope between 0.37 and
1, and 1/m(x) ≤ |x| + 1. Hence m(a) − m(b) ≥ 0.37·μ·m(a)·m(b) for a ≥ −1, and as ε/μ ≤ b both are at most
2.7·(1 + |a|)·(1 + b). For a < −1 we have μ > 2, δ > 2/3 and μ·m(b) ≤ 2, so that they are at most μ·e^(−a²/2) and
2·(ε/μ)·e^(−a²/2).
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from discreet.core.exact import nearest_float

#: Relative accuracy of what is computed below, with room; exponents add their own size in roundings.
SLACK = 1e-12
#: Roundings of μ (1.5 units), of ε and ε/μ (1 each) and of a² (1.5): 2.7·3.5 + 1.5 units of 2⁻⁵³ are 1.3e-15.
DRIFT = 2e-15
#: A μ outside of this range, and noise so many widths out, are not worked out.
FAINT, VAST, CERTAIN = 1e-100, 1e153, 1e4
#: Beyond this Mills' ratio is taken from its continued fraction.
FAR = 5.0
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
        # from 1 − δ < |ln δ|, which is off by less than SLACK of itself, until it underflows.
        return SLACK * abs(log) + drift * math.exp(-near * near / 2) + 1e-300
    return SLACK * (1 + abs(log) / 100) + drift * (1 + abs(edge) + drift)  # the slope grows with a, too


def _log_delta(edge: float, centre: float, half: float) -> float:
    """Return ln δ for a = c − h and b = c + h, with c = ε/μ and h = μ/2."""
    if edge < -1:
        # δ is of order 1, and 1 − δ = Φ(a) + e^ε·Φ(−b) = Φ(a) + φ(a)·m(b) < 1/3 has no small differences.
        tail = math.exp(-edge * edge / 2) / ROOT * _mills(centre + half)
        return math.log1p(-math.erfc(-edge / math.sqrt(2)) / 2 - tail)
    return math.log(_fall(edge, centre, half)) - edge * edge / 2 - LOG_ROOT


def _mills(x: float) -> float:
    """Return m(x) = Φ(−x)/φ(x) for x ≥ −1."""
    if x < FAR:
        return math.erfc(x / math.sqrt(2)) / 2 * math.exp(x * x / 2) * ROOT
    # Convergents lie on alternate sides; the 30th and 31st agree to 1e-18 at FAR, and better beyond.
    value = x
    for k in range(30, 0, -1):
        value = x + k / value
    return 1 / value


def _fall(edge: float, centre: float, half: float) -> float:
    """Return m(c − h) − m(c + h) for c − h ≥ −1.

    As m(x) = ∫ e^(−xt − t²/2) dt over t > 0, its derivatives of odd order are negative, and Taylor's series around c,
    2·(h·J₁ + h³·J₃ + …) with Jₖ = ∫ tᵏ/k!·e^(−ct − t²/2) dt, has positive terms only. By parts, Jₖ₋₁ = c·Jₖ +
    (k+1)·Jₖ₊₁. Where h is not small the plain difference loses a factor of 50 at most.
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

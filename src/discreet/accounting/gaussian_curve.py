"""The privacy curve of Gaussian noise in closed form: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ).

Compositions of Gaussians are Gaussian, with μ² the sum of all μ². Reference: Balle, Wang 2018, Theorem 8; Dong, Roth,
Su 2022, Corollary 3.3.

With a = ε/μ − μ/2 the curve is δ = φ(a)·(m(a) − m(a + μ)), m(x) = Φ(−x)/φ(x) the ratio of Mills, which falls: and
because e^ε·φ(a+μ) = φ(a). Where the two are close the difference is the integral of −m′ = 1 − x·m(x) over [a, a + μ],
which is positive, and taken by quadrature.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from discreet.accounting.cells import Floats
from discreet.core import round_down
from discreet.core.exact import nearest_float

#: Relative accuracy of what is computed below, with room; exponents add their own size in roundings.
SLACK = 1e-12
#: A μ below this, and noise so many widths out, are not worked out.
FAINT, CERTAIN = 1e-100, 1e4
#: Beyond this Mills' ratio is taken from its continued fraction.
FAR = 8.0


def curve_delta(mu_squared: Fraction, epsilon: Fraction) -> tuple[float, float]:
    """Return bounds on δ at ε."""
    mu, target = math.sqrt(nearest_float(mu_squared)), nearest_float(epsilon)
    if mu < FAINT:
        return 0.0, FAINT  # δ ≤ μ/√2π
    if target / mu - mu / 2 > CERTAIN:
        return 0.0, 5e-324
    log = _log_delta(mu, target)
    # ln δ moves by at most (1 + |a|·(1 + …)) roundings for a rounding of μ and ε.
    off = SLACK * (1 + abs(log) * 1e-2) + 8e-16 * _sensitivity(mu, target)
    return math.exp(max(log - off, -745.0)) * (log > -740), min(1.0, math.exp(min(log + off, 0.0)) + 5e-324)


def curve_epsilon(mu_squared: Fraction, delta: Fraction) -> tuple[float, float]:
    """Return bounds on the least ε at δ > 0, by bisection."""
    target, over = round_down(delta), nearest_float(delta) * (1 + 4e-16)
    low, high = 0.0, 1.0
    if curve_delta(mu_squared, Fraction(0))[1] <= target:
        return 0.0, 0.0
    while curve_delta(mu_squared, Fraction(high))[1] > target:
        low, high = high, 2 * high
        if high > 1e300:
            return 0.0, math.inf
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if curve_delta(mu_squared, Fraction(middle))[1] <= target else (middle, high)
    below = low * (1 - 1e-9)
    return (below if curve_delta(mu_squared, Fraction(below))[0] > over else 0.0), high


def _sensitivity(mu: float, epsilon: float) -> float:
    edge = abs(epsilon / mu - mu / 2)
    return (1 + edge) * (1 + epsilon / mu + mu)


def _log_delta(mu: float, epsilon: float) -> float:
    """Return ln δ."""
    edge = epsilon / mu - mu / 2
    if edge < -1:
        # δ is of order 1, and 1 − δ = Φ(a) + e^ε·Φ(−a−μ) has no small differences.
        rest = math.erfc(-edge / math.sqrt(2)) / 2 + _scaled_tail(edge, mu)
        return math.log1p(-min(rest, 1 - 1e-16))
    near, far = _mills(edge), _mills(edge + mu)
    gap = near - far if far < near / 2 else _mills_fall(edge, mu)
    return -edge * edge / 2 - math.log(2 * math.pi) / 2 + math.log(gap)


def _scaled_tail(edge: float, mu: float) -> float:
    """Return e^ε·Φ(−a − μ) = φ(a)·m(a + μ)."""
    return math.exp(-edge * edge / 2) / math.sqrt(2 * math.pi) * _mills(edge + mu)


def _mills(x: float) -> float:
    """Return Φ(−x)/φ(x)."""
    if x < FAR:
        return math.erfc(x / math.sqrt(2)) / 2 * math.exp(x * x / 2) * math.sqrt(2 * math.pi)
    value = x
    for k in range(60, 0, -1):
        value = x + k / value
    return 1 / value


def _mills_fall(edge: float, mu: float) -> float:
    """Return m(a) − m(a + μ) = ∫ from a to a + μ of (1 − x·m(x)) dx, in pieces of length 1/2 at most."""
    pieces = max(1, math.ceil(2 * mu))
    points, weights = _rule()
    total = 0.0
    for piece in range(pieces):
        low, width = edge + piece * mu / pieces, mu / pieces
        nodes = low + (1 + points) / 2 * width
        total += width / 2 * float(sum(w * _one_less(x) for w, x in zip(weights.tolist(), nodes.tolist(), strict=True)))
    return total


@cache
def _rule() -> tuple[Floats, Floats]:
    """Return nodes and weights of Gauss and Legendre on [−1, 1]."""
    points, weights = np.polynomial.legendre.leggauss(24)
    return points, weights


def _one_less(x: float) -> float:
    """Return 1 − x·m(x), which is m″ − … and falls like 1/x²; by the continued fraction where the product is near 1."""
    if x < FAR:
        return 1 - x * _mills(x)
    # m = 1/(x + 1/(x + 2/(x + …))), so 1 − x·m = t/(x + t) with t = 1/(x + 2/(x + …)).
    value = x
    for k in range(60, 1, -1):
        value = x + k / value
    inner = 1 / value
    return inner / (x + inner)

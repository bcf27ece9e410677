"""The true privacy curve without a grid of losses: Laplace inversion of the moments of the privacy loss.

Let L = ln(P/Q) under P and K(s) = ln E_P[e^(sL)]. The two-sided Laplace transform of x ↦ max(0, 1 − e^(−x)) is
1/(s(s + 1)) for Re s > 0, so for every θ > 0 at which K is finite

    δ(ε) = E_P[max(0, 1 − e^(ε − L))] = (1/2πi) ∫ along Re s = θ of e^(K(s) − sε) / (s(s + 1)) ds.

Mechanisms compose by adding their K. The trapezium rule of step 2π/Y gives Σ over whole k of δ(ε + kY)·e^(kYθ) exactly
(Poisson's summation), all terms non-negative: Y is chosen so that all but k = 0 vanish. What is left is rounding, and
the end of the line, where e^K must have decayed: it does for whatever has a continuous part that is large enough.
Mechanisms of few outcomes do not decay: `lattice_delta` sums them exactly, `laplace_delta` does so for Laplace noise.
Nothing here is shared with the accountant under test, which works on grids of losses.
"""

import math
from collections.abc import Callable, Iterable

import mpmath
import numpy as np
from scipy import optimize

#: ln of the relative error that is allowed to the wrapped-around parts of the curve.
WRAPPED = 40.0
#: ln of what may cancel on a line away from the saddle: three of the digits.
CANCELLED = 7.0
#: A period of so many 1/θ is long.
LONG = 200.0
#: The line ends where this many stretches in a row add less than this share of the sum.
QUIET, SHARE = 4, 1e-14
STRETCH, MOST_NODES, MOST_PERIODS = 64, 400_000, 20
#: Orders θ in which a saddle is looked for.
ORDERS = (1e-3, 5e3)

Moments = Callable[[np.ndarray], np.ndarray]


class NotDecaying(Exception):
    """The characteristic function is too rough for an integral along a line."""


def gaussian(sigma: float) -> Moments:
    """Return K of N(1, σ²) against N(0, σ²): L is itself Gaussian."""
    return lambda s: s * (s + 1) / (2 * sigma**2)


def laplace(scale: float) -> Moments:
    """Return K of Laplace noise at distance 1: E e^(sL) = ((s + 1)e^(s/b) + s·e^(−(s + 1)/b)) / (2s + 1)."""
    return lambda s: s / scale + log1p(s / (2 * s + 1) * expm1(-(2 * s + 1) / scale))


def randomised_response(truth: float, categories: int = 2) -> Moments:
    """Return K of randomised response: one outcome each way, and all others alike."""
    lie = (1 - truth) / (categories - 1)
    level, rest = math.log(truth / lie), (categories - 2) * lie
    return lambda s: s * level + np.log(truth + lie * np.exp(-2 * s * level) + rest * np.exp(-s * level))


def pure(epsilon: float) -> Moments:
    """Return K of the worst ε-private mechanism, which is randomised response (Kairouz, Oh, Viswanath 2015)."""
    return randomised_response(1 / (1 + math.exp(-epsilon)))


def bounded_range(epsilon: float) -> Moments:
    """Return K of the pair that dominates every mechanism of ε-bounded range.

    The worst of them at x has outcomes of losses t and t − ε, and (1 − e^(t−ε) − e^(x−t) + e^(x−ε))/(1 − e^−ε) is
    greatest at t = (x + ε)/2. So δ(x) = (1 − e^((x−ε)/2))²/(1 − e^−ε): L has density ∝ e^(x/2) on [−ε, ε].
    """
    return lambda s: s * epsilon + np.log(-expm1(-(2 * s + 1) * epsilon) / ((2 * s + 1) * -math.expm1(-epsilon)))


def subsampled_gaussian(sigma: float, rate: float, *, added: bool = False) -> Moments:
    """Return K of Poisson-subsampled Gaussian noise: the mixture against N(0, σ²), or `added`, the other way round.

    With M = 1 − q + q·e^((2x − 1)/2σ²) under N(0, σ²), E e^(sL) is the mean of M^(1+s), or of M^(−s) when reversed.
    The mean of M − 1 is 0; so (power)·(M − 1) is taken off under the integral and what is left keeps its accuracy.
    """

    def moments(s: np.ndarray, fineness: float = 1.0) -> np.ndarray:
        powers = -s if added else 1 + s
        x, step = _line(powers, sigma, rate, fineness)
        log_m, log_odds = _mixture(x, sigma, rate)
        log_weight = -(x**2) / (2 * sigma**2) - math.log(math.sqrt(2 * math.pi) * sigma / step)
        peak = float(np.max(log_weight + np.max(powers.real) * log_m))
        if peak > 0:
            whole = np.exp(np.multiply.outer(powers, log_m) + log_weight - peak).sum(axis=-1)
            return peak + np.log(whole)
        weight = np.exp(log_weight)
        lean = rate * (np.exp(log_weight + log_odds) - weight)
        exponents = np.multiply.outer(powers, log_m)
        large = exponents.real > 1  # far out, where e to the exponent alone may overflow
        grown = np.exp(np.where(large, exponents + log_weight, 0)) - weight
        excess = np.where(large, grown, expm1(np.where(large, 0, exponents)) * weight)
        return log1p((excess - np.multiply.outer(powers, lean)).sum(axis=-1))

    return moments


def _mixture(x: np.ndarray, sigma: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return ln M and the logarithm of the odds N(1, σ²) : N(0, σ²)."""
    log_odds = (2 * x - 1) / (2 * sigma**2)
    small = rate * np.expm1(np.minimum(log_odds, 300.0))
    near = np.abs(small) < 0.1
    far = np.logaddexp(math.log1p(-rate), math.log(rate) + log_odds)
    return np.where(near, np.log1p(np.where(near, small, 0.0)), far), log_odds


def subsampled_laplace(scale: float, rate: float, *, added: bool = False) -> Moments:
    """Return K of Poisson-subsampled Laplace noise, as for Gaussian noise: M is constant but for 0 < x < 1."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x = (nodes + 1) / 2
    log_odds = np.concatenate([[-1 / scale], (2 * x - 1) / scale, [1 / scale]])
    masses = np.concatenate([[0.5], np.exp(-x / scale) * weights / (4 * scale), [math.exp(-1 / scale) / 2]])
    small = rate * np.expm1(log_odds)

    def moments(s: np.ndarray) -> np.ndarray:
        powers = -s if added else 1 + s
        excess = expm1(np.multiply.outer(powers, np.log1p(small))) - np.multiply.outer(powers, small)
        return log1p(excess @ masses)

    return moments


def _line(powers: np.ndarray, sigma: float, rate: float, fineness: float) -> tuple[np.ndarray, float]:
    """Return the nodes x of a trapezium rule that errs by about e^−40.

    The integrand is analytic up to the zeros of M at height πσ². Moved up by `height` it grows by the turning of
    M^power, where the integrand is not negligible, and by the normal density.
    """
    height = min(1.5 * sigma, 1.5 * sigma**2)
    low = -10 * sigma + min(0.0, float(np.min(powers.real)))
    high = 10 * sigma + max(1.0, float(np.max(powers.real)))
    x = np.linspace(low, high, 2_000)
    log_m, log_odds = _mixture(x, sigma, rate)
    size = -(x**2) / (2 * sigma**2) + np.max(powers.real) * log_m
    turn = np.imag(np.log(1 + rate / (1 - rate) * np.exp(np.minimum(log_odds, 300.0) + 1j * height / sigma**2)))
    growth = max(0.0, float(np.max(size - np.max(size) + np.max(np.abs(powers.imag)) * turn)))
    step = 2 * math.pi * height / (WRAPPED + growth + (height / sigma) ** 2 / 2) / fineness
    return np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step, step


def composed(parts: Iterable[tuple[Moments, int]]) -> Moments:
    """Return K of all parts together, each so many times."""
    listed = list(parts)
    return lambda s: sum(times * part(s) for part, times in listed)


def saddle(moments: Moments, epsilon: float) -> float:
    """Return the θ at which the integrand is least on the real line: there it has no cancellation."""

    def height(log_order: float) -> float:
        order = math.exp(log_order)
        return _real(moments, order) - order * epsilon - math.log(order * (order + 1))

    low, high = map(math.log, ORDERS)
    return math.exp(optimize.minimize_scalar(height, bounds=(low, high), method="bounded", options={"xatol": 1e-4}).x)


def true_delta(moments: Moments, epsilon: float, theta: float | None = None) -> float:
    """Return δ(ε) by the integral along Re s = θ, to about ten digits; θ is near the saddle unless given."""
    theta = theta or _short_line(moments, epsilon)
    height = _real(moments, theta) - theta * epsilon
    step = 2 * math.pi / _period(moments, epsilon, theta)
    total, quiet, start = 0.0, 0, 0
    while start < MOST_NODES:
        t = np.arange(start, start + STRETCH) * step
        s = theta + 1j * t
        terms = np.exp(moments(s) - s * epsilon - height) / (s * (s + 1))
        terms[t == 0] /= 2  # the line is symmetric: node 0 is counted once, all others for two
        added = float(terms.real.sum())
        total += added
        quiet = quiet + 1 if np.abs(terms).sum() < SHARE * abs(total) else 0
        if quiet == QUIET:
            return total * step / math.pi * math.exp(height)
        start += STRETCH
    raise NotDecaying(f"no end after {MOST_NODES} nodes; the last stretch added {added / total:.1e} of the sum")


def _short_line(moments: Moments, epsilon: float) -> float:
    """Return a θ up to the saddle with a short period: a rare large loss makes that of the saddle itself long."""
    first = saddle(moments, epsilon)
    if _period(moments, epsilon, first) * first < LONG:
        return first
    least = _real(moments, first) - first * epsilon
    orders = [first * share for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)]
    cheap = [order for order in orders if _real(moments, order) - order * epsilon < least + CANCELLED]
    return min(cheap, key=lambda order: _period(moments, epsilon, order))


def _period(moments: Moments, epsilon: float, theta: float) -> float:
    """Return Y such that δ(ε + kY)·e^(kYθ) is negligible beside δ(ε) for all k but 0."""
    height = _real(moments, theta) - theta * epsilon
    period = (WRAPPED + max(0.0, -height)) / theta

    def beyond(log_order: float) -> float:
        order = math.exp(log_order)
        return _real(moments, order) - order * (epsilon + period) + theta * period - height

    for _ in range(MOST_PERIODS):
        low, high = math.log(theta), math.log(max(2 * theta, ORDERS[1]))
        if optimize.minimize_scalar(beyond, bounds=(low, high), method="bounded").fun < -WRAPPED:
            return period
        period *= 1.5
    raise NotDecaying("the far end of the curve does not fall off")


def checked_delta(moments: Moments, epsilon: float, agreement: float = 1e-9) -> float:
    """Return δ(ε), found along two lines that must agree."""
    theta = saddle(moments, epsilon)
    first, second = true_delta(moments, epsilon, theta), true_delta(moments, epsilon, theta * 0.8)
    if abs(first - second) > agreement * first:
        raise ArithmeticError(f"the lines θ = {theta} and {0.8 * theta} give {first} and {second}")
    return first


def true_epsilon(moments: Moments, delta: float) -> float:
    """Return the ε ≥ 0 at which the curve reaches δ, to about ten digits; 0 if it is below δ throughout."""

    def off(epsilon: float) -> float:
        # Far beyond the answer all digits may cancel; the sign is what counts there.
        return math.log(max(true_delta(moments, epsilon), 1e-300)) - math.log(delta)

    return 0.0 if off(0.0) <= 0 else optimize.brentq(off, 0.0, chernoff(moments, delta), xtol=1e-12, rtol=1e-12)


def chernoff(moments: Moments, delta: float) -> float:
    """Return an ε that is enough for δ, since max(0, 1 − e^(−x)) ≤ e^(θx) for every order θ."""

    def bound(log_order: float) -> float:
        order = math.exp(log_order)
        return (_real(moments, order) - math.log(delta)) / order

    low, high = map(math.log, ORDERS)
    return optimize.minimize_scalar(bound, bounds=(low, high), method="bounded").fun


def worst_epsilon(directions: Iterable[Moments], delta: float) -> float:
    """Return the greatest ε of the directions, remove and add; one that is bounded below the worst is left out."""
    ranked = sorted(((chernoff(moments, delta), moments) for moments in directions), key=lambda pair: -pair[0])
    worst = 0.0
    for most, moments in ranked:
        worst = max(worst, true_epsilon(moments, delta)) if most > worst else worst
    return worst


def subsampled_epsilon(sigma: float, rate: float, times: int, delta: float) -> float:
    """Return the true ε of so many Poisson-subsampled Gaussian mechanisms, add/remove."""
    return worst_epsilon(
        (composed([(subsampled_gaussian(sigma, rate, added=added), times)]) for added in (False, True)), delta
    )


def lattice_delta(masses: dict[int, float], level: float, times: int, epsilon: float) -> float:
    """Return δ(ε) of so many mechanisms whose losses are whole multiples of `level`, by convolving positive numbers."""
    low, high = min(masses), max(masses)
    once = np.array([masses.get(place, 0.0) for place in range(low, high + 1)])
    result, power, left = np.ones(1), once, times
    while left:
        result = np.convolve(result, power) if left & 1 else result
        power, left = np.convolve(power, power), left >> 1
    losses = level * (np.arange(len(result)) + low * times)
    above = losses > epsilon
    return math.fsum(result[above] * -np.expm1(epsilon - losses[above]))


def randomised_response_delta(truth: float, categories: int, times: int, epsilon: float) -> float:
    """Return δ(ε) of so many randomised responses."""
    lie = (1 - truth) / (categories - 1)
    return lattice_delta({1: truth, 0: (categories - 2) * lie, -1: lie}, math.log(truth / lie), times, epsilon)


def laplace_delta(scale: float, times: int, epsilon: float) -> float:
    """Return δ(ε) of so many Laplace mechanisms as a sum of residues, in as many digits as its terms cancel.

    E^T = Σ over j of C(T, j)·(s + 1)^j·s^(T−j)·e^((js − (T−j)(s+1))/b) / (2s + 1)^T. A summand with (2j − T)/b > ε is
    closed to the left, around s = −1/2 and, for j = T, s = 0; the others are closed to the right and vanish.
    """
    with mpmath.workdps(40 + 2 * times):
        b, half, total = mpmath.mpf(scale), mpmath.mpf(1) / 2, mpmath.mpf(0)
        for j in range(times + 1):
            reach = (2 * j - times) / b - mpmath.mpf(epsilon)
            if reach <= 0:
                continue
            factor = mpmath.binomial(times, j) * mpmath.exp(-(times - j) / b)
            grown = [reach**k / mpmath.factorial(k) for k in range(times)]
            poles = _coefficient(grown, _product(half, j - 1, -half, times - j - 1, times)) * mpmath.exp(-reach / 2)
            total += factor * poles / mpmath.mpf(2) ** times
            total += factor if j == times else 0
        return float(total)


def _product(a: mpmath.mpf, m: int, b: mpmath.mpf, n: int, length: int) -> list[mpmath.mpf]:
    """Return the first coefficients of (u + a)^m·(u + b)^n, where m or n may be −1."""
    first, second = (
        [_binomial(power, k) * base ** (power - k) for k in range(length)] for base, power in ((a, m), (b, n))
    )
    return [mpmath.fsum(first[i] * second[k - i] for i in range(k + 1)) for k in range(length)]


def _binomial(power: int, k: int) -> mpmath.mpf:
    return mpmath.mpf((-1) ** k) if power == -1 else mpmath.binomial(power, k)


def _coefficient(first: list[mpmath.mpf], second: list[mpmath.mpf]) -> mpmath.mpf:
    return mpmath.fsum(a * b for a, b in zip(first, reversed(second), strict=True))


def _real(moments: Moments, order: float) -> float:
    return float(np.real(moments(np.array([order + 0j]))[0]))


def log1p(z: np.ndarray) -> np.ndarray:
    """Return ln(1 + z) for complex z; NumPy's own loses the small ones."""
    small = np.where(np.abs(z) < 0.5, z, 0)
    near = 0.5 * np.log1p(small.real * (2 + small.real) + small.imag**2) + 1j * np.arctan2(small.imag, 1 + small.real)
    return np.where(np.abs(z) < 0.5, near, np.log(np.where(z == -1, 1e-300, 1 + z)))


def expm1(z: np.ndarray) -> np.ndarray:
    """Return e^z − 1 for complex z; NumPy's own loses the small ones."""
    return np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(z.imag / 2) ** 2 + 1j * np.exp(z.real) * np.sin(z.imag)

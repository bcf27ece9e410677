"""From zCDP to (ε, δ), as tightly as Rényi divergences of all orders allow.

For every order α > 1, ρ-zCDP implies (ε, δ)-differential privacy with

    δ = e^((α−1)(αρ−ε)) · (1 − 1/α)^α / (α − 1).

Any α gives a true statement, so that a numeric search for the best one cannot make a false one; only the last
evaluation has to be rounded up. Reference: Canonne, Kamath, Steinke 2020, Proposition 12.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.core import round_up
from discreet.core.exact import nearest_float

#: Float evaluation of the formulas below, whose terms stay below 10⁴ where they matter, is this accurate.
SLACK = 1e-11


def concentrated_delta(rho: Fraction, epsilon: Fraction) -> float:
    """Return a δ that ρ-zCDP implies at ε, rounded up; 1 where nothing better is known."""
    if rho == 0:
        return 0.0
    rate, target = round_up(rho), float(epsilon)
    # ln δ is a sum of terms that may be large and cancel, so the slack is relative to their size.
    lowest, order = _minimise(lambda a: _log_delta(a, rate, target))
    terms = (order - 1) * (order * rate + target) + abs(math.log(order - 1)) + 1
    return min(1.0, math.exp(min(lowest + SLACK * terms, 0.0)))


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return an ε that ρ-zCDP implies at δ > 0, rounded up."""
    if rho == 0:
        return 0.0
    rate, log_delta = round_up(rho), _log(delta)
    lowest, order = _minimise(lambda a: _epsilon(a, rate, log_delta))
    terms = order * rate + (abs(log_delta) + abs(math.log(order)) + 1) / (order - 1) + 1
    return max(0.0, lowest + SLACK * terms)


def order_delta(order: Fraction, divergence: Fraction, epsilon: Fraction) -> float:
    """Return a δ that a Rényi divergence of one order implies at ε, rounded up."""
    alpha, value, target = nearest_float(order), round_up(divergence), float(epsilon)
    log = _log_delta(alpha, value / alpha, target)
    terms = (alpha - 1) * (value + target) + abs(math.log(alpha - 1)) + 1
    return math.exp(min(log + SLACK * terms, 0.0))


def order_epsilon(order: Fraction, divergence: Fraction, delta: Fraction) -> float:
    """Return an ε that a Rényi divergence of one order implies at δ > 0, rounded up."""
    alpha, value, log_delta = nearest_float(order), round_up(divergence), _log(delta)
    epsilon = _epsilon(alpha, value / alpha, log_delta)
    terms = value + (abs(log_delta) + abs(math.log(alpha)) + 1) / (alpha - 1) + 1
    return max(0.0, epsilon + SLACK * terms)


def _log_delta(order: float, rho: float, epsilon: float) -> float:
    return (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)


def _epsilon(order: float, rho: float, log_delta: float) -> float:
    gain = (order - 1) * math.log1p(-1 / order) - math.log(order)
    return order * rho + (gain - log_delta) / (order - 1)


def _minimise(function: Callable[[float], float]) -> tuple[float, float]:
    """Return the least value of a function of α > 1 and where it lies, by golden section in ln(α − 1)."""
    ratio = (math.sqrt(5) - 1) / 2
    low, high = math.log(1e-6), math.log(1e12)

    def at(point: float) -> float:
        return function(1 + math.exp(point))

    while high - low > 1e-7:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if at(left) < at(right):
            high = right
        else:
            low = left
    return at(low), 1 + math.exp(low)


def _log(number: Fraction) -> float:
    # Of numerator and denominator apart: their ratio may be too small for a float.
    return math.log(number.numerator) - math.log(number.denominator)

"""The (ε, δ) sentence that a loss implies, rounded against us."""

import math
from dataclasses import dataclass
from decimal import ROUND_UP, Context
from fractions import Fraction
from typing import assert_never

from discreet.accounting.concentrated import concentrated_delta, concentrated_epsilon
from discreet.accounting.discrete_gaussian import gaussian_delta, gaussian_epsilon
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    PrivacyLoss,
    Pure,
    Repeated,
    need_loss,
)
from discreet.core import InvalidInput, Number, exact, round_up


@dataclass(frozen=True, slots=True)
class Guarantee:
    """No event's probability changes by more than the factor e^epsilon and the summand delta."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"ε = {_shown(self.epsilon, 6)}" + (f" at δ = {_shown(self.delta, 3)}" if self.delta else "")


def _shown(number: float, digits: int) -> str:
    """Return a number to so many digits, rounded up: a text, too, is a promise."""
    if math.isinf(number):
        return "∞"
    return f"{float(Context(prec=digits, rounding=ROUND_UP).create_decimal(repr(number))):.{digits}g}"


def guarantee(loss: PrivacyLoss, delta: Number = 0) -> Guarantee:
    """Return what a loss promises at a δ of choice."""
    return Guarantee(epsilon(loss, delta), round_up(exact(delta, "delta")))


def epsilon(loss: PrivacyLoss, delta: Number) -> float:
    """Return an ε such that the loss implies (ε, δ)-differential privacy; infinite where δ is too small.

    The best of what is proved for this loss: the sum of ε and δ, the conversion from zCDP, and the exact curve of a
    single discrete Gaussian.
    """
    need_loss(loss)
    allowed = exact(delta, "delta")
    if not 0 <= allowed < 1:
        raise InvalidInput("delta must lie in [0, 1).", fix="pass delta=0, or a small one such as 1e-9")
    rho, spent = concentrated_of(loss)
    total = approximate_of(loss)
    bounds = [math.inf]
    if total is not None and total[1] <= allowed:
        bounds.append(round_up(total[0]))
    if spent < allowed:
        bounds.append(concentrated_epsilon(rho, allowed - spent))
    if isinstance(loss, DiscreteGaussianNoise) and allowed:
        bounds.append(gaussian_epsilon(loss.variance, loss.sensitivity, allowed))
    return min(bounds)


def delta(loss: PrivacyLoss, epsilon: Number) -> float:
    """Return a δ such that the loss implies (ε, δ)-differential privacy; at most 1."""
    need_loss(loss)
    target = exact(epsilon, "epsilon")
    if target < 0:
        raise InvalidInput("epsilon must be 0 or more.", fix="pass epsilon=0 for the total variation distance")
    rho, spent = concentrated_of(loss)
    total = approximate_of(loss)
    bounds = [1.0]
    if total is not None and total[0] <= target:
        bounds.append(round_up(total[1]))
    bounds.append(math.nextafter(concentrated_delta(rho, target) + round_up(spent), math.inf))
    if isinstance(loss, DiscreteGaussianNoise):
        bounds.append(gaussian_delta(loss.variance, loss.sensitivity, target))
    return min(bounds)


def approximate_of(loss: PrivacyLoss) -> tuple[Fraction, Fraction] | None:
    """Return the (ε, δ) of a loss by basic composition, or None if a part has no single such pair.

    Reference: Dwork, Roth 2014, Theorem 3.16.
    """
    match loss:
        case Pure(epsilon) | BoundedRange(epsilon):
            return epsilon, Fraction(0)
        case Approximate(epsilon, delta):
            return epsilon, delta
        case Concentrated() | DiscreteGaussianNoise():
            return None
        case Repeated(part, times):
            once = approximate_of(part)
            return None if once is None else (times * once[0], times * once[1])
        case Composed(parts):
            pairs = [approximate_of(part) for part in parts]
            known = [pair for pair in pairs if pair is not None]
            if len(known) < len(pairs):
                return None
            return sum((pair[0] for pair in known), Fraction(0)), sum((pair[1] for pair in known), Fraction(0))
        case _:
            assert_never(loss)


def concentrated_of(loss: PrivacyLoss) -> tuple[Fraction, Fraction]:
    """Return (ρ, δ) such that the loss is δ-approximately ρ-zCDP.

    Reference: Bun, Steinke 2016, Proposition 1.4 (pure) and Section 8 (approximate); Cesar, Rogers 2021 (bounded
    range); Canonne, Kamath, Steinke 2020, Theorem 14 (discrete Gaussian).
    """
    match loss:
        case Pure(epsilon):
            return epsilon**2 / 2, Fraction(0)
        case BoundedRange(epsilon):
            return epsilon**2 / 8, Fraction(0)
        case Approximate(epsilon, delta):
            return epsilon**2 / 2, delta
        case Concentrated(rho):
            return rho, Fraction(0)
        case DiscreteGaussianNoise(variance, sensitivity):
            return sensitivity.l2_squared / (2 * variance), Fraction(0)
        case Repeated(part, times):
            rho, delta = concentrated_of(part)
            return times * rho, times * delta
        case Composed(parts):
            pairs = [concentrated_of(part) for part in parts]
            return sum((pair[0] for pair in pairs), Fraction(0)), sum((pair[1] for pair in pairs), Fraction(0))
        case _:
            assert_never(loss)

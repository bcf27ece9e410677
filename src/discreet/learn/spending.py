"""The budget of a model: converts (ε, δ) to the ρ of zCDP that implies it, and divides it."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.accounting import Composed, PrivacyLoss, Repeated, calibrate_concentrated
from discreet.core import Number, Sensitivity
from discreet.mechanisms import Gaussian


def affordable(epsilon: Number, delta: Number) -> Fraction:
    """Return the ρ of zCDP that implies (ε, δ)."""
    return calibrate_concentrated(epsilon, delta)


def noise_for(square: int, rho: Fraction) -> Gaussian:
    """Return the noise at ρ for sums of whole vectors of which one row adds one, of squared norm `square` at most."""
    return Gaussian.for_rho(rho, Sensitivity.l2_ball(square))


def total(parts: Sequence[tuple[Gaussian, int]]) -> PrivacyLoss:
    """Return what several sums cost together, each with how many times it is released."""
    losses = [Repeated(noise.cost, times) if times > 1 else noise.cost for noise, times in parts]
    return losses[0] if len(losses) == 1 else Composed(losses)

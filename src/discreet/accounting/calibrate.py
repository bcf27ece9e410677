"""How much noise reaches a target. Every search ends on the safe side and is checked by the rule it inverts."""

from fractions import Fraction

from discreet.accounting.concentrated import concentrated_epsilon
from discreet.accounting.discrete_gaussian import needed_variance
from discreet.core import Number, OutOfRange, Sensitivity, positive, probability, round_down
from discreet.core.sensitivity import need_sensitivity


def calibrate_concentrated(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest ρ found such that ρ-zCDP implies (ε, δ)-differential privacy."""
    target, allowed = round_down(positive(epsilon, "epsilon")), probability(delta, "delta")
    low, high = Fraction(0), Fraction(target)
    while high - low > high / 10**12 and high > Fraction(1, 10**90):
        middle = (low + high) / 2
        if concentrated_epsilon(middle, allowed) <= target:
            low = middle
        else:
            high = middle
    if not low:
        raise OutOfRange(
            "No noise is found that reaches so small an epsilon at this delta.",
            fix="pass an epsilon of 1e-9 or more, or use Laplace noise, which reaches any",
        )
    return Fraction(round_down(low))


def calibrate_gaussian(epsilon: Number, delta: Number, sensitivity: Sensitivity) -> Fraction:
    """Return the least variance found for which discrete Gaussian noise is (ε, δ)-differentially private.

    Reference: Balle, Wang 2018, for the idea of inverting the exact curve; `discreet.accounting.discrete_gaussian`
    for the curve on the integers.
    """
    enough = need_sensitivity(sensitivity).l2_squared / (2 * calibrate_concentrated(epsilon, delta))
    return needed_variance(positive(epsilon, "epsilon"), probability(delta, "delta"), sensitivity, enough)

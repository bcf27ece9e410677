"""Odds for exact coins: rational, and provably at most e^ε."""

from fractions import Fraction

from discreet.core import Number, OutOfRange, exp_down, positive
from discreet.core.exact import root_down

#: Beyond this ε a report is plain truth, whatever it is called.
MOST_EPSILON = 20
#: Odds are rounded down to so many significant bits: they stay within a factor of 1 − 2⁻⁶³ of e^ε.
BITS = 64


def need_epsilon(epsilon: Number, name: str = "epsilon") -> Fraction:
    """Return an ε that local privacy makes sense for."""
    target = positive(epsilon, name)
    if target > MOST_EPSILON:
        raise OutOfRange(
            f"{name} is above {MOST_EPSILON}, where reports are plain truth.", fix=f"pass a smaller {name}"
        )
    return target


def odds_below(epsilon: Fraction) -> Fraction:
    """Return a rational number of 64 significant bits that is at most e^ε.

    It is above 1 for every ε above 0, so that a report never says nothing.
    """
    exact_below = exp_down(epsilon)
    bits = BITS - (exact_below.numerator // exact_below.denominator).bit_length()
    rounded = Fraction((exact_below.numerator << bits) // exact_below.denominator, 1 << bits)
    return rounded if rounded > 1 else 1 + epsilon / 2  # below e^ε, as 1 + x is


def root_below(odds: Fraction) -> Fraction:
    """Return a rational number whose square is at most `odds`, and which is above 1 if that is."""
    root = root_down(odds)
    return root if root > 1 else 1 + (odds - 1) / 4  # (1 + x/4)² ≤ 1 + x for x ≤ 8

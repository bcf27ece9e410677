"""Accuracy first: the least ε whose error is as small as wanted."""

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from discreet.core import Number, OutOfRange, WrongType, positive, probability

#: The answer is found to this, relative to itself.
CLOSE = Fraction(1, 10**4)
#: Costs outside of this range are given up on.
LEAST, MOST = Fraction(1, 10**9), Fraction(10**6)


class Accurate(Protocol):
    """A mechanism that can tell its error beforehand."""

    def error(self, confidence: Number = ..., **size: int) -> float:
        """Return the error that is not exceeded, with a confidence."""
        ...


def least_epsilon(
    make: Callable[[Fraction], Accurate], within: Number, confidence: Number = 0.95, **size: int
) -> Fraction:
    """Return the least ε found such that `make(ε).error(confidence, **size)` is at most `within`; never too small.

    For example `least_epsilon(lambda eps: Laplace.for_epsilon(eps, counting_query()), within=25)`. More ε must mean
    less error.
    """
    if not callable(make):
        raise WrongType("make is not a function.", fix="pass a function from ε to a mechanism")
    wanted = positive(within, "within")
    probability(confidence, "confidence")

    def reaches(epsilon: Fraction) -> bool:
        return Fraction(make(epsilon).error(confidence, **size)) <= wanted

    low, high = Fraction(0), Fraction(1)
    while not reaches(high):
        low, high = high, 2 * high
        if high > MOST:
            raise OutOfRange("No epsilon is found that reaches this error.", fix="allow a larger error")
    while not low:
        low, high = (Fraction(0), high / 2) if reaches(high / 2) else (high / 2, high)
        if high < LEAST:
            return high
    while high - low > CLOSE * high:
        middle = Fraction(f"{float((low + high) / 2):.6g}")
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high

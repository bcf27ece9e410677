"""Walking a sampler's coins: exact probabilities from the real code, without statistics."""

from collections.abc import Callable
from fractions import Fraction

from discreet.core import exp_minus
from scripted import Scripted

#: The words that follow the one under test; undecided comparisons take them. (All zeros would be the number 0 itself.)
SPARE = [1 << 63] * 64


def threshold(decide: Callable[[int], bool], bits: int = 64) -> int:
    """Return how many of the 2^bits words are taken, for a decision that takes small words and no large ones."""
    low, high = 0, 1 << bits
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if decide(middle) else (low, middle)
    return low


def chance(run: Callable[[Scripted], bool], before: tuple[int, ...] = ()) -> Fraction:
    """Return the probability that `run` is True over its next word, to within 2⁻⁶³."""
    return Fraction(threshold(lambda word: run(Scripted([*before, word, *SPARE]))), 1 << 64)


def exponential(exponent: Fraction) -> Fraction:
    """Return e^−exponent to 200 bits."""
    low, high = exp_minus(exponent, 200)
    return Fraction(low + high, 1 << 201)

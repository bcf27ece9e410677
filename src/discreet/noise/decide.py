"""Comparisons of a random real number with e⁻ˣ, decided exactly.

A uniform real U is known by its leading bits only: U lies in [word, word + 1)/2^bits. More bits are drawn until
the comparison is decided, which ends with probability one, and usually at once.
"""

from collections.abc import Callable
from fractions import Fraction

from discreet.core import exp_minus
from discreet.noise.stream import Entropy

#: The number of bits that the random number and the exponential gain together while they are not yet distinguished.
STRIDE = 64


def below_exp(
    entropy: Entropy,
    word: int,
    bits: int,
    exponent: Fraction,
    *,
    scale: Fraction = Fraction(1),
    offset: Fraction = Fraction(0),
) -> bool:
    """Decide whether offset + scale·U < e^−exponent, for U uniform in [word, word + 1)/2^bits.

    Guarantee: given `word`, the answer is True with exactly the conditional probability of the event.
    """
    while True:
        precision = _precision(bits, scale)
        low, high = exp_minus(exponent, precision)
        if offset + scale * Fraction(word + 1, 1 << bits) <= Fraction(low, 1 << precision):
            return True
        if offset + scale * Fraction(word, 1 << bits) >= Fraction(high, 1 << precision):
            return False
        word = word << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def below_exp_around(
    entropy: Entropy,
    words: tuple[int, int],
    bits: int,
    x: int,
    exponent: Callable[[Fraction], Fraction],
    *,
    scale: Fraction,
    offset: Fraction,
) -> bool:
    """Decide whether offset + scale·U < e^−exponent(x + W − 1/2), for U and W uniform, of which leading bits are known.

    The exponent is even, and grows away from zero. Guarantee: as for `below_exp`, over both random numbers.
    """
    word, place = words
    while True:
        precision, step = _precision(bits, scale), Fraction(1, 1 << bits)
        start = x - Fraction(1, 2) + place * step
        nearest, farthest = sorted((abs(start), abs(start + step)))
        if start < 0 < start + step:
            nearest = Fraction(0)
        if offset + scale * (word + 1) * step <= Fraction(exp_minus(exponent(farthest), precision)[0], 1 << precision):
            return True
        if offset + scale * word * step >= Fraction(exp_minus(exponent(nearest), precision)[1], 1 << precision):
            return False
        word, place = word << STRIDE | entropy.bits(STRIDE), place << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def _precision(bits: int, scale: Fraction) -> int:
    """Return the number of bits that make the exponential's interval narrower than the random number's."""
    return bits + 8 + max(0, scale.denominator.bit_length() - scale.numerator.bit_length())


def below_ratio(entropy: Entropy, word: int, bits: int, ratio: Fraction) -> bool:
    """Decide whether U < ratio, for U uniform in [word, word + 1)/2^bits."""
    while True:
        if Fraction(word + 1, 1 << bits) <= ratio:
            return True
        if Fraction(word, 1 << bits) >= ratio:
            return False
        word = word << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE

"""Comparisons of a random real number with e⁻ˣ, decided exactly.

A uniform real U is known by its leading bits only: U lies in [word, word + 1)/2^bits. More bits are drawn until
the comparison is decided, which ends with probability one, and usually at once.
"""

from fractions import Fraction

from discreet.core import exp_minus
from discreet.noise.stream import Entropy

#: How many bits the random number and the exponential gain together when they cannot yet be told apart.
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
        # Precise enough that the exponential's interval is narrower than the random number's.
        precision = bits + 8 + max(0, scale.denominator.bit_length() - scale.numerator.bit_length())
        low, high = exp_minus(exponent, precision)
        if offset + scale * Fraction(word + 1, 1 << bits) <= Fraction(low, 1 << precision):
            return True
        if offset + scale * Fraction(word, 1 << bits) >= Fraction(high, 1 << precision):
            return False
        word = word << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def below_ratio(entropy: Entropy, word: int, bits: int, ratio: Fraction) -> bool:
    """Decide whether U < ratio, for U uniform in [word, word + 1)/2^bits."""
    while True:
        if Fraction(word + 1, 1 << bits) <= ratio:
            return True
        if Fraction(word, 1 << bits) >= ratio:
            return False
        word = word << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE

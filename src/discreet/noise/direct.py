"""Single draws without a table, at any rational scale, in a time that does not tell their size.

Each draw uses a fixed number of words and a float logarithm or exponential that is almost always certain. Where
draws are repeated until one is taken, the number of tries is independent of the value taken.
"""

import math
from fractions import Fraction

from discreet.core import exp_minus
from discreet.noise.decide import STRIDE, below_exp
from discreet.noise.shapes import GaussianShape, LaplaceShape, Shape
from discreet.noise.stream import Entropy

#: Above this scale the float logarithm would too often be uncertain; low bits are then split off.
SPLIT_ABOVE = 1 << 24
KEPT_BITS = 20
#: Relative error that math.log and math.exp are trusted to: 16 times what their documentation gives, and more.
MARGIN = 2.0**-48
#: Distance from a float probability within which exact arithmetic decides.
DOUBT = 2.0**-40


def draw_one(shape: Shape, entropy: Entropy) -> int:
    """Return one draw from a shape.

    Guarantee: each integer x has probability exactly proportional to e^−exponent(x).
    """
    # Draws below 2⁵³ are whole floats until the end: Python takes other times over small and large integers.
    match shape:
        case LaplaceShape(scale, two_sided=True):
            return int(_laplace(scale, entropy))
        case LaplaceShape(scale):
            return int(_geometric(scale, entropy) if scale <= SPLIT_ABOVE else _wide_geometric(scale, entropy))
        case GaussianShape(variance):
            return int(_gaussian(variance, entropy))


def _laplace(scale: Fraction, entropy: Entropy) -> float | int:
    narrow = scale <= SPLIT_ABOVE
    while True:
        magnitude = _geometric(scale, entropy) if narrow else _wide_geometric(scale, entropy)
        sign = 1 - 2 * (entropy.word() & 1)
        # Minus zero starts again, or zero would be drawn twice as often as it should.
        if magnitude or sign > 0:
            return sign * magnitude


def _gaussian(variance: Fraction, entropy: Entropy) -> float | int:
    """Reject from Laplace noise of about the same width (Canonne, Kamath, Steinke 2020, Algorithm 3)."""
    width = math.isqrt(variance.numerator // variance.denominator) + 1
    scale, doubled = Fraction(width), 2 * float(variance)
    centre = doubled / (2 * width)
    while True:
        x = _laplace(scale, entropy)
        word, uniform = entropy.uniform()
        chance = math.exp(-((abs(x) - centre) ** 2) / doubled)
        # Where the chance exceeds 2⁻⁴⁰, |x| is within 9 widths, and the float exponent within 2⁻⁴⁵.
        if uniform < chance - DOUBT:
            return x
        if uniform < chance + DOUBT and below_exp(entropy, word, 64, _excess(int(x), width, variance)):
            return x


def _excess(x: int, width: int, variance: Fraction) -> Fraction:
    """Return the exponent of the chance that a Laplace draw is taken as a Gaussian one."""
    return (abs(x) - variance / width) ** 2 / (2 * variance)


def _geometric(scale: Fraction, entropy: Entropy) -> float | int:
    """Return G ≥ 0 with P(G ≥ k) = e^−k/scale, for a scale of at most SPLIT_ABOVE; nearly always as a whole float."""
    word, uniform = entropy.uniform()
    if word:
        # G = ⌊−scale·ln U⌋ for a uniform real U in [word, word + 1)/2⁶⁴; ln(1 + 1/word) is less than 1/word.
        width = float(scale)
        most = -width * math.log(uniform)
        doubt = (most + width) * MARGIN
        # modf takes the same time for all numbers, // and floor do not. It cuts −ε to zero, and rightly: G ≥ 0.
        value = math.modf(most + doubt)[1]
        if value == math.modf(most - width * 2.0**-64 / uniform - doubt)[1]:
            return value
    return _careful_geometric(scale, word, entropy)


def _careful_geometric(scale: Fraction, word: int, entropy: Entropy) -> int:
    """Finish a geometric draw that floats cannot decide, by exact arithmetic on a longer word."""
    bits = 64
    while True:
        guess = math.floor(float(scale) * (bits * math.log(2) - math.log(word + 1)))
        for value in range(max(guess - 2, 0), guess + 3):
            if _is_settled(value, scale, word, bits):
                return value
        word = word << STRIDE | entropy.bits(STRIDE)
        bits += STRIDE


def _is_settled(value: int, scale: Fraction, word: int, bits: int) -> bool:
    """Whether every U in [word, word + 1)/2^bits has e^−(value+1)/scale ≤ U < e^−value/scale."""
    return word + 1 <= exp_minus(value / scale, bits)[0] and word >= exp_minus((value + 1) / scale, bits)[1]


def _wide_geometric(scale: Fraction, entropy: Entropy) -> float | int:
    """Split G into high and low bits, which are independent: e^−(2^b·h + l)/scale is a product."""
    bits = math.floor(scale).bit_length() - KEPT_BITS
    high = _geometric(scale / (1 << bits), entropy)
    while True:
        low = entropy.bits(bits)  # uniform, and then taken with probability e^−low/scale ≥ e^(−2⁻¹⁹)
        word = entropy.word()
        if word < (1 << 64) - (1 << 46) or below_exp(entropy, word, 64, low / scale):
            whole = high * 2.0**bits + low if bits < 60 else math.inf
            return whole if whole < 2.0**53 else (int(high) << bits) + low

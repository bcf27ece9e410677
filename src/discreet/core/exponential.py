"""e to a rational power, as an interval with integer ends.

Everything that claims exactness rests on `exp_minus`: whenever a float comparison is too close to call, the
number e⁻ˣ is computed here by integer arithmetic to as many bits as it takes.
"""

import math
from fractions import Fraction

from discreet.core.exact import round_up

#: Costs that are logarithms are irrational; they are stated in these steps, rounded up.
COST_STEP = Fraction(1, 10**15)


def exp_minus(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Return integers (low, high) with low/2^bits ≤ e^−exponent ≤ high/2^bits and high − low ≤ 3.

    The exponent may not be negative. Method: halve the exponent k times until it is below 1/4, sum the
    Taylor series in fixed point with w fractional bits, square k times.

    Error. Write y for the reduced exponent, Tᵢ = 2^w·yⁱ/i! for the true terms and tᵢ for the computed ones.
    Each is the floor of tᵢ₋₁·⌊2^w·y⌋/(i·2^w), and by induction 0 ≤ Tᵢ − tᵢ ≤ 2: the inherited error is at most
    2y/i + 1/i ≤ 1 for y ≤ 1/4 (for i = 1 it is 1, as T₀ = t₀), and the floor adds less than 1. After the first
    tᵢ = 0 the true rest is below 1. So N terms are off by at most 2N + 2. A squaring takes an error of e units to at
    most 2e + 2, as values are at most 1. With w = bits + k + 12 and N < 500 the end is within one unit of 2^−bits.
    """
    if exponent < 0:
        raise ArithmeticError("exp_minus is for exponents of 0 or more")  # an inner invariant, never input
    halvings = (4 * exponent.numerator // exponent.denominator).bit_length()
    width = bits + halvings + 12
    reduced = (exponent.numerator << width) // (exponent.denominator << halvings)
    total = term = 1 << width
    count = 0
    while term:
        count += 1
        term = term * reduced // (count << width)
        total += -term if count & 1 else term
    slack = 2 * count + 2
    low, high = max(total - slack, 0), min(total + slack, 1 << width)
    for _ in range(halvings):
        low, high = low * low >> width, -(-high * high >> width)
    shift = width - bits
    return low >> shift, -(-high >> shift)


def exp_up(exponent: Fraction) -> Fraction:
    """Return a rational number that is at least e^exponent, within a factor of 1 + 2⁻⁶⁰ or so."""
    magnitude = math.ceil(abs(exponent) * 3 / 2)  # log₂ e < 3/2
    low, high = exp_minus(abs(exponent), 64 + magnitude)
    scale = 1 << (64 + magnitude)
    return Fraction(high, scale) if exponent < 0 else Fraction(scale, low)


def exp_down(exponent: Fraction) -> Fraction:
    """Return a rational number that is at most e^exponent, within a factor of 1 − 2⁻⁶⁰ or so."""
    return 1 / exp_up(-exponent)


def log_up(number: Fraction) -> Fraction:
    """Return the natural logarithm of a number of at least 1, rounded up to a multiple of `COST_STEP`.

    The result is certified by `exp_minus`: number·e^−result ≤ 1.
    """
    guess = _float_log(number)
    low = high = max(0, math.floor(Fraction(guess) / COST_STEP) - math.ceil(guess) - 2)
    while not _covers(number, high * COST_STEP):
        low, high = high, 2 * high - low + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _covers(number, middle * COST_STEP) else (middle, high)
    return high * COST_STEP


def _covers(number: Fraction, logarithm: Fraction) -> bool:
    bits = 128 + number.numerator.bit_length() + math.ceil(logarithm * 3 / 2)
    return exp_minus(logarithm, bits)[1] * number <= 1 << bits


def _float_log(number: Fraction) -> float:
    shift = max(0, number.numerator.bit_length() - number.denominator.bit_length() - 1000)
    return math.log(round_up(number / (1 << shift))) + shift * math.log(2)

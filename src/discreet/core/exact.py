"""Exact numbers: what people type becomes a `Fraction`, and is rounded once, against us; e to a rational power.

A float means its shortest decimal text, because that is what the person typed: 0.1 is 1/10, and not
3602879701896397/36028797018963968.
"""

import math
import numbers
import operator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TypeGuard

from discreet.core.errors import InvalidInput, OutOfRange, WrongType, kind_of

Number = int | float | Fraction | Decimal

#: Magnitudes outside [1/LARGEST, LARGEST] are typing errors, not privacy parameters.
LARGEST = Fraction(10**100)
#: Longer numerators or denominators come from a computation gone astray, and would stall exact arithmetic.
MOST_BITS = 4096
#: Numbers of so many bits, above and below, lie within the range of sane values: 2³⁰⁰ is less than 10¹⁰⁰.
SANE_BITS = 300
#: A root that is not rational is rounded to so many bits.
ROOT_BITS = 100
#: Decimal exponents beyond this are refused unseen.
FARTHEST = 200


def exact(value: object, name: str) -> Fraction:
    """Return the rational number that a person meant by `value`.

    Integers, fractions and decimals are taken as they are; floats (NumPy's too) by their shortest text.
    """
    number = value if _is_plain(value) else _as_fraction(value, name)
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits <= SANE_BITS:
        return number
    if number and not 1 / LARGEST <= abs(number) <= LARGEST:
        raise OutOfRange(
            f"{name} is beyond the range of sane values.",
            fix=f"give {name} a magnitude between 1e-100 and 1e100, or 0 where 0 makes sense",
        )
    if bits > MOST_BITS:
        raise OutOfRange(
            f"{name} has a numerator or denominator of more than {MOST_BITS} bits.",
            fix="round it to a few digits first, in the direction that protects people",
        )
    return number


def _is_plain(value: object) -> TypeGuard[Fraction]:
    """Tell whether a value is a fraction of Python's own integers: NumPy's may be inside, and overflow."""
    return type(value) is Fraction and type(value.numerator) is int and type(value.denominator) is int


def _as_fraction(value: object, name: str) -> Fraction:
    # bool is an int to Python, but epsilon=True is a mistake.
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, Decimal)):
        raise WrongType(
            f"{name} is {kind_of(value)}, not a number.",
            fix=f"pass {name} as an int, float, Fraction or Decimal",
        )
    if isinstance(value, numbers.Integral):
        return Fraction(_index(value, name, "number"))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        raise InvalidInput(f"{name} is not a finite number.", fix="pass a finite number")
    if isinstance(value, Decimal):
        # A power of ten that is refused anyway is not worked out: 1E-100000000 would take minutes.
        return Fraction(value) if not value or abs(value.adjusted()) <= FARTHEST else Fraction(10**FARTHEST)
    # float.__repr__ is the shortest text that reads back the same; str() does that for NumPy's narrow floats.
    return Fraction(float.__repr__(value) if isinstance(value, float) else str(value))


def positive(value: object, name: str) -> Fraction:
    """Return an exact number above zero."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidInput(f"{name} must be above 0.", fix=f"pass a positive {name}, such as 1 or 0.1")
    return number


def probability(value: object, name: str) -> Fraction:
    """Return an exact number strictly between zero and one."""
    number = exact(value, name)
    if not 0 < number < 1:
        # Each its own example: a δ of 0.95 would be no protection.
        example = "1e-9, far below one in the number of people" if name == "delta" else "0.95"
        raise InvalidInput(f"{name} must lie strictly between 0 and 1.", fix=f"pass {name} such as {example}")
    return number


def whole(value: object, name: str, *, least: int | None = 1, most: int | None = None) -> int:
    """Return an integer within the given range; 3.0 is refused, because floats are not for counting."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise WrongType(f"{name} is {kind_of(value)}, not a whole number.", fix=f"pass {name} as an int")
    number = _index(value, name, "whole number")
    if least is not None and number < least:
        raise InvalidInput(f"{name} must be at least {least}.", fix=f"pass an integer {name} of {least} or more")
    if most is not None and number > most:
        raise OutOfRange(f"{name} must be at most {most}.", fix=f"pass an integer {name} of {most} or less")
    return number


def flag(value: object, name: str) -> bool:
    """Return a bool; 0 and 1 may be a number in the wrong place."""
    if not isinstance(value, bool):
        raise WrongType(f"{name} is {kind_of(value)}, not a bool.", fix=f"pass {name}=True or {name}=False")
    return value


def _index(value: object, name: str, wanted: str) -> int:
    """Return an integer; NumPy counts spans of time among its integers, and then they are none."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise WrongType(f"{name} is {kind_of(value)}, not a {wanted}.", fix=f"pass {name} as an int") from None


def round_up(number: Fraction) -> float:
    """Return `number` if a float's text says it exactly, else the least float that is not below it in binary or text.

    People read the text and type it again, and then it is taken as they typed it: a float means its text.
    """
    result = nearest_float(number)
    if math.isfinite(result) and Fraction(float.__repr__(result)) == number:
        return result
    while math.isfinite(result) and min(Fraction(result), Fraction(float.__repr__(result))) < number:
        result = math.nextafter(result, math.inf)
    return result


def round_down(number: Fraction) -> float:
    """Return the greatest float that is not above `number`, neither in binary nor by its shortest text."""
    return -round_up(-number)


def root_down(number: Fraction) -> Fraction:
    """Return the square root of a number that is not negative, rounded down to a multiple of 2⁻¹⁰⁰."""
    return Fraction(math.isqrt((number.numerator << 2 * ROOT_BITS) // number.denominator), 1 << ROOT_BITS)


def text_up(number: Fraction | float, digits: int = 6) -> str:
    """Return a number to so many digits, rounded up: of what is spent, or promised. A text, too, is a promise."""
    return _text(number, digits, ROUND_CEILING)


def text_down(number: Fraction | float, digits: int = 6) -> str:
    """Return a number to so many digits, rounded down: of what is left, or allowed."""
    return _text(number, digits, ROUND_FLOOR)


def _text(number: Fraction | float, digits: int, rounding: str) -> str:
    if isinstance(number, float):
        if math.isinf(number):
            return "∞"
        number = Fraction(repr(number))
    shown = Context(prec=digits, rounding=rounding).divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"{float(shown):.{digits}g}"


def nearest_float(number: Fraction | int) -> float:
    """Return the nearest float; infinite where none is."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# e to a rational power, as an interval with integer ends.
#
# Everything that claims exactness rests on `exp_minus`: whenever a float comparison is too close to call, the
# number e⁻ˣ is computed here by integer arithmetic to as many bits as it takes.

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

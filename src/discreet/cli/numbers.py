"""Numbers as people type them: 0.01, 1e-6, 10_000, 1/3. Exact, and without a sign."""

import re
from fractions import Fraction

from discreet.core import InvalidInput, OutOfRange

#: A decimal number. Digits are ASCII: \d would take those of all scripts.
DECIMAL = re.compile(r"(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?([0-9]+))?")
#: A number with a decimal comma, and points between thousands.
DECIMAL_COMMA = re.compile(r"([0-9]{1,3}(?:\.[0-9]{3}){1,9}|[0-9]{1,30}),([0-9]{1,30})")
#: The longest number that is read, and the most digits of its exponent: 1e999999999 would fill the memory.
MOST_CHARACTERS = 1300
MOST_EXPONENT_DIGITS = 3
EXAMPLES = "such as 2, 0.01, 1e-6 or 1/3"


def match_number(text: str, start: int, name: str) -> tuple[Fraction, int] | None:
    """Return the number that starts at a place of a text, and where it ends; None if none starts there."""
    above = DECIMAL.match(text, start)
    if above is None:
        return None
    value, end = _value(above, name), above.end()
    below = DECIMAL.match(text, end + 1) if text.startswith("/", end) else None
    if below is None:
        return value, end
    divisor = _value(below, name)
    if not divisor:
        raise InvalidInput(f"{name} has a denominator of 0.", fix=f"write a number {EXAMPLES}")
    return value / divisor, below.end()


def read_number(text: str, name: str) -> Fraction:
    """Return the number that a text is, all of it."""
    match = match_number(text, 0, name)
    if match is None or match[1] != len(text):
        comma = DECIMAL_COMMA.fullmatch(text)
        raise InvalidInput(
            f"{name} is not a number.",
            fix=f"write a number without a sign, {EXAMPLES}"
            if comma is None
            else f"write a point, and not a comma: {comma[1].replace('.', '')}.{comma[2]}",
        )
    return match[0]


def read_whole(text: str, name: str) -> int:
    """Return the whole number that a text is; 1e4 is one, too."""
    number = read_number(text, name)
    if number.denominator != 1:
        raise InvalidInput(f"{name} is not a whole number.", fix="write a whole number, such as 1000 or 1e4")
    return number.numerator


def _value(match: re.Match[str], name: str) -> Fraction:
    if len(match[0]) > MOST_CHARACTERS or len(match[1] or "") > MOST_EXPONENT_DIGITS:
        raise OutOfRange(
            f"{name} is a number with too many digits.",
            fix="write a magnitude between 1e-100 and 1e100, in fewer digits",
        )
    return Fraction(match[0])

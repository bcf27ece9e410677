"""Texts that are read as numbers and days. PostgreSQL's own casts raise: so a text is looked at first."""

from fractions import Fraction

from discreet.data.postgres.literals import real
from discreet.data.postgres.numbers import bound

INTEGER_TEXT = r"^ *[+-]?[0-9]{1,15} *$"
REAL_TEXT = r"^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})? *$"
#: Days that there are: of months with 31, with 30 and with 28, and the 29th of February in leap years.
DAYS_OF_MONTHS = "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])"
LEAP_YEARS = "[0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00"
DATE_TEXT = f"^(?!0000)([0-9]{{4}}-({DAYS_OF_MONTHS})|({LEAP_YEARS})-02-29)$"
#: Longer texts are no numbers: PostgreSQL's exact ones end somewhere.
LONGEST = 10_000
#: What is at least as large is no float64; what is no larger than the other is zero.
TOO_LARGE = 2**1024 - 2**970
ZERO = Fraction(1, 2**1075)


def integer_of_text(text: str) -> str:
    """Return a text as an integer, or NULL."""
    return bound(f"(CASE WHEN {{x}} ~ '{in_form(INTEGER_TEXT)}' THEN CAST(btrim({{x}}, ' ') AS bigint) END)", x=text)


def real_of_text(text: str) -> str:
    """Return a text as a float64, or NULL."""
    number = finite_numeric("CAST(btrim({x}, ' ') AS numeric)", "CAST(btrim({x}, ' ') AS float8)")
    fits = f"CASE WHEN char_length({{x}}) <= {LONGEST} THEN {{x}} ~ '{in_form(REAL_TEXT)}' END"
    return bound(f"(CASE WHEN {fits} THEN {number} END)", x=text)


def finite_numeric(exact: str, cast: str) -> str:
    """Return an exact number as a float64: NULL if it is too large or none, and 0 if it is too small."""
    tiny = f"{_digits(ZERO)}::numeric"
    return (
        f"(CASE WHEN abs({exact}) >= '{TOO_LARGE}'::numeric THEN NULL"
        f" WHEN abs({exact}) <= {tiny} THEN {real(0)} ELSE {cast} + {real(0)} END)"
    )


def date_of_text(text: str) -> str:
    """Return a text as a day, or NULL."""
    return bound(f"(CASE WHEN {{x}} ~ '{in_form(DATE_TEXT)}' THEN CAST({{x}} AS date) END)", x=text)


def _digits(number: Fraction) -> str:
    """Return a number in decimal digits, rounded up a little."""
    return f"'{number.numerator * 10**360 // number.denominator + 1}e-360'"


def fitting(text: str, pattern: str, then: str) -> str:
    """Return something of a text if it fits a pattern; else NULL."""
    return f"(CASE WHEN {text} ~ '{pattern}' THEN {then} END)"


def in_form(pattern: str) -> str:
    """Return a pattern as it stands in a form, where braces are doubled."""
    return pattern.replace("{", "{{").replace("}", "}}")

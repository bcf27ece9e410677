"""Arithmetic of float64 that PostgreSQL cannot fail in: its own raises where a result is too large, or too small.

A value that is too large is NULL, one that is too small is 0, as `discreet.algebra.functions` says of all engines. Each
guard tests by numbers that are scaled by powers of two, and so exact, before the operation is done. Guards are CASEs:
what stands beside AND may be computed in any order. The planner computes what is constant beforehand: so each guard
comes before what it guards, and is constant where that is.

Texts that are read as numbers and days are looked at first, because PostgreSQL's own casts raise.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.schema import Kind
from discreet.data.postgres.literals import real

#: Integer arithmetic ends here.
SATURATED = 2**53
#: A result that stays between these is neither infinite nor zero, whatever was rounded on the way.
SURELY_FINITE, SURELY_POSITIVE = 1e308, 1e-300
#: The smallest float64 above zero.
TINIEST = 5e-324
#: A piece up to this length may be written several times. Longer ones are bound to a name.
SHORT = 160
#: The x at which e^x is no longer finite; at which it is the smallest number; at which it is none.
EXP_MOST, EXP_TINY, EXP_LEAST = 709.782712893384, -745.13, -745.1332191019412


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of SQL, its kind, and between which magnitudes its numbers lie that are not zero."""

    text: str
    kind: Kind
    most: float = math.inf
    least: float = TINIEST


def bind_pieces(form: str, **pieces: str) -> str:
    """Return a form in which {a}, {b}, … stand for pieces: written again if short, and otherwise bound to names."""
    long = {name: text for name, text in pieces.items() if len(text) > SHORT}
    if not long:
        return form.format(**pieces)
    alias = f"v{sum(text.count('OFFSET 0') for text in pieces.values())}"
    items = ", ".join(f"{text} AS {name}" for name, text in long.items())
    names = {**pieces, **{name: f"{alias}.{name}" for name in long}}
    # OFFSET keeps the planner from writing them out after all.
    return f"(SELECT {form.format(**names)} FROM (SELECT {items} OFFSET 0) AS {alias})"  # noqa: S608 - our own pieces


def guard_number(text: str, kind: Kind, most: float, least: float = TINIEST) -> Piece:
    """Return a finite float64 as what its kind may be: a clipped integer, or itself."""
    if kind is Kind.REAL:
        return Piece(text, kind, most, least)
    if most > SATURATED:
        # NULL comes through, as the sign of NULL is NULL.
        text = bind_pieces(f"(sign({{x}}) * least(abs({{x}}), {real(SATURATED)}))", x=text)
    return Piece(f"CAST({text} AS bigint)", kind, min(most, float(SATURATED)), 1.0)


def add_pieces(a: Piece, b: Piece, sign: str) -> str:
    """Return a sum or a difference; it overflows if that of the halves does not stay below 2¹⁰²³."""
    plain = f"({{a}} {sign} {{b}})"
    if a.most + b.most < SURELY_FINITE:
        return plain.format(a=a.text, b=b.text)
    # Halves of the smallest numbers would be too small themselves: they are left out, and change nothing.
    parts = [
        f"(CASE WHEN abs({{{name}}}) > {real(1e-300)} THEN {{{name}}} * {real(0.5)} ELSE {real(0)} END)"
        for name in "ab"
    ]
    return bind_pieces(
        f"(CASE WHEN abs({parts[0]} {sign} {parts[1]}) < {real(2.0**1023)} THEN {plain} END)", a=a.text, b=b.text
    )


def multiply_pieces(a: Piece, b: Piece) -> str:
    """Return a product."""
    if a.most * b.most < SURELY_FINITE and a.least * b.least > SURELY_POSITIVE:
        return f"({a.text} * {b.text})"
    down, up, one, few = (real(2.0**power) for power in (-513, 537, 0, -500))
    form = (
        f"(CASE WHEN abs({{a}}) >= {one} AND abs({{b}}) >= {one}"
        f" THEN CASE WHEN abs(({{a}} * {down}) * ({{b}} * {down})) < {real(0.25)} THEN {{a}} * {{b}} END"
        f" WHEN abs({{a}}) >= {one} OR abs({{b}}) >= {one} OR {{a}} = {real(0)} OR {{b}} = {real(0)} THEN {{a}} * {{b}}"
        f" WHEN abs({{a}}) >= {few} AND abs({{b}}) >= {few} THEN {{a}} * {{b}}"
        f" WHEN abs(({{a}} * {up}) * ({{b}} * {up})) <= {real(0.5)} THEN {real(0)} ELSE {{a}} * {{b}} END)"
    )
    return bind_pieces(form, a=a.text, b=b.text)


def divide_pieces(a: Piece, b: Piece, overflow: str = "NULL") -> str:
    """Return a quotient; NULL by zero, and `overflow` where it is too large."""
    if a.most / max(b.least, TINIEST * 2) < SURELY_FINITE and b.most < 2.0**500 and a.least >= 2.0**-500:
        return f"({a.text} / nullif({b.text}, {real(0)}))"
    one, small = real(1), real(2.0**-100)
    quotient, zero = "{a} / {b}", real(0)
    large = f"abs({{a}}) * {real(2.0**-600)} < abs({{b}}) * {real(2.0**424)}"
    tiny = f"abs({{a}}) * {real(2.0**600)} > abs({{b}}) * {real(2.0**-475)}"
    form = (
        f"(CASE WHEN {{a}} IS NULL OR {{b}} IS NULL OR {{b}} = {zero} THEN NULL WHEN {{a}} = {zero} THEN {zero}"
        f" WHEN abs({{b}}) < {one} THEN CASE WHEN abs({{a}}) < {small} THEN {quotient}"
        f" WHEN {large} THEN {quotient} ELSE {overflow} END"
        f" WHEN abs({{a}}) >= {one} THEN {quotient} WHEN {tiny} THEN {quotient} ELSE {zero} END)"
    )
    return bind_pieces(form, a=a.text, b=b.text)


def floor_divide(a: Piece, b: Piece) -> str:
    """Return a quotient, rounded down; where it is too large, one that is clipped later."""
    return f"floor({divide_pieces(a, b, f'sign({{a}}) * sign({{b}}) * {real(1e300)}')})"


def exponential(x: Piece) -> str:
    """Return e^x."""
    form = (
        f"(CASE WHEN {{x}} > {real(EXP_MOST)} THEN NULL WHEN {{x}} <= {real(EXP_LEAST)} THEN {real(0)}"
        f" WHEN {{x}} < {real(EXP_TINY)} THEN {real(TINIEST)} ELSE exp({{x}}) END)"
    )
    return bind_pieces(form, x=x.text)


def raise_to_power(a: Piece, b: Piece) -> str:
    """Return a power; NULL where it has no value. How large it is, is told by b·ln|a|."""
    zero, one = real(0), real(1)
    size = "{b} * ln(abs({a}))"
    form = (
        f"(CASE WHEN {{a}} IS NULL OR {{b}} IS NULL THEN NULL"
        f" WHEN {{b}} = {zero} THEN {one} WHEN {{b}} = {one} THEN {{a}}"
        f" WHEN {{a}} = {zero} THEN CASE WHEN {{b}} > {zero} THEN {zero} END"
        f" WHEN {{a}} < {zero} AND {{b}} <> floor({{b}}) THEN NULL"
        f" WHEN abs({{a}}) = {one} THEN power({{a}}, {{b}})"
        f" WHEN abs({{b}}) > {real(1e30)}"
        f" THEN CASE WHEN ({{b}} > {zero}) = (abs({{a}}) > {one}) THEN NULL ELSE {zero} END"
        f" WHEN abs({{b}}) < {real(1e-30)} THEN {one}"
        f" WHEN {size} >= {real(EXP_MOST - 1e-9)} THEN NULL WHEN {size} <= {real(EXP_LEAST)} THEN {zero}"
        f" WHEN {size} < {real(EXP_TINY)} THEN {real(TINIEST)} ELSE power({{a}}, {{b}}) END)"
    )
    return bind_pieces(form, a=a.text, b=b.text)


def round_to_integer(x: str) -> str:
    """Return the nearest integer, halves away from zero. The digits behind the point are exact."""
    part = f"CASE WHEN abs({{x}} - trunc({{x}})) >= {real(0.5)} THEN sign({{x}}) ELSE {real(0)} END"
    return bind_pieces(f"(trunc({{x}}) + {part})", x=x)


# --- remainders, which PostgreSQL has of exact numbers only ---

#: The bits of a float64 as an integer; its exponent, and its digits in twos.
BITS = "('x' || encode(float8send(abs({{{0}}})), 'hex'))::bit(64)::bigint"


def remainder(a: Piece, b: Piece) -> str:
    """Return C's fmod, exactly: of whole numbers in common steps of 2^e, the smaller of both exponents."""
    names = {f"{side}{part}": text for side in "ab" for part, text in _parts(side).items()}
    split = ", ".join(f"{text} AS {name}" for name, text in names.items())
    steps = "least(z.ae, z.be)"
    whole_a, whole_b = (f"z.{side}m * power(2::numeric, (z.{side}e - {steps})::numeric)" for side in "ab")
    # The remainder has no more digits in twos than b, so that nothing is rounded.
    size = f"CAST(mod(trunc({whole_a}), trunc({whole_b})) AS text)::float8 * power({real(2)}, {steps}::float8)"
    inner = (
        f"(SELECT CASE WHEN abs({{a}}) < abs({{b}}) THEN {{a}} ELSE sign({{a}}) * ({size}) END"  # noqa: S608
        f" FROM (SELECT {split} OFFSET 0) AS z)"
    )
    form = f"(CASE WHEN {{a}} IS NULL OR {{b}} IS NULL OR {{b}} = {real(0)} THEN NULL ELSE {inner} END)"
    return bind_pieces(form, a=a.text, b=b.text)


def _parts(name: str) -> dict[str, str]:
    bits = BITS.format(name)
    digits, exponent = f"({bits} & {2**52 - 1})", f"(({bits} >> 52) & 2047)"
    return {
        "m": f"(CASE WHEN {exponent} = 0 THEN {digits} ELSE {digits} + {2**52} END)::numeric",
        "e": f"(greatest({exponent}, 1) - 1075)",
    }


INTEGER_TEXT = r"^ *[+-]?[0-9]{1,15} *$"
REAL_TEXT = r"^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})? *$"
#: Days that there are: of months with 31, with 30 and with 28, and the 29th of February in leap years.
DAYS_OF_MONTHS = "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])"
LEAP_YEARS = "[0-9][0-9](0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00"
DATE_TEXT = f"^(?!0000)([0-9]{{4}}-({DAYS_OF_MONTHS})|({LEAP_YEARS})-02-29)$"
#: Longer texts are not numbers: PostgreSQL's exact ones end somewhere.
LONGEST = 10_000
#: Numbers at least as large as the first are not float64; those no larger than the second are zero.
TOO_LARGE = 2**1024 - 2**970
ZERO = Fraction(1, 2**1075)


def integer_of_text(text: str) -> str:
    """Return a text as an integer, or NULL."""
    return bind_pieces(
        f"(CASE WHEN {{x}} ~ '{in_form(INTEGER_TEXT)}' THEN CAST(btrim({{x}}, ' ') AS bigint) END)", x=text
    )


def real_of_text(text: str) -> str:
    """Return a text as a float64, or NULL."""
    number = finite_numeric("CAST(btrim({x}, ' ') AS numeric)", "CAST(btrim({x}, ' ') AS float8)")
    fits = f"CASE WHEN char_length({{x}}) <= {LONGEST} THEN {{x}} ~ '{in_form(REAL_TEXT)}' END"
    return bind_pieces(f"(CASE WHEN {fits} THEN {number} END)", x=text)


def finite_numeric(exact: str, cast: str) -> str:
    """Return an exact number as a float64: NULL if it is too large or none, and 0 if it is too small."""
    tiny = f"{_digits(ZERO)}::numeric"
    return (
        f"(CASE WHEN abs({exact}) >= '{TOO_LARGE}'::numeric THEN NULL"
        f" WHEN abs({exact}) <= {tiny} THEN {real(0)} ELSE {cast} + {real(0)} END)"
    )


def date_of_text(text: str) -> str:
    """Return a text as a day, or NULL."""
    return bind_pieces(f"(CASE WHEN {{x}} ~ '{in_form(DATE_TEXT)}' THEN CAST({{x}} AS date) END)", x=text)


def _digits(number: Fraction) -> str:
    """Return a number in decimal digits, rounded up a little."""
    return f"'{number.numerator * 10**360 // number.denominator + 1}e-360'"


def fitting(text: str, pattern: str, then: str) -> str:
    """Return something of a text if it fits a pattern; else NULL."""
    return f"(CASE WHEN {text} ~ '{pattern}' THEN {then} END)"


def in_form(pattern: str) -> str:
    """Return a pattern as it stands in a form, where braces are doubled."""
    return pattern.replace("{", "{{").replace("}", "}}")

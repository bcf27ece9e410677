"""Arithmetic of float64 that PostgreSQL cannot fail in: its own raises where a result is too large, or too small.

What is too large is NULL, what is too small is 0, as `discreet.algebra.functions` says of all engines. Each guard tests
by numbers that are scaled by powers of two, and so exact, before the operation is done. Guards are CASEs: what stands
beside AND may be computed in any order. The planner computes what is constant beforehand: so each guard comes before
what it guards, and is constant where that is.
"""

import math
from dataclasses import dataclass

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
#: Where e^x is no longer finite; where it is the smallest number there is; where it is none.
EXP_MOST, EXP_TINY, EXP_LEAST = 709.782712893384, -745.13, -745.1332191019412


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of SQL, its kind, and between which magnitudes its numbers lie that are not zero."""

    text: str
    kind: Kind
    most: float = math.inf
    least: float = TINIEST


def bound(form: str, **pieces: str) -> str:
    """Return a form in which {a}, {b}, … stand for pieces: written again if short, and otherwise bound to names."""
    long = {name: text for name, text in pieces.items() if len(text) > SHORT}
    if not long:
        return form.format(**pieces)
    alias = f"v{sum(text.count('OFFSET 0') for text in pieces.values())}"
    items = ", ".join(f"{text} AS {name}" for name, text in long.items())
    names = {**pieces, **{name: f"{alias}.{name}" for name in long}}
    # OFFSET keeps the planner from writing them out after all.
    return f"(SELECT {form.format(**names)} FROM (SELECT {items} OFFSET 0) AS {alias})"  # noqa: S608 - our own pieces


def settled(text: str, kind: Kind, most: float, least: float = TINIEST) -> Piece:
    """Return a finite float64 as what its kind may be: a clipped integer, or itself."""
    if kind is Kind.REAL:
        return Piece(text, kind, most, least)
    if most > SATURATED:
        # NULL comes through, as the sign of NULL is NULL.
        text = bound(f"(sign({{x}}) * least(abs({{x}}), {real(SATURATED)}))", x=text)
    return Piece(f"CAST({text} AS bigint)", kind, min(most, float(SATURATED)), 1.0)


def added(a: Piece, b: Piece, sign: str) -> str:
    """Return a sum or a difference; it overflows if that of the halves does not stay below 2¹⁰²³."""
    plain = f"({{a}} {sign} {{b}})"
    if a.most + b.most < SURELY_FINITE:
        return plain.format(a=a.text, b=b.text)
    # Halves of the smallest numbers would be too small themselves: they are left out, and change nothing.
    parts = [
        f"(CASE WHEN abs({{{name}}}) > {real(1e-300)} THEN {{{name}}} * {real(0.5)} ELSE {real(0)} END)"
        for name in "ab"
    ]
    return bound(
        f"(CASE WHEN abs({parts[0]} {sign} {parts[1]}) < {real(2.0**1023)} THEN {plain} END)", a=a.text, b=b.text
    )


def multiplied(a: Piece, b: Piece) -> str:
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
    return bound(form, a=a.text, b=b.text)


def divided(a: Piece, b: Piece, overflow: str = "NULL") -> str:
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
    return bound(form, a=a.text, b=b.text)


def floor_divided(a: Piece, b: Piece) -> str:
    """Return a quotient, rounded down; where it is too large, one that is clipped later."""
    return f"floor({divided(a, b, f'sign({{a}}) * sign({{b}}) * {real(1e300)}')})"


def exponential(x: Piece) -> str:
    """Return e^x."""
    form = (
        f"(CASE WHEN {{x}} > {real(EXP_MOST)} THEN NULL WHEN {{x}} <= {real(EXP_LEAST)} THEN {real(0)}"
        f" WHEN {{x}} < {real(EXP_TINY)} THEN {real(TINIEST)} ELSE exp({{x}}) END)"
    )
    return bound(form, x=x.text)


def raised(a: Piece, b: Piece) -> str:
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
    return bound(form, a=a.text, b=b.text)


def rounded(x: str) -> str:
    """Return the nearest integer, halves away from zero. What is behind the point is exact."""
    part = f"CASE WHEN abs({{x}} - trunc({{x}})) >= {real(0.5)} THEN sign({{x}}) ELSE {real(0)} END"
    return bound(f"(trunc({{x}}) + {part})", x=x)


# --- remainders, which PostgreSQL has of exact numbers only ---

#: The bits of a float64 as an integer; its exponent, and its digits in twos.
BITS = "('x' || encode(float8send(abs({{{0}}})), 'hex'))::bit(64)::bigint"


def remainder(a: Piece, b: Piece) -> str:
    """Return C's fmod, exactly: of whole numbers in common steps of 2^e, the smaller of both exponents."""
    names = {f"{one}{part}": text for one in "ab" for part, text in _parts(one).items()}
    split = ", ".join(f"{text} AS {name}" for name, text in names.items())
    steps = "least(z.ae, z.be)"
    whole_a, whole_b = (f"z.{one}m * power(2::numeric, (z.{one}e - {steps})::numeric)" for one in "ab")
    # The remainder has no more digits in twos than b, so that nothing is rounded.
    size = f"CAST(mod(trunc({whole_a}), trunc({whole_b})) AS text)::float8 * power({real(2)}, {steps}::float8)"
    inner = (
        f"(SELECT CASE WHEN abs({{a}}) < abs({{b}}) THEN {{a}} ELSE sign({{a}}) * ({size}) END"  # noqa: S608
        f" FROM (SELECT {split} OFFSET 0) AS z)"
    )
    form = f"(CASE WHEN {{a}} IS NULL OR {{b}} IS NULL OR {{b}} = {real(0)} THEN NULL ELSE {inner} END)"
    return bound(form, a=a.text, b=b.text)


def _parts(name: str) -> dict[str, str]:
    bits = BITS.format(name)
    digits, exponent = f"({bits} & {2**52 - 1})", f"(({bits} >> 52) & 2047)"
    return {
        "m": f"(CASE WHEN {exponent} = 0 THEN {digits} ELSE {digits} + {2**52} END)::numeric",
        "e": f"(greatest({exponent}, 1) - 1075)",
    }

"""Functions of texts that are others put together: padding, searching, splitting, and choices by value."""

import math
from collections.abc import Callable, Sequence

from discreet.algebra.expressions import Case, Expression, Literal, is_null
from discreet.algebra.functions import F
from discreet.core.schema import Kind
from discreet.query.names import TRUNCATIONS
from discreet.query.sql.row_functions.constants import with_days
from discreet.query.sql.row_functions.date_functions import Make

#: Texts are padded to at most so many letters, and repeated at most so often.
MOST_PADDED, MOST_REPEATED = 1_000, 10
#: Kinds that have one text in all databases.
WRITTEN_ALIKE = (Kind.TEXT, Kind.INTEGER, Kind.DATE)
MOST_DIGITS = 12


def write_value(value: Expression, make: Make) -> Expression | None:
    """Return a value as a text, if it has the same in all databases."""
    if value.kind not in WRITTEN_ALIKE:
        return None
    return value if value.kind is Kind.TEXT else make(F.TO_TEXT, value)


def build_left_padding(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return LPAD(text, length, letter): with a letter before it, or cut to its first letters."""
    found = _read_padding(arguments, make)
    if found is None or len(found[2]) != 1:
        return None
    text, length, letter = found
    padded = make(F.RIGHT, make(F.CONCAT, Literal.of(letter * length), text), Literal.of(length))
    cut = make(F.SUBSTRING, text, Literal.of(1), Literal.of(length))
    return Case(((make(F.LT, make(F.LENGTH, text), Literal.of(length)), padded),), cut)


def build_right_padding(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return RPAD(text, length, more): with more behind it, or cut to its first letters."""
    found = _read_padding(arguments, make)
    if found is None:
        return None
    text, length, more = found
    fill = Literal.of((more * length)[:length])
    return make(F.SUBSTRING, make(F.CONCAT, text, fill), Literal.of(1), Literal.of(length))


def _read_padding(arguments: Sequence[Expression], make: Make) -> tuple[Expression, int, str] | None:
    match arguments:
        case [value, Literal(value=int() as length, kind=Kind.INTEGER), Literal(value=str() as letter)]:
            text = write_value(value, make)
        case [value, Literal(value=int() as length, kind=Kind.INTEGER)]:
            text, letter = write_value(value, make), " "
        case _:
            return None
    return None if text is None or not letter or not 1 <= length <= MOST_PADDED else (text, length, letter)


def build_split(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return SPLIT_PART(text, '-', 1)."""
    match arguments:
        case [text, Literal(value=str() as part), Literal(value=int() as number, kind=Kind.INTEGER)] if (
            part and number >= 1
        ):
            return make(F.SPLIT_PART, text, arguments[1], arguments[2])
        case _:
            return None


def build_position(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return STRPOS(text, 'a')."""
    match arguments:
        case [text, Literal(value=str() as part)] if part:
            return make(F.POSITION, text, arguments[1])
        case _:
            return None


def build_location(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return LOCATE('a', text), in which the two stand the other way round."""
    return build_position(arguments[::-1], make) if len(arguments) == 2 else None


def build_inside(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return CONTAINS(text, 'a')."""
    found = build_position(arguments, make)
    return None if found is None else make(F.GT, found, Literal.of(0))


def build_ending(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return ENDS_WITH(text, 'a')."""
    match arguments:
        case [text, Literal(value=str() as end)] if end:
            return make(F.EQ, make(F.RIGHT, text, Literal.of(len(end))), arguments[1])
        case _:
            return None


def build_repetition(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return REPEAT(text, 3)."""
    match arguments:
        case [text, Literal(value=int() as times, kind=Kind.INTEGER)] if 1 <= times <= MOST_REPEATED:
            return text if times == 1 else make(F.CONCAT, *[text] * times)
        case _:
            return None


def build_translation(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return TRANSLATE(text, 'abc', 'xy'): letters in place of others, one by one.

    Replaced one after another they are the same, if no letter is put in that is taken out as well.
    """
    match arguments:
        case [text, Literal(value=str() as old), Literal(value=str() as new)] if old and not set(old) & set(new):
            others = {letter: new[place : place + 1] for place, letter in reversed([*enumerate(old)])}
            for letter, other in others.items():
                text = make(F.REPLACE, text, Literal.of(letter), Literal.of(other))
            return text
        case _:
            return None


def build_truncated(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return TRUNC(x) and TRUNC(x, 2), towards zero; of days, TRUNC(day, 'month')."""
    match arguments:
        case [value] if value.kind.numeric:
            return _cut_to_digits(value, 0, make)
        case [value, Literal(value=int() as digits, kind=Kind.INTEGER)] if (
            value.kind.numeric and 0 <= digits <= MOST_DIGITS
        ):
            return _cut_to_digits(value, digits, make)
        case [value, Literal(value=str() as unit)] if value.kind.temporal and unit.upper() in TRUNCATIONS:
            return make(TRUNCATIONS[unit.upper()], value)
        case _:
            return None


def _cut_to_digits(value: Expression, digits: int, make: Make) -> Expression:
    shift = Literal.of(10**digits)
    moved = value if digits == 0 else make(F.MULTIPLY, value, shift)
    cut = Case(((make(F.GE, value, Literal.of(0)), make(F.FLOOR, moved)),), make(F.CEIL, moved))
    return cut if digits == 0 else make(F.DIVIDE, cut, shift)


def build_pi(arguments: Sequence[Expression], _make: Make) -> Expression | None:
    """Return PI()."""
    return None if arguments else Literal.of(math.pi)


def build_radians(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return degrees as radians."""
    return make(F.MULTIPLY, arguments[0], Literal.of(math.pi / 180)) if len(arguments) == 1 else None


def build_degrees(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return radians as degrees."""
    return make(F.MULTIPLY, arguments[0], Literal.of(180 / math.pi)) if len(arguments) == 1 else None


def build_division(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return a quotient, which is NULL where it has none."""
    return make(F.DIVIDE, *arguments) if len(arguments) == 2 else None


def build_null_test(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return ISNULL(a): whether it is; ISNULL(a, b) is COALESCE."""
    match arguments:
        case [value]:
            return make(F.IS_NULL, value)
        case [_, _]:
            return make(F.COALESCE, *arguments)
        case _:
            return None


def build_null_choice(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return NVL2(x, a, b): a where x has a value, and b where it has none."""
    if len(arguments) != 3:
        return None
    then, otherwise = with_days(tuple(arguments[1:]))
    last = None if is_null(otherwise) else otherwise
    return Case(((make(F.NOT, make(F.IS_NULL, arguments[0])), then),), last)


def build_decoding(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return DECODE(x, 1, 'a', 2, 'b', 'c'): the value beside the first constant that x is. NULL is one, too."""
    if len(arguments) < 3:
        return None
    value, *rest = arguments
    keys, values = rest[: len(rest) // 2 * 2 : 2], rest[1::2]
    if not all(isinstance(key, Literal) for key in keys):
        return None
    tests = [make(F.IS_NULL, value) if is_null(key) else make(F.EQ, value, key) for key in keys]
    chosen = with_days((*values[: len(keys)], *(rest[-1:] if len(rest) % 2 else ())))
    last = chosen[-1] if len(rest) % 2 and not is_null(chosen[-1]) else None
    return Case(tuple(zip(tests, chosen, strict=False)), last)


def build_choice(arguments: Sequence[Expression], make: Make) -> Expression | None:
    """Return CHOOSE(n, a, b): the first value, or the second."""
    if len(arguments) < 2 or arguments[0].kind is not Kind.INTEGER:
        return None
    number, *values = arguments
    tests = (make(F.EQ, number, Literal.of(place)) for place in range(1, len(values) + 1))
    return Case(tuple(zip(tests, with_days(tuple(values)), strict=True)), None)


TEXT_CALLS: dict[str, Callable[[Sequence[Expression], Make], Expression | None]] = {
    "LPAD": build_left_padding,
    "RPAD": build_right_padding,
    "SPLIT_PART": build_split,
    "STRPOS": build_position,
    "INSTR": build_position,
    "LOCATE": build_location,
    "CHARINDEX": build_location,
    "CONTAINS": build_inside,
    "ENDS_WITH": build_ending,
    "SUFFIX": build_ending,
    "REPEAT": build_repetition,
    "TRANSLATE": build_translation,
    "TRUNC": build_truncated,
    "PI": build_pi,
    "RADIANS": build_radians,
    "DEGREES": build_degrees,
    "SAFE_DIVIDE": build_division,
    "TRY_DIVIDE": build_division,
    "ISNULL": build_null_test,
    "NVL2": build_null_choice,
    "DECODE": build_decoding,
    "CHOOSE": build_choice,
}
SEARCHING = "write STRPOS(text, 'a') or POSITION('a' IN text) with a constant text that is not empty"
PADDING = f"with a length from 1 to {MOST_PADDED:,}"
TEXT_USAGE: dict[str, str] = {
    "LPAD": f"write LPAD(text, 5, '0'), {PADDING} and one letter",
    "RPAD": f"write RPAD(text, 5, ' '), {PADDING} and a constant text",
    "SPLIT_PART": "write SPLIT_PART(text, '-', 1) with a constant text that is not empty, and a number of 1 or more",
    "STRPOS": SEARCHING,
    "INSTR": SEARCHING,
    "LOCATE": SEARCHING,
    "CHARINDEX": SEARCHING,
    "CONTAINS": "write CONTAINS(text, 'a') with a constant text that is not empty, or text LIKE '%a%'",
    "ENDS_WITH": "write ENDS_WITH(text, 'a') with a constant text that is not empty, or text LIKE '%a'",
    "SUFFIX": "write ENDS_WITH(text, 'a') with a constant text that is not empty, or text LIKE '%a'",
    "REPEAT": f"write REPEAT(text, 3) with a number from 1 to {MOST_REPEATED}",
    "TRANSLATE": "write TRANSLATE(text, 'abc', 'xyz') with constants that have no letter in common, or REPLACE, which "
    "takes one after another",
    "TRUNC": f"write TRUNC(x), TRUNC(x, 2) with a number of digits from 0 to {MOST_DIGITS}, or TRUNC(day, 'month')",
    "PI": "write PI()",
    "RADIANS": "write RADIANS(x)",
    "DEGREES": "write DEGREES(x)",
    "SAFE_DIVIDE": "write a / b, which is NULL where b is 0",
    "TRY_DIVIDE": "write a / b, which is NULL where b is 0",
    "ISNULL": "write COALESCE(a, b), or a IS NULL",
    "NVL2": "write CASE WHEN x IS NOT NULL THEN a ELSE b END",
    "DECODE": "write DECODE(x, 1, 'a', 2, 'b', 'other') with constants to compare with, or CASE x WHEN 1 THEN … END",
    "CHOOSE": "write CHOOSE(n, a, b) with a whole number first, or CASE n WHEN 1 THEN … END",
}

"""Numbers and sentences for people. A text is a promise, too: upper bounds are rounded up, lower ones down."""

import math
from fractions import Fraction

from discreet.accounting import Group, PrivacyLoss, neighbours_of
from discreet.core import Neighbours, exp_up, round_up
from discreet.core.exact import nearest_float, text_up

#: e to more than this is not worked out for a reader.
STEEP = 10
#: Exact numbers with more characters than this are shown to a few digits.
SHORT = 18

HOW_THEY_DIFFER = {
    Neighbours.ADD_REMOVE: "add/remove: one of the two tables has one person's rows more",
    Neighbours.REPLACE: "replace: one person's rows are exchanged for others; how many people there are is public",
    None: "those that the sensitivities were stated for",
}


def format_exact(number: Fraction) -> str:
    """Return an exact number as a decimal where that is short, else as a fraction; both can be typed again."""
    if number.denominator == 1:
        return str(number)
    decimal = repr(nearest_float(number))
    return decimal if Fraction(decimal) == number else str(number)


def shorten(number: Fraction) -> str:
    """Return an exact number if it is short, else to a few digits, rounded up."""
    text = format_exact(number)
    return text if len(text) <= SHORT else text_up(round_up(number))


def percent(number: float) -> str:
    """Return a probability in per cent, rounded up."""
    return f"{text_up(round_up(100 * Fraction(repr(number))), 4)} %"


def factor(epsilon: float) -> str:
    """Return e^ε, rounded up, or its formula where the number would tell nothing."""
    return text_up(round_up(exp_up(Fraction(repr(epsilon)))), 3) if epsilon <= STEEP else f"e^{text_up(epsilon)}"


def neighbours(loss: PrivacyLoss) -> str:
    """Return which two tables the promise is about."""
    text = HOW_THEY_DIFFER[neighbours_of(loss)]
    return f"{text}; and so up to {loss.size} times, for a group" if isinstance(loss, Group) else text


def sentence(epsilon: float, delta: Fraction) -> str:
    """Return the promise in words."""
    if math.isinf(epsilon) or delta >= 1:
        return "In words: there is no guarantee."
    beside = f", plus {shorten(delta)}" if delta else ""
    if not epsilon:
        apart = f", give or take {shorten(delta)}" if delta else ""
        return f"In words: every event has the same probability on two neighbouring tables{apart}."
    return (
        "In words: the probability of any event on one of two neighbouring tables is at most\n"
        f"{factor(epsilon)} times that on the other{beside}."
    )


def columns(rows: list[list[str]], gap: int = 2) -> list[str]:
    """Return rows of texts, aligned on the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (" " * gap).join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]

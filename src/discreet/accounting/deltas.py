"""Rules for δ: it must be far below one in the number of people.

A mechanism that publishes each person's row with probability δ, and nothing else, is (0, δ)-differentially private. Of
n people it exposes n·δ on average, and with δ = 1/n it may as well publish one row drawn at random. So a δ near 1/n
promises nothing (Dwork, Roth 2014, Section 2.3). Customary advice is n^−1.1 or less (Ponomareva and others 2023).
"""

import math
from decimal import ROUND_DOWN, Context
from fractions import Fraction

from discreet.core import InvalidInput, Number, exact, round_up, whole

#: No table has more people than this; a larger number is a typing error.
MOST_PEOPLE = 10**18


def advised_delta(people: int) -> float:
    """Return the largest float δ with δ ≤ n^−1.1, in binary and by its text, for n people.

    Guarantee: δ^10·n^11 ≤ 1, decided in integers, and no larger float has that. At this δ the mechanism above still
    exposes somebody with probability up to n^−0.1, which is 1/4 for a million people: it is the most to choose, not
    the best.
    """
    count = _count(people)
    result = math.nextafter(float(count) ** -1.1 * (1 + 1e-14), math.inf)  # above the root: pow errs by less
    while not _is_far_below(max(exact(result, "delta"), Fraction(result)), count):
        result = math.nextafter(result, 0)
    return result


def need_delta(delta: Number, people: int) -> Fraction:
    """Return the exact δ if it is far below one in the number of people, else refuse it with the reason.

    Guarantee: the result is 0 or at most n^−1.1, exactly. `people` is a public number: the message states it. If the
    count itself is private, pass a public upper bound on it, which is the safe side.
    """
    count, exactly = _count(people), exact(delta, "delta")
    if not 0 <= exactly < 1:
        raise InvalidInput("delta must lie in [0, 1).", fix="pass delta=0, or a small one such as 1e-9")
    if not _is_far_below(exactly, count):
        most = float(Context(prec=2, rounding=ROUND_DOWN).create_decimal(repr(advised_delta(count))))
        raise InvalidInput(
            f"delta = {_show(exactly)} is not far below 1/n for n = {people} people: a mechanism may then publish "
            f"rows outright, each with probability delta, which exposes {_show(people * exactly)} of them on average.",
            fix=f"pass delta={most!r} (about n^-1.1) or less, or delta=0 where the mechanism allows it",
        )
    return exactly


def _is_far_below(delta: Fraction, count: int) -> bool:
    """Return whether δ ≤ n^−1.1, in integers: no float has to be trusted on which side it falls."""
    return delta.numerator**10 * count**11 <= delta.denominator**10


def _count(people: int) -> int:
    # One person alone counts as two, or the rule would allow δ = 1.
    return max(2, whole(people, "people", most=MOST_PEOPLE))


def _show(number: Fraction) -> str:
    return f"{round_up(number):.3g}"

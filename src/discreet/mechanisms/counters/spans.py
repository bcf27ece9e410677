"""Readings of a counter: the counts of stretches of steps, with their errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.core import InvalidInput, Number, WrongType, probability, whole
from discreet.mechanisms.counters.errors import ROUNDING, Floats

#: Steps from the first number up to, and without, the second.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts of stretches of steps, and how far off each may be."""

    values: Floats
    errors: Floats


def add_rounding_error(values: Floats, radii: Floats) -> Counted:
    """Return counts with errors that make room for the floats they were added up in."""
    return Counted(values, radii + ROUNDING * abs(values))


def need_released(released: object, sizes: Sequence[int]) -> list[Sequence[int]]:
    """Return what was released at the first steps, if there is as much of it as there should be."""
    if not isinstance(released, Sequence) or isinstance(released, str | bytes):
        raise WrongType("released is not a list.", fix="pass one list of whole numbers for each step so far")
    known = list(released)
    if (
        not known
        or len(known) > len(sizes)
        or any(len(values) != size for values, size in zip(known, sizes, strict=False))
    ):
        raise InvalidInput(
            "This was not released by this counter.", fix="pass what measure returned at steps 0, 1, 2, …, in order"
        )
    return known


def need_spans(spans: Iterable[Span] | None, known: int) -> list[Span]:
    """Return the stretches that are asked for: all that begin at 0, if nobody says."""
    if spans is None:
        return [(0, end) for end in range(1, known + 1)]
    wanted = [(whole(begin, "begin", least=0), whole(end, "end", most=known)) for begin, end in spans]
    if not wanted or any(begin >= end for begin, end in wanted):
        raise InvalidInput("A span has no step in it.", fix="pass spans such as (0, 7): steps 0 to 6")
    return wanted


def risk_each(confidence: Number, spans: Sequence[Span], together: bool) -> float:  # noqa: FBT001 - one of the two
    """Return how often one span may err: by the union bound, if all are to hold together."""
    risk = float(1 - probability(confidence, "confidence"))
    return risk / len(spans) if together else risk

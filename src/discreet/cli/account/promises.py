"""Shows what a loss promises: points of its privacy curve, lower bounds, the promise in words."""

import math
from fractions import Fraction

from discreet.accounting import PrivacyLoss, advised_delta, bracket_delta, delta, epsilon, need_delta
from discreet.cli.formatting import format_exact, sentence, shorten
from discreet.cli.output import Fact, exact_facts
from discreet.core import InvalidInput, round_up
from discreet.core.exact import text_down, text_up

#: Far below one in any number of people, and perhaps too small for an exact number.
NEGLIGIBLE = 1e-90
NONE_KNOWN = "none is known for this loss"


def curve_point(loss: PrivacyLoss, target: Fraction, *, inwards: bool) -> dict[str, Fact]:
    """Return δ at one ε, for a program; with a lower bound if it is wanted."""
    both = bracket_delta(loss, target) if inwards else None
    upper = delta(loss, target) if both is None else both.upper
    lower = None if both is None else both.lower
    return {**exact_facts("epsilon", target, round_up(target)), "delta": upper, "delta_lower": lower}


def point_row(target: Fraction, point: dict[str, Fact]) -> list[str]:
    """Return δ at one ε, for a person."""
    upper, lower = point["delta"], point["delta_lower"]
    shown_bounds = [text_up(upper)] if isinstance(upper, float) else []
    return [format_exact(target), *shown_bounds, *([text_down(lower)] if isinstance(lower, float) else [])]


def lower_row(lower: float | None, upper: float) -> list[list[str]]:
    """Return the row of a lower bound, if one was computed."""
    if lower is None:
        return []
    known = (
        f"{text_down(lower)}: less would be false for the worst case of this loss" if lower or not upper else NONE_KNOWN
    )
    return [["at least", known]]


def ending_lines(epsilon_bound: float, allowed: Fraction) -> list[str]:
    """Return the promise in words, or why there is none."""
    if not math.isinf(epsilon_bound):
        return [sentence(epsilon_bound, allowed)]
    if not allowed:
        return ["No ε is promised at δ = 0. Most noise has one at every δ above: try --delta 1e-9."]
    return [f"No ε is promised at δ = {shorten(allowed)}: what can go wrong is more likely. Try a larger --delta."]


def need_far_below(loss: PrivacyLoss, delta_bound: float, people: int) -> None:
    """Refuse a δ that is not far below one in the number of people."""
    if delta_bound < NEGLIGIBLE:
        return
    try:
        need_delta(min(delta_bound, math.nextafter(1.0, 0)), people)
    except InvalidInput as error:
        most = advised_delta(people)
        enough = epsilon(loss, most)
        fix = f"ask at ε = {text_up(enough)} or more" if math.isfinite(enough) else "take a loss with less δ of its own"
        raise InvalidInput(
            error.problem, fix=f"{fix}: δ may be {text_down(most, 3)} at most for so many people"
        ) from error

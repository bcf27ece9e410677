"""The verbs that ask what a loss promises: epsilon, delta, curve."""

import math
from argparse import Namespace
from fractions import Fraction

from discreet.accounting import PrivacyLoss, advised_delta, bracket, bracket_delta, delta, epsilon, need_delta
from discreet.cli import series
from discreet.cli.answers import Answer, Fact, bound, exactly
from discreet.cli.typed import read_number
from discreet.cli.wanted import delta_facts, delta_of, epsilon_of, loss_facts, loss_of, people_of
from discreet.cli.words import columns, neighbours, plain, sentence, shown
from discreet.core import InvalidInput, exact, round_up
from discreet.core.exact import text_down, text_up

#: Far below one in any number of people, and perhaps too small for an exact number.
NEGLIGIBLE = 1e-90
NONE_KNOWN = "none is known for this loss"


def answer_epsilon(arguments: Namespace) -> Answer:
    """Answer which ε a loss promises at a δ."""
    loss, allowed = loss_of(arguments), delta_of(arguments)
    both = bracket(loss, allowed) if arguments.bracket else None
    found = epsilon(loss, allowed) if both is None else both.upper
    lower = None if both is None else both.lower
    facts = {
        **loss_facts(loss),
        **bound("epsilon", found),
        "epsilon_lower": lower,
        **delta_facts(allowed, people_of(arguments)),
    }
    rows = [["epsilon", f"{text_up(found)} at δ = {shown(allowed)}"], *_lower_row(lower, found)]
    rows.append(["neighbours", neighbours(loss)])
    return Answer("epsilon", facts, (*columns(rows), "", *_ending(found, allowed)))


def answer_delta(arguments: Namespace) -> Answer:
    """Answer which δ a loss promises at an ε."""
    loss, target, people = loss_of(arguments), epsilon_of(arguments), people_of(arguments)
    both = bracket_delta(loss, target) if arguments.bracket else None
    found = delta(loss, target) if both is None else both.upper
    if people is not None:
        _need_far_below(loss, found, people)
    lower = None if both is None else both.lower
    facts = {
        **loss_facts(loss),
        **exactly("epsilon", target, round_up(target)),
        "delta": found,
        "delta_lower": lower,
        "people": people,
    }
    rows = [["delta", f"{text_up(found)} at ε = {shown(target)}"], *_lower_row(lower, found)]
    rows.append(["neighbours", neighbours(loss)])
    return Answer("delta", facts, (*columns(rows), "", sentence(round_up(target), Fraction(found))))


def answer_curve(arguments: Namespace) -> Answer:
    """Answer the promise of a loss at several ε, and draw it if that is asked."""
    loss = loss_of(arguments)
    if arguments.epsilons is None:
        targets = series.sensible_epsilons(loss, 8)
    else:
        targets = [exact(read_number(text, "--epsilons"), "--epsilons") for text in arguments.epsilons]
    points = [_point(loss, target, inwards=arguments.bracket) for target in targets]
    if arguments.picture is not None:
        from discreet.cli import drawing  # noqa: PLC0415 (matplotlib is an extra)

        drawing.draw_curve_of(arguments, loss, arguments.picture)
    facts: dict[str, Fact] = {**loss_facts(loss), "points": list(points), "picture": arguments.picture}
    title = ["epsilon", "delta", "at least"] if arguments.bracket else ["epsilon", "delta"]
    rows = [title, *(_row(target, point) for target, point in zip(targets, points, strict=True))]
    drawn = () if arguments.picture is None else (f"picture: {arguments.picture}",)
    return Answer("curve", facts, (*columns(rows), "", f"neighbours  {neighbours(loss)}", *drawn))


def _point(loss: PrivacyLoss, target: Fraction, *, inwards: bool) -> dict[str, Fact]:
    both = bracket_delta(loss, target) if inwards else None
    found = delta(loss, target) if both is None else both.upper
    lower = None if both is None else both.lower
    return {**exactly("epsilon", target, round_up(target)), "delta": found, "delta_lower": lower}


def _row(target: Fraction, point: dict[str, Fact]) -> list[str]:
    found, lower = point["delta"], point["delta_lower"]
    shown_bounds = [text_up(found)] if isinstance(found, float) else []
    return [plain(target), *shown_bounds, *([text_down(lower)] if isinstance(lower, float) else [])]


def _lower_row(lower: float | None, upper: float) -> list[list[str]]:
    if lower is None:
        return []
    known = (
        f"{text_down(lower)}: less would be false for the worst case of this loss" if lower or not upper else NONE_KNOWN
    )
    return [["at least", known]]


def _ending(found: float, allowed: Fraction) -> list[str]:
    if not math.isinf(found):
        return [sentence(found, allowed)]
    if not allowed:
        return ["No ε is promised at δ = 0. Most noise has one at every δ above: try --delta 1e-9."]
    return [f"No ε is promised at δ = {shown(allowed)}: what can go wrong is more likely. Try a larger --delta."]


def _need_far_below(loss: PrivacyLoss, found: float, people: int) -> None:
    if found < NEGLIGIBLE:
        return
    try:
        need_delta(min(found, math.nextafter(1.0, 0)), people)
    except InvalidInput as error:
        most = advised_delta(people)
        enough = epsilon(loss, most)
        fix = f"ask at ε = {text_up(enough)} or more" if math.isfinite(enough) else "take a loss with less δ of its own"
        raise InvalidInput(
            error.problem, fix=f"{fix}: δ may be {text_down(most, 3)} at most for so many people"
        ) from error

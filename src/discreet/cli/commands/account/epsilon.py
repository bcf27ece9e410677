"""`discreet account epsilon`, `delta` and `curve`: what a privacy loss promises."""

from fractions import Fraction

from discreet.cli.commands.account import LOSS, delta, loss, people
from discreet.cli.numbers import read_number
from discreet.cli.output import CommandOutput, Fact, bound_facts, exact_facts
from discreet.cli.parsing import JSON, Arguments, command, flag, option
from discreet.core import exact, round_up
from discreet.core.exact import text_up


@command("epsilon", "Which ε does a loss promise at a δ?", epilog=f"{LOSS}\n{JSON}")
@loss
@delta
@flag("--bracket", "also compute a lower bound: a smaller ε would be false")
def epsilon_command(arguments: Arguments) -> CommandOutput:
    """Answer which ε a loss promises at a δ."""
    from discreet.accounting import bracket, epsilon
    from discreet.cli.account.promises import ending_lines, lower_row
    from discreet.cli.account.targets import delta_facts, delta_of, loss_facts, loss_of, people_of
    from discreet.cli.formatting import columns, neighbours, shorten

    loss, allowed = loss_of(arguments), delta_of(arguments)
    both = bracket(loss, allowed) if arguments.bracket else None
    upper = epsilon(loss, allowed) if both is None else both.upper
    lower = None if both is None else both.lower
    facts = {
        **loss_facts(loss),
        **bound_facts("epsilon", upper),
        "epsilon_lower": lower,
        **delta_facts(allowed, people_of(arguments)),
    }
    rows = [["epsilon", f"{text_up(upper)} at δ = {shorten(allowed)}"], *lower_row(lower, upper)]
    rows.append(["neighbours", neighbours(loss)])
    return CommandOutput("epsilon", facts, (*columns(rows), "", *ending_lines(upper, allowed)))


@command("delta", "Which δ does a loss promise at an ε?", epilog=f"{LOSS}\n{JSON}")
@loss
@option("--epsilon", "E", "the ε", required=True)
@people
@flag("--bracket", "also compute a lower bound: a smaller δ would be false")
def delta_command(arguments: Arguments) -> CommandOutput:
    """Answer which δ a loss promises at an ε."""
    from discreet.accounting import bracket_delta, delta
    from discreet.cli.account.promises import lower_row, need_far_below
    from discreet.cli.account.targets import epsilon_of, loss_facts, loss_of, people_of
    from discreet.cli.formatting import columns, neighbours, sentence, shorten

    loss, target, people = loss_of(arguments), epsilon_of(arguments), people_of(arguments)
    both = bracket_delta(loss, target) if arguments.bracket else None
    upper = delta(loss, target) if both is None else both.upper
    if people is not None:
        need_far_below(loss, upper, people)
    lower = None if both is None else both.lower
    facts = {
        **loss_facts(loss),
        **exact_facts("epsilon", target, round_up(target)),
        "delta": upper,
        "delta_lower": lower,
        "people": people,
    }
    rows = [["delta", f"{text_up(upper)} at ε = {shorten(target)}"], *lower_row(lower, upper)]
    rows.append(["neighbours", neighbours(loss)])
    return CommandOutput("delta", facts, (*columns(rows), "", sentence(round_up(target), Fraction(upper))))


@command("curve", "The privacy curve of a loss: δ at every ε.", epilog=f"{LOSS}\n{JSON}")
@loss
@option("--epsilons", "E …", "the values of ε (chosen for the loss, if left out)", multiple=True, greedy=True)
@flag("--bracket", "also compute lower bounds")
@option("--picture", "FILE", "also draw the curve, as .png or .svg")
def curve_command(arguments: Arguments) -> CommandOutput:
    """Answer the promise of a loss at several ε, and draw it if that is asked."""
    from discreet.cli.account import picture_data as series
    from discreet.cli.account.promises import curve_point, point_row
    from discreet.cli.account.targets import loss_facts, loss_of
    from discreet.cli.formatting import columns, neighbours

    loss = loss_of(arguments)
    if arguments.epsilons is None:
        targets = series.sensible_epsilons(loss, 8)
    else:
        targets = [exact(read_number(text, "--epsilons"), "--epsilons") for text in arguments.epsilons]
    points = [curve_point(loss, target, inwards=arguments.bracket) for target in targets]
    if arguments.picture is not None:
        from discreet.cli.account import drawing

        drawing.draw_curve_of(arguments, loss, arguments.picture)
    facts: dict[str, Fact] = {**loss_facts(loss), "points": list(points), "picture": arguments.picture}
    title = ["epsilon", "delta", "at least"] if arguments.bracket else ["epsilon", "delta"]
    rows = [title, *(point_row(target, point) for target, point in zip(targets, points, strict=True))]
    drawn = () if arguments.picture is None else (f"picture: {arguments.picture}",)
    return CommandOutput("curve", facts, (*columns(rows), "", f"neighbours  {neighbours(loss)}", *drawn))

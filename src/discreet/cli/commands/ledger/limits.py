"""`discreet ledger raise`, `lower`, `disclose` and `annotate`: entries of a steward. None gives back."""

from discreet.cli.commands.ledger import by, placed, signed_off
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, argument, command, exclusive, flag, option
from discreet.core import InvalidInput


@command("raise", "Promise less: raise the limit, for a reason that stays on record.")
@placed
@option("--to", "E", "the new ε or ρ", required=True)
@signed_off
def raise_command(arguments: Arguments) -> CommandOutput:
    """Raise the limit: from now on less is promised."""
    from discreet.cli.ledger.summary import need_other_side, resize_ledger
    from discreet.cli.ledger.views import limit_of, open_ledger

    limit = limit_of(arguments)
    with open_ledger(arguments) as ledger:
        need_other_side(ledger, limit, limit > ledger.state.account.limit, "discreet ledger lower")
        answer = resize_ledger(ledger, limit, arguments, "raise")
        warning = "Promises made before this entry no longer hold: tell the people to whom they were made."
    return CommandOutput("raise", answer.facts, (*answer.lines, warning))


@command("lower", "Lower the limit. Spent budget stays spent.")
@placed
@option("--to", "E", "the new ε or ρ", required=True)
@signed_off
def lower_command(arguments: Arguments) -> CommandOutput:
    """Lower the limit: from now on more is promised, as far as it was not spent."""
    from discreet.cli.formatting import format_exact
    from discreet.cli.ledger.summary import need_other_side, resize_ledger
    from discreet.cli.ledger.views import limit_of, open_ledger
    from discreet.gate import figure_text

    limit = limit_of(arguments)
    with open_ledger(arguments) as ledger:
        need_other_side(ledger, limit, limit < ledger.state.account.limit, "discreet ledger raise")
        spent = ledger.spent
        answer = resize_ledger(ledger, limit, arguments, "lower")
        personal, promised = ledger.budget.personal, ledger.state.account.limit
    if personal:
        more = f"A person may have been charged up to {figure_text(promised)} before, so that this is the guarantee."
        spent = promised
    else:
        more = f"More than {format_exact(limit)} was spent already: the limit is what was spent, and nothing is left."
    return CommandOutput("lower", answer.facts, (*answer.lines, *([more] if limit < spent else [])))


@command("disclose", "Charge for facts that became known elsewhere: a report, a leak, another system's answers.")
@placed
@option("--cost", "LOSS", "the privacy loss of it: see discreet account epsilon --help")
@flag("--all", "all there is; this closes the account for good")
@exclusive("--cost", "--all", required=True)
@signed_off
def disclose_command(arguments: Arguments) -> CommandOutput:
    """Charge for facts that became known elsewhere."""
    from discreet.cli.account.loss_syntax import read_loss
    from discreet.cli.ledger.summary import change_facts, change_lines, title_line
    from discreet.cli.ledger.views import author, open_ledger
    from discreet.gate import cost_words
    from discreet.gate.ledger.views import CLOSED, standings

    cost = None if arguments.all else read_loss(arguments.cost)
    with open_ledger(arguments) as ledger:
        before = standings(ledger)
        if cost is not None and ledger.state.account.disclose(cost).closed:
            raise InvalidInput(
                "More became known than was left, which would close the account for good.",
                fix="pass --all for --cost if that is so; nothing can be paid for after it",
            )
        ledger.disclose(cost, by=author(arguments), reason=arguments.reason)
        after = standings(ledger)
        closed = ledger.state.account.closed
        facts = {**change_facts(ledger, before, after, arguments), "closed": closed}
        known = "all there is" if cost is None else cost_words(cost)
        lines = [title_line(ledger), f"Became known elsewhere: {known}", "", *change_lines(before, after)]
    return CommandOutput("disclose", facts, (*lines, *([CLOSED] if closed else [])))


@command("annotate", "Add a note to the ledger.")
@placed
@argument("text", "TEXT", "the note")
@by
def annotate_command(arguments: Arguments) -> CommandOutput:
    """Note something."""
    from discreet.cli.ledger.views import author, ledger_facts, open_ledger
    from discreet.gate import one_line
    from discreet.gate.ledger.views import title_of

    by = author(arguments)
    with open_ledger(arguments) as ledger:
        ledger.annotate(arguments.text, by=by)
        facts: dict[str, Fact] = {**ledger_facts(ledger), "by": by, "text": arguments.text}
        line = f"Noted in {title_of(ledger)} by {one_line(by)}, for as long as the ledger lasts."
    return CommandOutput("annotate", facts, (line,))

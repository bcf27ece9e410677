"""`discreet ledger person` and `people`: personal accounts. Their output is private."""

from discreet.cli.commands.ledger import placed
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, argument, command

PERSON = """\
Only for that person or the steward: it is computed from that person's rows. Nobody else may see it.

The ledger keeps hashes of names, and no kinds of columns. So ID is the text that the name is made of: a whole number as
7, not 007 or +7; a day as 2025-03-01; true or false; a text as it stands in the rows, with its capitals and blanks.
After -- it may begin with a dash. A person who was never charged has no account: that is an answer, too, and status 0.
"""
PEOPLE = """\
For the steward. The use of accounts is computed from people's rows: do not show it to analysts, and do not act on it,
such as by taking people out of the tables.
"""


@command("person", "With personal accounts: what one person was charged, for what, and what is left.", epilog=PERSON)
@placed
@argument("id", "ID", "the person, as the column of persons has it; see below")
@argument("window", "WINDOW", "the first day of the stretch, where a window is kept", required=False)
def person_command(arguments: Arguments) -> CommandOutput:
    """Answer what one person was charged, for what, and what is left to that person."""
    from discreet.cli.ledger.people import ONLY_THEIRS, need_window, statement_facts, statement_lines
    from discreet.cli.ledger.views import ledger_facts, open_ledger
    from discreet.gate.ledger.views import title_of

    with open_ledger(arguments) as ledger:
        need_window(ledger, arguments.window)
        # A name is the hash of a text, so that the text as it was typed finds it, whatever the column holds.
        values = [arguments.id] if ledger.budget.unit.window is None else [arguments.id, arguments.window]
        statement = ledger.statement(*values)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "account": bool(statement.charges),
            "closed": statement.closed,
            **statement_facts(statement),
        }
        lines = [f"Ledger {title_of(ledger)}, {ledger.identity[:12]}…", "", *statement_lines(statement)]
    return CommandOutput("person", facts, (*lines, "", ONLY_THEIRS))


@command("people", "With personal accounts: how many people have used which part of their limit.", epilog=PEOPLE)
@placed
def people_command(arguments: Arguments) -> CommandOutput:
    """Answer how many people have used which part of their limit."""
    from discreet.cli.ledger.people import ONLY_STEWARDS, distribution_lines, part_facts
    from discreet.cli.ledger.views import ledger_facts, open_ledger
    from discreet.gate.ledger.views import title_of

    with open_ledger(arguments) as ledger:
        usage = ledger.distribution()
        facts: dict[str, Fact] = {**ledger_facts(ledger), "people": usage.people, "parts": part_facts(usage)}
        lines = [f"Ledger {title_of(ledger)}, {ledger.identity[:12]}…", "", *distribution_lines(usage)]
    return CommandOutput("people", facts, (*lines, "", ONLY_STEWARDS))

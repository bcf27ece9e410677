"""`discreet ledger show` and `verify`: what was spent and what is left, and whether all that is stored is sound."""

from discreet.cli.commands.ledger import placed
from discreet.cli.console import Progress
from discreet.cli.numbers import read_whole
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, command, option
from discreet.core import whole

VERIFY = """\
Exit status: 0 if the ledger is sound, 3 if it is not (the faults are listed), 2 if it could not be looked at.
"""


@command("show", "What was spent, by whom, on what, and what is left.")
@placed
@option("--last", "N", "the number of payments to show, newest first (10)", default="10")
@option("--analyst", "NAME", "payments of this analyst only")
def show_command(arguments: Arguments) -> CommandOutput:
    """Answer what was spent, by whom, on what, and what is left."""
    from discreet.cli.ledger.summary import (
        MOST,
        analyst_facts,
        find_payments,
        gauge_lines,
        gauges_of_analysts,
        head_lines,
        payment_lines,
        pending_payment_lines,
        runs_facts,
        runs_lines,
        standing_facts,
    )
    from discreet.cli.ledger.views import birth_facts, open_ledger, promise_facts
    from discreet.gate import need_label

    last = whole(read_whole(arguments.last, "--last"), "--last", least=0, most=MOST)
    only = None if arguments.analyst is None else need_label(arguments.analyst, "--analyst", empty=True)
    with open_ledger(arguments) as ledger:
        recent, waiting = find_payments(ledger, only, last, arguments)
        analysts = gauges_of_analysts(ledger, only)
        facts: dict[str, Fact] = {
            **birth_facts(ledger),
            "closed": ledger.state.account.closed,
            **standing_facts(ledger),
            **promise_facts(ledger),
            "analysts": [analyst_facts(ledger, name, gauge) for name, gauge in analysts.items()],
            "payments": ledger.state.payments,
            "releases": ledger.state.releases,
            "entries": ledger.state.number,
            "head": ledger.state.head.hex(),
            "recent": [paid.facts() for paid in recent],
            "unanswered": [paid.facts() for paid in waiting],
            "runs": runs_facts(ledger),
        }
        lines = [
            *head_lines(ledger),
            "",
            *gauge_lines(ledger, analysts),
            "",
            *payment_lines(recent, only),
            *pending_payment_lines(waiting),
        ]
        lines += runs_lines(ledger)
    return CommandOutput("show", facts, tuple(lines))


@command("verify", "Check all that is stored: chain, sums, answers, signatures, anchors.", epilog=VERIFY)
@placed
def verify_command(arguments: Arguments) -> CommandOutput:
    """Answer whether everything that is stored belongs together."""
    from discreet.cli.ledger.summary import UNSOUND, verdict_lines
    from discreet.cli.ledger.views import reachable
    from discreet.gate import inspect_ledger

    progress = Progress("verifying", wanted=not arguments.json)
    try:
        with reachable("The ledger"):
            inspection = inspect_ledger(arguments.place, key=arguments.key, anchors=arguments.anchor, progress=progress)
    finally:
        progress.end()
    checked = inspection.verification
    facts: dict[str, Fact] = {
        "ledger": inspection.ledger or None,
        "sound": checked.sound,
        "faults": list(checked.faults),
        "entries": checked.entries,
        "payments": checked.payments,
        "releases": checked.releases,
        "unanswered": checked.unanswered,
        "continued": checked.continued,
        "checkpoints": checked.checkpoints,
        "signed": checked.signed,
        "anchors": inspection.anchors,
    }
    return CommandOutput("verify", facts, tuple(verdict_lines(inspection)), status=0 if checked.sound else UNSOUND)

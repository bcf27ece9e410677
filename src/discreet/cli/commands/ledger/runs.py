"""`discreet ledger review` and `excuse`: entries about runs that failed, or will be stopped."""

from discreet.cli.commands.ledger import placed, signed_off
from discreet.cli.numbers import read_whole
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, command, option
from discreet.core import InvalidInput


@command("review", "Note that you looked at the runs that failed: counting starts again from here.")
@placed
@option("--analyst", "NAME", "the runs of this analyst only (all, if left out)")
@signed_off
def review_command(arguments: Arguments) -> CommandOutput:
    """Note that the steward looked at the runs that failed, so that they are counted anew."""
    from discreet.cli.ledger.summary import runs_facts, runs_lines
    from discreet.cli.ledger.views import author, ledger_facts, open_ledger
    from discreet.gate import need_label
    from discreet.gate.ledger.views import name_of, title_of

    analyst = None if arguments.analyst is None else need_label(arguments.analyst, "--analyst", empty=True)
    by = author(arguments)
    with open_ledger(arguments) as ledger:
        before, number = runs_facts(ledger), ledger.state.number
        ledger.review(by=by, reason=arguments.reason, analyst=analyst)
        after = runs_facts(ledger)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "by": by,
            "reason": arguments.reason,
            "analyst": analyst,
            "before": before,
            "after": after,
        }
        whose = "all analysts" if analyst is None else name_of(analyst)
        if ledger.state.number == number:
            outcome = f"Nothing to review in {title_of(ledger)}: no run of {whose} has failed since the last review."
        else:
            outcome = f"Reviewed in {title_of(ledger)}: the failed runs of {whose}."
        lines = [outcome, *runs_lines(ledger)]
    return CommandOutput("review", facts, tuple(lines))


@command("excuse", "Note a public reason before runs are stopped: they do not count as failures then.")
@placed
@option("--run", "N", "the open run, as `show` tells it (all that are open, if left out)")
@signed_off
def excuse_command(arguments: Arguments) -> CommandOutput:
    """Note, before runs are stopped, that this is done for a public reason."""
    from discreet.cli.ledger.views import author, ledger_facts, open_ledger
    from discreet.gate.ledger.views import title_of

    by = author(arguments)
    with open_ledger(arguments) as ledger:
        wanted = None if arguments.run is None else read_whole(arguments.run, "--run")
        runs = [run.number for run in ledger.runs.state.open if wanted in (None, run.number) and not run.excused]
        if wanted is not None and not runs:
            raise InvalidInput("This run is not open.", fix="see discreet ledger show for the runs that are")
        for number in runs:
            ledger.excuse(number, by=by, reason=arguments.reason)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "by": by,
            "reason": arguments.reason,
            "runs": list(runs),
        }
        line = f"Excused in {title_of(ledger)}: {len(runs):,} open run{'' if len(runs) == 1 else 's'}."
    return CommandOutput("excuse", facts, (line,))

"""The verbs about runs that fail: review and excuse."""

from argparse import Namespace

from discreet.cli.answers import Answer, Fact
from discreet.cli.books import author, ledger_facts, opened
from discreet.cli.typed import read_whole
from discreet.cli.words import columns
from discreet.core import InvalidInput
from discreet.gate import Ledger
from discreet.gate.ledger.runs import ANALYST_FAILURES, LEDGER_FAILURES
from discreet.gate.ledger.views import name_of, title_of
from discreet.gate.plans import need_label


def answer_review(arguments: Namespace) -> Answer:
    """Note that the steward looked at the runs that failed, so that they are counted anew."""
    analyst = None if arguments.analyst is None else need_label(arguments.analyst, "--analyst", empty=True)
    by = author(arguments)
    with opened(arguments) as ledger:
        before, number = runs_facts(ledger), ledger.book.number
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
        if ledger.book.number == number:
            said = f"Nothing to review in {title_of(ledger)}: no run of {whose} has failed since the last review."
        else:
            said = f"Reviewed in {title_of(ledger)}: the failed runs of {whose}."
        lines = [said, *runs_lines(ledger)]
    return Answer("review", facts, tuple(lines))


def answer_excuse(arguments: Namespace) -> Answer:
    """Note, before runs are stopped, that this is done for a public reason."""
    by = author(arguments)
    with opened(arguments) as ledger:
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
    return Answer("excuse", facts, (line,))


def runs_facts(ledger: Ledger) -> dict[str, Fact]:
    """Return open runs and failures, for a program."""
    state = ledger.runs.state
    return {
        "open": [run.number for run in state.open],
        "failed": state.total,
        "analysts": [{"name": name, "failed": count} for name, count in sorted(state.failures.items())],
    }


def runs_lines(ledger: Ledger) -> list[str]:
    """Return open runs and failures, for a person; nothing where there are none."""
    state = ledger.runs.state
    if not state.total and not state.open:
        return []
    rows = [["failed runs", f"{state.total:,} of {LEDGER_FAILURES} since the last review of all"]]
    rows += [
        [f"  of {name_of(name)}", f"{count:,} of {ANALYST_FAILURES}" + (", stored answers only" if full else "")]
        for name, count in sorted(state.failures.items())
        for full in [count >= ANALYST_FAILURES]
    ]
    rows += [["open run", f"{run.number:,}, of {name_of(run.analyst)}"] for run in state.open]
    return columns(rows)

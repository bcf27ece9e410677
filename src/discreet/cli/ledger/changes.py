"""Changes of a ledger by its steward, shown before and after. Each is an entry that stays; none gives back."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.cli.formatting import columns
from discreet.cli.ledger.views import (
    author,
    currency,
    gauge_facts,
    ledger_facts,
    promise_facts,
    promise_lines,
    standing_rows,
    terms_facts,
)
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput
from discreet.gate import Ledger
from discreet.gate.ledger.cost_text import figure
from discreet.gate.ledger.views import Gauge, Terms, standings, title_of

#: What binds some people, and whom.
Standings = Sequence[tuple[str, Gauge | Terms]]


def need_other_side(ledger: Ledger, limit: Fraction, wanted: bool, other: str) -> None:  # noqa: FBT001 - the answer itself
    """Refuse a limit that does not change in the wanted direction."""
    if wanted:
        return
    now = figure(ledger.state.account.limit)
    if limit == ledger.state.account.limit:
        raise InvalidInput(f"The limit is {now} already.", fix="pass another --to, or leave it")
    raise InvalidInput(f"The limit is {now} now, on the other side of --to.", fix=f"use {other} for that")


def resize_ledger(ledger: Ledger, limit: Fraction, arguments: Arguments, verb: str) -> CommandOutput:
    """Change the limit, and return the change."""
    before = standings(ledger)
    ledger.resize(limit, by=author(arguments), reason=arguments.reason)
    after = standings(ledger)
    facts = {**change_facts(ledger, before, after, arguments), **promise_facts(ledger)}
    lines = (title_line(ledger), "", *change_lines(before, after), "", *promise_lines(ledger))
    return CommandOutput(verb, facts, lines)


def change_facts(ledger: Ledger, before: Standings, after: Standings, arguments: Arguments) -> dict[str, Fact]:
    """Return a change for a program."""
    return {
        **ledger_facts(ledger),
        "currency": currency(ledger),
        "by": author(arguments),
        "reason": arguments.reason,
        "before": _facts(before[0][1]),
        "after": _facts(after[0][1]),
    }


def _facts(account: Gauge | Terms) -> dict[str, Fact]:
    """Return what the limit is of: an account that all share, or one of each person."""
    return terms_facts(account) if isinstance(account, Terms) else gauge_facts(account)


def title_line(ledger: Ledger) -> str:
    """Return the title of a ledger."""
    return f"Ledger {title_of(ledger)}, {ledger.identity[:12]}…"


def change_lines(before: Standings, after: Standings) -> list[str]:
    """Return a change for a person: before and after."""
    rows = [("before", before), ("after", after)]
    return columns([[when, *row] for when, standing in rows for row in standing_rows(standing)])

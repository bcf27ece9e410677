"""Shows a ledger: gauges, payments, runs that failed, changes by its steward, and whether it is sound."""

import sys
from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice

from discreet.cli.console import Palette, Progress
from discreet.cli.formatting import columns
from discreet.cli.ledger.views import (
    Paid,
    author,
    currency,
    gauge_facts,
    gauge_row,
    ledger_facts,
    promise_facts,
    promise_lines,
    standing_rows,
    terms_facts,
)
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput
from discreet.gate import (
    ANALYST_FAILURES,
    LEDGER_FAILURES,
    Copied,
    Inspection,
    Ledger,
    Payment,
    Receipt,
    Released,
    figure_text,
    one_line,
)
from discreet.gate.ledger.views import (
    CLOSED,
    SHOWN,
    Gauge,
    Terms,
    analyst_gauge,
    analyst_gauges,
    name_of,
    paid_words,
    payment_words,
    promise_words,
    standings,
    team_gauges,
    team_words,
    title_of,
)

#: Payments that are shown at most.
MOST = 100_000
#: The exit status of a ledger that is not sound.
UNSOUND = 3
HEAD = ["entry", "when (UTC)", "analyst", "what", "cost", "released"]


def verdict_lines(inspection: Inspection) -> list[str]:
    """Return whether a ledger is sound, for a person."""
    palette, checked = Palette.of(sys.stdout), inspection.verification
    rows = [
        ["ledger", inspection.ledger or "not known"],
        ["entries", f"{checked.entries:,}"],
        ["payments", payment_words(checked.payments, checked.releases, checked.copies)],
        *([["later steps", f"{checked.continued:,}"]] if checked.continued else []),
        ["checkpoints", f"{checked.checkpoints:,}, {checked.signed:,} of them signed"],
        [
            "anchors",
            f"{inspection.anchors:,}" if inspection.anchors else "none: whether this is an old copy cannot be known",
        ],
    ]
    if checked.sound:
        return [palette.good("Sound."), *columns(rows)]
    faults = [f"  {one_line(fault, 1000)}" for fault in checked.faults]
    return [
        palette.bad("NOT SOUND. Pay nothing from it and believe nothing of it:"),
        *faults,
        "",
        *columns(rows),
        "",
        "Put back an undamaged copy that is at least as new as the last anchor, and find out what happened.",
    ]


def find_payments(ledger: Ledger, only: str | None, last: int, arguments: Arguments) -> tuple[list[Paid], list[Paid]]:
    """Return the last payments, and the first that are not answered."""
    progress = Progress("reading", wanted=not arguments.json)
    try:
        lists = _payments_of_all(ledger, last) if only is None else _payments_of(ledger, only, last, progress)
    finally:
        progress.end()
    recent, waiting = ([Paid.of(ledger, receipt) for receipt in receipts] for receipts in lists)
    return recent, waiting


def _payments_of(ledger: Ledger, analyst: str, last: int, progress: Progress) -> tuple[list[Receipt], list[Receipt]]:
    """Return the last payments of one analyst, and the first without an answer; theirs may lie far back."""
    recent, waiting = deque[int](maxlen=last), dict[int, None]()
    total = ledger.state.number
    for entry, event in ledger.entries():
        match event:
            case Payment(analyst=name) if name == analyst:
                recent.append(entry.number)
                waiting[entry.number] = None
            case Copied(analyst=name) if name == analyst:
                recent.append(entry.number)
            case Released(payment=number):
                waiting.pop(number, None)
        progress(entry.number, max(total, entry.number))
    numbers = [*reversed(recent)], [*islice(waiting, SHOWN + 1)]
    return [ledger.receipt(number) for number in numbers[0]], [ledger.receipt(number) for number in numbers[1]]


def _payments_of_all(ledger: Ledger, last: int) -> tuple[list[Receipt], list[Receipt]]:
    unanswered = ledger.state.payments - ledger.state.releases
    return ledger.recent(last), list(islice(ledger.orphans(), SHOWN + 1)) if unanswered else []


def gauges_of_analysts(ledger: Ledger, only: str | None) -> dict[str, Gauge]:
    """Return the gauges of analysts; there are none where persons have accounts, and the dataset no total."""
    budget = ledger.budget
    if only is None or (budget.personal and budget.total is None):
        return analyst_gauges(ledger)
    return {only: analyst_gauge(ledger, only)}


def standing_facts(ledger: Ledger) -> dict[str, Fact]:
    """Return the limits for all, for a program; personal accounts by their terms, never by their balances."""
    accounts = [account for _, account in standings(ledger)]
    terms = [terms_facts(account) for account in accounts if isinstance(account, Terms)]
    return {**gauge_facts(accounts[-1]), "accounts": terms[0] if terms else None}


def analyst_facts(ledger: Ledger, name: str, gauge: Gauge) -> dict[str, Fact]:
    """Return the gauge of an analyst for a program."""
    return {"name": name, **gauge_facts(gauge), "own_limit": name in ledger.state.account.limits}


def head_lines(ledger: Ledger) -> list[str]:
    """Return the promise and the size of a ledger, for a person."""
    closed = [Palette.of(sys.stdout).bad(CLOSED)] if ledger.state.account.closed else []
    rows = [
        ["ledger", title_of(ledger)],
        ["name", ledger.identity],
        ["promise", one_line(promise_words(ledger))],
        ["payments", paid_words(ledger.state)],
        ["entries", f"{ledger.state.number:,}"],
    ]
    return [*columns(rows), *closed]


def gauge_lines(ledger: Ledger, analysts: dict[str, Gauge]) -> list[str]:
    """Return the gauges of a ledger and its analysts, for a person."""
    limits = ledger.state.account.limits
    rows = standing_rows(standings(ledger))
    for name, gauge in list(analysts.items())[:SHOWN]:
        bar = gauge_row(name_of(name), gauge)
        rows.append([*bar[:-1], f"{bar[-1]}{', a limit of their own' if name in limits else ''}"])
    rows += standing_rows((team_words(name), gauge) for name, gauge in list(team_gauges(ledger).items())[:SHOWN])
    more = [f"… and {len(analysts) - SHOWN:,} more analysts"] if len(analysts) > SHOWN else []
    return [*columns(rows), *more]


def payment_lines(recent: list[Paid], only: str | None) -> list[str]:
    """Return the last payments, for a person."""
    if not recent:
        return ["No payments" + ("." if only is None else " by this analyst.")]
    return ["The last payments, newest first:", "", *columns([HEAD, *(paid.row() for paid in recent)])]


def pending_payment_lines(waiting: list[Paid]) -> list[str]:
    """Return the payments that are not answered, for a person."""
    if not waiting:
        return []
    more = [f"… and more than these {SHOWN}"] if len(waiting) > SHOWN else []
    rows = [[str(paid.receipt.number), one_line(paid.receipt.request, 60)] for paid in waiting[:SHOWN]]
    title = "Paid for and not answered, after a crash or a failure; asking again under the same request is free:"
    return ["", title, "", *columns([["entry", "request"], *rows]), *more]


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


# Changes of a ledger by its steward, shown before and after. Each is an entry that stays; none gives back.

#: The limits that bind some analysts, and whom.
Standings = Sequence[tuple[str, Gauge | Terms]]


def need_other_side(ledger: Ledger, limit: Fraction, wanted: bool, other: str) -> None:  # noqa: FBT001 - the answer itself
    """Refuse a limit that does not change in the wanted direction."""
    if wanted:
        return
    now = figure_text(ledger.state.account.limit)
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
    """Return the subject of the limit: one shared account, or one for each person."""
    return terms_facts(account) if isinstance(account, Terms) else gauge_facts(account)


def title_line(ledger: Ledger) -> str:
    """Return the title of a ledger."""
    return f"Ledger {title_of(ledger)}, {ledger.identity[:12]}…"


def change_lines(before: Standings, after: Standings) -> list[str]:
    """Return a change for a person: before and after."""
    rows = [("before", before), ("after", after)]
    return columns([[when, *row] for when, standing in rows for row in standing_rows(standing)])

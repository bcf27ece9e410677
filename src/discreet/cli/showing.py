"""The verbs that look at a ledger: show and verify."""

import sys
from argparse import Namespace
from collections import deque
from itertools import islice

from discreet.cli.answers import Answer, Fact
from discreet.cli.books import (
    Paid,
    birth_facts,
    gauge_facts,
    gauge_row,
    opened,
    promise_facts,
    reachable,
    standing_rows,
    terms_facts,
)
from discreet.cli.reviewing import runs_facts, runs_lines
from discreet.cli.terminal import Palette, Progress
from discreet.cli.typed import read_whole
from discreet.cli.words import columns
from discreet.core import whole
from discreet.gate import Ledger
from discreet.gate.ledger.events import Payment, Released
from discreet.gate.ledger.views import (
    CLOSED,
    SHOWN,
    Gauge,
    Terms,
    analyst_gauge,
    analyst_gauges,
    counted,
    name_of,
    promise_words,
    standings,
    title_of,
)
from discreet.gate.plans import need_label
from discreet.gate.proofs.inspection import Inspection, inspect_ledger
from discreet.gate.releases import Receipt, one_line

#: Payments that are shown at most.
MOST = 100_000
#: The exit status of a ledger that is not sound.
UNSOUND = 3
HEAD = ["entry", "when (UTC)", "analyst", "what", "cost", "released"]


def answer_show(arguments: Namespace) -> Answer:
    """Answer what was spent, by whom, on what, and what is left."""
    last = whole(read_whole(arguments.last, "--last"), "--last", least=0, most=MOST)
    only = None if arguments.analyst is None else need_label(arguments.analyst, "--analyst", empty=True)
    with opened(arguments) as ledger:
        recent, waiting = _found(ledger, only, last, arguments)
        analysts = _analysts(ledger, only)
        facts: dict[str, Fact] = {
            **birth_facts(ledger),
            "closed": ledger.book.account.closed,
            **_standing_facts(ledger),
            **promise_facts(ledger),
            "analysts": [_analyst_facts(ledger, name, gauge) for name, gauge in analysts.items()],
            "payments": ledger.book.payments,
            "releases": ledger.book.releases,
            "entries": ledger.book.number,
            "head": ledger.book.head.hex(),
            "recent": [paid.facts() for paid in recent],
            "unanswered": [paid.facts() for paid in waiting],
            "runs": runs_facts(ledger),
        }
        lines = [*_head(ledger), "", *_gauges(ledger, analysts), "", *_payments(recent, only), *_orphans(waiting)]
        lines += runs_lines(ledger)
    return Answer("show", facts, tuple(lines))


def answer_verify(arguments: Namespace) -> Answer:
    """Answer whether everything that is stored belongs together."""
    progress = Progress("verifying", wanted=not arguments.json)
    try:
        with reachable("The ledger"):
            found = inspect_ledger(arguments.place, key=arguments.key, anchors=arguments.anchor, progress=progress)
    finally:
        progress.end()
    checked = found.verification
    facts: dict[str, Fact] = {
        "ledger": found.ledger or None,
        "sound": checked.sound,
        "faults": list(checked.faults),
        "entries": checked.entries,
        "payments": checked.payments,
        "releases": checked.releases,
        "unanswered": checked.unanswered,
        "continued": checked.continued,
        "checkpoints": checked.checkpoints,
        "signed": checked.signed,
        "anchors": found.anchors,
    }
    return Answer("verify", facts, tuple(_verdict(found)), status=0 if checked.sound else UNSOUND)


def _verdict(found: Inspection) -> list[str]:
    palette, checked = Palette.of(sys.stdout), found.verification
    rows = [
        ["ledger", found.ledger or "not known"],
        ["entries", f"{checked.entries:,}"],
        ["payments", counted(checked.payments, checked.releases)],
        *([["later steps", f"{checked.continued:,}"]] if checked.continued else []),
        ["checkpoints", f"{checked.checkpoints:,}, {checked.signed:,} of them signed"],
        ["anchors", f"{found.anchors:,}" if found.anchors else "none: whether this is an old copy cannot be known"],
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


def _found(ledger: Ledger, only: str | None, last: int, arguments: Namespace) -> tuple[list[Paid], list[Paid]]:
    progress = Progress("reading", wanted=not arguments.json)
    try:
        found = _payments_of_all(ledger, last) if only is None else _payments_of(ledger, only, last, progress)
    finally:
        progress.end()
    recent, waiting = ([Paid.of(ledger, receipt) for receipt in receipts] for receipts in found)
    return recent, waiting


def _payments_of(ledger: Ledger, analyst: str, last: int, progress: Progress) -> tuple[list[Receipt], list[Receipt]]:
    """Return the last payments of one analyst, and the first without an answer; theirs may lie far back."""
    recent, waiting = deque[int](maxlen=last), dict[int, None]()
    total = ledger.book.number
    for entry, event in ledger.entries():
        match event:
            case Payment(analyst=name) if name == analyst:
                recent.append(entry.number)
                waiting[entry.number] = None
            case Released(payment=number):
                waiting.pop(number, None)
        progress(entry.number, max(total, entry.number))
    numbers = [*reversed(recent)], [*islice(waiting, SHOWN + 1)]
    return [ledger.receipt(number) for number in numbers[0]], [ledger.receipt(number) for number in numbers[1]]


def _payments_of_all(ledger: Ledger, last: int) -> tuple[list[Receipt], list[Receipt]]:
    unanswered = ledger.book.payments - ledger.book.releases
    return ledger.recent(last), list(islice(ledger.orphans(), SHOWN + 1)) if unanswered else []


def _analysts(ledger: Ledger, only: str | None) -> dict[str, Gauge]:
    """Return the gauges of analysts; there are none where persons have accounts, and the dataset no total."""
    budget = ledger.budget
    if only is None or (budget.personal and budget.total is None):
        return analyst_gauges(ledger)
    return {only: analyst_gauge(ledger, only)}


def _standing_facts(ledger: Ledger) -> dict[str, Fact]:
    """Return what binds everybody, for a program; personal accounts by their terms, never by their balances."""
    found = [one for _, one in standings(ledger)]
    terms = [terms_facts(one) for one in found if isinstance(one, Terms)]
    return {**gauge_facts(found[-1]), "accounts": terms[0] if terms else None}


def _analyst_facts(ledger: Ledger, name: str, gauge: Gauge) -> dict[str, Fact]:
    return {"name": name, **gauge_facts(gauge), "own_limit": name in ledger.book.account.limits}


def _head(ledger: Ledger) -> list[str]:
    closed = [Palette.of(sys.stdout).bad(CLOSED)] if ledger.book.account.closed else []
    rows = [
        ["ledger", title_of(ledger)],
        ["name", ledger.identity],
        ["promise", one_line(promise_words(ledger))],
        ["payments", counted(ledger.book.payments, ledger.book.releases)],
        ["entries", f"{ledger.book.number:,}"],
    ]
    return [*columns(rows), *closed]


def _gauges(ledger: Ledger, analysts: dict[str, Gauge]) -> list[str]:
    limits = ledger.book.account.limits
    rows = standing_rows(standings(ledger))
    for name, gauge in list(analysts.items())[:SHOWN]:
        bar = gauge_row(name_of(name), gauge)
        rows.append([*bar[:-1], f"{bar[-1]}{', a limit of their own' if name in limits else ''}"])
    more = [f"… and {len(analysts) - SHOWN:,} more analysts"] if len(analysts) > SHOWN else []
    return [*columns(rows), *more]


def _payments(recent: list[Paid], only: str | None) -> list[str]:
    if not recent:
        return ["No payments" + ("." if only is None else " by this analyst.")]
    return ["The last payments, newest first:", "", *columns([HEAD, *(paid.row() for paid in recent)])]


def _orphans(waiting: list[Paid]) -> list[str]:
    if not waiting:
        return []
    more = [f"… and more than these {SHOWN}"] if len(waiting) > SHOWN else []
    rows = [[str(paid.receipt.number), one_line(paid.receipt.request, 60)] for paid in waiting[:SHOWN]]
    title = "Paid for and not answered, after a crash or a failure; asking again under the same request is free:"
    return ["", title, "", *columns([["entry", "request"], *rows]), *more]

"""The verbs of a steward: raise, lower, allow, disclose, annotate. Each is an entry that stays; none gives back."""

from argparse import Namespace
from collections.abc import Sequence
from fractions import Fraction

from discreet.cli.answers import Answer, Fact
from discreet.cli.books import (
    author,
    currency,
    gauge_facts,
    ledger_facts,
    limit_of,
    opened,
    promise_facts,
    promise_lines,
    standing_rows,
    terms_facts,
)
from discreet.cli.spelling import read_loss
from discreet.cli.words import columns, plain
from discreet.core import InvalidInput
from discreet.gate import Ledger
from discreet.gate.ledger.cost_text import cost_words, figure
from discreet.gate.ledger.views import CLOSED, Gauge, Terms, analyst_gauge, name_of, standings, title_of
from discreet.gate.plans import need_label
from discreet.gate.releases import one_line

#: What binds some people, and whom.
Standings = Sequence[tuple[str, Gauge | Terms]]


def answer_raise(arguments: Namespace) -> Answer:
    """Raise the limit: from now on less is promised."""
    limit = limit_of(arguments)
    with opened(arguments) as ledger:
        _need_other(ledger, limit, limit > ledger.book.account.limit, "discreet ledger lower")
        answer = _resized(ledger, limit, arguments, "raise")
        warning = "What was promised before this entry, to whomever, no longer holds: tell them."
    return Answer("raise", answer.facts, (*answer.lines, warning))


def answer_lower(arguments: Namespace) -> Answer:
    """Lower the limit: from now on more is promised, as far as it was not spent."""
    limit = limit_of(arguments)
    with opened(arguments) as ledger:
        _need_other(ledger, limit, limit < ledger.book.account.limit, "discreet ledger raise")
        spent = ledger.spent
        answer = _resized(ledger, limit, arguments, "lower")
        personal, promised = ledger.budget.personal, ledger.book.account.limit
    if personal:
        more = f"Somebody may have been charged up to {figure(promised)} before, so that this is what is promised."
        spent = promised
    else:
        more = f"More than {plain(limit)} was spent already: the limit is what was spent, and nothing is left."
    return Answer("lower", answer.facts, (*answer.lines, *([more] if limit < spent else [])))


def answer_allow(arguments: Namespace) -> Answer:
    """Set the limit of one analyst, or take it away."""
    analyst = need_label(arguments.analyst, "--analyst")
    limit = None if arguments.no_limit else limit_of(arguments)
    with opened(arguments) as ledger:
        before = [(name_of(analyst), analyst_gauge(ledger, analyst))]
        ledger.resize(limit, by=author(arguments), reason=arguments.reason, analyst=analyst)
        after = [(name_of(analyst), analyst_gauge(ledger, analyst))]
        facts = {**_change_facts(ledger, before, after, arguments), "analyst": analyst, "own_limit": limit is not None}
        lines = [_title(ledger), "", *_change(before, after)]
        if limit is not None and limit > ledger.book.account.limit:
            lines.append("The limit of the whole is lower, and binds this analyst too.")
    return Answer("allow", facts, tuple(lines))


def answer_disclose(arguments: Namespace) -> Answer:
    """Charge what became known elsewhere."""
    cost = None if arguments.all else read_loss(arguments.cost)
    with opened(arguments) as ledger:
        before = standings(ledger)
        if cost is not None and ledger.book.account.disclosed(cost).closed:
            raise InvalidInput(
                "More became known than was left, which would close the account for good.",
                fix="pass --all for --cost if that is so; nothing can be paid for after it",
            )
        ledger.disclose(cost, by=author(arguments), reason=arguments.reason)
        after = standings(ledger)
        closed = ledger.book.account.closed
        facts = {**_change_facts(ledger, before, after, arguments), "closed": closed}
        known = "all there is" if cost is None else cost_words(cost)
        lines = [_title(ledger), f"Became known elsewhere: {known}", "", *_change(before, after)]
    return Answer("disclose", facts, (*lines, *([CLOSED] if closed else [])))


def answer_annotate(arguments: Namespace) -> Answer:
    """Note something."""
    by = author(arguments)
    with opened(arguments) as ledger:
        ledger.annotate(arguments.text, by=by)
        facts: dict[str, Fact] = {**ledger_facts(ledger), "by": by, "text": arguments.text}
        line = f"Noted in {title_of(ledger)} by {one_line(by)}, for as long as the ledger lasts."
    return Answer("annotate", facts, (line,))


def _need_other(ledger: Ledger, limit: Fraction, wanted: bool, other: str) -> None:  # noqa: FBT001 - the answer itself
    if wanted:
        return
    now = figure(ledger.book.account.limit)
    if limit == ledger.book.account.limit:
        raise InvalidInput(f"The limit is {now} already.", fix="pass another --to, or leave it")
    raise InvalidInput(f"The limit is {now} now, on the other side of --to.", fix=f"use {other} for that")


def _resized(ledger: Ledger, limit: Fraction, arguments: Namespace, verb: str) -> Answer:
    before = standings(ledger)
    ledger.resize(limit, by=author(arguments), reason=arguments.reason)
    after = standings(ledger)
    facts = {**_change_facts(ledger, before, after, arguments), **promise_facts(ledger)}
    lines = (_title(ledger), "", *_change(before, after), "", *promise_lines(ledger))
    return Answer(verb, facts, lines)


def _change_facts(ledger: Ledger, before: Standings, after: Standings, arguments: Namespace) -> dict[str, Fact]:
    return {
        **ledger_facts(ledger),
        "currency": currency(ledger),
        "by": author(arguments),
        "reason": arguments.reason,
        "before": _facts(before[0][1]),
        "after": _facts(after[0][1]),
    }


def _facts(one: Gauge | Terms) -> dict[str, Fact]:
    """Return what the limit is of: an account that all share, or one of each person."""
    return terms_facts(one) if isinstance(one, Terms) else gauge_facts(one)


def _title(ledger: Ledger) -> str:
    return f"Ledger {title_of(ledger)}, {ledger.identity[:12]}…"


def _change(before: Standings, after: Standings) -> list[str]:
    rows = [("before", before), ("after", after)]
    return columns([[when, *row] for when, standing in rows for row in standing_rows(standing)])

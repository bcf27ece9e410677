"""Ledgers as text and HTML, for a terminal and a notebook."""

import html
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.accounting import ConcentratedFilter, Filter
from discreet.core import DiscreetError
from discreet.core.exact import text_down, text_up
from discreet.gate.accounts.personal_terms import PersonalAccount, limit_of
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.cost_text import cost_words
from discreet.gate.entries.events import Birth
from discreet.gate.ledger.state import LedgerState
from discreet.gate.releases import Receipt, one_line

#: Characters of a gauge, and what it is drawn with.
WIDTH, FULL, EMPTY = 30, "█", "░"
#: Analysts and payments that are shown.
SHOWN = 10
#: Characters of what was asked, and of a name, in a table.
WORDS, NAME = 60, 24
CLOSED = "CLOSED for good: what it protects became known elsewhere."
#: From these shares on, little is left, and hardly anything.
LITTLE, HARDLY = 0.75, 0.9


class ShownLedger(Protocol):
    """The parts of a ledger that are shown here. `Ledger` imports this module, so that this one cannot import it."""

    @property
    def identity(self) -> str:
        """The hash of its birth."""

    @property
    def birth(self) -> Birth:
        """What is fixed for life."""

    @property
    def budget(self) -> Budget:
        """The budget at birth."""

    @property
    def state(self) -> LedgerState:
        """All totals, up to date."""

    def recent(self, count: int) -> list[Receipt]:
        """Return the last payments, newest first."""

    def release_of(self, payment: int) -> int | None:
        """Return the number of a payment's release, if it was answered."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """How much of a limit is used: rounded up what is spent, rounded down what is left."""

    symbol: str
    spent: Fraction
    limit: Fraction
    #: What may still be spent; less than the rest of the limit where others share a total.
    left: Fraction

    @property
    def share(self) -> float:
        """What is used, as a share of the limit."""
        return min(1.0, float(self.spent / self.limit)) if self.limit else 1.0

    def bar(self, width: int = WIDTH) -> str:
        """Return a bar of characters: full if nothing is left, and only then; empty if nothing is spent, and so."""
        full = min(max(round(self.share * width), 1 if self.spent else 0), width - 1 if self.left else width)
        return FULL * full + EMPTY * (width - full)

    def words(self) -> str:
        """Return the numbers."""
        spent = text_up(self.spent)
        limit = spent if self.spent == self.limit else text_down(self.limit)
        return (
            f"{self.symbol} = {spent} of {limit} spent, {text_down(self.left)} left"
            f" ({text_down(100 * self.left / self.limit if self.limit else Fraction(0), 3)} %)"
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """What binds everybody's own account alike. Public: no balance is in it, and nothing that was charged by rows."""

    symbol: str
    #: What may be taken from one person.
    limit: Fraction
    #: What of it everybody was charged for, as it became known elsewhere.
    base: Fraction
    #: The most that one question may take from anybody, if that was said.
    most: Fraction | None
    closed: bool = False
    #: What of it is set aside in every account for runs that fail.
    reserve: Fraction = Fraction(0)

    def words(self) -> str:
        """Return the terms."""
        if self.closed:
            return "the account is closed: nothing can be charged any more"
        beside = f", {text_up(self.reserve)} of it reserved for failed runs" if self.reserve else ""
        if self.base:
            beside += f", {text_up(self.base)} of it charged to every person for disclosures elsewhere"
        most = "" if self.most is None else f"; one question takes at most {text_down(self.most)}"
        own = f"a budget of {self.symbol} = {text_down(self.limit)}"
        return f"{own}{beside}{most}; balances are private"


def standings(ledger: ShownLedger) -> list[tuple[str, Gauge | Terms]]:
    """Return what binds everybody, and whose it is: gauges of what all share, terms of what each person has."""
    account = ledger.state.account
    if not isinstance(account, PersonalAccount):
        who = "all together" if account.policy is Policy.SHARED else "each analyst"
        return [(who, _gauge(ledger, account.total, account.total))]
    personal: tuple[str, Gauge | Terms] = ("each person", _terms(account))
    if account.everybody is None:
        return [personal]
    return [personal, ("all together", _gauge(ledger, account.everybody.total, account.everybody.total))]


def standing_of(ledger: ShownLedger, analyst: str, team: str = "") -> tuple[str, Gauge | Terms]:
    """Return what binds one analyst, and whose it is: without a name, everybody's."""
    account = ledger.state.account
    if not analyst or (isinstance(account, PersonalAccount) and account.everybody is None):
        return standings(ledger)[-1]
    return name_of(analyst), analyst_gauge(ledger, analyst, team)


def share_gauges(ledger: ShownLedger, analyst: str, team: str = "") -> dict[str, Gauge]:
    """Return what binds one analyst, each by itself: the own share, the team's, and what all together have left.

    Empty where persons have accounts, and the dataset no total.
    """
    account = ledger.state.account
    if isinstance(account, PersonalAccount) and account.everybody is None:
        return {}
    gauges = {}
    if analyst:
        own = account.filter_of(analyst)
        gauges["analyst"] = _gauge(ledger, own, own)
    if team and account.policy is Policy.SHARED:
        gauges["team"] = team_gauge(ledger, team)
    together = standings(ledger)[-1][1]
    if account.policy is Policy.SHARED and isinstance(together, Gauge):
        gauges["dataset"] = together
    return gauges


def team_gauge(ledger: ShownLedger, team: str) -> Gauge:
    """Return the gauge of one team, which may be new."""
    theirs = ledger.state.account.filter_of_team(team)
    return _gauge(ledger, theirs, theirs)


def team_gauges(ledger: ShownLedger) -> dict[str, Gauge]:
    """Return the gauges of all teams that paid or have a share, those who spent most first."""
    account = ledger.state.account
    gauges = {name: team_gauge(ledger, name) for name in {*account.teams, *account.team_limits}}
    return dict(sorted(gauges.items(), key=lambda item: (-item[1].spent, item[0])))


def standing_lines(ledger: ShownLedger) -> list[str]:
    """Return what binds everybody, a line each, without whose it is where only one thing does."""
    return [
        _line(standing) if isinstance(standing, Gauge) else f"{who}: {standing.words()}"
        for who, standing in standings(ledger)
    ]


def _terms(account: PersonalAccount) -> Terms:
    terms = account.terms
    most = None if account.cap is None else account.cap * terms.quantum
    base, reserve = account.base[0] * terms.quantum, account.reserve * terms.quantum
    return Terms(account.symbol, terms.amount, base, most, account.closed, reserve)


def analyst_gauges(ledger: ShownLedger) -> dict[str, Gauge]:
    """Return the gauges of all analysts who paid or have a limit of their own, those who spent most first."""
    account = ledger.state.account
    gauges = {name: analyst_gauge(ledger, name) for name in {*account.analysts, *account.limits}}
    return dict(sorted(gauges.items(), key=lambda item: (-item[1].spent, item[0])))


def analyst_gauge(ledger: ShownLedger, analyst: str, team: str = "") -> Gauge:
    """Return the gauge of one analyst, who may be new; where persons have accounts, of the dataset's total."""
    account = ledger.state.account
    return _gauge(ledger, account.filter_of(analyst), account.binding(analyst, team))


def _gauge(ledger: ShownLedger, session: Filter, binding: Filter) -> Gauge:
    left = ledger.state.account.left_of(binding)
    symbol = "ρ" if isinstance(session, ConcentratedFilter) else "ε"
    return Gauge(symbol, session.spent, limit_of(session), left)


def promise_words(ledger: ShownLedger) -> str:
    """Return what is promised now, and what was at birth if that was something else."""
    budget, account = ledger.budget, ledger.state.account
    if account.closed:
        return f"nothing is promised any more for {budget.unit}"
    limit = account.limit
    beside = f" at δ = {text_up(budget.delta)}" if budget.delta else ""
    born = "" if limit == budget.limit else f" ({text_down(budget.limit)} at birth)"
    whose = "" if ledger.birth.policy is Policy.SHARED else ", to each analyst alone"
    source = ", from an account of each person's own" if budget.personal else ""
    return f"{budget.symbol} = {text_up(limit)}{beside}{born} for {budget.unit}{whose}{source}"


def ledger_text(ledger: ShownLedger) -> str:
    """Return a few lines for a terminal; for a ledger that cannot be read any more, one."""
    try:
        return _text(ledger)
    except DiscreetError as error:
        return f"Ledger {title_of(ledger)} · {error.problem}"


def ledger_html(ledger: ShownLedger) -> str:
    """Return gauges and the last payments for a notebook."""
    try:
        return _html(ledger)
    except DiscreetError as error:
        return f"<div><b>Ledger {html.escape(title_of(ledger))}</b> · {html.escape(error.problem)}</div>"


def _text(ledger: ShownLedger) -> str:
    state = ledger.state
    analysts = analyst_gauges(ledger)
    rows = [*standings(ledger), *_named_gauges(ledger, analysts)]
    widest = max(len(name) for name, _ in rows)
    return "\n".join(
        [
            f"Ledger {title_of(ledger)} · {one_line(promise_words(ledger))}",
            *([CLOSED] if state.account.closed else []),
            *(f"{name.ljust(widest)}  {_line(standing)}" for name, standing in rows),
            *([f"… and {len(analysts) - SHOWN:,} more analysts"] if len(analysts) > SHOWN else []),
            f"{paid_words(state)}; {state.number:,} entries, head {state.head.hex()[:12]}",
        ]
    )


def _html(ledger: ShownLedger) -> str:
    state = ledger.state
    analysts = analyst_gauges(ledger)
    shown = [*standings(ledger), *_named_gauges(ledger, analysts)]
    gauges = [[html.escape(name), _meter(standing), html.escape(standing.words())] for name, standing in shown]
    if len(analysts) > SHOWN:
        gauges.append([f"… and {len(analysts) - SHOWN:,} more analysts", "", ""])
    closed = f"<p><b>{html.escape(CLOSED)}</b></p>" if state.account.closed else ""
    return (
        f"<div><b>Ledger {html.escape(title_of(ledger))}</b> · {html.escape(one_line(promise_words(ledger)))}"
        f"{closed}{_table([], gauges)}{_recent_html(ledger)}"
        f"{paid_words(state)}; {state.number:,} entries, head {state.head.hex()[:12]}</div>"
    )


def _named_gauges(ledger: ShownLedger, analysts: dict[str, Gauge]) -> list[tuple[str, Gauge]]:
    """Return the gauges of the first analysts and teams, with their names."""
    teams = [(team_words(name), gauge) for name, gauge in list(team_gauges(ledger).items())[:SHOWN]]
    return [*((name_of(name), gauge) for name, gauge in list(analysts.items())[:SHOWN]), *teams]


def title_of(ledger: ShownLedger) -> str:
    """Return a ledger's title, or the beginning of its name."""
    return one_line(ledger.birth.title) or ledger.identity[:12]


def name_of(analyst: str) -> str:
    """Return an analyst's name for a table."""
    return one_line(analyst, NAME) or "(no name)"


def team_words(team: str) -> str:
    """Return a team's name for a table."""
    return f"team {name_of(team)}"


def payment_words(payments: int, releases: int, copies: int = 0) -> str:
    """Return how much was paid for, how much of that was not answered, and how often answers were copied."""
    paid = f"{payments:,} payment{'' if payments == 1 else 's'}, {releases:,} answered"
    paid = paid if payments == releases else f"{paid}, {payments - releases:,} not answered"
    return f"{paid}, {copies:,} cop{'y' if copies == 1 else 'ies'}" if copies else paid


def paid_words(state: LedgerState) -> str:
    """Return the same of a ledger's state."""
    return payment_words(state.payments, state.releases, state.shares.copies)


def _recent_html(ledger: ShownLedger) -> str:
    rows = []
    for receipt in ledger.recent(SHOWN):
        release = ledger.release_of(receipt.payment)
        cells = [
            str(receipt.number),
            name_of(receipt.analyst),
            one_line(receipt.what, WORDS),
            one_line(cost_words(receipt.cost), WORDS),
            "not answered" if release is None else str(release),
        ]
        rows.append([html.escape(cell) for cell in cells])
    return _table(["entry", "analyst", "what", "cost", "released"], rows) if rows else ""


def _line(standing: Gauge | Terms) -> str:
    return f"{standing.bar()}  {standing.words()}" if isinstance(standing, Gauge) else standing.words()


def _meter(gauge: Gauge | Terms) -> str:
    if isinstance(gauge, Terms):
        return ""
    return (
        f"<meter min='0' max='1' low='{LITTLE}' high='{HARDLY}' optimum='0' value='{gauge.share:.4f}' "
        f"style='width:12em' title='{html.escape(gauge.words())}'></meter>"
    )


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table of cells that are HTML already."""
    return f"<table>{_row('th', head) if head else ''}{''.join(_row('td', row) for row in rows)}</table>"


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag} style='text-align:left'>{cell}</{tag}>" for cell in cells) + "</tr>"

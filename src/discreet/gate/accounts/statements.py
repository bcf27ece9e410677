"""Statements for one person, and the distribution of spent budgets for the steward. Both are private."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PersonalLimit
from discreet.core.exact import text_down, text_up
from discreet.gate.accounts.charge_files import ChargeRecord
from discreet.gate.accounts.personal_terms import PersonalAccount
from discreet.gate.entries.events import Charged, Payment
from discreet.gate.releases import one_line

#: Parts of the limit by which accounts are counted.
USAGE_PARTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one question took from one person."""

    payment: int
    at: str
    what: str
    analyst: str
    #: The ε or ρ, and the failure mass; never less than what the answer lost of that person.
    amount: Fraction
    failures: Fraction
    #: Whether it was answered. After a crash the amount holds what was charged for all runs of it, seen or not.
    answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountStatement:
    """All that one person was charged. For that person, and the steward."""

    symbol: str
    charges: tuple[Charge, ...]
    #: What is charged to everybody for what became known elsewhere.
    base: Fraction
    limit: Fraction
    failures_limit: Fraction
    #: What is set aside in every account for runs that fail.
    reserve: Fraction = Fraction(0)
    #: Whether nothing can be paid for any more, whatever is left.
    closed: bool = False

    @property
    def spent(self) -> Fraction:
        """The ε or ρ that was charged."""
        return self.base + sum((charge.amount for charge in self.charges), Fraction(0))

    @property
    def left(self) -> Fraction:
        """The ε or ρ that is left: when a question costs more, this person is left out of it."""
        return Fraction(0) if self.closed else max(self.limit - self.reserve - self.spent, Fraction(0))

    def __repr__(self) -> str:
        head = (
            f"{self.symbol} = {text_up(self.spent)} of {text_down(self.limit)} spent, {text_down(self.left)} left, "
            f"{len(self.charges):,} question{'' if len(self.charges) == 1 else 's'}"
        )
        base = [f"  set aside for runs that fail: {text_up(self.reserve)}"] if self.reserve else []
        base += [f"  became known elsewhere: {text_up(self.base)}"] if self.base else []
        lines = [f"  {charge.at}  {text_up(charge.amount)}  {one_line(charge.what, 80)}" for charge in self.charges]
        return "\n".join([head, *base, *lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How many persons have used which part of their limit: [0, 1/20), [1/20, 2/20), …, and all of it. Steward's."""

    counts: tuple[int, ...]
    people: int

    def __repr__(self) -> str:
        most = max(self.counts, default=0) or 1
        rows = [
            f"{100 * place / USAGE_PARTS:3.0f} % {'█' * round(30 * count / most)} {count:,}"
            for place, count in enumerate(self.counts)
        ]
        return "\n".join([f"{self.people:,} accounts, by the part of the limit that is used", *rows])


def distribution_of(spent: NDArray[np.uint32], account: PersonalAccount) -> Distribution:
    """Return how far accounts are used, what is charged to everybody included."""
    used = np.minimum(spent.astype(np.int64) + account.aside[0], account.terms.limit)
    counts = np.bincount(used * USAGE_PARTS // account.terms.limit, minlength=USAGE_PARTS + 1)
    return Distribution(counts=tuple(map(int, counts)), people=len(spent))


@dataclass(frozen=True, slots=True)
class ChargeEntry:
    """One entry that charged persons, what they were charged, and what for."""

    event: Charged
    people: ChargeRecord
    payment: Payment
    answered: bool


def statement_of(
    entries: Iterable[ChargeEntry], name: tuple[np.uint64, np.uint32], account: PersonalAccount
) -> AccountStatement:
    """Return what one person was charged by all entries; those of one payment are added up."""
    number: int | None = None
    lines: dict[int, tuple[ChargeEntry, int, int]] = {}
    for entry in entries:
        people = entry.people
        if number is None:
            new = np.flatnonzero((people.high == name[0]) & (people.low == name[1]))
            number = people.known + int(new[0]) if len(new) else None
        place = None if number is None else people.place_of(number)
        if place is not None:
            before = lines.get(entry.event.payment, (entry, 0, 0))
            amount, failures = int(people.amounts[place]), int(people.failures[place])
            lines[entry.event.payment] = (entry, before[1] + amount, before[2] + failures)
    terms = account.terms
    return AccountStatement(
        symbol=account.symbol,
        charges=tuple(_build_charge(*line, terms) for line in lines.values()),
        base=account.base[0] * terms.quantum,
        reserve=account.reserve * terms.quantum,
        limit=terms.amount,
        failures_limit=terms.failures,
        closed=account.closed,
    )


def _build_charge(entry: ChargeEntry, amount: int, failures: int, terms: PersonalLimit) -> Charge:
    return Charge(
        payment=entry.event.payment,
        at=entry.event.at,
        what=entry.payment.what,
        analyst=entry.payment.analyst,
        amount=amount * terms.quantum,
        failures=failures * terms.failures_quantum,
        answered=entry.answered,
    )

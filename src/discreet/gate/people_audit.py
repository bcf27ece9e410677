"""Checking what persons were charged, from the first entry on: hashes, sums, limits. Says where, and never who."""

import numpy as np

from discreet.core import DiscreetError, LedgerDamaged
from discreet.gate.budgets import Budget, Policy
from discreet.gate.canonical import Fields
from discreet.gate.chain import Entry
from discreet.gate.events import Charged, Disclosed, Peopled, Resized, Snapshot, from_body
from discreet.gate.people import Directory
from discreet.gate.people_blobs import People, unpack
from discreet.gate.personal_account import PersonalAccount
from discreet.gate.personal_accounts import Accounts, stored_people
from discreet.gate.stores import Reading

KINDS = frozenset({"charge", "snapshot", "resize", "disclosure"})


class PeopleAudit:
    """All charges of a ledger, counted again. `faults` says what does not follow."""

    def __init__(self, budget: Budget, reading: Reading) -> None:
        self._account = PersonalAccount.born(budget, Policy.SHARED)
        self._accounts, self._reading = Accounts(Directory()), reading
        self.faults: list[str] = []

    def look(self, entry: Entry, fields: Fields) -> None:
        """Look at one more entry; after a fault nothing more is counted, as nothing would be right."""
        if fields["kind"] not in KINDS or self.faults:
            return
        match from_body(entry.body):
            case Charged() | Snapshot() as event:
                self._count(entry.number, event)
            case Resized(limit=limit, analyst=analyst):
                self._account = self._account.resized(limit, analyst)
            case Disclosed(cost=cost):
                self._account = self._account.disclosed(cost)

    def _count(self, number: int, event: Peopled) -> None:
        try:
            people = unpack(stored_people(self._reading, number, event))
            if isinstance(event, Charged):
                self._accounts.charge(people)
            else:
                self._accounts.compare(people)
        except LedgerDamaged as error:
            self.faults.append(f"entry {number}: {error.problem}")
            return
        except DiscreetError:
            self.faults.append(f"entry {number} charges more persons than there can be")
            return
        if isinstance(event, Charged) and self._over(people):
            self.faults.append(f"entry {number} charges somebody more than was left")

    def _over(self, people: People) -> bool:
        """Tell whether somebody who was charged is beyond the limits of that moment."""
        numbers, terms = self._accounts.ours(people.accounts), self._account.terms
        sums = zip(
            self._accounts.balances(),
            (people.amounts, people.failures),
            (terms.limit, terms.failures_limit),
            self._account.base,
            strict=True,
        )
        return any(
            bool(np.any((charged > 0) & (kept[numbers].astype(np.int64) + base > limit)))
            for kept, charged, limit, base in sums
        )

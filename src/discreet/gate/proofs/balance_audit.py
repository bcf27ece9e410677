"""Audits personal charges from the first entry on: hashes, sums, limits. Reports entries, never persons."""

from dataclasses import replace

import numpy as np

from discreet.accounting import PrivacyLoss
from discreet.core import DiscreetError, LedgerDamaged
from discreet.gate.accounts.balances import Accounts, read_stored_people
from discreet.gate.accounts.charge_files import ChargeRecord, unpack
from discreet.gate.accounts.name_index import Directory
from discreet.gate.accounts.personal_terms import PersonalAccount, Quanta
from discreet.gate.ledger.budget import Budget, Policy
from discreet.gate.ledger.chain import LedgerEntry
from discreet.gate.ledger.encoding import Fields
from discreet.gate.ledger.events import (
    Charged,
    Disclosed,
    Payment,
    Peopled,
    Released,
    Resized,
    Reviewed,
    Snapshot,
    from_body,
)
from discreet.gate.stores.protocol import LedgerReader

KINDS = frozenset({"payment", "release", "charge", "snapshot", "resize", "disclosure", "review"})
#: The most quanta by which a run's charges may be more than the price of its payment, as each pass rounds up by itself.
#: The loss is no more for that, so the promise need not be. Far more passes than a run makes, and 3·10⁻⁶ of a limit.
ROUNDING = 4096


class PeopleAudit:
    """All charges of a ledger, counted again. `faults` says what does not follow."""

    def __init__(self, budget: Budget, reading: LedgerReader) -> None:
        # What the dataset pays besides is the state's to count.
        self._account = replace(PersonalAccount.create(budget, Policy.SHARED), everybody=None)
        self._charges = 0
        self._accounts, self._reading = Accounts(Directory()), reading
        self.faults: list[str] = []

    def look(self, entry: LedgerEntry, fields: Fields) -> None:  # noqa: C901 - one case a kind
        """Look at one more entry; after a fault nothing more is counted, as nothing would be right."""
        if fields["kind"] not in KINDS or self.faults:
            return
        match from_body(entry.body):
            case Payment(cost=cost):
                self._pay(entry.number, cost)
            case Released(payment=payment):
                self._account = self._account.record_answer(payment)
            case Charged() | Snapshot() as event:
                self._count(entry.number, event)
            case Resized(limit=limit, analyst=None):
                self._account = replace(self._account.resize(limit, None), settled=entry.number)
            case Resized():
                self._account = replace(self._account, settled=entry.number)
            case Reviewed(analyst=None):
                self._account = replace(self._account.renew_reserve(), settled=entry.number)
            case Disclosed(cost=cost_or_none):
                self._account = replace(self._account.disclose(cost_or_none), settled=entry.number)

    def _pay(self, number: int, cost: PrivacyLoss) -> None:
        try:
            self._account = self._account.admit(cost, "").record_payment(number, cost)
        except DiscreetError:
            self.faults.append(f"entry {number} pays more than a question may cost")

    def _count(self, number: int, event: Peopled) -> None:
        try:
            people = unpack(read_stored_people(self._reading, number, event))
            if isinstance(event, Charged):
                self._accounts.charge(people, number)
            else:
                self._accounts.compare(people, self._reading)
        except LedgerDamaged as error:
            self.faults.append(f"entry {number}: {error.problem}")
            return
        except DiscreetError:
            self.faults.append(f"entry {number} charges more persons than there can be")
            return
        if isinstance(event, Charged):
            self._charges, self._account = self._charges + 1, self._account.record_run(event.payment)
            if self._over(people):
                self.faults.append(f"entry {number} charges somebody more than was left")
            if self._beyond(people):
                self.faults.append(f"entry {number} charges somebody more than the promise says that anybody has lost")

    def _over(self, people: ChargeRecord) -> bool:
        """Tell whether somebody who was charged is beyond the limits of that moment."""
        terms = self._account.terms
        return self._above((terms.limit, terms.failures_limit), people)

    def _beyond(self, people: ChargeRecord) -> bool:
        """Tell whether somebody who was charged is beyond what is public of the worst, but for roundings."""
        (amount, failures), slack = self._account.reached, ROUNDING * self._charges
        return self._above((amount + slack, failures + slack), people)

    def _above(self, limits: Quanta, people: ChargeRecord) -> bool:
        numbers = self._accounts.ours(people.accounts)
        charges = people.amounts, people.failures
        sums = zip(self._accounts.balances(), charges, limits, self._account.aside, strict=True)
        return any(
            bool(np.any((charged > 0) & (balance[numbers].astype(np.int64) + base > limit)))
            for balance, charged, limit, base in sums
        )

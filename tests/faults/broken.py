"""Three ledgers that are wrong on purpose. The suite that the real one passes has to catch them all."""

import time

from discreet.gate import Gate, Ledger, Release
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Payment, from_body, to_body
from discreet.gate.entries.runs import RunState
from discreet.gate.plans import plan_digest
from discreet.gate.releases import decode, encode
from discreet.gate.stores.protocol import Accepted, Refused, keys_of
from discreet.noise import SYSTEM

#: Seconds that pass between a look at the total and the lock.
WHILE = 0.003


class ReleaseBeforePayment(Gate):
    """Answers first, and pays when the answer is out."""

    def release(self, plan, *, request=None, fresh=False):
        stored = encode(plan.run(self._data, SYSTEM))
        receipt = self._ledger.pay(
            plan.cost, what=plan.describe(), plan=plan_digest(plan), request=request, analyst=self._analyst
        )
        entry, kept = self._ledger.release(receipt, stored)
        return Release(
            stored=kept,
            answer=decode(kept),
            receipt=receipt,
            number=entry.number,
            head=entry.head.hex(),
            fresh=True,
        )


class CheckThenSpend(Ledger):
    """Looks at the total, and takes the write lock when it has decided."""

    def _append(self, proposals):
        book = self.state
        time.sleep(WHILE)
        return lambda reading, add: (
            book,
            [_spent(book.account, from_body(body), answer, reading, add) for body, answer in proposals],
        )


class RunsWithoutReview(Ledger):
    """Lets everybody run, however many runs have failed: a worker's own process knows no other count."""

    def __init__(self, *parts):
        super().__init__(*parts)
        RunState.need_room = RunState._need_few_failures = lambda *_: None


def _spent(account, event, answer, reading, add):
    """Write an event after whatever is the newest, if the account of a while ago had room for it."""
    paid = isinstance(event, Payment)
    existing = reading.payment_of(event.request) if paid else reading.release_of(event.payment)
    if existing is not None:
        return Accepted(existing, reading.entry(existing).head.hex(), fresh=False)
    if paid and not account.fits(event.cost, event.analyst):
        return Refused("BudgetExceeded", "Nothing is left.", "reuse a release")
    newest = reading.newest()
    entry = link_entry(newest.head, newest.number + 1, to_body(event))
    add(entry, keys_of(event), answer)
    return Accepted(entry.number, entry.head.hex(), fresh=True)

"""Charges persons in a ledger, stores their charges, and reports them to each person and to the steward."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from discreet.algebra.contributions import name_text, names_of
from discreet.core import InvalidInput
from discreet.core.schema import Value
from discreet.gate.accounts.account_names import Directory, halves
from discreet.gate.accounts.balances import Accounts, Locals, read_stored_people
from discreet.gate.accounts.charge_files import Numbers, pack, unpack
from discreet.gate.accounts.charges import ChargedTable, Run
from discreet.gate.accounts.personal_terms import PersonalAccount
from discreet.gate.accounts.statements import AccountStatement, ChargeEntry, Distribution, distribution_of, statement_of
from discreet.gate.entries.chain import damage_error
from discreet.gate.entries.events import Charged, Payment, Snapshot, from_body, now, to_body
from discreet.gate.ledger.state import LedgerState
from discreet.gate.stores.protocol import Accepted, LedgerReader, read_trusted

#: After so many charges all are added up and stored, so that opening reads no more than these. Public, as when it
#: happens can be seen: so it goes by how many questions there were, and not by how much they stored.
OFTEN = 64


class PersonalCharging:
    """The personal accounts of one handle of a ledger. For the gate and the steward.

    Guarantee: what is charged here was taken on balances that nobody changed since, or it is not written.
    """

    def __init__(
        self,
        ledger: str,
        state: Callable[[], LedgerState],
        reading: LedgerReader,
        write: Callable[[bytes, bytes], Accepted],
        vouched: int,
    ) -> None:
        self._ledger, self._state, self._reading, self._write = ledger, state, reading, write
        self._accounts = Accounts(Directory.of(ledger), vouched)

    def __repr__(self) -> str:
        return f"PersonalCharging of {self._ledger[:12]}"

    def build_charged_table(self, payment: int, table: Any) -> ChargedTable:
        """Return rows for one run of what was paid for, on the balances of now."""
        with self._accounts.lock:
            account = self._current_account()
            paid: list[tuple[Locals | slice, Numbers, Numbers]] = []
            for number in self._reading.charges_of(payment):
                people = unpack(read_stored_people(self._reading, number, self._need_charge(number, payment)))
                charges = self._accounts.ours(people.accounts), people.amounts, people.failures
                # What a run of several passes charged, and what was credited to it, is used up.
                paid = [*paid, charges] if people.lone else []
            return ChargedTable(self._ledger, table, Run(self._accounts, account, paid))

    def charge(self, payment: int, run: Run) -> int | None:
        """Store what a run takes from each person, durably, and return where; None if others were charged meanwhile.

        Then nothing is stored, and the run is to be made again: its answer is nobody's.
        """
        with self._accounts.lock:
            account = self._current_account()
            if _moment(account) != _moment(run.terms):
                return None
            people = run.people()
            packed = pack(people)
            digest = sha256(packed).hexdigest()
            self._accounts.expect(people, digest)
        terms = run.terms
        event = Charged(at=now(), payment=payment, after=terms.charged, settled=terms.settled, people=digest)
        return self._store_charges(event, packed, terms)

    def tidy(self) -> None:
        """Add all charges up and store them, if there were many since that was last done, and nobody is at it."""
        with self._accounts.lock:
            account = self._current_account()
            if account.since < OFTEN:
                return
            packed = pack(self._accounts.totals(self._reading))
        event = Snapshot(at=now(), after=account.charged, people=sha256(packed).hexdigest())
        self._store_charges(event, packed, account)

    def statement(self, values: tuple[Value | None, ...]) -> AccountStatement:
        """Return what one person was charged: named by the values that the person's rows share."""
        (high,), (low,) = halves(names_of([name_text(self._ledger, values)]))
        with self._accounts.lock:
            account = self._current_account()
        return statement_of(self._read_charges(account.charged), (high, low), account)

    def distribution(self) -> Distribution:
        """Return how many persons have used which part of their limit."""
        with self._accounts.lock:
            account = self._current_account()
            spent = self._accounts.totals_spent()
        return distribution_of(spent, account)

    def _current_account(self) -> PersonalAccount:
        """Return the terms of now, with all balances up to date. Needs the accounts' lock."""
        account = self._state().account
        if not isinstance(account, PersonalAccount):
            raise InvalidInput(
                "This ledger has no personal accounts.", fix='they begin with Budget(…, per="person"), for life'
            )
        self._accounts.catch_up(account, self._reading)
        return account

    def _store_charges(self, event: Charged | Snapshot, packed: bytes, terms: PersonalAccount) -> int | None:
        try:
            return self._write(to_body(event), packed).number
        except InvalidInput:
            # Refused because of what others wrote, or because it is wrong: only the first is no error.
            answered = isinstance(event, Charged) and self._reading.release_of(event.payment) is not None
            with self._accounts.lock:
                if not answered and _moment(self._current_account()) == _moment(terms):
                    raise
            return None

    def _need_charge(self, number: int, payment: int) -> Charged:
        entry = read_trusted(self._reading, number)
        event = None if entry is None else from_body(entry.body)
        if not isinstance(event, Charged) or event.payment != payment:
            raise damage_error(f"Entry {number} is filed under keys that it does not have, or under none.")
        return event

    def _read_charges(self, most: int) -> Iterator[ChargeEntry]:
        """Return all that charged persons, oldest first."""
        for entry in self._reading.entries(0):
            event = from_body(entry.body) if b'"kind":"charge"' in entry.body else None
            if isinstance(event, Charged) and entry.number <= most:
                payment = read_trusted(self._reading, event.payment)
                paid = None if payment is None else from_body(payment.body)
                if not isinstance(paid, Payment):
                    raise damage_error(f"Entry {entry.number} charges for what was not paid for.")
                people = unpack(read_stored_people(self._reading, entry.number, event))
                yield ChargeEntry(event, people, paid, self._reading.release_of(event.payment) is not None)


def _moment(account: PersonalAccount) -> tuple[int, int]:
    """Return by which entries balances and terms are what they are."""
    return account.charged, account.settled

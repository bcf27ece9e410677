"""Balances of personal accounts, in memory, built from the charges and snapshots that are stored.

Two kinds of numbers stand for a person: those of this process (`account_names.Directory`), by which balances lie in
arrays and which engines keep; and those of the ledger, in the order in which persons were first stored, which are what
is written. Those who are stored together are in the order of their names. As long as this process is the only one that
opens accounts, both numbers are the same, and no table of them is kept.
"""

import threading
from hashlib import sha256
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.gate.accounts.account_names import Directory, First, Second, in_order, order_of, sizes_of
from discreet.gate.accounts.charge_files import (
    NAMES,
    ChargeRecord,
    Enrolled,
    Numbers,
    unpack,
    unpack_names,
    unreadable_error,
)
from discreet.gate.accounts.personal_terms import PersonalAccount, extend_trail
from discreet.gate.entries.chain import damage_error
from discreet.gate.entries.events import Charged, Snapshot, from_body
from discreet.gate.stores.protocol import LedgerReader, read_beside, read_trusted

T = TypeVar("T", bound=np.generic)

#: The most that an account can count.
FULL = 2**32 - 1
#: So many are charged at a time, in the processor's cache.
BLOCK = 1 << 17

Locals = NDArray[np.int64]


class Accounts:
    """The balances of all persons of one ledger, as one handle of it has read them. Private."""

    def __init__(self, directory: Directory, vouched: int = 0) -> None:
        self.directory, self._vouched = directory, vouched
        self.lock = threading.RLock()
        self._clear()

    def _clear(self) -> None:
        #: The last entry that is counted here, and the trail that it left.
        self.number, self.trail = 0, ""
        #: How many persons are stored.
        self.stored = 0
        self._spent, self._failed = np.zeros(0, np.uint32), np.zeros(0, np.uint32)
        #: The ledger's number of each of ours, −1 for none yet, and ours of each of the ledger's; None: the same.
        self._theirs: NDArray[np.int64] | None = None
        self._ours: NDArray[np.int64] | None = None
        #: The entries that names are stored beside, and how many.
        self._enrolled: list[tuple[int, int]] = []
        #: What this process is about to store, by its hash: so it is not read again.
        self._expected: dict[str, ChargeRecord] = {}
        #: What a run worked with that is counted now, for the next: fresh memory is dearer than all else.
        self._spare: Numbers | None = None

    def __repr__(self) -> str:
        return "Accounts(…)"

    def balances(self) -> tuple[Numbers, Numbers]:
        """Return what each person of this process's directory was charged: ε or ρ, and failure mass."""
        size = len(self.directory)
        self._spent, self._failed = grow_array(self._spent, size), grow_array(self._failed, size)
        return self._spent, self._failed

    def copy_balances(self) -> tuple[Numbers, Numbers]:
        """Return copies of the balances, for a run to work with."""
        with self.lock:
            spent, failed = self.balances()
            spare, self._spare = self._spare, None
            if spare is None or len(spare) != len(spent):
                spare = np.empty_like(spent)
            np.copyto(spare, spent)
            # Of failure masses there often are none: then no memory is touched, as `zeros_like` would.
            return spare, failed.copy() if failed.any() else np.zeros(len(failed), failed.dtype)

    def catch_up(self, account: PersonalAccount, reading: LedgerReader) -> None:
        """Count what was charged since this was last called, up to where the state is.

        Guarantee: what is counted is what the state's trail says, from a snapshot that is vouched for or from the first
        charge; whatever was changed, left out or put in on the way is refused.
        """
        with self.lock:
            try:
                for number in reversed(self._list_missing(account, reading)):
                    self._count(number, reading)
                self._check_trail(account)
            except BaseException:
                self._clear()  # half of it is worse than nothing
                raise

    def _check_trail(self, account: PersonalAccount) -> None:
        if (self.number, self.trail) != (account.charged, account.trail):
            raise unreadable_error()

    def _list_missing(self, account: PersonalAccount, reading: LedgerReader) -> list[int]:
        """Return the entries to be counted, newest first: back to the last one counted, or to where one may begin."""
        missing: list[int] = []
        number = account.charged
        while number > self.number:
            missing.append(number)
            event = _need_charging_event(reading, number)
            if isinstance(event, Snapshot) and not self.number and number <= self._vouched:
                return missing
            if event.after >= number:
                raise unreadable_error()
            number = event.after
        if number != self.number:
            raise unreadable_error()
        return missing

    def expect(self, people: ChargeRecord, digest: str) -> None:
        """Take note of what is about to be stored, so that it is counted without being read."""
        self._expected = {digest: people}

    def _count(self, number: int, reading: LedgerReader) -> None:
        event = _need_charging_event(reading, number)
        mine = self._expected.pop(event.people, None)
        people = mine or unpack(read_stored_people(reading, number, event))
        if isinstance(event, Charged):
            self.charge(people, number)
        elif self.number:
            self.compare(people, reading)
        else:
            self._begin(people, reading)
        self.trail = extend_trail("" if isinstance(event, Snapshot) else self.trail, event.people)
        self.number, self._spare = number, None if mine is None else mine.amounts

    def _begin(self, people: ChargeRecord, reading: LedgerReader) -> None:
        """Count from a snapshot on."""
        for enrolment in people.enrolled:
            content = _read_stored_names(reading, enrolment.entry, enrolment.persons)
            if sha256(content).digest() != enrolment.digest:
                raise unreadable_error()
            self._enrol(enrolment.entry, *unpack_names(content, enrolment.persons))
        if people.known != self.stored or len(people.high):
            raise unreadable_error()
        self._add(people)

    def charge(self, people: ChargeRecord, number: int) -> None:
        """Add the charges of an entry, and enrol who is new."""
        if people.known != self.stored or people.enrolled:
            raise unreadable_error()
        self._enrol(number, people.high, people.low)
        self._add(people)

    def _add(self, people: ChargeRecord) -> None:
        numbers = self.ours(people.accounts)
        for balances, more in zip(self.balances(), (people.amounts, people.failures), strict=True):
            if not more.any():
                continue
            for start in range(0, len(more), BLOCK):
                # All there are need no looking up.
                block = slice(start, min(start + BLOCK, len(more)))
                where = block if isinstance(numbers, slice) else numbers[block]
                then = balances[where].astype(np.uint64) + more[block]
                if then.max() > FULL:
                    raise unreadable_error()
                balances[where] = then

    def compare(self, people: ChargeRecord, reading: LedgerReader) -> None:
        """Refuse a snapshot that is not the sum of what was charged."""
        if len(people.high) or people.known != self.stored or people.enrolled != self.list_enrolled(reading):
            raise unreadable_error()
        there, here = np.zeros((2, self.stored), np.uint32), self.ours(np.arange(self.stored))
        there[0][people.accounts], there[1][people.accounts] = people.amounts, people.failures
        if not all(
            np.array_equal(balance[here], stated) for balance, stated in zip(self.balances(), there, strict=True)
        ):
            raise unreadable_error()

    def list_enrolled(self, reading: LedgerReader) -> tuple[Enrolled, ...]:
        """Return where the names of all who are stored are, in the order of their numbers."""
        stored = ((entry, count, _read_stored_names(reading, entry, count)) for entry, count in self._enrolled)
        return tuple(Enrolled(entry, count, sha256(content).digest()) for entry, count, content in stored)

    def _enrol(self, entry: int, high: First, low: Second) -> None:
        """Give persons whom somebody stored their numbers."""
        count = len(high)
        if not count:
            return
        if self._theirs is not None or not self.directory.are_numbered_from(self.stored, high, low):
            ours = self.directory.numbers(high, low)
            if self._theirs is not None or not np.array_equal(ours, np.arange(self.stored, self.stored + count)):
                self._tell_apart()
                self._number(ours)
        self.stored += count
        self._enrolled.append((entry, count))

    def _tell_apart(self) -> NDArray[np.int64]:
        """Begin to keep both kinds of numbers; return the ledger's, by ours."""
        size = len(self.directory)
        if self._theirs is None or self._ours is None:
            self._ours = np.arange(self.stored)
            self._theirs = np.full(size, -1, np.int64)
            self._theirs[: self.stored] = self._ours
        elif len(self._theirs) < size:
            self._theirs = np.concatenate([self._theirs, np.full(size - len(self._theirs), -1, np.int64)])
        return self._theirs

    def _number(self, ours: Locals) -> None:
        if self._theirs is None or self._ours is None or (self._theirs[ours] >= 0).any():
            raise unreadable_error()  # somebody is stored twice
        self._theirs[ours] = np.arange(self.stored, self.stored + len(ours))
        self._ours = np.concatenate([self._ours, ours])

    def ours(self, theirs: NDArray[np.int64] | slice) -> Locals | slice:
        """Return this process's numbers of persons, by the ledger's."""
        return theirs if self._ours is None else self._ours[theirs]

    def totals_spent(self) -> Numbers:
        """Return what everybody who is stored was charged."""
        return self.balances()[0][self.ours(np.arange(self.stored))]

    def totals(self, reading: LedgerReader) -> ChargeRecord:
        """Return all that everybody was charged, for a snapshot."""
        numbers = self.ours(np.arange(self.stored))
        spent, failed = (balance[numbers] for balance in self.balances())
        charged = np.flatnonzero((spent > 0) | (failed > 0))
        return ChargeRecord(
            *(self.stored, np.zeros(0, np.uint64), np.zeros(0, np.uint32), charged, spent[charged], failed[charged]),
            enrolled=self.list_enrolled(reading),
        )

    def charges(self, numbers: Locals | slice, amounts: Numbers, failures: Numbers) -> ChargeRecord:
        """Return charges of persons by this process's numbers, as they are stored; whoever is new is enrolled."""
        if self._theirs is None:
            high, low = self.directory.names(slice(self.stored, None))
            if in_order(high, low):  # as those of one table are
                return ChargeRecord(self.stored, high, low, numbers, amounts, failures)
        numbered = self._tell_apart().copy()
        new = np.flatnonzero(numbered < 0)
        high, low = self.directory.names(new)
        order, total = order_of(high, low), self.stored + len(new)
        numbered[new[order]] = np.arange(self.stored, total)
        theirs = numbered[numbers]
        turn = _sort_order(theirs, total)
        return ChargeRecord(self.stored, high[order], low[order], theirs[turn], amounts[turn], failures[turn])


def grow_array(values: NDArray[T], size: int) -> NDArray[T]:
    """Return what is kept of everybody, with nothing for those who came since."""
    if len(values) >= size:
        return values
    more = np.zeros(size, values.dtype)  # of which nothing is in memory before it is written to
    more[: len(values)] = values
    return more


def _sort_order(numbers: Locals, total: int) -> NDArray[np.int64]:
    """Return the order of different numbers below a total."""
    if 32 * len(numbers) < total:
        return np.argsort(numbers)
    place = np.full(total, -1)
    place[numbers] = np.arange(len(numbers))
    return place[place >= 0]


def _read_stored_names(reading: LedgerReader, entry: int, count: int) -> bytes:
    """Return the names that are stored beside an entry, which nobody has checked."""
    return (reading.people(entry, NAMES + sum(sizes_of(count))) or b"")[NAMES:]


def read_stored_people(reading: LedgerReader, number: int, event: Charged | Snapshot) -> bytes:
    """Return who is stored beside an entry, whose hash was checked."""
    packed = read_beside(reading, number, event)
    if packed is None or sha256(packed).hexdigest() != event.people:
        raise damage_error(f"What persons were charged by entry {number} is missing or was changed.")
    return packed


def _need_charging_event(reading: LedgerReader, number: int) -> Charged | Snapshot:
    entry = read_trusted(reading, number)
    event = None if entry is None else from_body(entry.body)
    if not isinstance(event, Charged | Snapshot):
        raise damage_error(f"Entry {number} should have charged persons and did not.")
    return event

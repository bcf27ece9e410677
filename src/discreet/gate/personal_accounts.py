"""What each person was charged by now: in memory, from what is stored beside charges and snapshots.

Two kinds of numbers stand for a person: those of this process (`people.Directory`), by which balances lie in arrays and
which engines keep; and those of the ledger, in the order in which persons were first stored, which are what is written.
As long as this process is the only one that opens accounts, they are the same, and no table of them is kept.
"""

import threading
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.gate.chain import damaged
from discreet.gate.events import Charged, Snapshot, from_body
from discreet.gate.people import Directory
from discreet.gate.people_blobs import Numbers, People, unpack, unreadable
from discreet.gate.personal_account import PersonalAccount, followed
from discreet.gate.stores import Reading, beside, trusted

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

    def __repr__(self) -> str:
        return "Accounts(…)"

    def balances(self) -> tuple[Numbers, Numbers]:
        """Return what each person of this process's directory was charged: ε or ρ, and failure mass."""
        size = len(self.directory)
        if len(self._spent) < size:
            room = size - len(self._spent)
            self._spent, self._failed = (
                np.concatenate([kept, np.zeros(room, np.uint32)]) for kept in (self._spent, self._failed)
            )
        return self._spent, self._failed

    def caught_up(self, account: PersonalAccount, reading: Reading) -> None:
        """Count what was charged since this was last called, up to where the book is.

        Guarantee: what is counted is what the book's trail says, from a snapshot that is vouched for or from the first
        charge; whatever was changed, left out or put in on the way is refused.
        """
        with self.lock:
            try:
                for number in reversed(self._missing(account, reading)):
                    self._count(number, reading)
                self._need(account)
            except BaseException:
                self._clear()  # half of it is worse than nothing
                raise

    def _need(self, account: PersonalAccount) -> None:
        if (self.number, self.trail) != (account.charged, account.trail):
            raise unreadable()

    def _missing(self, account: PersonalAccount, reading: Reading) -> list[int]:
        """Return the entries to be counted, newest first: back to the last one counted, or to where one may begin."""
        found: list[int] = []
        number = account.charged
        while number > self.number:
            found.append(number)
            event = _peopled(reading, number)
            if isinstance(event, Snapshot) and not self.number and number <= self._vouched:
                return found
            if event.after >= number:
                raise unreadable()
            number = event.after
        if number != self.number:
            raise unreadable()
        return found

    def _count(self, number: int, reading: Reading) -> None:
        event = _peopled(reading, number)
        people = unpack(stored_people(reading, number, event))
        if isinstance(event, Charged):
            self.charge(people)
        elif self.number:
            self.compare(people)
        else:
            self.charge(people)
        self.trail = followed("" if isinstance(event, Snapshot) else self.trail, event.people)
        self.number = number

    def charge(self, people: People) -> None:
        """Add charges, and enrol who is new."""
        if people.known != self.stored:
            raise unreadable()
        self._enrol(people)
        numbers = self.ours(people.accounts)
        for kept, more in zip(self.balances(), (people.amounts, people.failures), strict=True):
            if not more.any():
                continue
            for start in range(0, len(numbers), BLOCK):
                some = numbers[start : start + BLOCK]
                then = kept[some].astype(np.uint64) + more[start : start + BLOCK]
                if then.max() > FULL:
                    raise unreadable()
                kept[some] = then

    def compare(self, people: People) -> None:
        """Refuse a snapshot that is not the sum of what was charged."""
        if people.known or len(people.high) != self.stored:
            raise unreadable()
        there, here = np.zeros((2, self.stored), np.uint32), self.ours(np.arange(self.stored))
        there[0][people.accounts], there[1][people.accounts] = people.amounts, people.failures
        same = all(np.array_equal(kept[here], one) for kept, one in zip(self.balances(), there, strict=True))
        if not same or not np.array_equal(self.directory.known(people.high, people.low), here):
            raise unreadable()

    def _enrol(self, people: People) -> None:
        """Give persons whom somebody stored their numbers."""
        count = len(people.high)
        ours = self.directory.numbers(people.high, people.low)
        same = self._theirs is None and np.array_equal(ours, np.arange(self.stored, self.stored + count))
        if not same and count:
            self._tell_apart()
            self._number(ours)
        self.stored += count

    def _tell_apart(self) -> None:
        """Begin to keep both kinds of numbers."""
        size = len(self.directory)
        if self._theirs is None or self._ours is None:
            self._ours = np.arange(self.stored)
            self._theirs = np.full(size, -1, np.int64)
            self._theirs[: self.stored] = self._ours
        elif len(self._theirs) < size:
            self._theirs = np.concatenate([self._theirs, np.full(size - len(self._theirs), -1, np.int64)])

    def _number(self, ours: Locals) -> None:
        if self._theirs is None or self._ours is None or (self._theirs[ours] >= 0).any():
            raise unreadable()  # somebody is stored twice
        self._theirs[ours] = np.arange(self.stored, self.stored + len(ours))
        self._ours = np.concatenate([self._ours, ours])

    def ours(self, theirs: NDArray[np.int64]) -> Locals:
        """Return this process's numbers of persons, by the ledger's."""
        return theirs if self._ours is None else self._ours[theirs]

    def totals_spent(self) -> Numbers:
        """Return what everybody who is stored was charged."""
        return self.balances()[0][self.ours(np.arange(self.stored))]

    def totals(self) -> People:
        """Return everybody with all that they were charged, for a snapshot."""
        numbers = self.ours(np.arange(self.stored))
        spent, failed = (kept[numbers] for kept in self.balances())
        some = np.flatnonzero((spent > 0) | (failed > 0))
        return People(0, *self.directory.names(numbers), some, spent[some], failed[some])

    def charges(self, numbers: Locals, amounts: Numbers, failures: Numbers) -> People:
        """Return charges of persons by this process's numbers, as they are stored; whoever is new is enrolled."""
        size = len(self.directory)
        if self._theirs is None:
            new = np.arange(self.stored, size)
            theirs = numbers
        else:
            self._tell_apart()
            new = np.flatnonzero(self._theirs < 0)
            numbered = self._theirs.copy()
            numbered[new] = np.arange(self.stored, self.stored + len(new))
            theirs = numbered[numbers]
        order = slice(None) if self._theirs is None else np.argsort(theirs)
        high, low = self.directory.names(new) if len(new) else (np.zeros(0, np.uint64), np.zeros(0, np.uint32))
        return People(self.stored, high, low, theirs[order], amounts[order], failures[order])


def stored_people(reading: Reading, number: int, event: Charged | Snapshot) -> bytes:
    """Return who is stored beside an entry, whose hash was checked."""
    packed = beside(reading, number, event)
    if packed is None or sha256(packed).hexdigest() != event.people:
        raise damaged(f"What persons were charged by entry {number} is missing or was changed.")
    return packed


def _peopled(reading: Reading, number: int) -> Charged | Snapshot:
    entry = trusted(reading, number)
    event = None if entry is None else from_body(entry.body)
    if not isinstance(event, Charged | Snapshot):
        raise damaged(f"Entry {number} should have charged persons and did not.")
    return event

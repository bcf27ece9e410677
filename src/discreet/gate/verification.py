"""Checking a ledger from its first entry on: chain, keys, sums, answers, signatures, anchors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from discreet.core import DiscreetError
from discreet.gate.books import Book
from discreet.gate.canonical import Fields
from discreet.gate.chain import Entry
from discreet.gate.checkpoints import is_signed
from discreet.gate.opening import Places, need_anchored
from discreet.gate.stores import Keys, Reading, trusted

#: Told how many entries were checked, of how many.
Progress = Callable[[int, int], None]
#: How often progress is told.
OFTEN = 10_000


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found. `faults` is empty if all is well."""

    entries: int
    payments: int
    releases: int
    checkpoints: int
    signed: int
    unanswered: int
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing contradicts anything else."""
        return not self.faults


class _Walk:
    """One pass over all entries, besides what the book checks."""

    def __init__(self, reading: Reading, key: str, progress: Progress | None) -> None:
        self.reading, self.key, self.progress = reading, key, progress
        self.newest = reading.newest()
        self.keys = Keys("")
        self.begin(b"", 0)

    def begin(self, head: bytes, entries: int) -> None:
        self.head, self.entries = head, entries
        self.requests: set[str] = set()
        self.answered: set[int] = set()
        self.payments: set[int] = set()
        self.faults: list[str] = []
        self.checkpoints = self.signed = 0

    def pass_on(self, after: int) -> Iterator[Entry]:
        before = self.reading.entry(after)
        self.begin(b"" if before is None else before.head, after)
        for entry, keys in self.reading.keyed(after):
            self.keys = keys  # of the entry that is looked at next
            yield entry

    def look(self, entry: Entry, fields: Fields) -> None:
        kind = fields["kind"]
        number = entry.number
        if kind == "payment":
            request = fields["request"]
            said: tuple[object, ...] = (kind, request, fields["plan"], None)
            if request in self.requests:
                self.faults.append(f"entry {number} pays for a request that was paid for before")
            self.requests.add(request)
            self.payments.add(number)
        elif kind == "release":
            self.released(number, fields)
            said = (kind, None, None, fields["payment"])
        else:
            said = (kind, None, None, None)
            if kind == "checkpoint":
                self.checkpointed(entry, fields)
        if self.keys != said:
            self.faults.append(f"entry {number} is filed under keys that it does not have")
        self.head, self.entries = entry.head, number
        if number % OFTEN == 0 and self.progress is not None:
            self.progress(number, self.newest.number if self.newest else number)

    def released(self, number: int, fields: dict[str, object]) -> None:
        payment = fields["payment"]
        if payment not in self.payments:
            self.faults.append(f"entry {number} releases what was not paid for before")
        elif payment in self.answered:
            self.faults.append(f"entry {number} releases what was released before")
        else:
            self.answered.add(int(str(payment)))
        answer = self.reading.answer(number)
        if answer is None or sha256(answer).hexdigest() != fields["answer"]:
            self.faults.append(f"the answer of entry {number} is missing or was changed")

    def checkpointed(self, entry: Entry, fields: Fields) -> None:
        self.checkpoints += 1
        if is_signed(entry, self.head, self.key):
            self.signed += 1
        elif fields["signature"]:
            self.faults.append(f"the signature of checkpoint {entry.number} is not by the ledger's key")


def verified(reading: Reading, places: Places, progress: Progress | None = None) -> Verification:
    """Check everything that is stored."""
    faults: list[str] = []
    walk = None
    try:
        first = trusted(reading, 1)
        if first is None:
            return Verification(0, 0, 0, 0, 0, 0, ("there is no first entry",))
        book = Book.opened(first)
        walk = _Walk(reading, book.birth.key, progress)
        book = book.caught_up(walk.pass_on, walk.look)
        need_anchored(reading, places, first.head.hex(), explicit=False)
        if not reading.whole():
            faults.append("a page or an index of the file is damaged")
    except DiscreetError as error:
        faults.append(error.problem)
    except (ValueError, KeyError, TypeError):
        faults.append("an entry is not the text of an event")
    if walk is None:
        return Verification(0, 0, 0, 0, 0, 0, tuple(faults))
    faults += walk.faults
    unanswered = len(walk.payments) - len(walk.answered)
    counts = (walk.entries, len(walk.payments), len(walk.answered), walk.checkpoints, walk.signed, unanswered)
    return Verification(*counts, tuple(dict.fromkeys(faults)))

"""Checking a ledger from its first entry on: chain, keys, sums, answers, signatures, anchors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from discreet.core import DiscreetError
from discreet.gate.ledger.chain import LedgerEntry
from discreet.gate.ledger.encoding import Fields
from discreet.gate.ledger.events import Birth
from discreet.gate.ledger.opening import Places, need_anchored
from discreet.gate.ledger.state import LedgerState
from discreet.gate.proofs.balance_audit import PeopleAudit
from discreet.gate.proofs.histories import History
from discreet.gate.stores.protocol import Keys, LedgerReader, read_trusted

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
    #: Answers to later steps of what was paid for in one piece; the first ones are among the releases.
    continued: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing contradicts anything else."""
        return not self.faults


class _StoreWalk:
    """One pass over all entries of a store: their history, their keys, their answers."""

    def __init__(self, reading: LedgerReader, birth: Birth, progress: Progress | None) -> None:
        self.reading, self.birth, self.progress = reading, birth, progress
        self.newest = reading.newest()
        self.keys, self.entries = Keys(""), 0
        self.faults: list[str] = []
        self.history = History(birth.key, b"")
        self.audit: PeopleAudit | None = None

    def pass_on(self, after: int) -> Iterator[LedgerEntry]:
        before = self.reading.entry(after)
        self.entries, self.faults = after, []
        budget = self.birth.budget
        self.history = History(self.birth.key, b"" if before is None else before.head, budget.personal)
        self.audit = PeopleAudit(budget, self.reading) if budget.personal else None
        for entry, keys in self.reading.read_with_keys(after):
            self.keys = keys  # of the entry that is looked at next
            yield entry

    def look(self, entry: LedgerEntry, fields: Fields) -> None:
        number, kind = entry.number, fields["kind"]
        self.history.look(entry, fields)
        if kind in ("release", "continuation"):
            answer = self.reading.answer(number)
            if answer is None or sha256(answer).hexdigest() != fields["answer"]:
                self.faults.append(f"the answer of entry {number} is missing or was changed")
        if self.audit is not None:
            self.audit.look(entry, fields)
        stated_keys = _read_keys(fields)
        if self.keys != stated_keys:
            self.faults.append(f"entry {number} is filed under keys that it does not have")
        self.entries = number
        if number % OFTEN == 0 and self.progress is not None:
            self.progress(number, self.newest.number if self.newest else number)


def _read_keys(fields: Fields) -> Keys:
    """Return the keys that a body says."""
    kind, payment = fields["kind"], fields.get("payment")
    if kind == "payment":
        return Keys(kind, fields["request"], fields["plan"], payment)
    return Keys(kind, str(fields["step"]) if kind == "continuation" else None, None, payment)


def verify_store(reading: LedgerReader, places: Places, progress: Progress | None = None) -> Verification:
    """Check everything that is stored."""
    faults: list[str] = []
    walk = None
    try:
        first = read_trusted(reading, 1)
        if first is None:
            return Verification(0, 0, 0, 0, 0, 0, ("there is no first entry",))
        state = LedgerState.from_birth(first)
        walk = _StoreWalk(reading, state.birth, progress)
        state = state.catch_up(walk.pass_on, walk.look)
        need_anchored(reading, places, state, explicit=False)
        if not reading.whole():
            faults.append("a page or an index of the file is damaged")
    except DiscreetError as error:
        faults.append(error.problem)
    except (ValueError, KeyError, TypeError):
        faults.append("an entry is not the text of an event")
    if walk is None:
        return Verification(0, 0, 0, 0, 0, 0, tuple(faults))
    past, charging = walk.history, [] if walk.audit is None else walk.audit.faults
    return Verification(
        entries=walk.entries,
        payments=len(past.payments),
        releases=len(past.released),
        checkpoints=past.checkpoints,
        signed=past.signed,
        unanswered=len(past.payments - past.released),
        faults=tuple(dict.fromkeys([*faults, *walk.faults, *past.faults, *charging])),
        continued=past.continued,
    )

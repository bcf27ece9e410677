"""The protocol of a store of entries. There are two: SQLite for one host, PostgreSQL for several."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

from discreet import core
from discreet.core import DiscreetError, Finished, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.gate.entries.chain import GENESIS, LedgerEntry, check_chain, damage_error, parse_canonical
from discreet.gate.entries.events import (
    Begun,
    Charged,
    Continued,
    Copied,
    Event,
    Payment,
    Released,
    Snapshot,
    kind_name,
)

T = TypeVar("T")

#: Addresses of ledgers on a server begin so; any other place is a path.
SERVER = ("postgresql://", "postgres://")
#: No entry has a greater number.
NEWEST = 2**62

#: A request to have an event written, as bytes; and the answer that goes with a release.
Proposal = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Accepted:
    """An event stands at this number; `fresh` if this proposal put it there."""

    number: int
    head: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """An event was not written: the name of the error, and what it says."""

    kind: str
    problem: str
    fix: str


def error_of(refused: Refused) -> DiscreetError:
    """Return the error that a refusal stands for."""
    kind: Any = getattr(core, refused.kind, InvalidInput)
    error: DiscreetError = kind.of(refused.problem, refused.fix)
    return error


Outcome = Accepted | Refused


@dataclass(eq=False, slots=True)
class CommitBatch:
    """Proposals that are committed together. Without outcomes, the caller who gets it leads, and has to set them."""

    proposals: Sequence[Proposal]
    outcomes: Sequence[Outcome] | None = None

    def need_outcomes(self) -> Sequence[Outcome]:
        """Return the outcomes, in the order of the proposals."""
        if self.outcomes is None:
            raise LedgerUnavailable("A batch was committed without outcomes.", fix="ask again under the same request")
        return self.outcomes


#: Join the group commit with some proposals.
Join = Callable[[Sequence[Proposal]], AbstractContextManager[CommitBatch]]


class Keys(NamedTuple):
    """The keys by which an entry is found again. They repeat its body; the reader checks the body."""

    kind: str
    #: Of a payment or a copy; of a continuation its step.
    request: str | None = None
    plan: str | None = None
    payment: int | None = None


def keys_of(event: Event) -> Keys:
    """Return the keys of an event."""
    match event:
        case Payment(request=request, plan=plan):
            return Keys("payment", request, plan)
        case Copied(payment=payment, request=request, plan=plan):
            return Keys("copy", request, plan, payment)
        case Released(payment=payment):
            return Keys("release", payment=payment)
        case Continued(payment=payment, step=step):
            return Keys("continuation", str(step), payment=payment)
        case Charged(payment=payment):
            return Keys("charge", payment=payment)
        case Begun(payment=payment):
            return Keys("begun", payment=payment)
        case other:
            return Keys(kind_name(other))


class LedgerReader(Protocol):
    """The reading side, in a transaction or outside of one."""

    def newest(self) -> LedgerEntry | None:
        """Return the last entry."""
        ...

    def entry(self, number: int) -> LedgerEntry | None:
        """Return one entry."""
        ...

    def entries(self, after: int) -> Iterator[LedgerEntry]:
        """Return all entries after a number, in order."""
        ...

    def last_checkpoint(self, most: int = NEWEST) -> int | None:
        """Return the number of the last checkpoint, of those up to a number."""
        ...

    def payment_of(self, request: str) -> int | None:
        """Return the number of the payment of a request."""
        ...

    def copy_of(self, request: str) -> int | None:
        """Return the number of the copy that was made for a request."""
        ...

    def copies_of(self, payment: int) -> list[int]:
        """Return the numbers of all copies of a payment's answer, in order."""
        ...

    def release_of(self, payment: int, step: int = 0) -> int | None:
        """Return the number of the release of a payment, or of a later step of it."""
        ...

    def continuations(self, payment: int) -> int:
        """Return the number of steps of a payment that were answered after the first."""
        ...

    def payments_of_plan(self, plan: str) -> Iterator[int]:
        """Return the released payments of a plan, oldest first."""
        ...

    def list_unanswered(self, plan: str) -> Iterator[int]:
        """Return the payments of a plan that have no release, oldest first."""
        ...

    def recent_payments(self, count: int) -> list[int]:
        """Return the numbers of the last payments and copies, newest first."""
        ...

    def list_unreleased(self) -> Iterator[int]:
        """Return the payments that have no release, in order."""
        ...

    def answer(self, release: int) -> bytes | None:
        """Return the answer stored with a release."""
        ...

    def charge_of(self, payment: int) -> int | None:
        """Return the number of the last entry that charged persons for a payment."""
        ...

    def charges_of(self, payment: int) -> list[int]:
        """Return the numbers of all entries that charged persons for a payment, in order."""
        ...

    def people(self, number: int, most: int | None = None) -> bytes | None:
        """Return the persons stored beside a charge or a snapshot; the first bytes, if so many are enough."""
        ...

    def whole(self) -> bool:
        """Tell whether the store finds its own files in order, indexes and all; may take a while."""
        ...

    def read_with_keys(self, after: int) -> Iterator[tuple[LedgerEntry, Keys]]:
        """Return all entries after a number with the keys they are found by, for verification."""
        ...


def read_trusted(reading: LedgerReader, number: int) -> LedgerEntry | None:
    """Return an entry whose bytes are those that its head was made from; refuse one that was changed."""
    entry = reading.entry(number)
    if entry is None:
        return None
    before = reading.entry(number - 1) if number > 1 else None
    if number > 1 and before is None:
        return None
    return next(check_chain([entry], number - 1, GENESIS if before is None else before.head))


def find_payment(reading: LedgerReader, request: str) -> int | None:
    """Return the payment of a request; refuse keys that lead elsewhere."""
    number = reading.payment_of(request)
    if number is not None:
        _need_filed(reading, number, kind="payment", request=request)
    return number


def find_copy(reading: LedgerReader, request: str) -> int | None:
    """Return the copy that was made for a request; refuse keys that lead elsewhere."""
    number = reading.copy_of(request)
    if number is not None:
        _need_filed(reading, number, kind="copy", request=request)
    return number


def list_released_payments(reading: LedgerReader, plan: str) -> Iterator[int]:
    """Return the released payments of a plan, oldest first; refuse keys that lead elsewhere."""
    for number in reading.payments_of_plan(plan):
        _need_filed(reading, number, kind="payment", plan=plan)
        yield number


def list_unanswered_payments(reading: LedgerReader, plan: str) -> Iterator[int]:
    """Return the payments of a plan without a release, oldest first; refuse keys that lead elsewhere."""
    for number in reading.list_unanswered(plan):
        _need_filed(reading, number, kind="payment", plan=plan)
        yield number


def find_release(reading: LedgerReader, payment: int, step: int = 0, *, surely: bool = False) -> int | None:
    """Return the release of a payment, or of a later step of it; refuse keys that lead elsewhere.

    That there is none is known from an index, and an index may be damaged. Before a run, the caller asks `surely`, and
    all entries since the payment (or the step before) are looked through: one payment must not buy two answers, nor
    one step.
    """
    expected: dict[str, object] = {"kind": "continuation", "step": step} if step else {"kind": "release"}
    expected["payment"] = payment
    number = reading.release_of(payment, step)
    if number is None and surely and _is_answered(reading, _before(reading, payment, step), expected):
        number = reading.release_of(payment, step)
        if number is None:
            raise _misfiling_error(payment)
    if number is not None:
        _need_filed(reading, number, **expected)
    return number


def find_charge(reading: LedgerReader, payment: int) -> int | None:
    """Return the last entry that charged persons for a payment; refuse keys that lead elsewhere."""
    number = reading.charge_of(payment)
    if number is not None:
        _need_filed(reading, number, kind="charge", payment=payment)
    return number


def read_beside(reading: LedgerReader, number: int, event: Event) -> bytes | None:
    """Return the bytes stored beside an entry: an answer, or persons."""
    match event:
        case Released() | Continued():
            return reading.answer(number)
        case Charged() | Snapshot():
            return reading.people(number)
        case _:
            return None


def _before(reading: LedgerReader, payment: int, step: int) -> int:
    """Return the entry after which a step can have been answered."""
    return (find_release(reading, payment, step - 1) if step else None) or payment


def _is_answered(reading: LedgerReader, since: int, expected: dict[str, object]) -> bool:
    first = read_trusted(reading, since)
    entries = () if first is None else check_chain(reading.entries(since), since, first.head)
    return any(expected.items() <= parse_canonical(entry.body).items() for entry in entries)


def _need_filed(reading: LedgerReader, number: int, **expected: object) -> None:
    entry = read_trusted(reading, number)
    fields = {} if entry is None else parse_canonical(entry.body)
    if any(fields.get(name) != value for name, value in expected.items()):
        raise _misfiling_error(number)


def _misfiling_error(number: int) -> LedgerDamaged:
    return damage_error(f"Entry {number} is filed under keys that it does not have, or under none.")


#: Stored data of persons is cut into pieces of so many bytes: no database takes a blob of gigabytes.
PIECE = 2**26
#: Kinds of entries whose answer is stored in pieces, apart from those that are handed out.
PIECED = frozenset({"charge", "snapshot"})


def pieces_of(packed: bytes) -> Iterator[tuple[int, memoryview]]:
    """Return the pieces of some bytes, with their places; one at least."""
    whole = memoryview(packed)
    return ((part, whole[at : at + PIECE]) for part, at in enumerate(range(0, len(whole), PIECE) or (0,)))


#: Write an entry with its keys and, for a release, its answer: durable with all others of its transaction, or none.
Add = Callable[[LedgerEntry, Keys, bytes | None], None]


class StoreStatus(Enum):
    """Whether a store may be spent from. A move leads through the other two: see `moving`."""

    OPEN = "open"
    #: A ledger is being copied to it; the copy does not count yet.
    ARRIVING = "arriving"
    #: Its ledger was moved elsewhere, for good.
    RETIRED = "retired"


def need_state(status: StoreStatus, needed: StoreStatus) -> None:
    """Refuse a store that is in another state than its handle is for."""
    match status:
        case _ if status is needed:
            return
        case StoreStatus.OPEN if needed is StoreStatus.RETIRED:
            raise InvalidInput("The ledger at this place was not retired.", fix="it is open: use it, or move it")
        case StoreStatus.OPEN:
            raise InvalidInput("There is a ledger at this place already.", fix="open it, or choose another place")
        case StoreStatus.ARRIVING:
            raise Finished(
                "A ledger is being moved to this place, or its move was interrupted.",
                fix="wait for the move, or finish it; until then the ledger is where it was",
            )
        case StoreStatus.RETIRED:
            raise Finished(
                "This ledger was moved to another place.",
                fix="open it there; if that refuses because the move was interrupted, finish the move",
            )


class Store(Protocol):
    """Entries on disk."""

    @property
    def reading(self) -> LedgerReader:
        """The committed state."""
        ...

    @property
    def handle(self) -> str:
        """A random name of this handle, by which others can tell whether it is still there."""
        ...

    def is_present(self, handle: str) -> bool:
        """Tell whether a handle of this store is open somewhere: gone means that it will never write again."""
        ...

    def transact(self, work: Callable[[LedgerReader, Add], T]) -> T:
        """Do some work as the only writer; when this returns, what was added is durable. If it raises, nothing is.

        The work may be done more than once before it counts. A failure to read, write or sync is a `LedgerUnavailable`,
        and the store does nothing more.
        """
        ...

    def change(self, state: StoreStatus, work: Callable[[LedgerReader], T]) -> T:
        """Do some work as the only writer, and with it put the store into another state; then close this handle."""
        ...

    def join(self, proposals: Sequence[Proposal]) -> AbstractContextManager[CommitBatch]:
        """Join the group commit of all processes; return when these proposals are written, or the caller leads.

        A leader gets a batch without outcomes: its own proposals first, then those of other processes. It commits them
        by `transact` and sets their outcomes. On leaving, every process that waits is given its own.
        """
        ...

    def narrow(self) -> None:
        """Take from other users what they may do with the store's files; refuse where that is not possible."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...

"""Group commit across the threads of a process: one leads, so that one sync of the disk serves all."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from discreet.core import DiscreetError, LedgerUnavailable
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import HOW_TO_READ, tell_operator
from discreet.gate.stores.protocol import CommitBatch, Join, Outcome, Proposal

#: Seconds after which a thread looks at the lock even if no other rang, at first and at most.
SHORTEST, LONGEST = 1e-3, 2e-2
#: The share of the last group's time for which a thread waits for others to join the next, as long as some do: after
#: so many pauses of so many seconds without an arrival, it does not wait.
PATIENCE, PAUSES, PAUSE = 0.4, 3, 4e-4


class ThreadQueue:
    """Threads of one process: one of them leads, and joins the group commit of processes for all."""

    def __init__(self, join: Join) -> None:
        self._join = join
        self._waiting: list[Ticket] = []
        self._guard, self._working = threading.Lock(), threading.Lock()
        self._took, self._served = 0.0, 0

    @contextmanager
    def join(self, proposal: Proposal) -> Iterator["Ticket"]:
        """Return when a proposal is decided, or this thread leads: then its ticket has a batch to commit.

        A leader sets the outcomes of the batch; on leaving, every thread that waits is given its own.
        """
        ticket = Ticket(proposal)
        with self._guard:
            self._waiting.append(ticket)
        while ticket.is_waiting:
            if self._working.acquire(blocking=False):
                try:
                    if ticket.is_waiting:
                        yield from self._lead(ticket)
                        return
                finally:
                    self._working.release()
                    self._call_next()
            else:
                ticket.bell.wait(LONGEST)
                ticket.bell.clear()
        if ticket.error is not None:
            raise without_frames(ticket.error)  # one of its own: the frames of the other hold what others asked
        yield ticket

    def _call_next(self) -> None:
        """Ring for one of those who came too late to be served: it serves all of them."""
        with self._guard:
            if self._waiting:
                self._waiting[0].bell.set()

    def _lead(self, own: "Ticket") -> Iterator["Ticket"]:
        linger(self._took, lambda: (len(self._waiting), self._served))
        with self._guard:
            tickets, self._waiting = self._waiting, []
        started = time.perf_counter()
        try:
            with self._join([ticket.proposal for ticket in tickets]) as batch:
                own.batch = batch if batch.outcomes is None else None
                yield own
            outcomes = batch.need_outcomes()[: len(tickets)]
            self._took, self._served = time.perf_counter() - started, len(tickets)
        except BaseException as error:
            for ticket in tickets:
                # An interrupt is meant for one thread; the others may ask again.
                ticket.error = error if isinstance(error, Exception) else _interrupt_error()
                ticket.bell.set()
            raise
        for ticket, outcome in zip(tickets, outcomes, strict=True):
            ticket.outcome = outcome
            ticket.bell.set()


def linger(took: float, asking: Callable[[], tuple[int, int]]) -> None:
    """Wait a little for those who were served last: without it, two groups would take turns with the disk.

    `took` is how long the last group took, and `asking` tells how many ask now, and how many might.
    """
    end = time.perf_counter() + min(took * PATIENCE, LONGEST)
    waiting, quiet = 0, 0
    while quiet < PAUSES and time.perf_counter() + PAUSE < end:
        before, (waiting, most) = waiting, asking()
        if waiting >= most:
            return
        quiet = 0 if waiting > before else quiet + 1
        time.sleep(PAUSE)


def without_frames(error: BaseException) -> BaseException:
    """Return an error that says the same and carries nothing along: no frames, no cause, no context."""
    if isinstance(error, DiscreetError):
        copy: DiscreetError = type(error).of(error.problem, error.fix)
        return copy
    if is_interrupt(error):
        return KeyboardInterrupt()
    tell_operator("The ledger failed.", error)  # what kind of error it was may depend on how many persons are charged
    return LedgerUnavailable(
        "The ledger failed.", fix=f"open it again; what was paid for can be asked again for free; {HOW_TO_READ}"
    )


@dataclass(eq=False)
class Ticket:
    """One proposal that waits for its outcome."""

    proposal: Proposal
    #: The batch that this thread has to commit, if it leads.
    batch: CommitBatch | None = None
    outcome: Outcome | None = None
    error: BaseException | None = None
    bell: threading.Event = field(default_factory=threading.Event)

    @property
    def is_waiting(self) -> bool:
        """Whether nothing was decided yet."""
        return self.outcome is None and self.error is None


def _interrupt_error() -> LedgerUnavailable:
    return LedgerUnavailable(
        "The thread that paid for several was interrupted.", fix="ask again under the same request: it is paid for once"
    )


class Locks:
    """A lock for each payment that is run now, and for each plan that is asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: weakref.WeakValueDictionary[int | str, _Lock] = weakref.WeakValueDictionary()

    @contextmanager
    def of(self, key: int | str) -> Iterator[None]:
        """Hold the lock of a payment, by its number, or of a plan, by its digest."""
        with self._guard:
            lock = self._locks.setdefault(key, _Lock())
        with lock.lock:
            yield


class _Lock:
    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()

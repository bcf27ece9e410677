"""Begins and ends runs for one handle of a ledger, so that each is written down before it is made.

A run is known by its *runner*: the name of the handle, and a number of its own. Whether it is still going on is known
exactly in this process. Of another process only its handle is known: while that is open its runs are taken for going
on, and when it is gone they are failures.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import TypeVar

from discreet.core import DiscreetError, InvalidInput, StillRunning
from discreet.gate.entries.events import Begun, Excused, Failed, Reviewed, now, to_body
from discreet.gate.entries.runs import INTERRUPTED, LATE, RunState
from discreet.gate.ledger.state import LedgerState
from discreet.gate.plans import need_label
from discreet.gate.stores.protocol import Accepted

T = TypeVar("T")

#: Seconds to wait while the same request is run elsewhere, or too many are; and pauses between two looks.
PATIENCE, SHORTEST, LONGEST = 60.0, 2e-3, 0.25


class RunTracker:
    """The runs of one handle of a ledger. For the gate, and for the steward.

    Guarantee: a run that is made was written down before, and ends as answered or as a failure.
    """

    def __init__(
        self,
        handle: str,
        is_present: Callable[[str], bool],
        state: Callable[[], LedgerState],
        last_seen: Callable[[], LedgerState],
        write: Callable[[bytes], Accepted],
    ) -> None:
        self._handle, self._is_present, self._write = handle, is_present, write
        self._state, self._last_seen = state, last_seen
        self._numbers, self._live = count(1), set[str]()
        self._ended = threading.Condition()

    def __repr__(self) -> str:
        return f"RunTracker of {self._handle}"

    @property
    def state(self) -> RunState:
        """Open runs and failures, up to date."""
        return self._state().runs

    @contextmanager
    def runner(self) -> Iterator[str]:
        """Give a name to a run before it is begun, and know it as going on until this ends."""
        name = f"{self._handle}-{next(self._numbers)}"
        self._live.add(name)
        try:
            yield name
        finally:
            self._live.discard(name)
            with self._ended:
                self._ended.notify_all()

    def is_running(self, runner: str) -> bool:
        """Tell whether a run may still be going on."""
        handle = runner.partition("-")[0]
        return runner in self._live if handle == self._handle else self._is_present(handle)

    def is_run(self, payment: int) -> bool:
        """Tell whether a payment may be run now, by anybody."""
        return any(run.payment == payment and self.is_running(run.runner) for run in self.state.open)

    def begin(self, payment: int, step: int, analyst: str, runner: str, is_answered: Callable[[], bool]) -> int | None:
        """Write down that what was paid for is run, and return where; None if it was answered meanwhile.

        While another process runs it, this waits for that.
        """
        body = to_body(Begun(at=now(), payment=payment, step=step, analyst=analyst, runner=runner))

        def attempt() -> int | None:
            return None if is_answered() else self._write(body).number

        try:
            return self.wait(attempt)
        except InvalidInput:
            if is_answered():
                return None
            raise

    def wait(self, attempt: Callable[[], T]) -> T:
        """Return what an attempt returns; while it is refused for what is being run, try again for a minute."""
        self._settle(self._last_seen().runs)
        end, pause = time.monotonic() + PATIENCE, SHORTEST
        while True:
            try:
                return attempt()
            except StillRunning:
                if time.monotonic() >= end:
                    raise
            self._settle(self.state)
            with self._ended:
                self._ended.wait(pause)
            pause = min(2 * pause, LONGEST)

    def end(self, number: int, how: str) -> None:
        """Note that a run has ended, if it was not answered."""
        with suppress(DiscreetError):  # a ledger that cannot be written to is closed, and its runs have failed
            state = self._last_seen()
            if state.number >= number and not state.runs.is_open(number):
                return  # it was answered
            if self.state.is_open(number):
                self._write(to_body(Failed(at=now(), run=number, how=how)))

    def note_late(self, number: int) -> int:
        """Note that a run, of any process, was not done at the end of its slot: a failure. Return where it goes on.

        Whoever asked is told that it is late, which may depend on rows. So each time counts, and the run goes on as
        another one of the same runner, if there is room for one more failure.

        Raises:
            DiscreetError: The run has ended, or there is no room: then it does not go on.

        """
        run = self.state.find(number)
        self._write(to_body(Failed(at=now(), run=number, how=LATE)))
        again = Begun(at=now(), payment=run.payment, step=run.step, analyst=run.analyst, runner=run.runner)
        return self._write(to_body(again)).number

    def excuse(self, number: int, *, by: str, reason: str) -> None:
        """Note, before a run is stopped, that this is done for a public reason: then it is no failure."""
        event = Excused(at=now(), run=number, by=need_label(by, "by"), reason=need_label(reason, "reason"))
        self._write(to_body(event))

    def review(self, *, by: str, reason: str, analyst: str | None) -> None:
        """Note that the steward looked at the failures, of all or of one analyst, if there are any."""
        whose = None if analyst is None else need_label(analyst, "analyst", empty=True)
        by, reason = need_label(by, "by"), need_label(reason, "reason")
        self._write(to_body(Reviewed(at=now(finely=True), by=by, reason=reason, analyst=whose)))

    def _settle(self, runs: RunState) -> None:
        """Note runs of this handle that ended unnoted: an interrupt came while they were begun or ended."""
        for run in runs.open:
            mine = run.runner.partition("-")[0] == self._handle
            if mine and run.runner not in self._live:
                with suppress(InvalidInput):  # another thread has noted it
                    self._write(to_body(Failed(at=now(), run=run.number, how=INTERRUPTED)))

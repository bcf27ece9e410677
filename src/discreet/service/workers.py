"""The pool of workers, as the front sees it: taken for a question, given back at the end of its slot, replaced.

Guarantee: when a worker is free depends on slots alone. One that dies in a run counts as taken until the slot has
ended, and another takes its place then; one that starts is handed out at a fixed step of time after its start.
"""

import asyncio
import math
import os
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from discreet.core import DiscreetError, NotReady
from discreet.service.frames import Frame, read_frame
from discreet.service.nursery import Nursery
from discreet.service.refusals import Busy, Refusal
from discreet.service.words import read_word

#: Seconds to wait before another worker is started after one that died early: doubled each time, up to the last.
FIRST_PAUSE, LAST_PAUSE = 0.1, 10.0
#: Seconds between two moments at which a worker that has started may be handed out, counted from its start.
START_STEP = 0.5
#: Questions that wait for a worker at the same time.
MOST_WAITING = 64


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process and the front's ends of its pipes."""

    pid: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    #: Whether it has ended, as far as the front knows.
    gone: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended: its end of the pipe is closed."""
        return self.gone or self.reader.at_eof()

    async def send(self, kind: str, **fields: Any) -> None:
        """Send a frame; a worker that is gone is noticed when it is read from."""
        try:
            self.writer.write(Frame(kind=kind, fields=fields).to_bytes())
            await self.writer.drain()
        except OSError:
            self.gone = True

    async def read(self) -> Frame | None:
        """Return the next frame; None if the worker is gone."""
        frame = await read_frame(self.reader)
        self.gone = self.gone or frame is None
        return frame


class Workers:
    """A fixed number of workers on one dataset."""

    def __init__(self, nursery: Nursery, count: int) -> None:
        self._nursery, self._count = nursery, count
        self._free = deque[Worker]()
        self._waiting = deque[asyncio.Future[Worker]]()
        self._alive = set[Worker]()
        self._tasks = set[asyncio.Task[None]]()
        self._facts: asyncio.Future[str] | None = None
        self._closed = False

    async def start(self) -> str:
        """Start all workers; return the public facts that the first one tells, before it has read its rows.

        The others are started after that: a ledger that is new is begun by one.
        """
        self._facts = asyncio.get_running_loop().create_future()
        self._keep(self._hold_place())
        facts = await asyncio.shield(self._facts)
        for _ in range(self._count - 1):
            self._keep(self._hold_place())
        return facts

    async def take(self, patience: float) -> Worker:
        """Return a worker that is free, waiting for one if need be; refuse by load before anything is paid."""
        while self._free:
            worker = self._free.popleft()
            if not worker.has_ended:
                return worker
            self._replace(worker)
        waiter: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        if len(self._waiting) >= MOST_WAITING:
            raise refuse_load()
        self._waiting.append(waiter)
        # `asyncio.wait_for` would lose a worker that is handed out in the moment in which patience ends.
        try:
            await asyncio.wait((waiter,), timeout=patience)
        finally:
            waiter.cancel()  # which does nothing to one that has a worker
        if waiter.cancelled():
            raise refuse_load()
        return waiter.result()

    def give_back(self, worker: Worker) -> None:
        """Take a worker back at the end of a slot; in place of one that is gone, another is started."""
        if worker.has_ended:
            self._replace(worker)
            return
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(worker)
                return
        self._free.append(worker)

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for worker in list(self._alive):
            self._drop(worker)
        await asyncio.to_thread(self._nursery.close)

    def end(self, worker: Worker) -> None:
        """Kill a worker. It stays taken until it is given back."""
        worker.gone = True
        self._nursery.end(worker.pid)

    @property
    def has_nursery(self) -> bool:
        """Whether the nursery lives."""
        return self._nursery.lives

    @property
    def pids(self) -> list[int]:
        """The process ids of workers, for tests that kill them."""
        return [worker.pid for worker in self._alive]

    def _replace(self, worker: Worker) -> None:
        self._drop(worker)
        if not self._closed:
            self._keep(self._hold_place())

    def _drop(self, worker: Worker) -> None:
        self._alive.discard(worker)
        self._nursery.end(worker.pid)
        worker.writer.close()

    def _keep(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hold_place(self) -> None:
        """Start workers until one is ready, and hand it out."""
        pause = FIRST_PAUSE
        while not self._closed:
            begun = time.monotonic()
            worker = await self._start_worker()
            if worker is not None:
                steps = math.ceil((time.monotonic() - begun) / START_STEP)
                await asyncio.sleep(max(0.0, begun + steps * START_STEP - time.monotonic()))
                self.give_back(worker)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_PAUSE)

    async def _start_worker(self) -> Worker | None:
        """Return a worker that has read its rows; None if it died before."""
        try:
            worker = await self._fork()
        except (DiscreetError, OSError) as error:
            self._tell_facts(error)
            return None
        self._alive.add(worker)
        while (frame := await worker.read()) is not None:
            match frame.kind:
                case "facts":
                    self._tell_facts(frame.fields["facts"])
                case "ready":
                    return worker
                case _:
                    self._tell_facts(read_word(Refusal, frame.fields["refusal"]).error())
        self._drop(worker)
        self._tell_facts(NotReady("A worker ended while it opened the tables.", fix="see the operator's log"))
        return None

    def _tell_facts(self, found: str | Exception) -> None:
        if self._facts is None or self._facts.done():
            return
        if isinstance(found, str):
            self._facts.set_result(found)
        else:
            self._facts.set_exception(found)

    async def _fork(self) -> Worker:
        """Fork a worker, and connect the front's ends of its pipes."""
        loop = asyncio.get_running_loop()
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        try:
            pid = await asyncio.to_thread(self._nursery.fork, theirs_in, theirs_out)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        reader = asyncio.StreamReader(limit=1 << 20)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours_in, "rb", 0))
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(ours_out, "wb", 0)
        )
        return Worker(pid, reader, asyncio.StreamWriter(transport, protocol, None, loop))


def refuse_load() -> Busy:
    """Return the error that refuses by load."""
    return Busy("All workers are taken. Nothing was paid.", fix="ask again in a few seconds")

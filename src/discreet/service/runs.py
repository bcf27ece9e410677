"""One question on one worker, by the clock of its slots: replies at their ends, and what is late is counted."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from discreet.core import DiscreetError, RunFailed
from discreet.service.frames import Frame
from discreet.service.refusals import NotYet, Refusal
from discreet.service.slots import CHANCES, Slots
from discreet.service.words import AnswerReply, BatchReply, read_word
from discreet.service.workers import Worker, Workers
from discreet.session import Work

#: Seconds between the moments at which a refusal of a worker is told: many times as long as one takes.
STEP = 0.05
#: Notes in the ledger that a run is late, and returns where it goes on.
NoteLate = Callable[[int], Awaitable[int]]
#: What a question ends with: a reply, or what is refused.
Outcome = AnswerReply | BatchReply | DiscreetError


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a worker is sent: a question as words, who asks, and the ledger's request id."""

    kind: str
    analyst: str
    #: The analyst's team, whose share pays besides; empty without one.
    team: str
    request: str
    asked: dict[str, Any]


class PacedRun:
    """A question while a worker has it. Whoever asks it again under the same id waits for the same reply.

    Guarantee: replies are told at the ends of slots. Before a run begins, a worker refuses by public facts, and that is
    told at the next step of the clock.
    """

    def __init__(self, question: Question, slots: Slots, note_late: NoteLate) -> None:
        self.question = question
        self._slots, self._note_late = slots, note_late
        self._turn: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    async def reply(self) -> AnswerReply | BatchReply:
        """Return the next reply; whoever stops waiting stops nothing else."""
        outcome = await asyncio.shield(self._turn)
        if isinstance(outcome, DiscreetError):
            raise outcome
        return outcome

    async def drive(self, workers: Workers, patience: float) -> None:
        """Have the question answered, and tell every reply."""
        try:
            worker = await workers.take(patience)
        except DiscreetError as error:
            self._tell(error)
            return
        try:
            self._tell(await self._ask(worker, workers))
        except BaseException:
            workers.end(worker)
            self._tell(self._failed())
            raise
        finally:
            workers.give_back(worker)

    async def _ask(self, worker: Worker, workers: Workers) -> Outcome:
        """Return how the question ends; slots go by until then."""
        start, asked, began = _now(), self.question, False
        await worker.send(asked.kind, analyst=asked.analyst, team=asked.team, request=asked.request, asked=asked.asked)
        while (frame := await worker.read()) is not None:
            match frame.kind:
                case "began":  # again, where others were charged meanwhile: their charges are public, this run is not
                    began = True
                    if not await self._wait_for_run(frame, worker, workers, start):
                        return self._failed()
                    start = _now()
                case "refused" if not began:
                    # How long the ledger looked before it refused may depend on what others asked.
                    await _sleep_until(start + STEP * math.ceil((_now() - start) / STEP))
                    return self._read(frame)
                case _:
                    return self._read(frame)
        return self._failed()

    async def _wait_for_run(self, began: Frame, worker: Worker, workers: Workers, start: float) -> bool:
        """Wait for the ends of slots until a run is done, and let it end; False if it has failed for good."""
        fields = began.fields
        run = fields["run"]
        slot = float(self._slots.seconds(Work(passes=fields["passes"], cells=fields["cells"])))
        # What comes before a run takes milliseconds; a wait for another run to end, which is public, may take longer.
        end = (start if _now() - start < slot / 2 else _now()) + slot
        done = asyncio.ensure_future(worker.read())
        for chance in range(1, CHANCES + 1):
            await _sleep_until(end)
            if done.done():
                break
            try:
                run = await self._note_late(run)
            except DiscreetError:
                chance = CHANCES  # noqa: PLW2901 - no room for one more failure
            if chance == CHANCES:
                workers.end(worker)
                done.cancel()  # how long a process takes to end depends on what it holds
                return False
            slot *= 2
            end = _now() + slot
            self._tell_late(slot)
        frame = done.result()
        if frame is None:
            return False
        await worker.send("store", run=run)
        return True

    def _read(self, frame: Frame) -> Outcome:
        """Return what a worker replied; that a run failed is said in one constant sentence."""
        if frame.kind == "refused":
            error = read_word(Refusal, frame.fields["refusal"]).error()
            return self._failed() if isinstance(error, RunFailed) else error
        reply = frame.fields["reply"]
        return read_word(AnswerReply, reply) if self.question.kind == "ask" else read_word(BatchReply, reply)

    def _failed(self) -> RunFailed:
        return RunFailed(
            "The query failed after its budget was charged.",
            fix=f"ask again under the request id {self.question.request!r}, which is free",
        )

    def _tell(self, outcome: Outcome) -> None:
        if not self._turn.done():
            self._turn.set_result(outcome)

    def _tell_late(self, seconds: float) -> None:
        """Tell everybody who waits that it is not yet done; whoever asks from now on waits for the next slot."""
        turn, self._turn = self._turn, asyncio.get_running_loop().create_future()
        turn.set_result(NotYet.under(self.question.request, math.ceil(seconds)))


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _sleep_until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - _now()))

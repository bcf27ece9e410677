"""Slots: replies leave at public times, what is late is told and counted, and workers come back at public times."""

import asyncio
from fractions import Fraction

import pytest

from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, ReviewNeeded, RunFailed
from discreet.service.frames import Frame
from discreet.service.refusals import Busy, NotYet, Refusal
from discreet.service.runs import STEP, PacedRun, Question
from discreet.service.slots import Slots, next_step, read_duration
from discreet.service.words import AnswerReply, AnswerTable, write_word
from discreet.service.workers import Workers
from discreet.session import Work
from virtual_clock import run_virtually

REPLY = AnswerReply(what="n", table=AnswerTable(columns=(), rows=()), caption="", cost="ε = 1")
SLOTS = Slots(scale=Fraction(1, 100), rows=10**6)
#: The slot of one pass: 40 ms beside the rows and 10 ms for them.
SLOT = 0.05
QUESTION = Question(kind="ask", analyst="ada", team="", request="ada:1", asked={})


class ScriptedWorker:
    """A worker whose run takes so many seconds; it may die before it is done, or refuse before it begins."""

    def __init__(self, seconds=0.0, *, dies=False, refuses=None):
        self.seconds, self.dies, self.refuses = seconds, dies, refuses
        self.gone, self.stored = False, None
        self._frames = asyncio.Queue()

    async def send(self, kind, **fields):
        match kind, self.refuses:
            case "store", _:
                self.stored = fields["run"]
                self._put("reply", reply=write_word(REPLY))
            case _, None:
                self._put("began", run=7, passes=1, cells=0)
                asyncio.get_running_loop().call_later(self.seconds, self._finish)
            case _:
                refused = {"refusal": write_word(Refusal.of(self.refuses))}
                asyncio.get_running_loop().call_later(self.seconds, lambda: self._put("refused", **refused))

    async def read(self):
        frame = await self._frames.get()
        self.gone = self.gone or frame is None
        return frame

    def end(self):
        self.gone = True
        self._frames.put_nowait(None)

    def _finish(self):
        self.end() if self.dies else self._put("computed", run=7)

    def _put(self, kind, **fields):
        self._frames.put_nowait(Frame(kind=kind, fields=fields))


class OneWorker:
    """A pool of one worker, which notes when it comes back."""

    def __init__(self, worker):
        self.worker, self.back = worker, None

    async def take(self, _patience):
        return self.worker

    def give_back(self, _worker):
        self.back = round(asyncio.get_running_loop().time(), 6)

    def end(self, worker):
        worker.end()


class Noted:
    """A ledger's count of late runs; there is room for so many."""

    def __init__(self, room=3):
        self.room, self.runs = room, []

    async def __call__(self, run):
        self.runs.append(run)
        if len(self.runs) >= self.room:
            raise ReviewNeeded("p", fix="f")
        return run + 1


def driven(worker_of, *, asks=1, noted=None):
    """Return what is told and when, when the worker came back, and the worker: asked again as often as is said."""

    async def main():
        worker, note = worker_of(), noted or Noted()
        pool, run, told = OneWorker(worker), PacedRun(QUESTION, SLOTS, note), []
        task = asyncio.ensure_future(run.drive(pool, 1.0))
        for _ in range(asks):
            try:
                outcome = type(await run.reply())
            except DiscreetError as error:
                outcome = type(error)
            told.append((outcome, round(asyncio.get_running_loop().time(), 6)))
        await task
        return told, pool.back, worker

    return run_virtually(main())


def test_a_reply_leaves_at_the_end_of_its_slot_however_soon_the_run_is_done():
    for seconds in (0.0, 0.001, 0.02, 0.0499):
        told, back, _ = driven(lambda seconds=seconds: ScriptedWorker(seconds))
        assert told == [(AnswerReply, SLOT)]
        assert back == SLOT


def test_a_worker_that_dies_is_told_as_a_failure_at_the_end_of_the_slot_and_replaced_then():
    for seconds in (0.0, 0.01, 0.04):
        told, back, worker = driven(lambda seconds=seconds: ScriptedWorker(seconds, dies=True))
        assert told == [(RunFailed, SLOT)]
        assert back == SLOT
        assert worker.stored is None


def test_what_is_refused_before_a_run_is_told_at_a_step_of_the_clock_however_long_the_ledger_looked():
    for seconds in (0.001, 0.002, 0.0499):
        worker = lambda seconds=seconds: ScriptedWorker(seconds, refuses=BudgetExceeded("p", fix="f"))  # noqa: E731
        told, back, _ = driven(worker)
        assert told == [(BudgetExceeded, STEP)]
        assert back == STEP


def test_what_is_late_is_told_by_one_constant_reply_counted_and_looked_for_after_a_slot_twice_as_long():
    for seconds in (0.06, 0.1, 0.149):
        noted = Noted()
        told, back, worker = driven(lambda seconds=seconds: ScriptedWorker(seconds), asks=2, noted=noted)
        assert told == [(NotYet, SLOT), (AnswerReply, 0.15)]
        assert (noted.runs, worker.stored) == ([7], 8)
        assert back == 0.15


def test_there_are_three_chances_then_it_has_failed_and_the_worker_is_killed():
    noted = Noted()
    told, back, worker = driven(lambda: ScriptedWorker(3600.0), asks=3, noted=noted)
    assert told == [(NotYet, SLOT), (NotYet, 0.15), (RunFailed, 0.35)]
    assert (noted.runs, worker.stored, worker.gone) == ([7, 8, 9], None, True)
    assert back == 0.35


def test_a_failure_is_told_at_the_end_of_the_slot_however_long_the_worker_takes_to_end():
    class Lasting(ScriptedWorker):
        def end(self):
            self.gone = True
            asyncio.get_running_loop().call_later(0.7, self._frames.put_nowait, None)

    told, back, _ = driven(lambda: Lasting(3600.0), asks=3)
    assert told[-1] == (RunFailed, 0.35)
    assert back == 0.35


def test_where_no_failure_is_allowed_any_more_a_late_run_has_failed():
    told, back, worker = driven(lambda: ScriptedWorker(3600.0), noted=Noted(room=1))
    assert told == [(RunFailed, SLOT)]
    assert (back, worker.gone) == (SLOT, True)


class RepeatingWorker(ScriptedWorker):
    """A worker whose run is made again, as others were charged meanwhile; the second one takes `again` seconds."""

    def __init__(self, again):
        super().__init__(0.01)
        self.again, self.repeated = again, False

    async def send(self, kind, **fields):
        if kind == "store" and not self.repeated:
            self.repeated = True
            self._put("began", run=fields["run"], passes=1, cells=0)
            asyncio.get_running_loop().call_later(self.again, self._finish)
        else:
            await super().send(kind, **fields)


def test_a_run_that_is_made_again_has_slots_of_its_own_and_is_counted_where_it_is_late():
    for seconds in (0.0, 0.049):
        assert driven(lambda seconds=seconds: RepeatingWorker(seconds))[:2] == ([(AnswerReply, 2 * SLOT)], 2 * SLOT)
    for seconds in (0.051, 0.149):
        noted = Noted()
        told, back, _ = driven(lambda seconds=seconds: RepeatingWorker(seconds), asks=2, noted=noted)
        assert told == [(NotYet, 2 * SLOT), (AnswerReply, 4 * SLOT)]
        assert (noted.runs, back) == ([7], 4 * SLOT)


def test_slots_are_fixed_steps_of_public_facts():
    steps = {float(SLOTS.seconds(Work(passes=passes, cells=0))) for passes in range(1, 500)}
    assert steps == {0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0}
    assert SLOTS.seconds(Work(passes=1, cells=10**6)) > SLOTS.seconds(Work(passes=1, cells=1))
    assert Slots(scale=Fraction(1, 100), rows=10**8).seconds(Work(passes=1, cells=0)) == 2
    assert [next_step(Fraction(number, 1000)) for number in (1, 3, 50, 51)] == [
        Fraction(1, 1000), Fraction(5, 1000), Fraction(5, 100), Fraction(1, 10),
    ]  # fmt: skip


def test_durations_are_read_exactly_and_other_texts_are_refused():
    assert (read_duration("250ms"), read_duration("2 s")) == (Fraction(1, 4), 2)
    for bad in ("", "0ms", "1.5s", "1h", "-1s", 3):
        with pytest.raises(InvalidInput):
            read_duration(bad)


def test_load_is_told_before_anything_is_sent_to_a_worker():
    async def main():
        with pytest.raises(Busy):
            await Workers(None, 1).take(0.5)
        return asyncio.get_running_loop().time()

    assert run_virtually(main()) == 0.5


def test_a_worker_that_comes_back_in_the_moment_in_which_patience_ends_is_not_lost():
    """It is handed out, or taken by the next; otherwise the service would have one place less for ever."""

    async def main():
        workers, worker = Workers(None, 1), ScriptedWorker()
        worker.has_ended = False
        waiting = asyncio.create_task(workers.take(0.05))
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        loop.call_at(loop.time() + 0.05, workers.give_back, worker)
        try:
            return await waiting
        except Busy:
            return await workers.take(0.05)

    assert isinstance(run_virtually(main()), ScriptedWorker)

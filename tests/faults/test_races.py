"""Races: the rival is placed, not waited for."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting import Pure
from discreet.core import BudgetExceeded
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries.events import Payment, to_body
from discreet.gate.stores import process_queue as queues
from faults.checker import agreed, examined
from questions import Question

PLACED = Path(__file__).with_name("placed.py")
#: Who waits while a worker dies.
WAITING = 3
#: Nothing here takes longer, unless it hangs.
SECONDS = 60


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "clinic.ledger"
    Ledger.create(path, Budget(1)).close()
    return path


@contextmanager
def actor(place, scene, request):
    """Start a process that waits for its cue."""
    command = [sys.executable, str(PLACED), str(place), scene, request]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def cue(process):
    """Let a process begin, and wait until it says something."""
    process.stdin.write("go\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def paid(ledger, request, cost=0.1):
    plan = Question(request, Pure(cost))
    return ledger.pay(plan.cost, what=plan.describe(), plan="00", request=request)


def sound(place, *, payments, orphans):
    """Check a file by the checker's own arithmetic, and by the ledger's."""
    found = examined(place)
    with Ledger.open(place) as ledger:
        agreed(place, found, ledger)
    assert found.violations == []
    assert sorted(body["request"] for body in found.payments.values()) == sorted(payments)
    assert sorted(found.orphans) == sorted(orphans)


def together(count, work):
    """Let threads begin at the same moment; return what each gave, or the error that it met."""
    begin, given = threading.Barrier(count), [None] * count

    def one(index):
        begin.wait()
        try:
            given[index] = work(index)
        except BudgetExceeded as error:
            given[index] = error

    threads = [threading.Thread(target=one, args=[index]) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    return given


def asked_slots(place):
    return [slot for slot in Path(f"{place}-queue").glob("slot-*") if slot.read_bytes()[:1] == queues.ASKED]


class Crowd:
    """Handles of one process that have asked, and leave the work to somebody else until they are let in."""

    def __init__(self, place, monkeypatch, stack):
        self.door, real = threading.Event(), queues._try_lock
        handles = [stack.enter_context(Ledger.open(place)) for _ in range(WAITING)]
        monkeypatch.setattr(queues, "_try_lock", lambda handle: self.door.is_set() and real(handle))
        self.receipts = {}
        self.threads = [threading.Thread(target=self.pay, args=[index, one]) for index, one in enumerate(handles)]
        for thread in self.threads:
            thread.start()
        while len(asked_slots(place)) < WAITING:
            pass

    def pay(self, index, handle):
        self.receipts[index] = paid(handle, f"crowd-{index}")

    def let_in(self):
        self.door.set()
        for thread in self.threads:
            thread.join(SECONDS)
        assert sorted(self.receipts) == list(range(WAITING))
        assert all(receipt.request == f"crowd-{index}" for index, receipt in self.receipts.items())
        return [receipt.request for receipt in self.receipts.values()]


@pytest.mark.parametrize(
    ("scene", "charged"),
    [
        ("before_commit", False),
        ("after_commit", True),
        ("after_anchor", True),
        ("while_replying", True),
        ("after_one_reply", True),
    ],
)
def test_when_the_worker_dies_the_others_go_on(place, monkeypatch, scene, charged):
    with ExitStack() as stack:
        dying = stack.enter_context(actor(place, scene, "dying"))
        crowd = Crowd(place, monkeypatch, stack)
        assert cue(dying) == "here"
        assert dying.wait(SECONDS) == -signal.SIGKILL
        assert len(examined(place).payments) == (WAITING + 1 if charged else 0)
        requests = crowd.let_in()
    everybody = [*requests, "dying"] if charged else requests
    sound(place, payments=everybody, orphans=everybody)
    assert sum(1 for _ in Path(f"{place}-queue").glob("slot-*")) == 0


def test_a_worker_that_is_stopped_and_then_killed_holds_nobody_for_ever(place, monkeypatch):
    with ExitStack() as stack:
        dying = stack.enter_context(actor(place, "stopped_before_commit", "dying"))
        crowd = Crowd(place, monkeypatch, stack)
        assert cue(dying) == "here"
        os.kill(dying.pid, signal.SIGSTOP)
        crowd.door.set()
        assert len(asked_slots(place)) == WAITING + 1  # nobody was answered, and nobody gave up
        os.kill(dying.pid, signal.SIGKILL)
        dying.wait(SECONDS)
        requests = crowd.let_in()
    sound(place, payments=requests, orphans=requests)


@pytest.mark.parametrize("scene", ["while_asking", "in_the_middle_of_asking"])
def test_the_question_of_the_dead_is_swept_away_and_never_charged(place, scene):
    with actor(place, scene, "dying") as dying:
        assert cue(dying) == "here"
        assert dying.wait(SECONDS) == -signal.SIGKILL
    assert sum(1 for _ in Path(f"{place}-queue").glob("slot-*")) == 1
    with Ledger.open(place) as ledger:
        paid(ledger, "living")
        assert sum(1 for _ in Path(f"{place}-queue").glob("slot-*")) == 1
    sound(place, payments=["living"], orphans=["living"])


def test_a_question_that_was_interrupted_is_not_answered_to_the_next_one(place, monkeypatch):
    with Ledger.open(place) as one, Ledger.open(place) as other:
        read, go, anchor = threading.Event(), threading.Event(), other._anchor

        def slowly(handles):
            """Anchor what was committed, and answer those who wait only then."""
            anchor(handles)
            read.set()
            assert go.wait(SECONDS)

        rival = threading.Thread(target=paid, args=[other, "rival"])

        wait = queues.ProcessQueue._wait

        def interrupted(queue, seconds):
            """Interrupt the first who waits, when the rival has read what it asks."""
            if read.is_set():
                wait(queue, seconds)
                return
            rival.start()
            assert read.wait(SECONDS)
            raise KeyboardInterrupt

        locked, closed = queues._try_lock, one._store._queue._lock
        monkeypatch.setattr(other, "_anchor", slowly)
        monkeypatch.setattr(queues, "_try_lock", lambda handle: handle != closed and locked(handle))
        monkeypatch.setattr(queues.ProcessQueue, "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            paid(one, "cheap", 0.01)
        given = []
        dear = threading.Thread(target=lambda: given.append(paid(one, "dear", 0.5)))
        dear.start()
        while not asked_slots(place):
            pass
        closed = None
        go.set()
        for thread in (dear, rival):
            thread.join(SECONDS)
        assert [(receipt.request, receipt.cost) for receipt in given] == [("dear", Pure(0.5))]
    sound(place, payments=["rival", "cheap", "dear"], orphans=["rival", "cheap", "dear"])


def test_one_request_from_many_processes_is_paid_once_and_answered_alike(place):
    with ExitStack() as stack:
        actors = [stack.enter_context(actor(place, "release", "the same")) for _ in range(6)]
        for one in actors:
            one.stdin.write("go\n")
            one.stdin.flush()
        answers = [one.stdout.readline().strip() for one in actors]
    assert len(answers[0]) > 16
    assert set(answers) == {answers[0]}
    sound(place, payments=["the same"], orphans=[])


def test_one_request_from_many_handles_and_threads_is_paid_once_and_answered_alike(place):
    with ExitStack() as stack:
        gates = [Gate(stack.enter_context(Ledger.open(place)), []) for _ in range(4)]
        answers = together(16, lambda index: gates[index % 4].release(Question(), request="r").stored)
    assert set(answers) == {answers[0]}
    sound(place, payments=["r"], orphans=[])


@pytest.mark.parametrize("handles", [2, 5])
def test_of_many_who_race_for_the_last_payment_one_gets_it(tmp_path, handles):
    for turn in range(5):
        place = tmp_path / f"{turn}.ledger"
        with ExitStack() as stack:
            first = stack.enter_context(Ledger.create(place, Budget(1)))
            opened = [first, *(stack.enter_context(Ledger.open(place)) for _ in range(handles - 1))]
            given = together(handles, lambda index, opened=opened: paid(opened[index], f"r{index}", 0.6))
            won = [one.request for one in given if not isinstance(one, BudgetExceeded)]
            assert len(won) == 1
            assert {one.spent for one in opened} == {Fraction(6, 10)}
        sound(place, payments=won, orphans=won)


def test_a_rival_who_pays_between_price_and_payment_leaves_the_data_unseen(place):
    seen = []
    with Ledger.open(place) as one, Ledger.open(place) as other:
        gate = Gate(one, ["a row"])
        plan = Question(cost=Pure(0.6), doing=seen.append)
        assert gate.price(plan).fits
        paid(other, "rival", 0.6)
        with pytest.raises(BudgetExceeded):
            gate.release(plan)
    assert seen == []
    sound(place, payments=["rival"], orphans=["rival"])


def test_a_rival_who_pays_after_the_total_was_read_and_before_the_lock_was_taken_wins(place, monkeypatch):
    # The rival has no anchors, or it would wait for them.
    with Ledger.open(place) as one, Ledger.open(place, anchors=[]) as other:
        real, waiting = one._store.transact, [False, True]
        rival = Payment(at="", request="rival", analyst="", plan="00", what="rival", cost=Pure(0.6))

        def transact(work):
            # Past the queue, as a writer would be who knows nothing of it.
            if waiting.pop():
                other._store.transact(other._append([(to_body(rival), None)]))
            return real(work)

        assert one.fits(Pure(0.6))
        monkeypatch.setattr(one._store, "transact", transact)
        with pytest.raises(BudgetExceeded):
            paid(one, "late", 0.6)
        assert one.spent == Fraction(6, 10)
    sound(place, payments=["rival"], orphans=["rival"])

"""Attack: one analyst asks so many questions at once that nobody else is answered, and all of them fail.

Open runs counted for all analysts together, and not for the one who began them. Twenty at once left no room for
others; when they failed, one analyst had learned from 20 failures instead of 3, and only a review of all gave others
their answers back. A run that a supervisor had excused gave its place to another, and counted when it failed.
"""

import threading
import time
from fractions import Fraction

import pytest

from discreet.accounting import Pure
from discreet.core import ReviewNeeded, RunFailed, StillRunning
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Begun, to_body
from discreet.gate.entries.runs import ANALYST_FAILURES, LEDGER_FAILURES, OpenRun, RunState
from discreet.gate.ledger import run_tracker
from ledger_bytes import nothing_written
from personal_plans import Ask, Crowd, personal
from questions import Question

COST = Pure(Fraction(1, 100))


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait for what others run for less than a minute."""
    monkeypatch.setattr(run_tracker, "PATIENCE", 0.2)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(1)) as made:
        yield made


class Flood:
    """Questions that are asked at the same time and go on until they are told to fail."""

    def __init__(self, ledger, names):
        self.go, self.lock, self.begun, self.endings = threading.Event(), threading.Lock(), 0, []
        self.threads = [threading.Thread(target=self.ask, args=(ledger, *name)) for name in names]

    def ask(self, ledger, analyst, turn):
        def doing(_):
            with self.lock:
                self.begun += 1
            self.go.wait(30)
            raise ValueError

        try:
            Gate(ledger, [1], analyst=analyst).release(Question(f"{analyst} {turn}", COST, doing=doing))
        except (RunFailed, ReviewNeeded, StillRunning) as error:
            self.endings.append(type(error))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        end = time.monotonic() + 20
        while self.begun + len(self.endings) < len(self.threads) and time.monotonic() < end:
            time.sleep(0.005)
        return self

    def __exit__(self, *_):
        self.go.set()
        for thread in self.threads:
            thread.join()


def test_questions_of_one_analyst_leave_room_for_others(ledger):
    with Flood(ledger, [("eve", turn) for turn in range(LEDGER_FAILURES + 4)]) as flood:
        assert (flood.begun, len(ledger.runs.state.open)) == (ANALYST_FAILURES, ANALYST_FAILURES)
        assert set(flood.endings) == {StillRunning}
        assert ledger.state.payments == ANALYST_FAILURES  # whoever waited has not paid
        assert Gate(ledger, [1], analyst="ada").release(Question("of another", COST)).fresh
    assert (ledger.runs.state.failures, ledger.runs.state.total) == ({"eve": ANALYST_FAILURES}, ANALYST_FAILURES)
    assert Gate(ledger, [1], analyst="ada").release(Question("one more", COST)).fresh
    assert ledger.verify().sound


def test_each_failure_leaves_an_analyst_room_for_one_less(ledger):
    gate = Gate(ledger, [1], analyst="eve")
    with pytest.raises(RunFailed):
        gate.release(Question("failing", COST, doing=lambda _: 1 / 0))
    with Flood(ledger, [("eve", turn) for turn in range(ANALYST_FAILURES)]) as flood:
        assert flood.begun == ANALYST_FAILURES - 1
    assert ledger.runs.state.failures == {"eve": ANALYST_FAILURES}


def test_many_threads_of_an_honest_analyst_wait_and_are_all_answered(ledger, monkeypatch):
    monkeypatch.setattr(run_tracker, "PATIENCE", 30)
    gate, given = Gate(ledger, [1], analyst="ada"), []

    def ask(turn):
        given.append(gate.release(Question(f"{turn}", COST, doing=lambda _: time.sleep(0.01))).fresh)

    threads = [threading.Thread(target=ask, args=(turn,)) for turn in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert given == [True] * 16
    assert (ledger.state.payments, ledger.runs.state) == (16, RunState())


def test_whoever_has_to_wait_too_long_pays_nothing(ledger):
    with Flood(ledger, [("eve", turn) for turn in range(ANALYST_FAILURES)]):
        gate = Gate(ledger, [1], analyst="eve")
        with nothing_written(ledger), pytest.raises(StillRunning, match="Nothing was paid") as caught:
            gate.release(Question("one more", COST))
        assert "when one of them is done" in caught.value.fix


# Runs that are excused.


def test_a_run_that_was_excused_keeps_its_place_until_it_has_ended(ledger):
    """All that may fail is counted beforehand: what was excused and raises an error of its own has failed."""
    names = [(f"eve {turn}", turn) for turn in range(LEDGER_FAILURES)]
    with Flood(ledger, names) as flood:
        for run in ledger.runs.state.open:
            ledger.excuse(run.number, by="supervisor", reason="shutdown at 18:00")
        with nothing_written(ledger), pytest.raises(StillRunning):
            Gate(ledger, [1], analyst="ada").release(Question("one more", COST, doing=lambda _: 1 / 0))
    assert flood.endings == [RunFailed] * LEDGER_FAILURES
    assert ledger.runs.state.total == LEDGER_FAILURES
    with pytest.raises(ReviewNeeded):
        Gate(ledger, [1], analyst="ada").release(Question("one more", COST))


def test_what_persons_set_aside_covers_all_that_can_fail(tmp_path):
    with Ledger.create(tmp_path / "persons.ledger", personal(rho=Fraction(1, 4))) as ledger:
        failed = 0

        def excused_and_failing(_):
            (run,) = ledger.runs.state.open
            ledger.excuse(run.number, by="supervisor", reason="shutdown at 18:00")
            raise ValueError

        for turn in range(2 * LEDGER_FAILURES):
            ask = Ask(f"{turn}", Fraction(1, 1000), doing=excused_and_failing)
            with pytest.raises((RunFailed, ReviewNeeded)) as caught:
                Gate(ledger, Crowd({"ann": 1}), analyst=f"eve {turn}").release(ask)
            failed += caught.type is RunFailed
        account = ledger.state.account
        least = -(-account.terms.limit // 10_000)
        assert failed * least == account.reserve


# Ledgers of before.


def test_what_was_begun_under_earlier_rules_is_read_as_ever(ledger):
    """Many open runs of one analyst were allowed; more than 20 never were."""
    book, runs = ledger.state, RunState()
    for number in range(LEDGER_FAILURES):
        runs = runs.record_begin(OpenRun(number, number, 0, "eve", f"ab-{number}"))
    assert len(runs.open) == LEDGER_FAILURES
    with pytest.raises(StillRunning):
        runs.record_begin(OpenRun(99, 99, 0, "ada", "ab-99"))
    for number in range(ANALYST_FAILURES + 1):
        event = Begun(at="", payment=2, step=number, analyst="eve", runner=f"ab-{number}")
        book = book.after(link_entry(book.head, book.number + 1, to_body(event)), event)
    assert len(book.runs.open) == ANALYST_FAILURES + 1

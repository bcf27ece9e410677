"""Attack: learn from whether questions fail, at next to no cost, as often as one likes.

A question that fails if a certain person is there tells whether that person is there, whatever it costs. Prices were
as small as one liked (10⁻¹⁰⁰), and nobody counted failures. Now a question has a least price, each run is written down
before it is made, and after 3 failures of an analyst, or 20 of all, nothing is run until the steward has looked.
"""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.accounting import Concentrated, GaussianNoise, Pure
from discreet.core import BudgetExceeded, InvalidInput, LedgerDamaged, ReviewNeeded, RunFailed, StillRunning
from discreet.gate import Budget, Gate, Ledger, check_export, export_lines
from discreet.gate.entries.chain import canonical, link_entry, parse_canonical
from discreet.gate.entries.events import Begun, Birth, Payment, Released, Reviewed, from_body, to_body
from discreet.gate.entries.runs import ANALYST_FAILURES, LEDGER_FAILURES
from discreet.gate.ledger import append, run_tracker
from discreet.gate.plans import plan_digest
from ledger_bytes import nothing_written
from personal_plans import Ask, Crowd, personal
from questions import Question
from step_plans import Steps

#: Bits of somebody's note: the attacker asks for one at a time.
NOTE = [bool(int(bit)) for bit in f"{int.from_bytes(os.urandom(8), 'big'):064b}"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait for what others run for less than a minute."""
    monkeypatch.setattr(run_tracker, "PATIENCE", 0.2)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1)) as made:
        yield made


def bit(place):
    """Return a question that fails if a bit of the note is set."""
    return Question(f"bit {place}", Pure(Fraction(1, 1000)), doing=lambda note: 1 / (not note[place]))


def read_note(gate):
    """Read a note by which questions fail; return what was learned before the gate closed."""
    learned = []
    for place in range(len(NOTE)):
        try:
            gate.release(bit(place))
            learned.append(False)
        except RunFailed:
            learned.append(True)
        except ReviewNeeded:
            break
    return learned


def test_a_note_is_not_read_by_failures(ledger):
    learned = read_note(Gate(ledger, NOTE, analyst="eve"))
    assert learned == NOTE[: len(learned)]
    assert sum(learned) == min(ANALYST_FAILURES, sum(NOTE))
    with nothing_written(ledger), pytest.raises(ReviewNeeded, match="3 runs of this analyst have failed"):
        Gate(ledger, NOTE, analyst="eve").release(Question("another"))


def test_many_names_learn_no_more_than_the_ledger_allows(ledger):
    failed = 0
    for name in range(3 * LEDGER_FAILURES):
        try:
            Gate(ledger, NOTE, analyst=f"eve {name}").release(Question(f"bit {name}", doing=lambda _: 1 / 0))
        except RunFailed:
            failed += 1
        except (ReviewNeeded, BudgetExceeded):
            break
    assert failed == min(LEDGER_FAILURES, 10)  # the budget of 1 pays for ten of a tenth
    with Ledger.create(ledger._store._path.with_name("rich.ledger"), Budget(100)) as rich:
        for name in range(LEDGER_FAILURES):
            with pytest.raises(RunFailed):
                Gate(rich, NOTE, analyst=f"eve {name}").release(Question(f"bit {name}", doing=lambda _: 1 / 0))
        with pytest.raises(ReviewNeeded, match="20 runs of this ledger"):
            Gate(rich, NOTE, analyst="ada").release(Question())
        assert rich.verify().sound


def test_questions_at_once_fail_no_more_often_than_one_after_another(place):
    """Failures are bounded however many are begun at the same time."""
    failed, go = [], threading.Event()
    with Ledger.create(place, Budget(100)) as ledger:

        def ask(name):
            try:
                Gate(ledger, NOTE, analyst=f"{name}").release(Question(f"{name}", doing=lambda _: go.wait(30) / 0))
            except (RunFailed, ReviewNeeded, StillRunning) as error:
                failed.append(type(error))

        threads = [threading.Thread(target=ask, args=(name,)) for name in range(LEDGER_FAILURES + 12)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 20
        while len(failed) < 12 and time.monotonic() < end:  # they waited for others, who are still at it
            time.sleep(0.01)
        go.set()
        for thread in threads:
            thread.join()
        assert failed.count(RunFailed) == LEDGER_FAILURES == ledger.runs.state.total
        assert ledger.verify().sound


def test_stored_answers_are_still_handed_out(ledger):
    gate = Gate(ledger, NOTE, analyst="eve")
    known = gate.release(Question(), request="r")
    for name in "abc":
        with pytest.raises(RunFailed):
            gate.release(Question(name, doing=lambda _: 1 / 0))
    with pytest.raises(ReviewNeeded):
        gate.release(Question("d"))
    assert gate.release(Question()).stored == gate.release(Question(), request="r").stored == known.stored
    assert Gate(ledger, NOTE, analyst="ada").release(Question("of another")).fresh


def test_steps_are_counted_too(ledger):
    gate = Gate(ledger, NOTE, analyst="eve")
    gate.advance(Steps(), 0, request="r")
    for _ in range(ANALYST_FAILURES):
        with pytest.raises(RunFailed):
            gate.advance(Steps(doing=lambda *_: 1 / 0), 1, request="r")
    with pytest.raises(ReviewNeeded):
        gate.advance(Steps(), 1, request="r")
    assert gate.advance(Steps(), 0).answer


DYING = """
import os, sys, threading
sys.path[:0] = {path!r}
from discreet.gate import Gate, Ledger
from questions import Question
ledger, all_begun = Ledger.open({place!r}), threading.Barrier(3)
def ask(name):
    def die(_):
        all_begun.wait()
        os._exit(9)
    Gate(ledger, None, analyst="eve").release(Question(name, doing=die))
for name in "abc":
    threading.Thread(target=ask, args=(name,)).start()
"""


def test_a_process_that_dies_has_failed(place):
    Ledger.create(place, Budget(1)).close()
    code = DYING.format(path=sys.path, place=str(place))
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with Ledger.open(place) as ledger:
        gate = Gate(ledger, NOTE, analyst="eve")
        with pytest.raises(ReviewNeeded):
            gate.release(Question("d"))
        assert ledger.runs.state.failures == {"eve": 3}
        ledger.review(by="steward", reason="the machine ran out of memory")
        assert gate.release(Question("a")).fresh  # goes on with its own payment
        assert (ledger.state.payments, ledger.verify().sound) == (3, True)


# The steward.


def fail(gate, times, start=0):
    for name in range(start, start + times):
        with pytest.raises(RunFailed):
            gate.release(Question(f"failing {name}", Pure(Fraction(1, 100)), doing=lambda _: 1 / 0))


def test_a_review_of_one_analyst_leaves_the_count_of_all(ledger):
    gate = Gate(ledger, NOTE, analyst="eve")
    fail(gate, 3)
    ledger.review(by="steward", reason="a broken column", analyst="eve")
    assert (ledger.runs.state.failures, ledger.runs.state.total) == ({}, 3)
    fail(gate, 1, 3)
    ledger.review(by="steward", reason="all of them seen")
    assert ledger.runs.state.total == 0
    assert ledger.verify().sound
    assert check_export(export_lines(ledger), ledger=ledger.identity).state.runs == ledger.runs.state


def test_counts_are_found_again_after_a_checkpoint(place):
    with Ledger.create(place, Budget(1)) as ledger:
        fail(Gate(ledger, NOTE, analyst="eve"), 2)
        ledger.checkpoint()
        state = ledger.runs.state
    with Ledger.open(place) as again:
        assert again.runs.state == state
        assert again.state.checkpoint
        fail(Gate(again, NOTE, analyst="eve"), 1, 2)
        with pytest.raises(ReviewNeeded):
            Gate(again, NOTE, analyst="eve").release(Question())
        assert again.verify().sound


def test_what_a_supervisor_stops_is_no_failure_if_it_said_so_before(ledger):
    gate = Gate(ledger, NOTE, analyst="eve")

    def stopped(_):
        (run,) = ledger.runs.state.open
        ledger.excuse(run.number, by="supervisor", reason="shutdown at 18:00")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gate.release(Question(doing=stopped))
    assert ledger.runs.state.total == 0
    assert gate.release(Question()).fresh
    assert ledger.verify().sound


def test_who_fails_by_himself_is_not_excused(ledger):
    def failing(_):
        (run,) = ledger.runs.state.open
        ledger.excuse(run.number, by="supervisor", reason="shutdown at 18:00")
        raise MemoryError

    with pytest.raises(RunFailed):
        Gate(ledger, NOTE, analyst="eve").release(Question(doing=failing))
    assert ledger.runs.state.failures == {"eve": 1}


def test_what_has_failed_cannot_be_excused_afterwards(ledger):
    fail(Gate(ledger, NOTE, analyst="eve"), 1)
    with pytest.raises(InvalidInput, match="not open"):
        ledger.excuse(2, by="supervisor", reason="it was us")


def test_a_run_is_on_disk_before_it_is_made(place):
    seen = []
    with Ledger.create(place, Budget(1)) as ledger:

        def look(_):
            with Ledger.open(place) as other:
                seen.extend(other.runs.state.open)
            return 1

        Gate(ledger, NOTE, analyst="eve").release(Question(doing=look))
        assert [(run.payment, run.analyst) for run in seen] == [(2, "eve")]
        assert ledger.runs.state.open == ()
        assert ledger.state.number == 3  # with its payment: no entry, and no sync, of its own


# The least price.


@pytest.mark.parametrize(
    ("budget", "cheap", "enough"),
    [
        (Budget(1), Pure(Fraction(1, 10**100)), Pure(Fraction(1, 10_000))),
        (Budget(1), Pure(Fraction(1, 10_001)), Pure(Fraction(1, 10_000))),
        (Budget(rho=1), Concentrated(Fraction(1, 10_001)), Concentrated(Fraction(1, 10_000))),
        (Budget(rho=1), Pure(Fraction(1, 1000)), Pure(Fraction(1, 70))),
        (Budget(3, 1e-9), Pure(Fraction(1, 10**6)), Pure(Fraction(3, 10_000))),
        (Budget(3, 1e-9), GaussianNoise(10**6), GaussianNoise(3000)),
        (Budget(1, least=Fraction(1, 100)), Pure(Fraction(1, 101)), Pure(Fraction(1, 100))),
        (Budget(1, least=Fraction(1, 10**9)), Pure(Fraction(1, 10**10)), Pure(Fraction(1, 10**9))),
    ],
)
def test_what_costs_next_to_nothing_is_refused_before_it_is_paid(place, budget, cheap, enough):
    with Ledger.create(place, budget) as ledger:
        gate = Gate(ledger, NOTE)
        with nothing_written(ledger), pytest.raises(InvalidInput, match="costs at least") as caught:
            gate.release(Question(cost=cheap))
        assert "larger epsilon or rho" in caught.value.fix
        with pytest.raises(InvalidInput, match="costs at least"):
            gate.price(Question(cost=cheap))
        with pytest.raises(InvalidInput, match="costs at least"):
            gate.advance(Steps(cost=cheap), 0)
        assert gate.price(Question(cost=enough)).fits
        assert gate.release(Question(cost=enough)).fresh


CHEAP = Question("cheap", Pure(Fraction(1, 10**6)))


def pay_apart(ledger, plan):
    """Pay past the gate, by the ledger alone."""
    return ledger.pay(plan.cost, what=plan.describe(), plan=plan_digest(plan), request="r")


def test_a_payment_past_the_gate_does_not_undercut_the_least_price(ledger):
    with nothing_written(ledger), pytest.raises(InvalidInput, match="costs at least"):
        pay_apart(ledger, CHEAP)


def test_a_cheap_payment_that_is_there_is_not_run(ledger, monkeypatch):
    """An earlier version took it; where the ledger was born with a least price, nothing is run for less."""
    with monkeypatch.context() as before:
        before.setattr(append, "need_least_price", lambda *_: None)
        pay_apart(ledger, CHEAP)
    seen = []
    for request in ("r", None):
        with nothing_written(ledger), pytest.raises(InvalidInput, match="costs at least"):
            Gate(ledger, NOTE).release(replace(CHEAP, doing=seen.append), request=request)
    assert seen == []
    assert ledger.verify().sound


def test_what_was_paid_before_there_was_a_least_price_is_run(place, monkeypatch):
    with Ledger.create(place, Budget(1).without_least()) as ledger:
        with monkeypatch.context() as before:
            before.setattr(append, "need_least_price", lambda *_: None)
            pay_apart(ledger, CHEAP)
        assert Gate(ledger, NOTE).release(CHEAP, request="r").fresh
        with nothing_written(ledger), pytest.raises(InvalidInput, match="costs at least"):
            ledger.pay(CHEAP.cost, what="?", plan="00", request="another")


def test_a_least_price_leaves_something_to_ask():
    with pytest.raises(InvalidInput, match="more than a hundredth"):
        Budget(1, least=Fraction(1, 99))
    with pytest.raises(InvalidInput):
        Budget(1, least=0)


def test_a_ledger_that_was_born_without_a_least_price_goes_on(place, ledger):
    """Its births, payments and answers read as ever; what is new takes a ten-thousandth of its budget."""
    old = Birth(
        **{name: getattr(ledger.birth, name) for name in ("at", "title", "policy", "key", "nonce")},
        budget=Budget(1).without_least(),
    )
    assert b'"version":1' in to_body(old)
    assert b"least" not in to_body(old)
    assert from_body(to_body(old)) == old
    assert from_body(to_body(old)).budget.least_price == Fraction(1, 10_000)
    assert from_body(to_body(ledger.birth)).budget.least == Fraction(1, 10_000)
    plain = Payment(at="", request="r", analyst="", plan="0", what="", cost=Pure(1))
    assert b'"version":1' in to_body(plain)
    assert b"runner" not in to_body(plain)
    assert b'"version":1' in to_body(Released(at="", payment=2, answer="", size=0))


# Persons' accounts.


def test_a_reserve_for_failures_is_set_aside_for_all_alike(place):
    with Ledger.create(place, personal(rho=Fraction(1, 4))) as ledger:
        account = ledger.state.account
        least = -(-account.terms.limit // 10_000)
        assert account.reserve == LEDGER_FAILURES * least
        assert account.reached == (account.reserve, 0)
        gate = Gate(ledger, Crowd({"ann": 1}), analyst="eve")
        with nothing_written(ledger), pytest.raises(InvalidInput, match="costs at least"):
            gate.release(Ask("cheap", Fraction(1, 10**9)))
        assert ledger.statement("ann").left == (account.terms.limit - account.reserve) * account.terms.quantum


def fail_once(ledger, name):
    """Have one question of its own analyst fail."""
    gate = Gate(ledger, Crowd({"ann": 1}), analyst=f"eve {name}")
    with pytest.raises(RunFailed):
        gate.release(Ask(f"failing {name}", Fraction(1, 1000), doing=lambda _: 1 / 0))


def test_a_review_sets_a_new_reserve_aside_or_is_refused(place):
    with Ledger.create(place, personal(rho=Fraction(1, 4))) as ledger:
        reserve = ledger.state.account.reserve
        fail_once(ledger, 1)
        reached = ledger.state.account.reached[0]
        ledger.review(by="steward", reason="seen")
        account = ledger.state.account
        assert (account.reserve, account.reached[0]) == (2 * reserve, reached + reserve)
        # By what is public, somebody may have nothing left: then there is no new reserve.
        gate = Gate(ledger, Crowd({"ann": 1}))
        fail_once(ledger, 2)
        while ledger.state.account.reached[0] < account.terms.limit:
            gate.release(Ask(f"{ledger.state.number}"))
        with nothing_written(ledger), pytest.raises(BudgetExceeded, match="new reserve"):
            ledger.review(by="steward", reason="seen")
        ledger.review(by="steward", reason="seen", analyst="eve 2")
        ledger.resize(ledger.budget.limit * 2, by="steward", reason="a second year")
        ledger.review(by="steward", reason="seen")
        assert ledger.state.account.reserve == 3 * reserve
        assert ledger.state.account.promise == ledger.state.account.terms.promise
        assert ledger.verify().sound


def test_a_review_that_is_repeated_sets_nothing_more_aside(place):
    """The steward did not hear that it was written, or two stewards looked at the same."""
    with Ledger.create(place, personal(rho=Fraction(1, 4))) as ledger, Ledger.open(place) as other:
        with nothing_written(ledger):
            ledger.review(by="steward", reason="nothing has failed yet")
        fail_once(ledger, 1)
        ledger.review(by="steward", reason="seen")
        reserve = ledger.state.account.reserve
        with nothing_written(ledger):
            ledger.review(by="steward", reason="seen")
            other.review(by="another", reason="seen as well")
            ledger.review(by="steward", reason="seen", analyst="eve 1")
        fail_once(ledger, 2)
        ledger.review(by="steward", reason="seen", analyst="eve 2")
        assert (ledger.runs.state.failures, ledger.runs.state.total) == ({}, 1)
        assert ledger.state.account.reserve == reserve
        assert ledger.verify().sound


def test_a_review_that_is_written_for_one_who_died_hides_no_later_failure(ledger):
    """Whoever wrote it died before it could tell; what failed since was seen by nobody."""
    gate = Gate(ledger, NOTE, analyst="eve")
    fail(gate, 2)
    review = to_body(Reviewed(at="2026-01-01T00:00:00+00:00", by="steward", reason="seen")), None
    first = ledger._store.transact(ledger._append([review]))[1][0]
    fail(gate, 1, 2)
    with nothing_written(ledger):
        again = ledger._store.transact(ledger._append([review]))[1][0]
    assert (first.fresh, again.fresh, again.number) == (True, False, first.number)
    assert ledger.runs.state.failures == {"eve": 1}


def test_nobody_is_charged_into_the_reserve(place):
    with Ledger.create(place, personal(rho=Fraction(1, 4))) as ledger:
        crowd = Crowd({"ann": 1})
        gate = Gate(ledger, crowd)
        for turn in range(30):
            gate.release(Ask(f"q{turn}", Fraction(1, 40)))
        account = ledger.state.account
        spent = ledger.statement("ann").spent / account.terms.quantum
        assert spent <= account.terms.limit - account.reserve
        assert crowd.asked[-1] == []


def test_a_begun_run_needs_room_also_when_it_is_replayed(ledger):
    """Whoever writes to the store past the ledger is found out: too many had failed for this run."""
    fail(Gate(ledger, NOTE, analyst="eve"), 3)
    book = ledger.state
    event = Begun(at="", payment=2, step=0, analyst="eve", runner="0-1")
    with pytest.raises(ReviewNeeded):
        book.after(link_entry(book.head, book.number + 1, to_body(event)), event)


@pytest.mark.parametrize("runner", [5, "", None, ["0-1"]])
def test_a_payment_hides_no_run_when_it_is_replayed(ledger, runner):
    """A runner that is none would begin a run that nobody counts: the entry is no event, also where many are added."""
    book = ledger.state
    paid = Payment(at="", request="R", analyst="eve", plan="00", what="?", cost=Pure(Fraction(1, 100)), runner="0-1")
    fields = {**parse_canonical(to_body(paid)), "runner": runner}
    with pytest.raises(LedgerDamaged):
        book.catch_up(lambda _: [link_entry(book.head, book.number + 1, canonical(fields))])


@pytest.mark.parametrize("run", ["2", [2], None])
def test_an_answer_names_its_run_when_it_is_replayed(ledger, run):
    book = ledger.state
    fields = {**parse_canonical(to_body(Released(at="", payment=2, answer="00", size=1, run=3))), "run": run}
    with pytest.raises(LedgerDamaged):
        book.catch_up(lambda _: [link_entry(book.head, book.number + 1, canonical(fields))])

"""What every store of a ledger must honour, SQLite and PostgreSQL alike."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import pytest

from discreet.accounting import Pure
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.gate import Budget, Policy
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Annotated, to_body
from discreet.gate.ledger import append
from discreet.gate.stores.protocol import Keys, StoreStatus
from ledger_places import COST, PLAN, pay, spend

FORKED = """
import gc, os, sys
from discreet.core import Finished
from discreet.gate import Ledger
from ledger_places import pay

ledger = Ledger.open(sys.argv[1])
pay(ledger, "before")
child = os.fork()
if child == 0:
    refused = 0
    for attempt in (lambda: pay(ledger, "child"), lambda: ledger.spent, lambda: ledger.checkpoint()):
        try:
            attempt()
        except Finished:
            refused += 1
    ledger.close()
    del attempt, ledger
    gc.collect()
    os._exit(refused)
_, status = os.waitpid(child, 0)
pay(ledger, "after")
print(os.waitstatus_to_exitcode(status), [one.request for one in ledger.recent(9)], ledger.verify().sound)
ledger.close()
"""


def test_a_ledger_is_found_again_as_it_was_left(place):
    budget = Budget(3, 1e-9)
    ledger = place.create(budget, title="clinic", policy=Policy.SEPARATE)
    paid = pay(ledger, "one", analyst="ann")
    ledger.close()
    again = place.open()
    assert (again.identity, again.birth, again.budget) == (ledger.identity, ledger.birth, budget)
    assert again.receipt(paid.number) == paid
    assert again.state.account.filter_of("ann").spent == Fraction(1, 40)
    assert again.verify().sound


def test_a_ledger_is_not_created_over_another(place):
    ledger = place.create()
    pay(ledger, "one")
    with pytest.raises(InvalidInput, match="already"):
        place.create()
    assert place.open().spent == Fraction(1, 40)


def test_opening_where_there_is_no_ledger_is_refused(place):
    with pytest.raises(InvalidInput, match="no ledger"):
        place.open(key=None)


def test_threads_that_pay_at_once_are_each_charged_once(place):
    ledger = place.create(Budget(4))
    start = threading.Barrier(8)

    def many(name):
        start.wait()
        return [pay(ledger, f"{name}-{turn}").number for turn in range(10)]

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for found in pool.map(many, "abcdefgh") for number in found]
    assert sorted(numbers) == list(range(2, 82))
    assert ledger.spent == 80 * Fraction(1, 40)
    assert ledger.verify().sound


def test_processes_that_pay_at_once_stop_together_at_the_budget(place):
    ledger = place.create()
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(spend, [place.address] * 3, "abc", [30] * 3))
    assert sorted(number for numbers in found for number in numbers) == list(range(2, 42))
    assert ledger.left == 0
    assert ledger.verify().sound


def test_one_request_asked_from_many_threads_and_handles_is_paid_once(place):
    ledgers = [place.create(), place.open()]
    start = threading.Barrier(8)

    def ask(turn):
        start.wait()
        return pay(ledgers[turn % 2], "the same")

    with ThreadPoolExecutor(8) as pool:
        receipts = set(pool.map(ask, range(8)))
    assert len(receipts) == 1
    assert ledgers[0].spent == ledgers[1].spent == Fraction(1, 40)


def test_a_request_is_not_paid_with_another_question_cost_or_analyst(place):
    ledger = place.create()
    pay(ledger, "one")
    for other in (
        lambda: pay(ledger, "one", Pure(Fraction(1, 50))),
        lambda: pay(ledger, "one", plan="cd" * 32),
        lambda: pay(ledger, "one", analyst="ann"),
    ):
        with pytest.raises(InvalidInput, match="another question"):
            other()
    assert ledger.state.payments == 1


def test_what_does_not_fit_is_refused_and_leaves_no_entry(place):
    ledger = place.create()
    pay(ledger, "most", Pure(Fraction(39, 40)))
    with pytest.raises(BudgetExceeded):
        pay(ledger, "more", Pure(Fraction(2, 40)))
    assert pay(ledger, "rest").number == 3
    with pytest.raises(BudgetExceeded):
        pay(place.open(), "nothing left", Pure(Fraction(1, 1_000)))
    assert (ledger.left, ledger.state.number) == (0, 3)


@pytest.mark.parametrize("column", ["body", "head"])
def test_a_changed_entry_is_found_at_opening_and_by_verifying(place, column):
    ledger = place.create()
    for turn in range(5):
        pay(ledger, f"r{turn}")
    before = f"(select {column} from entries where number = 3)"
    place.tamper(f"update entries set {column} = {before} where number = 4")
    assert not ledger.verify().sound
    with pytest.raises(LedgerDamaged):
        place.open()


def test_a_changed_entry_before_a_checkpoint_is_found_when_it_is_used_and_by_verifying(place):
    ledger = place.create()
    for turn in range(5):
        pay(ledger, f"r{turn}")
    ledger.checkpoint()
    place.tamper("update entries set body = (select body from entries where number = 3) where number = 4")
    again = place.open()
    with pytest.raises(LedgerDamaged):
        again.receipt(4)
    assert not again.verify().sound


@pytest.mark.parametrize(
    "change",
    [
        "update entries set request = 'free' where number = 3",
        "update entries set plan = 'free' where number = 3",
        "update entries set payment = 2 where number = 4",
        "update entries set kind = 'annotation' where number = 3",
    ],
)
def test_a_changed_key_is_found_by_verifying(place, change):
    ledger = place.create()
    pay(ledger, "one")
    ledger.release(pay(ledger, "two"), b"42")
    place.tamper(change)
    assert not ledger.verify().sound


@pytest.mark.parametrize("change", ["update answers set answer = head from entries", "delete from answers"])
def test_a_changed_or_missing_answer_is_not_handed_out(place, change):
    ledger = place.create()
    entry, _ = ledger.release(pay(ledger, "one"), b"42")
    place.tamper(change)
    with pytest.raises(LedgerDamaged):
        ledger.read_answer(entry.number)
    assert not ledger.verify().sound


@pytest.mark.parametrize("answer", [b"", b"42", bytes(range(256)) * 5000])
def test_a_release_gives_back_the_bytes_that_were_stored_first(place, answer):
    ledger = place.create()
    receipt = pay(ledger, "one")
    entry, stored = ledger.release(receipt, answer)
    assert stored == answer
    assert ledger.release(receipt, b"another draw") == (entry, answer)
    again = place.open()
    assert again.release_of(receipt.number) == entry.number
    assert again.read_answer(entry.number) == (entry, answer)


def test_what_was_not_paid_for_is_not_released(place):
    ledger = place.create()
    ledger.annotate("not a payment", by="steward")
    receipt = pay(ledger, "one")
    for number in (1, 2, receipt.number + 1):
        with pytest.raises(InvalidInput, match="no such payment"):
            ledger.release(type(receipt)(**{**fields_of(receipt), "number": number}), b"42")
    assert ledger.state.releases == 0


def fields_of(receipt):
    return {name: getattr(receipt, name) for name in type(receipt).__dataclass_fields__}


def test_a_handle_sees_what_another_wrote(place):
    one = place.create()
    two = place.open()
    pay(one, "one")
    assert two.spent == Fraction(1, 40)
    two.resize(2, by="steward", reason="a second year")
    assert one.total.left == two.total.left == 2 - Fraction(1, 40)
    assert pay(two, "two").number == pay(one, "three").number - 1
    assert one.state == two.state


def test_a_failed_transaction_leaves_nothing_and_the_store_goes_on(place):
    ledger = place.create()
    newest = ledger._store.reading.newest()
    entry = link_entry(newest.head, 2, to_body(Annotated(at="now", by="somebody", text="never")))

    def work(reading, add):
        add(entry, Keys("annotation"), b"an answer")
        assert reading.newest() == entry
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        ledger._store.transact(work)
    assert ledger._store.reading.newest() == newest
    assert ledger._store.reading.answer(2) is None
    assert pay(ledger, "one").number == 2


def test_what_is_being_written_is_not_seen_before_it_is_committed(place):
    ledger, other = place.create(), place.open()
    newest = ledger._store.reading.newest()
    entry = link_entry(newest.head, 2, to_body(Annotated(at="now", by="somebody", text="soon")))

    def work(_, add):
        add(entry, Keys("annotation"), None)
        return [one._store.reading.newest() for one in (ledger, other)]

    assert ledger._store.transact(work) == [newest, newest]
    assert other._store.reading.newest() == entry


def test_a_number_is_given_once(place):
    ledger = place.create()
    newest = ledger._store.reading.newest()
    entry = link_entry(newest.head, 1, newest.body)
    with pytest.raises(LedgerUnavailable):
        ledger._store.transact(lambda _, add: add(entry, Keys("birth"), None))
    assert place.open()._store.reading.newest() == newest


def test_after_many_entries_there_is_a_checkpoint_and_opening_begins_there(place, monkeypatch):
    monkeypatch.setattr(append, "OFTEN", 10)
    ledger = place.create()
    for turn in range(25):
        pay(ledger, f"r{turn}")
    found = ledger.verify()
    assert (found.sound, found.checkpoints, found.signed) == (True, 2, 2)
    again = place.open()
    assert again.state == ledger.state
    assert again.state.checkpoint == again._store.reading.last_checkpoint() > 20


def test_what_was_paid_and_not_answered_is_listed(place):
    ledger = place.create()
    receipts = [pay(ledger, f"r{turn}") for turn in range(4)]
    for receipt in receipts[1:3]:
        ledger.release(receipt, b"42")
    assert list(place.open().orphans()) == [receipts[0], receipts[3]]
    assert ledger.recent(2) == [receipts[3], receipts[2]]
    assert ledger.verify().unanswered == 2


def test_an_answered_plan_is_found_by_its_hash(place):
    ledger = place.create()
    first, second = pay(ledger, "one"), pay(ledger, "two")
    pay(ledger, "other", plan="cd" * 32)
    assert ledger.shares.find(PLAN) is None
    ledger.release(second, b"42")
    assert place.open().shares.find(PLAN) == second.number
    ledger.release(first, b"43")
    assert ledger.shares.find(PLAN) == first.number
    assert ledger.shares.find("cd" * 32) is None


def test_a_ledger_that_lost_its_end_does_not_open(place):
    ledger = place.create()
    for turn in range(3):
        pay(ledger, f"r{turn}")
    place.tamper("delete from entries where number > 3")
    with pytest.raises(LedgerDamaged, match="restored from an older"):
        place.open()


@pytest.mark.parametrize("number", [5000, 5001])
def test_more_entries_than_one_page_are_read_in_order(place, number):
    ledger = place.create()
    newest = ledger._store.reading.newest()

    def work(_, add):
        entry = newest
        for _ in range(number):
            body = to_body(Annotated(at="now", by="somebody", text="x"))
            entry = link_entry(entry.head, entry.number + 1, body)
            add(entry, Keys("annotation"), None)

    ledger._store.transact(work)
    assert [entry.number for entry, _ in ledger.entries(after=1)] == list(range(2, number + 2))
    assert ledger.state.number == number + 1


def test_a_forked_child_cannot_spend_and_does_not_disturb_its_parent(place):
    place.create()
    command = [sys.executable, "-c", FORKED, place.address]
    path = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **path})
    assert done.stdout == "3 ['after', 'before'] True\n", done.stderr


def test_a_closed_handle_does_nothing_more_and_the_others_do(place):
    one = place.create()
    two = place.open()
    one.close()
    one.close()
    for attempt in (lambda: pay(one, "one"), lambda: one.spent, one.checkpoint, lambda: list(one.orphans())):
        with pytest.raises(LedgerUnavailable):
            attempt()
    assert pay(two, "one").number == 2


@pytest.mark.parametrize("state", [StoreStatus.ARRIVING, StoreStatus.RETIRED])
def test_only_an_open_store_is_opened_and_paid_from(place, state):
    ledger, other = place.create(), place.open()
    ledger._store.change(state, lambda _: None)
    with pytest.raises(DiscreetError, match="moved"):
        pay(other, "one")
    with pytest.raises(DiscreetError, match="moved"):
        place.open()
    assert other.spent == 0


def test_odd_names_are_kept_as_they_are(place):
    ledger = place.create(Budget(4), title="Klinik – Süd 🏥")
    names = ["a'b", 'a"b', "a%sb", "a?b", "a\\b", "Ä", "ä", "ß", "患者", "🙂", "a b", "$1", "--"]
    receipts = [pay(ledger, name, COST, analyst=name) for name in names]
    again = place.open()
    assert again.birth.title == "Klinik – Süd 🏥"
    assert [again.receipt(again.payment_of(name)) for name in names] == receipts
    assert again.verify().sound

"""A ledger moves from one store to another, and at no moment can both be spent from."""

import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from discreet.accounting import Pure
from discreet.core import BudgetExceeded, DiscreetError, Finished, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.gate import Budget, Ledger, certificate, check_certificate
from discreet.gate.ledger import moving
from discreet.gate.ledger.anchors import default_place, read_anchors
from discreet.gate.ledger.moving import finish_move, move
from discreet.gate.stores.protocol import StoreStatus
from ledger_places import PLAN, pay


class Crash(Exception):
    """The process ends here."""


@pytest.fixture(params=["sqlite to postgres", "postgres to sqlite"])
def places(request, sqlite_place, postgres_place):
    """Where a ledger is, and where it goes."""
    found = (sqlite_place, postgres_place)
    return found if request.param.startswith("sqlite") else found[::-1]


def moved_to(ledger, there):
    return there._kept(move(ledger, there.address))


def used(here):
    """Return a ledger with a bit of everything in it."""
    ledger = here.create(Budget(2, 1e-9), title="clinic")
    ledger.release(pay(ledger, "one", analyst="ann"), b"42")
    pay(ledger, "two", plan="cd" * 32)
    ledger.checkpoint()
    ledger.resize(1, by="steward", reason="less is enough")
    ledger.release(pay(ledger, "three", analyst="bob"), bytes(300_000))
    ledger.annotate("all is well", by="steward")
    return ledger


def test_a_moved_ledger_is_the_same_ledger(places):
    here, there = places
    old = used(here)
    before, entries, paper = old.state, list(old.entries()), certificate(old, "one")
    orphans, found = list(old.orphans()), old.shares.find(PLAN)
    new = moved_to(old, there)
    assert (new.state, list(new.entries())) == (before, entries)
    assert (list(new.orphans()), new.shares.find(PLAN)) == (orphans, found)
    assert new.read_answer(new.release_of(2))[1] == b"42"
    assert new.verify().sound
    assert check_certificate(paper, ledger=new.identity, answer=b"42").numbers == (2, 3)
    assert certificate(new, "one") == paper  # by the same key
    new.checkpoint()
    assert there.open(key=here.key).verify().signed == 2


def test_a_moved_ledger_keeps_its_anchors(places, tmp_path):
    here, there = places
    anchors = [tmp_path / "one.anchor", tmp_path / "two.anchor"]
    old = here.create(anchors=anchors)
    pay(old, "one")
    new = moved_to(old, there)
    pay(new, "two")
    assert not default_place(new.identity).exists()
    for place in anchors:
        assert read_anchors(place)[-1].number == 3
    assert there.open(key=None, anchors=anchors).state == new.state


def test_a_moved_ledger_goes_on_where_it_was(places):
    here, there = places
    old = here.create()
    pay(old, "most", Pure(Fraction(39, 40)))
    new = moved_to(old, there)
    assert pay(new, "most", Pure(Fraction(39, 40))).number == 2
    assert pay(new, "rest").number == 3
    with pytest.raises(BudgetExceeded):
        pay(new, "more")


def test_the_old_place_is_not_spent_from_by_anybody(places):
    here, there = places
    old = used(here)
    long_open = here.open()
    new = moved_to(old, there)
    with pytest.raises(LedgerUnavailable):
        pay(old, "four")
    for attempt in (lambda: pay(long_open, "four"), long_open.checkpoint, here.open):
        with pytest.raises(Finished, match="moved to another place"):
            attempt()
    assert long_open.read_answer(long_open.release_of(2))[1] == b"42"  # what was released may be read
    assert pay(new, "four").number == new.state.number


def test_a_ledger_moves_there_and_back_to_a_third_place(places, tmp_path):
    here, there = places
    old = used(here)
    new = moved_to(old, there)
    pay(new, "four")
    with move(new, tmp_path / "third.ledger") as third:
        assert (third.identity, third.state.payments) == (old.identity, 4)
        assert third.verify().sound


def test_nothing_that_is_paid_during_a_move_is_lost_or_paid_twice(places):
    here, there = places
    old = here.create(Budget(100))
    spenders = [here.open() for _ in range(2)]
    begun = threading.Barrier(3, timeout=60)
    paid = []

    def spend(number):
        ledger = spenders[number]
        for turn in range(100_000):
            try:
                paid.append(pay(ledger, f"{number}-{turn}"))
            except Finished:
                return
            if turn == 5:
                begun.wait()

    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(spend, number) for number in range(2)]
        begun.wait()
        new = moved_to(old, there)
        for end in ends:
            end.result(60)
    assert new.state.payments == len(paid)
    assert [new.receipt(one.number) for one in paid] == paid
    assert new.verify().sound


def crash_at(monkeypatch, state, *, after):
    """Have the process end just before or just after a store is put into a state."""
    from discreet.gate.stores.postgres import PostgresStore
    from discreet.gate.stores.sqlite import SqliteStore

    for kind in (SqliteStore, PostgresStore):

        def change(self, wanted, work, original=kind.change):
            if wanted is state and not after:
                self.close()
                raise Crash
            result = original(self, wanted, work)
            if wanted is state:
                raise Crash
            return result

        monkeypatch.setattr(kind, "change", change)


def test_a_crash_before_the_old_place_is_retired_leaves_the_ledger_there(places, monkeypatch):
    here, there = places
    old = used(here)
    with monkeypatch.context() as patch:
        crash_at(patch, StoreStatus.RETIRED, after=False)
        with pytest.raises(Crash):
            move(old, there.address)
    with pytest.raises(Finished, match="being moved to this place"):
        there.open(key=None)
    again = here.open()
    paid = pay(again, "four")
    with pytest.raises(InvalidInput, match="not retired"):
        finish_move(here.address, there.address)
    new = moved_to(again, there)
    assert new.receipt(paid.number) == paid
    assert new.verify().sound


@pytest.mark.parametrize(("state", "after"), [(StoreStatus.RETIRED, True), (StoreStatus.OPEN, False)])
def test_a_crash_after_the_old_place_is_retired_leaves_nothing_to_spend_until_the_move_is_finished(
    places, monkeypatch, state, after
):
    here, there = places
    old = used(here)
    book = old.state
    with monkeypatch.context() as patch:
        crash_at(patch, state, after=after)
        with pytest.raises(Crash):
            move(old, there.address)
    for place in (here, there):
        with pytest.raises(Finished):
            place.open(key=None)
    new = there._kept(finish_move(here.address, there.address, key=here.key))
    assert new.state == book
    assert pay(new, "four").number == book.number + 1
    with pytest.raises(InvalidInput, match="already"):
        finish_move(here.address, there.address)


def test_a_crash_in_the_middle_of_the_copy_leaves_the_ledger_where_it_was(places, monkeypatch):
    here, there = places
    old = used(here)
    original = moving.keys_of

    def keys_of(event):
        if getattr(event, "request", "") == "three":
            raise Crash
        return original(event)

    with monkeypatch.context() as patch:
        patch.setattr(moving, "keys_of", keys_of)
        with pytest.raises(Crash):
            move(old, there.address)
    pay(old, "four")
    new = moved_to(old, there)
    assert new.payment_of("four") is not None
    assert new.verify().sound


def test_a_place_that_is_taken_is_refused_and_the_ledger_stays(places, tmp_path):
    here, there = places
    old = used(here)
    taken = there.create()
    with pytest.raises(InvalidInput, match="already"):
        move(old, there.address)
    with pytest.raises(InvalidInput, match="already"):
        move(old, here.address)
    assert taken.state.number == 1
    assert pay(old, "four").number == old.state.number


def test_two_ledgers_do_not_move_to_one_place(places, tmp_path, monkeypatch):
    here, there = places
    old = used(here)
    with monkeypatch.context() as patch:
        crash_at(patch, StoreStatus.RETIRED, after=True)
        with pytest.raises(Crash):
            move(old, there.address)
    with Ledger.create(tmp_path / "another.ledger", Budget(1)) as another:
        with pytest.raises(InvalidInput, match="Another ledger"):
            move(another, there.address)
        assert pay(another, "one").number == 2
    assert there._kept(finish_move(here.address, there.address)).identity == old.identity


@pytest.mark.parametrize(
    "change",
    [
        "update entries set body = (select body from entries where number = 2) where number = 4",
        "update answers set answer = head from entries",
        "update entries set request = 'free' where number = 2",
    ],
)
def test_a_damaged_ledger_is_not_moved(places, change):
    here, there = places
    old = used(here)
    here.tamper(change)
    with pytest.raises(LedgerDamaged):
        move(old, there.address)
    with pytest.raises(DiscreetError):
        there.open(key=None)


def test_what_was_changed_while_it_was_copied_is_not_opened(places, monkeypatch):
    here, there = places
    old = used(here)
    with monkeypatch.context() as patch:
        crash_at(patch, StoreStatus.RETIRED, after=True)
        with pytest.raises(Crash):
            move(old, there.address)
    there.tamper("update answers set answer = head from entries")
    with pytest.raises(LedgerDamaged):
        finish_move(here.address, there.address)
    there.tamper("delete from entries where number > 5")
    with pytest.raises(LedgerDamaged, match="not what was retired"):
        finish_move(here.address, there.address)
    with pytest.raises(Finished):
        there.open(key=None)

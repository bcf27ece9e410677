"""What is answered in steps, on either store: each step once, in order, whoever asks, and wherever the ledger goes."""

from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import pytest

from discreet.core import InvalidInput, LedgerDamaged
from discreet.gate import Gate
from discreet.gate.ledger.moving import move
from ledger_places import pay
from step_plans import Steps, walk


def test_steps_are_found_again_as_they_were_left(place):
    gate = Gate(place.create(), None)
    given = [gate.advance(Steps(), step).stored for step in range(5)]
    again = Gate(place.open(), None)
    assert [again.advance(Steps(), step).stored for step in range(5)] == given
    assert again.advance(Steps(), 5).fresh
    found = again.ledger.verify()
    assert (found.sound, found.payments, found.releases, found.continued) == (True, 1, 1, 5)
    assert again.ledger.spent == Fraction(1, 10)


def test_a_store_takes_each_step_once_and_in_order(place):
    ledger = place.create()
    receipt = pay(ledger, "r")
    with pytest.raises(InvalidInput, match="step before"):
        ledger.release(receipt, b"1", step=1)
    ledger.release(receipt, b"0")
    first, _ = ledger.release(receipt, b"1", step=1)
    assert place.open().release(receipt, b"other", step=1) == (first, b"1")
    assert ledger.continuations(receipt.number) == 1


def test_processes_that_ask_for_the_same_steps_at_once_get_the_same(place):
    ledger = place.create()
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(walk, [place.address] * 3, [10] * 3))
    assert len(set(found[0])) == 10
    assert found[1] == found[2] == found[0]
    assert (ledger.state.payments, ledger.continuations(2), ledger.verify().sound) == (1, 9, True)


def test_a_store_from_before_there_were_steps_goes_on(place):
    gate = Gate(place.create(), None)
    place.tamper("drop index one_step")
    given = [gate.advance(Steps(), step).stored for step in range(3)]
    again = Gate(place.open(), None)
    assert [again.advance(Steps(), step).stored for step in range(3)] == given
    assert again.ledger.verify().sound


def test_a_changed_answer_of_a_step_is_found_by_verifying(place):
    gate = Gate(place.create(), None)
    number = [gate.advance(Steps(), step).number for step in range(3)][2]
    place.tamper(f"update answers set answer = (select head from entries where number = 1) where number = {number}")
    assert not place.open().verify().sound
    with pytest.raises(LedgerDamaged):
        gate.advance(Steps(), 2)


@pytest.mark.parametrize("back", [False, True])
def test_a_moved_ledger_goes_on_with_its_steps(sqlite_place, postgres_place, back):
    here, there = (postgres_place, sqlite_place) if back else (sqlite_place, postgres_place)
    gate = Gate(here.create(), None)
    given = [gate.advance(Steps(), step).stored for step in range(3)]
    moved = Gate(there._kept(move(gate.ledger, there.address)), None)
    assert [moved.advance(Steps(), step).stored for step in range(3)] == given
    assert moved.advance(Steps(), 3).fresh
    assert moved.ledger.verify().sound

"""Personal accounts on either store: found again, charged once whoever asks, moved with all they hold."""

from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import pytest

from discreet.core import LedgerDamaged
from discreet.gate import Gate
from discreet.gate.ledger import charging as desks
from discreet.gate.ledger.moving import move
from discreet.gate.stores import protocol as stores
from personal_plans import Ask, Crowd, ask_all, personal

BUDGET = personal(rho=Fraction(1, 4))
CROWD = {"ann": 1, "bob": 2, "cay": 4}


def asked(ledger, count, rho=Fraction(1, 50), rows=CROWD):
    gate = Gate(ledger, Crowd(rows))
    return [gate.release(Ask(f"q{turn}", rho, most=4), request=f"r{turn}") for turn in range(count)]


def spent(ledger):
    return {who: ledger.statement(who).spent for who in CROWD}


def test_accounts_are_found_again_as_they_were_left(place):
    ledger = place.create(BUDGET)
    given = asked(ledger, 5)
    again = place.open()
    assert again.budget == BUDGET
    assert spent(again) == spent(ledger)
    assert [one.stored for one in asked(again, 5)] == [one.stored for one in given]
    assert spent(again) == spent(ledger)
    assert again.verify().sound


def test_snapshots_and_pieces_hold_what_charges_add_up_to(place, monkeypatch):
    monkeypatch.setattr(desks, "OFTEN", 2)
    monkeypatch.setattr(stores, "PIECE", 50)
    ledger = place.create(BUDGET)
    asked(ledger, 5)
    ledger.checkpoint()
    again = place.open()
    assert spent(again) == spent(ledger)
    assert again.distribution() == ledger.distribution()
    assert again.verify().sound
    asked(again, 7)
    assert ledger.distribution() == again.distribution()


def test_processes_that_ask_at_once_charge_everybody_for_each_answer_once(place):
    ledger = place.create(personal(rho=1))
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(ask_all, [place.address] * 3, "abc", [4] * 3))
    answers = [one for told in found for one in told]
    assert len({answer for _, answer in answers}) == len(answers) == 12
    statement = ledger.statement("both")
    assert len(statement.charges) == 12
    assert all(one.answered for one in statement.charges)
    assert len(ledger.statement("only a").charges) == 4
    assert ledger.verify().sound


def test_one_request_asked_by_many_processes_is_charged_once(place):
    ledger = place.create(personal(rho=1))
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(ask_all, [place.address] * 3, "aaa", [3] * 3))
    assert found[0] == found[1] == found[2]
    quantum = ledger.state.account.terms.quantum
    assert ledger.statement("both").spent <= 3 * (Fraction(1, 100) + 2 * quantum)
    assert ledger.state.payments == 3
    assert ledger.verify().sound


@pytest.mark.parametrize(
    "fault",
    [
        "update pieces set piece = (select head from entries where number = 1) where number = 3",
        "delete from pieces where number = 3",
    ],
)
def test_changed_charges_are_found_by_verifying_and_nothing_more_is_answered(place, fault):
    asked(place.create(BUDGET), 2)
    place.tamper(fault)
    again = place.open()
    assert any("entry 3" in one for one in again.verify().faults)
    with pytest.raises(LedgerDamaged):
        Gate(again, Crowd(CROWD)).release(Ask("another"))


@pytest.mark.parametrize("back", [False, True])
def test_a_moved_ledger_takes_its_accounts_along(sqlite_place, postgres_place, back, monkeypatch):
    monkeypatch.setattr(desks, "OFTEN", 2)
    here, there = (postgres_place, sqlite_place) if back else (sqlite_place, postgres_place)
    ledger = here.create(BUDGET)
    given, before = asked(ledger, 3), spent(ledger)
    moved = there._kept(move(ledger, there.address))
    assert spent(moved) == before
    assert [one.stored for one in asked(moved, 3)] == [one.stored for one in given]
    asked(moved, 5)
    assert spent(moved)["cay"] > before["cay"]
    assert moved.verify().sound

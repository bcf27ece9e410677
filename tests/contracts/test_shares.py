"""Shares in both stores: one release is paid for once, by whichever process, and a copy outlives a crash."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

from discreet.gate import Budget, Gate, move
from questions import Question
from share_model import ask_all

#: Pays for a copy, and dies before the answer is handed out.
COPYING = """
import os, sys
from discreet.gate import Gate, Ledger
from questions import Question

class Dying(Gate):
    def _pace_copy(self, plan):
        os._exit(9)

with Ledger.open(sys.argv[1]) as ledger:
    Dying(ledger, [], analyst="bob", team="icu").release(Question(), request="his")
"""
TENTH = Fraction(1, 10)


def share(ledger, analysts, team=None):
    for name in analysts:
        ledger.resize(0.25, by="steward", reason="a share", analyst=name)
    if team is not None:
        ledger.resize(0.25, by="steward", reason="a share", team=team)


def test_analysts_in_many_processes_who_ask_the_same_charge_the_dataset_once(place):
    analysts = [f"analyst{number}" for number in range(3)]
    ledger = place.create(Budget(1))
    share(ledger, analysts, "icu")
    names = ["p", "q", "r"]
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(ask_all, [place.address] * 3, analysts, [names, names[::-1], names]))
    account = ledger.state.account
    answers = {(name, stored) for one in found for name, stored in one.items() if stored is not None}
    # The team has room for two of three questions: no third one is paid for by anybody.
    assert len(answers) == ledger.state.payments == 2
    assert (account.total.spent, account.filter_of_team("icu").spent) == (2 * TENTH, 2 * TENTH)
    assert all(account.filter_of(name).spent <= 2 * TENTH for name in analysts)
    assert ledger.verify().sound


def test_a_copy_whose_process_died_is_handed_out_for_free(place):
    ledger = place.create(Budget(1))
    share(ledger, ["ann", "bob"], "icu")
    first = Gate(ledger, [], analyst="ann").release(Question())
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    died = subprocess.run([sys.executable, "-c", COPYING, place.address], env=path, check=False)
    assert died.returncode == 9
    before = ledger.state.number
    for request in ("his", None):
        given = Gate(ledger, [], analyst="bob", team="icu").release(Question(), request=request)
        assert (given.stored, given.receipt.request, given.fresh) == (first.stored, "his", False)
    assert ledger.state.number == before
    assert (ledger.spent, ledger.state.account.filter_of_team("icu").spent) == (TENTH, TENTH)
    assert ledger.verify().sound


def test_copies_are_found_under_keys_that_verification_checks(place):
    ledger = place.create(Budget(1))
    share(ledger, ["ann", "bob"])
    for name in ("ann", "bob"):
        Gate(ledger, [], analyst=name).release(Question(), request=name)
    assert ledger.find_receipt("bob").copied == ledger.find_receipt("ann").number
    assert [receipt.request for receipt in ledger.recent(5)] == ["bob", "ann"]
    place.tamper("update entries set payment = 1 where kind = 'copy'")
    assert "filed under keys" in ledger.verify().faults[0]


def test_a_store_of_before_there_were_copies_takes_them(place):
    ledger = place.create(Budget(1))
    place.tamper("drop index one_copy", "drop index copies")
    share(ledger, ["ann", "bob"], "icu")
    for name in ("ann", "bob", "bob"):
        Gate(ledger, [], analyst=name, team="icu").release(Question(), request=name)
    assert ledger.find_receipt("bob").copied
    assert (ledger.spent, ledger.state.account.filter_of_team("icu").spent) == (TENTH, TENTH)
    assert ledger.verify().sound


def test_a_moved_ledger_keeps_its_shares_copies_and_requests(sqlite_place, postgres_place):
    ledger = sqlite_place.create(Budget(1))
    share(ledger, ["ann", "bob"], "icu")
    for name in ("ann", "bob"):
        Gate(ledger, [], analyst=name, team="icu").release(Question(), request=name)
    ledger.shares.request_more(0.5, analyst="ann", reason="more")
    before = ledger.state
    moved = move(ledger, postgres_place.address)
    try:
        assert moved.state.account == before.account
        assert moved.state.shares == before.shares
        assert moved.find_receipt("bob").copied
        assert moved.verify().sound
    finally:
        moved.close()

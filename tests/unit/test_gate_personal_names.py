"""Names that two share, names that a snapshot leaves where they are, and stores that keep one copy of them."""

import os
import threading
from fractions import Fraction
from hashlib import sha256

import apsw
import numpy as np
import pytest

from discreet.algebra.contributions import Contribution
from discreet.core import LedgerDamaged, RunFailed
from discreet.gate import Gate, Ledger
from discreet.gate.accounts.charge_files import NAMES, pack, unpack
from discreet.gate.entries.chain import LedgerEntry, link_entry
from discreet.gate.entries.events import Snapshot, now, to_body
from discreet.gate.ledger import charging as desks
from discreet.gate.stores import process_queue as queues
from discreet.gate.stores.process_queue import ProcessQueue
from discreet.gate.stores.protocol import Keys, keys_of
from discreet.gate.stores.sqlite import KEPT, SqliteStore
from group_commits import accepted, submitted
from personal_plans import Ask, Crowd, personal

SECONDS = 30


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, personal(rho=Fraction(1, 4))) as made:
        yield made


class Named:
    """Persons with one row each, whose names are given."""

    def __init__(self, *names):
        self.names = np.array(names, np.uint64)

    def aggregate_among(self, _aggregation, admission):
        ones = np.ones(len(self.names))
        return int(admission.admit(admission.accounts(self.names), [Contribution(ones, ones)]).sum())


# Names that two share.


def test_a_table_in_which_two_share_a_name_is_refused_and_nobody_is_charged(ledger):
    for other in (7 << 12, (7 << 12) + 1):  # what comes after 84 bits is no part of a name
        with pytest.raises(RunFailed):
            Gate(ledger, Named((5, 7 << 12), (5, other))).release(Ask())
    assert ledger.state.account.charged == 0
    assert Gate(ledger, Named((5, 7 << 12), (5, 8 << 12))).release(Ask(), request="other").answer[1] == 2
    assert ledger.distribution().people == 2


def test_two_of_two_tables_who_share_a_name_pay_from_one_account(ledger):
    """So that what both together are charged stays within the limit: `claims/test_personal.py` says what that means."""
    took_part = [
        Gate(ledger, Named((5, last << 12))).release(Ask(f"q{turn}")).answer[1]
        for turn, last in enumerate([7, 7, 7, 8])
    ]
    assert took_part == [1, 1, 0, 1]


# Snapshots leave names where they are.


def test_a_snapshot_says_where_names_are_and_repeats_none(place, ledger, monkeypatch):
    monkeypatch.setattr(desks, "OFTEN", 2)
    for turn, more in enumerate(["ann", "bob", "bob", "cay"]):
        Gate(ledger, Crowd({"ann": 1, more: 1})).release(Ask(f"q{turn}", Fraction(1, 100)))
    ledger.checkpoint()
    snapshots = [entry.number for entry, event in ledger.entries() if isinstance(event, Snapshot)]
    people = [unpack(ledger._store.reading.people(number)) for number in snapshots]
    assert [len(one.high) for one in people] == [0, 0]
    assert [[part.persons for part in one.enrolled] for one in people] == [[1, 1], [1, 1, 1]]
    with Ledger.open(place) as again:
        assert again.distribution() == ledger.distribution()
        assert again.statement("cay").spent == ledger.statement("cay").spent > 0
        assert again.verify().sound


@pytest.fixture
def vouched(place, ledger, monkeypatch):
    """Return the first charge's entry in a ledger whose snapshot is vouched for; the ledger is closed."""
    monkeypatch.setattr(desks, "OFTEN", 1)
    Gate(ledger, Crowd({"ann": 1, "bob": 1})).release(Ask("q", Fraction(1, 100)))
    entry = ledger.state.account.charged - 1
    ledger.checkpoint()
    ledger.close()
    return next(number for number in (entry, entry - 1) if _charge_at(place, number))


def _charge_at(place, number):
    connection = apsw.Connection(str(place))
    found = connection.execute("select kind from entries where number = ?", (number,)).fetchall()
    connection.close()
    return found == [("charge",)]


@pytest.mark.parametrize("fault", ["changed", "cut", "gone"])
def test_names_that_were_changed_beside_a_charge_of_long_ago_are_refused_at_opening(place, vouched, fault):
    connection = apsw.Connection(str(place))
    ((piece,),) = connection.execute("select piece from pieces where number = ?", (vouched,)).fetchall()
    torn = {"changed": piece[: NAMES + 3] + b"\x5a" + piece[NAMES + 4 :], "cut": piece[: NAMES + 3]}
    if fault == "gone":
        connection.execute("delete from pieces where number = ?", (vouched,))
    else:
        connection.execute("update pieces set piece = ? where number = ?", (torn[fault], vouched))
    connection.close()
    with Ledger.open(place) as again:
        assert not again.verify().sound
        with pytest.raises(LedgerDamaged, match="persons were charged"):
            Gate(again, Crowd({"ann": 1})).release(Ask("more"))


def test_verifying_finds_a_snapshot_that_says_names_are_elsewhere(ledger):
    Gate(ledger, Crowd({"ann": 1})).release(Ask())
    people = ledger.people._accounts.totals(ledger.people._reading)
    (real,) = people.enrolled
    object.__setattr__(people, "enrolled", (real._replace(digest=sha256(b"").digest()),))
    packed = pack(people)
    event = Snapshot(at=now(), after=ledger.state.account.charged, people=sha256(packed).hexdigest())

    def work(reading, add):
        newest = reading.newest()
        add(link_entry(newest.head, newest.number + 1, to_body(event)), keys_of(event), packed)

    ledger._store.transact(work)
    assert not ledger.verify().sound


def test_tables_whose_people_come_out_of_order_are_charged_and_found_again(place, ledger):
    """A run that failed gave numbers to some; those who come later stand before them by name."""
    with pytest.raises(RunFailed):
        Gate(ledger, Named((9, 0), (7, 0))).release(Ask("fails", doing=lambda _: 1 // 0))
    for turn, names in enumerate([[(9, 0), (3, 0)], [(8, 0), (9, 0)]]):
        Gate(ledger, Named(*names)).release(Ask(f"q{turn}", Fraction(1, 100)))
    with Ledger.open(place) as again:
        again.distribution()
        accounts = again.people._accounts
        numbers = accounts.directory.numbers(
            *(np.array(one, kind) for one, kind in ([[3, 7, 8, 9], np.uint64], [[0] * 4, np.uint32]))
        )
        charged = accounts.balances()[0][numbers]
        assert (charged[:, None] == charged[[0]]).ravel().tolist() == [True, False, True, False]
        assert charged[3] == 2 * charged[0]
        assert again.verify().sound


def test_who_is_overtaken_while_storing_counts_what_the_other_stored(place, ledger):
    desk = ledger.people
    write = desk._write

    def overtaken(event, packed):
        desk._write = write
        with Ledger.open(place) as rival:
            Gate(rival, Crowd({"bob": 1})).release(Ask("theirs", Fraction(1, 100)))
        return write(event, packed)

    desk._write = overtaken
    Gate(ledger, Crowd({"ann": 1})).release(Ask("ours", Fraction(1, 50)))
    with Ledger.open(place) as again:
        for handle in (ledger, again):
            handle.distribution()  # catches up
        assert np.array_equal(desk._accounts.totals_spent(), again.people._accounts.totals_spent())
        assert sorted(desk._accounts.totals_spent() > 0) == [True, True]


# One copy.


def test_a_log_that_was_long_is_cut_when_the_next_entry_is_written(tmp_path):
    store = SqliteStore(tmp_path / "a.ledger", create=True)
    log = tmp_path / "a.ledger-wal"
    try:
        store.transact(lambda _, add: add(LedgerEntry(1, b"one", b"1"), Keys("charge"), os.urandom(4 * KEPT)))
        assert log.stat().st_size > 4 * KEPT
        store.transact(lambda _, add: add(LedgerEntry(2, b"two", b"2"), Keys("note"), None))
        assert log.stat().st_size <= KEPT
        assert len(store.reading.people(1)) == 4 * KEPT
        assert store.reading.people(1, 10) == store.reading.people(1)[:10]
    finally:
        store.close()


def test_what_is_large_is_not_put_down_and_is_processed_by_whoever_asks_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(queues, "LARGE", 100)
    queue = ProcessQueue(tmp_path)
    try:
        assert submitted(queue, [(b"large", bytes(101))], accepted)[0].number == 5
        assert max(file.stat().st_size for file in tmp_path.iterdir()) < 50
        assert submitted(queue, [(b"small", bytes(100))], accepted)[0].number == 5
        assert max(file.stat().st_size for file in tmp_path.iterdir()) > 100
    finally:
        queue.close()


def test_what_is_large_waits_for_the_lock_and_serves_those_who_wait_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr(queues, "LARGE", 100)
    first, second, third = (ProcessQueue(tmp_path) for _ in range(3))
    at_work, go, seen, met = threading.Event(), threading.Event(), [], {}

    def slow(proposals):
        at_work.set()
        assert go.wait(SECONDS)
        return accepted(proposals)

    def noting(proposals):
        seen.append([body for body, _ in proposals])
        return accepted(proposals)

    def ask(name, queue, size, process):
        met[name] = submitted(queue, [(name.encode(), bytes(size))], process)[0].head

    threads = [threading.Thread(target=ask, args=("first", first, 1, slow))]
    threads[0].start()
    assert at_work.wait(SECONDS)
    threads += [
        threading.Thread(target=ask, args=given)
        for given in (("large", second, 200, noting), ("small", third, 1, noting))
    ]
    for thread in threads[1:]:
        thread.start()
    assert seen == []
    go.set()
    for thread in threads:
        thread.join(SECONDS)
    assert met == {name: name.encode().hex() for name in ("first", "large", "small")}
    assert sorted(body for group in seen for body in group) == [b"large", b"small"]
    for queue in (first, second, third):
        queue.close()

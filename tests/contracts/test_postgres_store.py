"""What the store in PostgreSQL does besides the contract: its address, its server's settings, its server's failures."""

import importlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import errors

from discreet.core import InvalidInput, LedgerUnavailable
from discreet.gate import Budget, Ledger
from discreet.gate.entries.chain import link_entry
from discreet.gate.entries.events import Annotated, to_body
from discreet.gate.stores.postgres import PostgresStore
from discreet.gate.stores.protocol import Keys
from ledger_places import pay

SECRET = "hunter2"


@pytest.fixture
def place(postgres_place):
    return postgres_place


def test_a_database_holds_many_ledgers(place, postgres, tmp_path):
    one = place.create()
    other = Ledger.create(postgres.address("another"), one.budget, key=tmp_path / "another.key")
    with other:
        pay(one, "one")
        assert (one.state.payments, other.state.payments) == (1, 0)


@pytest.mark.parametrize(
    "name", ["", "Clinic", "pg_clinic", "a-b", 'a"; drop schema b', "a" * 64, "1a", "ä", "a&ledger=b"]
)
def test_a_name_that_would_need_quotes_is_refused(postgres, name):
    with pytest.raises(InvalidInput, match="does not name one ledger"):
        PostgresStore(postgres.address(name))


def test_an_address_may_leave_out_the_name(postgres, tmp_path):
    with Ledger.create(postgres.plain, Budget(1), key=tmp_path / "key") as made:
        pay(made, "one")
    with Ledger.open(postgres.address("discreet")) as found:
        assert found.identity == made.identity


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://user:{SECRET}@[::1/db?ledger=a",
        f"postgresql://user:{SECRET}@host/db?nonsense=1",
        f"postgresql://user:{SECRET}@127.0.0.1:1/db?connect_timeout=2",
    ],
)
def test_a_wrong_address_is_refused_without_the_password(address):
    with pytest.raises((InvalidInput, LedgerUnavailable)) as caught:
        PostgresStore(address)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_short_address_needs_a_key_like_a_long_one(postgres):
    with pytest.raises(InvalidInput, match="place for its key"):
        Ledger.create(postgres.address("short").replace("postgresql://", "postgres://"), Budget(1))


def test_without_psycopg_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "discreet.gate.stores.postgres")
    with pytest.raises(InvalidInput, match=r"discreet\[postgres\]"):
        importlib.import_module("discreet.gate.stores.postgres")


@pytest.mark.parametrize("table", ["entries", "answers"])
@pytest.mark.parametrize("change", ["update {} set number = number", "delete from {}", "truncate {}"])
def test_what_a_ledger_says_is_not_changed_by_mistake(place, postgres, table, change):
    ledger = place.create()
    ledger.release(pay(ledger, "one"), b"42")
    name = place.address.rpartition("=")[2]
    with psycopg.connect(postgres.plain) as rival, pytest.raises(errors.RaiseException, match="not changed"):
        rival.execute(change.format(f"{name}.{table}"))
    assert ledger.verify().sound


def test_a_commit_is_synced_whatever_the_database_prefers(place, postgres):
    with psycopg.connect(postgres.plain, autocommit=True) as steward:
        steward.execute("alter role postgres set synchronous_commit = off")
        try:
            store = place.create()._store
            asked = store._reader.execute("show synchronous_commit").fetchone()
            said = store.transact(lambda *_: store._writer.execute("show synchronous_commit").fetchone())
        finally:
            steward.execute("alter role postgres reset synchronous_commit")
    assert (asked, said) == (("off",), ("on",))


def test_a_server_that_does_not_sync_is_refused_at_opening_and_later(place, postgres):
    ledger = place.create()
    with psycopg.connect(postgres.plain, autocommit=True) as steward:
        try:
            _told([steward, ledger._store._writer], "set fsync = off", "off")
            with pytest.raises(LedgerUnavailable, match="does not sync"):
                pay(ledger, "one")
            with pytest.raises(LedgerUnavailable, match="does not sync"):
                place.open()
        finally:
            _told([steward, ledger._store._writer], "reset fsync", "on")
    assert pay(ledger, "one").number == 2


def _told(connections, setting, expected):
    """Change a setting of the server, and wait until each connection has heard of it."""
    connections[0].execute(f"alter system {setting}")
    connections[0].execute("select pg_reload_conf()")
    while any(connection.execute("show fsync").fetchone() != (expected,) for connection in connections):
        time.sleep(0.01)


def test_a_transaction_that_the_server_undid_is_begun_again(place):
    ledger, tries = place.create(), []

    def work(reading, add):
        tries.append(reading.newest().number)
        if len(tries) < 3:
            raise errors.SerializationFailure
        return "done"

    assert ledger._store.transact(work) == "done"
    assert tries == [1, 1, 1]


def test_a_transaction_that_is_always_undone_is_given_up(place):
    ledger = place.create()

    def work(reading, add):
        raise errors.SerializationFailure

    with pytest.raises(LedgerUnavailable, match="undone too often"):
        ledger._store.transact(work)
    assert pay(ledger, "one").number == 2


def test_a_commit_that_the_server_turned_into_a_rollback_is_not_taken_for_one(place):
    ledger = place.create()
    store = ledger._store

    def work(*_):
        with pytest.raises(errors.DivisionByZero):
            store._writer.execute("select 1/0")

    with pytest.raises(LedgerUnavailable, match="did not commit"):
        store.transact(work)
    with pytest.raises(LedgerUnavailable, match="failed before"):
        pay(ledger, "one")


def test_a_warning_at_commit_is_not_taken_for_a_commit(place):
    # As a server does that stops waiting for its standby.
    ledger = place.create()
    place.tamper(
        "create function warn() returns trigger language plpgsql as $$ begin raise warning 'alas'; return null; end $$",
        "create constraint trigger late after insert on entries deferrable initially deferred "
        "for each row execute function warn()",
    )
    with pytest.raises(LedgerUnavailable, match="did not commit"):
        pay(ledger, "one")
    assert place.open().payment_of("one") == 2


def test_a_lost_connection_closes_the_handle_and_leaves_nothing_half_done(place, postgres):
    ledger = place.create()
    pay(ledger, "one")
    store = ledger._store

    def work(*_):
        with psycopg.connect(postgres.plain) as rival:
            rival.execute("select pg_terminate_backend(%s, 5000)", (store._writer.info.backend_pid,))

    with pytest.raises(LedgerUnavailable, match="durably"):
        store.transact(work)
    for attempt in (lambda: pay(ledger, "two"), lambda: ledger.spent):
        with pytest.raises(LedgerUnavailable, match="failed before"):
            attempt()
    again = place.open()
    assert again.payment_of("two") is None
    assert pay(again, "two").number == 3


def test_a_commit_whose_answer_was_lost_can_be_asked_for_again_at_no_cost(place, monkeypatch):
    ledger = place.create()
    commit = ledger._store._commit

    def lost():
        commit()
        raise psycopg.OperationalError

    monkeypatch.setattr(ledger._store, "_commit", lost)
    with pytest.raises(LedgerUnavailable, match="again for free"):
        pay(ledger, "one")
    with pytest.raises(LedgerUnavailable, match="failed before"):
        pay(ledger, "one")
    again = place.open()
    assert pay(again, "one").number == 2
    assert again.state.payments == 1


def test_a_writer_that_waits_sees_what_the_one_before_it_wrote(place):
    # The rival holds the lock, the payment waits for it; were it to look before it waits, it would have to begin again.
    one, two = place.create(), place.open()
    attempts = []
    attempted = two._store._attempt
    two._store._attempt = lambda work: (attempts.append(1), attempted(work))[1]

    def rival(reading, add):
        waiting = pool.submit(pay, two, "waits")
        while not waiting.done() and not _waits(two._store):
            time.sleep(0.01)
        newest = reading.newest()
        add(link_entry(newest.head, 2, to_body(Annotated(at="", by="rival", text="first"))), Keys("annotation"), None)
        return waiting

    def _waits(store):
        query = "select wait_event_type from pg_stat_activity where pid = %s"
        found = one._store._reader.execute(query, (store._writer.info.backend_pid,)).fetchone()
        return found == ("Lock",)

    with ThreadPoolExecutor(1) as pool:
        assert one._store.transact(rival).result(30).number == 3
    assert attempts == [1]

"""Attack: have a run that is going on taken for dead, or a dead one for going on.

A run whose process is gone is a failure, and its payment may be run again. Whoever makes a living run look dead has an
innocent analyst locked out after three questions, and has one payment drawn twice at once. It took another name of the
ledger's file, as each name had a queue of its own, or a process without free file handles. And a ledger whose disk
had failed was taken for open as long as its process lived: its runs were neither failures nor could they be run again.
On a server, a forked child held the connections of its parent, whose runs went on after its death; and a server that
ends idle sessions ended those of long runs.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from fractions import Fraction
from itertools import count

import apsw
import pytest

from discreet.accounting import Pure
from discreet.core import LedgerUnavailable, StillRunning
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.ledger import run_tracker
from discreet.gate.stores import process_queue as queues
from postgres_server import server
from questions import Question

COST, NAMES = Pure(Fraction(1, 100)), count(1)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1)) as made:
        yield made


@contextmanager
def running(ledger, request):
    """Have a question of Bob's run for as long as this lasts; yields how often it was run."""
    begun, go_on, runs = threading.Event(), threading.Event(), []

    def wait(_):
        runs.append(1)
        begun.set()
        go_on.wait(30)
        return 1

    gate = Gate(ledger, None, analyst="bob")
    thread = threading.Thread(target=lambda: gate.release(Question("slow", COST, doing=wait), request=request))
    thread.start()
    try:
        assert begun.wait(30)
        yield runs
    finally:
        go_on.set()
        thread.join()


def look_around(ledger):
    """Ask something small, by which runs that are gone are noted as failures; return what there is of Bob."""
    Gate(ledger, None, analyst="eve").release(Question("anything", COST), fresh=True)
    state = ledger.runs.state
    return len(state.open), state.failures.get("bob", 0)


def test_by_another_name_of_the_file_runs_are_seen_as_well(ledger, place, tmp_path, monkeypatch):
    monkeypatch.setattr(run_tracker, "PATIENCE", 0.1)
    link = tmp_path / "current.ledger"
    link.symlink_to(place)
    with running(ledger, "R") as runs, Ledger.open(link) as other:
        assert look_around(other) == (1, 0)
        with pytest.raises(StillRunning):
            Gate(other, None, analyst="bob").release(Question("slow", COST, doing=runs.append), request="R")
        assert len(runs) == 1
    assert not ledger.runs.state.failures


def test_from_another_folder_runs_are_seen_as_well(ledger, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with running(ledger, "R"), Ledger.open(place.name) as other:
        monkeypatch.chdir("/")
        assert look_around(other) == (1, 0)


def test_a_process_without_free_files_takes_nobody_for_dead(ledger, place, monkeypatch):
    with running(ledger, "R"), Ledger.open(place) as other:
        opened = os.open

        def full(path, *more):
            if os.path.basename(path).startswith("open-"):  # noqa: PTH119 - a path or a text
                raise OSError(24, "Too many open files")
            return opened(path, *more)

        monkeypatch.setattr(queues.os, "open", full)
        assert look_around(other) == (1, 0)


def test_what_a_failed_ledger_was_running_has_failed(ledger, place, monkeypatch):
    monkeypatch.setattr(run_tracker, "PATIENCE", 0.1)

    def break_disk(_):
        def full(*_):
            raise apsw.FullError

        ledger._store._add = full
        return 1

    with pytest.raises(LedgerUnavailable):
        Gate(ledger, None, analyst="bob").release(Question("slow", COST, doing=break_disk), request="R")
    with Ledger.open(place) as other:
        assert Gate(other, None, analyst="bob").release(Question("slow", COST), request="R").fresh
        assert other.runs.state.failures == {"bob": 1}
        assert other.spent == Fraction(1, 100)


# Processes that fork, and servers that end sessions.

DYING = """
import os, sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from discreet.gate import Gate, Ledger
from questions import Question
ledger = Ledger.open({address!r})
def die(_):
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    Path({note!r}).write_text(str(child))
    os._exit(9)
Gate(ledger, None, analyst="bob").release(Question("slow", doing=die), request="R")
"""


@pytest.fixture(scope="module")
def postgres():
    with server() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, place):
    """Either store."""
    if request.param == "sqlite":
        return str(place)
    return request.getfixturevalue("postgres").address(f"dead_{next(NAMES)}")


def test_a_child_does_not_keep_the_runs_of_its_parent_alive(address, tmp_path):
    key, note = tmp_path / "key", tmp_path / "child"
    with Ledger.create(address, Budget(1), key=key) as ledger:
        code = DYING.format(path=sys.path, address=address, note=str(note))
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
        child = int(note.read_text())
        try:
            end = time.monotonic() + 10
            while look_around(ledger) != (0, 1) and time.monotonic() < end:
                time.sleep(0.05)  # the server takes a moment to see that a connection is closed
            assert look_around(ledger) == (0, 1)
            os.kill(child, 0)  # it lives
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_server_that_ends_idle_sessions_ends_no_run(postgres, tmp_path):
    address = f"{postgres.address('idle')}&options=-c%20idle_session_timeout%3D200"
    with Ledger.create(address, Budget(1), key=tmp_path / "key") as ledger, Ledger.open(address) as other:
        seen = []

        def wait(_):
            time.sleep(0.6)
            seen.append(other._store.is_present(ledger._store.handle))
            return 1

        assert Gate(ledger, None).release(Question(doing=wait)).answer == 1
        assert seen == [True]

"""Attack: have a run that is going on taken for dead, or a dead one for going on.

A run whose process is gone is a failure, and its payment may be run again. Whoever makes a living run look dead has an
innocent analyst locked out after three questions, and has one payment drawn twice at once. It took another name of the
ledger's file, as each name had a queue of its own, or a process without free file handles. And a ledger whose disk
had failed was taken for open as long as its process lived: its runs were neither failures nor could they be run again.
"""

import os
import threading
from contextlib import contextmanager
from fractions import Fraction

import apsw
import pytest

from discreet.accounting import Pure
from discreet.core import LedgerUnavailable, StillRunning
from discreet.gate import Budget, Gate, Ledger, queues, run_desk
from questions import Question

COST = Pure(Fraction(1, 100))


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
    monkeypatch.setattr(run_desk, "PATIENCE", 0.1)
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
    monkeypatch.setattr(run_desk, "PATIENCE", 0.1)

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

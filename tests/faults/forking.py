"""Forks of a process that has a ledger open: `python forking.py FOLDER SCENE`. Fails if what it claims is not so.

A process of its own, with one thread where it forks, unless the scene is about threads.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from discreet.accounting import Pure
from discreet.core import DiscreetError, Finished
from discreet.gate import Budget, Gate, Ledger
from faults.checker import agreed, examined
from questions import Question

#: A child that takes longer hangs.
SECONDS = 30


def in_a_child(work) -> int:
    """Return the exit code of a child that does some work; below zero, the signal that ended it."""
    child = os.fork()
    if not child:
        code = 1
        try:
            signal.alarm(SECONDS)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def created(folder: Path) -> Ledger:
    return Ledger.create(folder / "clinic.ledger", Budget(1))


def paid(ledger: Ledger, request: str, cost: float = 0.1):
    return ledger.pay(Pure(cost), what="a question", plan="00", request=request)


def refused(*attempts) -> None:
    """Check that each attempt is refused as being another process's."""
    for attempt in attempts:
        try:
            attempt()
        except Finished:
            continue
        raise SystemExit(2)


def unharmed(ledger: Ledger, folder: Path, *payments: str) -> None:
    """Check that a parent goes on."""
    paid(ledger, "after the fork")
    found = examined(folder / "clinic.ledger")
    agreed(folder, found, ledger)
    assert found.violations == []
    assert [body["request"] for body in found.payments.values()] == [*payments, "after the fork"]


def child_is_refused(folder: Path) -> None:
    ledger = created(folder)
    gate = Gate(ledger, ["a row"])
    receipt = paid(ledger, "before")

    def attempts() -> None:
        seen = []
        refused(
            lambda: paid(ledger, "child"),
            lambda: gate.release(Question(doing=seen.append)),
            lambda: gate.price(Question()),
            lambda: ledger.release(receipt, b"1"),
            lambda: ledger.spent,
            lambda: ledger.receipt(2),
            ledger.checkpoint,
            lambda: list(ledger.orphans()),
            lambda: ledger.resize(5, by="child", reason="greed"),
            lambda: ledger.disclose(None, by="child", reason="spite"),
        )
        assert seen == []
        assert not ledger.verify().sound
        ledger.close()
        del ledger.__dict__["_store"]
        gc.collect()

    assert in_a_child(attempts) == 0
    unharmed(ledger, folder, "before")


def child_of_a_busy_parent_is_refused(folder: Path) -> None:
    """Fork while a thread is in the middle of a transaction."""
    ledger = created(folder)
    inside, go, real = threading.Event(), threading.Event(), ledger._store.transact

    def transact(work):
        def slowly(*parts):
            inside.set()
            go.wait()
            return work(*parts)

        return real(slowly)

    ledger._store.transact = transact
    thread = threading.Thread(target=paid, args=[ledger, "before"])
    thread.start()
    inside.wait()
    attempts = [lambda: paid(ledger, "child"), lambda: ledger.spent, ledger.checkpoint, lambda: ledger.receipt(2)]
    assert in_a_child(lambda: refused(*attempts)) == 0
    assert in_a_child(ledger.close) == 0
    go.set()
    thread.join()
    unharmed(ledger, folder, "before")


def child_that_ends_like_any_other_harms_nobody(folder: Path) -> None:
    ledger = created(folder)
    paid(ledger, "before")
    context = multiprocessing.get_context("fork")
    child = context.Process(target=gc.collect)
    child.start()
    child.join()
    assert child.exitcode == 0
    unharmed(ledger, folder, "before")


def child_opens_for_itself(folder: Path) -> None:
    ledger = created(folder)
    paid(ledger, "before")

    def opens() -> None:
        with Ledger.open(folder / "clinic.ledger") as own:
            paid(own, "child")

    assert in_a_child(opens) == 0
    unharmed(ledger, folder, "before", "child")


def orphaned_child_holds_nothing(folder: Path) -> None:
    """Let a parent die with the queue's lock in its hand, while its child lives."""
    created(folder).close()
    told, tell = os.pipe()
    parent = os.fork()
    if not parent:
        ledger = Ledger.open(folder / "clinic.ledger")

        def process(*_) -> None:
            child = os.fork()
            if not child:
                signal.alarm(SECONDS)
                signal.pause()
            os.write(tell, child.to_bytes(4, "big"))
            os.kill(os.getpid(), signal.SIGKILL)

        ledger._store.transact = process
        paid(ledger, "parent")
    child = int.from_bytes(os.read(told, 4), "big")
    os.waitpid(parent, 0)
    try:
        with Ledger.open(folder / "clinic.ledger") as ledger:
            signal.alarm(SECONDS)
            unharmed(ledger, folder)
            assert sum(1 for _ in (folder / "clinic.ledger-queue").glob("slot-*")) == 1
    finally:
        os.kill(child, signal.SIGKILL)


def files_of_others_stay_open(folder: Path) -> None:
    """Close a ledger, twice and before a fork: nothing that was opened since is closed with it."""
    ledger = created(folder)
    ledger.close()
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]
    ledger.close()
    assert all(map(os.fstat, others))
    assert in_a_child(lambda: list(map(os.fstat, others))) == 0


def _spawned(place: str) -> None:
    with Ledger.open(place) as ledger:
        paid(ledger, "spawned")


def spawn_works_by_path(folder: Path) -> None:
    ledger = created(folder)
    paid(ledger, "before")
    context = multiprocessing.get_context("spawn")
    for given in (ledger, Gate(ledger, [])):
        try:
            context.Process(target=_spawned, args=[given]).start()
        except DiscreetError:
            continue
        raise SystemExit(2)
    child = context.Process(target=_spawned, args=[str(folder / "clinic.ledger")])
    child.start()
    child.join()
    assert child.exitcode == 0
    unharmed(ledger, folder, "before", "spawned")


SCENES = {
    scene.__name__: scene
    for scene in (
        child_is_refused,
        child_of_a_busy_parent_is_refused,
        child_that_ends_like_any_other_harms_nobody,
        child_opens_for_itself,
        orphaned_child_holds_nothing,
        files_of_others_stay_open,
        spawn_works_by_path,
    )
}

if __name__ == "__main__":
    SCENES[sys.argv[2]](Path(sys.argv[1]))

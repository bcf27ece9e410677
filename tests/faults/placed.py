"""A process that is killed at a place, not at a time. `python placed.py LEDGER SCENE REQUEST`.

It opens the ledger, says "ready", waits for a line, and pays for the request. In all scenes but the first it says
"here" at the place that the scene names, and then dies or waits to be killed.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from discreet.gate import Gate, Ledger
from discreet.gate.stores import process_queue as queues
from discreet.gate.stores import sqlite as sqlite_store
from questions import Question

REAL_PUT, REAL_TRANSACT, REAL_ANCHOR = queues._put, sqlite_store.SqliteStore.transact, Ledger._anchor


def here(*, die: bool = True) -> None:
    """Say so, and go no further."""
    print("here", flush=True)
    if die:
        os.kill(os.getpid(), signal.SIGKILL)
    while True:
        signal.pause()


def before_commit(*, die: bool = True) -> None:
    def transact(store, work):
        def and_stop(*parts):
            work(*parts)
            here(die=die)

        return REAL_TRANSACT(store, and_stop)

    sqlite_store.SqliteStore.transact = transact


def stopped_before_commit() -> None:
    before_commit(die=False)


def after_commit() -> None:
    Ledger._anchor = lambda *_, **__: here()


def after_anchor() -> None:
    def anchor(ledger, *handles, **how):
        REAL_ANCHOR(ledger, *handles, **how)
        here()

    Ledger._anchor = anchor


def while_replying() -> None:
    """Write a reply, and die before the state that says so."""

    def put(slot, payload, state, *at):
        REAL_PUT(slot, payload, queues.ASKED if state == queues.ANSWERED else state, *at)
        if state == queues.ANSWERED:
            here()

    queues._put = put


def after_one_reply() -> None:
    def put(slot, payload, state, *at):
        REAL_PUT(slot, payload, state, *at)
        if state == queues.ANSWERED:
            here()

    queues._put = put


def while_asking() -> None:
    """Die with a question in the slot."""

    def put(slot, payload, state, *at):
        REAL_PUT(slot, payload, state, *at)
        here()

    queues._put = put


def in_the_middle_of_asking() -> None:
    """Die with half a question in the slot."""

    def put(slot, payload, state, *at):
        REAL_PUT(slot, payload[: len(payload) // 2], queues.IDLE, *at)
        here()

    queues._put = put


def release() -> None:
    """Nothing is placed: it asks, and shows the answer."""


SCENES = {
    scene.__name__: scene
    for scene in (
        release,
        before_commit,
        stopped_before_commit,
        after_commit,
        after_anchor,
        while_replying,
        after_one_reply,
        while_asking,
        in_the_middle_of_asking,
    )
}


def main() -> None:
    place, scene, request = sys.argv[1:]
    ledger = Ledger.open(place)
    SCENES[scene]()
    print("ready", flush=True)
    sys.stdin.readline()
    print(Gate(ledger, []).release(Question(request), request=request).stored.hex(), flush=True)


if __name__ == "__main__":
    main()

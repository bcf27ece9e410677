"""Moving a ledger to another store: from SQLite to PostgreSQL, or back.

At no moment may both places be spent from, whatever crashes. So a store says of itself which state it is in, and each
payment looks at it under the store's lock. The order:

1. The old ledger is verified, and copied to the new place, which is *arriving*: nobody can open it. Others still pay.
2. The copy is verified.
3. Under the old store's lock, what was paid meanwhile is copied, and the old store is committed as *retired*. From here
   on it refuses, also those who have had it open for long. What it has released can still be read there.
4. The new store is committed as *open*.

A crash before 3 leaves the ledger where it was; `move` again goes on with the copy that is there. A crash between 3 and
4 leaves a complete copy that cannot be spent from, and an old ledger that cannot either: `finish_move` does 4. The
chain stays as it is, and with it the ledger's name, its key, its certificates and its anchors.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from discreet.core import InvalidInput, LedgerDamaged
from discreet.gate.entries.chain import GENESIS, check_chain
from discreet.gate.entries.events import digest_beside, from_body
from discreet.gate.ledger.ledger import Ledger
from discreet.gate.ledger.opening import open_state, open_store
from discreet.gate.ledger.verification import Progress, verify_store
from discreet.gate.stores.protocol import Add, LedgerReader, Store, StoreStatus, keys_of, read_beside


def move(ledger: Ledger, place: str | Path, *, progress: Progress | None = None) -> Ledger:
    """Move a ledger to a place where there is none, and return it there; the old one is retired for good.

    Guarantee: no payment is lost, and none can be made in two places.
    """
    store, key, places = ledger._store, ledger._key, ledger._places  # noqa: SLF001 - the same ledger, on another store
    _need_sound(ledger.verify(progress).faults)
    target = _open_target(place)
    try:
        _copy(store.reading, target)
        # Without anchors: those who pay meanwhile write newer ones than this copy knows. Opening will check them.
        _need_sound(verify_store(target.reading, (), progress).faults)
        store.change(StoreStatus.RETIRED, lambda reading: _copy(reading, target))
        target.change(StoreStatus.OPEN, lambda _: None)
    finally:
        target.close()
    moved = open_store(place)
    try:
        state, _ = open_state(moved.reading, places, place)
        if state.birth.budget.personal:
            moved.narrow()
    except BaseException:
        moved.close()
        raise
    return Ledger(moved, state, key, places)


def finish_move(
    old: str | Path,
    place: str | Path,
    *,
    key: str | Path | None = None,
    anchors: Sequence[str | Path] | None = None,
) -> Ledger:
    """Finish a move that was interrupted after the old ledger was retired; otherwise refuse."""
    source = open_store(old, state=StoreStatus.RETIRED)
    try:
        target = open_store(place, state=StoreStatus.ARRIVING)
        try:
            if source.reading.newest() != target.reading.newest():
                raise LedgerDamaged(
                    "What is at the new place is not what was retired at the old one.",
                    fix="check both places; the retired ledger is complete, do not delete it",
                )
            _need_sound(verify_store(target.reading, ()).faults)
            target.change(StoreStatus.OPEN, lambda _: None)
        finally:
            target.close()
    finally:
        source.close()
    return Ledger.open(place, key=key, anchors=anchors)


def _open_target(place: str | Path) -> Store:
    """Return a new store to copy to, or the one that an interrupted move left."""
    try:
        return open_store(place, create=True, state=StoreStatus.ARRIVING)
    except InvalidInput:
        return open_store(place, state=StoreStatus.ARRIVING)


def _copy(source: LedgerReader, target: Store) -> None:
    """Append to a store what it lacks of another, and check every link and every answer on the way."""

    def work(there: LedgerReader, add: Add) -> None:
        newest = there.newest()
        number, head = (0, GENESIS) if newest is None else (newest.number, newest.head)
        if newest is not None and source.entry(number) != newest:
            raise InvalidInput("Another ledger is being moved to this place.", fix="choose another place")
        for entry in check_chain(source.entries(number), number, head):
            event = from_body(entry.body)
            answer, digest = read_beside(source, entry.number, event), digest_beside(event)
            if digest is not None and (answer is None or sha256(answer).hexdigest() != digest):
                raise _move_error(f"the answer of entry {entry.number} is missing or was changed")
            add(entry, keys_of(event), answer)

    target.transact(work)


def _need_sound(faults: Sequence[str]) -> None:
    if faults:
        raise _move_error(faults[0])


def _move_error(fault: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"The ledger was not moved: {fault}.",
        fix="put back an undamaged copy that is at least as new as the last anchor; nothing was retired",
    )

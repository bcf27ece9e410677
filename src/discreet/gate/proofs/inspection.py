"""Checking a ledger that may refuse to open: all that is wrong with it, and nothing written, not even an anchor."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.core import LedgerDamaged
from discreet.gate.ledger.anchors import read_anchors
from discreet.gate.ledger.keys import SigningKey
from discreet.gate.ledger.opening import Places, open_store, places_of
from discreet.gate.ledger.verification import Progress, Verification, verify_store
from discreet.gate.stores.protocol import LedgerReader

NOTHING = Verification(0, 0, 0, 0, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Inspection:
    """The findings. `ledger` is the name that the first entry has; empty if that could not be read."""

    ledger: str
    verification: Verification
    #: The number of places with an anchor to compare with.
    anchors: int


def inspect_ledger(
    place: str | Path,
    *,
    key: str | Path | None = None,
    anchors: Sequence[str | Path] | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Check everything that is stored at a place, from the first entry on, and that it has what its anchors saw.

    With `key`, also that this is the key of the ledger.
    """
    public = None if key is None else SigningKey.read(Path(key)).public
    try:
        store = open_store(place)
        try:
            return _inspect_store(store.reading, public, anchors, place, progress)
        finally:
            store.close()
    except LedgerDamaged as error:
        return Inspection("", replace(NOTHING, faults=(error.problem,)), 0)


def _inspect_store(
    reading: LedgerReader,
    public: str | None,
    anchors: Sequence[str | Path] | None,
    place: str | Path,
    progress: Progress | None,
) -> Inspection:
    first = reading.entry(1)
    name = "" if first is None else first.head.hex()
    places: Places = places_of(name, anchors, place)
    known = [path for path in places if read_anchors(path)]
    verification = verify_store(reading, places, progress)
    faults = [*verification.faults]
    if anchors is not None and len(known) < len(places):
        faults.append("there is no anchor in a place that was named for one")
    if first is not None and public is not None and public.encode() not in first.body:
        faults.append("the key is not this ledger's")
    return Inspection(name, replace(verification, faults=tuple(faults)), len(known))

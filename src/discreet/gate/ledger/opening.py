"""Opening a ledger: which store, where its anchors are, and whether it continues what they saw."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from discreet.core import InvalidInput, LedgerDamaged, WrongType
from discreet.gate.entries.chain import LedgerEntry, check_chain, damage_error
from discreet.gate.ledger.anchors import Anchor, default_place, last_anchor, newest, place_of_path, read_anchors
from discreet.gate.ledger.keys import is_signed
from discreet.gate.ledger.state import LedgerState, not_a_ledger
from discreet.gate.stores.protocol import NEWEST, SERVER, LedgerReader, Store, StoreStatus, read_trusted

#: Files that hold anchors.
Places = tuple[Path, ...]


def open_store(place: str | Path, *, create: bool = False, state: StoreStatus = StoreStatus.OPEN) -> Store:
    """Return the store at a path or address."""
    if isinstance(place, str) and place.startswith(SERVER):
        from discreet.gate.stores.postgres import PostgresStore  # noqa: PLC0415 (an extra, not everybody has it)

        return PostgresStore(place, create=create, state=state)
    if not isinstance(place, str | Path):
        raise WrongType("The place of a ledger is not a path.", fix='pass "clinic.ledger" or "postgresql://…"')
    from discreet.gate.stores.sqlite import SqliteStore  # noqa: PLC0415 (who uses a server need not load it)

    return SqliteStore(Path(place), create=create, state=state)


def places_of(identity: str, anchors: Sequence[str | Path] | None, place: str | Path) -> Places:
    """Return the files that anchors are kept in: those that were named, or one for the ledger and one for its path."""
    if anchors is None:
        return (default_place(identity), place_of_path(place))
    if isinstance(anchors, str | Path):
        raise WrongType("anchors is one path, not a list.", fix='pass anchors=["/mnt/other/clinic.anchor"]')
    return tuple(Path(anchor).absolute() for anchor in anchors)  # or another folder would be another place


def need_new(place: str | Path) -> None:
    """Refuse a path at which there was a ledger: whoever removes it would begin anew with a full purse."""
    before = last_anchor(place_of_path(place))
    if before is not None:
        raise InvalidInput(
            f"There was a ledger at this place already, {before.ledger[:12]}…, of {before.number} entries: for life.",
            fix="put it back and open it; or choose another path. If nothing that it told is about the same people, "
            f"remove {place_of_path(place).name} from the folder of anchors, and create again",
        )


def need_continued(reading: LedgerReader, places: Places) -> int:
    """Return up to which entry all anchors have seen; refuse where one has seen what is not here.

    Then a copy of this ledger is in use as well.
    """
    latest = [last_anchor(place) for place in places]
    for anchor in latest:
        if anchor is not None:
            _need_head(reading, anchor)
    return min((0 if anchor is None else anchor.number for anchor in latest), default=NEWEST)


def open_state(
    reading: LedgerReader, anchors: Sequence[str | Path] | None, place: str | Path
) -> tuple[LedgerState, Places]:
    """Return the state of a store, from its last checkpoint on, and the places of its anchors.

    Every anchored head must be found at its number, and the chain is followed from the older of the newest anchor and
    the checkpoint that is begun with.
    """
    first = read_trusted(reading, 1)
    if first is None:
        raise not_a_ledger()
    state = LedgerState.from_birth(first)
    places = places_of(first.head.hex(), anchors, place)
    anchor = need_anchored(reading, places, state, explicit=anchors is not None)
    start = _find_start(reading, state, anchor)
    if start is not None:
        if anchor is not None and anchor.number < start.number:
            _check_chain_to(reading, anchor, start)
        state = state.resume_from(start)
    vouched = max(0 if anchor is None else anchor.number, 0 if start is None else start.number)
    return replace(state.catch_up(reading.entries), vouched=vouched), places


def _find_start(reading: LedgerReader, state: LedgerState, anchor: Anchor | None) -> LedgerEntry | None:
    """Return the checkpoint whose totals are believed: the last that an anchor has seen, or that the key has signed.

    Others are counted like any entry: whoever can append to the store could state any totals in one.
    """
    number = reading.last_checkpoint()
    while number is not None:
        entry, before = read_trusted(reading, number), reading.entry(number - 1)
        if entry is None or before is None:
            raise _gap(number)
        if (anchor is not None and number <= anchor.number) or is_signed(entry, before.head, state.birth.key):
            return entry
        number = reading.last_checkpoint(number - 1)
    return None


def need_anchored(reading: LedgerReader, places: Places, state: LedgerState, *, explicit: bool) -> Anchor | None:
    """Return the newest anchor; refuse a ledger that lacks an anchored head, and an anchor with a false signature."""
    all_anchors = []
    for place in places:
        anchors = read_anchors(place)
        if explicit and not anchors:
            raise LedgerDamaged(
                "There is no anchor in a place that was named for one.",
                fix="put the anchor back, or leave the place out, open the ledger, and anchor it there again",
            )
        all_anchors += anchors
    for anchor in all_anchors:
        if anchor.ledger != state.identity.hex():
            raise LedgerDamaged(
                "The anchor is that of another ledger: this one was replaced, or the place is wrong.",
                fix="check both paths; if the ledger was replaced, put back the one that the anchor names",
            )
        if anchor.signature and not anchor.is_signed_by(state.birth.key):
            raise LedgerDamaged(
                f"The anchor of entry {anchor.number} is not signed by the ledger's key, so it is not genuine.",
                fix="find out who wrote it; put back the anchor that the steward signed",
            )
        _need_head(reading, anchor)
    return newest(all_anchors)


def _need_head(reading: LedgerReader, anchor: Anchor) -> None:
    entry = reading.entry(anchor.number)
    if entry is None or entry.head.hex() != anchor.head:
        raise LedgerDamaged(
            f"The ledger is not the one that was seen at entry {anchor.number}: it was restored from an older copy, "
            "copied and used twice, rewritten, or lost the end of its log.",
            fix="put back the newest file with its -wal beside it; if that is lost, what was spent is not known: treat "
            "the budget as used up, and begin a new ledger only with a budget that is justified anew",
        )


def _check_chain_to(reading: LedgerReader, anchor: Anchor, start: LedgerEntry) -> None:
    """Check the chain from an anchor to a checkpoint."""
    last = bytes.fromhex(anchor.head)
    for entry in check_chain(reading.entries(anchor.number), anchor.number, last):
        last = entry.head
        if entry.number == start.number:
            break
    if last != start.head:
        raise _gap(start.number)


def _gap(number: int) -> LedgerDamaged:
    return damage_error(f"The chain does not lead to checkpoint {number}.")

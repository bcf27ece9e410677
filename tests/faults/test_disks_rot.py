"""Bits flip, sectors are garbled, pages are torn. What comes back is what was stored, or a refusal."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.core import DiscreetError
from discreet.gate import Ledger
from faults.disk_scenes import Asked, a_life, ask, many, quick_folder
from faults.disks import SECTOR

SEED = 20_260_402
PAGE = 4096
PARTS = 4
#: In the quick profile; in the full one there are a few hundred entries.
ENTRIES = many(quick=12, full=120)


@dataclass(frozen=True)
class Life:
    """A ledger as it is while it is open and when it was closed, older copies, its anchor, and all that it says."""

    open: dict[str, bytes]
    closed: dict[str, bytes]
    older: dict[str, bytes]
    anchor: bytes
    asked: list[Asked]
    seen: dict


@pytest.fixture(scope="module")
def life() -> Life:
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_STATE", str(folder / "state"))
        path, anchor = folder / "a.ledger", folder / "anchor"
        asked = a_life(path, anchor, entries=ENTRIES)
        names = ("a.ledger", "a.ledger-wal")
        with Ledger.open(path, anchors=[anchor]) as ledger:
            older = {name: (folder / name).read_bytes() for name in names}
            # So that there is something in the log as well.
            asked += [ask(ledger, f"late {n}") for n in range(6)]
            ledger.checkpoint()
            files = {name: (folder / name).read_bytes() for name in names}
        kept = anchor.read_bytes()
        closed = {"a.ledger": path.read_bytes()}
        with Ledger.open(path, anchors=[anchor]) as ledger:
            assert ledger.verify().faults == ()
            seen = everything(ledger, asked)
        return Life(files, closed, older, kept, asked, seen)


def put(folder: Path, files: dict[str, bytes]) -> Path:
    """Write a ledger's files where there may be others."""
    for name in ("a.ledger-shm", "a.ledger-wal"):
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / "a.ledger"


def everything(ledger: Ledger, asked: list[Asked]) -> dict:
    """Return all that a user may read: totals, caps, receipts, answers, certificates, lists, texts."""
    book = ledger.state
    seen = {
        "totals": book.totals(),
        "identity": ledger.identity,
        "budget": ledger.budget,
        "text": repr(ledger),
        "entries": [(entry.number, entry.head, event) for entry, event in ledger.entries()],
        "orphans": list(ledger.orphans()),
        "recent": ledger.recent(1000),
    }
    for one in asked:
        receipt = one.release.receipt
        number = ledger.payment_of(receipt.request)
        answered = None if number is None else ledger.release_of(number)
        seen[receipt.request] = (
            number,
            None if number is None else ledger.receipt(number),
            None if answered is None else ledger.read_answer(answered),
            ledger.shares.find(receipt.plan, receipt.analyst),
        )
    return seen


# --- ways to damage a file


def flipped(content: bytes, older: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]


def garbled(content: bytes, older: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) // SECTOR) * SECTOR
    return content[:at] + chance.choice((bytes(SECTOR), chance.randbytes(SECTOR))) + content[at + SECTOR :]


def torn(content: bytes, older: bytes, chance: random.Random) -> bytes:
    """Mix the first sectors of a page with the others of its older self, or of another page."""
    pages = len(content) // PAGE
    at, other = (chance.randrange(pages) * PAGE for _ in range(2))
    kept = SECTOR * chance.randrange(1, PAGE // SECTOR)
    source, begin = (older, at) if chance.random() < 0.5 and len(older) >= at + PAGE else (content, other)
    return content[: at + kept] + source[begin + kept : begin + PAGE] + content[at + PAGE :]


def shortened(content: bytes, older: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


WAYS: tuple[Callable, ...] = (flipped, flipped, flipped, garbled, torn, shortened)


def damaged(life: Life, chance: random.Random) -> dict[str, bytes]:
    """Return the files of a ledger, one of them damaged in one way."""
    files, way = chance.choice((life.open, life.closed)), chance.choice(WAYS)
    name = chance.choice(sorted(files))
    return {**files, name: way(files[name], life.older[name], chance)}


@pytest.mark.parametrize("part", range(PARTS))
def test_no_damage_changes_an_answer_a_cost_a_cap_or_a_total_undetected(life, part):
    chance = random.Random(SEED + part)
    came_out = Counter()
    with quick_folder() as folder:
        anchor = folder / "anchor"
        for _ in range(many(quick=300, full=10_000) // PARTS):
            path = put(folder, damaged(life, chance))
            anchor.write_bytes(life.anchor)
            came_out[outcome(path, anchor, life, chance)] += 1
    # Damage of each sort was met, or this would prove little.
    assert {"refused at opening", "refused later", "the same"} <= set(came_out)


def outcome(path: Path, anchor: Path, life: Life, chance: random.Random) -> str:
    """Use a damaged ledger as people do, then verify it; return what became of it."""
    try:
        ledger = Ledger.open(path, anchors=[anchor])
    except DiscreetError:
        return "refused at opening"
    with ledger:
        refusals = asked_again(ledger, life, chance)
        found = ledger.verify()
        try:
            seen = everything(ledger, life.asked)
        except DiscreetError:
            assert found.faults or refusals, "verification missed what reading met"
            return "refused later"
    if seen == life.seen:
        return "the same"
    assert found.faults, [key for key in seen if seen[key] != life.seen[key]]
    return "found"


def asked_again(ledger: Ledger, life: Life, chance: random.Random) -> int:
    """Ask some of the questions again, without verification: each gives what it gave, or is refused."""
    refused = 0
    try:
        assert (ledger.state.totals(), ledger.budget) == (life.seen["totals"], life.seen["budget"])
    except DiscreetError:
        return 1
    for one in chance.sample(life.asked, many(quick=3, full=6)):
        ran = []
        try:
            release = one.again(ledger, lambda ran=ran: ran.append(True))
        except DiscreetError:
            refused += 1
        else:
            assert (release.stored, release.receipt) == (one.release.stored, one.release.receipt)
        assert not ran, "one payment bought two answers"
    return refused


def test_a_damaged_anchor_is_passed_over_or_refused(life):
    """Each line stands for itself: what remains of them is compared, and what they say falsely is not found."""
    chance = random.Random(SEED)
    came_out = Counter()
    with quick_folder() as folder:
        anchor = folder / "anchor"
        for _ in range(many(quick=40, full=1000)):
            way = chance.choice((flipped, shortened))
            path = put(folder, life.closed)
            anchor.write_bytes(way(life.anchor, b"", chance))
            try:
                with Ledger.open(path, anchors=[anchor]) as ledger:
                    assert ledger.state.totals() == life.seen["totals"]
                came_out["opened"] += 1
            except DiscreetError:
                came_out["refused"] += 1
    assert len(came_out) == 2

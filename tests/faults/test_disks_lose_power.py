"""Power is lost, and with it whatever was not synced. What was acknowledged is not."""

import random
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from discreet.accounting import Pure
from discreet.core import DiscreetError, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.ledger.anchors import read_anchors
from discreet.gate.plans import plan_digest
from faults.disk_scenes import ROWS, Sum, many, quick_folder
from faults.disks import Acknowledged, Disk, FolderSynced, Synced, SyncFailed, Truncated, Wrote, image, mounted

SEED = 20_260_401
#: Pages of the log after which it is copied into the file: at once, soon, seldom.
COPIED_AFTER = (1, 7, 40)


@dataclass(frozen=True)
class Paid:
    request: str
    number: int
    head: str
    #: The anchors as they were.
    anchors: bytes


@dataclass(frozen=True)
class Answered:
    request: str
    stored: bytes
    anchors: bytes


def a_working_day(folder: Path, disk: Disk) -> None:
    """Pay, release, checkpoint, close and open again; note whatever was acknowledged."""
    path, anchor = folder / "a.ledger", folder / "anchor"
    for session in range(3):
        if session:
            ledger = Ledger.open(path, anchors=[anchor])
        else:
            ledger = Ledger.create(path, Budget(epsilon=20), anchors=[anchor])
        with ledger:
            gate = Gate(ledger, ROWS, analyst="ann")
            for n in range(14):
                request = f"request {session}.{n}"
                if n % 3:
                    receipt = ledger.pay(Pure(0.01), what="a payment", plan="00", request=request)
                    disk.acknowledge(Paid(request, receipt.number, receipt.head, anchor.read_bytes()))
                else:
                    found = gate.release(Sum(request, size=3000 if n == 6 else 5), request=request)
                    disk.acknowledge(Answered(request, found.stored, anchor.read_bytes()))
                if n == 8:
                    ledger.checkpoint()


@pytest.fixture(scope="module")
def recorded():
    """Return records of working days, by how eagerly the log is synced and how often it is copied."""
    kept = {}

    def record(synchronous: str, copied_after: int) -> Disk:
        wanted = (synchronous, copied_after)
        if wanted not in kept:
            disk = kept[wanted] = Disk()
            with (
                quick_folder() as folder,
                pytest.MonkeyPatch.context() as patch,
                mounted(disk, patch, synchronous=synchronous, copied_after=copied_after),
            ):
                a_working_day(folder, disk)
        return kept[wanted]

    return record


def a_loss(disk: Disk, folder: Path, chance: random.Random) -> tuple[Path, list]:
    """Lose power at some moment; return where the ledger is and what had been acknowledged."""
    cut = chance.randrange(len(disk.happened) + 1)
    before = disk.happened[:cut]
    for old in folder.iterdir():
        old.unlink() if old.is_file() else None
    for name, content in image(before, chance).items():
        (folder / name).write_bytes(content)
    return folder / "a.ledger", [one.what for one in before if isinstance(one, Acknowledged)]


def lost(ledger: Ledger, told: list) -> list:
    """Return what was acknowledged and is not there."""
    gone = []
    for one in told:
        number = ledger.payment_of(one.request)
        match one:
            case Paid():
                there = number == one.number and ledger.receipt(number).head == one.head
            case Answered():
                release = None if number is None else ledger.release_of(number)
                there = release is not None and ledger.read_answer(release)[1] == one.stored
        gone += [] if there else [one]
    return gone


def with_anchor(path: Path, told: list) -> list[Path]:
    place = path.with_name("anchor")
    place.write_bytes(told[-1].anchors)
    return [place]


@pytest.mark.parametrize("copied_after", COPIED_AFTER)
def test_a_record_has_all_that_matters(recorded, copied_after):
    """Or images of it would prove little: copies into the file, logs begun anew, deletions, acknowledgements."""
    disk = recorded("full", copied_after)
    kinds = [type(one) for one in disk.happened]
    assert all(kinds.count(kind) >= 3 for kind in (Wrote, Truncated, Synced, FolderSynced, Acknowledged))
    file = disk.files["a.ledger"]
    assert sum(isinstance(one, Wrote) and one.file == file for one in disk.happened) > 20
    assert sum(isinstance(one, Wrote) and one.file != file and one.offset == 0 for one in disk.happened) > 4


@pytest.mark.parametrize("part", range(2))
def test_no_power_loss_undoes_what_was_acknowledged(recorded, part):
    chance = random.Random(SEED + part)
    opened = 0
    with quick_folder() as folder:
        for _ in range(many(quick=20, full=250)):
            disk = recorded("full", chance.choice(COPIED_AFTER))
            path, told = a_loss(disk, folder, chance)
            try:
                ledger = Ledger.open(path, anchors=with_anchor(path, told) if told and chance.random() < 0.5 else [])
            except DiscreetError:
                assert not told  # power was lost while the ledger was being created
                continue
            opened += 1
            with ledger:
                assert ledger.verify().faults == ()
                assert lost(ledger, told) == []
                assert_life_goes_on(ledger, told)
    assert opened > many(quick=10, full=150)


def assert_life_goes_on(ledger: Ledger, told: list) -> None:
    spent = ledger.spent
    for one in told[-2:]:
        if isinstance(one, Paid):
            ledger.pay(Pure(0.01), what="a payment", plan="00", request=one.request)
    assert ledger.spent == spent
    ledger.pay(Pure(0.01), what="after the loss", plan="00", request="after the loss")
    assert ledger.verify().faults == ()


def test_weaker_syncs_lose_acknowledged_payments_and_the_anchor_tells(recorded):
    """The control: the simulation can lose payments. And where it does, the ledger refuses to open."""
    chance = random.Random(SEED)
    losses = 0
    with quick_folder() as folder:
        for _ in range(many(quick=40, full=500)):
            disk = recorded("normal", chance.choice(COPIED_AFTER[1:]))  # to copy the log is to sync it
            path, told = a_loss(disk, folder, chance)
            if not told:
                continue
            try:
                with Ledger.open(path, anchors=[]) as ledger:
                    gone = lost(ledger, told)
            except (LedgerDamaged, InvalidInput):  # not even its birth is left
                gone = told
            anchors = with_anchor(path, told)
            losses += bool(gone)
            if gone:
                with pytest.raises((LedgerDamaged, InvalidInput)):
                    Ledger.open(path, anchors=anchors)
            else:
                Ledger.open(path, anchors=anchors).close()
    assert losses > 0


def test_an_anchor_is_never_ahead_of_the_disk(recorded):
    """It is written after the commit: what it saw, no power loss takes away."""
    for copied_after in COPIED_AFTER:
        disk = recorded("full", copied_after)
        for one in disk.happened:
            if isinstance(one, Acknowledged) and isinstance(one.what, Paid):
                with quick_folder() as folder:
                    (folder / "anchor").write_bytes(one.what.anchors)
                    assert read_anchors(folder / "anchor")[-1].number == one.what.number


def no_sync(kind: str, path: str, size: int) -> None:
    if kind == "sync":
        raise apsw.IOError


def never_synced(disk: Disk, path: Path, answered: bool) -> bytes:
    """Write a payment, or a release, that is not synced; open the ledger again, ask again; return what came out."""
    plan = Sum("a")

    def ask(ledger: Ledger) -> bytes:
        if answered:
            return Gate(ledger, ROWS).release(plan, request="a").stored
        return bytes.fromhex(ledger.pay(plan.cost, what="a payment", plan=plan_digest(plan), request="a").head)

    with Ledger.create(path, Budget(epsilon=1), anchors=[]) as ledger:
        if answered:
            ledger.pay(plan.cost, what="a payment", plan=plan_digest(plan), request="a")
        disk.trouble = no_sync
        with pytest.raises(LedgerUnavailable):
            ask(ledger)
    disk.trouble = lambda *_: None
    with Ledger.open(path, anchors=[]) as ledger:
        told = ask(ledger)
        disk.acknowledge(told)
        return told


@pytest.mark.parametrize("answered", [False, True], ids=["payment", "release"])
@pytest.mark.parametrize("killed", [False, True], ids=["the-sync-failed", "killed-before-the-sync"])
def test_what_was_written_and_never_synced_is_made_durable_before_it_is_acknowledged(answered, killed, monkeypatch):
    """Whoever opens the ledger next finds it in the log, in the memory of the operating system and not on the disk."""
    disk = Disk()
    with quick_folder() as folder, mounted(disk, monkeypatch):
        told = never_synced(disk, folder / "a.ledger", answered)
    happened = [one for one in disk.happened if not (killed and isinstance(one, SyncFailed))]
    happened = happened[: happened.index(Acknowledged(told))]
    chance = random.Random(SEED)
    for _ in range(many(quick=10, full=50)):
        with quick_folder() as folder:
            for name, content in image(happened, chance).items():
                (folder / name).write_bytes(content)
            with Ledger.open(folder / "a.ledger", anchors=[]) as ledger:
                number = ledger.payment_of("a")
                assert number is not None
                if answered:
                    assert ledger.read_answer(ledger.release_of(number))[1] == told
                else:
                    assert ledger.receipt(number).head == told.hex()

"""The disk is full, or reads, writes and syncs fail. No answer leaves, nothing is lost, nothing is free."""

import os
import sys
import traceback
from fractions import Fraction
from itertools import count
from pathlib import Path

import apsw
import pytest

from discreet.accounting import Pure
from discreet.core import BudgetExceeded, DiscreetError, LedgerUnavailable
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.stores import sqlite as sqlite_store
from faults.disk_scenes import ROWS, Asked, Sum, many, quick_folder
from faults.disks import Disk, mounted, writes_fail

#: Pages of the log after which it is copied into the file: with every commit, so that this fails as well; or never.
COPIED_AFTER = (1, 1000)
KINDS = {"read": apsw.IOError, "write": apsw.IOError, "sync": apsw.IOError, "truncate": apsw.IOError}
PLAN = Sum("the one that fails", epsilon=0.25)
LIMIT = Fraction(1)


@pytest.fixture
def tmp_path():
    """Return a folder in memory: no claim here is about a real disk, and real ones take their time."""
    with quick_folder() as folder:
        yield folder


class Failing:
    """The k-th call of a kind fails; and, if it is `for_good`, all that follow."""

    def __init__(self, kind: str, at: int, *, for_good: bool) -> None:
        self.kind, self.at, self.for_good, self.calls, self.failed = kind, at, for_good, 0, 0

    def __call__(self, kind: str, path: str, size: int) -> None:
        if kind == self.kind:
            self.calls += 1
            if self.calls == self.at or (self.for_good and self.calls > self.at):
                self.failed += 1
                raise KINDS[kind]


class Full:
    """There is room for so many bytes."""

    def __init__(self, room: int) -> None:
        self.room, self.failed = room, 0

    def __call__(self, kind: str, path: str, size: int) -> None:
        if kind == "write":
            self.room -= size
            if self.room < 0:
                self.failed += 1
                raise apsw.FullError


def before(path: Path) -> tuple[Ledger, list[Asked]]:
    """Return a ledger in which something was acknowledged."""
    ledger = Ledger.create(path, Budget(epsilon=LIMIT), anchors=[path.with_name("anchor")])
    gate = Gate(ledger, ROWS)
    done = [Asked(plan, gate.release(plan, request=plan.name)) for plan in (Sum("a"), Sum("b", size=3000))]
    ledger.pay(Pure(0.01), what="an orphan", plan="00", request="orphan")
    return ledger, done


def attempt(ledger: Ledger, trouble: Failing | Full) -> bool:
    """Ask for a release on a disk that fails; return whether it came out, which it must not if anything failed."""
    try:
        Gate(ledger, ROWS).release(PLAN, request="c")
    except DiscreetError as error:
        assert trouble.failed
        assert_tells_nothing(error)
        return False
    assert not trouble.failed, "an answer left though the disk had failed"
    return True


def assert_tells_nothing(error: BaseException) -> None:
    secret = str(sum(ROWS))
    assert secret not in "".join(traceback.format_exception(error))
    seen: BaseException | None = error
    while seen is not None:
        assert secret not in repr((seen, seen.args, vars(seen)))
        seen = seen.__cause__ or seen.__context__


def assert_refuses(ledger: Ledger) -> None:
    """After a failure nothing is known, whatever the disk says now."""
    calls = (
        lambda: Gate(ledger, ROWS).release(PLAN, request="c"),
        lambda: Gate(ledger, ROWS).release(Sum("a"), request="a"),
        lambda: ledger.pay(Pure(0.01), what="another", plan="00", request="d"),
        lambda: ledger.spent,
        ledger.checkpoint,
    )
    for call in calls:
        with pytest.raises(LedgerUnavailable):
            call()


def assert_recovers(path: Path, done: list[Asked]) -> None:
    """On a healthy disk: all that was acknowledged is there, and what was not costs what it costs, once."""
    with Ledger.open(path, anchors=[path.with_name("anchor")]) as ledger:
        assert ledger.verify().faults == ()
        assert ledger.payment_of("orphan") is not None
        for one in done:
            assert one.again(ledger, pytest.fail).stored == one.release.stored
        first = Gate(ledger, ROWS).release(PLAN, request="c")
        assert ledger.spent == Fraction(3, 100) + Fraction(1, 4)
        assert Gate(ledger, ROWS).release(PLAN, request="c").stored == first.stored
        with pytest.raises(BudgetExceeded):
            ledger.pay(Pure(1), what="too much", plan="00", request="too much")
        assert ledger.verify().faults == ()


def one_failure(disk: Disk, trouble: Failing | Full, patch, copied_after: int) -> bool:
    """Have something fail in the midst of a release; return whether the release came out."""
    with quick_folder() as folder:
        path = folder / "a.ledger"
        with mounted(disk, patch, copied_after=copied_after):
            ledger, done = before(path)
            with ledger:
                disk.trouble = trouble
                came_out = attempt(ledger, trouble)
                disk.trouble = lambda *_: None
                if not came_out:
                    assert_refuses(ledger)
        assert_recovers(path, done)
    return came_out


@pytest.mark.parametrize("copied_after", COPIED_AFTER)
@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for-good"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_on_the_first_failure_no_answer_leaves_and_nothing_is_lost(kind, for_good, copied_after, monkeypatch):
    disk = Disk()
    bound = many(quick=5, full=200)
    for at in count(1):
        came_out = one_failure(disk, Failing(kind, at, for_good=for_good), monkeypatch, copied_after)
        if came_out or at == bound:
            break
    # A log that is not copied is never cut; else, each call of the kind failed in its turn.
    assert at > 1 or kind in {"truncate", "read"}


def test_a_full_disk_lets_no_answer_out_and_loses_nothing(monkeypatch):
    disk = Disk()
    step = many(quick=9001, full=499)
    for room in range(0, 200_000, step):
        if one_failure(disk, Full(room), monkeypatch, 1000):
            break
    assert room > step


@pytest.mark.skipif(sys.platform != "linux", reason="says which file is written to by Linux's /proc")
def test_a_failure_that_sqlite_would_pass_over_is_a_failure(tmp_path, monkeypatch):
    """Of a log that cannot be copied into the file SQLite says nothing, as nothing is lost. It is a broken disk."""
    path = tmp_path / "a.ledger"
    monkeypatch.setattr(sqlite_store, "LONG", 1)
    ledger, done = before(path)
    with ledger:
        with writes_fail(to=".ledger") as refused, pytest.raises(LedgerUnavailable):
            Gate(ledger, ROWS).release(PLAN, request="c")
        assert refused
        assert_refuses(ledger)
    assert_recovers(path, done)


@pytest.mark.parametrize("kind", ["read", "write", "sync"])
def test_what_fails_at_opening_is_refused_and_harms_nothing(kind, monkeypatch):
    with quick_folder() as folder:
        path = folder / "a.ledger"
        ledger, done = before(path)
        # Its log as a killed process leaves it.
        kept = {name: (folder / name).read_bytes() for name in ("a.ledger", "a.ledger-wal", "anchor")}
        ledger.close()
        for at in range(1, many(quick=10, full=100)):
            for name, content in kept.items():
                (folder / name).write_bytes(content)
            disk = Disk()
            trouble = disk.trouble = Failing(kind, at, for_good=True)
            with mounted(disk, monkeypatch):
                try:
                    Ledger.open(path, anchors=[folder / "anchor"]).close()
                except DiscreetError as error:
                    assert trouble.failed
                    assert_tells_nothing(error)
            (folder / "a.ledger-shm").unlink(missing_ok=True)
            assert_recovers(path, done)


def unwritable(folder: Path) -> Path:
    """Return a place for an anchor that nobody can write to, whoever runs this."""
    (folder / "a file").touch()
    return folder / "a file" / "anchor"


def test_without_a_place_for_its_anchor_no_ledger_begins(tmp_path):
    with pytest.raises(LedgerUnavailable):
        Ledger.create(tmp_path / "a.ledger", Budget(epsilon=1), anchors=[unwritable(tmp_path)])


def test_where_an_anchor_cannot_be_written_no_answer_leaves(tmp_path):
    path, anchor = tmp_path / "a.ledger", tmp_path / "places" / "anchor"
    with Ledger.create(path, Budget(epsilon=1), anchors=[anchor]) as ledger:
        ran = []
        plan = Sum("a", ran=lambda: ran.append(True))
        kept = anchor.read_bytes()
        anchor.unlink()
        anchor.mkdir()
        for _ in range(2):
            with pytest.raises(LedgerUnavailable) as caught:
                Gate(ledger, ROWS).release(plan, request="a")
            assert_tells_nothing(caught.value)
        assert not ran  # it was paid for, and nobody saw the data
        anchor.rmdir()
        anchor.write_bytes(kept)
        Gate(ledger, ROWS).release(plan, request="a")
        assert ledger.spent == Fraction(1, 100)


def test_where_an_anchor_cannot_be_synced_there_is_no_checkpoint(tmp_path, monkeypatch):
    path, anchor = tmp_path / "a.ledger", tmp_path / "anchor"
    with Ledger.create(path, Budget(epsilon=1), anchors=[anchor]) as ledger:

        def fail(handle: int) -> None:
            raise OSError

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            with pytest.raises(LedgerUnavailable):
                ledger.checkpoint()
            with pytest.raises(LedgerUnavailable):
                ledger.anchor(tmp_path / "another")
    with Ledger.open(path, anchors=[anchor]) as ledger:
        assert ledger.verify().faults == ()


def test_half_an_anchor_is_none(tmp_path, monkeypatch):
    """A disk that is nearly full takes a part of a line, and says how much."""
    path, anchor = tmp_path / "a.ledger", tmp_path / "anchor"
    with Ledger.create(path, Budget(epsilon=1), anchors=[anchor]) as ledger:
        write = os.write
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda handle, data: write(handle, data[: len(data) // 2]))
            with pytest.raises(LedgerUnavailable):
                Gate(ledger, ROWS).release(Sum("a", ran=pytest.fail), request="a")
        Gate(ledger, ROWS).release(Sum("a"), request="a")
    Ledger.open(path, anchors=[anchor]).close()

"""Attack: read, on a shared machine, what each person was charged: from the ledger, its log, its queue, a copy.

With personal accounts a ledger knows about whom questions were: whose account is charged had rows that count. It was
created as readable as the umask allowed. Every file of a ledger is its owner's now, whatever the umask.
"""

import os
import stat
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.core import InvalidInput, LedgerUnavailable
from discreet.gate import Gate, Ledger, move
from discreet.gate.ledger.anchors import LONGEST, Anchor, write_anchor
from discreet.gate.ledger.keys import SigningKey
from personal_plans import Ask, Crowd, personal

BUDGET = personal(3, Fraction(1, 10**9))


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def readable(folder):
    """Return what others than the owner may do something with."""
    return sorted(
        path.name for path in Path(folder).rglob("*") if stat.S_IMODE(path.lstat().st_mode) & 0o077 and path.exists()
    )


def unusable(folder):
    """Return what its owner may not read and write."""
    return sorted(path.name for path in Path(folder).rglob("*") if path.lstat().st_mode & 0o600 != 0o600)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "clinic"
    place.mkdir(mode=0o755)
    return place


def test_nobody_else_reads_a_ledger_its_log_or_its_queue(folder, umask):
    with Ledger.create(folder / "clinic.ledger", BUDGET) as ledger:
        Gate(ledger, Crowd({"ada": 1})).release(Ask())
        names = {path.name for path in folder.rglob("*")}
        assert {"clinic.ledger", "clinic.ledger-wal", "clinic.ledger-shm", "clinic.ledger.key"} <= names
        assert any(name.startswith("slot-") for name in names)
        assert readable(folder) == []
        assert unusable(folder) == []
    with Ledger.open(folder / "clinic.ledger"):
        assert readable(folder) == []


def test_a_ledger_of_an_earlier_release_is_narrowed_when_it_is_opened(folder):
    place = folder / "clinic.ledger"
    with Ledger.create(place, BUDGET) as ledger:
        Gate(ledger, Crowd({"ada": 1})).release(Ask())
    place.chmod(0o644)
    Path(f"{place}-queue").chmod(0o755)
    with Ledger.open(place) as ledger:
        assert readable(folder) == []
        Gate(ledger, Crowd({"ada": 1})).release(Ask("another"))
        assert readable(folder) == []


def test_where_others_keep_a_ledger_open_to_all_it_is_refused(folder, monkeypatch):
    """Its owner is another, so that the mode cannot be changed."""
    place = folder / "clinic.ledger"
    Ledger.create(place, BUDGET).close()
    place.chmod(0o666)

    def denied(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", denied)
    with pytest.raises((InvalidInput, LedgerUnavailable)):
        Ledger.open(place)


def test_a_moved_ledger_is_its_owners(folder, umask):
    with Ledger.create(folder / "old.ledger", BUDGET) as ledger:
        Gate(ledger, Crowd({"ada": 1})).release(Ask())
        with move(ledger, folder / "new.ledger"):
            assert readable(folder) == []


def test_a_ledger_is_not_created_through_a_link(folder, tmp_path):
    target = tmp_path / "elsewhere"
    (folder / "clinic.ledger").symlink_to(target)
    with pytest.raises(InvalidInput):
        Ledger.create(folder / "clinic.ledger", BUDGET)
    assert not target.exists()


def test_a_queue_that_is_a_link_is_not_used(folder, tmp_path):
    place, elsewhere = folder / "clinic.ledger", tmp_path / "elsewhere"
    Ledger.create(place, BUDGET).close()
    elsewhere.mkdir()
    queue = Path(f"{place}-queue")
    for left in queue.iterdir():
        left.unlink()
    queue.rmdir()
    queue.symlink_to(elsewhere)
    with pytest.raises(LedgerUnavailable):
        Ledger.open(place)
    assert list(elsewhere.iterdir()) == []


def test_anchors_are_their_owners_also_when_they_are_shortened(tmp_path, umask):
    place = tmp_path / "one.anchor"
    for number in range(1, LONGEST // 150):
        write_anchor(place, Anchor("a" * 64, number, "b" * 64))
    assert readable(tmp_path) == []
    assert unusable(tmp_path) == []


def test_a_key_is_its_owners_and_no_link_is_followed(tmp_path, umask):
    SigningKey.create(tmp_path / "a.key")
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    (tmp_path / "b.key").symlink_to(tmp_path / "c.key")
    with pytest.raises(InvalidInput):
        SigningKey.create(tmp_path / "b.key")
    assert not (tmp_path / "c.key").exists()

"""Somebody with the files in hand: restores, removes, edits, rewrites, copies. The anchor outside knows better."""

import shutil
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import apsw
import pytest

from discreet.accounting import Pure
from discreet.core import DiscreetError, LedgerDamaged
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries.chain import GENESIS, link_entry
from discreet.gate.entries.events import Birth, Payment, to_body
from discreet.gate.ledger.anchors import read_anchors
from discreet.gate.ledger.append import append_batch
from discreet.gate.ledger.keys import CHECKPOINT, SigningKey, checkpoint_message
from discreet.gate.ledger.state import LedgerState
from discreet.gate.stores.protocol import Accepted, keys_of
from discreet.gate.stores.sqlite import SqliteStore
from faults.disk_scenes import ROWS, Asked, a_life, ask, quick_folder

FILES = ("a.ledger", "a.ledger-wal")
#: What a forger pays: no less than the least price of the ledgers here, or the ledger would refuse it.
CHEAP = Fraction(1, 1000)


@pytest.fixture
def tmp_path():
    """Return a folder in memory: no claim here is about a real disk, and real ones take their time."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture(params=["named", "by-default"])
def anchors(request, tmp_path):
    """Return where anchors go: a place outside that was named, or the one in the user's state."""
    return [tmp_path / "elsewhere" / "anchor"] if request.param == "named" else None


@pytest.fixture
def path(tmp_path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here" / "a.ledger"


def copied(folder: Path, place: Path) -> Path:
    """Copy a ledger as it is on the disk, whether it is open or not."""
    place.mkdir()
    for name in FILES:
        if (folder / name).exists():
            shutil.copy(folder / name, place / name)
    return place


def put_back(backup: Path, folder: Path) -> None:
    for name in (*FILES, "a.ledger-shm"):
        (folder / name).unlink(missing_ok=True)
        if (backup / name).exists():
            shutil.copy(backup / name, folder / name)


def assert_refused(path: Path, anchors: list[Path] | None) -> None:
    """Check that opening refuses, and because of the anchor."""
    with pytest.raises(LedgerDamaged, match=r"not the one that was seen|anchor is that of another"):
        Ledger.open(path, anchors=anchors)


@pytest.mark.parametrize("after", [1, 30], ids=["one-payment", "many-payments"])
def test_a_restored_backup_is_refused(path, anchors, after, tmp_path):
    with Ledger.create(path, Budget(epsilon=10), anchors=anchors) as ledger:
        ask(ledger, "before")
        backup = copied(path.parent, tmp_path / "backup")
        for n in range(after):
            ledger.pay(Pure(0.01), what="after", plan="00", request=f"after {n}")
    newest = copied(path.parent, tmp_path / "newest")
    put_back(backup, path.parent)
    assert_refused(path, anchors)
    put_back(newest, path.parent)
    Ledger.open(path, anchors=anchors).close()


def test_a_ledger_without_its_log_is_refused(path, anchors, tmp_path):
    with Ledger.create(path, Budget(epsilon=10), anchors=anchors) as ledger:
        ask(ledger, "before")
        ledger.checkpoint()
        Ledger.open(path, anchors=anchors).close()  # has the log copied into the file
        ask(ledger, "after")
        found = copied(path.parent, tmp_path / "found")
    (found / "a.ledger-wal").unlink()
    put_back(found, path.parent)
    assert_refused(path, anchors)


def test_a_copy_is_refused_once_the_other_has_spent(path, anchors, tmp_path):
    with Ledger.create(path, Budget(epsilon=10), anchors=anchors) as ledger:
        ask(ledger, "before")
    copy = copied(path.parent, tmp_path / "copy") / path.name
    with Ledger.open(path, anchors=anchors) as ledger:
        ask(ledger, "spent here")
    assert_refused(copy, anchors)


def test_of_two_copies_that_are_open_at_once_only_one_spends(path, anchors, tmp_path):
    with Ledger.create(path, Budget(epsilon=10), anchors=anchors) as ledger:
        ask(ledger, "before")
    copy = copied(path.parent, tmp_path / "copy") / path.name
    with Ledger.open(path, anchors=anchors) as one, Ledger.open(copy, anchors=anchors) as other:
        ask(one, "spent here")
        with pytest.raises(LedgerDamaged, match="used twice"):
            ask(other, "spent there")
    assert_refused(copy, anchors)
    with Ledger.open(path, anchors=anchors) as one:
        assert one.verify().sound


def forged(original: Path, place: Path, key: SigningKey, *, new_birth: bool) -> Path:
    """Write all of a history anew, with payments of next to nothing: sound in itself, checkpoints signed."""
    with Ledger.open(original, anchors=[]) as ledger:
        events = [event for _, event in ledger.entries()]
        answers = {
            entry.number: ledger.read_answer(entry.number)[1] for entry, _ in ledger.entries() if is_release(entry)
        }
    birth = events[0]
    assert isinstance(birth, Birth)
    if new_birth:
        fields = {name: getattr(birth, name) for name in ("at", "title", "budget", "policy", "nonce")}
        birth = Birth(**fields, key=key.public)
    first = link_entry(GENESIS, 1, to_body(birth))
    proposals = [(to_body(cheaper(event)), answers.get(number)) for number, event in enumerate(events[1:], 2)]

    def sign(number: int, previous: bytes, plain: bytes) -> str:
        return key.sign(CHECKPOINT, checkpoint_message(number, previous, plain))

    def work(reading, add):
        add(first, keys_of(birth), None)
        book, outcomes = append_batch(
            LedgerState.from_birth(first), proposals, reading, add, places=(), sign=sign, is_running=lambda _: True
        )
        assert all(isinstance(outcome, Accepted) for outcome in outcomes)  # runs and all: nothing is left out
        return book, outcomes

    place.mkdir()
    store = SqliteStore(place / "a.ledger", create=True)
    store.transact(work)
    store.close()
    return place


def is_release(entry) -> bool:
    return b'"kind":"release"' in entry.body


def cheaper(event):
    if not isinstance(event, Payment):
        return event
    return replace(event, cost=Pure(CHEAP))


@pytest.mark.parametrize("whose", ["stolen", "own"])
def test_a_history_that_was_written_anew_is_refused(path, whose, tmp_path):
    """Even with the ledger's own key. Only what was seen outside tells it from the true one."""
    anchor = tmp_path / "elsewhere" / "anchor"
    a_life(path, anchor, entries=45)
    key = SigningKey.read(Path(f"{path}.key")) if whose == "stolen" else SigningKey.create(tmp_path / "own.key")
    with Ledger.open(path, anchors=[anchor]) as ledger:
        spent = ledger.spent
    false = forged(path, tmp_path / "forged", key, new_birth=whose == "own")
    with Ledger.open(false / "a.ledger", anchors=[]) as ledger:  # as good as forgeries get
        found = ledger.verify()
        assert found.sound
        assert found.signed > 0
        assert ledger.spent < spent
    put_back(false, path.parent)
    assert_refused(path, [anchor])


def test_a_history_that_was_written_anew_is_refused_by_the_anchor_in_the_users_state(path, tmp_path):
    with Ledger.create(path, Budget(epsilon=10)) as ledger:
        ask(ledger, "a")
        ledger.checkpoint()
    false = forged(path, tmp_path / "forged", SigningKey.read(Path(f"{path}.key")), new_birth=False)
    put_back(false, path.parent)
    assert_refused(path, None)


# --- by SQL


def exchanged(column: str, one: int, other: int) -> str:
    first, second = (f"(select {column} from before where number = {number})" for number in (one, other))
    return (
        f"create temp table before as select * from entries; update entries set {column} = null where number = {one};"
        f"update entries set {column} = {first} where number = {other};"
        f"update entries set {column} = {second} where number = {one}"
    )


EDITS = {
    "the end is removed": "delete from entries where number > 60",
    "a payment is removed": "delete from entries where number = 9",
    "a request is renamed": "update entries set request = 'another' where number = 9",
    "a plan is exchanged": "update entries set plan = '00' where number = 9",
    "a payment is filed as a note": "update entries set kind = 'annotation' where number = 9",
    "a note is filed as a payment": "update entries set kind = 'payment', request = 'x' where kind = 'annotation'",
    "a release is filed under another payment": "update entries set payment = 2 where number = 4",
    "a release is hidden": "update entries set payment = null where number = 4",
    "two releases are exchanged": exchanged("payment", 4, 6),
    "two requests are exchanged": exchanged("request", 3, 5),
    "two plans are exchanged": exchanged("plan", 3, 5),
    "a checkpoint is hidden": "update entries set kind = 'annotation' where kind = 'checkpoint'",
    "a body is changed": "update entries set body = cast(replace(body, 'orphan', 'orphen') as blob) where number = 9",
    "a cost is changed": "update entries set body = cast(replace(body, '1/100', '1/900') as blob) where number = 9",
    "a head is changed": "update entries set head = zeroblob(32) where number = 9",
    "an entry is doubled": "insert into entries select max(number) + 1, 'annotation', null, null, null, body, head "
    "from entries",
    "an answer is changed": "update answers set answer = cast('[\"list\",1]' as blob) where number = 4",
    "an answer is another's": "update answers set answer = (select answer from answers where number = 6) "
    "where number = 4",
    "an answer is removed": "delete from answers where number = 4",
}


@pytest.fixture(scope="module")
def lived():
    """Return a ledger of some entries, closed, and what was asked."""
    with quick_folder() as folder:
        yield folder, a_life(folder / "a.ledger", folder / "anchor", entries=45)


@pytest.mark.parametrize("edit", EDITS)
def test_whatever_is_edited_is_refused_or_found(lived, edit, tmp_path):
    folder, asked = lived
    path = copied(folder, tmp_path / "copy") / "a.ledger"
    anchor = Path(shutil.copy(folder / "anchor", tmp_path / "anchor"))
    connection = apsw.Connection(str(path))
    before = connection.total_changes()
    connection.execute(EDITS[edit])
    assert connection.total_changes() > before
    connection.close()
    try:
        ledger = Ledger.open(path, anchors=[anchor])
    except LedgerDamaged:
        return
    with ledger:
        for one in asked:
            assert_same_or_refused(ledger, one, by_plan=False)
            assert_same_or_refused(ledger, one, by_plan=True)
        assert ledger.verify().faults


def assert_same_or_refused(ledger: Ledger, one: Asked, *, by_plan: bool) -> None:
    """Check that a question gives what it gave; or, where its plan is not found any more, that it is paid for anew."""
    ran, spent = [], ledger.spent
    try:
        release = one.again(ledger, lambda: ran.append(True), by_plan=by_plan)
    except DiscreetError:
        assert not ran
        return
    if ran:
        assert by_plan
        assert ledger.spent > spent
    else:
        assert (release.stored, release.receipt) == (one.release.stored, one.release.receipt)


@pytest.mark.parametrize("index", ["one_payment", "one_release", "by_plan", "checkpoints"])
def test_an_index_that_finds_nothing_buys_no_second_answer(lived, index, tmp_path):
    folder, asked = lived
    path = copied(folder, tmp_path / "copy") / "a.ledger"
    connection = apsw.Connection(str(path))
    connection.execute("create index nobody on answers(number) where number < 0; pragma writable_schema = on")
    query = "update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'nobody')"
    connection.execute(f"{query} where name = ?", (index,))
    connection.close()
    with Ledger.open(path, anchors=[]) as ledger:
        for one in asked:
            with suppress(LedgerDamaged):
                assert one.again(ledger, pytest.fail).stored == one.release.stored
        assert ledger.verify().faults


def test_an_edited_answer_is_not_handed_out(lived, tmp_path):
    folder, asked = lived
    path = copied(folder, tmp_path / "copy") / "a.ledger"
    connection = apsw.Connection(str(path))
    connection.execute("update answers set answer = cast('[\"list\",1]' as blob)")
    connection.close()
    with Ledger.open(path, anchors=[]) as ledger:
        for one in asked:
            with pytest.raises(LedgerDamaged):  # and not that it failed to run
                one.again(ledger, pytest.fail)


def test_anchors_in_several_places_each_count(path, tmp_path):
    """Whoever rewrites one of them has not rewritten the other."""
    places = [tmp_path / "one", tmp_path / "other"]
    with Ledger.create(path, Budget(epsilon=10), anchors=places) as ledger:
        ask(ledger, "before")
        backup = copied(path.parent, tmp_path / "backup")
        kept = places[0].read_bytes()
        Gate(ledger, ROWS).release(ask(ledger, "after").plan)
    put_back(backup, path.parent)
    places[0].write_bytes(kept)
    Ledger.open(path, anchors=places[:1]).close()
    assert_refused(path, places)
    assert read_anchors(places[1])

"""Anchors and certificates: what is known of a ledger outside of it."""

import json
import shutil
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting import Pure
from discreet.core import InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.gate import Anchor, Budget, Gate, Ledger, certificate, check_certificate
from discreet.gate.ledger import anchors
from discreet.gate.ledger.anchors import default_place, read_anchors, write_anchor
from discreet.gate.ledger.keys import ANCHOR, CERTIFICATE, CHECKPOINT, SigningKey, verify_signature
from questions import Question


@pytest.fixture
def place(tmp_path):
    """Where a ledger is that was closed after one answer."""
    path = tmp_path / "clinic.ledger"
    with Ledger.create(path, Budget(1)) as ledger:
        Gate(ledger, []).release(Question(), request="r")
    return path


def pay(ledger, request="more"):
    return ledger.pay(Pure(0.1), what="more", plan="00", request=request)


def copied(path, name):
    """Copy a closed ledger; its key comes along."""
    other = path.with_name(name)
    shutil.copy(path, other)
    shutil.copy(f"{path}.key", f"{other}.key")
    return other


def anchor_of(path):
    with Ledger.open(path) as ledger:
        return default_place(ledger.identity)


def test_an_anchor_is_kept_after_every_payment(place):
    with Ledger.open(place) as ledger:
        receipt = pay(ledger)
        newest = read_anchors(default_place(ledger.identity))[-1]
        assert (newest.ledger, newest.number, newest.head) == (ledger.identity, receipt.number, receipt.head)


def test_a_restored_backup_is_refused(place):
    backup = copied(place, "backup")
    with Ledger.open(place) as ledger:
        pay(ledger)
    shutil.copy(backup, place)
    with pytest.raises(LedgerDamaged, match="older copy"):
        Ledger.open(place)


def test_of_two_copies_that_are_both_open_only_the_first_that_pays_goes_on(place):
    other = copied(place, "copy")
    with Ledger.open(place) as one, Ledger.open(other) as two:
        pay(one)
        with pytest.raises(LedgerDamaged, match="used twice"):
            pay(two, "something else")
    with pytest.raises(LedgerDamaged, match="used twice"):
        Ledger.open(other)
    with Ledger.open(place) as one:
        pay(one, "and more")
        assert one.verify().sound


def test_another_ledger_in_its_place_is_refused(place, tmp_path):
    anchor = tmp_path / "clinic.anchor"
    with Ledger.open(place) as ledger:
        ledger.anchor(anchor)
    with Ledger.create(tmp_path / "other.ledger", Budget(1)):
        pass
    with pytest.raises(LedgerDamaged, match="another ledger"):
        Ledger.open(tmp_path / "other.ledger", anchors=[anchor])


def test_a_named_anchor_has_to_be_there(place, tmp_path):
    with pytest.raises(LedgerDamaged, match="no anchor in a place"):
        Ledger.open(place, anchors=[tmp_path / "nowhere.anchor"])


def test_a_default_anchor_that_is_gone_is_begun_anew(place):
    anchor = anchor_of(place)
    anchor.unlink()
    Ledger.open(place).close()
    assert len(read_anchors(anchor)) == 1


def test_a_torn_line_is_skipped_and_the_next_one_is_whole(place):
    anchor = anchor_of(place)
    kept = read_anchors(anchor)
    with anchor.open("ab") as file:
        file.write(b'\n{"head":"12')
    assert read_anchors(anchor) == kept
    with Ledger.open(place) as ledger:
        pay(ledger)
    assert [one.number for one in read_anchors(anchor)][-2:] == [kept[-1].number, kept[-1].number + 1]


@pytest.mark.parametrize(
    "line", [b"", b"null", b"[]", b"{}", b'{"ledger":1}', b"\xff\xfe", b'{"ledger":"a","number":1,"head":"b"}']
)
def test_a_line_that_no_anchor_has_is_skipped(tmp_path, line):
    anchor = Anchor("a" * 64, 1, "b" * 64)
    (tmp_path / "a").write_bytes(line + b"\n" + anchor.to_line() + line)
    assert read_anchors(tmp_path / "a") == [anchor]


def test_a_long_anchor_is_shortened_and_keeps_the_newest_and_the_newest_signed(tmp_path, monkeypatch):
    monkeypatch.setattr(anchors, "LONGEST", 4000)
    key = SigningKey.create(tmp_path / "a.key")
    place = tmp_path / "a.anchor"
    signed = Anchor("a" * 64, 3, "b" * 64).sign(key)
    write_anchor(place, signed)
    number = 3
    while number < 200:
        number += 1
        write_anchor(place, Anchor("a" * 64, number, "b" * 64))
        kept = read_anchors(place)
        assert kept[-1].number == number
        assert signed in kept
        assert place.stat().st_size <= 5000
    assert [one.name for one in tmp_path.iterdir() if "anchor." in one.name] == []


def test_many_who_write_and_shorten_at_once_lose_nothing_that_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(anchors, "LONGEST", 1000)
    place, failed, last = tmp_path / "a.anchor", [], 150

    def write(worker):
        try:
            for number in range(last):
                write_anchor(place, Anchor("a" * 64, 4 * number + worker, "b" * 64))
                if max(one.number for one in read_anchors(place)) < 4 * number + worker:
                    failed.append(number)
        except LedgerUnavailable as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=[worker]) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_an_anchor_that_cannot_be_written_stops_payments(place, tmp_path):
    anchor = tmp_path / "elsewhere" / "clinic.anchor"
    with Ledger.open(place) as ledger:
        ledger.anchor(anchor)
    with Ledger.open(place, anchors=[anchor]) as ledger:
        shutil.rmtree(anchor.parent)
        anchor.parent.write_text("in the way")
        with pytest.raises(LedgerUnavailable, match="anchor"):
            pay(ledger)


def test_signatures_are_about_what_they_say(tmp_path):
    key, other = (SigningKey.create(tmp_path / name) for name in "ab")
    anchor = Anchor("a" * 64, 3, "b" * 64).sign(key)
    assert anchor.is_signed_by(key.public)
    assert not anchor.is_signed_by(other.public)
    assert not anchor.is_signed_by("not a key")
    for changed in (Anchor("a" * 64, 4, "b" * 64, anchor.signature), Anchor("c" * 64, 3, "b" * 64, anchor.signature)):
        assert not changed.is_signed_by(key.public)
    assert verify_signature(key.public, anchor.signature, ANCHOR, anchor.message())
    for purpose in (CHECKPOINT, CERTIFICATE):
        assert not verify_signature(key.public, anchor.signature, purpose, anchor.message())


def test_a_key_is_for_its_owner_only(tmp_path):
    path = tmp_path / "a.key"
    key = SigningKey.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert SigningKey.read(path).public == key.public
    assert path.read_text().strip() not in repr(key)
    with pytest.raises(InvalidInput, match="another path"):
        SigningKey.create(path)
    with pytest.raises(InvalidInput, match="no signing key"):
        SigningKey.read(tmp_path / "b.key")


def test_the_key_of_another_ledger_is_refused(place, tmp_path):
    SigningKey.create(tmp_path / "other.key")
    with pytest.raises(InvalidInput, match="not this ledger's"):
        Ledger.open(place, key=tmp_path / "other.key")


def test_a_ledger_is_used_without_its_key_and_signs_nothing(place):
    Path(f"{place}.key").unlink()
    with Ledger.open(place) as ledger:
        pay(ledger)
        assert ledger.checkpoint().signature == ""
        assert ledger.verify().sound
        with pytest.raises(InvalidInput, match="key is not at hand"):
            certificate(ledger, "r")


def test_a_checkpoint_is_signed_and_anchored(place):
    with Ledger.open(place) as ledger:
        anchor = ledger.checkpoint()
        assert anchor.is_signed_by(ledger.birth.key)
        found = ledger.verify()
        assert (found.sound, found.checkpoints, found.signed) == (True, 1, 1)
    with Ledger.open(place) as ledger:
        assert ledger.spent == Fraction(1, 10)


def test_a_certificate_proves_what_was_released(place):
    with Ledger.open(place) as ledger:
        text, name = certificate(ledger, "r"), ledger.identity
        given = Gate(ledger, []).release(Question(), request="r")
    proved = check_certificate(text, ledger=name, answer=given.stored)
    assert (proved.payment.request, proved.payment.cost) == ("r", Pure(0.1))
    assert proved.numbers == (given.receipt.number, given.number)
    assert proved.heads == (given.receipt.head, given.head)
    assert proved.budget == Budget(1)


def test_a_certificate_proves_nothing_of_another_answer_or_ledger(place, tmp_path):
    with Ledger.open(place) as ledger, Ledger.create(tmp_path / "other.ledger", Budget(1)) as other:
        text = certificate(ledger, "r")
        with pytest.raises(InvalidInput, match="another one"):
            check_certificate(text, ledger=ledger.identity, answer=b"42")
        with pytest.raises(InvalidInput, match="not of this ledger"):
            check_certificate(text, ledger=other.identity)


def test_a_certificate_needs_a_release(place):
    with Ledger.open(place) as ledger:
        pay(ledger)
        for request in ("more", "unheard of"):
            with pytest.raises(InvalidInput, match="Nothing was released"):
                certificate(ledger, request)


@pytest.mark.parametrize("flip", [1, 2, 4, 8, 16, 32, 64, 128])
def test_a_changed_byte_makes_a_certificate_worthless_or_changes_nothing_it_proves(place, flip):
    with Ledger.open(place) as ledger:
        text, name = certificate(ledger, "r"), ledger.identity
    proved = check_certificate(text, ledger=name)
    raw = bytearray(text.encode())
    for index in range(len(raw)):
        raw[index] ^= flip
        changed = raw.decode("latin-1")
        raw[index] ^= flip
        try:
            assert check_certificate(changed, ledger=name) == proved
        except InvalidInput:
            continue
        # What is not proved is not shown either: the words around the proof are signed, too.
        signed, shown = (json.loads(one) for one in (text, changed))
        assert {**signed, "signature": ""} == {**shown, "signature": ""}


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "1", '{"signature": 1}', "\ud800", "[" * 100_000])
def test_a_text_that_no_certificate_has_proves_nothing(text):
    with pytest.raises(InvalidInput, match="proves nothing"):
        check_certificate(text, ledger="a" * 64)

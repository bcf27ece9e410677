"""Histories that somebody wrote anew, link by link, and what still finds them out without an anchor."""

import json
from dataclasses import replace

import apsw
import pytest

from discreet.accounting import Pure
from discreet.core import InvalidInput, LedgerDamaged
from discreet.gate import Budget, Gate, Ledger, check_export, export_lines, inspect_ledger
from discreet.gate.accounts.personal_terms import DatasetAccount
from discreet.gate.entries.chain import GENESIS, canonical, link_entry
from discreet.gate.entries.events import Checkpoint, from_body, to_body
from questions import Question


@pytest.fixture
def lived(tmp_path):
    """Make a ledger with two answers, a payment without one, and a checkpoint, and close it."""
    place = tmp_path / "clinic.ledger"
    with Ledger.create(place, Budget(1), anchors=[]) as ledger:
        gate = Gate(ledger, None)
        gate.release(Question("one"), request="1")
        gate.release(Question("two"), request="2")
        ledger.pay(Pure(0.1), what="three", plan="3", request="3")
        ledger.checkpoint()
    return place


def rewrite(place, changed):
    """Put other bodies in place of all, and link them as a ledger would."""
    database = apsw.Connection(str(place))
    rows = database.execute("select number, body from entries order by number").fetchall()
    head = GENESIS
    for number, body in rows:
        entry = link_entry(head, number, changed(number, bytes(body)))
        head = entry.head
        database.execute("update entries set body = ?, head = ? where number = ?", (entry.body, entry.head, number))
    database.close()


def test_an_answered_request_does_not_look_at_the_data_again(tmp_path):
    seen = []
    with Ledger.create(tmp_path / "a.ledger", Budget(1), anchors=[]) as ledger:
        for _ in range(3):
            Gate(ledger, "data").release(Question(doing=seen.append), request="r")
    assert seen == ["data"]


def test_a_checkpoint_with_other_totals_is_found_by_verifying(lived):
    def forgetful(_, body):
        event = from_body(body)
        if not isinstance(event, Checkpoint):
            return body
        kinder = DatasetAccount.create(Budget(1), DatasetAccount.from_text(event.account).policy)
        return to_body(replace(event, account=kinder.to_text(), signature=""))

    rewrite(lived, lambda _, body: body)
    with Ledger.open(lived, anchors=[]) as ledger:
        assert ledger.verify().sound
    rewrite(lived, forgetful)
    assert not inspect_ledger(lived, anchors=[]).verification.sound
    with pytest.raises(LedgerDamaged, match="totals"):
        Ledger.open(lived, anchors=[])  # nobody vouches for the checkpoint, so that it is counted like any entry


def test_a_payment_made_smaller_is_found_by_the_checkpoint_after_it(lived):
    def smaller(number, body):
        return body.replace(b"epsilon=1/10", b"epsilon=1/90") if number == 2 else body

    rewrite(lived, smaller)
    assert not inspect_ledger(lived, anchors=[]).verification.sound


def test_a_false_checkpoint_that_an_older_anchor_has_not_seen_is_not_believed(tmp_path):
    place, anchor = tmp_path / "clinic.ledger", tmp_path / "clinic.anchor"
    with Ledger.create(place, Budget(1), anchors=[anchor]) as ledger:
        ledger.pay(Pure(0.9), what="much", plan="0", request="1")
        book = ledger.state
    free = Checkpoint(
        at="",
        account=DatasetAccount.create(Budget(1), book.birth.policy).to_text(),
        payments=0,
        releases=0,
        signature="",
    )
    entry = link_entry(book.head, book.number + 1, to_body(free))
    database = apsw.Connection(str(place))
    database.execute(
        "insert into entries(number, kind, body, head) values(?, 'checkpoint', ?, ?)",
        (entry.number, entry.body, entry.head),
    )
    database.close()
    with pytest.raises(LedgerDamaged, match="totals"):
        Ledger.open(place, anchors=[anchor])


def chained(bodies):
    head, lines = GENESIS, []
    for number, body in enumerate(bodies, 1):
        entry = link_entry(head, number, body)
        head = entry.head
        lines.append(canonical({"number": number, "head": head.hex(), "body": entry.body.decode()}).decode())
    return lines


def exported(place):
    with Ledger.open(place, anchors=[]) as ledger:
        lines = map(json.loads, export_lines(ledger))
        return [line["body"].encode() for line in lines if "body" in line]


def test_an_export_that_was_linked_anew_as_it_was_proves_the_same(lived):
    assert check_export(chained(exported(lived))).state.payments == 3


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda bodies: [*bodies[:1], *bodies[2:6]], id="a release of nothing"),
        pytest.param(lambda bodies: [*bodies[:3], bodies[2], *bodies[3:6]], id="released twice"),
        pytest.param(lambda bodies: [*bodies[:2], bodies[1], *bodies[2:6]], id="paid twice"),
        pytest.param(
            lambda bodies: [*bodies[:1], bodies[2], bodies[1], *bodies[3:6]], id="released before it was paid"
        ),
    ],
)
def test_an_export_whose_events_do_not_follow_proves_nothing(lived, changed):
    with pytest.raises(InvalidInput, match="proves nothing"):
        check_export(chained(changed(exported(lived))))


def test_a_ledger_that_was_removed_is_not_begun_anew(tmp_path):
    place = tmp_path / "clinic.ledger"
    with Ledger.create(place, Budget(1)) as ledger:
        ledger.pay(Pure(1), what="all", plan="0", request="1")
    for file in tmp_path.glob("clinic.ledger*"):
        if file.is_file():
            file.unlink()
    with pytest.raises(InvalidInput, match="There was a ledger"):
        Ledger.create(place, Budget(1))


def test_a_ledger_with_another_birth_in_the_place_of_one_is_refused(tmp_path):
    place, other = tmp_path / "clinic.ledger", tmp_path / "other.ledger"
    for path in (place, other):
        Ledger.create(path, Budget(1)).close()
    other.replace(place)
    with pytest.raises(LedgerDamaged, match="another ledger"):
        Ledger.open(place)

"""What gets out beside the answer, and what a payment that somebody else wrote still has to do."""

import logging
import math
import traceback
from contextlib import nullcontext

import apsw
import numpy as np
import pytest

from discreet.accounting import Pure
from discreet.core import LedgerDamaged, LedgerUnavailable, RunFailed
from discreet.gate import Budget, Gate, Ledger, Policy
from discreet.gate.entries.chain import link_entry
from discreet.gate.ledger.anchors import Anchor, read_anchors, write_anchor
from discreet.gate.ledger.keys import SigningKey
from discreet.gate.stores.protocol import CommitBatch
from questions import Question

ANSWER = b"an answer that was never stored"


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(1), anchors=[tmp_path / "clinic.anchor"]) as made:
        yield made


@pytest.mark.parametrize("failure", [LedgerUnavailable("no", fix="none"), OSError("no"), KeyboardInterrupt()])
def test_an_answer_that_could_not_be_stored_is_in_no_frame_of_the_error(ledger, monkeypatch, failure):
    def fail(self, receipt, answer, step):
        del self, receipt, step
        assert ANSWER.hex() in answer.decode()
        raise failure

    monkeypatch.setattr(Ledger, "release", fail)
    with pytest.raises((LedgerUnavailable, KeyboardInterrupt)) as caught:
        Gate(ledger, "data").release(Question(doing=lambda _: ANSWER.hex()), request="r")
    mine = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__) if "gate" in frame.f_code.co_filename]
    assert all(ANSWER.hex() not in repr(frame.f_locals) for frame in mine if "tests" not in frame.f_code.co_filename)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_log_that_is_interrupted_carries_no_failure_of_the_plan(ledger, monkeypatch):
    def interrupt(*_args, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(logging.getLogger("discreet.operator"), "error", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        Gate(ledger, "data").release(Question(doing=lambda data: 1 / (data == "other")))
    assert caught.value.__context__ is None


def test_long_floats_with_unset_bytes_between_them_are_not_stored(ledger):
    with pytest.raises(RunFailed):
        Gate(ledger, None).release(Question(doing=lambda _: np.ones(3, dtype=np.longdouble)))


def test_an_answer_that_could_not_be_read_back_is_not_stored(ledger):
    nested = []
    for _ in range(450):
        nested = [nested]
    gate = Gate(ledger, None)
    try:
        assert gate.release(Question(doing=lambda _: nested)).answer == nested
    except RunFailed:
        assert [one.number for one in ledger.orphans()] == [2]


def test_numbers_that_overflow_warn_nobody(ledger):
    gate = Gate(ledger, np.full(3, 1e308))
    assert math.isinf(gate.release(Question(doing=lambda data: float(data.sum()))).answer)


def test_two_gates_of_one_ledger_run_a_request_once(ledger):
    seen = []

    def slow(data):
        seen.append(data)
        Gate(ledger, "other")
        return 1

    for gate in (Gate(ledger, "data"), Gate(ledger, "data")):
        gate.release(Question(doing=slow), request="r")
    assert seen == ["data"]


def served(other, proposals):
    """Have proposals written by another handle, which leads."""
    _, outcomes = other._store.transact(other._append(proposals))
    return CommitBatch(proposals, outcomes)


def test_a_payment_that_another_process_wrote_is_anchored_by_whoever_asked(ledger, monkeypatch, tmp_path):
    """The other process has no anchors, and answers; what it wrote stands in ours when we are told."""
    with Ledger.open(tmp_path / "clinic.ledger", anchors=[]) as other:
        monkeypatch.setattr(ledger._queue, "_join", lambda proposals: nullcontext(served(other, proposals)))
        receipt = ledger.pay(Pure(0.1), what="a count", plan="0", request="served")
    assert read_anchors(tmp_path / "clinic.anchor")[-1].number == receipt.number


def test_an_event_of_a_later_version_is_refused_and_not_guessed_at(ledger, tmp_path):
    book = ledger.state
    body = (
        b'{"analyst":"","at":"","cost":"loss/1 pure(epsilon=1/10)","kind":"payment","plan":"0","request":"1",'
        b'"times":1000,"version":2,"what":"much"}'
    )
    entry = link_entry(book.head, book.number + 1, body)
    database = apsw.Connection(str(tmp_path / "clinic.ledger"))
    database.execute(
        "insert into entries(number, kind, request, plan, body, head) values(?, 'payment', '1', '0', ?, ?)",
        (entry.number, entry.body, entry.head),
    )
    database.close()
    assert not ledger.verify().sound


def test_a_limit_is_not_lowered_below_what_an_analyst_has_learned(tmp_path):
    with Ledger.create(tmp_path / "b.ledger", Budget(3), policy=Policy.SEPARATE, anchors=[]) as ledger:
        ledger.pay(Pure(2.5), what="much", plan="0", request="1", analyst="ada")
        ledger.resize(1, by="steward", reason="too much")
        assert ledger.promise.epsilon == 2.5


def test_a_closed_account_promises_nothing_and_has_nothing_left(ledger):
    ledger.disclose(Pure(10), by="steward", reason="a leak")
    assert ledger.left == 0
    assert math.isinf(ledger.promise.epsilon)
    assert Gate(ledger, None).price(Question()).left == 0
    assert "nothing is promised any more" in repr(ledger)


def test_a_plan_that_is_no_text_is_refused(ledger):
    with pytest.raises(ValueError, match="unprintable"):
        ledger.pay(Pure(0.1), what="a count", plan="\ud800", request="1")


def test_a_failure_comes_with_the_receipt_of_what_was_paid(ledger):
    with pytest.raises(RunFailed) as caught:
        Gate(ledger, "data").release(Question(doing=lambda data: 1 / (data == "other")), request="r")
    assert caught.value.receipt == ledger.receipt(2)


def test_an_anchor_with_a_signature_that_is_not_the_stewards_is_refused(ledger, tmp_path):
    book = ledger.state
    mine = SigningKey.create(tmp_path / "mine.key")
    write_anchor(tmp_path / "clinic.anchor", Anchor(ledger.identity, book.number, book.head.hex()).sign(mine))
    with pytest.raises(LedgerDamaged, match="not genuine"):
        Ledger.open(tmp_path / "clinic.ledger", anchors=[tmp_path / "clinic.anchor"])


def test_who_was_served_by_another_process_still_sees_a_copy_that_is_ahead(ledger, monkeypatch, tmp_path):
    with Ledger.open(tmp_path / "clinic.ledger", anchors=[]) as other:

        def serve(proposals):
            batch = served(other, proposals)
            write_anchor(tmp_path / "clinic.anchor", Anchor(ledger.identity, 9, "00" * 32))  # as a copy would
            return nullcontext(batch)

        monkeypatch.setattr(ledger._queue, "_join", serve)
        with pytest.raises(LedgerDamaged, match="used twice"):
            ledger.pay(Pure(0.1), what="a count", plan="0", request="served")

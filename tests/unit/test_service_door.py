"""The door: what a face may do, for whom, and under which request id."""

import asyncio

import pytest

from clinic import BY_WARD, COUNT, opened, seen
from discreet.core import InvalidInput
from discreet.service import Asked, AskedBatch, LocalDoor, Principal, Role
from discreet.service.door import request_id
from discreet.service.refusals import NotAllowed, NotFound, PaymentOff
from discreet.service.words import read_text, write_text

ADA = Principal(name="ada", role=Role.ANALYST)
BOB = Principal(name="bob", role=Role.ANALYST)
EVE = Principal(name="eve", role=Role.AUDITOR)
PIA = Principal(name="pia", role=Role.PERSON)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("door"), ledger=None) as session:
        yield session


@pytest.fixture
def door(session):
    return LocalDoor(session)


def run(awaitable):
    return asyncio.run(awaitable)


def test_an_answer_is_the_sessions_answer_with_bars_and_receipt(door, session):
    reply = run(door.ask(ADA, Asked(sql=BY_WARD, epsilon="0.1", request="one")))
    assert [column.name for column in reply.table.columns] == [
        "ward",
        "n",
        "n_low",
        "n_high",
        "stay",
        "stay_low",
        "stay_high",
    ]
    assert reply.receipt.request == "ada:one"
    again = session.for_analyst("ada").sql(BY_WARD, epsilon=0.1)
    assert [tuple(row.values()) for row in again.rows()] == list(reply.table.rows)
    assert read_text(type(reply), write_text(reply)) == reply
    assert not seen(write_text(reply).decode())


def test_two_people_with_one_request_id_have_two_requests(door):
    question = Asked(sql=COUNT, epsilon="0.05", request="same", fresh=True)
    first, second = run(door.ask(ADA, question)), run(door.ask(BOB, question))
    assert (first.receipt.request, second.receipt.request) == ("ada:same", "bob:same")
    assert first.receipt.number != second.receipt.number
    assert run(door.ask(ADA, question)).stored == first.stored


def test_a_request_id_with_the_askers_name_before_it_is_the_same_id():
    assert request_id(ADA, "one") == request_id(ADA, "ada:one") == "ada:one"
    assert request_id(BOB, "ada:one") == "bob:ada:one"
    for bad in ("", "x" * 65, "a\nb"):
        with pytest.raises(InvalidInput):
            request_id(ADA, bad)


def test_a_request_that_may_not_pay_gets_stored_answers_only_and_hears_the_price(door, session):
    question = Asked(sql="SELECT COUNT(*) AS n FROM visits WHERE age < 50", epsilon="0.125", pay=False)
    before = session.ledger.spent
    with pytest.raises(PaymentOff, match=r"0\.125"):
        run(door.ask(ADA, question))
    assert session.ledger.spent == before
    paid = run(door.ask(ADA, Asked(sql=question.sql, epsilon="0.125")))
    assert run(door.ask(ADA, question)).stored == paid.stored
    with pytest.raises(PaymentOff):
        run(door.ask(ADA, Asked(sql=question.sql, epsilon="0.125", pay=False, fresh=True)))
    with pytest.raises(PaymentOff):
        run(door.batch(ADA, AskedBatch(sql=(COUNT,), epsilon="0.125", pay=False)))


def test_a_preview_pays_nothing_and_says_what_is_left(door, session):
    before = session.ledger.spent
    preview = run(door.preview(ADA, Asked(sql=COUNT, epsilon="4")))
    assert (preview.fits, preview.spend, preview.currency) == (False, "4", "epsilon")
    assert preview.left == str(session.ledger.left)
    assert session.ledger.spent == before


def test_roles_do_what_they_may_and_nothing_else(door):
    question = Asked(sql=COUNT, epsilon="0.1")
    refused = [door.ask(EVE, question), door.preview(PIA, question), door.schema(PIA), door.releases(PIA)]
    for attempt in refused:
        with pytest.raises(NotAllowed):
            run(attempt)
    assert run(door.schema(EVE)).tables[0].name == "visits"


def test_releases_and_certificates_of_others_are_for_auditors(door):
    reply = run(door.ask(ADA, Asked(sql=COUNT, epsilon="0.1", request="cert")))
    assert any(release.request == "ada:cert" for release in run(door.releases(EVE)).releases)
    assert all(release.analyst == "bob" for release in run(door.releases(BOB)).releases)
    assert reply.receipt.plan in run(door.certificate(EVE, reply.receipt.request))
    for request in (reply.receipt.request, "nobody:0", "\n"):
        with pytest.raises(NotFound):
            run(door.certificate(BOB, request))


def test_amounts_are_exact_texts(door):
    assert run(door.preview(ADA, Asked(sql=COUNT, epsilon="1/3"))).spend == "1/3"
    for bad in ("1e3", "x", "", "٣", "1" * 101):
        with pytest.raises(InvalidInput, match="epsilon"):
            run(door.preview(ADA, Asked(sql=COUNT, epsilon=bad)))
    assert run(door.preview(ADA, Asked(sql=COUNT, within={"n": "30"}))).currency == "epsilon"


def test_shape_account_and_explanation_are_free(door, session):
    before = session.ledger.spent
    shape = run(door.shape(ADA, BY_WARD))
    assert [(column.name, column.kind) for column in shape] == [("ward", "text"), ("n", "integer"), ("stay", "real")]
    assert run(door.account(ADA)).analyst == "ada"
    assert run(door.explain(ADA, Asked(sql=COUNT, epsilon="1")))
    assert session.ledger.spent == before


def test_a_batch_is_answered_in_order(door):
    reply = run(door.batch(ADA, AskedBatch(sql=(COUNT, BY_WARD), epsilon="0.25")))
    assert len(reply.answers) == 2
    assert reply.answers[0].release == reply.answers[1].release

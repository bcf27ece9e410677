"""A served dataset: front, nursery and workers as real processes."""

import os
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest

from clinic import BY_WARD, COUNT, seen
from discreet.core import BudgetExceeded, InvalidInput, RunFailed
from discreet.service import Asked, AskedBatch
from discreet.service.refusals import PaymentOff
from discreet.service.words import write_text
from discreet.session import NoRows
from served import ADA, BOB, served, write_dataset


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    os.environ["DISCREET_STATE"] = str(folder / "state")
    with served(write_dataset(folder)) as service:
        yield service


def test_a_question_is_answered_by_a_worker_at_the_end_of_a_slot_and_stored(service):
    begun = time.monotonic()
    reply = service.run(service.door.ask(ADA, Asked(sql=COUNT, epsilon="0.5", request="one")))
    assert time.monotonic() - begun >= 0.5
    assert (reply.fresh, reply.receipt.request) == (True, "ada:one")
    again = service.run(service.door.ask(ADA, Asked(sql=COUNT, epsilon="0.5", request="one")))
    assert (again.fresh, again.stored) == (False, reply.stored)
    assert not seen(write_text(reply).decode())


def test_the_front_has_no_rows_and_its_session_pays_for_nothing(service):
    spent = service.ledger.spent
    with pytest.raises(NoRows):
        service.door._session.for_analyst("ada").sql("SELECT SUM(age) FROM visits", epsilon=1)
    assert service.ledger.spent == spent
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    assert "visits.csv" not in maps
    assert not any(
        "visits.csv" in str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()
    )


def test_racing_replays_of_one_request_are_one_payment_and_one_answer(service):
    spent = service.ledger.spent
    question = Asked(sql=BY_WARD, epsilon="0.5", request="race", fresh=True)
    replies = service.run_all(service.door.ask(ADA, question) for _ in range(50))
    assert {reply.stored for reply in replies} == {replies[0].stored}
    assert service.ledger.spent == spent + Fraction(1, 2)


def test_a_request_in_use_for_one_question_is_refused_for_another(service):
    first, second = service.run_all(
        service.door.ask(ADA, Asked(sql=sql, epsilon="0.5", request="two", fresh=True)) for sql in (COUNT, BY_WARD)
    )
    assert first.fresh
    assert isinstance(second, InvalidInput)


def test_what_public_facts_refuse_is_refused_before_payment(service):
    spent = service.ledger.spent
    refused = [
        (Asked(sql=COUNT, epsilon="5000"), BudgetExceeded),
        (Asked(sql="SELECT nothing FROM visits", epsilon="1"), Exception),
        (Asked(sql="SELECT COUNT(*) FROM visits WHERE age > 3", epsilon="1", pay=False), PaymentOff),
    ]
    for asked, kind in refused:
        with pytest.raises(kind):
            service.run(service.door.ask(BOB, asked))
    assert service.ledger.spent == spent
    assert service.ledger.runs.state.open == ()


def test_a_batch_is_answered_by_a_worker(service):
    reply = service.run(service.door.batch(ADA, AskedBatch(sql=(COUNT, BY_WARD), epsilon="0.5")))
    assert len(reply.answers) == 2


def test_forked_workers_draw_noise_of_their_own(service):
    asked = [Asked(sql=COUNT, epsilon="0.001", fresh=True, request=f"noise{number}") for number in range(4)]
    replies = service.run_all(service.door.ask(ADA, one) for one in asked)
    assert len({reply.table.rows for reply in replies}) > 2


def test_a_worker_that_is_killed_is_replaced_and_its_question_is_answered_for_free(service):
    spent = service.ledger.spent
    for pid in list(service.door._workers.pids):
        os.kill(pid, signal.SIGKILL)
    question = Asked(sql=BY_WARD, epsilon="0.25", request="killed", fresh=True)
    for _ in range(5):
        try:
            reply = service.run(service.door.ask(ADA, question))
            break
        except RunFailed:
            continue
    assert reply.receipt.request == "ada:killed"
    assert service.ledger.spent <= spent + Fraction(1, 4)


def test_the_operators_log_is_for_its_owner_alone(service):
    log = service.path.with_suffix(".operator.log")
    assert log.stat().st_mode & 0o777 == 0o600

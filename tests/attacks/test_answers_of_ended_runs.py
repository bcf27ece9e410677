"""Attack: have an answer stored whose run counts as a failure already.

A process that seems to be gone has its runs noted as failures, and what it was asked may be run again: a second draw.
The first run's answer was stored all the same, if it came sooner: out of two draws the faster one was kept, and of the
entries one said that the run had failed and another that it was answered. A killed process left such answers in the
queue; one that lost its connection to a server brought them itself.
"""

from contextlib import contextmanager
from fractions import Fraction
from itertools import count

import psycopg
import pytest

from discreet.accounting import Pure
from discreet.core import LedgerUnavailable
from discreet.gate import Budget, Gate, Ledger
from discreet.gate.entries.events import Begun, Continued, Failed, Payment, Released, build_answer_event, now, to_body
from discreet.gate.releases import encode
from discreet.gate.stores.protocol import Accepted, Refused
from ledger_places import Place
from postgres_server import server
from questions import Question
from step_plans import Steps

COST, NAMES = Pure(Fraction(1, 100)), count(1)


@pytest.fixture(scope="module")
def postgres():
    with server() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "sqlite":
        made = Place(str(tmp_path / "a.ledger"), tmp_path / "a.key")
    else:
        found = request.getfixturevalue("postgres")
        made = Place(found.address(f"ended_{next(NAMES)}"), tmp_path / "b.key")
    yield made
    made.close()


def look_gone(ledger):
    """Have a ledger's handle taken for gone, while its process goes on and can write."""
    store = ledger._store
    if not hasattr(store, "_reader") or not isinstance(store._reader, psycopg.Connection):
        store._queue.leave()
        return
    with psycopg.connect(**store._arguments, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", (store._reader.info.backend_pid,))


def look_around(ledger):
    """Ask something else, by which runs that are gone are noted as failures."""
    Gate(ledger, None, analyst="ada").release(Question("anything", COST), fresh=True)


def contradictions(ledger):
    """Return the runs that ended twice: as failures, and by an answer."""
    begun, failed, given = set(), set(), set()
    for entry, event in ledger.entries():
        match event:
            case Begun() | Payment():
                begun.add(entry.number)
            case Failed(run=run):
                failed.add(run)
            case Released(payment=payment, run=run) | Continued(payment=payment, run=run):
                given.add(run or payment)
    assert failed | given <= begun
    return failed & given


@contextmanager
def two(place):
    place.create(Budget(1))
    with Ledger.open(place.address, key=place.key) as one, Ledger.open(place.address, key=place.key) as other:
        yield one, other


@pytest.mark.parametrize("again", [False, True])
def test_an_answer_is_not_stored_for_a_run_that_counts_as_failed(place, again):
    drawn = []
    with two(place) as (bobs, other):

        def taken_for_gone(_):
            drawn.append("first")
            look_gone(bobs)
            look_around(other)
            if again:
                drawn.append(Gate(other, None, analyst="bob").release(Question("slow", COST), request="R").stored)
            return "first"

        gate = Gate(bobs, None, analyst="bob")
        try:
            assert gate.release(Question("slow", COST, doing=taken_for_gone), request="R").stored == drawn[1]
        except LedgerUnavailable:
            assert not again or place.server  # where there is a stored answer and a connection, that is handed out
        assert other.runs.state.failures == {"bob": 1}
        given = Gate(other, None, analyst="bob").release(Question("slow", COST), request="R")
        assert given.answer != "first"
        assert given.fresh is not again
        assert contradictions(other) == set()
        assert (other.state.payments, other.verify().sound) == (2, True)


def test_a_step_is_not_stored_for_a_run_that_counts_as_failed(place):
    with two(place) as (bobs, other):
        gate = Gate(bobs, None, analyst="bob")
        gate.advance(Steps(), 0, request="R")

        def taken_for_gone(*_):
            look_gone(bobs)
            look_around(other)
            return "first"

        with pytest.raises(LedgerUnavailable):
            gate.advance(Steps(doing=taken_for_gone), 1, request="R")
        assert Gate(other, None, analyst="bob").advance(Steps(), 1, request="R").answer != "first"
        assert contradictions(other) == set()
        assert other.verify().sound


def paid(ledger, request):
    """Pay with a run that is begun by somebody who is gone."""
    return ledger.pay(COST, what="?", plan="00", request=request, analyst="bob", runner=f"{'0' * 15}1-1")


def test_what_a_killed_process_left_in_the_queue_comes_too_late(place):
    """One group: somebody begins a run, by which the dead are noted; then comes the answer of one of them."""
    ledger = place.create(Budget(1))
    number = paid(ledger, "R").number
    with ledger.runs.runner() as runner:
        begin = Payment(at=now(), request="S", analyst="ada", plan="01", what="?", cost=COST, runner=runner)
        answer = encode("first")
        proposals = [(to_body(begin), None), (to_body(build_answer_event(number, 0, answer)), answer)]
        _, outcomes = ledger._store.transact(ledger._append(proposals))
    assert [type(one) for one in outcomes] == [Accepted, Refused]
    assert contradictions(ledger) == set()
    assert ledger.release_of(number) is None


def test_what_it_left_is_stored_if_nobody_has_noted_it(place):
    ledger = place.create(Budget(1))
    receipt = paid(ledger, "R")
    assert ledger.release(receipt, encode("first"))[1] == encode("first")
    look_around(ledger)
    assert (contradictions(ledger), ledger.runs.state.total) == (set(), 0)


def test_an_answer_does_not_end_the_run_of_another_payment(place):
    ledger = place.create(Budget(1))
    with ledger.runs.runner() as one, ledger.runs.runner() as two_:
        first = ledger.pay(COST, what="?", plan="00", request="R", analyst="bob", runner=one)
        second = ledger.pay(COST, what="?", plan="01", request="S", analyst="bob", runner=two_)
        with pytest.raises(LedgerUnavailable, match="not stored"):
            ledger.release(first, encode("first"), run=second.number)
        assert len(ledger.runs.state.open) == 2
